"""A round of StaN's walks, for all nodes at once.

All walks of a round see the views as they were before it, and what they bring is taken at its end: that is
how the protocol runs where all nodes begin a round at once and all messages take equally long. A view takes
the lightest of what it has and what it is offered, in whatever order that comes; and topics have nothing to
do with each other. So topics can be shared among threads, and nothing depends on how.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.hashing import is_dropped, pick, weight
from meshwright.kernels.gossip.views import offer
from meshwright.runtime.arrays import Ids, Offsets, Ticks, Words, int64
from meshwright.runtime.progress import CANCEL


class WalkState(NamedTuple):
    """All views by slot (`kernels/gossip/views.py`), before a round and after it."""

    topic_indptr: Offsets
    indptr: Offsets
    keys: Words  # by slot: the key of its node
    before: Ids
    after: Ids
    paces: Ids  # by slot: how many rounds it waits after a walk
    due: Ids  # by slot: the round of the next walk


class Rules(NamedTuple):
    """What holds for all walks of a round."""

    round: int
    key: np.uint64  # another one for every round
    ttl: int
    learn: bool
    slowest: int
    loss: int  # in units of 2^-53


class WalkScratch(NamedTuple):
    """What a walk has met, and room to work in, for each thread."""

    met: Ids  # different slots, in the order in which they were met; never more than the topic has
    met_by: Offsets  # by place in the topic, the last walk that met it
    weights: Words


SENT, IDS, LOST, WALKS = range(4)
"""What is counted: messages sent, nodes named in them, messages lost, walks begun."""


@inner
def _meet(room: WalkScratch, count: int, walk: int, first: int, slot: int) -> int:
    if room.met_by[slot - first] != walk:
        room.met_by[slot - first] = walk
        room.met[count] = slot
        count += 1
    return count


@inner
def _choose(state: WalkState, slot: int, room: WalkScratch, count: int, source: int) -> bool:
    """Offer a view all that were met, and the source, at equal size; whether anything changed.

    Whoever comes in puts the heaviest out.
    """
    row = state.after[state.indptr[slot] : state.indptr[slot + 1]]
    own = state.keys[slot]
    for at in range(row.size):
        room.weights[at] = weight(own, state.keys[row[at]])
    heaviest = room.weights[row.size - 1]
    for at in range(count + 1):
        met = room.met[at] if at < count else source
        if met != slot:
            offer(own, state.keys, met, row, room.weights, row.size, row.size)
    return bool(room.weights[row.size - 1] != heaviest)


@inner
def _walk(state: WalkState, rules: Rules, room: WalkScratch, first: int, slot: int, tally: Offsets) -> int:
    """Walk from a slot and come back: how many were met, or -1 where a message is lost."""
    indptr, before = state.indptr, state.before
    count, at = 0, int64(slot)
    for hop in range(rules.ttl + 2):
        tally[SENT] += 1
        tally[IDS] += count
        if is_dropped(rules.key, slot, hop, rules.loss):
            tally[LOST] += 1
            return -1
        if hop > rules.ttl:
            break
        at = int64(before[indptr[at] + pick(rules.key, slot, hop, indptr[at + 1] - indptr[at])])
        if rules.learn:
            _choose(state, at, room, count, slot)
        count = _meet(room, count, slot, first, at)
        for peer in before[indptr[at] : indptr[at + 1]]:
            count = _meet(room, count, slot, first, int64(peer))
    return count


@kernel
def walk_round(state: WalkState, rules: Rules, topics: tuple[int, int], tally: Offsets, ticks: Ticks) -> None:
    """Let every view of some topics send its walk out and take what it brings.

    O((ttl + 1) k) for a view of k peers, (ttl + 1)² k with `learn`.
    """
    largest, widest = np.int64(0), np.int64(0)
    for topic in range(topics[0], topics[1]):
        first, end = state.topic_indptr[topic], state.topic_indptr[topic + 1]
        largest = max(largest, end - first)
        for slot in range(first, end):
            widest = max(widest, state.indptr[slot + 1] - state.indptr[slot])
    room = WalkScratch(
        np.empty(min((rules.ttl + 1) * (widest + 1), largest), np.int32),
        np.full(largest, np.int64(-1)),
        np.empty(widest, np.uint64),
    )
    for topic in range(topics[0], topics[1]):
        first = state.topic_indptr[topic]
        for slot in range(first, state.topic_indptr[topic + 1]):
            if ticks[CANCEL]:
                return
            if state.due[slot] > rules.round or state.indptr[slot + 1] == state.indptr[slot]:
                continue
            tally[WALKS] += 1
            count = _walk(state, rules, room, first, slot, tally)
            if count >= 0:
                changed = _choose(state, slot, room, count, slot)
                state.paces[slot] = 1 if changed else min(2 * state.paces[slot], rules.slowest)
            state.due[slot] = rules.round + state.paces[slot]
