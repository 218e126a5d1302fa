"""The lazy greedy of resilient overlays: every subscriber wants so many neighbours in each of its topics.

What an edge contributes (`kernels/greedy/wants.py`) only falls as edges are taken, as a plain contribution
does, so levels and the store of bounds are those of `kernels/greedy/lazy.py`. An edge that is taken may still
contribute, so its bound is set to zero, and none is taken twice.

What is left when no edge contributes is connected, and few of its topics have a cut node (measured: of 300
topics, 62 blocks too many, where Greedy Merge leaves 29,000).
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inlined, inner, kernel
from meshwright.kernels.core.bits import popcount
from meshwright.kernels.core.topic_components import TopicComponents
from meshwright.kernels.core.totals import greatest
from meshwright.kernels.greedy.bounds import (
    CAP,
    EXAMINED,
    TAKEN,
    Pairs,
    find_pairs,
    row_top,
    row_words,
)
from meshwright.kernels.greedy.lazy import level_work
from meshwright.kernels.greedy.wants import (
    Wants,
    WantScratch,
    clear_own,
    contribution,
    link_nodes,
    write_own,
)
from meshwright.runtime.arrays import Bytes, Ids, Offsets, Ticks, Words, int64
from meshwright.runtime.progress import CANCEL, DONE

_EXACT, _STEP = 95, 3
"""The store has bounds up to `_EXACT` as they are, and greater ones in steps of 2 ** `_STEP`.

A link contributes up to three for each topic, so bounds above CAP are common. Where all of these were CAP,
settling the first levels took an eighth of the whole greedy (measured).
"""


@inlined
def stored(bound: int) -> int:
    """The number that stands for a bound in the store; it rises with the bound, and ends at CAP."""
    return min(bound, _EXACT + ((bound - _EXACT - 1 + (1 << _STEP)) >> _STEP), CAP)


@inlined
def _most_of(code: int, known: int) -> int:
    """The greatest bound that a number in the store stands for; `known` for CAP, which has none."""
    if code >= CAP:
        return known
    return max(code, _EXACT + ((code - _EXACT) << _STEP))


class Columns(NamedTuple):
    """Bitsets of nodes, by word and then by node, so that a row's bounds are found eight at a time."""

    topics: Words  # (words, nodes)
    loose: Words  # the topics in which a node is not marked
    wanting: Words  # the topics in which it wants neighbours


_ALL_AT_ONCE = 10
"""A row is looked at by columns if more than one in so many of its pairs must be (measured)."""


_ABREAST = 4
"""All pairs of a row are cleared, and compared, at the price of reading one in so many slots (measured)."""


@inner
def _is_idle(state: TopicComponents, wants: Wants, topic: int, slot: int) -> bool:
    """Whether a link of a slot contributes by what others lack alone."""
    return state.names[slot] == state.marked[topic] and wants.wanted[slot] == 0


@inner
def _row_work(state: TopicComponents, wants: Wants, u: int) -> int:
    """How many slots `_row_gains` would read."""
    work = 0
    for i in range(state.indptr[u], state.indptr[u + 1]):
        topic, slot = state.topic_ids[i], state.slots[i]
        if _is_idle(state, wants, topic, slot):
            work += wants.listed[topic]
            if state.counts[topic] > 1:
                work += state.listed[topic]
        else:
            work += state.topic_indptr[topic + 1] - slot
    return work


@inner
def _row_gains(state: TopicComponents, wants: Wants, u: int, gains: Ids) -> None:
    """The exact contributions of the pairs of `u` with all later nodes, by walking the topics of `u`."""
    gains[u + 1 :] = 0
    for i in range(state.indptr[u], state.indptr[u + 1]):
        topic, slot = state.topic_ids[i], state.slots[i]
        name = state.names[slot]
        if _is_idle(state, wants, topic, slot):
            start = state.topic_indptr[topic]
            for other in wants.slots[start : start + wants.listed[topic]]:
                gains[state.slot_nodes[other]] += wants.wanted[other] > 0
            if state.counts[topic] > 1:
                for other in state.loose_slots[start : start + state.listed[topic]]:
                    gains[state.slot_nodes[other]] += state.names[other] != name
        else:
            own = wants.wanted[slot] > 0
            for other in range(slot + 1, state.topic_indptr[topic + 1]):
                gains[state.slot_nodes[other]] += (
                    own + (wants.wanted[other] > 0) + (state.names[other] != name)
                )


