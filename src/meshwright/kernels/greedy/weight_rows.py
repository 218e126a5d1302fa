"""Bounds of the weighted contributions of all pairs of a row at once.

As in `kernels/greedy/byte_rows.py`, with two numbers for a pair: how many topics gain, and what they weigh. A
topic with a column also has a set, with a bit for each node: a few instructions add it for 64 nodes.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inlined, lean, lean_kernel
from meshwright.kernels.core.masked_sums import add_where, having_bit
from meshwright.kernels.core.topic_components import NONE, TopicComponents
from meshwright.kernels.greedy.byte_rows import prefetch_subscribers
from meshwright.runtime.arrays import Bytes, Ids, Shorts, Words, int64

_NODES_A_SLOT = 7
"""A column takes as long as one slot for two to this power of nodes."""


class WeightRow(NamedTuple):
    """Room for the sums of a row."""

    counts: Bytes  # by node, filled up to 64: how many topics gain
    sums: Shorts  # as counts: what they weigh, rounded
    popular: Ids  # the topics that are added by columns


@lean
def is_row_cheaper(state: TopicComponents, u: int, work: int) -> bool:
    """Whether `weigh_row` takes less than `work`, in slots read; it stops once that is clear."""
    column_work = (len(state.loose) - u) >> _NODES_A_SLOT
    work -= 4 * column_work
    begin, end = state.indptr[u], state.indptr[u + 1]
    topics, slots = state.topic_ids[begin:end], state.slots[begin:end]
    for i in range(len(topics)):
        if work <= 0:
            break
        topic = np.uint32(topics[i])
        if state.counts[topic] > 1:
            walk = state.topic_indptr[topic + np.uint32(1)] - slots[i]
            if state.names[np.uint32(slots[i])] == state.marked[topic]:
                walk = np.int64(state.listed[topic])
            if state.column_of[topic] != NONE:
                walk = min(walk, column_work)
            work -= walk
    return work > 0


@lean_kernel
def draw_sets(columns: Bytes, first: int, sets: Words) -> None:
    """Write the columns from `first` on as sets: a bit for each node where the column has one of a byte.

    Of these, a row reads an eighth of what it would read of columns.
    """
    width = columns.shape[1]
    for eight in range(first, len(columns)):
        for digit in range(8):
            bit = np.uint8(1 << digit)
            for word in range(sets.shape[1]):
                sets[8 * eight + digit, word] = having_bit(columns, eight * width + (word << 6), bit)


@inlined
def _set_of(state: TopicComponents, rounded: Shorts, code: int) -> tuple[int, np.uint16]:
    """Of twice the number of a topic, and one more where the node is marked: its set and weight.

    NONE has the last set, which is empty.
    """
    if code == NONE:
        return int64(8 * len(state.columns)), np.uint16(0)
    return int64(state.column_of[code >> 1] + (code & 1) * (len(state.columns) << 2)), rounded[code >> 1]


@lean
def _add_popular(
    state: TopicComponents, rounded: Shorts, sets: Words, popular: Ids, start: int, row: WeightRow
) -> None:
    """Add the weights of `popular` topics, which end with NONE so that they are a multiple of four."""
    words, sums, counts = sets.shape[1], row.sums, row.counts
    for at in range(0, len(popular), 4):
        a, of_a = _set_of(state, rounded, popular[at])
        b, of_b = _set_of(state, rounded, popular[at + 1])
        c, of_c = _set_of(state, rounded, popular[at + 2])
        d, of_d = _set_of(state, rounded, popular[at + 3])
        a, b, c, d = a * words, b * words, c * words, d * words
        weights = (of_a, of_b, of_c, of_d)
        for word in range(start >> 6, words):
            add_where(sums, counts, word << 6, sets, (a + word, b + word, c + word, d + word), weights)


@lean
def weigh_row(state: TopicComponents, rounded: Shorts, sets: Words, u: int, row: WeightRow) -> None:
    """Bound the contributions of the pairs of `u` with all later nodes: `counts` and `sums` of the row.

    `sets` are the columns of the present state, drawn by `draw_sets`.
    Where `u` is not marked, all later subscribers count: few of them are in its own component. No node may
    have more than MOST_TOPICS, nor rounded weights beyond 16 bits together.
    """
    names, slot_nodes, start = state.names, state.slot_nodes, (u + 1) & ~63
    counts, sums = row.counts, row.sums
    later_counts, later_sums = counts[start:], sums[start:]
    for at in range(len(later_counts)):
        later_counts[at] = 0
    for at in range(len(later_sums)):
        later_sums[at] = 0
    end = state.indptr[u + 1]
    column_work, used = (len(state.loose) - u) >> _NODES_A_SLOT, 0
    for i in range(state.indptr[u], end):
        if i + 1 < end:
            prefetch_subscribers(state, i + 1)
        topic = state.topic_ids[i]
        if state.counts[topic] < 2:
            continue
        slot, column, weight = state.slots[i], state.column_of[topic], rounded[topic]
        name = names[slot]
        is_marked = name == state.marked[topic]
        if column != NONE and not (is_marked and state.listed[topic] < column_work):
            row.popular[used] = 2 * topic + is_marked
            used += 1
        elif is_marked:
            begin = state.topic_indptr[topic]
            for other in state.loose_slots[begin : begin + state.listed[topic]]:
                gains = names[np.uint32(other)] != name
                v = np.uint32(slot_nodes[np.uint32(other)])
                counts[v] += gains
                sums[v] += gains * weight
        else:
            for other in slot_nodes[slot + 1 : state.topic_indptr[topic + 1]]:
                counts[np.uint32(other)] += np.uint8(1)
                sums[np.uint32(other)] += weight
    if used:
        for _ in range(-used % 4):
            row.popular[used] = NONE
            used += 1
        _add_popular(state, rounded, sets, row.popular[:used], start, row)
