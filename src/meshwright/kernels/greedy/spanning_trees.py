"""Minimum spanning trees of topics by Prim's algorithm, without a matrix of their costs.

Pairs are compared by cost, then by their first and their second node, so that no two are equal and the tree
of a topic is unique, however it is found.
"""

import numpy as np

from meshwright.kernels.compiling import inlined, inner, kernel
from meshwright.kernels.core.cost_arrays import CLUSTERS, SITES, CostArrays
from meshwright.kernels.core.costs import cost_between
from meshwright.runtime.arrays import Flags, Floats, Ids, Offsets, Ticks, int64
from meshwright.runtime.progress import CANCEL, DONE

_NONE = -1


@kernel
def find_close_sites(costs: CostArrays) -> Flags:
    """By site, whether its nodes are nearer to each other than to all others; none for other kinds."""
    if costs.kind == CLUSTERS:
        sites = costs.site_of.max() + 1 if len(costs.site_of) else 0
        return np.full(sites, costs.matrix[0, 0] < costs.matrix[0, 1])
    if costs.kind != SITES:
        return np.zeros(0, np.bool_)
    close = np.ones(len(costs.matrix), np.bool_)
    for site in range(len(close)):
        for other in range(len(close)):
            if other != site and costs.matrix[site, other] <= costs.matrix[site, site]:
                close[site] = False
    return close


@inner
def _link_close(
    members: Ids, site_of: Ids, close: Flags, first_of: Ids, heads: Ids, edges: Ids, count: int
) -> tuple[int, int]:
    """Link the members of each close site to its first; return how many edges and how many heads there are.

    A tree of all members consists of these links and a tree of the heads: all other links of a close site's
    members are dearer, and of the links between two sites that of their first members comes first.
    """
    head_count = 0
    for node in members:
        site = site_of[node]
        if close[site] and first_of[site] != _NONE:
            edges[count, 0], edges[count, 1] = first_of[site], node
            count += 1
        else:
            first_of[site] = node
            heads[head_count] = node
            head_count += 1
    for node in members:
        first_of[site_of[node]] = _NONE
    return count, head_count


@inner
def _prim(costs: CostArrays, heads: Ids, best: Floats, parents: Ids, edges: Ids, count: int) -> int:
    """Add the edges of the tree over `heads`, which are sorted and get disordered."""
    left = len(heads) - 1
    if left < 0:
        return count
    best[:left] = np.inf
    parents[:left] = heads[left]
    last = heads[left]
    while left:
        nearest = 0
        for i in range(left):
            node, parent = heads[i], parents[i]
            cost = cost_between(costs, last, node)
            if cost < best[i] or (cost == best[i] and _precedes(last, node, parent, node)):
                best[i], parents[i] = cost, last
                parent = last
            if best[i] < best[nearest] or (
                best[i] == best[nearest] and _precedes(parent, node, parents[nearest], heads[nearest])
            ):
                nearest = i
        last = heads[nearest]
        edges[count, 0], edges[count, 1] = min(last, parents[nearest]), max(last, parents[nearest])
        count += 1
        left -= 1
        heads[nearest], best[nearest], parents[nearest] = heads[left], best[left], parents[left]
    return count


@inlined
def _precedes(a: int, b: int, c: int, d: int) -> bool:
    """Whether the pair of a and b comes before that of c and d, whichever way round they are given."""
    low, other_low = min(a, b), min(c, d)
    return low < other_low or (low == other_low and max(a, b) < max(c, d))


@kernel
def span_topics(
    costs: CostArrays, close: Flags, topic_indptr: Offsets, members: Ids, topics: Offsets, ticks: Ticks
) -> Ids:
    """The edges (m, 2) of the trees of some topics, one after another; a pair may come more than once.

    O(s²) for a topic whose subscribers are on s sites or not close to each other, and linear beside that.
    """
    room, longest = 0, 0
    for topic in topics:
        size = topic_indptr[topic + 1] - topic_indptr[topic]
        room += size
        longest = max(longest, size)
    edges = np.empty((room, 2), np.int32)
    heads, parents, best = np.empty(longest, np.int32), np.empty(longest, np.int32), np.empty(longest)
    first_of = np.full(len(close), _NONE, np.int32)
    count = int64(0)
    for topic in topics:
        if ticks[CANCEL]:
            break
        own = members[topic_indptr[topic] : topic_indptr[topic + 1]]
        if len(close):
            count, head_count = _link_close(own, costs.site_of, close, first_of, heads, edges, count)
        else:
            for at in range(len(own)):
                heads[at] = own[at]
            head_count = len(own)
        count = _prim(costs, heads[:head_count], best, parents, edges, count)
        ticks[DONE] += 1
    return edges[:count].copy()
