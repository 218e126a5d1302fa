"""The lazy greedy by price: take the edge of least price, again and again, without looking at every pair.

A price (`kernels/greedy/prices.py`) only rises as edges are taken, so what was once computed for a pair stays
a lower bound. Prices are real numbers, so pairs are kept by *levels*, ranges of prices: level 127 is the
cheapest. The store holds one byte per pair, the level of its bound; the bounds of eight pairs are compared at
once, as in `kernels/greedy/lazy.py`. At each level, the pairs that may be in it are looked at again: by what
is known of both ends, which puts off most, then exactly. Those that are in the level become *candidates*: a
heap takes them in the order of price, and looks at each again when it comes to the top. All other pairs are
dearer, so every edge has the least price of all pairs when it is taken. Of equal prices the first pair is
taken, by its first and then its second node.

Where a level has more candidates than there is room for, only the cheapest of them are treated at once: the
*cut* is the first pair that is put back. Threads may refresh; one settles. Neither levels nor cuts nor
threads change what is taken.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from meshwright.kernels.compiling import inlined, inner, kernel, lean
from meshwright.kernels.core.bits import reaching_bits, trailing_zeros
from meshwright.kernels.core.cost_arrays import CostArrays
from meshwright.kernels.core.costs import cost_between
from meshwright.kernels.core.heap import drop_top, make_heap, sink, smallest
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
from meshwright.kernels.greedy.lazy import level_work
from meshwright.kernels.greedy.prices import (
    RATIO,
    TIGHT,
    UnionTrees,
    bound_of,
    fill_bounds,
    fill_bounds_by_bits,
    fill_contributions,
    fill_paid,
    fill_prices,
    take_edge_at,
)
from meshwright.runtime.arrays import Bytes, Floats, Ids, Offsets, Ticks, Words, int64
from meshwright.runtime.progress import CANCEL, DONE

NOW = 0
VALUE = 1

APART = 2
"""Where `counts` of pairs has the components that are still to be united."""


class PricedPairs(NamedTuple):
    """What is known of the pairs, and the edges taken so far."""

    firsts: Offsets  # by row: the first node to pair with
    store: Words  # one byte per pair, each row padded with zeros to 64
    starts: Offsets  # by row: its first word in the store
    blocks: Bytes  # by 64 pairs of the store: their highest level; with weights only
    tops: Ids  # by row: no pair of the row has a higher level
    scale: Offsets  # [the level of 0, how many low bits of a price are left out, the sign of the rest]
    edges: npt.NDArray[np.int32]  # (m, 2), in the order in which they were taken
    prices: Floats  # of the edges
    counts: Offsets  # by TAKEN, EXAMINED and APART
    dual: Floats  # [the sum of all raises, the value of the dual solution]


class Candidates(NamedTuple):
    """Pairs of the present level with their prices; a pair (u, v) is the number u * nodes + v."""

    prices: Floats
    codes: Offsets
    size: Offsets  # [how many]
    cut_price: Floats  # [the least price put back], infinite when none was
    cut_code: Offsets  # [the least pair of that price put back]


class PriceScratch(NamedTuple):
    """Room that one thread works in."""

    found: Ids  # by pair of a row: where it is
    gains: Ids  # by pair found
    prices: Floats  # by pair found
    row_gains: Ids  # by node


@inlined
def level_of(scale: Offsets, price: float) -> int:
    """The level of a price: the exponent and some digits of the number, as its bits stand in memory.

    All prices of a scale have the same sign. As integers, the bits of positive numbers rise with them and
    those of negative numbers fall, hence the sign in the scale: of less prices the level is never lower.
    A scale without a sign has levels of the same size for whole contributions, the prices below zero.
    """
    if price == np.inf:
        return 0
    if not scale[2]:
        return min((int64(-price) + (1 << scale[1]) - 1) >> scale[1], CAP)
    level = scale[0] + scale[2] * (np.float64(price).view(np.int64) >> scale[1])
    return max(1, min(level, CAP))


@kernel
def start_levels(pairs: PricedPairs, nodes: int) -> None:
    """Nothing is known of any pair: all are on the highest level."""
    for u in range(nodes):
        row = row_words(pairs.store, pairs.starts, u).view(np.uint8)
        for i in range(nodes - pairs.firsts[u]):
            row[i] = CAP
        pairs.tops[u] = CAP if pairs.firsts[u] < nodes else 0


@lean
def find_reaching(words: Words, threshold: int, found: Ids) -> int:
    """Write the places of the levels that reach the threshold into `found`; return how many there are."""
    count = 0
    for start in range(0, len(words), 8):
        reaching = reaching_bits(words, start, threshold)
        while reaching:
            found[count] = (start << 3) + trailing_zeros(reaching)
            count += 1
            reaching &= reaching - np.uint64(1)
    return count


@inner
def _put_off(
    costs: CostArrays,
    scale: Offsets,
    now: float,
    u: int,
    first: int,
    level: int,
    row: Bytes,
    room: PriceScratch,
    count: int,
) -> int:
    """Bring down the levels of the pairs found by the bounds of their prices; keep those in `level`."""
    found, most, paid = room.found, room.gains, room.prices
    kept = 0
    for k in range(count):
        i = found[k]
        bound = 0
        if most[k]:
            bound = level_of(scale, bound_of(cost_between(costs, u, first + i), now, most[k], paid[k]))
        row[i] = min(bound, row[i])
        found[kept] = i
        kept += bound >= level
    return kept


@inner
def _cheaper_by_row(state: TopicComponents, u: int, count: int) -> bool:
    """Whether walking the topics of a node costs less than looking at `count` pairs of it.

    Reading a slot costs as much as about four words of bitsets (measured).
    """
    own_topics = state.indptr[u + 1] - state.indptr[u]
    pair_work = count * ((state.bits.shape[1] >> 1) or own_topics)
    return own_topics < pair_work and 4 * row_work(state, u) < pair_work


@inner
def _price_row(
    state: TopicComponents,
    trees: UnionTrees,
    costs: CostArrays,
    rule: int,
    now: float,
    u: int,
    first: int,
    room: PriceScratch,
    count: int,
) -> None:
    """The prices of the pairs found, each by itself or all by walking the topics of `u`."""
    found, gains, prices = room.found[:count], room.gains[:count], room.prices[:count]
    if rule == TIGHT:
        fill_paid(state, trees, u, first, found, gains, prices)
    elif _cheaper_by_row(state, u, count):
        row_contributions(state, state.weights, u, room.row_gains)
        for k in range(count):
            gains[k] = room.row_gains[first + found[k]]
    else:
        fill_contributions(state, state.weights, u, first, found, gains)
    fill_prices(costs, rule, now, u, first, found, gains, prices)


@inner
def _refresh_row(
    state: TopicComponents,
    trees: UnionTrees,
    costs: CostArrays,
    pairs: PricedPairs,
    u: int,
    level: int,
    rule: int,
    room: PriceScratch,
    chosen: Candidates,
) -> int:
    """Bring down the levels of a row that reach `level` and choose its candidates; count the pairs priced."""
    first = pairs.firsts[u]
    words = row_words(pairs.store, pairs.starts, u)
    row = words.view(np.uint8)
    count = find_reaching(words, level, room.found)
    now = pairs.dual[NOW]
    fill_bounds(state, rule, u, first, room.found[:count], room.gains, room.prices)
    count = _put_off(costs, pairs.scale, now, u, first, level, row, room, count)
    if count and state.bits.shape[1] and not (rule == RATIO and _cheaper_by_row(state, u, count)):
        fill_bounds_by_bits(
            state.bits, trees.latest, rule, u, first, room.found[:count], room.gains, room.prices
        )
        count = _put_off(costs, pairs.scale, now, u, first, level, row, room, count)
    if count:
        _price_row(state, trees, costs, rule, now, u, first, room, count)
        make_room(pairs, chosen, count)
        found, prices = room.found[:count], room.prices[:count]
        choose(pairs.scale, u * len(pairs.tops) + first, level, row, found, prices, chosen)
    pairs.tops[u] = row_top(words, int64(CAP))
    return count


@lean
def choose(
    scale: Offsets,
    first_code: int,
    level: int,
    row: Bytes,
    found: Ids,
    prices: Floats,
    chosen: Candidates,
) -> None:
    """Give the pairs found their levels; those in `level` and before the cut become candidates."""
    out_prices, out_codes, out = chosen.prices, chosen.codes, chosen.size[0]
    cut_price, cut_code = chosen.cut_price[0], chosen.cut_code[0]
    for k in range(len(found)):
        i, price = found[k], prices[k]
        own = level_of(scale, price)
        code = first_code + i
        if own >= level and (price < cut_price or (price == cut_price and code < cut_code)):
            out_prices[out], out_codes[out] = price, code
            out += 1
            own = 0
        row[i] = own
    chosen.size[0] = out


@inlined
def is_before_cut(chosen: Candidates, price: float, code: int) -> bool:
    """Whether a pair comes before the first that was put back."""
    cut = chosen.cut_price[0]
    return price < cut or (price == cut and code < chosen.cut_code[0])


@inner
def make_room(pairs: PricedPairs, chosen: Candidates, more: int) -> None:
    """Where no more candidates fit, put the dearer half back; they stand in the order of their pairs."""
    count = chosen.size[0]
    if count + more <= len(chosen.prices):
        return
    half = count // 2
    limit = smallest(chosen.prices[:count].copy(), half)
    under = 0
    for at in range(count):
        under += chosen.prices[at] < limit
    equals = half - under
    for at in range(count):
        if chosen.prices[at] == limit:
            equals -= 1
            if equals < 0:
                chosen.cut_code[0] = chosen.codes[at]
                break
    chosen.cut_price[0] = limit
    drop_behind_cut(pairs, chosen)


@kernel
def drop_behind_cut(pairs: PricedPairs, chosen: Candidates) -> None:
    """Put the candidates behind the cut back."""
    kept = 0
    for at in range(chosen.size[0]):
        price, code = chosen.prices[at], chosen.codes[at]
        if is_before_cut(chosen, price, code):
            chosen.prices[kept], chosen.codes[kept] = price, code
            kept += 1
        else:
            put_back(pairs, price, code)
    chosen.size[0] = kept


@lean
def put_back(pairs: PricedPairs, price: float, code: int) -> None:
    """Give a pair that is no candidate any more its level."""
    nodes = len(pairs.tops)
    u, v = code // nodes, code % nodes
    level = level_of(pairs.scale, price)
    place = v - pairs.firsts[u]
    row_words(pairs.store, pairs.starts, u).view(np.uint8)[place] = level
    pairs.tops[u] = max(pairs.tops[u], level)
    if len(pairs.blocks):
        block = (pairs.starts[u] >> 3) + (place >> 6)
        pairs.blocks[block] = max(int64(pairs.blocks[block]), level)


@kernel
def clear_candidates(chosen: Candidates) -> None:
    """Before a level: no candidates, no cut."""
    chosen.size[0] = 0
    chosen.cut_price[0] = np.inf
    chosen.cut_code[0] = 0


@kernel
def refresh_rows(
    state: TopicComponents,
    trees: UnionTrees,
    costs: CostArrays,
    pairs: PricedPairs,
    rows: Offsets,
    level: int,
    rule: int,
    room: PriceScratch,
    chosen: Candidates,
    ticks: Ticks,
) -> int:
    """Choose the candidates of `rows`, the component state staying as it is; count the pairs examined."""
    examined = 0
    for u in rows:
        if ticks[CANCEL]:
            break
        examined += _refresh_row(state, trees, costs, pairs, u, level, rule, room, chosen)
    return examined


@inner
def _take(
    state: TopicComponents,
    trees: UnionTrees,
    pairs: PricedPairs,
    rule: int,
    price: float,
    u: int,
    v: int,
    ticks: Ticks,
) -> None:
    taken = pairs.counts[TAKEN]
    pairs.edges[taken, 0], pairs.edges[taken, 1] = u, v
    pairs.prices[taken] = price
    pairs.counts[TAKEN] += 1
    if rule == TIGHT:
        pairs.dual[VALUE] += pairs.counts[APART] * (price - pairs.dual[NOW])
        pairs.dual[NOW] = price
        united = take_edge_at(state, trees, u, v, price)
    else:
        united = take_edge(state, u, v)
    pairs.counts[APART] -= united
    ticks[DONE] += united


@kernel
def settle(
    state: TopicComponents,
    trees: UnionTrees,
    costs: CostArrays,
    pairs: PricedPairs,
    level: int,
    rule: int,
    room: PriceScratch,
    chosen: Candidates,
    ticks: Ticks,
) -> None:
    """Take the candidates in the order of their prices; put back those that have become too dear."""
    nodes = len(pairs.tops)
    prices, codes, count = chosen.prices, chosen.codes, chosen.size[0]
    make_heap(prices, codes, count)
    while count and pairs.counts[APART]:
        if ticks[CANCEL]:
            return
        code = codes[0]
        u, v = code // nodes, code % nodes
        room.found[0] = 0
        _price_row(state, trees, costs, rule, pairs.dual[NOW], u, v, room, int64(1))
        price = room.prices[0]
        pairs.counts[EXAMINED] += 1
        if price <= prices[0]:
            _take(state, trees, pairs, rule, price, u, v, ticks)
            count = drop_top(prices, codes, count)
        elif level_of(pairs.scale, price) >= level and is_before_cut(chosen, price, code):
            sink(prices, codes, count, int64(0), price, code)
        else:
            if price < np.inf:
                put_back(pairs, price, code)
            count = drop_top(prices, codes, count)


@kernel
def settle_light_levels(
    state: TopicComponents,
    trees: UnionTrees,
    costs: CostArrays,
    pairs: PricedPairs,
    rule: int,
    heavy: int,
    room: PriceScratch,
    chosen: Candidates,
    ticks: Ticks,
) -> int:
    """Go down the levels on this thread until one has `heavy` pairs in its rows; return it, 0 at the end."""
    nodes = len(pairs.tops)
    while pairs.counts[APART] and not ticks[CANCEL]:
        level = greatest(pairs.tops)
        if level_work(pairs.tops, pairs.firsts, level) >= heavy:
            return level
        clear_candidates(chosen)
        for u in range(nodes):
            if ticks[CANCEL]:
                return 0
            if pairs.tops[u] >= level:
                pairs.counts[EXAMINED] += _refresh_row(
                    state, trees, costs, pairs, u, level, rule, room, chosen
                )
        settle(state, trees, costs, pairs, level, rule, room, chosen, ticks)
    return 0


@kernel
def sample_prices(state: TopicComponents, costs: CostArrays, us: Ids, vs: Ids) -> tuple[float, float]:
    """The least price and the greatest cost among some pairs; (inf, 0) where none of them contributes."""
    least, greatest = np.inf, 0.0
    gains = np.zeros(1, np.int32)
    for k in range(len(us)):
        if us[k] != vs[k]:
            fill_contributions(state, state.weights, int64(us[k]), int64(0), vs[k : k + 1], gains)
            if gains[0]:
                cost = cost_between(costs, us[k], vs[k])
                least, greatest = min(least, cost / gains[0]), max(greatest, cost)
    return least, greatest
