"""The lazy greedy that minds the maximum degree: findLowEdge of Low-ODA, without looking at every pair.

Of all pairs, e1 contributes most; of the pairs that raise the maximum degree least, e2 does. Low-ODA takes e1
where it contributes more than rho times as much as e2, and e2 otherwise. A pair raises the maximum degree if
one of its ends has it: such pairs are *parked*, all others are *free*. So e2 is the best free pair. Where
none contributes, e1 is taken, as it is where all pairs are parked.

While the maximum stays, the contributions of free pairs only fall, so these are taken by levels, as in
`kernels/greedy/lazy.py`: one pass over the rows in their order takes all that contribute exactly as much as
the level. Pairs that become parked during a pass contribute at most the level. So whether some parked pair is
worth more than rho levels is found out once a level, when the first pair is about to be taken at it. If so,
that pair is taken, the maximum rises, and all pairs are free again, but those of its ends that have it.

A parked pair keeps its bound in the store; `pairs.tops` bounds all pairs of a row, `low.tops` the free ones.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.topic_components import NONE, TopicComponents, clear_own_names, write_own_names
from meshwright.kernels.core.totals import greatest
from meshwright.kernels.greedy.bounds import (
    CAP,
    EXAMINED,
    Pairs,
    Scratch,
    contributions,
    find_pairs,
    refresh_by_bits,
    refresh_found,
    row_words,
)
from meshwright.kernels.greedy.lazy import take
from meshwright.runtime.arrays import Bytes, Ids, Offsets, Ticks, Words
from meshwright.runtime.progress import CANCEL

PADDING = 64
"""Entries of `LowDegrees.free` beyond the nodes, for the padding of a row in the store."""

_WORDS_A_BLOCK = 8
_FREE = np.uint8(255)
_PARKED = np.uint8(0)


class LowDegrees(NamedTuple):
    """The degrees of the nodes, and what they say about the pairs."""

    degrees: Ids
    most: Offsets  # [the maximum degree that the rule minds]
    free: npt.NDArray[np.uint8]  # by node: 255 under the maximum, 0 at it; padded
    tops: Ids  # by row: no free pair of the row contributes more


@kernel
def keep_pairs(pairs: Pairs, kept: Ids) -> None:
    """Leave out all pairs but the `kept` ones, rows of two nodes in order: a bound of zero does that."""
    bounds = np.empty(len(kept), np.uint8)
    for k in range(len(kept)):
        u, v = kept[k]
        bounds[k] = row_words(pairs.store, pairs.starts, u).view(np.uint8)[v - pairs.firsts[u]]
    pairs.store[:] = 0
    for k in range(len(kept)):
        u, v = kept[k]
        row_words(pairs.store, pairs.starts, u).view(np.uint8)[v - pairs.firsts[u]] = bounds[k]


@kernel
def start_degrees(pairs: Pairs, degrees: Ids, most: int) -> LowDegrees:
    """Nodes with `degrees`, where `most` is the maximum among all nodes that the rule minds."""
    nodes = len(degrees)
    free = np.zeros(nodes + PADDING, np.uint8)
    low = LowDegrees(degrees.copy(), np.array([most], np.int64), free, np.zeros(nodes, np.int32))
    _release(pairs, low)
    return low


@inner
def _release(pairs: Pairs, low: LowDegrees) -> None:
    """Make all pairs free whose ends are both under the maximum."""
    for u in range(len(low.degrees)):
        under = low.degrees[u] < low.most[0]
        low.free[u] = _FREE if under else _PARKED
        low.tops[u] = pairs.tops[u] if under else 0


@inner
def _find_free(words: Words, loose: Ids, own_loose: int, free: Bytes, threshold: int, found: Ids) -> int:
    """As `find_pairs` of the lazy greedy, of the free pairs alone."""
    count = 0
    for k in range(find_pairs(words, loose, own_loose, threshold, found)):
        found[count] = found[k]
        count += free[found[k]] != _PARKED
    return count


@inner
def _bound_row(words: Words, free: Bytes, known: int, u: int, pairs: Pairs, low: LowDegrees) -> None:
    """Bound a row by its store; where that is at the cap, its free pairs by the greatest gain `known`.

    The loop is such that it compiles to vector instructions.
    """
    row = words.view(np.uint8)
    every, some = np.uint8(0), np.uint8(0)
    for i in range(len(row)):
        every = max(every, row[i])
        some = max(some, row[i] & free[i])
    if every < CAP:
        pairs.tops[u] = every
    low.tops[u] = some if some < CAP else known


@inner
def _refresh_row(
    state: TopicComponents, pairs: Pairs, low: LowDegrees, u: int, level: int, scratch: Scratch
) -> None:
    """Bring down the bounds of a row's free pairs that reach the level, or a little less."""
    first = pairs.firsts[u]
    words = row_words(pairs.store, pairs.starts, u)
    free = low.free[first:]
    threshold = max(1, min(level, CAP) - level // 8)
    count = _find_free(words, state.loose[first:], state.loose[u], free, threshold, scratch.found)
    known = refresh_found(state, words, u, first, count, scratch)
    pairs.counts[EXAMINED] += count
    _bound_row(words, free, known, u, pairs, low)


@inner
def _link(state: TopicComponents, pairs: Pairs, low: LowDegrees, u: int, v: int, ticks: Ticks) -> None:
    """Take an edge; its ends become parked where they reach the maximum."""
    take(state, pairs, u, v, ticks)
    for end in (u, v):
        low.degrees[end] += 1
        if low.degrees[end] == low.most[0]:
            low.free[end] = _PARKED
            low.tops[end] = 0


@inner
def _best_pair(state: TopicComponents, pairs: Pairs, least: float, scratch: Scratch) -> tuple[int, int]:
    """The first pair of greatest contribution over all pairs, if that is more than `least`; else no pair."""
    best_u, best_v = NONE, NONE
    nodes = len(pairs.tops)
    for u in range(nodes):
        if pairs.tops[u] <= least:
            continue
        first = pairs.firsts[u]
        words = row_words(pairs.store, pairs.starts, u)
        row = words.view(np.uint8)
        threshold = min(CAP, int(least) + 1)
        count = find_pairs(words, state.loose[first:], state.loose[u], threshold, scratch.found)
        pairs.counts[EXAMINED] += count
        if state.bits.shape[1]:
            refresh_by_bits(state.bits, u, first, scratch.found[:count], row)
            count = find_pairs(words, state.loose[first:], state.loose[u], threshold, scratch.found)
        write_own_names(state, u, scratch.own)
        contributions(state, state.weights, scratch.own, first, scratch.found[:count], scratch.gains)
        clear_own_names(state, u, scratch.own)
        known = 0
        for k in range(count):
            i, gain = scratch.found[k], scratch.gains[k]
            row[i] = min(gain, CAP)
            known = max(known, gain)
            if gain > least:
                least, best_u, best_v = float(gain), u, first + i
        top = np.uint8(0)
        for i in range(len(row)):
            top = max(top, row[i])
        pairs.tops[u] = top if top < CAP else known
    return best_u, best_v


@inner
def _take_best(
    state: TopicComponents, pairs: Pairs, low: LowDegrees, least: float, scratch: Scratch, ticks: Ticks
) -> bool:
    """Take the best of all pairs if it contributes more than `least`; the maximum rises with it."""
    u, v = _best_pair(state, pairs, least, scratch)
    if u == NONE:
        return False
    _link(state, pairs, low, u, v, ticks)
    low.most[0] = max(low.most[0], low.degrees[u], low.degrees[v])
    _release(pairs, low)
    return True


@inner
def _settle_row(
    state: TopicComponents,
    pairs: Pairs,
    low: LowDegrees,
    u: int,
    level: int,
    parked_least: float,
    scratch: Scratch,
    other: Scratch,
    ticks: Ticks,
) -> int:
    """Take the free edges of a row that contribute `level` at their turn; return whether any did.

    Before the first one, a parked pair is taken instead if one contributes more than `parked_least`, unless
    that is negative, which says that none does. Then the row is left as it stands, and -1 is returned.
    """
    first = pairs.firsts[u]
    words = row_words(pairs.store, pairs.starts, u)
    row = words.view(np.uint8)
    free = low.free[first:]
    count = _find_free(words, state.loose[first:], state.loose[u], free, min(level, CAP), scratch.found)
    pairs.counts[EXAMINED] += count
    known, taken = 0, 0
    write_own_names(state, u, scratch.own)
    for k in range(count):
        i = scratch.found[k]
        contributions(state, state.weights, scratch.own, first, scratch.found[k : k + 1], scratch.gains)
        gain = scratch.gains[0]
        if gain == level:
            if parked_least >= 0:
                if _take_best(state, pairs, low, parked_least, other, ticks):
                    clear_own_names(state, u, scratch.own)
                    return -1
                parked_least = -1.0
            _link(state, pairs, low, u, first + i, ticks)
            taken += 1
            gain = 0
            if low.free[u] == _PARKED:
                row[i] = 0
                break
            write_own_names(state, u, scratch.own)
        known = max(known, gain)
        row[i] = min(gain, CAP)
    clear_own_names(state, u, scratch.own)
    if low.free[u] != _PARKED:
        _bound_row(words, free, known, u, pairs, low)
    return taken


@inner
def _settle_level(
    state: TopicComponents,
    pairs: Pairs,
    low: LowDegrees,
    level: int,
    rho: float,
    scratch: Scratch,
    other: Scratch,
    ticks: Ticks,
) -> None:
    """Take all free edges that contribute `level`, unless a parked pair is worth more; then that one."""
    parked_least = rho * level
    for u in range(len(low.tops)):
        if ticks[CANCEL]:
            return
        if low.tops[u] >= level:
            _refresh_row(state, pairs, low, u, level, scratch)
        if low.tops[u] >= level:
            taken = _settle_row(state, pairs, low, u, level, parked_least, scratch, other, ticks)
            if taken < 0:
                return
            if taken:
                parked_least = -1.0


@kernel
def take_low_edges(
    state: TopicComponents,
    pairs: Pairs,
    low: LowDegrees,
    rho: float,
    scratch: Scratch,
    other: Scratch,
    ticks: Ticks,
) -> None:
    """Take edges by findLowEdge until none contributes."""
    while len(low.tops) and not ticks[CANCEL]:
        level = greatest(low.tops)
        if level > 0:
            _settle_level(state, pairs, low, level, rho, scratch, other, ticks)
        elif not _take_best(state, pairs, low, 0.0, other, ticks):
            return
