"""Exchange links for fewer: open one, and close those that no topic needs any more.

A link between u and x can go if a new one between u and w makes a circle with it in every topic that needs
it. So w has these topics, and is with x where the link is taken away. A short search for each link of u says
which topics need it, and who stays with u in these. That leaves few others to open a link to, and little to
search for again before a link is closed.

Searches follow up to 64 topics of u at once, a bit each, from both ends of a link. Which of these topics a
node has is found once for all searches from u.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inner, kernel, lean
from meshwright.kernels.core.bits import popcount
from meshwright.kernels.core.rows import has_room, row_of
from meshwright.kernels.repair.mutable_overlay import Live, Marks, link, next_step, unlink
from meshwright.kernels.repair.similar import best_of, similar_nodes
from meshwright.runtime.arrays import Flags, Ids, Offsets, Words, int64

NONE, NO_ROOM = -1, -2
"""Instead of a node: no exchange lowers the degrees; rows have to be longer, and nothing was done."""

_MOST_SEEN = 2_048
"""The nodes after which a search gives up, and the link stays: bounds the time. Measured at 2,000 nodes: with
1,000, half as many exchanges are found; with 4,000, no more."""

_FEW_SEEN = 128
"""The nodes after which a short search gives up, and leaves topics open."""

_MOST_LINKS = 24
"""The links of a node that are considered, those to the busiest nodes."""

_MOST_BESIDE = 4_096
"""How many nodes that stay with u are noted for all of its links."""

_LOOKED_AT = 16_384
"""How many subscribers are looked at for nodes that share topics with a node."""

_BITS = 64
_ONE, _ZERO = np.uint64(1), np.uint64(0)
_NEAR, _FAR = 0, 1
_OWN, _SEARCH, _REACHED, _FRESH = 0, 1, 2, 4
"""Where `Seen.cells` have the topics of a node, the last search that came to it, and by end what it reached
and what to follow."""

_PLACES, _LAST, _STEP, _NUMBERED, _MARKED, _ENTERED, _WORK = 0, 1, 2, 3, 4, 5, 6
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


class Own(NamedTuple):
    """The links of a node, and what short searches found of them, in words of 64 topics."""

    far: Ids
    common: Words  # (links, words)
    needed: Words
    open: Words
    stuck: Flags  # by link: it can't go
    beside: Ids  # (entries, 2): a link, and a node that stays at the near end in a topic that needs the link
    counts: Offsets  # [how many entries]


@inner
def _make_seen() -> Seen:
    return Seen(
        np.empty(_MOST_SEEN, np.int32),
        np.empty((_MOST_SEEN, 6), np.uint64),
        np.empty((4, _MOST_SEEN), np.int32),
        np.empty(_MOST_SEEN, np.int32),
        np.empty((2, 2), np.int64),
        np.zeros(7, np.int64),
    )


@lean
def _number_topics(live: Live, room: Marks, seen: Seen, node: int) -> int:
    """Number the topics of a node; return how many words they are."""
    step = next_step(room.steps)
    own = row_of(live.topics, node)
    for at in range(len(own)):
        room.topic_marks[own[at]], room.topic_numbers[own[at]] = step, at
    seen.counts[_NUMBERED] = step
    return (len(own) + _BITS - 1) // _BITS


@lean
def _bits_of(live: Live, room: Marks, seen: Seen, word: int, node: int) -> np.uint64:
    """Which of the numbered topics of a word a node has."""
    if seen.counts[_MARKED] != NONE:
        return room.bits[node] if room.chosen[node] == seen.counts[_MARKED] else _ZERO
    own, step, base = _ZERO, seen.counts[_NUMBERED], word * _BITS
    seen.counts[_WORK] += live.topics.counts[node]
    for topic in row_of(live.topics, node):
        if room.topic_marks[topic] == step:
            number = int64(room.topic_numbers[topic]) - base
            if 0 <= number < _BITS:
                own |= _ONE << np.uint64(number)
    return own


@lean
def _forget(room: Marks, seen: Seen) -> None:
    """Begin with no place given."""
    seen.counts[_STEP], seen.counts[_PLACES] = next_step(room.steps), 0


@lean
def _place_of(live: Live, room: Marks, seen: Seen, word: int, node: int) -> int:
    """The place of a node, the next one if it has none; NONE where all are given."""
    if room.marks[node] == seen.counts[_STEP]:
        return int64(room.numbers[node])
    place = seen.counts[_PLACES]
    if place == _MOST_SEEN:
        return int64(NONE)
    seen.counts[_PLACES] += 1
    room.marks[node], room.numbers[node] = seen.counts[_STEP], place
    seen.nodes[place] = node
    seen.cells[place, _OWN], seen.cells[place, _SEARCH] = _bits_of(live, room, seen, word, node), _ZERO
    return place


@lean
def _enter(cells: Words, place: int, search: np.uint64) -> bool:
    """Clear a place that a search comes to first."""
    if cells[place, _SEARCH] == search:
        return False
    cells[place, _SEARCH] = search
    cells[place, _REACHED] = cells[place, _REACHED + 1] = _ZERO
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
        seen.counts[_WORK] += live.links.counts[node]
        for other in row_of(live.links, node):
            at = _place_of(live, room, seen, word, other)
            new = bits & cells[at, _OWN] if at != NONE else bits
            if not new or other == barred:
                continue
            if at == NONE or (cells[at, _SEARCH] != search and count == most):
                seen.counts[_ENTERED] = count
                return alive, met, NONE
            if _enter(cells, at, search):
                seen.order[count] = at
                count += 1
            new &= ~cells[at, _REACHED + end]
            if new and not cells[at, _FRESH + end]:
                seen.queues[then, length] = at
                length += 1
            cells[at, _REACHED + end] |= new
            cells[at, _FRESH + end] |= new
            met |= new & cells[at, _REACHED + 1 - end]
            alive |= new
    seen.ends[0, end], seen.ends[1, end] = length, 1 - now
    return alive, met, count


@lean
def _search(
    live: Live, room: Marks, seen: Seen, word: int, near: int, far: int, left: np.uint64, short: bool
) -> Found:
    """Search topics of two linked nodes for ways other than their link.

    The link can't go if a topic needs it. A `short` search says so only if the part at the far end is the
    smaller one, which no new link of the near end can reach but one to a node of that part; it lists other
    topics that need the link, and those that it leaves open. The ends take turns, so the time is that of the
    smaller parts.
    """
    seen.counts[_LAST] += 1
    search, cells, needed = np.uint64(seen.counts[_LAST]), seen.cells, _ZERO
    count, most = 2, _FEW_SEEN if short else _MOST_SEEN
    lengths, turn = seen.ends[0], int64(_FAR)
    for end in range(2):
        place = _place_of(live, room, seen, word, far if end else near)
        if place == NONE:
            return Found(True, needed, left, 0)
        _enter(cells, place, search)
        cells[place, _REACHED + end] = cells[place, _FRESH + end] = left
        seen.queues[2 * end, 0] = seen.order[end] = place
        seen.ends[0, end], seen.ends[1, end] = 1, 0
    while left:
        if lengths[_NEAR] != lengths[_FAR]:
            turn = int64(lengths[_FAR] < lengths[_NEAR])
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
def _note_beside(seen: Seen, own: Own, at: int, found: Found) -> None:
    """Note who stays with the near end in the topics that need a link; a link with too many is stuck."""
    for k in range(found.seen):
        place = seen.order[k]
        if seen.cells[place, _REACHED + _NEAR] & found.needed:
            entry = own.counts[0]
            if entry == len(own.beside):
                own.stuck[at] = True
                return
            own.beside[entry, 0], own.beside[entry, 1] = at, seen.nodes[place]
            own.counts[0] += 1


@inner
def _examine(live: Live, room: Marks, seen: Seen, node: int) -> Own:
    """Search from a node for each of its links, the busiest other end first."""
    far = _by_degree(live.links.counts, row_of(live.links, node))[:_MOST_LINKS]
    words = _number_topics(live, room, seen, node)
    shape = len(far), words
    own = Own(
        far,
        np.empty(shape, np.uint64),
        np.zeros(shape, np.uint64),
        np.zeros(shape, np.uint64),
        np.zeros(len(far), np.bool_),
        np.empty((_MOST_BESIDE, 2), np.int32),
        np.zeros(1, np.int64),
    )
    for word in range(words):
        _forget(room, seen)
        for at in range(len(far)):
            place = _place_of(live, room, seen, word, int64(far[at]))
            if own.stuck[at] or place == NONE:
                own.stuck[at] = True
                continue
            own.common[at, word] = seen.cells[place, _OWN]
            found = _search(live, room, seen, word, node, int64(far[at]), own.common[at, word], True)
            own.needed[at, word], own.open[at, word] = found.needed, found.open
            own.stuck[at] = found.fails
            if found.needed and not found.fails:
                _note_beside(seen, own, at, found)
    return own


@inner
def _by_degree(degrees: Ids, nodes: Ids) -> Ids:
    """Nodes in order, the busiest first, of equals the earlier."""
    keys = np.empty(len(nodes), np.int64)
    for at in range(len(nodes)):
        keys[at] = -(int64(degrees[nodes[at]]) << 32) + at
    return nodes[np.argsort(keys)]


@inner
def _fitting(live: Live, room: Marks, seen: Seen, own: Own, others: Ids) -> Flags:
    """By link and other node, whether a new link to the other might replace the link."""
    fits = np.empty((len(own.far), len(others)), np.bool_)
    for place in range(len(others)):
        room.following[others[place]] = place
        for at in range(len(own.far)):
            fits[at, place] = not own.stuck[at]
        for word in range(own.needed.shape[1]):
            lacks = ~_bits_of(live, room, seen, word, int64(others[place]))
            for at in range(len(own.far)):
                fits[at, place] &= not own.needed[at, word] & lacks
    for entry in range(own.counts[0]):
        at, node = own.beside[entry]
        place = room.following[node]
        if 0 <= place < len(others) and others[place] == node:
            fits[at, place] = False
    return fits


@lean
def _overlaps(own: Own, at: int, taken: Words) -> bool:
    """Whether a topic needs a link, and one that was taken."""
    shared = _ZERO
    for word in range(len(taken)):
        shared |= own.needed[at, word] & taken[word]
    return shared != _ZERO


@inner
def _most_promising(degrees: Ids, node: int, own: Own, others: Ids, fits: Flags, most: int) -> int:
    """The place of the other node with which the squares of degrees might fall most; NONE if none fall."""
    best, best_place = int64(0), int64(NONE)
    taken = np.empty(own.needed.shape[1], np.uint64)
    for place in range(len(others)):
        usable, count, fallen = others[place] != node, 0, int64(0)
        taken[:] = _ZERO
        for at in range(len(own.far)):
            usable &= own.far[at] != others[place]
            if fits[at, place] and count < most and not _overlaps(own, at, taken):
                fallen += 2 * degrees[own.far[at]] - 1
                count += 1
                taken |= own.needed[at]
        degree = degrees[node]
        after = degree + 1 - count
        fallen += degree * degree - after * after - 2 * degrees[others[place]] - 1
        if usable and count and fallen > best:
            best, best_place = fallen, int64(place)
    return best_place


@lean
def _fallen(degrees: Ids, node: int, other: int, closed: Ids) -> int:
    """How much the sum of the squares of all degrees has fallen by an exchange, from the degrees after it."""
    lost = len(closed) - 1
    fallen = lost * (2 * degrees[node] + lost) - (2 * degrees[other] - 1)
    for k in range(len(closed)):
        fallen += 2 * degrees[closed[k, 1]] + 1
    return fallen


@inner
def _can_go(live: Live, room: Marks, seen: Seen, node: int, own: Own, at: int, gone: Words) -> bool:
    """Whether no topic needs a link now, after others have `gone`.

    `gone` has by word the topics that did not need one of these, those that did, and those left open.

    A topic that needed both this link and one that has gone needs this one still. A topic that is in doubt is
    searched: one that was left open, one in which both had a way round them, which may have been each other,
    and one that needs this link and may have needed the other.
    """
    for word in range(own.common.shape[1]):
        common, needed, left = own.common[at, word], own.needed[at, word], own.open[at, word]
        if needed & gone[1, word]:
            return False
        doubt = left | (common & ~needed & gone[0, word]) | (needed & gone[2, word])
        if doubt:
            if own.common.shape[1] > 1:
                _forget(room, seen)
            if _search(live, room, seen, word, node, int64(own.far[at]), doubt, False).fails:
                return False
    return True


@inner
def _close(live: Live, room: Marks, seen: Seen, node: int, own: Own, might: Flags, closed: Ids) -> int:
    """Close those links of a node that might go and that no topic needs; return how many."""
    count = int64(0)
    gone = np.zeros((3, own.common.shape[1]), np.uint64)
    for at in range(len(own.far)):
        if might[at] and count < len(closed) and _can_go(live, room, seen, node, own, at, gone):
            unlink(live.links, live.by_degree, live.sums, node, int64(own.far[at]))
            closed[count, 0], closed[count, 1] = node, own.far[at]
            count += 1
            gone[0] |= own.common[at] & ~own.needed[at]
            gone[1] |= own.needed[at]
            gone[2] |= own.open[at]
    return count


@lean
def _mark_bits(live: Live, room: Marks, seen: Seen, node: int, busy: int) -> int:
    """Mark all who share a topic with a node by the topics that they share.

    Returns how many of them have fewer than `busy` links; they are in `room.found`, and `room.numbers` has
    how many topics each shares.
    """
    count, step = 0, next_step(room.steps)
    seen.counts[_MARKED] = step
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


@inner
def _partners(live: Live, room: Marks, seen: Seen, node: int, share: float, most: int, busy: int) -> Ids:
    """The nodes that share most topics with a node, and have fewer than `busy` links.

    Where few share a topic with it, the topics of all of them are known afterwards.
    """
    topics = row_of(live.topics, node)
    sizes = live.subscribers.counts[topics].sum()
    seen.counts[_WORK] += min(sizes, _LOOKED_AT)
    if sizes <= _LOOKED_AT and len(topics) <= _BITS:
        count = _mark_bits(live, room, seen, node, busy)
        return best_of(room.found[:count], room.numbers, live.links.counts, len(topics), most)
    seen.counts[_MARKED] = NONE
    return similar_nodes(live, room, node, topics, _LOOKED_AT // len(topics) + 1, share, most, busy)


@inner
def _exchange_at(
    live: Live,
    room: Marks,
    seen: Seen,
    node: int,
    share: float,
    most: int,
    busy: int,
    any_fall: bool,
    closed: Ids,
) -> tuple[int, int]:
    """Close superfluous links of a node, or else exchange some for a new one; see `exchange`."""
    links, degrees = live.links, live.links.counts
    others = _partners(live, room, seen, node, share, most, busy)
    own = _examine(live, room, seen, node)
    idle = ~own.stuck
    for at in range(len(idle)):
        idle[at] &= not own.needed[at].any()
    if own.stuck.all():
        return int64(NONE), int64(0)
    count = _close(live, room, seen, node, own, idle, closed)
    if count:
        return int64(NONE), count
    fits = _fitting(live, room, seen, own, others)
    place = _most_promising(degrees, node, own, others, fits, len(closed))
    if place == NONE:
        return int64(NONE), int64(0)
    other = int64(others[place])
    link(links, live.by_degree, live.sums, node, other)
    count = _close(live, room, seen, node, own, fits[:, place].copy(), closed)
    if count and (any_fall or _fallen(degrees, node, other, closed[:count]) > 0):
        return other, count
    for k in range(count):
        link(links, live.by_degree, live.sums, node, int64(closed[k, 1]))
    unlink(links, live.by_degree, live.sums, node, other)
    return int64(NONE), int64(0)


@kernel
def exchange(
    live: Live,
    room: Marks,
    rng: np.random.Generator,
    nodes: Ids,
    start: int,
    most: int,
    busy: int,
    work: int,
    any_fall: bool,
    closed: Ids,
) -> tuple[int, int, int, int]:
    """Try to exchange links of some nodes, from place `start` on, until one exchange is made.

    Superfluous links of a node are closed; if it has none, it is linked with one of the `most` nodes that
    share most topics with it and have fewer than `busy` links, and what can go is closed. No link is opened
    where the sum of the squares of all degrees would not fall or, with `any_fall`, where none could be closed
    for it.

    Returns the place to go on from, the other node of the new link, or NONE, how many links were closed, and
    the work; the links are in `closed`, which limits them, each with the node first. It ends after so much
    `work`. NO_ROOM is instead of the other node.

    Guarantee: every topic that was connected is.

    Cost: for each node a look at some subscribers of its topics, for each of its links a short search, and
    for each that might go a search of the topics in doubt, all up to a limit.
    """
    seen, at = _make_seen(), start
    while at < len(nodes) and seen.counts[_WORK] < work:
        node, at = int64(nodes[at]), at + 1
        if live.links.counts[node] < 2:
            continue
        if not has_room(live.links, int64(2)):
            return at - 1, int64(NO_ROOM), int64(0), seen.counts[_WORK]
        other, count = _exchange_at(live, room, seen, node, rng.random(), most, busy, any_fall, closed)
        if count:
            return at, other, count, seen.counts[_WORK]
    return at, int64(NONE), int64(0), seen.counts[_WORK]
