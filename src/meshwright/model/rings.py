"""Identifiers on a ring, and the phases into which every node divides the others.

Nodes stand on a ring of `space` identifiers, one node on an identifier at most. Node w is in phase i of node
v if the clockwise distance from v to w is at least 2^i and less than 2^(i+1).
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.arrays import Ids, Offsets

NONE = -1
"""In place of a node: the phase is empty."""


class Phases(NamedTuple):
    """By rank on the ring and phase, whom the finger of that phase may point to: ranks from `starts` on.

    They end before `ends`, and count on beyond the last rank: of n nodes, rank n is rank 0 again. Both are
    the same where the phase is empty.
    """

    starts: Ids
    ends: Ids


def phase_count(space: int, whole: bool = False) -> int:
    """How many phases there are; distances go up to `space` - 1.

    Where `space` is no power of two the ring cuts the last phase short; `whole` leaves that one out.
    """
    return max(0, space.bit_length() - 1) if whole else max(0, space - 1).bit_length()


def phases(positions: Offsets, space: int, count: int) -> Phases:
    """The first `count` phases of nodes at `positions`, which rise. O(n log n log space).

    The first phase that is not empty is left with the next node alone. Where every identifier has a node
    that is phase 0, which has no other. Where they are sparse it may have more nodes, and with a finger to
    another one no path would lead to the next: [4] assumes that away, and practical systems keep a
    link to their successor too.
    """
    around = np.concatenate([positions, positions + space])
    distances = np.minimum(2 ** np.arange(count + 1, dtype=np.int64), space)
    bounds = np.searchsorted(around, positions[:, None] + distances).astype(np.int32)
    starts, ends = bounds[:, :-1].copy(), bounds[:, 1:].copy()
    if len(positions) > 1:
        ranks = np.arange(len(positions))
        ends[ranks, np.argmax(ends > starts, axis=1)] = ranks + 2
    return Phases(starts, ends)
