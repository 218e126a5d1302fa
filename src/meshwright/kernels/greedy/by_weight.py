"""The lazy greedy where topics have weights: take the edge whose topics weigh most, again and again.

A contribution is then a sum of weights, so there are almost as many of them as edges. As for prices
(`kernels/greedy/by_price.py`), the store has a *level* for each pair, a range of contributions, and a heap
orders the pairs of the highest levels; the price of a pair is minus its contribution. All levels are of the
same size, two to some power, so that levels add up as contributions do, and 64 pairs are brought down
together, as in `kernels/greedy/bounds.py`. As contributions fall, levels get finer, half the size each time.

Pairs that gain from one topic alone need no look. When no pair contributes more than c, every pair that is
not connected in a topic of weight c contributes exactly c by this topic alone, for with another it would
contribute more. So a topic is *finished* once no pair contributes more than its weight: all edges that it
still needs are taken then, in linear time. Such an edge changes no other topic. Hence the store has only
pairs that gain from two topics or more: what is *counted* for a topic is its weight, and beside it a one.

Many pairs of a row are bounded together (`kernels/greedy/weight_rows.py`). Few pairs are bounded by bitsets
where there are any: weights are rounded up to four digits of two, and each digit has the set of the topics
that have it, its *plane*.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inlined, inner, kernel, lean, lean_kernel
from meshwright.kernels.core.bits import popcount
from meshwright.kernels.core.heap import drop_top, make_heap, sink
from meshwright.kernels.core.topic_components import (
    TopicComponents,
    clear_own_names,
    take_edge,
    write_own_names,
)
from meshwright.kernels.core.totals import greatest
from meshwright.kernels.greedy.bounds import (
    CAP,
    EXAMINED,
    TAKEN,
    contributions,
    find_in_blocks,
    lower_blocks,
    row_blocks,
    row_top,
    row_words,
)
from meshwright.kernels.greedy.by_price import (
    APART,
    Candidates,
    PricedPairs,
    choose,
    clear_candidates,
    is_before_cut,
    level_of,
    make_room,
    put_back,
)
from meshwright.kernels.greedy.byte_rows import MOST_TOPICS
from meshwright.kernels.greedy.lazy import finish_topic, level_work
from meshwright.kernels.greedy.prices import fill_contributions
from meshwright.kernels.greedy.weight_rows import WeightRow, is_row_cheaper, weigh_row
from meshwright.runtime.arrays import Bytes, Floats, Ids, Longs, Offsets, Shorts, Ticks, Words, int64
from meshwright.runtime.progress import CANCEL, DONE

PLANES = 4

_ONE = 1 << 32
_SUM = _ONE - 1
UNSEEN = 255
"""The scale of a row that was not looked at yet."""

_PAIR_WORK, _LIST_WORK = 16, 300
"""Looks at a pair by planes and by lists, in slots read by the other way; chosen by trials near these."""

_AHEAD = 8
"""Levels are brought down from this share under the lowest of a round on."""

_TOGETHER = 6
"""A round treats the highest levels, one of so many of them; 3 and 4 were slower on two of four workloads."""

NEXT, UNIT = 0, 1
"""Where `numbers` of weights has the first place of a topic not finished, and what planes count in."""


class TopicWeights(NamedTuple):
    """The weights of the topics, in the forms that they are used in."""

    counted: Longs  # by topic: its weight, and 2**32
    rounded: Shorts  # by topic: its weight over 2**fine, rounded up
    fine: int  # the least that keeps the sum of a node's rounded weights within 16 bits
    heaviest: Ids  # the topics in the order of falling weight
    planes: Words  # by digit: the topics that have it
    numbers: Longs  # by NEXT and UNIT


class WeightScratch(NamedTuple):
    """Room that one thread works in."""

    found: Ids  # by pair of a row: where it is
    gains: Longs  # by pair found
    prices: Floats  # by pair found
    own: Ids  # by topic: NONE
    rests: Bytes  # by node: the level of its topics outside the marked components
    row: WeightRow


@inlined
def _price(counted: int) -> float:
    """The price of what was counted: infinite where fewer than two topics gain."""
    return -float(counted & _SUM) if counted >= 2 * _ONE else np.inf


@lean
def _least(scale: Offsets, level: int) -> int:
    """No contribution under this reaches the level."""
    return ((level - 1) << scale[1]) + 1 if level > 1 else 0


@inlined
def _level(scale: Offsets, contribution: int) -> int:
    """As `level_of`, of a contribution."""
    return min((contribution + (1 << scale[1]) - 1) >> scale[1], CAP)


@kernel
def start_levels_by_weight(state: TopicComponents, pairs: PricedPairs) -> None:
    """Bound every row by the weight of its own node's topics; rows are written when first looked at."""
    nodes = len(pairs.tops)
    most = np.zeros(nodes + 1, np.int32)
    for u in range(nodes - 1, -1, -1):
        most[u] = max(state.loose[u], most[u + 1])
    for u in range(nodes):
        pairs.tops[u] = _level(pairs.scale, min(state.loose[u], most[pairs.firsts[u]]))


