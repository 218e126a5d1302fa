"""Taking pendant trees off a graph, such that its diameter can still be told exactly.

A vertex of one edge is taken off again and again. What is left, the core, has no vertex of fewer than two
edges, and remembers at each vertex the height of what hung there. The diameter is then the longest path
inside what was taken off, or the greatest height(u) + distance(u, v) + height(v) in the core. Lengths may
be whole numbers or floats; every kernel here is compiled for the kind it is called with.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from meshwright.kernels.compiling import inner
from meshwright.runtime.arrays import Ids, Offsets, Vertices

Lengths = npt.NDArray[Any]


class Core(NamedTuple):
    """A graph without pendant vertices, as CSR, with lengths of the links and heights at the vertices."""

    indptr: Offsets
    neighbours: Vertices
    lengths: Lengths
    heights: Lengths


@inner
def peel(size: int, ends: Ids, lengths: Lengths) -> tuple[Ids, Lengths, int]:
    """Take off all pendant trees of a graph of `size` vertices and edges `ends` (m, 2).

    Gives each vertex's degree in the core (-1 where it was taken off, 0 where a whole tree shrank to it), the
    height of what hung at it, and the longest path inside what was taken off. The edges left at a vertex are
    kept as the exclusive or of their numbers, so a leaf knows its edge without a list. O(vertices + edges).
    """
    degrees = np.zeros(size, np.int32)
    edges_left = np.zeros(size, np.int64)
    for edge in range(ends.shape[0]):
        for end in range(2):
            degrees[ends[edge, end]] += 1
            edges_left[ends[edge, end]] ^= edge
    heights = np.zeros(size, lengths.dtype)
    longest = lengths.dtype.type(0)
    for start in range(size):
        leaf = start
        while degrees[leaf] == 1:
            edge = edges_left[leaf]
            parent = ends[edge, 0] ^ ends[edge, 1] ^ leaf
            height = heights[leaf] + lengths[edge]
            longest = max(longest, heights[parent] + height)
            heights[parent] = max(heights[parent], height)
            edges_left[parent] ^= edge
            degrees[parent] -= 1
            degrees[leaf] = -1
            leaf = parent
    return degrees, heights, longest


@inner
def core_of(ends: Ids, lengths: Lengths, degrees: Ids, heights: Lengths) -> Core:
    """What `peel` left of a graph, its vertices numbered anew. O(vertices + edges)."""
    numbers = np.empty(degrees.size, np.uint32)
    core_heights = np.empty(degrees.size, lengths.dtype)
    indptr = np.zeros(degrees.size + 1, np.int64)
    size = 0
    for vertex in range(degrees.size):
        if degrees[vertex] > 1:
            numbers[vertex] = size
            core_heights[size] = heights[vertex]
            indptr[size + 1] = indptr[size] + degrees[vertex]
            size += 1
    indptr = indptr[: size + 1]
    free = indptr[:-1].copy()
    neighbours = np.empty(indptr[-1], np.uint32)
    link_lengths = np.empty(indptr[-1], lengths.dtype)
    for edge in range(ends.shape[0]):
        if degrees[ends[edge, 0]] > 1 and degrees[ends[edge, 1]] > 1:
            for end in range(2):
                number = numbers[ends[edge, end]]
                neighbours[free[number]] = numbers[ends[edge, 1 - end]]
                link_lengths[free[number]] = lengths[edge]
                free[number] += 1
    return Core(indptr, neighbours, link_lengths, core_heights[:size])


@inner
def hub_of(core: Core) -> int:
    """The vertex with the most links, the first of several."""
    hub, most = 0, 0
    for vertex in range(core.heights.size):
        links = core.indptr[vertex + 1] - core.indptr[vertex]
        if links > most:
            hub, most = vertex, links
    return hub


@inner
def cycle_diameter(core: Core) -> int:
    """The greatest height(u) + distance(u, v) + height(v) in a core that is one cycle, u and v different.

    Once round and once more: each place looks back no further than half the cycle, for the place there with
    the greatest height less what the way from it is short of; a queue of falling candidates knows it.
    O(vertices).
    """
    size = core.heights.size
    places, heights = _unrolled(core)
    # When floats are added, both halves may come out a little over the half; the tolerance keeps one.
    half = places[size] / 2 * (1 + 1e-12)
    queue = np.empty(2 * size, np.int64)
    head, tail = 0, 0
    longest = core.lengths.dtype.type(0)
    for step in range(2 * size):
        while head < tail and places[step] - places[queue[head]] > half:
            head += 1
        if head < tail:
            other = queue[head]
            longest = max(longest, heights[step] + places[step] - places[other] + heights[other])
        rest = heights[step] - places[step]
        while head < tail and heights[queue[tail - 1]] - places[queue[tail - 1]] <= rest:
            tail -= 1
        queue[tail] = step
        tail += 1
    return longest


@inner
def _unrolled(core: Core) -> tuple[Lengths, Lengths]:
    """Twice round a cycle: how far each step is from the first, and the height there."""
    size = core.heights.size
    places = np.zeros(2 * size + 1, core.lengths.dtype)
    heights = np.empty(2 * size, core.heights.dtype)
    before, vertex = int(core.neighbours[1]), 0
    for step in range(2 * size):
        heights[step] = core.heights[vertex]
        onward = 2 * vertex + (core.neighbours[2 * vertex] == before)
        places[step + 1] = places[step] + core.lengths[onward]
        before, vertex = vertex, int(core.neighbours[onward])
    return places, heights
