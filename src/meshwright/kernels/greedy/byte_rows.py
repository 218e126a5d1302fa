"""Bounds of the contributions of all pairs of a row at once, one byte each.

The topics of the row's node are walked, and every later subscriber of one gets a one. That is exact. Popular
topics, eight a byte, have *columns*: a byte for each node. A column counts what eight topics give for 64
nodes by a few instructions, with a pair taken to gain from a topic unless both nodes are marked. So one look
at a pair takes half a nanosecond to two (measured, 10,000 nodes with 30 to 80 topics each), where a look at a
single pair by itself takes ten times as long.
"""

import numpy as np

from meshwright.kernels.compiling import inlined, lean
from meshwright.kernels.core.bits import popcount_byte
from meshwright.kernels.core.prefetching import prefetch
from meshwright.kernels.core.topic_components import NONE, TopicComponents
from meshwright.runtime.arrays import Bytes, int64

MOST_TOPICS = 255
"""Of a node with more topics, a byte row can't tell contributions of 128 and more apart."""

_ENOUGH = 128
_AT_ONCE = 127
"""Topics that are added to sums of at most _ENOUGH, which then still fit into a byte."""


@lean
def is_byte_row_cheaper(state: TopicComponents, u: int, work: int) -> bool:
    """Whether `count_byte_row` takes less than `work`, in slots read, about 3 ns each (measured).

    It stops once that is clear: reading all topics of a node takes as long as some looks at pairs.
    """
    # A column takes as long as one slot for 64 nodes.
    column_work = (len(state.loose) - u) >> 6
    work -= 2 * column_work
    begin, end = state.indptr[u], state.indptr[u + 1]
    topics, slots = state.topic_ids[begin:end], state.slots[begin:end]
    for i in range(len(topics)):
        if work <= 0:
            break
        topic = np.uint32(topics[i])
        if state.counts[topic] > 1:
            if state.column_of[topic] != NONE:
                work -= column_work
            elif state.names[np.uint32(slots[i])] == state.marked[topic]:
                work -= state.listed[topic]
            else:
                work -= state.topic_indptr[topic + np.uint32(1)] - slots[i]
    return work > 0


@lean
def _add_four(
    sums: Bytes, a: Bytes, in_a: int, b: Bytes, in_b: int, c: Bytes, in_c: int, d: Bytes, in_d: int
) -> None:
    """Add what four columns have within their masks. The loop is such that it compiles to vector code."""
    for v in range(len(sums)):
        sums[v] += (
            popcount_byte(a[v] & in_a)
            + popcount_byte(b[v] & in_b)
            + popcount_byte(c[v] & in_c)
            + popcount_byte(d[v] & in_d)
        )


@lean
def add_columns(columns: Bytes, own: Bytes, start: int, sums: Bytes) -> None:
    """Add what the columns have within the masks of `own`, and forget these."""
    rows = len(columns)
    used, a, b, c = 0, 0, 0, 0
    for row in range(rows + 3):
        if row < rows and not own[row]:
            continue
        if row >= rows and not used:
            break
        # At the end, columns with empty masks make up the last four.
        used += 1
        if used == 1:
            a = row
        elif used == 2:
            b = row
        elif used == 3:
            c = row
        else:
            last = rows - 1
            _add_four(
                sums[start:],
                columns[a, start:],
                own[a],
                columns[min(b, last), start:],
                own[b],
                columns[min(c, last), start:],
                own[c],
                columns[min(row, last), start:],
                own[row],
            )
            own[a] = own[b] = own[c] = own[row] = 0
            used = 0


@inlined
def prefetch_subscribers(state: TopicComponents, i: int) -> None:
    """Ask for the first subscribers that a walk over the topic of an interest reads."""
    topic, slot = state.topic_ids[i], int64(state.slots[i])
    begin = state.topic_indptr[topic]
    for line in range(0, 64, 16):
        prefetch(state.slot_nodes, slot + line)
        prefetch(state.loose_slots, begin + line)


@lean
def count_byte_row(state: TopicComponents, u: int, own: Bytes, sums: Bytes) -> None:
    """Bound the contributions of the pairs of `u` with all later nodes, in `sums`.

    Where `u` is not marked, all later subscribers count: few of them are in its own component. `own` is room
    for a byte a column and three more, all zero. If `u` has more than MOST_TOPICS, sums of 128 and more stand
    for as much or more.
    """
    start, begin, end = (u + 1) & ~63, state.indptr[u], state.indptr[u + 1]
    # As a slice: places that might be negative would be written one by one.
    later = sums[start:]
    for at in range(len(later)):
        later[at] = 0
    if end - begin <= MOST_TOPICS:
        _add_topics(state, u, begin, end, own, sums)
        return
    while begin < end:
        _add_topics(state, u, begin, min(begin + _AT_ONCE, end), own, sums)
        begin += _AT_ONCE
        for at in range(len(later)):
            later[at] = min(later[at], np.uint8(_ENOUGH))


@lean
def _add_topics(state: TopicComponents, u: int, begin: int, end: int, own: Bytes, sums: Bytes) -> None:
    """Add a one to the sums of later subscribers, for each of some interests of `u`."""
    names, slot_nodes, start = state.names, state.slot_nodes, (u + 1) & ~63
    half = len(state.columns) >> 1
    for i in range(begin, end):
        if i + 1 < end:
            prefetch_subscribers(state, i + 1)
        topic = state.topic_ids[i]
        if state.counts[topic] < 2:
            continue
        slot, column = state.slots[i], state.column_of[topic]
        name = names[slot]
        is_marked = name == state.marked[topic]
        if column != NONE:
            own[(column >> 3) + is_marked * half] |= np.uint8(1 << (column & 7))
        elif is_marked:
            first = state.topic_indptr[topic]
            for other in state.loose_slots[first : first + state.listed[topic]]:
                sums[np.uint32(slot_nodes[np.uint32(other)])] += names[np.uint32(other)] != name
        else:
            for other in slot_nodes[slot + 1 : state.topic_indptr[topic + 1]]:
                sums[np.uint32(other)] += np.uint8(1)
    if len(state.columns):
        add_columns(state.columns, own, start, sums)