@kernel
def greatest_contribution(state: TopicComponents, weights: TopicWeights, us: Ids, room: WeightScratch) -> int:
    """The greatest bound of a pair of `us` with a later node, rounded up to 2**fine."""
    found = np.uint16(0)
    for u in us:
        weigh_row(state, weights.rounded, int64(u), room.row)
        for bound in room.row.sums[u + 1 :]:
            found = max(found, bound)
    return int64(found) << weights.fine


@lean
def _fill_rests(loose: Ids, scale: Offsets, rests: Bytes) -> None:
    """The levels of the loose weights of the nodes. It compiles to vector instructions."""
    shift = scale[1]
    rounding = (1 << shift) - 1
    for v in range(len(loose)):
        rests[v] = min((int64(loose[v]) + rounding) >> shift, CAP)


@lean
def _refine_levels(pairs: PricedPairs, finest: int) -> int:
    """Halve the range of a level while there are levels for that; return the highest level in use.

    Rows follow when they are looked at next.
    """
    level = greatest(pairs.tops)
    while 0 < level <= CAP >> 1 and pairs.scale[1] > finest:
        pairs.scale[1] -= 1
        level <<= 1
        for u in range(len(pairs.tops)):
            pairs.tops[u] <<= 1
    return level


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
def _count_by_planes(
    topics_u: Words,
    loose_u: Words,
    topics_v: Words,
    loose_v: Words,
    ones: Words,
    twos: Words,
    fours: Words,
    eights: Words,
) -> int:
    """What is counted for the topics that may gain. A function of its own: only so it gets vector code."""
    counted = 0
    for w in range(len(topics_v)):
        gaining = (topics_u[w] & loose_v[w]) | (loose_u[w] & topics_v[w])
        # One sum of all, since adding up a vector takes longer than counting.
        counted += (
            (popcount(gaining) << 32)
            + popcount(gaining & ones[w])
            + (popcount(gaining & twos[w]) << 1)
            + (popcount(gaining & fours[w]) << 2)
            + (popcount(gaining & eights[w]) << 3)
        )
    return counted


@lean
def _put_off_by_planes(
    bits: Words, planes: Words, unit: int, scale: Offsets, u: int, first: int, row: Bytes, found: Ids
) -> None:
    """Bring down the levels of the pairs found by their bounds."""
    words, shift = bits.shape[1] >> 1, scale[1]
    rounding = (1 << shift) - 1
    topics_u, loose_u = bits[u, :words], bits[u, words:]
    ones, twos, fours, eights = planes[0], planes[1], planes[2], planes[3]
    for i in found:
        topics_v, loose_v = bits[first + i, :words], bits[first + i, words:]
        counted = _count_by_planes(topics_u, loose_u, topics_v, loose_v, ones, twos, fours, eights)
        bound = (unit * (counted & _SUM) + rounding) >> shift
        row[i] = min(int64(row[i]), bound if counted >= 2 * _ONE else 0)


@lean
def _lower_row(counts: Bytes, sums: Shorts, shift: int, row: Bytes) -> None:
    """Bring down all levels of a row to those of its sums; none is left where fewer than two topics gain.

    Written out without branches: it compiles to vector instructions.
    """
    by, cap = np.uint16(shift), np.uint16(CAP)
    for i in range(len(row)):
        level = np.uint16(np.uint16(np.uint16(sums[i] - np.uint16(1)) >> by) + np.uint16(1))
        level = np.uint16(min(level, cap) if counts[i] > 1 else 0)
        row[i] = min(row[i], np.uint8(level))


@lean
def _bring_down(
    state: TopicComponents,
    weights: TopicWeights,
    scale: Offsets,
    u: int,
    first: int,
    count: int,
    row: Bytes,
    room: WeightScratch,
) -> None:
    """Bring down the levels of `count` pairs found, by the cheaper way: each by itself, or the whole row."""
    own_topics, words_each = state.indptr[u + 1] - state.indptr[u], state.bits.shape[1] >> 1
    pair_work = count * (_PAIR_WORK + (words_each >> 1) if words_each else _LIST_WORK)
    if own_topics <= MOST_TOPICS and is_row_cheaper(state, u, pair_work):
        weigh_row(state, weights.rounded, u, room.row)
        size = len(state.loose) - first
        _lower_row(room.row.counts[first:], room.row.sums[first:], scale[1] - weights.fine, row[:size])
    elif words_each:
        _put_off_by_planes(
            state.bits, weights.planes, weights.numbers[UNIT], scale, u, first, row, room.found[:count]
        )


@lean
def _start_row(pairs: PricedPairs, scales: Bytes, u: int, row: Bytes, blocks: Bytes) -> None:
    """Write a row that is looked at for the first time, or bring its levels to the present scale."""
    scale, size = pairs.scale[1], len(pairs.tops) - pairs.firsts[u]
    if scales[u] == UNSEEN:
        for i in range(size):
            row[i] = CAP
        for block in range(len(blocks)):
            blocks[block] = CAP
    elif scales[u] != scale:
        times = np.uint8(1 << (scales[u] - scale))
        for i in range(len(row)):
            row[i] = np.uint8(row[i] * times)
        for block in range(len(blocks)):
            blocks[block] = np.uint8(blocks[block] * times)
    scales[u] = scale


