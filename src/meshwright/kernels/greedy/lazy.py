"""The lazy greedy: take the edge of greatest contribution, again and again, without looking at every pair.

A contribution only falls as edges are taken, so what was once computed for a pair stays an upper bound
(`kernels/greedy/bounds.py`). Pairs are looked at by *levels*: at level c no pair contributes more than c, one
pass over the pairs in a fixed order takes those that contribute exactly c at their turn, and after the pass
none is left that does. Only pairs whose bound reaches the level are looked at.

A row is first *refreshed*: its bounds are brought down, and those that still reach the level are its *ready*
pairs. That only reads the component state, so several threads may do it for many rows. Then the row is
*settled*, on one thread: every ready pair is looked at once more, and taken if it contributes c now. What is
taken depends on exact contributions in the fixed order alone, so neither threads nor the store change it.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import lean, lean_kernel
from meshwright.kernels.core.topic_components import (
    NONE,
    TopicComponents,
    clear_own_names,
    find_gaining,
    prefetch_interests,
    take_edge,
    unite,
    unite_gaining,
    write_own_names,
)
from meshwright.kernels.core.totals import greatest
from meshwright.kernels.greedy.bounds import (
    CAP,
    EXAMINED,
    TAKEN,
    Pairs,
    Scratch,
    contributions,
    fill_rests,
    find_in_blocks,
    lower_blocks,
    refresh_found,
    rest_top,
    row_blocks,
    row_contributions,
    row_words,
)
from meshwright.runtime.arrays import Bytes, Ids, Offsets, Ticks, int64
from meshwright.runtime.progress import CANCEL, DONE

TOO_MANY = -1
"""For a row whose ready pairs did not fit."""


class Ready(NamedTuple):
    """The pairs that contribute as much as the level, found by several threads."""

    places: Ids  # row after row, each thread in a part of its own
    starts: Offsets  # by row
    counts: Ids  # by row; TOO_MANY where they did not fit


@lean
def _find_ready_gains(pairs: Pairs, u: int, level: int, scratch: Scratch) -> int:
    """As `_find_ready`, of the exact contributions of the row."""
    known, count = 0, 0
    gains = scratch.gains[pairs.firsts[u] :]
    for i in range(len(gains)):
        if gains[i] == level:
            scratch.found[count] = i
            count += 1
        else:
            known = max(known, gains[i])
    pairs.tops[u] = known
    return count


@lean
def _find_ready(
    state: TopicComponents, pairs: Pairs, u: int, level: int, scratch: Scratch
) -> tuple[int, int]:
    """Bring down the bounds of a row that reach the level; find the pairs that may contribute as much.

    `rests` of the scratch has to be filled in the present state.
    Their places are in `found`, and `tops` bounds the others of the row. Bounds are almost exact in the
    present state, so few pairs are found in vain. Returns how many there are, and how many were looked at.
    """
    first, found, gains = pairs.firsts[u], scratch.found, scratch.gains
    if not len(pairs.store):
        row_contributions(state, state.weights, u, gains)
        return _find_ready_gains(pairs, u, level, scratch), len(gains) - first
    words, blocks = row_words(pairs.store, pairs.starts, u), row_blocks(pairs.blocks, pairs.starts, u)
    row, limit = words.view(np.uint8), min(level, CAP)
    rests, own_rest = scratch.rests[first:], scratch.rests[u]
    # A little under the level, or the row comes again at each of the next ones (measured: 40% fewer visits).
    threshold = max(1, limit - level // 8)
    looked = find_in_blocks(words, blocks, rests, own_rest, threshold, found)
    if looked:
        refresh_found(state, words, u, first, looked, scratch)
    count, known = 0, int64(0)
    for k in range(looked):
        found[count] = found[k]
        count += row[found[k]] >= limit
    lower_blocks(row, blocks, threshold, limit)
    if count and level >= CAP:
        count, known = _keep_level(state, u, first, level, row, blocks, count, scratch)
    pairs.tops[u] = max(known, rest_top(blocks, limit))
    return count, looked


@lean
def _keep_level(
    state: TopicComponents,
    u: int,
    first: int,
    level: int,
    row: Bytes,
    blocks: Bytes,
    count: int,
    scratch: Scratch,
) -> tuple[int, int]:
    """Keep the first `count` pairs found that contribute `level`; return how many, and the most of others."""
    found, gains, kept, known = scratch.found, scratch.gains, 0, int64(0)
    write_own_names(state, u, scratch.own)
    contributions(state, state.weights, scratch.own, first, found[:count], gains)
    clear_own_names(state, u, scratch.own)
    for k in range(count):
        row[found[k]] = min(gains[k], CAP)
        if gains[k] < level:
            blocks[found[k] >> 6] = max(blocks[found[k] >> 6], row[found[k]])
        found[kept] = found[k]
        kept += gains[k] == level
        known = max(known, int64(gains[k] if gains[k] < level else 0))
    return kept, known


@lean
def put_back(pairs: Pairs, u: int, ready: Ids) -> None:
    """Count the `ready` pairs of a row among those of its blocks again."""
    if len(pairs.store):
        row = row_words(pairs.store, pairs.starts, u).view(np.uint8)
        blocks = row_blocks(pairs.blocks, pairs.starts, u)
        for i in ready:
            blocks[i >> 6] = max(blocks[i >> 6], row[i])


@lean_kernel
def refresh_rows(
    state: TopicComponents,
    pairs: Pairs,
    rows: Offsets,
    level: int,
    scratch: Scratch,
    ready: Ready,
    part: Offsets,
    ticks: Ticks,
) -> int:
    """Find the pairs of `rows` that contribute `level`, the component state staying as it is.

    They are written into a part of `ready.places`, [from, to]. Returns how many pairs were looked at.
    """
    examined, free = 0, part[0]
    fill_rests(state.loose, scratch.rests)
    for u in rows:
        if ticks[CANCEL]:
            break
        count, looked = _find_ready(state, pairs, u, level, scratch)
        examined += looked
        ready.starts[u], ready.counts[u] = free, count
        if free + count > part[1]:
            ready.counts[u] = TOO_MANY
            put_back(pairs, u, scratch.found[:count])
            continue
        for k in range(count):
            ready.places[free + k] = scratch.found[k]
        free += count
    return examined


@lean_kernel
def take(state: TopicComponents, pairs: Pairs, u: int, v: int, ticks: Ticks) -> None:
    """Note an edge as taken, and unite what it connects."""
    _note(pairs, u, v)
    ticks[DONE] += take_edge(state, u, v)


@lean
def _note(pairs: Pairs, u: int, v: int) -> None:
    taken = pairs.counts[TAKEN]
    pairs.edges[taken, 0], pairs.edges[taken, 1] = u, v
    pairs.counts[TAKEN] = taken + 1


@lean
def _take_ready(
    state: TopicComponents, pairs: Pairs, u: int, level: int, ready: Ids, scratch: Scratch, ticks: Ticks
) -> None:
    """Take every edge of the `ready` ones of a row that contributes `level` at its turn."""
    first, own, known = pairs.firsts[u], scratch.own, int64(pairs.tops[u])
    words = row_words(pairs.store, pairs.starts, u) if len(pairs.store) else pairs.store
    row, blocks = words.view(np.uint8), row_blocks(pairs.blocks, pairs.starts, u)
    write_own_names(state, u, own)
    for k in range(len(ready)):
        if k + 1 < len(ready):
            prefetch_interests(state, first + ready[k + 1])
        v = first + ready[k]
        count = find_gaining(state, own, v)
        gain = int64(0)
        for at in range(count):
            gain += state.weights[state.gaining[0, at]]
        if gain == level:
            _note(pairs, u, v)
            unite_gaining(state, count, own)
            ticks[DONE] += count
            gain = int64(0)
        known = max(known, gain)
        if len(row):
            row[ready[k]] = min(gain, CAP)
            blocks[ready[k] >> 6] = max(blocks[ready[k] >> 6], row[ready[k]])
    clear_own_names(state, u, own)
    pairs.counts[EXAMINED] += len(ready)
    pairs.tops[u] = known


@lean_kernel
def settle_rows(
    state: TopicComponents,
    pairs: Pairs,
    rows: Offsets,
    level: int,
    scratch: Scratch,
    ready: Ready,
    ticks: Ticks,
) -> None:
    """Take every edge of `rows` that contributes `level`, the greatest there is, at its turn."""
    for u in rows:
        if ticks[CANCEL]:
            return
        count, start = ready.counts[u], ready.starts[u]
        if count > 0:
            _take_ready(state, pairs, u, level, ready.places[start : start + count], scratch, ticks)
        elif count == TOO_MANY:
            _settle_row(state, pairs, u, level, scratch, ticks)


@lean
def _settle_row(
    state: TopicComponents, pairs: Pairs, u: int, level: int, scratch: Scratch, ticks: Ticks
) -> None:
    """Take every edge of a row that contributes `level` at its turn."""
    fill_rests(state.loose, scratch.rests)
    count, looked = _find_ready(state, pairs, u, level, scratch)
    pairs.counts[EXAMINED] += looked
    if count:
        _take_ready(state, pairs, u, level, scratch.found[:count], scratch, ticks)


@lean
def level_work(tops: Ids, firsts: Offsets, level: int) -> int:
    """How many pairs are in the rows that reach a level."""
    work = 0
    for u in range(len(tops)):
        if tops[u] >= level:
            work += len(tops) - firsts[u]
    return work


@lean_kernel
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
                _settle_row(state, pairs, u, level, scratch, ticks)
    return floor


@lean
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


@lean_kernel
def settle_last_level(state: TopicComponents, pairs: Pairs, level: int, ticks: Ticks) -> None:
    """Take all edges of the last level, at which no pair gains from more than one topic."""
    for topic in range(len(state.counts)):
        if ticks[CANCEL]:
            return
        if state.weights[topic] == level:
            ticks[DONE] += finish_topic(state, topic, pairs.firsts, pairs.edges, pairs.counts)
