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

Many pairs of a row are bounded together (`kernels/greedy/weight_rows.py`). Few pairs are bounded one by one
by bitsets, where there are any: the weights of the topics are added in which not both nodes are marked.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inlined, inner, kernel, lean, lean_kernel
from meshwright.kernels.core.bits import trailing_zeros
from meshwright.kernels.core.heap import drop_top, make_heap, sink
from meshwright.kernels.core.prefetching import prefetch_shared
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
from meshwright.kernels.greedy.weight_rows import WeightRow, draw_sets, is_row_cheaper, weigh_row
from meshwright.runtime.arrays import Bytes, Floats, Ids, Longs, Offsets, Shorts, Ticks, Words, int64
from meshwright.runtime.progress import CANCEL, DONE

_PREFETCHED = 3
"""So many pairs ahead, bitsets are asked for. With 2 to 8, looks at random pairs take 40 to 50% less where a
bitset has 16 words, and 5% less where it has 4 (measured)."""
_ONE = 1 << 32
_SUM = _ONE - 1
UNSEEN = 255
"""The scale of a row that was not looked at yet."""

_PAIR_WORK, _LIST_WORK = 20, 300
"""Looks at a pair by bitsets and by lists, in slots read by the other way; chosen by trials near these."""

_AHEAD = 8
"""Levels are brought down from this share under the lowest of a round on."""

_TOGETHER = 6
"""A round treats the highest levels, one of so many of them; 3 and 4 were slower on two of four workloads."""


class TopicWeights(NamedTuple):
    """The weights of the topics, in the forms that they are used in."""

    counted: Longs  # by topic: its weight, and 2**32
    rounded: Shorts  # by topic: its weight over 2**fine, rounded up
    fine: int  # the least that keeps the sum of a node's rounded weights within 16 bits
    heaviest: Ids  # the topics in the order of falling weight
    sets: Words  # by column: its nodes as bits, in the present round; then an empty one
    finished: Longs  # [how many of the heaviest are finished]


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
    """Bound every row by the weight of all topics of its own node; rows are written when first looked at.

    Topics in which the node is marked count, too: a pair may gain from these, where the other is not.
    """
    nodes = len(pairs.tops)
    totals, most = np.zeros(nodes, np.int32), np.zeros(nodes + 1, np.int32)
    for u in range(nodes - 1, -1, -1):
        for i in range(state.indptr[u], state.indptr[u + 1]):
            totals[u] += state.weights[state.topic_ids[i]]
        most[u] = max(totals[u], most[u + 1])
    for u in range(nodes):
        pairs.tops[u] = _level(pairs.scale, min(totals[u], most[pairs.firsts[u]]))


@kernel
def greatest_contribution(state: TopicComponents, weights: TopicWeights, us: Ids, room: WeightScratch) -> int:
    """The greatest bound of a pair of `us` with a later node, rounded up to 2**fine."""
    found = np.uint16(0)
    for u in us:
        weigh_row(state, weights.rounded, weights.sets, int64(u), room.row)
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


@lean
def _bound_each(
    bits: Words, counted: Longs, scale: Offsets, u: int, first: int, row: Bytes, found: Ids
) -> None:
    """Bring down the levels of the pairs found, each by the topics in which not both nodes are marked."""
    words, shift = bits.shape[1] >> 1, scale[1]
    rounding = (1 << shift) - 1
    topics_u, loose_u = bits[u, :words], bits[u, words:]
    for k in range(len(found)):
        if k + _PREFETCHED < len(found):
            begin = (first + found[k + _PREFETCHED]) * bits.shape[1]
            for line in range(0, bits.shape[1], 8):
                prefetch_shared(bits, begin + line)
        v = first + found[k]
        topics_v, loose_v = bits[v, :words], bits[v, words:]
        most = 0
        for w in range(words):
            left = (topics_u[w] & loose_v[w]) | (loose_u[w] & topics_v[w])
            while left:
                most += counted[np.uint32((w << 6) + trailing_zeros(left))]
                left &= left - np.uint64(1)
        bound = ((most & _SUM) + rounding) >> shift if most >= 2 * _ONE else 0
        row[found[k]] = min(int64(row[found[k]]), bound)


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
def _weigh(
    state: TopicComponents,
    weights: TopicWeights,
    scale: Offsets,
    u: int,
    first: int,
    row: Bytes,
    room: WeightScratch,
) -> None:
    """Bring down the levels of all pairs of a row together."""
    weigh_row(state, weights.rounded, weights.sets, u, room.row)
    size = len(state.loose) - first
    _lower_row(room.row.counts[first:], room.row.sums[first:], scale[1] - weights.fine, row[:size])


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
    pair_work = count * (_PAIR_WORK if words_each else _LIST_WORK)
    if own_topics <= MOST_TOPICS and is_row_cheaper(state, u, pair_work):
        _weigh(state, weights, scale, u, first, row, room)
    elif words_each:
        _bound_each(state.bits, weights.counted, scale, u, first, row, room.found[:count])


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
    is_new = scales[u] == UNSEEN and state.indptr[u + 1] - state.indptr[u] <= MOST_TOPICS
    _start_row(pairs, scales, u, row, blocks)
    threshold = _threshold(level)
    if is_new:
        # No list of pairs is needed: nearly all of them reach the threshold.
        looked = len(room.rests) - first
        _weigh(state, weights, pairs.scale, u, first, row, room)
        count = find_in_blocks(words, blocks, room.rests[first:], room.rests[u], level, found)
    else:
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
    at = weights.finished[0]
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
    weights.finished[0] = at


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
        draw_sets(state.columns, int64(len(state.columns) >> 1), weights.sets)
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
