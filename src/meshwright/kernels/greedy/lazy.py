"""The lazy greedy: take the edge of greatest contribution, again and again, without looking at every pair.

A contribution only falls as edges are taken, so what was once computed for a pair stays an upper bound.
Pairs are looked at by *levels*: at level c no pair contributes more than c, one pass over the pairs in a
fixed order takes those that contribute exactly c at their turn, and after the pass none is left that does.
Only pairs whose bound reaches the level are looked at, and most are put off again by a better bound.

Pairs stand in rows: row u holds the pairs (u, v) from v = `firsts[u]` > u on. Two numbers bound a pair: the
one kept in the *store* (one byte per pair; it may be left out), and the weight of both nodes' topics outside
the marked components. `tops` bounds all pairs of a row. Refreshing bounds only reads the component state,
settling a row (taking edges) changes it: refreshing may run on several threads, settling on one. What is
taken depends on exact contributions in the fixed order alone, so neither threads nor the store change it.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.bits import popcount, trailing_zeros
from meshwright.kernels.core.topic_components import (
    NONE,
    TopicComponents,
    clear_own_names,
    take_edge,
    unite,
    write_own_names,
)
from meshwright.kernels.core.totals import greatest
from meshwright.runtime.arrays import Bytes, Ids, Longs, Offsets, Ticks, Words, int64
from meshwright.runtime.progress import CANCEL, DONE

TAKEN, EXAMINED = 0, 1
"""Where `counts` of pairs has the edges taken and the pairs examined."""

CAP = 127
"""The greatest bound in the store, which stands for this much or more."""

_EACH_BYTE = np.uint64(0x0101010101010101)
_HIGH_BITS = np.uint64(0x8080808080808080)
_TOGETHER = np.uint64(0x0102040810204080)
_WORDS_A_BLOCK = 8


class Pairs(NamedTuple):
    """What is known of the pairs, and the edges taken so far."""

    firsts: Offsets  # by row: the first node to pair with
    store: Words  # one byte per pair, each row padded with zeros to 64; empty when left out
    starts: Offsets  # by row: its first word in the store
    tops: Ids  # by row: no pair of the row contributes more
    edges: npt.NDArray[np.int32]  # (m, 2), in the order in which they were taken
    counts: Offsets  # by TAKEN and EXAMINED


class Scratch(NamedTuple):
    """Room that one thread works in."""

    gains: Ids  # by node
    found: Ids  # by node
    own: Ids  # by topic


@kernel
def start_rows(state: TopicComponents, pairs: Pairs) -> None:
    """Bound every pair by the weight of all topics of its row's own node."""
    nodes = len(state.indptr) - 1
    totals = np.zeros(nodes, np.int32)
    most = np.zeros(nodes + 1, np.int32)
    for u in range(nodes - 1, -1, -1):
        for i in range(state.indptr[u], state.indptr[u + 1]):
            totals[u] += state.weights[state.topic_ids[i]]
        most[u] = max(totals[u], most[u + 1])
    for u in range(nodes):
        pairs.tops[u] = min(totals[u], most[pairs.firsts[u]])
        if len(pairs.store):
            row = row_words(pairs.store, pairs.starts, u).view(np.uint8)
            # Read before the loop, which otherwise reads it again for each byte, since arrays may overlap.
            bound, count = min(totals[u], CAP), nodes - pairs.firsts[u]
            for i in range(count):
                row[i] = bound


@inner
def row_words(store: Words, starts: Offsets, u: int) -> Words:
    """The bounds of a row, eight a word, as a view."""
    return store[starts[u] : starts[u + 1]]


@inner
def row_top(words: Words, known: int) -> int:
    """The bound of a row; `known` is the greatest gain among its pairs that are at the cap.

    The loop is such that it compiles to vector instructions.
    """
    row = words.view(np.uint8)
    top = np.uint8(0)
    for i in range(len(row)):
        top = max(top, row[i])
    if top < CAP:
        known = int64(top)
    return known


@inner
def reaches(words: Words, start: int, lift: np.uint64) -> bool:
    """Whether any of 64 bounds reaches the threshold that is 128 - `lift`; in most blocks none does."""
    either = np.uint64(0)
    for at in range(8):
        either |= words[start + at] + lift * _EACH_BYTE
    return bool(either & _HIGH_BITS)


