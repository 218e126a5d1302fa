"""Components and diameters, counted in edges, of the sub-overlays of topics: exact or bounds, by budget.

Textbook iFUB searches one vertex after the other, thousands on a topic around few hubs. Here pendant trees
are gone before the first search, and a search takes 64 sources at once, one a bit of a machine word. Then one
search from a hub, to bound and to order the others, is enough: bounds from several were measured to take
longer than the searches that they save.
"""

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.bits import trailing_zeros
from meshwright.kernels.core.subgraphs import TopicGraphs
from meshwright.kernels.metrics.peeling import Core, core_of, cycle_diameter, hub_of, peel
from meshwright.runtime.arrays import Ids, Offsets, Vertices, Words

_WORD = 64
# While fewer vertices than one in so many were just reached, a level goes out from these; else it is a sweep
# over all, which takes a sixth of the time per edge. Long thin topics need the former.
_SWEEP_FROM = 32


NO_BUDGET = 0
"""Of diameters that are not asked for."""

EXACT = 1 << 62
"""A budget that no topic needs."""

_LEAST_SEARCHES = 4
"""However large a topic is: these cost as much as reading it a few times."""


@inner
def searches_within(budget: int, core: Core) -> int:
    """How many searches a topic may take; each may look at all links of its core, from both ends."""
    return max(_LEAST_SEARCHES, budget // max(core.neighbours.size, 1))


@kernel
def measure_topics(
    graphs: TopicGraphs, components: Ids, diameters: Ids, least: Ids, budget: int, ticks: Offsets
) -> None:
    """Write each graph's number of components and its diameter, -1 where it is not connected.

    A graph of one vertex has diameter 0, and so has one of none. Where more searches than the budget allows
    would be needed, `diameters` are upper bounds, and `least` are lower ones; elsewhere both are the same,
    and with NO_BUDGET both are -1. What is written depends on the graphs alone, in whatever order their edges
    are given.
    """
    for topic in range(graphs.sizes.size):
        if ticks[1]:
            break
        ends = graphs.ends[graphs.indptr[topic] : graphs.indptr[topic + 1]]
        lengths = np.ones(ends.shape[0], np.int32)
        degrees, heights, longest = peel(graphs.sizes[topic], ends, lengths)
        core = core_of(ends, lengths, degrees, heights)
        distances = np.full(core.heights.size, np.int32(-1))
        components[topic] = _components(core, distances)
        for degree in degrees:
            components[topic] += degree == 0
        diameters[topic] = least[topic] = -1
        if components[topic] <= 1 and budget > NO_BUDGET:
            searches = searches_within(budget, core)
            least[topic], diameters[topic] = _diameter(core, distances, longest, searches, ticks)


@inner
def _components(core: Core, distances: Ids) -> int:
    """How many components a core has; writes distances to the hub of each, beginning with the largest hub."""
    if not distances.size:
        return 0
    queue = np.empty(distances.size, np.uint32)
    reached = _search(core, hub_of(core), distances, queue)
    count = 1
    if reached < distances.size:
        for vertex in range(distances.size):
            if distances[vertex] < 0:
                _search(core, vertex, distances, queue)
                count += 1
    return count


@inner
def _search(core: Core, source: int, distances: Ids, queue: Vertices) -> int:
    """Breadth-first: write the distances from `source` over those that are -1; how many were reached."""
    distances[source] = 0
    queue[0] = source
    head, tail = 0, 1
    while head < tail:
        vertex = queue[head]
        head += 1
        for other in core.neighbours[core.indptr[vertex] : core.indptr[vertex + 1]]:
            if distances[other] < 0:
                distances[other] = distances[vertex] + 1
                queue[tail] = other
                tail += 1
    return tail


@inner
def _diameter(core: Core, distances: Ids, longest: int, searches: int, ticks: Offsets) -> tuple[int, int]:
    """Bounds on the greatest of `longest` and height(u) + distance(u, v) + height(v), u and v different.

    With the reach of v its distance to the hub plus its height, no path between u and v is longer than
    reach(u) + reach(v). Vertices are searched by falling reach; once the two next reaches add up to no more
    than the longest path so far, nothing is left to find. After the last search allowed, no path is longer
    than that sum.
    """
    size = core.heights.size
    if size and core.neighbours.size == 2 * size:
        round_trip: int = cycle_diameter(core)
        longest = max(longest, round_trip)
        return longest, longest
    order, reaches = _by_falling_reach(distances, core.heights)
    words = np.empty((3, size), np.uint64)
    lists = np.empty((2, size), np.uint32)
    done = 0
    while done + 1 < size and reaches[done] + reaches[done + 1] > longest and searches and not ticks[1]:
        longest = _search_64(core, order[done : done + _WORD], longest, words, lists)
        done += _WORD
        searches -= 1
    most = longest
    if done + 1 < size:
        most = max(longest, reaches[done] + reaches[done + 1])
    return longest, most


@inner
def _by_falling_reach(distances: Ids, heights: Ids) -> tuple[Vertices, Ids]:
    """The vertices, greatest reach first, and their reaches, by counting: O(vertices + greatest reach)."""
    top = 0
    for vertex in range(heights.size):
        top = max(top, distances[vertex] + heights[vertex])
    starts = np.zeros(top + 2, np.int64)
    for vertex in range(heights.size):
        starts[top - distances[vertex] - heights[vertex] + 1] += 1
    for place in range(top + 1):
        starts[place + 1] += starts[place]
    order = np.empty(heights.size, np.uint32)
    reaches = np.empty(heights.size, np.int32)
    for vertex in range(heights.size):
        reach = distances[vertex] + heights[vertex]
        order[starts[top - reach]] = vertex
        reaches[starts[top - reach]] = reach
        starts[top - reach] += 1
    return order, reaches


@inner
def _search_64(core: Core, sources: Vertices, longest: int, words: Words, lists: Vertices) -> int:
    """The greatest of `longest` and height(s) + distance(s, v) + height(v) over up to 64 sources s.

    Bit i of a word stands for source i. Of the rows of `words`, two take turns to say which sources reach a
    vertex at this level and at the next, the third which have reached it at all; of `lists`, the vertices so
    reached.
    """
    everyone = np.uint64(0xFFFF_FFFF_FFFF_FFFF) >> np.uint64(_WORD - sources.size)
    seen = words[2]
    words[:] = 0
    tallest = 0
    for i in range(sources.size):
        seen[sources[i]] = words[0, sources[i]] = np.uint64(1) << np.uint64(i)
        lists[0, i] = sources[i]
        tallest = max(tallest, core.heights[sources[i]])
    count, complete, level = sources.size, np.int64(sources.size == 1), 0
    while count and complete < seen.size:
        now, then = words[level & 1], words[1 - (level & 1)]
        reached, next_reached = lists[level & 1, :count], lists[1 - (level & 1)]
        if count * _SWEEP_FROM < seen.size:
            count = _spread(core, (seen, now, then), reached, next_reached)
        else:
            count = _sweep(core, (seen, now, then), everyone, next_reached)
        level += 1
        for vertex in next_reached[:count]:
            new = then[vertex]
            seen[vertex] |= new
            complete += seen[vertex] == everyone
            length = level + core.heights[vertex]
            if length + tallest > longest:
                while new:
                    longest = max(longest, length + core.heights[sources[trailing_zeros(new)]])
                    new &= new - np.uint64(1)
    return longest


@inner
def _spread(core: Core, words: tuple[Words, Words, Words], reached: Vertices, next_reached: Vertices) -> int:
    """One level, outwards from the vertices just reached: how many are reached next. `now` ends empty."""
    seen, now, then = words
    count = 0
    for vertex in reached:
        found = now[vertex]
        now[vertex] = 0
        for other in core.neighbours[core.indptr[vertex] : core.indptr[vertex + 1]]:
            new = found & ~seen[other]
            if new:
                if not then[other]:
                    next_reached[count] = other
                    count += 1
                then[other] |= new
    return count


@inner
def _sweep(core: Core, words: tuple[Words, Words, Words], everyone: np.uint64, next_reached: Vertices) -> int:
    """The same level, inwards to every vertex that some source has not seen. `now` ends empty."""
    seen, now, then = words
    count = 0
    for vertex in range(seen.size):
        new = np.uint64(0)
        if seen[vertex] != everyone:
            for other in core.neighbours[core.indptr[vertex] : core.indptr[vertex + 1]]:
                new |= now[other]
            new &= ~seen[vertex]
        then[vertex] = new
        next_reached[count] = vertex
        count += new != 0
    now[:] = 0
    return count
