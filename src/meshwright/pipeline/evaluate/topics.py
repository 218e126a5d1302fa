"""Components and diameters of topics on Spark.

The edges of a topic's sub-overlay are found where an edge meets the lists of both its ends. They travel
sorted by topic and packed: topic `topics[i]` has the next `counts[i]` of `ends` (m, 2), and of `costs` where
there are any. A (topic, u, v) takes 8 bytes that way; as a row of its own it would take 32 in Spark. Groups
of topics are then measured, each by a task that holds all of their edges.
"""

import heapq
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from meshwright.kernels.core import subgraphs
from meshwright.kernels.core.forests import number_ends, place_runs
from meshwright.kernels.core.subgraphs import Links, TopicGraphs, TopicLists
from meshwright.kernels.metrics.cut_nodes import measure_cuts
from meshwright.kernels.metrics.diameters import measure_topics
from meshwright.kernels.metrics.weighted_diameters import weighted_topic_diameters
from meshwright.metrics.resilience import Failures
from meshwright.metrics.topics import TopicMeasures, topic_rows
from meshwright.pipeline.evaluate.grid import CELL, Grid, blocks_of, cells
from meshwright.pipeline.spark import functions as f
from meshwright.pipeline.spark.arrays import Array, Batches, Packed, by_id, gathered
from meshwright.pipeline.spark.arrays import packed as packed_arrays
from meshwright.pipeline.spark.arrays import unpacked as unpacked_arrays
from meshwright.runtime.arrays import Floats, Ids, Offsets

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


_EDGES_A_ROW = 1 << 20
RUNS = Packed("place", topics=np.int32, counts=np.int32, ends=np.int64, costs=np.float64)


class Runs(NamedTuple):
    """Edges by topic; `ends` has both ends of an edge in one number, `costs` is empty where links have none.

    `place` says where the row belongs: to a cell, a bucket or a tree.
    """

    place: int
    topics: Ids
    counts: Ids
    ends: Array
    costs: Floats


def as_words(ends: Ids) -> Array:
    """Ends (m, 2) as one number per edge, of the same bytes."""
    return np.ascontiguousarray(ends).view(np.int64).ravel()


def as_ends(words: Array) -> Ids:
    """The ends (m, 2) that such numbers are."""
    return words.view(np.int32).reshape(-1, 2)


def unpacked(batches: Batches) -> Iterator[Runs]:
    """The rows of a partition."""
    for row in RUNS.rows(batches):
        yield Runs(**row)


def packed(runs: Runs) -> Batches:
    """The same runs in rows of bounded length: a topic may go on in the next row."""
    reached = np.cumsum(runs.counts, dtype=np.int64)
    for start in range(0, len(runs.ends), _EDGES_A_ROW):
        stop = min(start + _EDGES_A_ROW, len(runs.ends))
        first, last = np.searchsorted(reached, [start, stop - 1], side="right")
        cuts = np.clip(reached[first : last + 1], start, stop)
        yield RUNS.batch(
            place=runs.place,
            topics=runs.topics[first : last + 1],
            counts=np.diff(cuts, prepend=start).astype(np.int32),
            ends=runs.ends[start:stop],
            costs=runs.costs[start:stop],
        )


def sorted_runs(runs: Runs, keys: Array) -> Iterator[tuple[int, Runs]]:
    """Each key from 0 on, and the runs that have it; runs of negative keys are left out."""
    order = np.argsort(keys, kind="stable")
    counts = runs.counts[order]
    places = np.empty(len(order), np.int64)
    places[order] = np.cumsum(counts) - counts
    ends, costs = np.empty_like(runs.ends), np.empty_like(runs.costs)
    place_runs(places, runs.counts, runs.ends, ends)
    if len(costs):
        place_runs(places, runs.counts, runs.costs, costs)
    found, starts = np.unique(keys[order], return_index=True)
    edges = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    cuts = [*starts.tolist(), len(order)]
    for key, (start, stop) in zip(found.tolist(), pairwise(cuts), strict=True):
        edge = slice(edges[start], edges[stop])
        if key >= 0:
            yield (
                key,
                Runs(runs.place, runs.topics[order[start:stop]], counts[start:stop], ends[edge], costs[edge]),
            )


