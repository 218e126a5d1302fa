"""The lazy greedy where topics have weights: take the edge whose topics weigh most, again and again.

A contribution is then a sum of weights, so there are almost as many of them as edges. As for prices
(`kernels/greedy/by_price.py`), the store has a *level* for each pair, a range of contributions, and a heap
orders the pairs of one level; the price of a pair is minus its contribution.

Pairs that gain from one topic alone need no look. When no pair contributes more than c, every pair that is
not connected in a topic of weight c contributes exactly c by this topic alone, for with another it would
contribute more. So a topic is *finished* once no pair contributes more than its weight: all edges that it
still needs are taken then, in linear time. Such an edge changes no other topic. Hence the store has only
pairs that gain from two topics or more: what is *counted* for a topic is its weight, and beside it a one.

Where interests have bitsets, a contribution is bounded by them: weights are rounded up to four digits of
two, and each digit has the set of the topics that have it, its *plane*.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inlined, inner, kernel, lean, lean_kernel
from meshwright.kernels.core.bits import popcount
from meshwright.kernels.core.heap import drop_top, make_heap, sink
from meshwright.kernels.core.topic_components import TopicComponents, take_edge
from meshwright.kernels.core.totals import greatest
from meshwright.kernels.greedy.bounds import (
    CAP,
    EXAMINED,
    TAKEN,
    row_contributions,
    row_top,
    row_words,
    row_work,
)
from meshwright.kernels.greedy.by_price import (
    APART,
    Candidates,
    PricedPairs,
    choose,
    clear_candidates,
    find_reaching,
    is_before_cut,
    level_of,
    make_room,
    put_back,
)
from meshwright.kernels.greedy.lazy import finish_topic, level_work
from meshwright.kernels.greedy.prices import fill_contributions
from meshwright.runtime.arrays import Bytes, Flags, Floats, Ids, Longs, Offsets, Ticks, Words, int64
from meshwright.runtime.progress import CANCEL, DONE

PLANES = 4

_ONE = 1 << 32
_SUM = _ONE - 1

NEXT, UNIT = 0, 1
"""Where `numbers` of weights has the first place of a topic not finished, and what planes count in."""


class TopicWeights(NamedTuple):
    """The weights of the topics, in the forms that they are used in."""

    counted: Longs  # by topic: its weight, and 2**32
    heaviest: Ids  # the topics in the order of falling weight
    planes: Words  # by digit: the topics that have it
    numbers: Longs  # by NEXT and UNIT


class WeightScratch(NamedTuple):
    """Room that one thread works in."""

    found: Ids  # by pair of a row: where it is
    gains: Longs  # by pair found
    prices: Floats  # by pair found
    sums: Longs  # by node


@inlined
def _price(counted: int) -> float:
    """The price of what was counted: infinite where fewer than two topics gain."""
    return -float(counted & _SUM) if counted >= 2 * _ONE else np.inf


@lean
def _least(scale: Offsets, level: int) -> float:
    """No contribution under this reaches the level."""
    if level <= 1:
        return 0.0
    return -float(np.int64((level - scale[0]) << scale[1]).view(np.float64))


@kernel
def start_levels_by_weight(state: TopicComponents, pairs: PricedPairs) -> None:
    """Bound every row by the weight of its own node's topics; rows are written when first looked at."""
    nodes = len(pairs.tops)
    most = np.zeros(nodes + 1, np.int32)
    for u in range(nodes - 1, -1, -1):
        most[u] = max(state.loose[u], most[u + 1])
    for u in range(nodes):
        bound = min(state.loose[u], most[pairs.firsts[u]])
        pairs.tops[u] = level_of(pairs.scale, -float(bound)) if bound else 0


@lean_kernel
def draw_planes(state: TopicComponents, weights: TopicWeights) -> None:
    """Round the weights of the topics that are not finished up to what the planes can hold."""
    planes, numbers = weights.planes, weights.numbers
    for digit in range(PLANES):
        for word in range(planes.shape[1]):
            planes[digit, word] = np.uint64(0)
    start = numbers[NEXT]
    if start == len(weights.heaviest):
        return
    steps = (1 << PLANES) - 1
    unit = (state.weights[weights.heaviest[start]] + steps - 1) // steps
    numbers[UNIT] = unit
    for at in range(start, len(weights.heaviest)):
        topic = weights.heaviest[at]
        rounded = (state.weights[topic] + unit - 1) // unit
        for digit in range(PLANES):
            if rounded >> digit & 1 and topic >> 6 < planes.shape[1]:
                planes[digit, topic >> 6] |= np.uint64(1) << np.uint64(topic & 63)


