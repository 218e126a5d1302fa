"""Degrees, and the triangles that every node is a corner of, from edges alone.

Nodes are coloured with P colours. The task of three colours i <= j <= k gets the edges between these and
counts the triangles of exactly these colours, by the kernel of `meshwright.kernels.metrics.clustering`. So
an edge is sent P times (Suri and Vassilvitskii, "Counting triangles and the curse of the last reducer"), and
no neighbour list is ever sent along with an edge, however large the hub.
"""

import math
from functools import partial
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from meshwright.kernels.core.subgraphs import links_of
from meshwright.kernels.metrics.clustering import count_triangles, upward_links
from meshwright.pipeline.evaluate.grid import blocks_of, cell_of, groups
from meshwright.pipeline.evaluate.topics import as_words
from meshwright.pipeline.spark.arrays import Batches, Packed, edge_arrays, large_batches
from meshwright.runtime.arrays import Ids, Offsets
from meshwright.runtime.errors import DatasetError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SMALL = 1 << 22
_EDGES_A_TASK = 1 << 24
_FEWEST_COLOURS = 2

_EDGES = Packed("task", ends=np.int32)
_NODES = Packed("colour", degrees=np.int64, triangles=np.int64)

Triple = tuple[int, int, int]


class Colouring(NamedTuple):
    """The colour of a node is the rest of its id; nodes of a colour are numbered by the quotient."""

    nodes: int
    colours: int

    @property
    def width(self) -> int:
        """Nodes of a colour, at most."""
        return -(-self.nodes // self.colours)

    def triples(self) -> list[Triple]:
        """The colours of each task."""
        return list(combinations_with_replacement(range(self.colours), 3))


class NodeMeasures(NamedTuple):
    """By node: its links, and the triangles that it is a corner of."""

    degrees: Offsets
    triangles: Offsets


def colouring(node_count: int, edge_count: int) -> Colouring:
    """As few colours as let the edges of three fit a task, one where a task has all done in seconds.

    With P colours, edges are looked at P times, and most of them twice more.
    """
    enough = max(_FEWEST_COLOURS, math.ceil(math.sqrt(6 * edge_count / _EDGES_A_TASK)))
    return Colouring(node_count, enough if edge_count > _SMALL else 1)


def node_measures(edges: "DataFrame", colours: Colouring, where: str) -> NodeMeasures:
    """Degrees and triangles of all nodes, collected in 16 bytes per node."""
    sent = edges.mapInArrow(partial(_sent, colours=colours, where=where), _EDGES.ddl)
    counted = sent.repartitionById(len(colours.triples()), "task")
    counted = counted.mapInArrow(partial(_count, colours=colours, where=where), _NODES.ddl)
    summed = counted.repartitionById(colours.colours, "colour").mapInArrow(_sum, _NODES.ddl)
    found = NodeMeasures(*(np.zeros(colours.nodes, np.int64) for _ in range(2)))
    for row in _NODES.rows(summed.toArrow().to_batches()):
        here = slice(row["colour"], None, colours.colours)
        for name, values in found._asdict().items():
            values[here] = row[name][: len(values[here])]
    return found


def _sent(batches: Batches, colours: Colouring, where: str) -> Batches:
    """The edges between two colours, for each task that has both: with any third one."""
    tasks = {triple: task for task, triple in enumerate(colours.triples())}
    for table in large_batches(batches):
        ends, _ = edge_arrays(table, colours.nodes, where)
        one, other = (ends % colours.colours).T
        for cell, chosen in groups(cell_of(one, other)):
            between = ends[chosen]
            for third in range(colours.colours):
                task = tasks[tuple(sorted((*blocks_of(cell), third)))]  # type: ignore[index]
                yield _EDGES.batch(task=task, ends=between)


def _count(batches: Batches, colours: Colouring, where: str) -> Batches:
    """The triangles of one task, and the degrees of the edges that are its own, by colour."""
    rows = list(_EDGES.rows(batches))
    if not rows:
        return
    triple = colours.triples()[rows[0]["task"]]
    ends = np.concatenate([row["ends"] for row in rows]).reshape(-1, 2)
    names = sorted(set(triple))
    order = np.zeros(colours.colours, np.int32)
    order[names] = np.arange(len(names))
    local = (ends // colours.colours + order[ends % colours.colours] * colours.width).astype(np.int32)
    size = len(names) * colours.width
    degrees = _own_degrees(local, triple, colours, where)
    triangles = _triangles(local, size)
    if len(names) == 2:
        # All edges inside the colour that comes twice are here: triangles of that colour alone are not ours.
        twice = order[triple[1]]
        inside = (local // colours.width == twice).all(axis=1)
        triangles -= _triangles(local[inside], size)
    for at, colour in enumerate(names):
        here = slice(at * colours.width, (at + 1) * colours.width)
        yield _NODES.batch(colour=colour, degrees=degrees[here], triangles=triangles[here])


def _triangles(ends: Ids, size: int) -> Offsets:
    triangles = np.zeros(size, np.int64)
    count_triangles(upward_links(links_of(ends, size)), (0, size), triangles, np.zeros(2, np.int64))
    return triangles


def _own_degrees(ends: Ids, triple: Triple, colours: Colouring, where: str) -> Offsets:
    """The degrees by edges between the first colour, if it comes twice, and the last: so each edge once."""
    size = len(set(triple)) * colours.width
    if triple[0] != triple[1]:
        return np.zeros(size, np.int64)
    both = np.sort(ends // colours.width, axis=1)
    own = ends[(both[:, 0] == 0) & (both[:, 1] == len(set(triple)) - 1)]
    if len(np.unique(as_words(own))) < len(own):
        raise DatasetError(f"{where}: an edge appears twice; write the dataset again")
    return np.bincount(own.ravel(), minlength=size)


def _sum(batches: Batches) -> Batches:
    """The counts of one colour, over all tasks."""
    total: dict[str, Offsets] = {}
    colour = 0
    for row in _NODES.rows(batches):
        colour = row.pop("colour")
        total = {name: total.get(name, 0) + values for name, values in row.items()}
    if total:
        yield _NODES.batch(colour=colour, **total)
