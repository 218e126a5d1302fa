"""Condense a large overlay around hubs in tasks, and measure it on the driver.

Every edge is sent once, 8 bytes, to the task that has the range of nodes of its light end; the task reads the
lists of its range from disk, and gives back what they condense to (`meshwright.metrics.condensed`), which is
of the same size for any number of nodes. Lists are sent nowhere if tasks can read the files in ranges.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import pyarrow as pa

from meshwright.kernels.metrics.condensed import Condensed, Rows, condense, rows_by_owner
from meshwright.metrics.condensed import Hubs, choose_hubs, hubs_of, merged
from meshwright.pipeline.evaluate.grid import groups
from meshwright.pipeline.evaluate.some_lists import KnownLists, Sizes, checked, flags, list_rows, lists_of
from meshwright.pipeline.spark.arrays import Batches, Packed, edge_arrays, gathered, large_batches
from meshwright.pipeline.spark.list_files import ListFiles, Piece, TableFiles, read_within
from meshwright.pipeline.spark.tables import broadcast
from meshwright.runtime.arrays import Ids, Offsets
from meshwright.runtime.errors import DatasetError

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import DataFrame, SparkSession

_EDGES_AT_ONCE = 1 << 20
_EDGES_A_TASK = 1 << 25
"""At 8 bytes each, and as many again by owner."""
_ITEMS_A_RANGE = 1 << 23
"""Interests that a task holds at a time."""
_COUNTED_AT_ONCE = 1 << 24

_DEGREES = Packed("place", counts=np.int32)
_ENDS = "source_id int, target_id int"
_RANGE = Packed("place", owners=np.int32, hubs=np.int32, nodes=np.int32, lengths=np.int32, topics=np.int32)
_FOUND = Packed(
    "place", alone=np.int64, links=np.int64, leaves=np.int64, joined=np.uint64, hub_triangles=np.int64,
    triangles=np.int32,
)  # fmt: skip


def degrees_of(edges: TableFiles, sizes: Sizes) -> Offsets:
    """The links of each node. A task counts in 4 bytes per node, and as many come to the driver in all."""
    blocks = max(1, -(-sizes.nodes // _COUNTED_AT_ONCE))
    counted = edges.map(partial(_count_ends, sizes=sizes), _DEGREES.ddl).repartitionById(blocks, "place")
    degrees = np.zeros(sizes.nodes, np.int64)
    for row in _DEGREES.rows(counted.mapInArrow(_sum, _DEGREES.ddl).toArrow().to_batches()):
        start = row["place"] * _COUNTED_AT_ONCE
        degrees[start : start + len(row["counts"])] = row["counts"]
    return degrees


def _sum(batches: Batches) -> Batches:
    """The counts of one block of nodes, over all tasks."""
    rows = _DEGREES.rows(batches)
    first = next(rows, None)
    if first is not None:
        for row in rows:
            first["counts"] += row["counts"]
        yield _DEGREES.batch(**first)


def _count_ends(batches: Iterable[pa.RecordBatch], sizes: Sizes) -> Batches:
    counts = np.zeros(sizes.nodes, np.int32)
    for table in large_batches(batches, _EDGES_AT_ONCE):
        ends, _ = edge_arrays(table, sizes.nodes, sizes.where)
        np.add.at(counts, ends.ravel(), 1)
    for place, start in enumerate(range(0, sizes.nodes, _COUNTED_AT_ONCE)):
        yield _DEGREES.batch(place=place, counts=counts[start : start + _COUNTED_AT_ONCE])


def find_condensed_hubs(
    session: "SparkSession", lists: ListFiles, edges: TableFiles, degrees: Offsets, more: Ids, sizes: Sizes
) -> tuple[Hubs, KnownLists] | None:
    """The hubs of `meshwright.metrics.condensed`, and their lists and those of some `more` nodes.

    None where it would not condense the overlay. A pass over all edges, and one over all lists.
    """
    nodes = choose_hubs(degrees)
    between = _edges_between(session, edges, nodes, sizes) if len(nodes) else None
    if between is None:
        return None
    chosen = np.union1d(nodes, more)
    known = KnownLists(chosen, *lists_of(session, lists, chosen, sizes))
    hubs = hubs_of(nodes, *known.of(nodes), between, sizes.topics, sizes.nodes)
    return None if hubs is None else (hubs, known)


def _edges_between(session: "SparkSession", edges: TableFiles, hubs: Ids, sizes: Sizes) -> Ids | None:
    """The edges between hubs, sorted; None where an edge has no hub at all."""
    with broadcast(session, flags(hubs, sizes.nodes)) as known:

        def keep(batches: Iterable[pa.RecordBatch]) -> Batches:
            for table in large_batches(batches, _EDGES_AT_ONCE):
                ends, _ = edge_arrays(table, sizes.nodes, sizes.where)
                at_hubs = known.value[ends].sum(axis=1)
                chosen = ends[at_hubs != 1]
                if (at_hubs == 0).any():
                    chosen = ends[at_hubs == 0][:1]
                yield pa.record_batch([pa.array(side) for side in chosen.T], names=["source_id", "target_id"])

        found = edges.map(keep, _ENDS).toArrow()
    ends = np.stack([found[name].to_numpy() for name in ("source_id", "target_id")], axis=1)
    ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
    if (ends[1:] == ends[:-1]).all(axis=1).any():
        raise _doubled(sizes)
    return ends if np.isin(ends, hubs).all() else None


def _doubled(sizes: Sizes) -> DatasetError:
    return DatasetError(f"{sizes.where}: an edge appears twice; write the dataset again")


class _Ranges(NamedTuple):
    """A task has `each` ranges of `span` nodes; `pieces` says what to read for each, or lists are sent."""

    span: int
    each: int
    number: int
    pieces: list[list[Piece]] | None

    @property
    def width(self) -> int:
        """Nodes of a task."""
        return self.span * self.each


def _ranges_of(lists: ListFiles, edges: int, interests: int, nodes: int, slots: int) -> _Ranges:
    tasks = min(nodes, max(slots, -(-edges // _EDGES_A_TASK)))
    each = max(1, -(-interests // (tasks * _ITEMS_A_RANGE)))
    span = max(1, -(-nodes // (tasks * each)))
    pieces = lists.pieces_within(np.arange(-(-nodes // span) + 1) * span)
    if pieces is None:
        span, each = span * each, 1
    return _Ranges(span, each, -(-nodes // (span * each)), pieces)


def condense_on_spark(
    session: "SparkSession",
    lists: ListFiles,
    edges: TableFiles,
    hubs: Hubs,
    counts: tuple[int, int],
    sizes: Sizes,
) -> tuple[Condensed, Offsets]:
    """What all light nodes condense to, and by node its triangles; `counts` are the edges and interests."""
    ranges = _ranges_of(lists, *counts, sizes.nodes, session.sparkContext.defaultParallelism)
    with broadcast(session, (hubs, hubs.numbers())) as known:
        sent = edges.map(partial(_edge_rows, known=known, width=ranges.width, sizes=sizes), _RANGE.ddl)
        if ranges.pieces is None:
            sent = sent.union(
                lists.map(partial(list_rows, packed=_RANGE, span=ranges.width, sizes=sizes), _RANGE.ddl)
            )
        work = partial(_condense_task, known=known, ranges=ranges, sizes=sizes)
        found = sent.repartitionById(ranges.number, "place").mapInArrow(work, _FOUND.ddl)
        return _collected(found, hubs, ranges)


def _collected(found: "DataFrame", hubs: Hubs, ranges: _Ranges) -> tuple[Condensed, Offsets]:
    """Add up what tasks found."""
    triangles = np.zeros(hubs.node_count, np.int64)

    def parts() -> Iterator[Condensed]:
        for row in _FOUND.rows(found.toArrow().to_batches()):
            start = row.pop("place") * ranges.width
            own = row.pop("triangles")
            triangles[start : start + len(own)] = own
            yield Condensed(**row)

    return merged(hubs, parts()), triangles


def _edge_rows(
    batches: Iterable[pa.RecordBatch], known: "Broadcast[tuple[Hubs, Ids]]", width: int, sizes: Sizes
) -> Batches:
    """The edges of light nodes for each task: the node, and the number of the hub."""
    numbers = known.value[1]
    for table in large_batches(batches, _EDGES_AT_ONCE):
        ends, _ = edge_arrays(table, sizes.nodes, sizes.where)
        at_hub = numbers[ends]
        light = np.flatnonzero((at_hub < 0).any(axis=1))
        upper = at_hub[light, 1] >= 0
        owners = np.where(upper, ends[light, 0], ends[light, 1])
        hubs = np.where(upper, at_hub[light, 1], at_hub[light, 0])
        for place, chosen in groups(owners // width):
            yield _RANGE.batch(place=place, owners=owners[chosen], hubs=hubs[chosen])


def _condense_task(
    batches: Batches, known: "Broadcast[tuple[Hubs, Ids]]", ranges: _Ranges, sizes: Sizes
) -> Batches:
    """Condense the ranges of one task, one after the other."""
    from pyspark import TaskContext

    rows = list(_RANGE.rows(batches))
    hubs, numbers = known.value
    place = cast(TaskContext, TaskContext.get()).partitionId()  # it may have nodes, but no edges
    start = place * ranges.width
    stop = min(start + ranges.width, sizes.nodes)
    owners, others = (np.concatenate([NO_IDS, *(row[name] for row in rows)]) for name in ("owners", "hubs"))
    links = rows_by_owner((owners - start).astype(np.int32), others, stop - start)
    found, triangles = hubs.nothing(), np.zeros(stop - start, np.int64)
    for first in range(start, stop, ranges.span):
        last = min(first + ranges.span, stop)
        here, cut = slice(first - start, last - start), slice(first - start, last - start + 1)
        lists = _lists_of(rows, (first, last), ranges, sizes)
        is_hub = numbers[first:last] >= 0
        own = Rows(links.indptr[cut].copy(), links.ids)
        condense(
            lists, own, is_hub, hubs.topics, hubs.adjacent, found, triangles[here], np.zeros(2, np.int64)
        )
    if triangles.min(initial=0) < 0:
        raise _doubled(sizes)
    yield _FOUND.batch(place=place, triangles=triangles.astype(np.int32), **found._asdict())


def _lists_of(rows: list[dict[str, Any]], within: tuple[int, int], ranges: _Ranges, sizes: Sizes) -> Rows:
    """The topics of the nodes of a range."""
    first, last = within
    if ranges.pieces is None:
        parts = [(row["nodes"], row["lengths"], row["topics"]) for row in rows]
    else:
        read = checked(read_within(ranges.pieces[first // ranges.span], first, last), sizes)
        parts = [(nodes, np.diff(indptr), topics) for nodes, indptr, topics in read]
    nodes, lengths, topics = (np.concatenate(column) for column in zip(NO_LISTS, *parts, strict=True))
    return Rows(*gathered(nodes - first, lengths, topics, last - first, sizes.where))


NO_IDS: Ids = np.empty(0, np.int32)
NO_LISTS = (NO_IDS, NO_IDS, NO_IDS)
