"""The edges of every topic's sub-overlay, found where an edge meets the lists of both its ends."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from meshwright.evaluate.topics import topic_rows
from meshwright.kernels import subgraphs
from meshwright.kernels.arrays import Floats, Ids, Offsets
from meshwright.kernels.subgraphs import Links, TopicGraphs, TopicLists
from meshwright.pipeline.engine.packing import Array, rows_of
from meshwright.pipeline.engine.table_arrays import gathered
from meshwright.pipeline.evaluate.grid import CELL_KINDS, Grid, blocks_of, cells
from meshwright.pipeline.evaluate.runs import RUNS, Runs, as_words, packed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_EDGES_AT_ONCE = 1 << 22
"""Edges of sub-overlays that a task holds at the same time, unless a topic has more in its cell alone."""


def edges_by_topic(edges: "DataFrame", lists: "DataFrame", grid: Grid, where: str) -> "DataFrame":
    """Runs of all edges whose ends share topics, by cell: a partition a cell, and in each the same order.

    Every list crosses the network once for each block, every edge once; what comes out has an item for each
    topic that the ends of an edge share.
    """
    return cells(edges, lists, grid, where).mapInArrow(partial(_cell_runs, grid=grid, where=where), RUNS)


def _cell_runs(batches: Iterator[pa.RecordBatch], grid: Grid, where: str) -> Iterator[pa.RecordBatch]:
    rows = [row for batch in batches for row in rows_of(batch, CELL_KINDS)]
    if not rows:
        return
    cell = rows[0]["cell"]
    ends, costs = _edges_of(rows)
    lists = _lists_of(rows, cell, grid, where)
    del rows
    links = subgraphs.links_of(_local(ends, cell, grid), len(lists.indptr) - 1)
    for runs in _topic_runs(cell, lists, links, costs, grid.topics):
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


def _topic_runs(
    cell: int, lists: TopicLists, links: Links, costs: Floats, topic_count: int
) -> Iterator[Runs]:
    """The runs of a cell, in rows of topics that fit at once."""
    ticks, every = np.zeros(2, np.int64), (0, len(links.indptr) - 1)
    counts = np.zeros(topic_count, np.int64)
    subgraphs.count_topic_edges(lists, links, every, counts, ticks)
    for first, last in topic_rows(counts, _EDGES_AT_ONCE):
        graphs = _room(first, counts[first:last], with_costs=len(costs) > 0)
        subgraphs.fill_topic_edges(lists, links, every, graphs, graphs.indptr[:-1].copy(), ticks)
        found = np.flatnonzero(counts[first:last])
        yield Runs(
            cell,
            (first + found).astype(np.int32),
            counts[first:last][found].astype(np.int32),
            as_words(graphs.ends),
            costs[graphs.edge_ids] if len(costs) else costs,
        )


def _room(first: int, counts: Offsets, *, with_costs: bool) -> TopicGraphs:
    indptr = np.concatenate([[0], np.cumsum(counts)])
    ends = np.empty((indptr[-1], 2), np.int32)
    return TopicGraphs(first, counts, indptr, ends, np.empty(indptr[-1] if with_costs else 0, np.int32))