@inner
def reaching_bits(words: Words, start: int, lift: np.uint64) -> np.uint64:
    """One bit for each of 64 bounds, set where it reaches the threshold that is 128 - `lift`.

    Eight bytes are compared by one addition: none is over 127, so none carries into the next. A
    multiplication brings their high bits together.
    """
    reaching = np.uint64(0)
    for at in range(8):
        high = ((words[start + at] + lift * _EACH_BYTE) & _HIGH_BITS) >> np.uint64(7)
        reaching |= ((high * _TOGETHER) >> np.uint64(56)) << np.uint64(8 * at)
    return reaching


@inner
def find_pairs(words: Words, loose: Ids, own_loose: int, threshold: int, found: Ids) -> int:
    """Write the places of the bounds that reach the threshold into `found`; return how many there are.

    A bound that the loose weight of both nodes already puts under the threshold is brought down here.
    """
    row = words.view(np.uint8)
    count, lift = 0, np.uint64(128 - threshold)
    for start in range(0, len(words), _WORDS_A_BLOCK):
        if not reaches(words, start, lift):
            continue
        reaching = reaching_bits(words, start, lift)
        while reaching:
            i = (start << 3) + trailing_zeros(reaching)
            reaching &= reaching - np.uint64(1)
            rest = own_loose + loose[i]
            row[i] = min(row[i], rest)
            found[count] = i
            count += rest >= threshold
    return count


@inner
def _find_gains(gains: Ids, level: int, found: Ids) -> int:
    """Write the places of the gains that reach the level into `found`; return how many there are."""
    count = 0
    for i in range(len(gains)):
        if gains[i] >= level:
            found[count] = i
            count += 1
    return count


@inner
def row_work(state: TopicComponents, u: int) -> int:
    """How many slots `row_contributions` would read."""
    work = 0
    for i in range(state.indptr[u], state.indptr[u + 1]):
        topic = state.topic_ids[i]
        if state.counts[topic] > 1:
            if state.names[state.slots[i]] == state.marked[topic]:
                work += state.listed[topic]
            else:
                work += state.topic_indptr[topic + 1] - state.slots[i]
    return work


@inner
def row_contributions(state: TopicComponents, weights: Ids | Longs, u: int, gains: Ids | Longs) -> None:
    """The exact contributions of the pairs of `u` with all later nodes, by walking the topics of `u`."""
    # Slices here and below: loops over indices, which might be negative, take a tenth of a build longer.
    gains[u + 1 :] = 0
    for i in range(state.indptr[u], state.indptr[u + 1]):
        topic = state.topic_ids[i]
        if state.counts[topic] < 2:
            continue
        slot = state.slots[i]
        name, weight = state.names[slot], weights[topic]
        if name == state.marked[topic]:
            start = state.topic_indptr[topic]
            for other in state.loose_slots[start : start + state.listed[topic]]:
                gains[state.slot_nodes[other]] += weight * (state.names[other] != name)
        else:
            for other in range(slot + 1, state.topic_indptr[topic + 1]):
                gains[state.slot_nodes[other]] += weight * (state.names[other] != name)


@inner
def lower_bounds(row: Bytes, gains: Ids) -> None:
    """Bring down all bounds of a row to its gains; one that was set to zero stays, so it is never taken."""
    for i in range(len(gains)):
        bound = np.int32(row[i])
        row[i] = bound if bound < gains[i] else gains[i]


@inner
def refresh_by_bits(bits: Words, u: int, first: int, found: Ids, row: Bytes) -> int:
    """Bound each pair found by its common topics in which not both nodes are marked; return the greatest."""
    words = bits.shape[1] >> 1
    topics_u, loose_u = bits[u, :words], bits[u, words:]
    known = 0
    for i in found:
        topics_v, loose_v = bits[first + i, :words], bits[first + i, words:]
        bound = 0
        for w in range(words):
            bound += popcount((topics_u[w] & loose_v[w]) | (loose_u[w] & topics_v[w]))
        row[i] = min(bound, CAP)
        known = max(known, bound)
    return known


