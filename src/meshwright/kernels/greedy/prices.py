"""What an edge is worth taking at: its price, which only rises as edges are taken.

Under the rule RATIO the price is the cost for each component that the edge would remove. Under TIGHT it is
the dual value at which the edge's constraint becomes tight: each step of the primal-dual algorithm raises the
dual variable of the edges taken so far, and `now` is the sum of all raises. An edge has paid, for each topic
that its ends share, the sum at the moment when they became connected in it, or the present sum where they are
not. So it is tight when

    (sum over connected topics of the dual value then) + (contribution) * price = cost.

The moment of connection is read from *union trees*: a component that is swallowed hangs under the name of the
one that swallows it, with the dual value then. Components are united by size, so a tree is at most
logarithmically deep, and no path is ever compressed, which would forget the moments in between.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inlined, inner, kernel, lean
from meshwright.kernels.core.bits import popcount, trailing_zeros
from meshwright.kernels.core.cost_arrays import CostArrays
from meshwright.kernels.core.costs import cost_between
from meshwright.kernels.core.topic_components import TopicComponents, unite
from meshwright.runtime.arrays import Floats, Ids, Longs, Words

RATIO = 0
TIGHT = 1

_ALMOST_ONE = 1 - 2.0**-40


class UnionTrees(NamedTuple):
    """When components were united, in dual values; no slots and no topics under the rule RATIO."""

    parents: Ids  # by slot: under which one it hangs; a root under itself
    times: Floats  # by slot: since when it hangs there; a root for ever
    latest: Floats  # by topic: when two components were last united


@kernel
def start_trees(state: TopicComponents, rule: int) -> UnionTrees:
    """What is connected from the start has been so since 0; the rule RATIO needs no trees."""
    slots = len(state.names) if rule == TIGHT else 0
    times = np.full(slots, np.inf)
    for slot in range(slots):
        if state.names[slot] != slot:
            times[slot] = 0.0
    return UnionTrees(state.names[:slots].copy(), times, np.zeros(len(state.counts) if slots else 0))


@inlined
def _connected_at(parents: Ids, times: Floats, a: int, b: int) -> float:
    """The dual value at which two slots of one component became connected: O(log of its size)."""
    moment = 0.0
    while a != b:
        if times[a] <= times[b]:
            moment = times[a]
            a = parents[a]
        else:
            moment = times[b]
            b = parents[b]
    return moment


@inner
def take_edge_at(state: TopicComponents, trees: UnionTrees, u: int, v: int, now: float) -> int:
    """`take_edge` that also hangs what is swallowed into the trees, at the dual value `now`."""
    united = 0
    i, i_end = state.indptr[u], state.indptr[u + 1]
    j, j_end = state.indptr[v], state.indptr[v + 1]
    while i < i_end and j < j_end:
        topic, other = state.topic_ids[i], state.topic_ids[j]
        if topic == other:
            a, b = state.names[state.slots[i]], state.names[state.slots[j]]
            if a != b:
                unite(state, topic, a, b)
                kept = state.names[state.slots[i]]
                swallowed = b if kept == a else a
                trees.parents[swallowed] = kept
                trees.times[swallowed] = now
                trees.latest[topic] = now
                united += 1
        i += topic <= other
        j += other <= topic
    return united


# The loops below are over plain arrays: a call with a tuple of arrays counts the references of all of them,
# which takes longer than a pair (half a microsecond, measured).


@lean
def fill_contributions(
    state: TopicComponents, weights: Ids | Longs, u: int, first: int, found: Ids, gains: Ids | Longs
) -> None:
    """For each pair of `u` and `first` + what was found: the weight of the topics that it would join.

    With bitsets, only the common topics are looked at in which not both ends are marked, and the place of an
    interest is the number of set bits before its own; without, both lists are walked.
    """
    indptr, topic_ids, slots, names, bits = (
        state.indptr,
        state.topic_ids,
        state.slots,
        state.names,
        state.bits,
    )
    words = bits.shape[1] >> 1
    for k in range(len(found)):
        v = first + found[k]
        gain = 0
        i, j = indptr[u], indptr[v]
        if not words:
            i_end, j_end = indptr[u + 1], indptr[v + 1]
            while i < i_end and j < j_end:
                topic, other = topic_ids[i], topic_ids[j]
                if topic == other:
                    gain += weights[topic] * (names[slots[i]] != names[slots[j]])
                i += topic <= other
                j += other <= topic
        for w in range(words):
            topics_u, topics_v = bits[u, w], bits[v, w]
            left = (topics_u & bits[v, words + w]) | (bits[u, words + w] & topics_v)
            while left:
                before = (left - np.uint64(1)) & ~left
                weight = weights[(w << 6) + trailing_zeros(left)]
                left &= left - np.uint64(1)
                a, b = slots[i + popcount(topics_u & before)], slots[j + popcount(topics_v & before)]
                gain += weight * (names[a] != names[b])
            i += popcount(topics_u)
            j += popcount(topics_v)
        gains[k] = gain


@inner
def fill_paid(
    state: TopicComponents, trees: UnionTrees, u: int, first: int, found: Ids, gains: Ids, paid: Floats
) -> None:
    """As `fill_contributions`, and what each edge has paid for the topics in which its ends are connected."""
    indptr, topic_ids, slots, names, bits = (
        state.indptr,
        state.topic_ids,
        state.slots,
        state.names,
        state.bits,
    )
    parents, times = trees.parents, trees.times
    words = bits.shape[1] >> 1
    for k in range(len(found)):
        v = first + found[k]
        gain, total = 0, 0.0
        i, j = indptr[u], indptr[v]
        if not words:
            i_end, j_end = indptr[u + 1], indptr[v + 1]
            while i < i_end and j < j_end:
                topic, other = topic_ids[i], topic_ids[j]
                if topic == other:
                    a, b = slots[i], slots[j]
                    if names[a] != names[b]:
                        gain += 1
                    else:
                        total += _connected_at(parents, times, a, b)
                i += topic <= other
                j += other <= topic
        for w in range(words):
            topics_u, topics_v = bits[u, w], bits[v, w]
            left = topics_u & topics_v
            while left:
                before = (left - np.uint64(1)) & ~left
                left &= left - np.uint64(1)
                a, b = slots[i + popcount(topics_u & before)], slots[j + popcount(topics_v & before)]
                if names[a] != names[b]:
                    gain += 1
                else:
                    total += _connected_at(parents, times, a, b)
            i += popcount(topics_u)
            j += popcount(topics_v)
        gains[k], paid[k] = gain, total


@inner
def fill_prices(
    costs: CostArrays, rule: int, now: float, u: int, first: int, found: Ids, gains: Ids, prices: Floats
) -> None:
    """Prices from contributions, infinite where there is none; `prices` holds what was paid under TIGHT.

    Rounding may put a tight price a little under the present dual value, which it can't be.
    """
    for k in range(len(found)):
        if not gains[k]:
            prices[k] = np.inf
        elif rule == TIGHT:
            prices[k] = max(now, (cost_between(costs, u, first + found[k]) - prices[k]) / gains[k])
        else:
            prices[k] = cost_between(costs, u, first + found[k]) / gains[k]


@inner
def fill_bounds(
    state: TopicComponents, rule: int, u: int, first: int, found: Ids, most: Ids, paid: Floats
) -> None:
    """For each pair, what can be said of its price by each end alone: see `bound_of`.

    The loose topics of both ends bound the contribution; where there are none, so is none. They don't bound a
    tight price, for which topics count too in which the ends are connected, but those of the lesser end do.
    """
    indptr, loose = state.indptr, state.loose
    topics_u, loose_u = indptr[u + 1] - indptr[u], loose[u]
    for k in range(len(found)):
        v = first + found[k]
        rest = loose_u + loose[v]
        least = min(topics_u, indptr[v + 1] - indptr[v])
        most[k] = min(rest, least) if rule == RATIO or not rest else least
        paid[k] = 0.0


@inner
def fill_bounds_by_bits(
    bits: Words, latest: Floats, rule: int, u: int, first: int, found: Ids, most: Ids, paid: Floats
) -> None:
    """As `fill_bounds`, by the topics that both ends have.

    Where both are marked they are connected, so the edge won't contribute there, and has paid no more than
    the dual value of the topic's latest union. In other topics it pays its price at most.
    """
    words = bits.shape[1] >> 1
    for k in range(len(found)):
        v = first + found[k]
        count, total = 0, 0.0
        for w in range(words):
            count += popcount((bits[u, w] & bits[v, words + w]) | (bits[u, words + w] & bits[v, w]))
        if rule == TIGHT:
            for w in range(words):
                connected = bits[u, w] & bits[v, w] & ~(bits[u, words + w] | bits[v, words + w])
                while connected:
                    total += latest[(w << 6) + trailing_zeros(connected)]
                    connected &= connected - np.uint64(1)
        most[k], paid[k] = count, total


@inlined
def bound_of(cost: float, now: float, most: int, paid: float) -> float:
    """A price that none is under: of an edge that has paid at most `paid`, and pays in `most` topics.

    `most` is not 0. Rounding must not lift it over the price, hence the last digits.
    """
    return max(now, (cost - paid) / most * _ALMOST_ONE)
