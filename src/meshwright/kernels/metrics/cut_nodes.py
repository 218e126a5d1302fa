"""Cut nodes and bridges of the sub-overlays of topics, and what the loss of each node would cut off."""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.subgraphs import Links, TopicGraphs, links_of
from meshwright.runtime.arrays import Flags, Ids, Offsets

_NONE = -1


class _Search(NamedTuple):
    """What a depth-first search knows of each vertex."""

    orders: Ids  # when it was reached; _NONE before
    lows: Ids  # the earliest vertex that is linked to it or to one below it
    parents: Ids
    by_links: Ids  # the edge to its parent
    sizes: Ids  # how many vertices are below it, and itself
    parts: Ids  # of those, how many its loss would part from the rest
    largest: Ids  # the most of them that stay together
    cuts: Flags  # whether its loss parts any


@kernel
def measure_cuts(graphs: TopicGraphs, cut_nodes: Ids, bridges: Ids, lost: Ids, ticks: Offsets) -> None:
    """Write how many cut nodes and bridges each graph has, and how many vertices each vertex would cut off.

    A node is a cut node if without it the others of its component are in several parts; it then cuts off all
    of them but those of the largest part. `lost` has an item for each vertex of each graph, in a row, and is
    0 for vertices that are no cut nodes. What is written does not depend on the order of the edges.

    Cost: linear in vertices and edges.

    Source: Hopcroft and Tarjan, Communications of the ACM 16(6), 1973.
    """
    first = 0
    for topic in range(graphs.sizes.size):
        if ticks[1]:
            break
        size = graphs.sizes[topic]
        ends = graphs.ends[graphs.indptr[topic] : graphs.indptr[topic + 1]]
        found = _search_all(links_of(ends, size), lost[first : first + size])
        cut_nodes[topic], bridges[topic] = found
        first += size


@inner
def _search_all(links: Links, lost: Ids) -> tuple[int, int]:
    """The cut nodes and bridges of a graph; writes what the loss of each vertex cuts off."""
    size = lost.size
    search = _Search(
        np.full(size, np.int32(_NONE)),
        np.zeros(size, np.int32),
        np.full(size, np.int32(_NONE)),
        np.full(size, np.int32(_NONE)),
        np.ones(size, np.int32),
        np.zeros(size, np.int32),
        np.zeros(size, np.int32),
        np.zeros(size, np.bool_),
    )
    places = links.indptr[:-1].copy()
    reached = np.empty(size, np.int32)
    cut_nodes, bridges = 0, 0
    for root in range(size):
        if search.orders[root] != _NONE:
            continue
        count = _search(links, search, root, places, reached)
        search.cuts[root] = search.parts[root] > search.largest[root]
        for vertex in reached[:count]:
            lost[vertex] = 0
            if search.cuts[vertex]:
                rest = count - 1 - search.parts[vertex]
                lost[vertex] = count - 1 - max(rest, search.largest[vertex])
                cut_nodes += 1
            if vertex != root:
                bridges += search.lows[vertex] == search.orders[vertex]
    return cut_nodes, bridges


@inner
def _search(links: Links, search: _Search, root: int, places: Offsets, reached: Ids) -> int:
    """Depth-first from a root: how many vertices it reaches, listed in `reached`."""
    search.orders[root] = 0
    reached[0] = root
    count, vertex = 1, root
    while True:
        if places[vertex] < links.indptr[vertex + 1]:
            item = places[vertex]
            places[vertex] = item + 1
            other = links.nodes[item]
            if search.orders[other] == _NONE:
                search.parents[other] = vertex
                search.by_links[other] = links.edge_ids[item]
                search.orders[other] = search.lows[other] = count
                reached[count] = other
                count += 1
                vertex = other
            elif links.edge_ids[item] != search.by_links[vertex]:
                search.lows[vertex] = min(search.lows[vertex], search.orders[other])
        elif vertex == root:
            return count
        else:
            _leave(search, vertex, root)
            vertex = search.parents[vertex]


@inner
def _leave(search: _Search, vertex: int, root: int) -> None:
    """Tell the parent of a vertex that everything below is known."""
    parent = search.parents[vertex]
    size = search.sizes[vertex]
    search.sizes[parent] += size
    search.lows[parent] = min(search.lows[parent], search.lows[vertex])
    if search.lows[vertex] >= search.orders[parent]:
        search.parts[parent] += size
        search.largest[parent] = max(search.largest[parent], size)
        search.cuts[parent] |= parent != root
