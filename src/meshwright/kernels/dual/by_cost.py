"""Candidate edges and valid lines where edges cost, in place of those of `candidates.py` and `lines.py`."""

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.cost_arrays import CostArrays
from meshwright.kernels.core.costs import cost_between
from meshwright.kernels.core.heap import smallest
from meshwright.kernels.dual.lines import Exceeding, Lines, add_distances, list_greatest
from meshwright.runtime.arrays import Flags, Floats, Ids, Offsets, Ticks, int64
from meshwright.runtime.progress import CANCEL

_MOST_SHARE = 2.0**62
_ABOVE = 1.0 + 1e-12
"""More than what rounding takes away."""


@inner
def _fill_prices(
    indptr: Offsets,
    topic_ids: Ids,
    topic_indptr: Offsets,
    node_ids: Ids,
    costs: CostArrays,
    node: int,
    prices: Floats,
) -> None:
    """The cost of each pair of a node for each topic that both have; infinite where they share none."""
    for other in range(len(prices)):
        prices[other] = 0.0
    for i in range(indptr[node], indptr[node + 1]):
        topic = topic_ids[i]
        for other in node_ids[topic_indptr[topic] : topic_indptr[topic + 1]]:
            prices[other] += 1.0
    prices[node] = 0.0
    for other in range(len(prices)):
        prices[other] = cost_between(costs, node, other) / prices[other] if prices[other] else np.inf


@inner
def _choose_cheapest(members: Ids, node: int, prices: Floats, chosen: Flags) -> None:
    """Choose the member of a topic with the least price; of equals, the next by number."""
    best, least = int64(-1), np.inf
    for other in members:
        if prices[other] < least or (prices[other] == least and best < node < other):
            best, least = int64(other), prices[other]
    if best >= 0:
        chosen[best] = True


@inner
def _choose_some_cheapest(node: int, prices: Floats, most: int, chosen: Flags) -> None:
    """Choose the `most` others with the least prices; of equals, the next by number."""
    shared = prices[prices < np.inf]
    left = min(most, len(shared))
    if not left:
        return
    limit = smallest(shared, int64(left - 1))
    for other in range(len(prices)):
        if prices[other] < limit:
            chosen[other] = True
            left -= 1
    for ahead in range(1, len(prices)):
        other = (node + ahead) % len(prices)
        if left and prices[other] == limit:
            chosen[other] = True
            left -= 1


@kernel
def cheapest_edges(
    indptr: Offsets,
    topic_ids: Ids,
    topic_indptr: Offsets,
    node_ids: Ids,
    costs: CostArrays,
    nodes: tuple[int, int],
    most: int,
    ticks: Ticks,
) -> Ids:
    """For a range of nodes: the partners with the least cost for each shared topic, in each topic and in all.

    In all, these are up to `most`. The edges (m, 2) have the lower node first; some come twice. O(sum over
    the nodes' topics of their subscribers).
    """
    node_count, first, last = len(indptr) - 1, nodes[0], nodes[1]
    edges = np.empty((indptr[last] - indptr[first] + (last - first) * most, 2), np.int32)
    prices, chosen = np.empty(node_count), np.zeros(node_count, np.bool_)
    size = 0
    for node in range(first, last):
        if ticks[CANCEL]:
            break
        _fill_prices(indptr, topic_ids, topic_indptr, node_ids, costs, node, prices)
        for i in range(indptr[node], indptr[node + 1]):
            topic = topic_ids[i]
            _choose_cheapest(node_ids[topic_indptr[topic] : topic_indptr[topic + 1]], node, prices, chosen)
        _choose_some_cheapest(node, prices, most, chosen)
        for other in range(node_count):
            if chosen[other]:
                edges[size, 0], edges[size, 1] = min(node, other), max(node, other)
                size += 1
            chosen[other] = False
    return edges[:size].copy()


@inner
def _share(total: float, limit: float, scale: int) -> np.int64:
    """A total, above the limit, as a share of it in parts of the scale; no less than it is, but 2^62 at most.

    Where the limit is 0 there is no such share, and 2^62 lowers every gap to 0.
    """
    if total * scale * _ABOVE >= limit * _MOST_SHARE:
        return np.int64(_MOST_SHARE)
    return max(np.int64(scale + 1), np.int64(np.ceil(total * scale / limit * _ABOVE)))


@kernel
def find_too_cheap(
    indptr: Offsets,
    topic_ids: Ids,
    lines: Lines,
    costs: CostArrays,
    parts_of_one: float,
    scale: int,
    nodes: tuple[int, int],
    most: int,
    found: Exceeding,
    ticks: Ticks,
) -> None:
    """Find the pairs of a range of nodes, with later ones, whose distances exceed their cost in whole parts.

    A cost of 1 has so many parts. As `find_exceeding`; the totals in `found` are the distances as a share of
    the cost, in parts of the scale, rounded up.
    """
    node_count = len(indptr) - 1
    totals = np.zeros(node_count, np.int64)
    row = np.empty(node_count, np.int32)
    for node in range(*nodes):
        if ticks[CANCEL]:
            return
        for i in range(indptr[node], indptr[node + 1]):
            topic = topic_ids[i]
            add_distances(lines, lines.slots[i], lines.indptr[topic], lines.indptr[topic + 1], totals)
        count = 0
        for other in range(node + 1, node_count):
            if totals[other]:
                limit = np.floor(cost_between(costs, node, other) * parts_of_one)
                if totals[other] > limit:
                    totals[other] = _share(float(totals[other]), limit, scale)
                    row[count] = other
                    count += 1
        list_greatest(node, row[:count], totals, most, found)
        for other in range(node_count):
            totals[other] = 0
