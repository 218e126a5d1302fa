"""Bounds of weighted contributions, kept as levels: see `kernels/greedy/by_weight.py`.

Many pairs of a row are bounded together (`kernels/greedy/weight_rows.py`). Few pairs are bounded one by one
by bitsets, where there are any: the weights of the topics are added in which not both nodes are marked
(`kernels/core/weighed_bits.py`).
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inlined, kernel, lean
from meshwright.kernels.core.prefetching import prefetch_shared
from meshwright.kernels.core.topic_components import TopicComponents
from meshwright.kernels.core.weighed_bits import weigh_common
from meshwright.kernels.greedy.bounds import CAP
from meshwright.kernels.greedy.by_price import PricedPairs
from meshwright.kernels.greedy.byte_rows import MOST_TOPICS
from meshwright.kernels.greedy.weight_rows import WeightRow, is_row_cheaper, weigh_row
from meshwright.runtime.arrays import Bytes, Floats, Ids, Longs, Offsets, Shorts, Words, int64

_PREFETCHED = 6
"""So many pairs ahead, bitsets are asked for. With 2 to 8, looks at random pairs take 40 to 50% less where a
bitset has 16 words, and 5% less where it has 4 (measured)."""
_ONE = 1 << 32
_SUM = _ONE - 1
UNSEEN = 255
"""The scale of a row that was not looked at yet."""

_PAIR_WORK, _LIST_WORK = 16, 300
"""Looks at a pair by bitsets and by lists, in slots read by the other way; chosen by trials near these."""


class TopicWeights(NamedTuple):
    """The weights of the topics, in the forms that they are used in."""

    counted: Longs  # by topic: its weight, and 2**32
    rounded: Shorts  # by topic: its weight over 2**fine, rounded up
    fine: int  # the least that keeps the sum of a node's rounded weights within 16 bits
    heaviest: Ids  # the topics in the order of falling weight
    sets: Words  # by column: its nodes as bits, in the present round; then an empty one
    digits: Words  # by eight digits, word of topics, and digit: the topics that have it
    shifts: Words  # by digit: the power of two that it is worth
    pace: Floats  # [the share of the levels that the next round treats]
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
def price_of(counted: int) -> float:
    """The price of what was counted: infinite where fewer than two topics gain."""
    return -float(counted & _SUM) if counted >= 2 * _ONE else np.inf


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
def fill_weight_rests(loose: Ids, scale: Offsets, rests: Bytes) -> None:
    """The levels of the loose weights of the nodes. It compiles to vector instructions."""
    shift = scale[1]
    rounding = (1 << shift) - 1
    for v in range(len(loose)):
        rests[v] = min((int64(loose[v]) + rounding) >> shift, CAP)


@inlined
def prefetch_bits(bits: Words, u: int) -> None:
    """Ask for the bitsets of a node."""
    for line in range(u * bits.shape[1], (u + 1) * bits.shape[1], 8):
        prefetch_shared(bits, line)


@inlined
def weigh_pair(bits: Words, digits: Words, shifts: Words, u: int, v: int) -> int:
    """What is counted for a pair by the topics in which not both nodes are marked."""
    width, most = bits.shape[1], 0
    for eight in range(len(digits)):
        most += weigh_common(
            bits, u * width, v * width, width >> 1, digits, eight * (width << 2), shifts, eight << 3
        )
    return most


@lean
def _bound_each(
    bits: Words,
    digits: Words,
    shifts: Words,
    scale: Offsets,
    u: int,
    first: int,
    row: Bytes,
    found: Ids,
) -> None:
    """Bring down the levels of the pairs found, each by the topics in which not both nodes are marked."""
    shift = scale[1]
    rounding = (1 << shift) - 1
    for k in range(len(found)):
        if k + _PREFETCHED < len(found):
            prefetch_bits(bits, int64(first + found[k + _PREFETCHED]))
        most = weigh_pair(bits, digits, shifts, u, int64(first + found[k]))
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
def weigh_all(
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
def bring_down(
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
        weigh_all(state, weights, scale, u, first, row, room)
    elif words_each:
        _bound_each(state.bits, weights.digits, weights.shifts, scale, u, first, row, room.found[:count])


@lean
def start_row(pairs: PricedPairs, scales: Bytes, u: int, row: Bytes, blocks: Bytes) -> None:
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