_EDGES_AT_ONCE = 1 << 22
"""Edges of sub-overlays that a task holds at the same time, unless a topic has more in its cell alone."""


def edges_by_topic(edges: "DataFrame", lists: "DataFrame", grid: Grid, where: str) -> "DataFrame":
    """Runs of all edges whose ends share topics, by cell: a partition a cell, and in each the same order.

    Every list crosses the network once for each block, every edge once; what comes out has an item for each
    topic that the ends of an edge share.
    """
    return cells(edges, lists, grid, where).mapInArrow(partial(_cell_runs, grid=grid, where=where), RUNS.ddl)


def _cell_runs(batches: Batches, grid: Grid, where: str) -> Batches:
    rows = list(CELL.rows(batches))
    if not rows:
        return
    cell = rows[0]["cell"]
    ends, costs = _edges_of(rows)
    lists = _lists_of(rows, cell, grid, where)
    del rows
    links = subgraphs.links_of(_local(ends, cell, grid), len(lists.indptr) - 1)
    for runs in topic_runs(cell, lists, links, costs, grid.topics):
        yield from packed(runs)


def _column(rows: list[dict[str, Array]], name: str) -> Array:
    return np.concatenate([row[name] for row in rows])


def _edges_of(rows: list[dict[str, Array]]) -> tuple[Ids, Floats]:
    """The edges, sorted: which order they arrive in is chance, and sums of costs would show it."""
    ends, costs = _column(rows, "ends").reshape(-1, 2), _column(rows, "costs")
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    return ends[order], costs[order] if len(costs) else costs