@inner
def contributions(state: TopicComponents, own: Ids, first: int, found: Ids, gains: Ids) -> None:
    """For each pair found, the weight of the topics in which its edge would join two components.

    `own` holds the components of the one end; the other is `first` + what was found.
    """
    indptr, topic_ids, slots, names = state.indptr, state.topic_ids, state.slots, state.names
    for k in range(len(found)):
        v = first + found[k]
        gain = 0
        for i in range(indptr[v], indptr[v + 1]):
            name = own[topic_ids[i]]
            if name != NONE and name != names[slots[i]]:
                gain += state.weights[topic_ids[i]]
        gains[k] = gain


@inner
def _refresh_by_lists(
    state: TopicComponents, u: int, first: int, found: Ids, row: Bytes, scratch: Scratch
) -> int:
    """Give each pair found its exact contribution; return the greatest."""
    write_own_names(state, u, scratch.own)
    contributions(state, scratch.own, first, found, scratch.gains)
    clear_own_names(state, u, scratch.own)
    known = 0
    for k in range(len(found)):
        row[found[k]] = min(scratch.gains[k], CAP)
        known = max(known, scratch.gains[k])
    return known


@inner
def refresh_found(
    state: TopicComponents, words: Words, u: int, first: int, count: int, scratch: Scratch
) -> int:
    """Bring down the bounds of the pairs found, by the cheaper of two ways; return the greatest gain seen."""
    row, gains = words.view(np.uint8), scratch.gains
    # Reading a slot costs about as much as a word of a bitset, or as an interest in a list (measured).
    own_topics = state.indptr[u + 1] - state.indptr[u]
    pair_work = count * ((state.bits.shape[1] >> 1) or own_topics)
    known = 0
    if own_topics < pair_work and row_work(state, u) < pair_work:
        row_contributions(state, state.weights, u, gains)
        lower_bounds(row, gains[first:])
        if own_topics >= CAP:
            known = greatest(gains[first:])
    elif state.bits.shape[1]:
        known = refresh_by_bits(state.bits, u, first, scratch.found[:count], row)
    else:
        known = _refresh_by_lists(state, u, first, scratch.found[:count], row, scratch)
    return known


