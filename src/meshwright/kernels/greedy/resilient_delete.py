"""Reverse delete that keeps topics resilient: an edge goes if no topic would get a cut node without it.

Without an edge (a, b), a graph that had no cut node has none either if two paths from a to b share no vertex
between them. Most edges need no search: where an end has but two links inside a topic, they stay. For the
others a search from both ends finds a path, and a second one another that avoids it; only where that fails
does it take a walk over the topic to know.
"""

import numpy as np

from meshwright.kernels.compiling import kernel, lean
from meshwright.kernels.greedy.sub_overlays import SubOverlays
from meshwright.runtime.arrays import Flags, Ids, Longs, Ticks
from meshwright.runtime.progress import CANCEL, DONE

_NONE = -1


@kernel
def delete_resilient(over: SubOverlays, longest: int, doubtful: int, ticks: Ticks) -> Flags:
    """By edge, whether it stays, from the last to the first; `longest` is the most subscribers of a topic.

    Only the last `doubtful` edges are looked at. No topic gets a cut node that it did not have.
    """
    edges = len(over.link_starts) - 1
    kept = np.ones(edges, np.bool_)
    slots = len(over.starts) - 1
    degrees = np.empty(slots, np.int64)
    for slot in range(slots):
        degrees[slot] = over.starts[slot + 1] - over.starts[slot]
    marks = np.full(slots, _NONE, np.int64)
    before = np.empty(slots, np.int32)
    queue, ahead = np.empty(longest, np.int32), np.empty(longest, np.int32)
    unsure = np.empty(longest_list(over), np.int64)
    turn = 0
    for e in range(edges - 1, edges - 1 - doubtful, -1):
        if ticks[CANCEL]:
            break
        first, last = over.link_starts[e], over.link_starts[e + 1]
        needed = False
        for at in range(first, last):
            needed |= degrees[over.link_slots[at, 0]] <= 2 or degrees[over.link_slots[at, 1]] <= 2
        count, at = 0, first
        while at < last and not needed:
            a, b = over.link_slots[at, 0], over.link_slots[at, 1]
            if not _clearly_two_paths(over, kept, e, a, b, marks, turn, before, queue, ahead):
                unsure[count] = at
                count += 1
            turn += 7
            at += 1
        at = 0
        while at < count and not needed:
            a, b = over.link_slots[unsure[at], 0], over.link_slots[unsure[at], 1]
            needed = not _two_paths(over, kept, e, a, b, marks, turn, before, queue)
            turn += 2
            at += 1
        kept[e] = needed
        if not needed:
            for at in range(first, last):
                degrees[over.link_slots[at, 0]] -= 1
                degrees[over.link_slots[at, 1]] -= 1
        ticks[DONE] += 1
    return kept


@lean
def longest_list(over: SubOverlays) -> int:
    """The most topics that the ends of an edge share."""
    most = 0
    for e in range(len(over.link_starts) - 1):
        most = max(most, over.link_starts[e + 1] - over.link_starts[e])
    return most


@lean
def _two_paths(
    over: SubOverlays,
    kept: Flags,
    without: int,
    a: int,
    b: int,
    marks: Longs,
    turn: int,
    before: Ids,
    queue: Ids,
) -> bool:
    """Whether two paths of kept edges other than `without` lead from b to a and share no vertex between."""
    length = _path(over, kept, without, a, b, marks, turn, before, queue)
    if length == _NONE:
        return False
    # The path from b to a: the place of each vertex on it, as a mark below _NONE.
    slot, place = b, 0
    while slot != a:
        following = before[slot]
        marks[slot] = -2 - place
        slot, place = following, place + 1
    marks[a] = -2 - place
    reach, slot = 0, b
    clear = True
    for at in range(length):  # vertex `at` of the path separates the ends if nothing before leads past it
        if at and reach <= at:
            clear = False
            break
        reach = max(reach, _furthest(over, kept, without, slot, marks, turn + 1, queue))
        if reach == length:
            break
        slot = before[slot]
    slot = b
    while slot != a:
        marks[slot] = _NONE
        slot = before[slot]
    marks[a] = _NONE
    return clear


