"""Diameters of the sub-overlays of topics, counted in costs: exact but for rounding, or bounds."""

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.subgraphs import TopicGraphs
from meshwright.kernels.metrics.diameters import searches_within
from meshwright.kernels.metrics.peeling import Core, core_of, cycle_diameter, hub_of, peel
from meshwright.runtime.arrays import Floats, Ids, Offsets, Vertices


@kernel
def weighted_topic_diameters(
    graphs: TopicGraphs,
    costs: Floats,
    components: Ids,
    diameters: Floats,
    least: Floats,
    budget: int,
    ticks: Offsets,
) -> None:
    """Write each graph's weighted diameter, -1 where `components` says that it is not connected.

    Beyond the budget, `diameters` are upper bounds and `least` lower ones, as of `measure_topics`.
    """
    for topic in range(graphs.sizes.size):
        if ticks[1]:
            break
        diameters[topic] = least[topic] = -1.0
        if components[topic] <= 1:
            start, stop = graphs.indptr[topic], graphs.indptr[topic + 1]
            ends = graphs.ends[start:stop]
            lengths = np.empty(stop - start)
            for item in range(start, stop):
                lengths[item - start] = costs[graphs.edge_ids[item]]
            degrees, heights, longest = peel(graphs.sizes[topic], ends, lengths)
            core = core_of(ends, lengths, degrees, heights)
            searches = searches_within(budget, core)
            least[topic], diameters[topic] = _diameter(core, longest, searches, ticks)


@inner
def _diameter(core: Core, longest: float, searches: int, ticks: Offsets) -> tuple[float, float]:
    """Bounds on the greatest of `longest` and height(u) + distance(u, v) + height(v), u and v different.

    Searches are ordered and bounded from one hub, as in the unweighted case. Further sweeps for a better
    centre, and bounds from several, were measured: they cost as many searches as they save.
    """
    size = core.heights.size
    if size == 0:
        return longest, longest
    if core.neighbours.size == 2 * size:
        round_trip: float = cycle_diameter(core)
        longest = max(longest, round_trip)
        return longest, longest
    distances = np.empty(size)
    room = (np.empty(core.neighbours.size + 1), np.empty(core.neighbours.size + 1, np.uint32))
    _search(core, hub_of(core), distances, *room)
    by_reach = (np.empty(size), np.empty(size, np.uint32))
    for vertex in range(size):
        _sift_up(*by_reach, vertex, -distances[vertex] - core.heights[vertex], vertex)
    for left in range(size - 1, 0, -1):
        reach, source = -by_reach[0][0], int(by_reach[1][0])
        _sift_down(*by_reach, left)
        if reach - by_reach[0][0] <= longest or ticks[1]:
            break
        if size - left > searches:
            return longest, reach - by_reach[0][0]
        _search(core, source, distances, *room)
        for vertex in range(size):
            if vertex != source:
                longest = max(longest, core.heights[source] + distances[vertex] + core.heights[vertex])
    return longest, longest


@inner
def _search(core: Core, source: int, distances: Floats, keys: Floats, heap: Vertices) -> None:
    """Write all distances from `source` (Dijkstra). `keys` and `heap` hold one entry per link, plus one."""
    distances[:] = np.inf
    distances[source] = 0.0
    keys[0], heap[0] = 0.0, source
    count = 1
    while count:
        key, vertex = keys[0], heap[0]
        count -= 1
        _sift_down(keys, heap, count)
        if key > distances[vertex]:
            continue
        for link in range(core.indptr[vertex], core.indptr[vertex + 1]):
            other = int(core.neighbours[link])
            distance = key + core.lengths[link]
            if distance < distances[other]:
                distances[other] = distance
                _sift_up(keys, heap, count, distance, other)
                count += 1


@inner
def _sift_up(keys: Floats, heap: Vertices, place: int, key: float, vertex: int) -> None:
    """Put `vertex` into a heap of `place` entries."""
    while place and keys[(place - 1) >> 1] > key:
        above = (place - 1) >> 1
        keys[place], heap[place] = keys[above], heap[above]
        place = above
    keys[place], heap[place] = key, vertex


@inner
def _sift_down(keys: Floats, heap: Vertices, count: int) -> None:
    """Close the gap at the top of a heap with its last entry, at `count`."""
    key, vertex = keys[count], heap[count]
    place = 0
    while 2 * place + 1 < count:
        below = 2 * place + 1
        below += below + 1 < count and keys[below + 1] < keys[below]
        if keys[below] >= key:
            break
        keys[place], heap[place] = keys[below], heap[below]
        place = below
    keys[place], heap[place] = key, vertex
