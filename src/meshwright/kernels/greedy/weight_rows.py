"""Bounds of the weighted contributions of all pairs of a row at once.

As in `kernels/greedy/byte_rows.py`, with two numbers for a pair: how many topics gain, and what they weigh. A
topic with a column is added for 32 nodes by two instructions.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inlined, lean
from meshwright.kernels.core.topic_components import NONE, TopicComponents
from meshwright.kernels.greedy.byte_rows import add_columns, prefetch_subscribers
from meshwright.runtime.arrays import Bytes, Ids, Shorts, int64

_NODES_A_SLOT = 7
"""A column takes as long as one slot for two to this power of nodes."""


class WeightRow(NamedTuple):
    """Room for the sums of a row."""

    counts: Bytes  # by node: how many topics gain
    sums: Shorts  # by node: what they weigh, rounded
    popular: Ids  # the topics that are added by columns
    own_columns: Bytes  # by column, and three more: all zero


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


@lean
def _add_four(
    sums: Shorts,
    a: Bytes,
    in_a: np.uint8,
    of_a: np.uint16,
    b: Bytes,
    in_b: np.uint8,
    of_b: np.uint16,
    c: Bytes,
    in_c: np.uint8,
    of_c: np.uint16,
    d: Bytes,
    in_d: np.uint8,
    of_d: np.uint16,
) -> None:
    """Add four weights where the columns have the bits. The loop is such that it compiles to vector code."""
    none = np.uint16(0)
    for v in range(len(sums)):
        sums[v] += (
            (of_a if a[v] & in_a else none)
            + (of_b if b[v] & in_b else none)
            + (of_c if c[v] & in_c else none)
            + (of_d if d[v] & in_d else none)
        )


@inlined
def _column(state: TopicComponents, rounded: Shorts, code: int) -> tuple[int, np.uint8, np.uint16]:
    """Of twice the number of a topic, and one more where the node is marked: its column, bit and weight."""
    if code == NONE:
        return 0, np.uint8(0), np.uint16(0)
    column = state.column_of[code >> 1]
    loose = (code & 1) * (len(state.columns) >> 1)
    return int64((column >> 3) + loose), np.uint8(1 << (column & 7)), rounded[code >> 1]


@lean
def _add_popular(state: TopicComponents, rounded: Shorts, popular: Ids, start: int, sums: Shorts) -> None:
    """Add the weights of `popular` topics, which end with NONE so that they are a multiple of four."""
    columns = state.columns
    for at in range(0, len(popular), 4):
        a, in_a, of_a = _column(state, rounded, popular[at])
        b, in_b, of_b = _column(state, rounded, popular[at + 1])
        c, in_c, of_c = _column(state, rounded, popular[at + 2])
        d, in_d, of_d = _column(state, rounded, popular[at + 3])
        _add_four(
            sums[start:],
            columns[a, start:],
            in_a,
            of_a,
            columns[b, start:],
            in_b,
            of_b,
            columns[c, start:],
            in_c,
            of_c,
            columns[d, start:],
            in_d,
            of_d,
        )


@lean
def weigh_row(state: TopicComponents, rounded: Shorts, u: int, row: WeightRow) -> None:
    """Bound the contributions of the pairs of `u` with all later nodes: `counts` and `sums` of the row.

    Where `u` is not marked, all later subscribers count: few of them are in its own component. No node may
    have more than MOST_TOPICS, nor rounded weights beyond 16 bits together.
    """
    names, slot_nodes, start = state.names, state.slot_nodes, (u + 1) & ~63
    counts, sums, own = row.counts, row.sums, row.own_columns
    later_counts, later_sums = counts[start:], sums[start:]
    for at in range(len(later_counts)):
        later_counts[at] = 0
    for at in range(len(later_sums)):
        later_sums[at] = 0
    end, half = state.indptr[u + 1], len(state.columns) >> 1
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
            own[(column >> 3) + is_marked * half] |= np.uint8(1 << (column & 7))
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
        add_columns(state.columns, own, start, counts)
        for _ in range(-used % 4):
            row.popular[used] = NONE
            used += 1
        _add_popular(state, rounded, row.popular[:used], start, sums)
