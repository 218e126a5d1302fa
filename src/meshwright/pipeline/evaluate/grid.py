"""Edges and lists brought together: a task for each pair of blocks of nodes.

To see which topics an edge belongs to, the lists of both its ends must be at hand. Sending them along with
every edge would move some sixty topics an edge. Instead the nodes are cut into B blocks; the task of a cell,
a pair of blocks, gets the edges between the two and the lists of both. So a list is sent B times, however
many edges its node has, and a hub's edges are spread over B tasks.
"""

import math
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from meshwright.pipeline.spark.arrays import (
    Array,
    Batches,
    Packed,
    column,
    edge_arrays,
    large_batches,
    list_arrays,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SMALL = 1 << 20
_ITEMS_A_CELL = 1 << 26
"""Interests and edges of a cell, at most; at some 20 bytes each they fit a task."""
_FEWEST_BLOCKS = 3

CELL = Packed("cell", nodes=np.int32, lengths=np.int32, topics=np.int32, ends=np.int32, costs=np.float64)


class Grid(NamedTuple):
    """Blocks of nodes, by id modulo the number of blocks, so that hubs spread evenly."""

    nodes: int
    topics: int
    blocks: int

    @property
    def width(self) -> int:
        """Nodes of a block, at most."""
        return -(-self.nodes // self.blocks)

    @property
    def cells(self) -> int:
        """How many pairs of blocks there are, those of a block with itself included."""
        return self.blocks * (self.blocks + 1) // 2


def grid_of(counts: Mapping[str, int]) -> Grid:
    """The grid for a dataset of these counts; it depends on them alone, so that results do, too."""
    items = counts["interests"] + counts["edges"]
    blocks = max(_FEWEST_BLOCKS, math.ceil(2 * items / _ITEMS_A_CELL)) if items > _SMALL else 1
    return Grid(counts["nodes"], counts["topics"], blocks)


def cell_of(one: Array, other: Array) -> Array:
    """The number of a pair of blocks."""
    low, high = np.minimum(one, other), np.maximum(one, other)
    cell: Array = high * (high + 1) // 2 + low
    return cell


def blocks_of(cell: int) -> tuple[int, int]:
    """The pair of blocks of a cell, the lower first."""
    high = (math.isqrt(8 * cell + 1) - 1) // 2
    return cell - high * (high + 1) // 2, high


def cells(edges: "DataFrame", lists: "DataFrame", grid: Grid, where: str) -> "DataFrame":
    """A partition for each cell, with the packed edges and lists of it (CELL)."""
    packed_edges = edges.mapInArrow(partial(_edge_rows, grid=grid, where=where), CELL.ddl)
    packed_lists = lists.mapInArrow(partial(_list_rows, grid=grid, where=where), CELL.ddl)
    return packed_edges.union(packed_lists).repartitionById(grid.cells, "cell")


def _edge_rows(batches: Batches, grid: Grid, where: str) -> Batches:
    """The edges of each cell, packed."""
    for table in large_batches(batches):
        ends, costs = edge_arrays(table, grid.nodes, where)
        blocks = ends % grid.blocks
        for cell, chosen in groups(cell_of(blocks[:, 0], blocks[:, 1])):
            paid = None if costs is None else costs[chosen]
            yield CELL.batch(cell=cell, ends=ends[chosen], costs=paid)


def _list_rows(batches: Batches, grid: Grid, where: str) -> Batches:
    """The lists of each block, packed, once for each cell that the block is in."""
    for table in large_batches(batches):
        nodes, indptr, _ = list_arrays(table, grid.nodes, grid.topics, where)
        lists, lengths = column(table, "topic_ids", where), np.diff(indptr).astype(np.int32)
        for block, chosen in groups(nodes % grid.blocks):
            topics = lists.take(pa.array(chosen)).flatten().to_numpy()
            row: dict[str, Any] = {"nodes": nodes[chosen], "lengths": lengths[chosen], "topics": topics}
            for other in range(grid.blocks):
                cell = int(cell_of(np.int64(block), np.int64(other)))  # type: ignore[arg-type]
                yield CELL.batch(cell=cell, **row)


def groups(keys: Array) -> Iterator[tuple[int, Array]]:
    """Each key that occurs, and where it does, in order."""
    order = np.argsort(keys, kind="stable")
    found, starts = np.unique(keys[order], return_index=True)
    yield from zip(found.tolist(), np.split(order, starts[1:]), strict=True)