@lean
def _find_candidates(
    state: TopicComponents,
    weights: TopicWeights,
    pairs: PricedPairs,
    scales: Bytes,
    u: int,
    level: int,
    room: WeightScratch,
) -> tuple[int, int]:
    """Bring down the levels of a row that reach `level`; find the pairs that may be in it, and their prices.

    `rests` of the room has to be filled in the present state. Returns how many there are, and how many were
    looked at.
    """
    first, found = pairs.firsts[u], room.found
    words = row_words(pairs.store, pairs.starts, u)
    row, blocks = words.view(np.uint8), row_blocks(pairs.blocks, pairs.starts, u)
    _start_row(pairs, scales, u, row, blocks)
    threshold = _threshold(level)
    looked = find_in_blocks(words, blocks, room.rests[first:], room.rests[u], threshold, found)
    if looked:
        _bring_down(state, weights, pairs.scale, u, first, looked, row, room)
    count = 0
    for k in range(looked):
        found[count] = found[k]
        count += row[found[k]] >= level
    if count:
        _fill_prices(state, weights, u, first, count, room)
    else:
        _end_row(pairs, u, threshold)
    return count, looked


@inlined
def _threshold(level: int) -> int:
    """A little under the level, or a row comes again at each of the next ones."""
    return max(1, level - level // _AHEAD)


@lean
def _fill_prices(
    state: TopicComponents, weights: TopicWeights, u: int, first: int, count: int, room: WeightScratch
) -> None:
    """The exact prices of the first `count` pairs found."""
    found, gains, prices = room.found[:count], room.gains, room.prices
    if state.bits.shape[1]:
        fill_contributions(state, weights.counted, u, first, found, gains)
    else:
        write_own_names(state, u, room.own)
        contributions(state, weights.counted, room.own, first, found, gains)
        clear_own_names(state, u, room.own)
    for k in range(count):
        prices[k] = _price(gains[k])


@lean
def _end_row(pairs: PricedPairs, u: int, threshold: int) -> None:
    """Bring down the tops of a row and of its blocks."""
    row = row_words(pairs.store, pairs.starts, u).view(np.uint8)
    blocks = row_blocks(pairs.blocks, pairs.starts, u)
    lower_blocks(row, blocks, threshold, CAP + 1)
    pairs.tops[u] = row_top(blocks, int64(CAP))


@inner
def _choose_in_row(
    pairs: PricedPairs, u: int, level: int, count: int, room: WeightScratch, chosen: Candidates
) -> None:
    """Choose candidates among the pairs found in a row, whose prices are known."""
    make_room(pairs, chosen, count)
    row = row_words(pairs.store, pairs.starts, u).view(np.uint8)
    code = u * len(pairs.tops) + pairs.firsts[u]
    choose(pairs.scale, code, level, row, room.found[:count], room.prices[:count], chosen)
    _end_row(pairs, u, _threshold(level))


@kernel
def refresh_rows_by_weight(
    state: TopicComponents,
    weights: TopicWeights,
    pairs: PricedPairs,
    scales: Bytes,
    rows: Offsets,
    level: int,
    room: WeightScratch,
    chosen: Candidates,
    ticks: Ticks,
) -> int:
    """Choose the candidates of `rows`, the component state staying as it is; count the pairs examined."""
    examined = 0
    _fill_rests(state.loose, pairs.scale, room.rests)
    for u in rows:
        if ticks[CANCEL]:
            break
        count, looked = _find_candidates(state, weights, pairs, scales, u, level, room)
        examined += looked
        if count:
            _choose_in_row(pairs, u, level, count, room, chosen)
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
        _finish_topics(state, weights, pairs, _least(pairs.scale, level), ticks)


@kernel
def settle_light_levels_by_weight(
    state: TopicComponents,
    weights: TopicWeights,
    pairs: PricedPairs,
    scales: Bytes,
    heavy: int,
    room: WeightScratch,
    chosen: Candidates,
    ticks: Ticks,
) -> int:
    """Go down the levels on this thread until one has `heavy` pairs in its rows; return it, 0 at the end.

    At the end, all topics are finished.
    """
    while pairs.counts[APART] and not ticks[CANCEL]:
        level = _refine_levels(pairs, weights.fine)
        if not level:
            break
        level -= level // _TOGETHER
        draw_planes(state, weights)
        if level_work(pairs.tops, pairs.firsts, level) >= heavy:
            return level
        clear_candidates(chosen)
        rows = np.flatnonzero(pairs.tops >= level)
        pairs.counts[EXAMINED] += refresh_rows_by_weight(
            state, weights, pairs, scales, rows, level, room, chosen, ticks
        )
        settle_by_weight(state, weights, pairs, level, room, chosen, ticks)
    _finish_topics(state, weights, pairs, int64(0), ticks)
    return 0