def _local(nodes: Array, cell: int, grid: Grid) -> Ids:
    """The numbers of nodes inside a cell: those of the lower block first."""
    low, high = blocks_of(cell)
    second = (nodes % grid.blocks == high) & (low != high)
    local: Ids = (nodes // grid.blocks + second * grid.width).astype(np.int32)
    return local


def _lists_of(rows: list[dict[str, Array]], cell: int, grid: Grid, where: str) -> TopicLists:
    """The lists of the cell's nodes; in place of its rank, every node goes by its id."""
    nodes = _column(rows, "nodes")
    low, high = blocks_of(cell)
    places, size = _local(nodes, cell, grid), grid.width * (1 + (low != high))
    indptr, topics = gathered(places, _column(rows, "lengths"), _column(rows, "topics"), size, where)
    ids = np.empty(size, np.int32)
    ids[places] = nodes
    return TopicLists(indptr, topics, np.repeat(ids, np.diff(indptr)))


def topic_runs(
    place: int, lists: TopicLists, links: Links, costs: Floats, topic_count: int
) -> Iterator[Runs]:
    """The runs of some nodes and the links between them, in rows of topics that fit at once."""
    ticks, every = np.zeros(2, np.int64), (0, len(links.indptr) - 1)
    counts = np.zeros(topic_count, np.int64)
    subgraphs.count_topic_edges(lists, links, every, counts, ticks)
    for first, last in topic_rows(counts, _EDGES_AT_ONCE):
        graphs = _room(first, counts[first:last], with_costs=len(costs) > 0)
        subgraphs.fill_topic_edges(lists, links, every, graphs, graphs.indptr[:-1].copy(), ticks)
        found = np.flatnonzero(counts[first:last])
        yield Runs(
            place,
            (first + found).astype(np.int32),
            counts[first:last][found].astype(np.int32),
            as_words(graphs.ends),
            costs[graphs.edge_ids] if len(costs) else costs,
        )


def _room(first: int, counts: Offsets, *, with_costs: bool) -> TopicGraphs:
    indptr = np.concatenate([[0], np.cumsum(counts)])
    ends = np.empty((indptr[-1], 2), np.int32)
    return TopicGraphs(first, counts, indptr, ends, np.empty(indptr[-1] if with_costs else 0, np.int32))


MEASURED = (
    "topic int, components int, diameter int, least int, weighted_diameter double, least_weighted double, "
    "cut_nodes int, bridges int, nodes binary, lost binary"
)
"""By topic; `nodes` are its cut nodes, packed, and `lost` how many subscribers the loss of each cuts off."""
_MEASURED_SCHEMA = pa.schema(
    [
        ("topic", pa.int32()),
        ("components", pa.int32()),
        ("diameter", pa.int32()),
        ("least", pa.int32()),
        ("weighted_diameter", pa.float64()),
        ("least_weighted", pa.float64()),
        ("cut_nodes", pa.int32()),
        ("bridges", pa.int32()),
        ("nodes", pa.binary()),
        ("lost", pa.binary()),
    ]
)
_COUNTED = "topic int, edges long, cost double"
_COUNTED_SCHEMA = pa.schema([("topic", pa.int32()), ("edges", pa.int64()), ("cost", pa.float64())])
_GROUPS_A_CORE = 4
_EDGES_A_GROUP = 1 << 24
_EDGES_WORTH_A_GROUP = 1 << 14


class Topics(NamedTuple):
    """By topic: its subscribers, the edges of its sub-overlay, and the group that it is measured in.

    The group of a topic without edges, or with too many for a task, is -1.
    """

    sizes: Offsets
    edges: Offsets
    groups: Ids

    @property
    def group_count(self) -> int:
        """How many groups there are."""
        return int(self.groups.max(initial=-1)) + 1


def load_by_topic(runs: "DataFrame", topic_count: int) -> tuple[Offsets, Floats]:
    """The edges of each topic's sub-overlay and their costs; collected, two numbers per topic."""
    counted = runs.select("place", "topics", "counts", "costs").mapInArrow(_counted, _COUNTED)
    sums = f.sum("edges").alias("edges"), f.sum("cost").alias("cost")
    table = counted.groupBy("topic").agg(*sums).toArrow()
    costs = np.zeros(topic_count)
    costs[table["topic"].to_numpy()] = table["cost"].to_numpy()
    return by_id(table, "topic", "edges", topic_count), costs


def _counted(batches: Batches) -> Batches:
    for row in RUNS.rows(batches):
        counts = row["counts"].astype(np.int64)
        places = np.repeat(np.arange(len(counts)), counts if len(row["costs"]) else 0)
        costs = np.bincount(places, row["costs"], minlength=len(counts))
        yield pa.record_batch([row["topics"], counts, costs], schema=_COUNTED_SCHEMA)


def grouped(sizes: Offsets, edges: Offsets, most_edges: int, cores: int) -> Topics:
    """Share the topics of up to `most_edges` among groups of about as many edges, a few for each core.

    Largest first, each to the group that has least: so no group has more than an even share and one topic.
    An even share is at most 2^24 edges.
    """
    groups = np.full(len(sizes), -1, np.int32)
    chosen = np.flatnonzero((edges > 0) & (edges <= most_edges))
    total = int(edges[chosen].sum())
    fewest = -(-total // min(most_edges, _EDGES_A_GROUP))
    count = max(min(_GROUPS_A_CORE * cores, total // _EDGES_WORTH_A_GROUP), fewest)
    heap = [(0, group) for group in range(min(count, len(chosen)))]
    for topic in chosen[np.argsort(-edges[chosen], kind="stable")].tolist():
        load, group = heap[0]
        groups[topic] = group
        heapq.heapreplace(heap, (load + int(edges[topic]), group))
    return Topics(sizes, edges, groups)


def measured_groups(runs: "DataFrame", topics: Topics, *, budget: int) -> "DataFrame":
    """A row (MEASURED) for each topic that is in a group."""
    sent = runs.mapInArrow(partial(_sent, groups=topics.groups), RUNS.ddl)
    sent = sent.repartitionById(topics.group_count, "place")
    return sent.mapInArrow(partial(_measure_group, topics=topics, budget=budget), MEASURED)


def _sent(batches: Batches, groups: Ids) -> Batches:
    """The runs for each group."""
    for runs in unpacked(batches):
        for group, chosen in sorted_runs(runs, groups[runs.topics]):
            yield from packed(chosen._replace(place=group))


def _measure_group(batches: Batches, topics: Topics, budget: int) -> Batches:
    """Put the edges where they belong as they come, so that a group is held once."""
    rows = unpacked(batches)
    first = next(rows, None)
    if first is None:
        return
    here = np.flatnonzero(topics.groups == first.place)
    indptr = np.concatenate([[0], np.cumsum(topics.edges[here])])
    ends = np.empty(indptr[-1], np.int64)
    costs = np.empty(indptr[-1] if len(first.costs) else 0)
    free = np.zeros(len(topics.groups), np.int64)
    free[here] = indptr[:-1]
    _place(first, free, ends, costs)
    for runs in rows:
        _place(runs, free, ends, costs)
    graphs = graphs_of(topics.sizes[here], indptr, as_ends(ends))
    cuts = cuts_of(graphs, number_ends(graphs.ends, indptr, graphs.sizes))
    yield measured(here, graphs, costs, cuts, budget=budget)


def graphs_of(sizes: Offsets, indptr: Offsets, ends: Ids) -> TopicGraphs:
    """Graphs in a row, whose edges are numbered as they stand."""
    return TopicGraphs(0, sizes, indptr, ends, np.arange(len(ends), dtype=np.int32))


def _place(runs: Runs, free: Offsets, ends: Offsets, costs: Floats) -> None:
    place_runs(free[runs.topics], runs.counts, runs.ends, ends)
    if len(runs.costs):
        place_runs(free[runs.topics], runs.counts, runs.costs, costs)
    free[runs.topics] += runs.counts


def measured(
    topics: Offsets, graphs: TopicGraphs, costs: Floats, cuts: list[pa.Array], *, budget: int
) -> pa.RecordBatch:
    """The rows of topics whose graphs stand in a row; diameters are -1 where not asked for."""
    ticks = np.zeros(2, np.int64)
    components, hops, least = np.full((3, len(topics)), -1, np.int32)
    weighted, least_weighted = np.full((2, len(topics)), -1.0)
    measure_topics(graphs, components, hops, least, budget, ticks)
    if budget and len(costs):
        weighted_topic_diameters(graphs, costs, components, weighted, least_weighted, budget, ticks)
    columns = [topics.astype(np.int32), components, hops, least, weighted, least_weighted]
    return pa.record_batch([*columns, *cuts], schema=_MEASURED_SCHEMA)


def cuts_of(graphs: TopicGraphs, named: Ids) -> list[pa.Array]:
    """The columns on failures; `named` are the ids of all vertices, as `number_ends` gives them."""
    cut_nodes, bridges = np.zeros((2, len(graphs.sizes)), np.int32)
    lost = np.zeros(len(named), np.int32)
    measure_cuts(graphs, cut_nodes, bridges, lost, np.zeros(2, np.int64))
    ends = np.cumsum(graphs.sizes)[:-1]
    parts = zip(np.split(named, ends), np.split(lost, ends), strict=True)
    by_topic = [(nodes[own > 0], own[own > 0]) for nodes, own in parts]
    return [cut_nodes, bridges, *(packed_arrays(column) for column in zip(*by_topic, strict=True))]


_LOST = "node int, topics long, lost long"
_LOST_SCHEMA = pa.schema([("node", pa.int32()), ("topics", pa.int64()), ("lost", pa.int64())])


def losses(measured: "DataFrame") -> "DataFrame":
    """A row for each node whose loss cuts topics: how many (`topics`), and what it cuts off (`lost`)."""
    rows = measured.select("nodes", "lost").mapInArrow(_unpacked_losses, _LOST)
    return rows.groupBy("node").agg(f.sum("topics").alias("topics"), f.sum("lost").alias("lost"))


def _unpacked_losses(batches: Batches) -> Batches:
    for batch in batches:
        nodes, place = np.unique(unpacked_arrays(batch.column("nodes"), np.int32), return_inverse=True)
        lost = unpacked_arrays(batch.column("lost"), np.int32)
        by_node = np.bincount(place, lost, minlength=len(nodes)).astype(np.int64)
        topics = np.bincount(place, minlength=len(nodes))
        yield pa.record_batch([nodes, topics, by_node], schema=_LOST_SCHEMA)


def without_edges(sizes: Offsets, nodes: int, *, budget: int) -> TopicMeasures:
    """Measures as they are where no topic has an edge: every subscriber is alone."""
    hops = np.where((sizes <= 1) & (budget > 0), 0, -1).astype(np.int32)
    return TopicMeasures(
        sizes=sizes,
        components=sizes.astype(np.int32),
        diameters=hops,
        weighted_diameters=hops.astype(np.float64),
        links=np.zeros(len(sizes), np.int64),
        costs=np.zeros(len(sizes)),
        least_diameters=hops.copy(),
        least_weighted_diameters=hops.astype(np.float64),
        failures=Failures.none(len(sizes), nodes),
    )
