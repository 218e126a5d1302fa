"""Edges at hubs and lists brought together, without sending a list anywhere.

Where a few nodes have an end of most edges, as bulk nodes have, every task can hold the lists of these hubs.
An edge is sent to the range of nodes that its other end is in, 8 bytes; the task of a range reads its lists
from disk. So a list is read once, where the grid (`grid.py`) sends it once for each block of nodes: their
number grows with the data. Edges without a hub are left to the grid.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from meshwright.kernels.core.subgraphs import TopicLists, links_of
from meshwright.pipeline.evaluate.grid import groups
from meshwright.pipeline.evaluate.some_lists import Sizes, checked, flags, list_rows, lists_of
from meshwright.pipeline.evaluate.topics import RUNS, packed, topic_runs
from meshwright.pipeline.spark.arrays import (
    Batches,
    Packed,
    edge_arrays,
    gathered,
    large_batches,
)
from meshwright.pipeline.spark.list_files import ListFiles, Piece, read_within
from meshwright.pipeline.spark.tables import broadcast
from meshwright.runtime.arrays import Flags, Floats, Ids, Offsets

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import DataFrame, SparkSession

_MOST_HUBS = 1 << 14
_FEWEST_LINKS = 8
"""A node with fewer is no hub."""
_MOST_INTERESTS = 1 << 24
"""Of all hubs together: 64 MB in every task."""
_ITEMS_A_RANGE = 1 << 23
_FEWEST_RANGES = 3

_LENGTHS = "node int, length int"
_RANGE = Packed(
    "place",
    ends=np.int32,
    hubs=np.int32,
    costs=np.float64,
    nodes=np.int32,
    lengths=np.int32,
    topics=np.int32,
)


class Hubs(NamedTuple):
    """The hubs, by id, with their topics; and by node, whether it is one."""

    nodes: Ids
    indptr: Offsets
    topics: Ids
    is_hub: Flags


class Ranges(NamedTuple):
    """Ranges of `span` nodes; and what to read for the lists of each, or none where lists are sent."""

    span: int
    number: int
    pieces: list[list[Piece]] | None


def find_hubs(session: "SparkSession", files: ListFiles, degrees: Offsets, sizes: Sizes) -> Hubs:
    """The nodes with the most links, as many as a task may hold the lists of; two passes over all lists."""
    chosen = most_linked(degrees)
    with broadcast(session, flags(chosen, sizes.nodes)) as candidates:

        def lengths(batches: Iterable[pa.RecordBatch]) -> Batches:
            for nodes, indptr, _ in checked(batches, sizes):
                own = candidates.value[nodes]
                columns = [pa.array(nodes[own]), pa.array(np.diff(indptr)[own].astype(np.int32))]
                yield pa.record_batch(columns, names=["node", "length"])

        found = files.map(lengths, _LENGTHS).toArrow()
    by_node = dict(zip(found["node"].to_pylist(), found["length"].to_pylist(), strict=True))
    held = np.cumsum([by_node.get(node, 0) for node in chosen.tolist()])
    chosen = np.sort(chosen[held <= _MOST_INTERESTS])
    return Hubs(chosen, *lists_of(session, files, chosen, sizes), flags(chosen, sizes.nodes))


def most_linked(degrees: Offsets) -> Ids:
    """At most 16,384 nodes, those of most links first, and of equals the lower ids."""
    many = np.flatnonzero(degrees >= _FEWEST_LINKS)
    if len(many) > _MOST_HUBS:
        place = len(many) - _MOST_HUBS
        many = many[degrees[many] >= np.partition(degrees[many], place)[place]]
    order = np.lexsort((many, -degrees[many]))[:_MOST_HUBS]
    return many[order].astype(np.int32)


def without_hubs(edges: "DataFrame", hubs: "Broadcast[Hubs]", sizes: Sizes) -> "DataFrame":
    """The edges that no hub has an end of."""

    def keep(batches: Iterable[pa.RecordBatch]) -> Batches:
        for batch in batches:
            ends, _ = edge_arrays(pa.Table.from_batches([batch]), sizes.nodes, sizes.where)
            yield batch.filter(pa.array(~hubs.value.is_hub[ends].any(axis=1)))

    return edges.mapInArrow(keep, edges.schema)


def ranges_of(files: ListFiles, counts: Mapping[str, int]) -> Ranges:
    """Ranges whose interests and edges are about 2^23 each; their number depends on the counts alone."""
    items = counts["interests"] + counts["edges"]
    span = max(1, -(-counts["nodes"] // max(_FEWEST_RANGES, -(-items // _ITEMS_A_RANGE))))
    count = max(1, -(-counts["nodes"] // span))
    return Ranges(span, count, files.pieces_within(np.arange(count + 1) * span))


def hub_runs(
    edges: "DataFrame",
    files: ListFiles,
    hubs: "Broadcast[Hubs]",
    ranges: Ranges,
    sizes: Sizes,
) -> "DataFrame":
    """Runs (RUNS) of the edges that a hub has an end of, a partition a range."""
    sent = edges.mapInArrow(partial(_edge_rows, hubs=hubs, span=ranges.span, sizes=sizes), _RANGE.ddl)
    if ranges.pieces is None:
        lists = partial(list_rows, packed=_RANGE, span=ranges.span, sizes=sizes)
        sent = sent.union(files.map(lists, _RANGE.ddl))
    work = partial(_range_runs, hubs=hubs, ranges=ranges, sizes=sizes)
    return sent.repartitionById(ranges.number, "place").mapInArrow(work, RUNS.ddl)


def _edge_rows(batches: Batches, hubs: "Broadcast[Hubs]", span: int, sizes: Sizes) -> Batches:
    """The edges for each range: where a hub is at both ends, that of the lower one."""
    for table in large_batches(batches, 1 << 20):
        ends, costs = edge_arrays(table, sizes.nodes, sizes.where)
        upper = hubs.value.is_hub[ends[:, 1]]
        own = np.where(upper, ends[:, 0], ends[:, 1])
        other = np.where(upper, ends[:, 1], ends[:, 0])
        at_hub = np.flatnonzero(upper | hubs.value.is_hub[ends[:, 0]])
        for place, chosen in groups(own[at_hub] // span):
            rows = at_hub[chosen]
            paid = None if costs is None else costs[rows]
            yield _RANGE.batch(place=place, ends=own[rows], hubs=other[rows], costs=paid)


def _range_runs(batches: Batches, hubs: "Broadcast[Hubs]", ranges: Ranges, sizes: Sizes) -> Batches:
    """The runs of a range. Its nodes go by their place in it; the hubs stand behind them, once more."""
    rows = list(_RANGE.rows(batches))
    if not any(len(row["ends"]) for row in rows):
        return
    place, known = rows[0]["place"], hubs.value
    own, other, costs = _edges_of(rows)
    start = place * ranges.span
    indptr, topics = _lists_of(rows, place, ranges, sizes)
    del rows
    lists = _with_hubs(start, indptr, topics, known)
    edges = np.stack([own - start, ranges.span + np.searchsorted(known.nodes, other)], axis=1)
    links = links_of(edges.astype(np.int32), len(lists.indptr) - 1)
    for runs in topic_runs(place, lists, links, costs, sizes.topics):
        yield from packed(runs)


def _edges_of(rows: list[dict[str, Any]]) -> tuple[Ids, Ids, Floats]:
    """Both ends of the edges and their costs, sorted where there are any: sums of costs show the order."""
    own, other, costs = (np.concatenate([row[name] for row in rows]) for name in ("ends", "hubs", "costs"))
    if not len(costs):
        return own, other, costs
    order = np.lexsort((other, own))
    return own[order], other[order], costs[order]


def _lists_of(rows: list[dict[str, Any]], place: int, ranges: Ranges, sizes: Sizes) -> tuple[Offsets, Ids]:
    """The topics of the nodes of a range, as a CSR."""
    start = place * ranges.span
    if ranges.pieces is None:
        parts = [(row["nodes"], row["lengths"], row["topics"]) for row in rows]
    else:
        read = checked(read_within(ranges.pieces[place], start, start + ranges.span), sizes)
        parts = [(nodes, np.diff(indptr), topics) for nodes, indptr, topics in read]
    nodes, lengths, topics = (np.concatenate([NO_IDS, *column]) for column in zip(*parts, strict=True))
    return gathered(nodes - start, lengths, topics, ranges.span, sizes.where)


NO_IDS: Ids = np.empty(0, np.int32)


def _with_hubs(start: int, indptr: Offsets, topics: Ids, hubs: Hubs) -> TopicLists:
    """The lists of a range that begins at a node, and behind them those of the hubs; by ids, not by ranks."""
    both = np.concatenate([indptr, indptr[-1] + hubs.indptr[1:]])
    ids = np.concatenate([np.arange(start, start + len(indptr) - 1, dtype=np.int32), hubs.nodes])
    return TopicLists(both, np.concatenate([topics, hubs.topics]), np.repeat(ids, np.diff(both)))
