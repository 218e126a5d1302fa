"""Ways round a link: which topics need it, of those that one of its ends has.

Searches follow up to 64 topics of a node at once, a bit each, from both ends of its link. Which of these
topics other nodes have is found once for all searches from that node.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inner, lean
from meshwright.kernels.core.bits import popcount
from meshwright.kernels.core.rows import row_of
from meshwright.kernels.repair.mutable_overlay import Live, Marks, next_step
from meshwright.runtime.arrays import Ids, Offsets, Words, int64

NONE = -1

_MOST_SEEN = 2_048
"""The nodes after which a search gives up, and the link stays: bounds the time. Measured at 2,000 nodes: with
1,000, half as many exchanges are found; with 4,000, no more."""

_FEW_SEEN = 128
"""The nodes after which a short search gives up, and leaves topics open."""

BITS = 64
_ONE, _ZERO = np.uint64(1), np.uint64(0)
NEAR, _FAR = 0, 1
OWN, _SEARCH, REACHED, _FRESH = 0, 1, 2, 4
"""Where `Seen.cells` have the topics of a node, the last search that came to it, and by end what it reached
and what to follow."""

_PLACES, _LAST, _STEP, _NUMBERED, MARKED, _ENTERED, WORK = 0, 1, 2, 3, 4, 5, 6
"""Where `Seen.counts` has how many places are given, the last search, the steps of `room` that mark nodes by
places, topics by numbers, and nodes by bits (NONE if none), where a search gave up, and all work."""


class Seen(NamedTuple):
    """The nodes that the searches from a node have seen, in order; a bit stands for a topic of that node."""

    nodes: Ids
    cells: Words  # (places, 6): own topics; the last search; by end, topics reached, and those to follow
    queues: Ids  # (4, places): of each end, the places to follow now, and next
    order: Ids  # the places of the last search
    ends: Offsets  # (2, 2): by end, how many places to follow, and which of its queues has them
    counts: Offsets  # by `_PLACES` and those after it


class Found(NamedTuple):
    """What a search has found of up to 64 topics."""

    fails: bool  # the link can't go
    needed: np.uint64  # those known to need the link
    open: np.uint64  # those not known
    seen: int  # how many nodes; they are in `Seen.order`


@inner
def make_seen() -> Seen:
    """Room for the searches from one node after the other."""
    return Seen(
        np.empty(_MOST_SEEN, np.int32),
        np.empty((_MOST_SEEN, 6), np.uint64),
        np.empty((4, _MOST_SEEN), np.int32),
        np.empty(_MOST_SEEN, np.int32),
        np.empty((2, 2), np.int64),
        np.zeros(7, np.int64),
    )


@lean
def number_topics(live: Live, room: Marks, seen: Seen, node: int) -> int:
    """Number the topics of a node; return how many words they are."""
    step = next_step(room.steps)
    own = row_of(live.topics, node)
    for at in range(len(own)):
        room.topic_marks[own[at]], room.topic_numbers[own[at]] = step, at
    seen.counts[_NUMBERED] = step
    return (len(own) + BITS - 1) // BITS


@lean
def bits_of(live: Live, room: Marks, seen: Seen, word: int, node: int) -> np.uint64:
    """Which of the numbered topics of a word a node has."""
    if seen.counts[MARKED] != NONE:
        return room.bits[node] if room.chosen[node] == seen.counts[MARKED] else _ZERO
    own, step, base = _ZERO, seen.counts[_NUMBERED], word * BITS
    seen.counts[WORK] += live.topics.counts[node]
    for topic in row_of(live.topics, node):
        if room.topic_marks[topic] == step:
            number = int64(room.topic_numbers[topic]) - base
            if 0 <= number < BITS:
                own |= _ONE << np.uint64(number)
    return own


@lean
def forget(room: Marks, seen: Seen) -> None:
    """Begin with no place given."""
    seen.counts[_STEP], seen.counts[_PLACES] = next_step(room.steps), 0


@lean
def place_of(live: Live, room: Marks, seen: Seen, word: int, node: int) -> int:
    """The place of a node, the next one if it has none; NONE where all are given."""
    if room.marks[node] == seen.counts[_STEP]:
        return int64(room.numbers[node])
    place = seen.counts[_PLACES]
    if place == _MOST_SEEN:
        return int64(NONE)
    seen.counts[_PLACES] += 1
    room.marks[node], room.numbers[node] = seen.counts[_STEP], place
    seen.nodes[place] = node
    seen.cells[place, OWN], seen.cells[place, _SEARCH] = bits_of(live, room, seen, word, node), _ZERO
    return place


@lean
def _enter(cells: Words, place: int, search: np.uint64) -> bool:
    """Clear a place that a search comes to first."""
    if cells[place, _SEARCH] == search:
        return False
    cells[place, _SEARCH] = search
    cells[place, REACHED] = cells[place, REACHED + 1] = _ZERO
    cells[place, _FRESH] = cells[place, _FRESH + 1] = _ZERO
    return True


@lean
def _advance(
    live: Live,
    room: Marks,
    seen: Seen,
    word: int,
    near: int,
    far: int,
    end: int,
    left: np.uint64,
    count: int,
    most: int,
) -> tuple[np.uint64, np.uint64, int]:
    """Go on by a link from all places that an end reached last.

    Returns the topics in which that came to new nodes, those in which it met the other end, and how many
    nodes the search has seen; NONE where these are too many.
    """
    cells, search, now = seen.cells, np.uint64(seen.counts[_LAST]), seen.ends[1, end]
    here, then, length = 2 * end + now, 2 * end + 1 - now, 0
    alive, met = _ZERO, _ZERO
    for k in range(seen.ends[0, end]):
        place = seen.queues[here, k]
        bits = cells[place, _FRESH + end] & left
        cells[place, _FRESH + end] = _ZERO
        if not bits:
            continue
        node = seen.nodes[place]
        barred = far if node == near else near if node == far else NONE
        seen.counts[WORK] += live.links.counts[node]
        for other in row_of(live.links, node):
            at = place_of(live, room, seen, word, other)
            new = bits & cells[at, OWN] if at != NONE else bits
            if not new or other == barred:
                continue
            if at == NONE or (cells[at, _SEARCH] != search and count == most):
                seen.counts[_ENTERED] = count
                return alive, met, NONE
            if _enter(cells, at, search):
                seen.order[count] = at
                count += 1
            new &= ~cells[at, REACHED + end]
            if new and not cells[at, _FRESH + end]:
                seen.queues[then, length] = at
                length += 1
            cells[at, REACHED + end] |= new
            cells[at, _FRESH + end] |= new
            met |= new & cells[at, REACHED + 1 - end]
            alive |= new
    seen.ends[0, end], seen.ends[1, end] = length, 1 - now
    return alive, met, count


@lean
def search(
    live: Live, room: Marks, seen: Seen, word: int, near: int, far: int, left: np.uint64, short: bool
) -> Found:
    """Search topics of two linked nodes for ways other than their link.

    The link can't go if a topic needs it. A `short` search says so only if the part at the far end is the
    smaller one, which no new link of the near end can reach but one to a node of that part; it lists other
    topics that need the link, and those that it leaves open. The ends take turns, so the time is that of the
    smaller parts.
    """
    seen.counts[_LAST] += 1
    number, cells, needed = np.uint64(seen.counts[_LAST]), seen.cells, _ZERO
    count, most = 2, _FEW_SEEN if short else _MOST_SEEN
    lengths, turn = seen.ends[0], int64(_FAR)
    for end in range(2):
        place = place_of(live, room, seen, word, far if end else near)
        if place == NONE:
            return Found(True, needed, left, 0)
        _enter(cells, place, number)
        cells[place, REACHED + end] = cells[place, _FRESH + end] = left
        seen.queues[2 * end, 0] = seen.order[end] = place
        seen.ends[0, end], seen.ends[1, end] = 1, 0
    while left:
        if lengths[NEAR] != lengths[_FAR]:
            turn = int64(lengths[_FAR] < lengths[NEAR])
        end, turn = turn, 1 - turn
        alive, met, count = _advance(live, room, seen, word, near, far, end, left, count, most)
        if count == NONE:
            return Found(not short, needed, left, seen.counts[_ENTERED])
        left &= ~met
        ended = left & ~alive
        if ended and (end == _FAR or not short):
            return Found(True, needed, left, count)
        needed |= ended
        left &= ~ended
    return Found(False, needed, left, count)


@lean
def mark_bits(live: Live, room: Marks, seen: Seen, node: int, busy: int) -> int:
    """Mark all who share a topic with a node by the topics that they share.

    Returns how many of them have fewer than `busy` links; they are in `room.found`, and `room.numbers` has
    how many topics each shares.
    """
    count, step = 0, next_step(room.steps)
    seen.counts[MARKED] = step
    room.chosen[node], room.bits[node] = step, _ZERO
    first = live.topics.starts[node]
    for number in range(live.topics.counts[node]):
        topic, bit = live.topics.items[first + number], _ONE << np.uint64(number)
        start = live.subscribers.starts[topic]
        for at in range(start, start + live.subscribers.counts[topic]):
            other = live.subscribers.items[at]
            if room.chosen[other] != step:
                room.chosen[other], room.bits[other] = step, _ZERO
                room.found[count] = other
                count += live.links.counts[other] < busy
            room.bits[other] |= bit
    for at in range(count):
        room.numbers[room.found[at]] = popcount(room.bits[room.found[at]])
    return count
