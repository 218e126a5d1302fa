"""Minimum spanning trees of topics over candidate edges, under the prices that each topic pays for them.

Borůvka's algorithm: in each round every component takes the cheapest share that leaves it. Of equal prices
the first share is taken, so the trees are unique. Shares that have come to lie inside a component are
dropped, and what is left is kept together, so that a round reads memory in order. Of a demand, the two
cheapest shares stand for a tree.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.dual.shares import Shares
from meshwright.runtime.arrays import Flags, Floats, Ids, Offsets, int64

_NONE = -1


class TreeRoom(NamedTuple):
    """Room that one thread works in: by share of one topic, then by component of one topic."""

    shares: Offsets
    prices: Floats
    lefts: Ids
    rights: Ids
    names: Ids
    best: Offsets


def tree_room(shares: Shares) -> TreeRoom:
    """Room for the topic with the most shares and for that with the most components."""
    most = int(np.diff(shares.topic_indptr).max(initial=0))
    widest = int(shares.components.max(initial=0))
    left, right, names = np.empty(most, np.int32), np.empty(most, np.int32), np.empty(widest, np.int32)
    return TreeRoom(np.empty(most, np.int64), np.empty(most), left, right, names, np.empty(widest, np.int64))


@inner
def _root(names: Ids, component: int) -> int:
    while names[component] != component:
        names[component] = names[names[component]]
        component = names[component]
    return component


@inner
def _keep_leaving(room: TreeRoom, count: int, best: Offsets) -> int:
    """Drop shares inside a component, note the cheapest that leaves each; count those that are left."""
    kept = 0
    for at in range(count):
        left, right = room.names[room.lefts[at]], room.names[room.rights[at]]
        if left == right:
            continue
        price = room.prices[at]
        room.shares[kept], room.prices[kept] = room.shares[at], price
        room.lefts[kept], room.rights[kept] = left, right
        if best[left] == _NONE or price < room.prices[best[left]]:
            best[left] = kept
        if best[right] == _NONE or price < room.prices[best[right]]:
            best[right] = kept
        kept += 1
    return kept


@inner
def _unite_by_best(room: TreeRoom, components: int, taken: Flags) -> float:
    """Take the cheapest share of every component; return what they cost together."""
    names, value = room.names, 0.0
    for component in range(components):
        at = room.best[component]
        room.best[component] = _NONE
        if at == _NONE:
            continue
        left, right = _root(names, room.lefts[at]), _root(names, room.rights[at])
        if left != right:
            names[max(left, right)] = min(left, right)
            taken[room.shares[at]] = True
            value += room.prices[at]
    for component in range(components):
        names[component] = _root(names, component)
    return value


@inner
def _meet(shares: Shares, prices: Floats, start: int, end: int, taken: Flags) -> float:
    """The two cheapest shares of a demand, or fewer where it has fewer: their value."""
    first, second = int64(_NONE), int64(_NONE)
    for at in range(start, end):
        share = shares.by_topic[at]
        if first == _NONE or prices[share] < prices[first]:
            first, second = share, first
        elif second == _NONE or prices[share] < prices[second]:
            second = share
    value = 0.0
    for share in (first, second):
        if share != _NONE:
            taken[share] = True
            value += prices[share]
    return value


@inner
def _span(shares: Shares, prices: Floats, topic: int, taken: Flags, room: TreeRoom) -> float:
    """The tree of one topic: its value, or less where the candidates don't connect it."""
    start, end = shares.topic_indptr[topic], shares.topic_indptr[topic + 1]
    count, components = end - start, shares.components[topic]
    if not components:
        return _meet(shares, prices, start, end, taken)
    for at in range(count):
        share = shares.by_topic[start + at]
        room.shares[at], room.prices[at] = share, prices[share]
        room.lefts[at], room.rights[at] = shares.lefts[start + at], shares.rights[start + at]
    for component in range(components):
        room.names[component], room.best[component] = component, _NONE
    value = 0.0
    count = _keep_leaving(room, count, room.best)
    while count:
        value += _unite_by_best(room, components, taken)
        count = _keep_leaving(room, count, room.best)
    return value


@kernel
def span_topics(
    shares: Shares, prices: Floats, topics: tuple[int, int], taken: Flags, values: Floats, room: TreeRoom
) -> None:
    """Find the trees of a range of topics: `taken`, none at first, by share, and `values` by topic.

    O(s log c) for s shares of a topic with c components, in practice three or four times s.
    """
    for topic in range(*topics):
        values[topic] = _span(shares, prices, topic, taken, room)
