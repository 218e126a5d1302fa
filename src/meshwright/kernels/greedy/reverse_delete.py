"""Reverse delete: look at edges from the last to the first, and remove each that no topic needs.

An edge is needed by a topic when it is a bridge of the topic's sub-overlay. When its turn comes, all earlier
edges are still there, so only topics in which it joined two components when it was added can need it: of
those alone is it asked, and edges that joined nothing are left out from the start. Three tests follow. What
is a bridge among all edges is one whatever is removed. The earlier edges leave a topic in some number of
components, and later edges that were kept must connect these, so where they are too few, the edge is needed.
Otherwise the ends search for each other in the sub-overlay, turn by turn, until they meet or the lesser side
is exhausted.
"""

import numpy as np

from meshwright.kernels.compiling import kernel, lean
from meshwright.kernels.greedy.sub_overlays import SubOverlays
from meshwright.runtime.arrays import Flags, Ids, Offsets, Ticks, int64
from meshwright.runtime.progress import CANCEL, DONE

_NONE = -1


@lean
def _expand(
    starts: Offsets,
    others: Ids,
    edge_of: Ids,
    kept: Flags,
    without: int,
    slot: int,
    queue: Ids,
    end: int,
    marks: Offsets,
    own: int,
    sought: int,
) -> int:
    """Add the unseen neighbours of a slot to a queue; return its new end, or _NONE when the sides met."""
    for at in range(starts[slot], starts[slot + 1]):
        e = edge_of[at]
        if e == without or not kept[e]:
            continue
        mark = marks[others[at]]
        if mark == sought:
            return _NONE
        if mark != own:
            marks[others[at]] = own
            queue[end] = others[at]
            end += 1
    return end


@lean
def _are_linked(
    starts: Offsets,
    others: Ids,
    edge_of: Ids,
    kept: Flags,
    without: int,
    a: int,
    b: int,
    marks: Offsets,
    turn: int,
    queues: Ids,
) -> bool:
    """Whether two slots are connected by kept edges other than `without`; the side with less work goes on."""
    own_a, own_b = 2 * turn, 2 * turn + 1
    marks[a], marks[b] = own_a, own_b
    queues[0, 0], queues[1, 0] = a, b
    at_a, at_b = 0, 0
    end_a, end_b = int64(1), int64(1)
    work_a, work_b = 0, 0
    while at_a < end_a and at_b < end_b:
        if work_a <= work_b:
            slot = queues[0, at_a]
            at_a += 1
            work_a += starts[slot + 1] - starts[slot]
            end_a = _expand(
                starts, others, edge_of, kept, without, slot, queues[0], end_a, marks, own_a, own_b
            )
            if end_a == _NONE:
                return True
        else:
            slot = queues[1, at_b]
            at_b += 1
            work_b += starts[slot + 1] - starts[slot]
            end_b = _expand(
                starts, others, edge_of, kept, without, slot, queues[1], end_b, marks, own_b, own_a
            )
            if end_b == _NONE:
                return True
    return False


@kernel
def delete_in_reverse(
    over: SubOverlays,
    joins: Flags,
    joining: Flags,
    bridges: Flags,
    topics: Ids,
    topic_count: int,
    longest: int,
    ticks: Ticks,
) -> Flags:
    """By edge, whether it stays; of those `joining`, which `over` has, since the others don't.

    `joins` says by link whether it joined two components, `bridges` by edge what is needed in any case,
    `topics` by slot the topic; `longest` is the most subscribers that a topic has.
    """
    edges = len(over.link_starts) - 1
    kept = joining.copy()
    missing = np.zeros(
        topic_count, np.int64
    )  # joins of the edges seen so far, less those of them that stayed
    marks = np.full(len(over.starts) - 1, _NONE, np.int64)
    queues = np.empty((2, longest), np.int32)
    turn = int64(0)
    for e in range(edges - 1, -1, -1):
        if ticks[CANCEL]:
            break
        ticks[DONE] += 1
        if not joining[e]:
            continue
        needed = bridges[e]
        for at in range(over.link_starts[e], over.link_starts[e + 1]):
            topic = topics[over.link_slots[at, 0]]
            missing[topic] += joins[at]
            needed |= joins[at] and missing[topic] > 0
        at = over.link_starts[e]
        while at < over.link_starts[e + 1] and not needed:
            if joins[at]:
                a, b = over.link_slots[at, 0], over.link_slots[at, 1]
                needed = not _are_linked(
                    over.starts, over.others, over.edge_of, kept, e, a, b, marks, turn, queues
                )
                turn += 1
            at += 1
        kept[e] = needed
        if needed:
            for at in range(over.link_starts[e], over.link_starts[e + 1]):
                missing[topics[over.link_slots[at, 0]]] -= 1
    return kept