@kernel
def start_rows(
    state: TopicComponents,
    wants: Wants,
    columns: Columns,
    pairs: Pairs,
    rows: Offsets,
    scratch: WantScratch,
    ticks: Ticks,
) -> None:
    """Bound the pairs of `rows` by what they contribute now, in the sparse form, or by bitsets."""
    for u in rows:
        if ticks[CANCEL]:
            break
        first = pairs.firsts[u]
        if len(columns.topics):
            _gains_by_columns(columns, u, scratch.gains)
        else:
            _row_gains(state, wants, u, scratch.gains)
        row = row_words(pairs.store, pairs.starts, u).view(np.uint8)
        for i in range(len(scratch.gains) - first):
            row[i] = CAP
        pairs.tops[u] = _lower_bounds(row, scratch.gains[first:])


@inner
def _gains_by_columns(columns: Columns, u: int, gains: Ids) -> None:
    """Bound what the pairs of `u` with all later nodes contribute.

    All nodes of a word come one after another, which compiles to vector instructions: a third to a seventh
    of the time of one pair after another (measured).
    """
    topics, loose, wanting = columns.topics, columns.loose, columns.wanting
    own = gains[u + 1 :]
    own[:] = 0
    for w in range(len(topics)):
        topics_u, loose_u, wanting_u = topics[w, u], loose[w, u], wanting[w, u]
        topics_w, loose_w, wanting_w = topics[w, u + 1 :], loose[w, u + 1 :], wanting[w, u + 1 :]
        for v in range(len(own)):
            own[v] += (
                popcount((topics_u & loose_w[v]) | (loose_u & topics_w[v]))
                + popcount(topics_u & wanting_w[v])
                + popcount(wanting_u & topics_w[v])
            )


@inner
def _refresh_by_bits(bits: Words, wanting: Words, u: int, first: int, found: Ids, row: Bytes) -> int:
    """Bound each pair found by bitsets; return the greatest bound."""
    words, known = np.uint64(bits.shape[1] >> 1), 0
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
        row[i] = stored(bound)
        known = max(known, bound)
    return known


@inner
def _refresh_by_lists(
    state: TopicComponents, wants: Wants, u: int, first: int, count: int, row: Bytes, scratch: WantScratch
) -> int:
    """Give each pair found its exact contribution; return the greatest."""
    write_own(state, wants, u, scratch)
    known = int64(0)
    for i in scratch.found[:count]:
        gain = contribution(state, wants, int64(first + i), scratch)
        row[i] = stored(gain)
        known = max(known, gain)
    clear_own(state, u, scratch)
    return known