@lean
def _find_loose(words: Words, scale: Offsets, loose: Ids, own_loose: int, threshold: int, found: Ids) -> int:
    """As `find_reaching`, without the pairs that the weight of both ends' loose topics puts off."""
    row = words.view(np.uint8)
    least = _least(scale, threshold)
    kept = 0
    for k in range(find_reaching(words, threshold, found)):
        i = found[k]
        rest = float(own_loose + loose[i])
        if rest < least:
            row[i] = level_of(scale, -rest) if rest else 0
        else:
            found[kept] = i
            kept += 1
    return kept


@lean
def _put_off_by_planes(
    bits: Words,
    planes: Words,
    unit: int,
    scale: Offsets,
    u: int,
    first: int,
    level: int,
    row: Bytes,
    found: Ids,
) -> int:
    """Bring down the levels of the pairs found by their bounds; keep those in `level`, and count them."""
    words = bits.shape[1] >> 1
    topics_u, loose_u = bits[u, :words], bits[u, words:]
    ones, twos, fours, eights = planes[0], planes[1], planes[2], planes[3]
    kept = 0
    for i in found:
        topics_v, loose_v = bits[first + i, :words], bits[first + i, words:]
        counted = 0
        for w in range(words):
            gaining = (topics_u[w] & loose_v[w]) | (loose_u[w] & topics_v[w])
            # One sum of all, since adding up a vector takes longer than counting.
            counted += (
                (popcount(gaining) << 32)
                + popcount(gaining & ones[w])
                + (popcount(gaining & twos[w]) << 1)
                + (popcount(gaining & fours[w]) << 2)
                + (popcount(gaining & eights[w]) << 3)
            )
        bound = 0
        if counted >= 2 * _ONE:
            bound = level_of(scale, -float(unit * (counted & _SUM)))
        bound = min(bound, int64(row[i]))
        row[i] = bound
        found[kept] = i
        kept += bound >= level
    return kept


@lean
def _lower_row(scale: Offsets, sums: Longs, row: Bytes) -> None:
    """Bring down all levels of a row to those of its sums.

    Written out without branches: it compiles to vector instructions, which take a fifth of the time.
    """
    zero, shift = scale[0], scale[1]
    for i in range(len(sums)):
        level = zero + (np.float64(-float(sums[i] & _SUM)).view(np.int64) >> shift)
        level = max(1, min(level, CAP))
        level = level if sums[i] >= 2 * _ONE else 0
        row[i] = min(int64(row[i]), level)


@inner
def _refresh_row(
    state: TopicComponents,
    weights: TopicWeights,
    pairs: PricedPairs,
    fresh: Flags,
    u: int,
    level: int,
    room: WeightScratch,
    chosen: Candidates,
) -> int:
    """Bring down the levels of a row that reach `level` and choose its candidates; count the pairs."""
    first = pairs.firsts[u]
    words = row_words(pairs.store, pairs.starts, u)
    row, size = words.view(np.uint8), len(pairs.tops) - first
    if fresh[u]:
        fresh[u] = False
        count = size
        for i in range(size):
            row[i] = CAP
            room.found[i] = i
    else:
        # A little under the level, or the row comes again at each of the next ones.
        threshold = max(1, level - 3)
        count = _find_loose(words, pairs.scale, state.loose[first:], state.loose[u], threshold, room.found)
    looked = count
    own_topics, words_each = state.indptr[u + 1] - state.indptr[u], state.bits.shape[1] >> 1
    pair_work = count * (3 + (words_each >> 1) if words_each else own_topics)
    if own_topics < pair_work and row_work(state, u) < pair_work:
        row_contributions(state, weights.counted, u, room.sums)
        _lower_row(pairs.scale, room.sums[first:], row[:size])
        count = find_reaching(words, level, room.found)
        for k in range(count):
            room.prices[k] = _price(room.sums[first + room.found[k]])
    else:
        if state.bits.shape[1]:
            count = _put_off_by_planes(
                state.bits,
                weights.planes,
                weights.numbers[UNIT],
                pairs.scale,
                u,
                first,
                level,
                row,
                room.found[:count],
            )
        fill_contributions(state, weights.counted, u, first, room.found[:count], room.gains)
        for k in range(count):
            room.prices[k] = _price(room.gains[k])
    if count:
        make_room(pairs, chosen, count)
        code = u * len(pairs.tops) + first
        choose(pairs.scale, code, level, row, room.found[:count], room.prices[:count], chosen)
    pairs.tops[u] = row_top(words, int64(CAP))
    return looked


