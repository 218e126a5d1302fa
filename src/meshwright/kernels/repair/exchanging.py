"""Exchange links for fewer: open one, and close those that no topic needs any more.

A link between u and x can go if a new one between u and w makes a circle with it in every topic that needs
it. So w has these topics, and is with x where the link is taken away. A short search for each link of u finds
most others with which this can't be; only for the rest a link is opened, and searched for circles.

Searches follow up to 64 topics at once, a bit each, from both ends of a link.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.rows import Rows, has_room, row_of
from meshwright.kernels.repair.mutable_overlay import Live, Marks, link, next_step, unlink
from meshwright.runtime.arrays import Flags, Ids, Words, int64

NONE, NO_ROOM = -1, -2
"""Instead of a place: no exchange lowers the degrees; rows have to be longer, and nothing was done."""

_MOST_SEEN = 2_048
"""The nodes after which a search gives up, and the link stays: bounds the time. Measured at 2,000 nodes: with
1,000, half as many exchanges are found; with 4,000, no more."""

_FEW_SEEN = 256
"""The nodes after which a short search gives up, and any other node might do. Measured at 2,000 nodes, as
many tries in about the same time hold the average degree at 1.05 times that of a fresh overlay; with 64, at
1.06 times."""

_BITS = 64
_ONE, _ZERO = np.uint64(1), np.uint64(0)
_NEAR, _FAR = 0, 1


class Seen(NamedTuple):
    """The nodes that a search has seen, in order; a bit stands for a topic that both ends have."""

    nodes: Ids
    own: Words  # the topics that the node has
    reached: Words  # (2, places): the topics in which each end has reached the node
    fresh: Words  # (2, places): those of them that were not followed yet
    queues: Ids  # (4, places): of each end, the places to follow now, and next


class Found(NamedTuple):
    """What a search has found of up to 64 topics."""

    fails: bool  # the link can't go
    common: int  # how many topics were searched
    needed: np.uint64  # those known to need the link; `reached[_NEAR]` has their parts at the near end


@inner
def _make_seen() -> Seen:
    return Seen(
        np.empty(_MOST_SEEN, np.int32),
        np.empty(_MOST_SEEN, np.uint64),
        np.empty((2, _MOST_SEEN), np.uint64),
        np.empty((2, _MOST_SEEN), np.uint64),
        np.empty((4, _MOST_SEEN), np.int32),
    )


@inner
def _number_common(topics: Rows, room: Marks, step: int, u: int, v: int, skipped: int) -> int:
    """Number up to 64 topics that both have, after some that are skipped; return how many there are."""
    i, j = topics.starts[u], topics.starts[v]
    i_end, j_end = i + topics.counts[u], j + topics.counts[v]
    count = 0
    while i < i_end and j < j_end and count < _BITS:
        a, b = topics.items[i], topics.items[j]
        if a == b:
            if skipped:
                skipped -= 1
            else:
                room.topic_marks[a], room.topic_numbers[a] = step, count
                count += 1
        i += a <= b
        j += b <= a
    return count


@inner
def _own_bits(topics: Rows, room: Marks, step: int, node: int) -> np.uint64:
    """Which of the numbered topics a node has."""
    own = _ZERO
    for topic in row_of(topics, node):
        if room.topic_marks[topic] == step:
            own |= _ONE << np.uint64(room.topic_numbers[topic])
    return own


@inner
def _see(topics: Rows, room: Marks, step: int, seen: Seen, place: int, node: int) -> None:
    """Give a node the next place."""
    room.marks[node], room.numbers[node] = step, place
    seen.nodes[place], seen.own[place] = node, _own_bits(topics, room, step, node)
    for end in range(2):
        seen.reached[end, place] = seen.fresh[end, place] = _ZERO


@inner
def _search(live: Live, room: Marks, seen: Seen, near: int, far: int, skipped: int, short: bool) -> Found:
    """Search up to 64 topics of two linked nodes for ways other than their link.

    The link can't go if a topic needs it. A `short` search says so only if the part at the far end is the
    smaller one, which no new link of the near end can reach but one to a node of that part; it lists other
    topics that need the link. The ends take turns, so the time is that of the smaller parts.
    """
    step = next_step(room.steps)
    common = _number_common(live.topics, room, step, near, far, skipped)
    left, needed = (~_ZERO >> np.uint64(_BITS - common) if common else _ZERO), _ZERO
    _see(live.topics, room, step, seen, 0, near)
    _see(live.topics, room, step, seen, 1, far)
    count, most = 2, _FEW_SEEN if short else _MOST_SEEN
    lengths, now, turn = np.ones(2, np.int64), np.zeros(2, np.int64), int64(_FAR)
    for end in range(2):
        seen.reached[end, end] = seen.fresh[end, end] = left
        seen.queues[2 * end, 0] = end
    while left:
        if lengths[_NEAR] != lengths[_FAR]:
            turn = int64(lengths[_FAR] < lengths[_NEAR])
        end, turn = turn, 1 - turn
        here, then = 2 * end + now[end], 2 * end + 1 - now[end]
        reached, fresh, others = seen.reached[end], seen.fresh[end], seen.reached[1 - end]
        alive, met, length = _ZERO, _ZERO, 0
        for k in range(lengths[end]):
            place = seen.queues[here, k]
            bits = fresh[place] & left
            fresh[place] = _ZERO
            if not bits:
                continue
            for other in row_of(live.links, seen.nodes[place]):
                if room.marks[other] != step:
                    if count == most:
                        return Found(not short, common, needed)
                    _see(live.topics, room, step, seen, count, other)
                    count += 1
                at = room.numbers[other]
                new = bits & seen.own[at] & ~reached[at]
                if not new or (place < 2 and at < 2):
                    continue
                if not fresh[at]:
                    seen.queues[then, length] = at
                    length += 1
                reached[at] |= new
                fresh[at] |= new
                met |= new & others[at]
                alive |= new
        left &= ~met
        ended = left & ~alive
        if ended and (end == _FAR or not short):
            return Found(True, common, needed)
        needed |= ended
        left &= ~ended
        lengths[end], now[end] = length, 1 - now[end]
    return Found(False, common, needed)


@inner
def _is_superfluous(live: Live, room: Marks, seen: Seen, u: int, v: int) -> bool:
    """Whether two linked nodes are connected without their link in all topics of both.

    False may also mean that too many nodes would have to be looked at.
    """
    skipped, common = int64(0), _BITS
    while common == _BITS:
        found = _search(live, room, seen, u, v, skipped, False)
        if found.fails:
            return False
        common = found.common
        skipped += _BITS
    return True


@inner
def _find_fitting(live: Live, room: Marks, seen: Seen, near: int, far: int, others: Ids, fits: Flags) -> bool:
    """Flag the other nodes with which a new link of the near end might replace that to the far end.

    Returns whether the link might be superfluous already.
    """
    fits[:] = True
    skipped, common, idle = int64(0), _BITS, True
    while common == _BITS:
        found = _search(live, room, seen, near, far, skipped, True)
        if found.fails:
            fits[:] = False
            return False
        step = room.steps[0]
        for k in range(len(others)):
            other = others[k]
            if room.marks[other] == step:
                at = room.numbers[other]
                lacks = seen.reached[_NEAR, at] | ~seen.own[at]
            else:
                lacks = ~_own_bits(live.topics, room, step, other)
            fits[k] &= not found.needed & lacks
        common = found.common
        skipped += _BITS
        idle &= not found.needed
    return idle


@inner
def _by_degree(degrees: Ids, nodes: Ids) -> Ids:
    """Nodes in order, the busiest first; few at a time."""
    found = nodes.copy()
    for i in range(1, len(found)):
        node, j = found[i], i
        while j and degrees[found[j - 1]] < degrees[node]:
            found[j] = found[j - 1]
            j -= 1
        found[j] = node
    return found


@inner
def _most_promising(degrees: Ids, node: int, own: Ids, others: Ids, fits: Flags) -> int:
    """The place of the other node with which the squares of degrees might fall most; NONE if none fall."""
    best, best_place = int64(0), int64(NONE)
    for place in range(len(others)):
        usable, count, fallen = others[place] != node, 0, int64(0)
        for k in range(len(own)):
            usable &= own[k] != others[place]
            if fits[k, place]:
                fallen += 2 * degrees[own[k]] - 1
                count += 1
        after = len(own) + 1 - count
        fallen += len(own) * len(own) - after * after - 2 * degrees[others[place]] - 1
        if usable and count and fallen > best:
            best, best_place = fallen, int64(place)
    return best_place


@inner
def _fallen(degrees: Ids, node: int, other: int, closed: Ids) -> int:
    """How much the sum of the squares of all degrees has fallen by an exchange, from the degrees after it."""
    lost = len(closed) - 1
    fallen = lost * (2 * degrees[node] + lost) - (2 * degrees[other] - 1)
    for k in range(len(closed)):
        fallen += 2 * degrees[closed[k, 1]] + 1
    return fallen


@inner
def _close_superfluous(
    live: Live, room: Marks, seen: Seen, node: int, far: Ids, might: Flags, closed: Ids
) -> int:
    """Close those links of a node that might go and that no topic needs; return how many."""
    count = int64(0)
    for k in range(len(far)):
        if might[k] and count < len(closed) and _is_superfluous(live, room, seen, node, int64(far[k])):
            unlink(live.links, live.by_degree, live.sums, node, int64(far[k]))
            closed[count, 0], closed[count, 1] = node, far[k]
            count += 1
    return count


@kernel
def exchange(live: Live, room: Marks, node: int, others: Ids, any_fall: bool, closed: Ids) -> tuple[int, int]:
    """Close superfluous links of a node; if it has none, link it with one of others, and close what can go.

    Returns the place of the other, or NONE, and how many links were closed; these are in `closed`, which
    limits them. No link is opened where the sum of the squares of all degrees would not fall or, with
    `any_fall`, where none could be closed for it. NO_ROOM is instead of a place.

    Guarantee: every topic that was connected is.

    Cost: for each link of the node a short search, and for each that might go a search of all nodes between
    its ends in the topics of both, up to a limit.
    """
    links, degrees = live.links, live.links.counts
    seen, own = _make_seen(), _by_degree(degrees, row_of(links, node))
    fits, idle = np.empty((len(own), len(others)), np.bool_), np.empty(len(own), np.bool_)
    for k in range(len(own)):
        idle[k] = _find_fitting(live, room, seen, node, int64(own[k]), others, fits[k])
    count = _close_superfluous(live, room, seen, node, own, idle, closed)
    if count:
        return NONE, count
    place = _most_promising(degrees, node, own, others, fits)
    if place == NONE:
        return NONE, 0
    if not has_room(links, int64(2)):
        return NO_ROOM, 0
    other = int64(others[place])
    link(links, live.by_degree, live.sums, node, other)
    count = _close_superfluous(live, room, seen, node, own, fits[:, place].copy(), closed)
    if count and (any_fall or _fallen(degrees, node, other, closed[:count]) > 0):
        return place, count
    for k in range(count):
        link(links, live.by_degree, live.sums, node, int64(closed[k, 1]))
    unlink(links, live.by_degree, live.sums, node, other)
    return NONE, 0
