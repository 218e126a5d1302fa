"""The kernel of GrSwico: the lazy greedy under the one-finger-a-phase rule.

A slot is the finger of one node in one phase, with the nodes it may point to and what is known of it. Ranks
count on beyond the last one, as in `model/fingers.py`.

Contributions only fall and slots only fill, so the greatest contribution that a slot once had stays an upper
bound. Slots are looked at by levels, as in `kernels/greedy/lazy.py`: at level c no pair whose slot is free
contributes more, so each one taken that contributes c is maximal when taken. A slot keeps the node that gave
its bound. If that node still contributes as much, nothing is counted; otherwise the slot is counted again,
with all of its owner's slots that need it.

A node that may fill a slot stands in a range of ranks on the ring, and a topic's subscribers are sorted by
rank: one walk over the subscribers of a node's topics gives the contributions of all pairs with that node,
phase by phase, in the time of the walk. No pair is stored. The most popular topics have a bit each and are
counted 64 at a time: by those in which not both nodes are marked, less those in which both are in one
component that is not the marked one. For each count the cheaper way is taken.
"""

from typing import NamedTuple

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.bits import popcount
from meshwright.kernels.core.topic_components import NONE, TopicComponents, take_edge
from meshwright.runtime.arrays import Flags, Ids, Offsets, Ticks, Words
from meshwright.runtime.progress import CANCEL, DONE

IF_FREE, NEVER, REQUIRED = 0, 1, 2
"""Whether a link also fills the slot of its target."""

FILLED = -1
"""In place of the greatest contribution: the slot has its finger."""


TAKEN, COUNTED = 0, 1
"""Where `Slots.counts` has the edges taken and the contributions counted."""


class Slots(NamedTuple):
    """By rank and phase."""

    starts: Ids  # whom the finger may point to
    ends: Ids
    fingers: Ids  # the rank that it points to; in a free slot the one that gave `tops`, or NONE
    tops: Ids  # no finger of the slot contributes more; FILLED if it has one
    priority: Ids  # by rank, and again beyond the last one: of equal contributions, the least is taken
    edges: Ids  # (m, 2) owner and target, in the order in which they were taken
    counts: Offsets  # by TAKEN and COUNTED


@inner
def slot_of(slots: Slots, owner: int, target: int) -> int:
    """The phase of `owner` that `target` may fill, or NONE."""
    ahead = target if target > owner else target + len(slots.starts)
    for phase in range(slots.starts.shape[1]):
        if ahead < slots.ends[owner, phase]:
            return phase if ahead >= slots.starts[owner, phase] else NONE
    return NONE


@inner
def is_free(slots: Slots, owner: int, target: int) -> bool:
    """Whether `target` may fill a slot of `owner` that has no finger yet."""
    phase = slot_of(slots, owner, target)
    return phase != NONE and slots.tops[owner, phase] != FILLED


_WALK = 3
"""Roughly how many nodes' bits can be read while a walk visits one subscriber; only 1 was tried instead."""


class Scratch(NamedTuple):
    """Room to work in."""

    gains: Ids  # by rank
    touched: Ids  # by rank
    asked: Flags  # by phase: whether to count it
    best: Ids  # by phase: the greatest contribution
    chosen: Ids  # by phase: who gives it, of equals the first by priority


@kernel
def pair_contribution(indptr: Offsets, topic_ids: Ids, slots: Ids, names: Ids, u: int, v: int) -> int:
    """In how many topics a link of `u` and `v` would join two components.

    It takes the arrays that it reads, since Numba counts references to all of a state at each call (measured:
    a fifth of the time).
    """
    gain = 0
    i, i_end = indptr[u], indptr[u + 1]
    j, j_end = indptr[v], indptr[v + 1]
    while i < i_end and j < j_end:
        topic, other = topic_ids[i], topic_ids[j]
        if topic == other:
            gain += names[slots[i]] != names[slots[j]]
        i += topic <= other
        j += other <= topic
    return gain


@inner
def _first_from(loose_slots: Ids, slot_nodes: Ids, is_marked: bool, first: int, size: int, node: int) -> int:
    """Where the first subscriber from rank `node` on stands in a topic's list, which is sorted by rank."""
    low, high = first, first + size
    while low < high:
        middle = (low + high) >> 1
        slot = loose_slots[middle] if is_marked else middle
        if slot_nodes[slot] < node:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def _is_better(gain: int, priority: int, best: int, best_priority: int) -> bool:
    return gain > best or (gain == best and priority < best_priority)


