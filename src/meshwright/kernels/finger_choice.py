"""The lazy greedy under the one-finger-a-phase rule: the kernel of GrSwico.

Contributions only fall and slots only fill, so the greatest contribution that a slot once had stays an upper
bound. Slots are looked at by levels, as in `kernels/greedy.py`: at level c no pair whose slot is free
contributes more, so each one taken that contributes c is maximal when taken.

A slot keeps who gave its bound. If that node still contributes as much, it is still the first of those that
do, and nothing is counted; else the slot is counted again, with all of its owner's that need it.
"""

from typing import Any

from numba import njit

from meshwright.kernels.finger_gains import contribution, count_gains
from meshwright.kernels.finger_slots import FILLED, NEVER, REQUIRED, is_free, slot_of
from meshwright.kernels.topic_components import NONE, take_edge
from meshwright.progress import CANCEL, DONE, Ticks


@njit(cache=True, nogil=True)
def _take(state: Any, slots: Any, rule: int, owner: int, phase: int, target: int, ticks: Ticks) -> None:
    """Point a finger of `owner` to `target`, and one of `target` back, as the rule says."""
    slots.fingers[owner, phase] = target
    slots.tops[owner, phase] = FILLED
    ticks[DONE] += 1
    if rule != NEVER and is_free(slots, target, owner):
        back = slot_of(slots, target, owner)
        slots.fingers[target, back] = owner
        slots.tops[target, back] = FILLED
        ticks[DONE] += 1
    slots.edges[slots.counts[0], 0] = owner
    slots.edges[slots.counts[0], 1] = target
    slots.counts[0] += 1
    take_edge(state, owner, target)


@njit(cache=True, nogil=True)
def _is_known(state: Any, slots: Any, rule: int, owner: int, phase: int) -> bool:
    """Whether the node that gave a slot's bound still does."""
    target = slots.fingers[owner, phase]
    if target == NONE or (rule == REQUIRED and not is_free(slots, target, owner)):
        return False
    gain = contribution(state.indptr, state.topic_ids, state.slots, state.names, owner, target)
    return bool(gain == slots.tops[owner, phase])


@njit(cache=True, nogil=True)
def _count_again(state: Any, slots: Any, rule: int, owner: int, first: int, level: int, scratch: Any) -> None:
    """Find the greatest contribution of slot `first`, and of the owner's later ones that reach the level."""
    node_count, phase_count = slots.starts.shape
    last = first
    scratch.asked[first] = True
    for phase in range(first + 1, phase_count):
        reaches = slots.tops[owner, phase] >= level
        scratch.asked[phase] = reaches and not _is_known(state, slots, rule, owner, phase)
        if scratch.asked[phase]:
            last = phase
    slots.counts[1] += count_gains(state, slots, rule, owner, first, last, scratch)
    for phase in range(first, last + 1):
        if scratch.asked[phase]:
            slots.tops[owner, phase] = scratch.best[phase]
            slots.fingers[owner, phase] = scratch.chosen[phase] % node_count if scratch.best[phase] else NONE


@njit(cache=True, nogil=True)
def _settle_node(
    state: Any, slots: Any, rule: int, owner: int, level: int, scratch: Any, ticks: Ticks
) -> None:
    """Fill every slot of a node that contributes `level` at its turn, nearest phase first."""
    tops, fingers = slots.tops[owner], slots.fingers[owner]
    for phase in range(slots.starts.shape[1]):
        if tops[phase] < level:
            continue
        if not _is_known(state, slots, rule, owner, phase):
            _count_again(state, slots, rule, owner, phase, level, scratch)
        if tops[phase] == level:
            _take(state, slots, rule, owner, phase, fingers[phase], ticks)


@njit(cache=True, nogil=True)
def choose_fingers(state: Any, slots: Any, rule: int, scratch: Any, ticks: Ticks) -> None:
    """Fill the free slot of greatest contribution until none contributes.

    Of equals the first is filled: by rank, then by phase, then by the target's priority.
    """
    while slots.tops.size:
        level = slots.tops.max()
        if level <= 0:
            return
        for owner in range(len(slots.tops)):
            if ticks[CANCEL]:
                return
            _settle_node(state, slots, rule, owner, level, scratch, ticks)
