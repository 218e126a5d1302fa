"""The lazy greedy under the one-finger-a-phase rule: the kernel of GrSwico.

A *slot* is the finger of one node in one phase. A node that may fill it stands in a range of ranks on the
ring, and a topic's subscribers are sorted by rank: one walk over the subscribers of a node's topics gives the
contributions of all pairs with that node, phase by phase, in the time of the walk. No pair is stored.

Contributions only fall and slots only fill, so the greatest contribution that a slot once had stays an upper
bound. Slots are looked at by levels, as in `kernels/greedy.py`: at level c no pair whose slot is free
contributes more, so each one taken that contributes c is maximal when taken.
"""

from typing import Any, NamedTuple

from numba import njit

from meshwright.kernels.arrays import Ids, Offsets
from meshwright.kernels.topic_components import NONE, take_edge
from meshwright.progress import CANCEL, DONE, Ticks

IF_FREE, NEVER, REQUIRED = 0, 1, 2
"""Whether a link also fills the slot of its target."""


class Slots(NamedTuple):
    """By rank and phase; ranks count on beyond the last one, as in `model/rings.py`."""

    starts: Ids  # whom the finger may point to
    ends: Ids
    fingers: Ids  # the rank that it points to, or NONE
    tops: Ids  # no free slot contributes more by any finger; 0 where none may be chosen any more
    priority: Ids  # by rank, and again beyond the last one: of equal contributions, the least is taken
    edges: Ids  # (m, 2) owner and target, in the order in which they were taken
    counts: Offsets  # [edges taken, contributions counted]


class Scratch(NamedTuple):
    """Room to work in."""

    gains: Ids  # by rank
    touched: Ids  # by rank
    best: Ids  # by phase
    chosen: Ids  # by phase


@njit(cache=True, nogil=True)
def _slot_of(slots: Any, owner: int, target: int) -> int:
    """The phase of `owner` that `target` may fill, or NONE."""
    ahead = target if target > owner else target + len(slots.starts)
    for phase in range(slots.starts.shape[1]):
        if ahead < slots.ends[owner, phase]:
            return phase if ahead >= slots.starts[owner, phase] else NONE
    return NONE


@njit(cache=True, nogil=True)
def _is_free(slots: Any, owner: int, target: int) -> bool:
    phase = _slot_of(slots, owner, target)
    return phase != NONE and slots.fingers[owner, phase] == NONE


@njit(cache=True, nogil=True)
def _after(loose_slots: Ids, first: int, size: int, slot: int) -> int:
    """Where the first entry beyond `slot` stands in the sorted list from `first` on."""
    low, high = first, first + size
    while low < high:
        middle = (low + high) >> 1
        if loose_slots[middle] <= slot:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def _count_gains(state: Any, slots: Any, rule: int, owner: int, last: int, scratch: Any) -> int:
    """Write the greatest contribution of each free slot of `owner` up to phase `last`, and who gives it.

    A topic whose marked component holds the owner is walked over those outside of it alone.
    """
    starts, ends, own_fingers = slots.starts[owner], slots.ends[owner], slots.fingers[owner]
    best, chosen, gains, touched = scratch.best, scratch.chosen, scratch.gains, scratch.touched
    names, slot_nodes, loose_slots, priority = (
        state.names,
        state.slot_nodes,
        state.loose_slots,
        slots.priority,
    )
    node_count, end, seen, counted = len(slots.starts), ends[last], 0, 0
    best[: last + 1] = 0
    for i in range(state.indptr[owner], state.indptr[owner + 1]):
        topic, own_slot = state.topic_ids[i], state.slots[i]
        if state.counts[topic] < 2:
            continue
        name, first = names[own_slot], state.topic_indptr[topic]
        is_marked = name == state.marked[topic]
        size = state.listed[topic] if is_marked else state.topic_indptr[topic + 1] - first
        at = _after(loose_slots, first, size, own_slot) if is_marked else own_slot + 1
        beyond, phase = 0, 0
        for _ in range(size):
            if at == first + size:
                at, beyond = first, node_count
            slot = loose_slots[at] if is_marked else at
            node = slot_nodes[slot]
            ahead = node + beyond
            at += 1
            if ahead >= end:
                break
            counted += 1
            while ahead >= ends[phase]:
                phase += 1
            if names[slot] == name or own_fingers[phase] != NONE or ahead < starts[phase]:
                continue
            gain = gains[node] + 1
            gains[node] = gain
            touched[seen] = node
            seen += gain == 1
            if gain < best[phase]:
                continue
            if gain == best[phase] and priority[ahead] >= priority[chosen[phase]]:
                continue
            if rule == REQUIRED and not _is_free(slots, node, owner):
                continue
            best[phase], chosen[phase] = gain, ahead
    for k in range(seen):
        gains[touched[k]] = 0
    return counted


@njit(cache=True, nogil=True)
def _take(state: Any, slots: Any, rule: int, owner: int, phase: int, target: int, ticks: Ticks) -> None:
    """Point a finger of `owner` to `target`, and one of `target` back, as the rule says."""
    slots.fingers[owner, phase] = target
    slots.tops[owner, phase] = 0
    ticks[DONE] += 1
    if rule != NEVER and _is_free(slots, target, owner):
        back = _slot_of(slots, target, owner)
        slots.fingers[target, back] = owner
        slots.tops[target, back] = 0
        ticks[DONE] += 1
    slots.edges[slots.counts[0], 0] = owner
    slots.edges[slots.counts[0], 1] = target
    slots.counts[0] += 1
    take_edge(state, owner, target)


@njit(cache=True, nogil=True)
def _settle_node(
    state: Any, slots: Any, rule: int, owner: int, level: int, scratch: Any, ticks: Ticks
) -> None:
    """Fill every slot of a node that contributes `level` at its turn, nearest phase first."""
    node_count, phase_count = slots.starts.shape
    tops = slots.tops[owner]
    while True:
        last = phase_count - 1
        while last >= 0 and tops[last] < level:
            last -= 1
        if last < 0:
            return
        slots.counts[1] += _count_gains(state, slots, rule, owner, last, scratch)
        taken = False
        for phase in range(last + 1):
            tops[phase] = min(tops[phase], scratch.best[phase])
            if tops[phase] == level and not taken:
                _take(state, slots, rule, owner, phase, scratch.chosen[phase] % node_count, ticks)
                taken = True
        # The others' contributions may have fallen; if none was taken, all are under the level now.
        if not taken:
            return


@njit(cache=True, nogil=True)
def choose_fingers(state: Any, slots: Any, rule: int, scratch: Any, ticks: Ticks) -> None:
    """Fill the free slot of greatest contribution until none contributes.

    Of equals the first is filled: by rank, then by phase, then by the target's priority.
    """
    while slots.tops.size:
        level = slots.tops.max()
        if level == 0:
            return
        for owner in range(len(slots.tops)):
            if ticks[CANCEL]:
                return
            _settle_node(state, slots, rule, owner, level, scratch, ticks)
