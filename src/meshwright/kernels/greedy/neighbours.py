"""The lazy greedy of resilient overlays: every subscriber wants so many neighbours in each of its topics.

In a topic that the failure of no node cuts, every subscriber has two neighbours. So an edge contributes, for
each topic that its ends share, one if it joins two components, and one for each end that wants another
neighbour there. Like a plain contribution, this only falls as edges are taken, so levels and the store of
bounds are those of `kernels/greedy/lazy.py`. An edge that is taken may still contribute, so its bound is set
to zero, and none is taken twice.

What is left when no edge contributes is connected, and few of its topics have a cut node (measured: of 300
topics, 62 blocks too many, where Greedy Merge leaves 29,000).
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.bits import popcount
from meshwright.kernels.core.topic_components import NONE, TopicComponents, unite
from meshwright.kernels.core.totals import greatest
from meshwright.kernels.greedy.bounds import (
    CAP,
    EXAMINED,
    TAKEN,
    Pairs,
    find_pairs,
    lower_bounds,
    row_top,
    row_words,
)
from meshwright.kernels.greedy.lazy import level_work
from meshwright.runtime.arrays import Bytes, Ids, Longs, Offsets, Ticks, Words, int64
from meshwright.runtime.progress import CANCEL, DONE


class Wants(NamedTuple):
    """The neighbours that subscribers want. `loose` of the components counts the topics of wants as well."""

    wanted: Ids  # by slot: how many more
    bits: Words  # by node: the topics in which it wants some; none in the sparse form
    slots: Ids  # by topic, from its first slot on: the slots that want some, and at most as many others
    listed: Ids  # by topic: how many `slots` lists
    counts: Ids  # by topic: how many of them want some
    degrees: Longs  # by node
    caps: Longs  # by node: the most links that it may have


class WantScratch(NamedTuple):
    """Room to work in."""

    gains: Ids  # by node
    found: Ids  # by node
    names: Ids  # by topic: the component of one node, or NONE
    wants: Ids  # by topic: whether that node wants neighbours


@kernel
def start_wants(state: TopicComponents, wants: Wants) -> None:
    """Fill in what follows from `wanted`, and count it in `loose`. O(interests)."""
    for topic in range(len(state.counts)):
        first = state.topic_indptr[topic]
        wants.counts[topic] = 0
        for slot in range(first, state.topic_indptr[topic + 1]):
            if wants.wanted[slot] > 0:
                node = state.slot_nodes[slot]
                wants.slots[first + wants.counts[topic]] = slot
                wants.counts[topic] += 1
                state.loose[node] += 1
                if topic >> 6 < wants.bits.shape[1]:
                    wants.bits[node, topic >> 6] |= np.uint64(1) << np.uint64(topic & 63)
        wants.listed[topic] = wants.counts[topic]


@kernel
def start_want_rows(state: TopicComponents, pairs: Pairs) -> None:
    """Bound every pair by what both nodes' topics could contribute: three for each of the fewer."""
    nodes = len(state.indptr) - 1
    most = np.zeros(nodes + 1, np.int32)
    for u in range(nodes - 1, -1, -1):
        most[u] = max(most[u + 1], state.indptr[u + 1] - state.indptr[u])
    for u in range(nodes):
        bound = 3 * min(int64(state.indptr[u + 1] - state.indptr[u]), int64(most[pairs.firsts[u]]))
        pairs.tops[u] = bound
        row = row_words(pairs.store, pairs.starts, u).view(np.uint8)
        count = nodes - pairs.firsts[u]
        for i in range(count):
            row[i] = min(bound, CAP)


@inner
def _satisfy(state: TopicComponents, wants: Wants, topic: int, slot: int) -> int:
    """Give a slot a neighbour; 1 if it wanted one."""
    if wants.wanted[slot] <= 0:
        return 0
    wants.wanted[slot] -= 1
    if wants.wanted[slot] == 0:
        node = state.slot_nodes[slot]
        state.loose[node] -= 1
        if topic >> 6 < wants.bits.shape[1]:
            wants.bits[node, topic >> 6] &= ~(np.uint64(1) << np.uint64(topic & 63))
        wants.counts[topic] -= 1
        if 2 * wants.counts[topic] < wants.listed[topic]:
            first, kept = state.topic_indptr[topic], 0
            for place in range(first, first + wants.listed[topic]):
                if wants.wanted[wants.slots[place]] > 0:
                    wants.slots[first + kept] = wants.slots[place]
                    kept += 1
            wants.listed[topic] = kept
    return 1


@inner
def link_nodes(state: TopicComponents, wants: Wants, u: int, v: int) -> int:
    """Make a link: unite components and satisfy wants in all common topics; what it contributed."""
    i, i_end = state.indptr[u], state.indptr[u + 1]
    j, j_end = state.indptr[v], state.indptr[v + 1]
    gain = 0
    while i < i_end and j < j_end:
        topic, other = state.topic_ids[i], state.topic_ids[j]
        if topic == other:
            a, b = state.slots[i], state.slots[j]
            if state.names[a] != state.names[b]:
                unite(state, topic, state.names[a], state.names[b])
                gain += 1
            gain += _satisfy(state, wants, topic, a) + _satisfy(state, wants, topic, b)
        i += topic <= other
        j += other <= topic
    wants.degrees[u] += 1
    wants.degrees[v] += 1
    return gain


@inner
def _write_own(state: TopicComponents, wants: Wants, u: int, scratch: WantScratch) -> None:
    for i in range(state.indptr[u], state.indptr[u + 1]):
        slot = state.slots[i]
        scratch.names[state.topic_ids[i]] = state.names[slot]
        scratch.wants[state.topic_ids[i]] = wants.wanted[slot] > 0


