"""The lazy greedy of resilient overlays: every subscriber wants so many neighbours in each of its topics.

What an edge contributes (`kernels/greedy/wants.py`) only falls as edges are taken, as a plain contribution
does, so levels, ready pairs and the store of bounds are those of `kernels/greedy/lazy.py`. An edge that is
taken may still contribute, so its bound is set to zero, and none is taken twice.

What is left when no edge contributes is connected, and few of its topics have a cut node (measured: of 300
topics, 62 blocks too many, where Greedy Merge leaves 29,000).
"""

import numpy as np

from meshwright.kernels.compiling import lean, lean_kernel
from meshwright.kernels.core.topic_components import TopicComponents, prefetch_interests
from meshwright.kernels.core.totals import greatest
from meshwright.kernels.greedy.bounds import (
    TAKEN,
    Pairs,
    fill_rests,
    find_in_blocks,
    lower_blocks,
    rest_top,
    row_blocks,
    row_words,
)
from meshwright.kernels.greedy.byte_rows import MOST_TOPICS
from meshwright.kernels.greedy.lazy import TOO_MANY, Ready, level_work, put_back
from meshwright.kernels.greedy.want_rows import (
    MOST,
    WantScratch,
    contributions,
    count_fresh_row,
    count_want_row,
    lower_by_bytes,
    refresh_found,
)
from meshwright.kernels.greedy.wants import (
    Own,
    Wants,
    clear_own,
    common_gain,
    find_common,
    link_common,
    write_own,
)
from meshwright.runtime.arrays import Ids, Offsets, Ticks, int64
from meshwright.runtime.progress import CANCEL, DONE


@lean_kernel
def start_rows(
    state: TopicComponents,
    wants: Wants,
    pairs: Pairs,
    rows: Offsets,
    is_fresh: bool,
    scratch: WantScratch,
    ticks: Ticks,
) -> None:
    """Bound the pairs of `rows` by what they contribute now; `is_fresh` says that no link is made yet."""
    nodes = len(pairs.tops)
    for u in rows:
        if ticks[CANCEL]:
            break
        first = pairs.firsts[u]
        row = row_words(pairs.store, pairs.starts, u).view(np.uint8)
        for i in range(nodes - first):
            row[i] = np.uint8(MOST)
        if is_fresh and state.indptr[u + 1] - state.indptr[u] <= MOST_TOPICS:
            count_fresh_row(state, u, scratch)
        else:
            count_want_row(state, wants, u, scratch.own_columns, scratch.sums)
        lower_by_bytes(row, scratch.sums[first:])
        blocks = row_blocks(pairs.blocks, pairs.starts, u)
        lower_blocks(row, blocks, 0, MOST)
        top = rest_top(blocks, MOST)
        for i in range(nodes - first):
            if row[i] == MOST:
                blocks[i >> 6], top = np.uint8(MOST), max(top, int64(state.loose[u] + state.loose[first + i]))
        pairs.tops[u] = top


@lean
def _keep_level(
    state: TopicComponents,
    wants: Wants,
    pairs: Pairs,
    u: int,
    level: int,
    count: int,
    scratch: WantScratch,
) -> tuple[int, int]:
    """Keep the first `count` pairs found that contribute `level`; return how many, and the most of others."""
    first, found, kept, known = pairs.firsts[u], scratch.found, 0, int64(0)
    row = row_words(pairs.store, pairs.starts, u).view(np.uint8)
    blocks = row_blocks(pairs.blocks, pairs.starts, u)
    contributions(state, wants, u, first, found[:count], scratch)
    for k in range(count):
        i, gain = found[k], int64(scratch.gains[k])
        row[i] = min(gain, MOST)
        if gain < level:
            blocks[i >> 6] = max(blocks[i >> 6], row[i])
            known = max(known, gain)
        found[kept] = i
        kept += gain == level
    return kept, known


