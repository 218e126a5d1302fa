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

Bounds are brought down as in `kernels/greedy/weight_bounds.py`. A candidate that comes to the top of the heap
is bounded by bitsets first, and counted exactly only where the bound is still as great.
"""

import numpy as np

from meshwright.kernels.compiling import inlined, inner, kernel, lean, lean_kernel
from meshwright.kernels.core.heap import drop_top, make_heap, sink
from meshwright.kernels.core.prefetching import prefetch
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
from meshwright.kernels.greedy.weight_bounds import (
    UNSEEN,
    TopicWeights,
    WeightScratch,
    bring_down,
    fill_weight_rests,
    prefetch_bits,
    price_of,
    start_row,
    weigh_all,
    weigh_pair,
)
from meshwright.kernels.greedy.weight_rows import draw_sets
from meshwright.runtime.arrays import Bytes, Floats, Offsets, Ticks, int64
from meshwright.runtime.progress import CANCEL, DONE

_AHEAD = 8
"""Levels are brought down from this share under the lowest of a round on."""

LEAST_SHARE = 1 / 6
"""The first round treats this share of the levels, the highest, and no round treats fewer."""

_SETTLED_A_ROW = 4
"""Candidates for each row visited, with which visits take about as long as settling."""

_GROWTH = 1.25
"""The share of the levels grows at most by this factor from round to round. Faster, it overshoots."""


@lean
def _least(scale: Offsets, level: int) -> int:
    """No contribution under this reaches the level."""
    return ((level - 1) << scale[1]) + 1 if level > 1 else 0


@lean
def _refine_levels(pairs: PricedPairs, finest: int) -> int:
    """Once few levels are in use, halve their range again and again; return the highest level in use.

    Rows follow when they are looked at next. That takes a pass over all bounds, so it is not done each time
    that half of the levels are in use.
    """
    level = greatest(pairs.tops)
    if level > CAP >> 2:
        return level
    while 0 < level <= CAP >> 1 and pairs.scale[1] > finest:
        pairs.scale[1] -= 1
        level <<= 1
        for u in range(len(pairs.tops)):
            pairs.tops[u] <<= 1
    return level


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
    start_row(pairs, scales, u, row, blocks)
    threshold = _threshold(level)
    if is_new:
        # No list of pairs is needed: nearly all of them reach the threshold.
        looked = len(room.rests) - first
        weigh_all(state, weights, pairs.scale, u, first, row, room)
        count = find_in_blocks(words, blocks, room.rests[first:], room.rests[u], level, found)
    else:
        # Every block is another line of memory, and each would be waited for.
        for block in range(len(blocks)):
            if blocks[block] >= threshold:
                prefetch(words, block << 3)
        looked = find_in_blocks(words, blocks, room.rests[first:], room.rests[u], threshold, found)
        if looked:
            bring_down(state, weights, pairs.scale, u, first, looked, row, room)
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
    """Bounds of the prices of the first `count` pairs found; exact ones where there are no bitsets."""
    found, gains, prices = room.found[:count], room.gains, room.prices
    if state.bits.shape[1]:
        for k in range(count):
            v = int64(first + found[k])
            gains[k] = weigh_pair(state.bits, weights.digits, weights.shifts, u, v)
    else:
        write_own_names(state, u, room.own)
        contributions(state, weights.counted, room.own, first, found, gains)
        clear_own_names(state, u, room.own)
    for k in range(count):
        prices[k] = price_of(gains[k])


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
    fill_weight_rests(state.loose, pairs.scale, room.rests)
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
    rows: int,
    room: WeightScratch,
    chosen: Candidates,
    ticks: Ticks,
) -> None:
    """Take the candidates in the order of their contributions, and finish topics between them.

    Candidates whose contribution has fallen under the level are put back. `rows` is the number of rows in
    which they were found.
    """
    settled = pairs.counts[EXAMINED]
    nodes = len(pairs.tops)
    prices, codes, count = chosen.prices, chosen.codes, chosen.size[0]
    make_heap(prices, codes, count)
    room.found[0] = 0
    while count and pairs.counts[APART]:
        if ticks[CANCEL]:
            return
        code = codes[0]
        u, v = code // nodes, code % nodes
        price = prices[0]
        if state.bits.shape[1]:
            for child in range(1, min(3, count)):
                prefetch_bits(state.bits, codes[child] // nodes)
                prefetch_bits(state.bits, codes[child] % nodes)
            price = price_of(weigh_pair(state.bits, weights.digits, weights.shifts, u, v))
        if price <= prices[0]:
            fill_contributions(state, weights.counted, u, v, room.found[:1], room.gains)
            price = price_of(room.gains[0])
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
    _set_pace(weights.pace, rows, pairs.counts[EXAMINED] - settled)


@lean
def _set_pace(pace: Floats, rows: int, settled: int) -> None:
    """Let the next round treat more levels where visiting rows takes longer than settling candidates."""
    change = np.sqrt(_SETTLED_A_ROW * rows / max(settled, 1))
    pace[0] = max(LEAST_SHARE, min(pace[0] * min(change, _GROWTH), 1.0))


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
        level -= min(int64(level * weights.pace[0]), level - 1)
        draw_sets(state.columns, int64(len(state.columns) >> 1), weights.sets)
        if level_work(pairs.tops, pairs.firsts, level) >= heavy:
            return level
        clear_candidates(chosen)
        rows = np.flatnonzero(pairs.tops >= level)
        pairs.counts[EXAMINED] += refresh_rows_by_weight(
            state, weights, pairs, scales, rows, level, room, chosen, ticks
        )
        settle_by_weight(state, weights, pairs, level, len(rows), room, chosen, ticks)
    _finish_topics(state, weights, pairs, int64(0), ticks)
    return 0