@kernel
def refresh_rows_by_weight(
    state: TopicComponents,
    weights: TopicWeights,
    pairs: PricedPairs,
    fresh: Flags,
    rows: Offsets,
    level: int,
    room: WeightScratch,
    chosen: Candidates,
    ticks: Ticks,
) -> int:
    """Choose the candidates of `rows`, the component state staying as it is; count the pairs examined."""
    examined = 0
    for u in rows:
        if ticks[CANCEL]:
            break
        examined += _refresh_row(state, weights, pairs, fresh, u, level, room, chosen)
    return examined


@lean
def _note(pairs: PricedPairs, price: float, u: int, v: int) -> None:
    taken = pairs.counts[TAKEN]
    pairs.edges[taken, 0], pairs.edges[taken, 1] = u, v
    pairs.prices[taken] = price
    pairs.counts[TAKEN] += 1


@lean
def _finish_topics(
    state: TopicComponents, weights: TopicWeights, pairs: PricedPairs, least: int, ticks: Ticks
) -> None:
    """Finish all topics that weigh `least` or more; no pair contributes more than the heaviest of them."""
    at = weights.numbers[NEXT]
    while at < len(weights.heaviest) and not ticks[CANCEL]:
        topic = weights.heaviest[at]
        if state.weights[topic] < least:
            break
        before = pairs.counts[TAKEN]
        united = finish_topic(state, topic, pairs.firsts, pairs.edges, pairs.counts)
        for edge in range(before, pairs.counts[TAKEN]):
            pairs.prices[edge] = -float(state.weights[topic])
        pairs.counts[APART] -= united
        ticks[DONE] += united
        at += 1
    weights.numbers[NEXT] = at


@lean_kernel
def settle_by_weight(
    state: TopicComponents,
    weights: TopicWeights,
    pairs: PricedPairs,
    level: int,
    room: WeightScratch,
    chosen: Candidates,
    ticks: Ticks,
) -> None:
    """Take the candidates in the order of their contributions, and finish topics between them.

    Candidates whose contribution has fallen under the level are put back.
    """
    nodes = len(pairs.tops)
    prices, codes, count = chosen.prices, chosen.codes, chosen.size[0]
    make_heap(prices, codes, count)
    room.found[0] = 0
    while count and pairs.counts[APART]:
        if ticks[CANCEL]:
            return
        code = codes[0]
        u, v = code // nodes, code % nodes
        fill_contributions(state, weights.counted, u, v, room.found[:1], room.gains)
        price = _price(room.gains[0])
        pairs.counts[EXAMINED] += 1
        if price <= prices[0]:
            _finish_topics(state, weights, pairs, int64(-price), ticks)
            _note(pairs, price, u, v)
            united = take_edge(state, u, v)
            pairs.counts[APART] -= united
            ticks[DONE] += united
            count = drop_top(prices, codes, count)
        elif level_of(pairs.scale, price) >= level and is_before_cut(chosen, price, code):
            sink(prices, codes, count, int64(0), price, code)
        else:
            if price < np.inf:
                put_back(pairs, price, code)
            count = drop_top(prices, codes, count)
    if chosen.cut_price[0] == np.inf:
        _finish_topics(state, weights, pairs, int64(np.ceil(_least(pairs.scale, level))), ticks)


@kernel
def settle_light_levels_by_weight(
    state: TopicComponents,
    weights: TopicWeights,
    pairs: PricedPairs,
    fresh: Flags,
    heavy: int,
    room: WeightScratch,
    chosen: Candidates,
    ticks: Ticks,
) -> int:
    """Go down the levels on this thread until one has `heavy` pairs in its rows; return it, 0 at the end.

    At the end, all topics are finished.
    """
    nodes = len(pairs.tops)
    while pairs.counts[APART] and not ticks[CANCEL]:
        level = greatest(pairs.tops)
        if not level:
            break
        draw_planes(state, weights)
        if level_work(pairs.tops, pairs.firsts, level) >= heavy:
            return level
        clear_candidates(chosen)
        for u in range(nodes):
            if ticks[CANCEL]:
                return 0
            if pairs.tops[u] >= level:
                pairs.counts[EXAMINED] += _refresh_row(state, weights, pairs, fresh, u, level, room, chosen)
        settle_by_weight(state, weights, pairs, level, room, chosen, ticks)
    _finish_topics(state, weights, pairs, int64(0), ticks)
    return 0