@inner
def _refresh_row(
    state: TopicComponents,
    wants: Wants,
    columns: Columns,
    pairs: Pairs,
    u: int,
    level: int,
    scratch: WantScratch,
) -> int:
    """Bring down the bounds of a row that reach the level; count them."""
    first = pairs.firsts[u]
    words = row_words(pairs.store, pairs.starts, u)
    row = words.view(np.uint8)
    count = find_pairs(
        words, state.loose[first:], state.loose[u], max(1, stored(level - level // 8)), scratch.found
    )
    own_topics = state.indptr[u + 1] - state.indptr[u]
    pair_work = count * ((state.bits.shape[1] >> 1) or own_topics)
    width = (len(state.loose) - first) // _ABREAST
    if len(columns.topics) and count * _ALL_AT_ONCE > len(state.loose) - first:
        _gains_by_columns(columns, u, scratch.gains)
        known = _lower_bounds(row, scratch.gains[first:])
    elif own_topics + width < pair_work and _row_work(state, wants, u) + width < pair_work:
        _row_gains(state, wants, u, scratch.gains)
        known = _lower_bounds(row, scratch.gains[first:])
    elif state.bits.shape[1]:
        known = int64(_refresh_by_bits(state.bits, wants.bits, u, first, scratch.found[:count], row))
    else:
        known = _refresh_by_lists(state, wants, u, first, count, row, scratch)
    pairs.tops[u] = _most_of(row_top(words, int64(CAP)), known)
    return count


@inner
def _lower_bounds(row: Bytes, gains: Ids) -> int:
    """Bring down all bounds of a row to its gains, and return the greatest; one that is zero stays so."""
    most = np.int32(0)
    for i in range(len(gains)):
        row[i] = min(np.int32(row[i]), np.int32(stored(gains[i])))
        most = max(most, gains[i])
    return int64(most)


@inner
def _settle_row(
    state: TopicComponents,
    wants: Wants,
    pairs: Pairs,
    u: int,
    level: int,
    scratch: WantScratch,
    ticks: Ticks,
) -> None:
    """Take every edge of a row that contributes `level` at its turn."""
    first = pairs.firsts[u]
    words = row_words(pairs.store, pairs.starts, u)
    row = words.view(np.uint8)
    known = int64(0)
    count = find_pairs(words, state.loose[first:], state.loose[u], stored(level), scratch.found)
    write_own(state, wants, u, scratch)
    for i in scratch.found[:count]:
        v = int64(first + i)
        gain = int64(0)
        if wants.degrees[u] < wants.caps[u] and wants.degrees[v] < wants.caps[v]:
            gain = contribution(state, wants, v, scratch)
        if gain == level:
            pairs.edges[pairs.counts[TAKEN], 0] = u
            pairs.edges[pairs.counts[TAKEN], 1] = v
            pairs.counts[TAKEN] += 1
            ticks[DONE] += link_nodes(state, wants, u, v)
            write_own(state, wants, u, scratch)
            gain = int64(0)
        known = max(known, gain)
        row[i] = stored(gain)
    clear_own(state, u, scratch)
    pairs.counts[EXAMINED] += count
    pairs.tops[u] = min(_most_of(row_top(words, int64(CAP)), known), level - 1)
    if wants.degrees[u] >= wants.caps[u]:
        pairs.tops[u] = 0


@kernel
def rule_out(pairs: Pairs, links: Ids) -> None:
    """Set the bounds of `links`, which must not be taken again, to zero."""
    for e in range(len(links)):
        u, v = int64(links[e, 0]), int64(links[e, 1])
        if v >= pairs.firsts[u]:
            row_words(pairs.store, pairs.starts, u).view(np.uint8)[v - pairs.firsts[u]] = 0


@kernel
def refresh_wanting_rows(
    state: TopicComponents,
    wants: Wants,
    columns: Columns,
    pairs: Pairs,
    rows: Offsets,
    level: int,
    scratch: WantScratch,
    ticks: Ticks,
) -> int:
    """Bring down the bounds of `rows`, the state staying as it is; count the pairs examined."""
    examined = 0
    for u in rows:
        if ticks[CANCEL]:
            break
        examined += _refresh_row(state, wants, columns, pairs, u, level, scratch)
    return examined


@kernel
def settle_wanting_rows(
    state: TopicComponents,
    wants: Wants,
    pairs: Pairs,
    rows: Offsets,
    level: int,
    scratch: WantScratch,
    ticks: Ticks,
) -> None:
    """Take every edge of `rows` that contributes `level`, the greatest there is, at its turn."""
    for u in rows:
        if ticks[CANCEL]:
            return
        if pairs.tops[u] >= level:
            _settle_row(state, wants, pairs, u, level, scratch, ticks)


@kernel
def take_light_levels(
    state: TopicComponents,
    wants: Wants,
    columns: Columns,
    pairs: Pairs,
    heavy: int,
    scratch: WantScratch,
    ticks: Ticks,
) -> int:
    """Take edges, the greatest contributions first, until a level has `heavy` pairs in its rows; return it.

    0 is returned when none contributes, or the caps allow none.
    """
    nodes = len(pairs.tops)
    while nodes and not ticks[CANCEL]:
        level = int64(greatest(pairs.tops))
        if level <= 0:
            break
        if level_work(pairs.tops, pairs.firsts, level) >= heavy:
            return level
        for u in range(nodes):
            if ticks[CANCEL]:
                return 0
            if pairs.tops[u] >= level:
                pairs.counts[EXAMINED] += _refresh_row(state, wants, columns, pairs, u, level, scratch)
            if pairs.tops[u] >= level:
                _settle_row(state, wants, pairs, u, level, scratch, ticks)
    return 0
