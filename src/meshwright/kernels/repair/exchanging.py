"""Exchange links for fewer: open one, and close those that no topic needs any more.

A link between u and x can go if a new one between u and w makes a circle with it in every topic that needs
it. So w has these topics, and is with x where the link is taken away. A short search for each link of u says
which topics need it, and who stays with u in these. That leaves few others to open a link to, and little to
search for again before a link is closed.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inner, kernel, lean
from meshwright.kernels.core.rows import has_room, row_of
from meshwright.kernels.repair.detours import (
    BITS,
    MARKED,
    NEAR,
    NONE,
    OWN,
    REACHED,
    WORK,
    Found,
    Seen,
    bits_of,
    forget,
    make_seen,
    mark_bits,
    number_topics,
    place_of,
    search,
)
from meshwright.kernels.repair.mutable_overlay import Live, Marks, link, unlink
from meshwright.kernels.repair.similar import LOOKED_AT, best_of, similar_nodes
from meshwright.runtime.arrays import Flags, Ids, Offsets, Words, int64

NO_ROOM = -2
"""Instead of a node: rows have to be longer, and nothing was done."""

_MOST_LINKS = 24
"""The links of a node that are considered, those to the busiest nodes."""

_ATTEMPTS = 3
"""With how many other nodes an exchange is attempted. Measured at 2,000 nodes with the same work: the average
degree is 1.003 times that of a fresh overlay, and with one attempt 1.019 times."""

_MOST_BESIDE = 4_096
"""How many nodes that stay with u are noted for all of its links."""


class Own(NamedTuple):
    """The links of a node, and what short searches found of them, in words of 64 topics."""

    far: Ids
    common: Words  # (links, words)
    needed: Words
    open: Words
    stuck: Flags  # by link: it can't go
    beside: Ids  # (entries, 2): a link, and a node that stays at the near end in a topic that needs the link
    counts: Offsets  # [how many entries]


@lean
def _note_beside(seen: Seen, own: Own, at: int, found: Found) -> None:
    """Note who stays with the near end in the topics that need a link; a link with too many is stuck."""
    for k in range(found.seen):
        place = seen.order[k]
        if seen.cells[place, REACHED + NEAR] & found.needed:
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
    words = number_topics(live, room, seen, node)
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
        forget(room, seen)
        for at in range(len(far)):
            place = place_of(live, room, seen, word, int64(far[at]))
            if own.stuck[at] or place == NONE:
                own.stuck[at] = True
                continue
            own.common[at, word] = seen.cells[place, OWN]
            found = search(live, room, seen, word, node, int64(far[at]), own.common[at, word], True)
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
            lacks = ~bits_of(live, room, seen, word, int64(others[place]))
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
    shared = np.uint64(0)
    for word in range(len(taken)):
        shared |= own.needed[at, word] & taken[word]
    return shared != 0


@inner
def _most_promising(degrees: Ids, node: int, own: Own, others: Ids, fits: Flags, most: int) -> int:
    """The place of the other node with which the squares of degrees might fall most; NONE if none fall."""
    best, best_place = int64(0), int64(NONE)
    taken = np.empty(own.needed.shape[1], np.uint64)
    for place in range(len(others)):
        usable, count, fallen = others[place] != node, 0, int64(0)
        taken[:] = 0
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
                forget(room, seen)
            if search(live, room, seen, word, node, int64(own.far[at]), doubt, False).fails:
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


@inner
def _partners(live: Live, room: Marks, seen: Seen, node: int, share: float, most: int, busy: int) -> Ids:
    """The nodes that share most topics with a node, and have fewer than `busy` links.

    Where few share a topic with it, the topics of all of them are known afterwards.
    """
    topics = row_of(live.topics, node)
    sizes = live.subscribers.counts[topics].sum()
    seen.counts[WORK] += min(sizes, LOOKED_AT)
    if sizes <= LOOKED_AT and len(topics) <= BITS:
        count = mark_bits(live, room, seen, node, busy)
        return best_of(room.found[:count], room.numbers, live.links.counts, len(topics), most)
    seen.counts[MARKED] = NONE
    return similar_nodes(live, room, node, topics, share, most, busy)


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
    for _ in range(_ATTEMPTS):
        place = _most_promising(degrees, node, own, others, fits, len(closed))
        if place == NONE:
            break
        other = int64(others[place])
        link(links, live.by_degree, live.sums, node, other)
        count = _close(live, room, seen, node, own, fits[:, place].copy(), closed)
        if count and (any_fall or _fallen(degrees, node, other, closed[:count]) > 0):
            return other, count
        for k in range(count):
            link(links, live.by_degree, live.sums, node, int64(closed[k, 1]))
        unlink(links, live.by_degree, live.sums, node, other)
        fits[:, place] = False
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
    seen, at = make_seen(), start
    while at < len(nodes) and seen.counts[WORK] < work:
        node, at = int64(nodes[at]), at + 1
        if live.links.counts[node] < 2:
            continue
        if not has_room(live.links, int64(1 + _ATTEMPTS)):
            return at - 1, int64(NO_ROOM), int64(0), seen.counts[WORK]
        other, count = _exchange_at(live, room, seen, node, rng.random(), most, busy, any_fall, closed)
        if count:
            return at, other, count, seen.counts[WORK]
    return at, int64(NONE), int64(0), seen.counts[WORK]


@kernel
def exchange_in_turn(
    live: Live,
    room: Marks,
    rng: np.random.Generator,
    nodes: Ids,
    start: int,
    most: int,
    busy: int,
    work: int,
    most_closed: int,
    changes: Ids,
) -> tuple[int, int, int, bool]:
    """Exchange links of some nodes, from place `start` on, one node after the other; see `exchange`.

    Returns the place to go on from, how many links were opened and closed, the work, and whether rows were
    long enough; if not, they have to be longer. The links are in `changes`, which limits them, each with 1
    if it was opened and 0 if it was closed. Up to `most_closed` are closed for one.
    """
    closed, at, count, spent = np.empty((most_closed, 2), np.int32), start, int64(0), int64(0)
    while at < len(nodes) and spent < work and len(changes) - count >= 2:
        room_for = closed[: min(most_closed, len(changes) - count - 1)]
        limits = most, busy, work - spent
        at, other, gone, own = exchange(live, room, rng, nodes, at, *limits, False, room_for)
        spent += own
        if other == NO_ROOM:
            return at, count, spent, False
        if gone and other != NONE:
            changes[count, 0], changes[count, 1], changes[count, 2] = closed[0, 0], other, 1
            count += 1
        changes[count : count + gone, :2] = closed[:gone]
        changes[count : count + gone, 2] = 0
        count += gone
    return at, count, spent, True
