"""Bounds of what the pairs of a row contribute where subscribers want neighbours.

A row is counted at once, a byte for each pair, as in `kernels/greedy/byte_rows.py`. A byte ends at 255, and
then stands for that much or more: a link contributes up to three for each topic that its ends share.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inlined, lean
from meshwright.kernels.core.bits import add_bytes, popcount, popcount_byte
from meshwright.kernels.core.topic_components import NONE, TopicComponents, prefetch_interests
from meshwright.kernels.greedy.byte_rows import count_byte_row, prefetch_subscribers
from meshwright.kernels.greedy.wants import Own, Wants, clear_own, common_gain, find_common, write_own
from meshwright.runtime.arrays import Bytes, Ids, Words, int64

MOST = 255
"""The greatest bound of a pair in the store, which stands for this much or more."""


class WantScratch(NamedTuple):
    """Room that one thread works in."""

    own: Own
    gains: Ids  # by node
    found: Ids  # by node
    sums: Bytes  # by node
    rests: Bytes  # by node
    own_columns: Bytes  # by column, those of topics once more, and six more: all zero


@inlined
def _add_bits(a: np.uint8, b: np.uint8, c: np.uint8) -> tuple[np.uint8, np.uint8]:
    """The sums of three bits in each of eight places, and what they carry."""
    either = np.uint8(a ^ b)
    return np.uint8(either ^ c), np.uint8((a & b) | (either & c))


@lean
def _add_seven(
    columns: Bytes, own: Bytes, rows: tuple[int, int, int, int, int, int, int], sums: Bytes
) -> None:
    """Add what seven columns have within their masks, at the price of three. It compiles to vector code.

    Bits are added in place, to ones, twos and fours, before they are counted (Harley and Seal).
    """
    most = len(columns)
    in_a, in_b, in_c, in_d = own[rows[0]], own[rows[1]], own[rows[2]], own[rows[3]]
    in_e, in_f, in_g = own[rows[4]], own[rows[5]], own[rows[6]]
    column_a, column_b, column_c = columns[rows[0] % most], columns[rows[1] % most], columns[rows[2] % most]
    column_d, column_e, column_f = columns[rows[3] % most], columns[rows[4] % most], columns[rows[5] % most]
    column_g, start = columns[rows[6] % most], columns.shape[1] - len(sums)
    a, b, c, d = column_a[start:], column_b[start:], column_c[start:], column_d[start:]
    e, f, g = column_e[start:], column_f[start:], column_g[start:]
    for v in range(len(sums)):
        # Every step is a byte again, or it would not be done for 64 nodes at once.
        ones, twos = _add_bits(np.uint8(a[v] & in_a), np.uint8(b[v] & in_b), np.uint8(c[v] & in_c))
        ones, more = _add_bits(ones, np.uint8(d[v] & in_d), np.uint8(e[v] & in_e))
        ones, most_twos = _add_bits(ones, np.uint8(f[v] & in_f), np.uint8(g[v] & in_g))
        twos, fours = _add_bits(twos, more, most_twos)
        high = np.uint8(popcount_byte(twos) + 2 * popcount_byte(fours))
        sums[v] = add_bytes(sums[v], np.uint8(popcount_byte(ones) + 2 * high))


@lean
def _add_columns(columns: Bytes, own: Bytes, start: int, sums: Bytes) -> None:
    """Add what the columns have within the masks of `own`, and forget these.

    The first third of the columns stands behind the last once more, and then come six empty masks.
    """
    end = len(columns) + len(columns) // 3
    a, b, c, d, e, f, used = 0, 0, 0, 0, 0, 0, 0
    for row in range(end + 6):
        if (row < end and not own[row]) or (row >= end and not used):
            continue
        used += 1
        if used == 7:
            rows = (a, b, c, d, e, f, row)
            _add_seven(columns, own, rows, sums[start:])
            for one in rows:
                own[one] = 0
            used = 0
        a, b, c, d, e, f = b, c, d, e, f, row


@lean
def _is_short(state: TopicComponents, wants: Wants, topic: int, work: int) -> bool:
    """Whether a topic lists so few slots outside its marked component, or in want, that they take less."""
    listed = wants.listed[topic]
    if state.counts[topic] > 1:
        listed += state.listed[topic]
    return bool(listed < work >> 2)


@lean
def is_want_row_cheaper(state: TopicComponents, wants: Wants, u: int, work: int) -> bool:
    """Whether `count_want_row` takes less than `work`, in slots read, about 3 ns each (measured)."""
    # A column takes a quarter of a slot for 64 nodes, and a topic has up to three (measured).
    column_work = (len(state.loose) - u) >> 6
    most_columns = len(wants.columns) // 3 * column_work
    work -= 2 * column_work
    in_columns = 0
    begin, end = state.indptr[u], state.indptr[u + 1]
    topics, slots = state.topic_ids[begin:end], state.slots[begin:end]
    for i in range(len(topics)):
        if work <= 0:
            break
        topic, slot = np.uint32(topics[i]), np.uint32(slots[i])
        is_whole = state.counts[topic] < 2
        if is_whole and wants.counts[topic] == 0:
            continue
        is_idle = (is_whole or state.names[slot] == state.marked[topic]) and wants.wanted[slot] == 0
        if state.column_of[topic] != NONE and not (
            is_idle and _is_short(state, wants, int64(topic), column_work)
        ):
            in_columns += column_work
            if in_columns <= most_columns:
                work -= column_work
        elif is_idle:
            work -= wants.listed[topic] + (0 if is_whole else state.listed[topic])
        else:
            work -= state.topic_indptr[topic + np.uint32(1)] - slots[i]
    return work > 0


@lean
def _mask_columns(
    state: TopicComponents, wants: Wants, topic: int, name: int, is_wanting: bool, own: Bytes
) -> None:
    """Ask for what the columns of a topic have: who shares it, who is not marked there, who wants there."""
    third, column = len(wants.columns) // 3, state.column_of[topic]
    at, bit = column >> 3, np.uint8(1 << (column & 7))
    if state.counts[topic] > 1:
        own[at + (third if name == state.marked[topic] else 0)] |= bit
    if wants.counts[topic] > 0:
        own[2 * third + at] |= bit
    if is_wanting:
        own[3 * third + at] |= bit


@lean
def count_want_row(state: TopicComponents, wants: Wants, u: int, own: Bytes, sums: Bytes) -> None:
    """Bound what the pairs of `u` with all later nodes contribute, in `sums`.

    Exact but for popular topics, where a pair is taken to be in two components unless both are marked. `own`
    is room for a byte a column, those of topics once more, and six more, all zero.
    """
    names, slot_nodes, start = state.names, state.slot_nodes, (u + 1) & ~63
    column_work = (len(state.loose) - u) >> 6
    later = sums[start:]
    for at in range(len(later)):
        later[at] = 0
    end = state.indptr[u + 1]
    for i in range(state.indptr[u], end):
        if i + 1 < end:
            prefetch_subscribers(state, i + 1)
        topic, slot = state.topic_ids[i], state.slots[i]
        is_whole = state.counts[topic] < 2
        if is_whole and wants.counts[topic] == 0:
            continue
        name, is_wanting = names[slot], wants.wanted[slot] > 0
        is_idle = (is_whole or name == state.marked[topic]) and not is_wanting
        if state.column_of[topic] != NONE and not (
            is_idle and _is_short(state, wants, int64(topic), column_work)
        ):
            _mask_columns(state, wants, topic, name, is_wanting, own)
        elif is_idle:
            begin = state.topic_indptr[topic]
            for other in wants.slots[begin : begin + wants.listed[topic]]:
                node = np.uint32(slot_nodes[np.uint32(other)])
                sums[node] = add_bytes(sums[node], np.uint8(wants.wanted[np.uint32(other)] > 0))
            if not is_whole:
                for other in state.loose_slots[begin : begin + state.listed[topic]]:
                    node = np.uint32(slot_nodes[np.uint32(other)])
                    sums[node] = add_bytes(sums[node], np.uint8(names[np.uint32(other)] != name))
        else:
            _add_later(state, wants, topic, slot, is_wanting, sums)
    if len(wants.columns):
        _add_columns(wants.columns, own, start, sums)


@lean
def _add_later(
    state: TopicComponents, wants: Wants, topic: int, slot: int, is_wanting: bool, sums: Bytes
) -> None:
    """Add what a link of a slot contributes to its topic with each later one."""
    begin, end, name = slot + 1, state.topic_indptr[topic + 1], state.names[slot]
    nodes, names, wanted = state.slot_nodes[begin:end], state.names[begin:end], wants.wanted[begin:end]
    for at in range(len(nodes)):
        node = np.uint32(nodes[at])
        gain = (names[at] != name) + is_wanting + (wanted[at] > 0)
        sums[node] = add_bytes(sums[node], np.uint8(gain))


@lean
def _refresh_by_bits(bits: Words, wanting: Words, u: int, first: int, found: Ids, row: Bytes) -> None:
    """Bound each pair found by bitsets."""
    words = np.uint64(bits.shape[1] >> 1)
    topics_u, loose_u, wanting_u = bits[u, : bits.shape[1] >> 1], bits[u, bits.shape[1] >> 1 :], wanting[u]
    # Flat, with unsigned places: slices for each pair take half as long again (measured).
    flat, flat_wanting = bits.reshape(-1), wanting.reshape(-1)
    for i in found:
        at_wanting = np.uint64(first + i) * words
        at_topics = at_wanting + at_wanting
        bound = 0
        for w in range(words):
            topics_v = flat[at_topics + w]
            bound += (
                popcount((topics_u[w] & flat[at_topics + words + w]) | (loose_u[w] & topics_v))
                + popcount(topics_u[w] & flat_wanting[at_wanting + w])
                + popcount(wanting_u[w] & topics_v)
            )
        row[i] = min(bound, MOST)


@lean
def contributions(
    state: TopicComponents, wants: Wants, u: int, first: int, found: Ids, scratch: WantScratch
) -> None:
    """Write into `gains` what each pair found contributes."""
    write_own(state, wants, u, scratch.own)
    for k in range(len(found)):
        if k + 1 < len(found):
            prefetch_interests(state, first + found[k + 1])
        count = find_common(state, scratch.own, first + found[k])
        scratch.gains[k] = common_gain(state, wants, scratch.own, count)
    clear_own(state, u, scratch.own)


@lean
def refresh_found(
    state: TopicComponents, wants: Wants, row: Bytes, u: int, first: int, count: int, scratch: WantScratch
) -> None:
    """Bring down the bounds of the pairs found, by the cheaper of two ways."""
    own_topics, words, found = state.indptr[u + 1] - state.indptr[u], state.bits.shape[1] >> 1, scratch.found
    # In slots read by the other way (measured): a pair by its bitsets, or by the list of its interests.
    pair_work = count * (4 + (words >> 1) if words else 300)
    if pair_work > own_topics and is_want_row_cheaper(state, wants, u, pair_work):
        count_want_row(state, wants, u, scratch.own_columns, scratch.sums)
        lower_by_bytes(row, scratch.sums[first:])
    elif words:
        _refresh_by_bits(state.bits, wants.bits, u, first, found[:count], row)
    else:
        contributions(state, wants, u, first, found[:count], scratch)
        for k in range(count):
            row[found[k]] = min(scratch.gains[k], MOST)


@lean
def count_fresh_row(state: TopicComponents, u: int, scratch: WantScratch) -> None:
    """`count_want_row` before any link is made: every common topic counts three."""
    count_byte_row(state, u, scratch.own_columns, scratch.sums)
    sums = scratch.sums[u + 1 :]
    for i in range(len(sums)):
        sums[i] = add_bytes(sums[i], add_bytes(sums[i], sums[i]))


@lean
def lower_by_bytes(row: Bytes, sums: Bytes) -> None:
    """Bring down all bounds of a row to its sums. It compiles to vector instructions."""
    for i in range(len(sums)):
        row[i] = min(row[i], sums[i])