@inner
def _clear_own(state: TopicComponents, u: int, scratch: WantScratch) -> None:
    for i in range(state.indptr[u], state.indptr[u + 1]):
        scratch.names[state.topic_ids[i]] = NONE


@inner
def _contribution(state: TopicComponents, wants: Wants, v: int, scratch: WantScratch) -> int:
    """What a link between `v` and the node that `scratch` knows would contribute."""
    gain = 0
    for i in range(state.indptr[v], state.indptr[v + 1]):
        topic = state.topic_ids[i]
        name = scratch.names[topic]
        if name != NONE:
            slot = state.slots[i]
            gain += (name != state.names[slot]) + scratch.wants[topic] + (wants.wanted[slot] > 0)
    return gain


@inner
def _is_idle(state: TopicComponents, wants: Wants, topic: int, slot: int) -> bool:
    """Whether a link of a slot contributes by what others lack alone."""
    return state.names[slot] == state.marked[topic] and wants.wanted[slot] <= 0


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


@inner
def _refresh_by_bits(bits: Words, wanting: Words, u: int, first: int, found: Ids, row: Bytes) -> int:
    """Bound each pair found by bitsets; return the greatest bound."""
    words = bits.shape[1] >> 1
    topics_u, loose_u, wanting_u = bits[u, :words], bits[u, words:], wanting[u]
    known = 0
    for i in found:
        topics_v, loose_v, wanting_v = bits[first + i, :words], bits[first + i, words:], wanting[first + i]
        bound = 0
        for w in range(words):
            bound += (
                popcount((topics_u[w] & loose_v[w]) | (loose_u[w] & topics_v[w]))
                + popcount(topics_u[w] & wanting_v[w])
                + popcount(wanting_u[w] & topics_v[w])
            )
        row[i] = min(bound, CAP)
        known = max(known, bound)
    return known


@inner
def _refresh_by_lists(
    state: TopicComponents, wants: Wants, u: int, first: int, count: int, row: Bytes, scratch: WantScratch
) -> int:
    """Give each pair found its exact contribution; return the greatest."""
    _write_own(state, wants, u, scratch)
    known = int64(0)
    for i in scratch.found[:count]:
        gain = _contribution(state, wants, int64(first + i), scratch)
        row[i] = min(gain, CAP)
        known = max(known, gain)
    _clear_own(state, u, scratch)
    return known


@inner
def _refresh_row(
    state: TopicComponents, wants: Wants, pairs: Pairs, u: int, level: int, scratch: WantScratch
) -> int:
    """Bring down the bounds of a row that reach the level; count them."""
    first = pairs.firsts[u]
    words = row_words(pairs.store, pairs.starts, u)
    row = words.view(np.uint8)
    threshold = max(1, min(level, CAP) - level // 8)
    count = find_pairs(words, state.loose[first:], state.loose[u], threshold, scratch.found)
    own_topics = state.indptr[u + 1] - state.indptr[u]
    pair_work = count * ((state.bits.shape[1] >> 1) or own_topics)
    if own_topics < pair_work and _row_work(state, wants, u) < pair_work:
        _row_gains(state, wants, u, scratch.gains)
        lower_bounds(row, scratch.gains[first:])
        known = int64(greatest(scratch.gains[first:])) if 3 * own_topics >= CAP else int64(0)
    elif state.bits.shape[1]:
        known = int64(_refresh_by_bits(state.bits, wants.bits, u, first, scratch.found[:count], row))
    else:
        known = _refresh_by_lists(state, wants, u, first, count, row, scratch)
    pairs.tops[u] = row_top(words, known)
    return count


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
    count = find_pairs(words, state.loose[first:], state.loose[u], min(level, CAP), scratch.found)
    _write_own(state, wants, u, scratch)
    for i in scratch.found[:count]:
        v = int64(first + i)
        gain = int64(0)
        if wants.degrees[u] < wants.caps[u] and wants.degrees[v] < wants.caps[v]:
            gain = _contribution(state, wants, v, scratch)
        if gain == level:
            pairs.edges[pairs.counts[TAKEN], 0] = u
            pairs.edges[pairs.counts[TAKEN], 1] = v
            pairs.counts[TAKEN] += 1
            ticks[DONE] += link_nodes(state, wants, u, v)
            _write_own(state, wants, u, scratch)
            gain = int64(0)
        known = max(known, gain)
        row[i] = min(gain, CAP)
    _clear_own(state, u, scratch)
    pairs.counts[EXAMINED] += count
    pairs.tops[u] = row_top(words, known)
    if wants.degrees[u] >= wants.caps[u]:
        pairs.tops[u] = 0


@kernel
def take_links(state: TopicComponents, wants: Wants, pairs: Pairs, links: Ids, ticks: Ticks) -> None:
    """Take all `links`, the lower end first, whatever they contribute and the caps say."""
    for e in range(len(links)):
        u, v = int64(links[e, 0]), int64(links[e, 1])
        ticks[DONE] += link_nodes(state, wants, u, v)
        if v >= pairs.firsts[u]:
            row_words(pairs.store, pairs.starts, u).view(np.uint8)[v - pairs.firsts[u]] = 0


@kernel
def refresh_wanting_rows(
    state: TopicComponents,
    wants: Wants,
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
        examined += _refresh_row(state, wants, pairs, u, level, scratch)
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
    state: TopicComponents, wants: Wants, pairs: Pairs, heavy: int, scratch: WantScratch, ticks: Ticks
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
                pairs.counts[EXAMINED] += _refresh_row(state, wants, pairs, u, level, scratch)
            if pairs.tops[u] >= level:
                _settle_row(state, wants, pairs, u, level, scratch, ticks)
    return 0