@lean
def _find_ready(
    state: TopicComponents, wants: Wants, pairs: Pairs, u: int, level: int, scratch: WantScratch
) -> int:
    """Bring down the bounds of a row that reach the level; find the pairs that may contribute as much.

    `rests` of the scratch has to be filled in the present state. Their places are in `found`, and `tops`
    bounds the others of the row. Returns how many there are.
    """
    first, found = pairs.firsts[u], scratch.found
    words, blocks = row_words(pairs.store, pairs.starts, u), row_blocks(pairs.blocks, pairs.starts, u)
    row, limit = words.view(np.uint8), min(level, MOST)
    # A little under the level, or the row comes again at each of the next ones.
    threshold = max(1, limit - level // 8)
    looked = find_in_blocks(words, blocks, scratch.rests[first:], scratch.rests[u], threshold, found)
    if looked:
        refresh_found(state, wants, row, u, first, looked, scratch)
    count, known = 0, int64(0)
    for k in range(looked):
        found[count] = found[k]
        count += row[found[k]] >= limit
    lower_blocks(row, blocks, threshold, limit)
    if count and level >= MOST:
        count, known = _keep_level(state, wants, pairs, u, level, count, scratch)
    pairs.tops[u] = max(known, rest_top(blocks, limit))
    return count


@lean_kernel
def rule_out(pairs: Pairs, links: Ids) -> None:
    """Set the bounds of `links`, which must not be taken again, to zero."""
    for e in range(len(links)):
        u, v = int64(links[e, 0]), int64(links[e, 1])
        if v >= pairs.firsts[u]:
            row_words(pairs.store, pairs.starts, u).view(np.uint8)[v - pairs.firsts[u]] = 0


@lean_kernel
def refresh_wanting_rows(
    state: TopicComponents,
    wants: Wants,
    pairs: Pairs,
    rows: Offsets,
    level: int,
    scratch: WantScratch,
    ready: Ready,
    part: Offsets,
    ticks: Ticks,
) -> None:
    """Find the pairs of `rows` that contribute `level`, the state staying as it is.

    They are written into a part of `ready.places`, [from, to].
    """
    free = part[0]
    fill_rests(state.loose, scratch.rests)
    for u in rows:
        if ticks[CANCEL]:
            break
        count = _find_ready(state, wants, pairs, u, level, scratch)
        ready.starts[u], ready.counts[u] = free, count
        if free + count > part[1]:
            ready.counts[u] = TOO_MANY
            put_back(pairs, u, scratch.found[:count])
            continue
        for k in range(count):
            ready.places[free + k] = scratch.found[k]
        free += count


@lean
def _take_ready(
    state: TopicComponents,
    wants: Wants,
    pairs: Pairs,
    u: int,
    level: int,
    ready: Ids,
    own: Own,
    ticks: Ticks,
) -> None:
    """Take every edge of the `ready` ones of a row that contributes `level` at its turn."""
    first, known = pairs.firsts[u], int64(pairs.tops[u])
    row = row_words(pairs.store, pairs.starts, u).view(np.uint8)
    blocks = row_blocks(pairs.blocks, pairs.starts, u)
    write_own(state, wants, u, own)
    for k in range(len(ready)):
        if k + 1 < len(ready):
            prefetch_interests(state, first + ready[k + 1])
        v = int64(first + ready[k])
        gain = int64(0)
        if wants.degrees[u] < wants.caps[u] and wants.degrees[v] < wants.caps[v]:
            count = find_common(state, own, v)
            gain = common_gain(state, wants, own, count)
            if gain == level:
                taken = pairs.counts[TAKEN]
                pairs.edges[taken, 0], pairs.edges[taken, 1] = u, v
                pairs.counts[TAKEN] = taken + 1
                link_common(state, wants, own, count, u, v)
                ticks[DONE] += gain
                gain = int64(0)
        known = max(known, gain)
        row[ready[k]] = min(gain, MOST)
        blocks[ready[k] >> 6] = max(blocks[ready[k] >> 6], row[ready[k]])
    clear_own(state, u, own)
    pairs.tops[u] = known if wants.degrees[u] < wants.caps[u] else 0


@lean
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
    fill_rests(state.loose, scratch.rests)
    count = _find_ready(state, wants, pairs, u, level, scratch)
    if count:
        _take_ready(state, wants, pairs, u, level, scratch.found[:count], scratch.own, ticks)


@lean_kernel
def settle_wanting_rows(
    state: TopicComponents,
    wants: Wants,
    pairs: Pairs,
    rows: Offsets,
    level: int,
    scratch: WantScratch,
    ready: Ready,
    ticks: Ticks,
) -> None:
    """Take every edge of `rows` that contributes `level`, the greatest there is, at its turn."""
    for u in rows:
        if ticks[CANCEL]:
            return
        count, start = ready.counts[u], ready.starts[u]
        if count > 0:
            places = ready.places[start : start + count]
            _take_ready(state, wants, pairs, u, level, places, scratch.own, ticks)
        elif count == TOO_MANY:
            _settle_row(state, wants, pairs, u, level, scratch, ticks)


@lean_kernel
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
                _settle_row(state, wants, pairs, u, level, scratch, ticks)
    return 0
