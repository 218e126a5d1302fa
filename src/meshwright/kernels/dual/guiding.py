"""The greedy that prices guide, and what is left of a problem once some edges are taken.

Both work on shares alone. A component of a topic has one number over all topics: the topic's first, and its
own number inside the topic.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.heap import drop_top, make_heap, sink
from meshwright.kernels.core.totals import add_up
from meshwright.kernels.dual.shares import Shares
from meshwright.runtime.arrays import Flags, Floats, Ids, Offsets, Ticks, int64
from meshwright.runtime.progress import CANCEL


class Ends(NamedTuple):
    """The components at both ends of each share, by their numbers over all topics."""

    firsts: Offsets  # by topic: the number of its first component; then how many there are
    lows: Ids  # by share
    highs: Ids


@kernel
def ends_of(shares: Shares) -> Ends:
    """The ends of all shares. O(shares + topics)."""
    firsts = np.zeros(len(shares.components) + 1, np.int64)
    for topic in range(len(shares.components)):
        firsts[topic + 1] = firsts[topic] + shares.components[topic]
    lows, highs = np.empty(len(shares.by_topic), np.int32), np.empty(len(shares.by_topic), np.int32)
    for topic in range(len(shares.components)):
        for at in range(shares.topic_indptr[topic], shares.topic_indptr[topic + 1]):
            share = shares.by_topic[at]
            lows[share] = firsts[topic] + shares.lefts[at]
            highs[share] = firsts[topic] + shares.rights[at]
    return Ends(firsts, lows, highs)


@inner
def _root(parents: Ids, component: int) -> int:
    while parents[component] != component:
        parents[component] = parents[parents[component]]
        component = parents[component]
    return component


@inner
def _score(indptr: Offsets, ends: Ends, worth: Floats, edge: int, parents: Ids) -> float:
    """What the shares of an edge are worth that would join two components."""
    score = 0.0
    for share in range(indptr[edge], indptr[edge + 1]):
        if _root(parents, ends.lows[share]) != _root(parents, ends.highs[share]):
            score += worth[share]
    return score


@inner
def _unite(indptr: Offsets, ends: Ends, edge: int, parents: Ids) -> None:
    for share in range(indptr[edge], indptr[edge + 1]):
        low, high = _root(parents, ends.lows[share]), _root(parents, ends.highs[share])
        parents[max(low, high)] = min(low, high)


@kernel
def take_by_worth(
    indptr: Offsets, ends: Ends, worth: Floats, factors: Floats, ties: Offsets, most: int, ticks: Ticks
) -> Offsets:
    """The first `most` edges that a greedy takes, in order; it ends once no edge joins two components.

    It takes the edge with the greatest score: its factor times the worth, above 0, of its shares that join
    two components then; of equal ones, the first in `ties`, which lists all edges. A score only falls, so an
    edge is looked at again only when it is on top of a heap.
    """
    count = len(ties)
    parents = np.arange(ends.firsts[-1]).astype(np.int32)
    scores, codes = np.empty(count), np.empty(count, np.int64)
    for at in range(count):
        scores[at] = -factors[ties[at]] * _score(indptr, ends, worth, ties[at], parents)
        codes[at] = at
    make_heap(scores, codes, count)
    taken, size = np.empty(count, np.int64), 0
    while count and size < most and not ticks[CANCEL]:
        edge = ties[codes[0]]
        score = -factors[edge] * _score(indptr, ends, worth, edge, parents)
        if score == 0 or score == scores[0]:
            count = drop_top(scores, codes, count)
        else:
            sink(scores, codes, count, int64(0), score, codes[0])
            continue
        if score:
            _unite(indptr, ends, edge, parents)
            taken[size] = edge
            size += 1
    return taken[:size].copy()


@kernel
def contracted(
    shares: Shares, ends: Ends, edges: Offsets, keep: Flags, prices: Floats, mean: Floats
) -> tuple[Shares, Floats, Floats]:
    """What is left of the shares, prices and mean once some edges are taken.

    Shares whose ends are then in one component go, and edges without shares or not to `keep`. What an edge's
    topics no longer pay is divided equally among those that are left.
    """
    names, components = _names_after(shares, ends, edges)
    kept = np.zeros(len(prices), np.bool_)
    for edge in range(len(keep)):
        for share in range(shares.indptr[edge], shares.indptr[edge + 1]):
            kept[share] = keep[edge] and names[ends.lows[share]] != names[ends.highs[share]]
    new_edges, limits, indptr = _edges_left(shares, kept)
    new_of = np.empty(len(prices), np.int64)
    new_prices, new_mean = np.empty(indptr[-1]), np.empty(indptr[-1])
    size = 0
    for share in range(len(prices)):
        new_of[share] = size
        if kept[share]:
            new_prices[size], new_mean[size] = prices[share], mean[share]
            size += 1
    topic_indptr = np.zeros(len(components) + 1, np.int64)
    by_topic, lefts, rights = np.empty(size, np.int64), np.empty(size, np.int32), np.empty(size, np.int32)
    at = 0
    for topic in range(len(components)):
        for old in range(shares.topic_indptr[topic], shares.topic_indptr[topic + 1]):
            share = shares.by_topic[old]
            if kept[share]:
                by_topic[at] = new_of[share]
                lefts[at], rights[at] = names[ends.lows[share]], names[ends.highs[share]]
                at += 1
        topic_indptr[topic + 1] = at
    left = Shares(new_edges, limits, indptr, topic_indptr, by_topic, lefts, rights, components)
    _pay_in_full(left, new_prices)
    return left, new_prices, new_mean


@inner
def _names_after(shares: Shares, ends: Ends, edges: Offsets) -> tuple[Ids, Ids]:
    """By component: its number inside the topic once the edges are taken; by topic: how many there are."""
    parents = np.arange(ends.firsts[-1]).astype(np.int32)
    for edge in edges:
        _unite(shares.indptr, ends, edge, parents)
    names = np.full(len(parents), np.int32(-1))
    components = np.zeros(len(shares.components), np.int32)
    for topic in range(len(components)):
        for component in range(ends.firsts[topic], ends.firsts[topic + 1]):
            root = _root(parents, component)
            if names[root] < 0:
                names[root] = components[topic]
                components[topic] += 1
            names[component] = names[root]
    return names, components


@inner
def _edges_left(shares: Shares, kept: Flags) -> tuple[Ids, Floats, Offsets]:
    """The edges that still have a share, their limits, and where their shares begin."""
    counts = np.zeros(len(shares.edges), np.int64)
    left = 0
    for edge in range(len(shares.edges)):
        for share in range(shares.indptr[edge], shares.indptr[edge + 1]):
            counts[edge] += kept[share]
        left += counts[edge] > 0
    edges, limits = np.empty((left, 2), np.int32), np.empty(left)
    indptr, at = np.zeros(left + 1, np.int64), 0
    for edge in range(len(shares.edges)):
        if counts[edge]:
            edges[at, 0], edges[at, 1] = shares.edges[edge, 0], shares.edges[edge, 1]
            limits[at], indptr[at + 1] = shares.limits[edge], counts[edge]
            at += 1
    add_up(indptr)
    return edges, limits, indptr


@inner
def _pay_in_full(shares: Shares, prices: Floats) -> None:
    """Raise the prices of each edge by the same amount, to its limit."""
    for edge in range(len(shares.edges)):
        start, end = shares.indptr[edge], shares.indptr[edge + 1]
        missing = shares.limits[edge]
        for share in range(start, end):
            missing -= prices[share]
        for share in range(start, end):
            prices[share] += max(0.0, missing) / (end - start)


@kernel
def greatest_of_edges(shares: Shares, values: Floats) -> Floats:
    """By edge: the greatest value of its shares, or 0."""
    found = np.zeros(len(shares.edges))
    for edge in range(len(shares.edges)):
        for share in range(shares.indptr[edge], shares.indptr[edge + 1]):
            found[edge] = max(found[edge], values[share])
    return found