@inner
def _walk_topics(
    state: TopicComponents,
    slots: Slots,
    rule: int,
    owner: int,
    skipped: int,
    first: int,
    last: int,
    scratch: Scratch,
) -> int:
    """Count by walking over subscribers, the topics up to `skipped` left out; return how many were read.

    A topic whose marked component holds the owner is walked over those outside of it alone.
    """
    starts, ends, gains, touched = slots.starts[owner], slots.ends[owner], scratch.gains, scratch.touched
    best, chosen, asked, priority = scratch.best, scratch.chosen, scratch.asked, slots.priority
    names, slot_nodes, loose_slots = state.names, state.slot_nodes, state.loose_slots
    node_count = len(slots.starts)
    seen, counted, begin, end = 0, 0, starts[first], ends[last]
    around = node_count if begin >= node_count else 0
    for i in range(state.indptr[owner], state.indptr[owner + 1]):
        topic, name = state.topic_ids[i], names[state.slots[i]]
        if topic < skipped or state.counts[topic] < 2:
            continue
        start, is_marked = state.topic_indptr[topic], name == state.marked[topic]
        size = state.listed[topic] if is_marked else state.topic_indptr[topic + 1] - start
        at = _first_from(loose_slots, slot_nodes, is_marked, start, size, begin - around)
        beyond, phase = around, first
        for _ in range(size):
            if at == start + size:
                at, beyond = start, beyond + node_count
            slot = loose_slots[at] if is_marked else at
            node = slot_nodes[slot]
            ahead = node + beyond
            at += 1
            if ahead >= end:
                break
            counted += 1
            while ahead >= ends[phase]:
                phase += 1
            if names[slot] == name or not asked[phase] or ahead < starts[phase]:
                continue
            gain = gains[node] + 1
            gains[node] = gain
            touched[seen] = node
            seen += gain == 1
            if not _is_better(gain, priority[ahead], best[phase], priority[chosen[phase]]):
                continue
            if rule != REQUIRED or is_free(slots, node, owner):
                best[phase], chosen[phase] = gain, ahead
    for k in range(seen * (skipped == 0)):
        gains[touched[k]] = 0
    return counted


@inner
def _add_bits(bits: Words, own: Words, gains: Ids) -> None:
    """Add, for each row of `bits`, the topics with bits that it shares with `own`, not both being marked."""
    words = len(own) >> 1
    for w in range(words):
        topics, loose = own[w], own[words + w]
        for i in range(len(gains)):
            gains[i] += popcount((topics & bits[i, words + w]) | (loose & bits[i, w]))


@inner
def _scan(
    bits: Words,
    slots: Slots,
    rule: int,
    owner: int,
    phase: int,
    low: int,
    high: int,
    beyond: int,
    scratch: Scratch,
) -> None:
    """Count by bits, on top of the gains there are, from rank `low` up to `high`."""
    if low >= high:
        return
    gains, priority = scratch.gains[low:high], slots.priority[low + beyond : high + beyond]
    _add_bits(bits[low:high], bits[owner], gains)
    best, chosen = scratch.best[phase], scratch.chosen[phase]
    for i in range(len(gains)):
        if not _is_better(gains[i], priority[i], best, slots.priority[chosen]):
            continue
        if rule != REQUIRED or is_free(slots, low + i, owner):
            best, chosen = gains[i], low + beyond + i
    scratch.best[phase], scratch.chosen[phase] = best, chosen


@inner
def _take_off_own(state: TopicComponents, owner: int, heavy: int, gains: Ids) -> None:
    """Take off what bits count in vain: the topics in which a node is in the owner's unmarked component."""
    for i in range(state.indptr[owner], state.indptr[owner + 1]):
        topic, name = state.topic_ids[i], state.names[state.slots[i]]
        if topic >= heavy:
            break
        if name == state.marked[topic]:
            continue
        slot = name
        while slot != NONE:
            gains[state.slot_nodes[slot]] -= 1
            slot = state.following[slot]