@inner
def _refresh_row(state: TopicComponents, pairs: Pairs, u: int, level: int, scratch: Scratch) -> int:
    """Bring down the bounds of a row that reach the level; count them."""
    first = pairs.firsts[u]
    gains = scratch.gains
    if not len(pairs.store):
        row_contributions(state, state.weights, u, gains)
        known = 0
        for v in range(first, len(gains)):
            known = max(known, gains[v])
        pairs.tops[u] = known
        return len(gains) - first
    words = row_words(pairs.store, pairs.starts, u)
    # A little under the level, or the row comes again at each of the next ones (measured: 40% fewer visits).
    threshold = max(1, min(level, CAP) - level // 8)
    count = find_pairs(words, state.loose[first:], state.loose[u], threshold, scratch.found)
    known = refresh_found(state, words, u, first, count, scratch)
    pairs.tops[u] = row_top(words, known)
    return count


@kernel
def refresh_rows(
    state: TopicComponents, pairs: Pairs, rows: Offsets, level: int, scratch: Scratch, ticks: Ticks
) -> int:
    """Bring down the bounds of `rows`, the component state staying as it is; count the pairs examined."""
    examined = 0
    for u in rows:
        if ticks[CANCEL]:
            break
        examined += _refresh_row(state, pairs, u, level, scratch)
    return examined


@kernel
def take(state: TopicComponents, pairs: Pairs, u: int, v: int, ticks: Ticks) -> None:
    """Note an edge as taken, and unite what it connects."""
    pairs.edges[pairs.counts[TAKEN], 0] = u
    pairs.edges[pairs.counts[TAKEN], 1] = v
    pairs.counts[TAKEN] += 1
    ticks[DONE] += take_edge(state, u, v)


@inner
def _settle_row(
    state: TopicComponents, pairs: Pairs, u: int, level: int, scratch: Scratch, ticks: Ticks
) -> None:
    """Take every edge of a row that contributes `level` at its turn."""
    first = pairs.firsts[u]
    words = row_words(pairs.store, pairs.starts, u) if len(pairs.store) else pairs.store
    row = words.view(np.uint8)
    known = int64(0)
    if len(row):
        count = find_pairs(words, state.loose[first:], state.loose[u], min(level, CAP), scratch.found)
    else:
        row_contributions(state, state.weights, u, scratch.gains)
        count = _find_gains(scratch.gains[first:], level, scratch.found)
        for v in range(first, len(scratch.gains)):
            known = max(known, min(scratch.gains[v], level - 1))
    write_own_names(state, u, scratch.own)
    for k in range(count):
        i = scratch.found[k]
        contributions(state, scratch.own, first, scratch.found[k : k + 1], scratch.gains)
        gain = scratch.gains[0]
        if gain == level:
            take(state, pairs, u, first + i, ticks)
            write_own_names(state, u, scratch.own)
            gain = 0
        known = max(known, gain)
        if len(row):
            row[i] = min(gain, CAP)
    clear_own_names(state, u, scratch.own)
    pairs.counts[EXAMINED] += count
    pairs.tops[u] = row_top(words, known) if len(row) else known


@kernel
def settle_rows(
    state: TopicComponents, pairs: Pairs, rows: Offsets, level: int, scratch: Scratch, ticks: Ticks
) -> None:
    """Take every edge of `rows` that contributes `level`, the greatest there is, at its turn."""
    for u in rows:
        if ticks[CANCEL]:
            return
        if pairs.tops[u] >= level:
            _settle_row(state, pairs, u, level, scratch, ticks)


@inner
def level_work(tops: Ids, firsts: Offsets, level: int) -> int:
    """How many pairs are in the rows that reach a level."""
    work = 0
    for u in range(len(tops)):
        if tops[u] >= level:
            work += len(tops) - firsts[u]
    return work


@kernel
def settle_light_levels(
    state: TopicComponents, pairs: Pairs, floor: int, heavy: int, scratch: Scratch, ticks: Ticks
) -> int:
    """Go down the levels above `floor` on this thread until one has `heavy` pairs in its rows; return it.

    The `floor` itself is returned when nothing above it is left.
    """
    nodes = len(pairs.tops)
    while nodes and not ticks[CANCEL]:
        level = greatest(pairs.tops)
        if level <= floor:
            break
        if level_work(pairs.tops, pairs.firsts, level) >= heavy:
            return level
        for u in range(nodes):
            if ticks[CANCEL]:
                return floor
            if pairs.tops[u] >= level:
                pairs.counts[EXAMINED] += _refresh_row(state, pairs, u, level, scratch)
            if pairs.tops[u] >= level:
                _settle_row(state, pairs, u, level, scratch, ticks)
    return floor


@inner
def finish_topic(state: TopicComponents, topic: int, firsts: Offsets, edges: Ids, counts: Offsets) -> int:
    """Take edges of a topic, in the order of the pairs, until none joins components; count the unions.

    No pair that contributes by this topic may gain from another: then what is taken for it changes nothing
    for others. A subscriber is passed over when an earlier one of the same component had the same pairs
    before it: that leaves one walk over the topic for each component that its part still has.
    """
    united = 0
    end = state.topic_indptr[topic + 1]
    done_name, done_first = NONE, NONE
    for slot in range(state.topic_indptr[topic], end):
        if state.counts[topic] < 2:
            break
        u = state.slot_nodes[slot]
        if state.names[slot] == done_name and firsts[u] == done_first:
            continue
        for other in range(slot + 1, end):
            v = state.slot_nodes[other]
            if v >= firsts[u] and state.names[other] != state.names[slot]:
                edges[counts[TAKEN], 0], edges[counts[TAKEN], 1] = u, v
                counts[TAKEN] += 1
                unite(state, topic, state.names[other], state.names[slot])
                united += 1
        done_name, done_first = state.names[slot], firsts[u]
    return united


@kernel
def settle_last_level(state: TopicComponents, pairs: Pairs, level: int, ticks: Ticks) -> None:
    """Take all edges of the last level, at which no pair gains from more than one topic."""
    for topic in range(len(state.counts)):
        if ticks[CANCEL]:
            return
        if state.weights[topic] == level:
            ticks[DONE] += finish_topic(state, topic, pairs.firsts, pairs.edges, pairs.counts)