@lean
def _clearly_two_paths(
    over: SubOverlays,
    kept: Flags,
    without: int,
    a: int,
    b: int,
    marks: Longs,
    turn: int,
    before: Ids,
    queue: Ids,
    ahead: Ids,
) -> bool:
    """Whether two such paths are found at once; there may be others. Takes seven turns."""
    if _common_neighbours(over, kept, a, b, marks, turn) > 1:
        return True
    if not _meet(over, kept, without, a, b, marks, turn + 1, before, queue, ahead):
        return False
    inner_count = 0  # the vertices between the ends, which the second path must avoid
    for end, start in ((a, queue[0]), (b, ahead[0])):
        slot = start
        while slot != end:
            queue[inner_count] = slot
            inner_count += 1
            slot = before[slot]
    for place in range(inner_count):
        marks[queue[place]] = turn + 6
    return _meet(over, kept, without, a, b, marks, turn + 4, before, queue, ahead)


@lean
def _meet(
    over: SubOverlays,
    kept: Flags,
    without: int,
    a: int,
    b: int,
    marks: Longs,
    turn: int,
    before: Ids,
    queue: Ids,
    ahead: Ids,
) -> bool:
    """Whether searches from both ends meet; then the vertices where they do come first in both queues.

    Vertices reached from a are marked `turn`, from b `turn` + 1; what is marked `turn` + 2 is passed over.
    """
    marks[a], marks[b] = turn, turn + 1
    queue[0], ahead[0] = a, b
    head, tail, other_head, other_tail = 0, 1, 0, 1
    side = 0
    own, its = queue, ahead
    while head < tail and other_head < other_tail:
        slot = own[head]
        head += 1
        for at in range(over.starts[slot], over.starts[slot + 1]):
            other = over.others[at]
            mark = marks[other]
            if not kept[over.edge_of[at]] or over.edge_of[at] == without or mark == turn + side:
                continue
            if mark == turn + 1 - side:
                own[0], its[0] = slot, other
                return True
            if mark != turn + 2:
                marks[other], before[other] = turn + side, slot
                own[tail] = other
                tail += 1
        side = 1 - side
        own, its = its, own
        head, other_head, tail, other_tail = other_head, head, other_tail, tail
    return False


@lean
def _common_neighbours(over: SubOverlays, kept: Flags, a: int, b: int, marks: Longs, turn: int) -> int:
    """How many vertices are linked to both of two; 2 stands for any more."""
    for at in range(over.starts[a], over.starts[a + 1]):
        if kept[over.edge_of[at]]:
            marks[over.others[at]] = turn
    count = 0
    for at in range(over.starts[b], over.starts[b + 1]):
        if kept[over.edge_of[at]] and marks[over.others[at]] == turn:
            count += 1
            if count == 2:
                break
    return count


@lean
def _path(
    over: SubOverlays,
    kept: Flags,
    without: int,
    a: int,
    b: int,
    marks: Longs,
    turn: int,
    before: Ids,
    queue: Ids,
) -> int:
    """How long the shortest path from b back to a is, which `before` tells; _NONE where there is none."""
    marks[a], queue[0] = turn, a
    head, tail = 0, 1
    while head < tail:
        slot = queue[head]
        head += 1
        for at in range(over.starts[slot], over.starts[slot + 1]):
            other = over.others[at]
            if not kept[over.edge_of[at]] or over.edge_of[at] == without or marks[other] == turn:
                continue
            marks[other], before[other] = turn, slot
            if other == b:
                length = 0
                while other != a:
                    other = before[other]
                    length += 1
                return length
            queue[tail] = other
            tail += 1
    return _NONE


@lean
def _furthest(
    over: SubOverlays, kept: Flags, without: int, start: int, marks: Longs, turn: int, queue: Ids
) -> int:
    """The furthest place on the path that `start` leads to, through unseen vertices that are not on it."""
    furthest = 0
    queue[0] = start
    head, tail = 0, 1
    while head < tail:
        slot = queue[head]
        head += 1
        for at in range(over.starts[slot], over.starts[slot + 1]):
            other = over.others[at]
            if not kept[over.edge_of[at]] or over.edge_of[at] == without:
                continue
            mark = marks[other]
            if mark < _NONE:
                furthest = max(furthest, -2 - mark)
            elif mark != turn:
                marks[other] = turn
                queue[tail] = other
                tail += 1
    return furthest
