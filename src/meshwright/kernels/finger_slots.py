"""Slots: the finger of one node in one phase, whom it may point to, and what is known of it.

Ranks count on beyond the last one, as in `model/rings.py`.
"""

from typing import Any, NamedTuple

from numba import njit

from meshwright.kernels.arrays import Ids, Offsets
from meshwright.kernels.topic_components import NONE

IF_FREE, NEVER, REQUIRED = 0, 1, 2
"""Whether a link also fills the slot of its target."""

FILLED = -1
"""In place of the greatest contribution: the slot has its finger."""


class Slots(NamedTuple):
    """By rank and phase."""

    starts: Ids  # whom the finger may point to
    ends: Ids
    fingers: Ids  # the rank that it points to; in a free slot the one that gave `tops`, or NONE
    tops: Ids  # no finger of the slot contributes more; FILLED if it has one
    priority: Ids  # by rank, and again beyond the last one: of equal contributions, the least is taken
    edges: Ids  # (m, 2) owner and target, in the order in which they were taken
    counts: Offsets  # [edges taken, contributions counted]


@njit(cache=True, nogil=True)
def slot_of(slots: Any, owner: int, target: int) -> int:
    """The phase of `owner` that `target` may fill, or NONE."""
    ahead = target if target > owner else target + len(slots.starts)
    for phase in range(slots.starts.shape[1]):
        if ahead < slots.ends[owner, phase]:
            return phase if ahead >= slots.starts[owner, phase] else NONE
    return NONE


@njit(cache=True, nogil=True)
def is_free(slots: Any, owner: int, target: int) -> bool:
    """Whether `target` may fill a slot of `owner` that has no finger yet."""
    phase = slot_of(slots, owner, target)
    return phase != NONE and slots.tops[owner, phase] != FILLED