@inner
def _bits_pay(state: TopicComponents, owner: int, heavy: int, span: int, node_count: int) -> bool:
    """Whether counting the popular topics of a node by bits is less work than walking over them."""
    walk, own = 0, 0
    for i in range(state.indptr[owner], state.indptr[owner + 1]):
        topic, name = state.topic_ids[i], state.names[state.slots[i]]
        if topic >= heavy:
            break
        if name == state.marked[topic]:
            walk += state.listed[topic]
        elif state.counts[topic] > 1:
            walk += state.topic_indptr[topic + 1] - state.topic_indptr[topic]
            own += state.sizes[name]
    # Clearing the gains of sixteen nodes takes about as long as a step of either (vector instructions).
    return (heavy >> 6) * span + own + (node_count >> 4) < _WALK * walk * span // node_count


@inner
def count_gains(
    state: TopicComponents, slots: Slots, rule: int, owner: int, first: int, last: int, scratch: Scratch
) -> int:
    """Write the greatest contribution of each phase asked, from `first` to `last`, and who gives it.

    Returns how many subscribers, or nodes, were looked at.
    """
    node_count, span = len(slots.starts), 0
    for phase in range(first, last + 1):
        scratch.best[phase] = 0
        if scratch.asked[phase]:
            span += slots.ends[owner, phase] - slots.starts[owner, phase]
    heavy = 32 * state.bits.shape[1]
    if not heavy or not _bits_pay(state, owner, heavy, span, node_count):
        return _walk_topics(state, slots, rule, owner, 0, first, last, scratch)
    _take_off_own(state, owner, heavy, scratch.gains)
    counted = _walk_topics(state, slots, rule, owner, heavy, first, last, scratch)
    for phase in range(first, last + 1):
        if not scratch.asked[phase]:
            continue
        low, high = slots.starts[owner, phase], slots.ends[owner, phase]
        middle = min(max(low, node_count), high)
        _scan(state.bits, slots, rule, owner, phase, low, middle, 0, scratch)
        _scan(
            state.bits, slots, rule, owner, phase, middle - node_count, high - node_count, node_count, scratch
        )
    scratch.gains[:] = 0
    return counted + span


@inner
def _take(
    state: TopicComponents, slots: Slots, rule: int, owner: int, phase: int, target: int, ticks: Ticks
) -> None:
    """Point a finger of `owner` to `target`, and one of `target` back, as the rule says."""
    slots.fingers[owner, phase] = target
    slots.tops[owner, phase] = FILLED
    ticks[DONE] += 1
    if rule != NEVER and is_free(slots, target, owner):
        back = slot_of(slots, target, owner)
        slots.fingers[target, back] = owner
        slots.tops[target, back] = FILLED
        ticks[DONE] += 1
    slots.edges[slots.counts[TAKEN], 0] = owner
    slots.edges[slots.counts[TAKEN], 1] = target
    slots.counts[TAKEN] += 1
    take_edge(state, owner, target)


@inner
def _is_known(state: TopicComponents, slots: Slots, rule: int, owner: int, phase: int) -> bool:
    """Whether the node that gave a slot's bound still does."""
    target = slots.fingers[owner, phase]
    if target == NONE or (rule == REQUIRED and not is_free(slots, target, owner)):
        return False
    gain = pair_contribution(state.indptr, state.topic_ids, state.slots, state.names, owner, target)
    return bool(gain == slots.tops[owner, phase])


@inner
def _count_again(
    state: TopicComponents, slots: Slots, rule: int, owner: int, first: int, level: int, scratch: Scratch
) -> None:
    """Find the greatest contribution of slot `first`, and of the owner's later ones that reach the level."""
    node_count, phase_count = slots.starts.shape
    last = first
    scratch.asked[first] = True
    for phase in range(first + 1, phase_count):
        reaches = slots.tops[owner, phase] >= level
        scratch.asked[phase] = reaches and not _is_known(state, slots, rule, owner, phase)
        if scratch.asked[phase]:
            last = phase
    slots.counts[COUNTED] += count_gains(state, slots, rule, owner, first, last, scratch)
    for phase in range(first, last + 1):
        if scratch.asked[phase]:
            slots.tops[owner, phase] = scratch.best[phase]
            slots.fingers[owner, phase] = scratch.chosen[phase] % node_count if scratch.best[phase] else NONE


@inner
def _settle_node(
    state: TopicComponents, slots: Slots, rule: int, owner: int, level: int, scratch: Scratch, ticks: Ticks
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


@kernel
def choose_fingers(state: TopicComponents, slots: Slots, rule: int, scratch: Scratch, ticks: Ticks) -> None:
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
