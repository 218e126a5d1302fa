"""Reverse delete: look at edges from the last to the first, and remove each that no topic needs.

An edge is needed by a topic when it is a bridge of the topic's sub-overlay. When its turn comes, all earlier
edges are still there, so only topics in which it joined two components when it was added can need it: of
those alone is it asked. Two tests follow. The earlier edges leave a topic in some number of components, and
later edges that were kept must connect these, so where they are too few, the edge is needed. Otherwise the
ends search for each other in the sub-overlay, turn by turn, until they meet or the lesser side is exhausted.

Sub-overlays are kept by slot (`kernels/core/topic_components.py`), so a search never leaves its topic.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.topic_components import TopicComponents, unite
from meshwright.kernels.core.totals import add_up
from meshwright.runtime.arrays import Flags, Ids, Offsets, Ticks, int64
from meshwright.runtime.progress import CANCEL, DONE

_NONE = -1


class SubOverlays(NamedTuple):
    """Every topic's sub-overlay by slot, and the topics of which each edge once joined two components."""

    starts: Offsets  # by slot
    others: Ids  # the slots that it is linked to
    edge_of: Ids  # by the edges that link them
    joined_starts: Offsets  # by edge
    joined: Ids  # places in `links_of` of the topics that it joined
    link_starts: Offsets  # by edge
    link_topics: Ids  # the topics that its ends share
    link_slots: Ids  # (links, 2) the slots of both ends


@kernel
def count_links(indptr: Offsets, topic_ids: Ids, edges: Ids) -> Offsets:
    """Where the shared topics of each edge begin, and at the end how many there are in all."""
    starts = np.zeros(len(edges) + 1, np.int64)
    for e in range(len(edges)):
        u, v = edges[e, 0], edges[e, 1]
        i, j, common = indptr[u], indptr[v], 0
        while i < indptr[u + 1] and j < indptr[v + 1]:
            topic, other = topic_ids[i], topic_ids[j]
            common += topic == other
            i += topic <= other
            j += other <= topic
        starts[e + 1] = starts[e] + common
    return starts


@kernel
def list_sub_overlays(state: TopicComponents, edges: Ids, link_starts: Offsets, ticks: Ticks) -> SubOverlays:
    """Take all edges in their order, and note what they link and what they join."""
    links = link_starts[-1]
    link_topics = np.empty(links, np.int32)
    link_slots = np.empty((links, 2), np.int32)
    joined_starts = np.zeros(len(edges) + 1, np.int64)
    joined = np.empty(len(state.names), np.int32)
    starts = np.zeros(len(state.names) + 1, np.int64)
    count = 0
    for e in range(len(edges)):
        if ticks[CANCEL]:
            break
        at = link_starts[e]
        u, v = edges[e, 0], edges[e, 1]
        i, j = state.indptr[u], state.indptr[v]
        while i < state.indptr[u + 1] and j < state.indptr[v + 1]:
            topic, other = state.topic_ids[i], state.topic_ids[j]
            if topic == other:
                a, b = state.slots[i], state.slots[j]
                link_topics[at], link_slots[at, 0], link_slots[at, 1] = topic, a, b
                starts[a + 1] += 1
                starts[b + 1] += 1
                if state.names[a] != state.names[b]:
                    unite(state, topic, state.names[a], state.names[b])
                    joined[count] = at
                    count += 1
                at += 1
            i += topic <= other
            j += other <= topic
        joined_starts[e + 1] = count
    add_up(starts)
    others, edge_of = _fill_links(starts, link_starts, link_slots)
    return SubOverlays(
        starts, others, edge_of, joined_starts, joined[:count].copy(), link_starts, link_topics, link_slots
    )


@inner
def _fill_links(starts: Offsets, link_starts: Offsets, link_slots: Ids) -> tuple[Ids, Ids]:
    fill = starts[:-1].copy()
    others = np.empty(starts[-1], np.int32)
    edge_of = np.empty(starts[-1], np.int32)
    for e in range(len(link_starts) - 1):
        for at in range(link_starts[e], link_starts[e + 1]):
            for side in range(2):
                own, other = link_slots[at, side], link_slots[at, 1 - side]
                others[fill[own]], edge_of[fill[own]] = other, e
                fill[own] += 1
    return others, edge_of


@inner
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


@inner
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
def delete_in_reverse(over: SubOverlays, topic_count: int, longest: int, ticks: Ticks) -> Flags:
    """By edge, whether it stays; `longest` is the most subscribers that a topic has."""
    edges = len(over.link_starts) - 1
    kept = np.ones(edges, np.bool_)
    missing = np.zeros(
        topic_count, np.int64
    )  # joins of the edges seen so far, less those of them that stayed
    marks = np.full(len(over.starts) - 1, _NONE, np.int64)
    queues = np.empty((2, longest), np.int32)
    turn = int64(0)
    for e in range(edges - 1, -1, -1):
        if ticks[CANCEL]:
            break
        first, last = over.joined_starts[e], over.joined_starts[e + 1]
        needed = False
        for k in range(first, last):
            topic = over.link_topics[over.joined[k]]
            missing[topic] += 1
            needed |= missing[topic] > 0
        k = first
        while k < last and not needed:
            at = over.joined[k]
            needed = not _are_linked(
                over.starts,
                over.others,
                over.edge_of,
                kept,
                e,
                over.link_slots[at, 0],
                over.link_slots[at, 1],
                marks,
                turn,
                queues,
            )
            turn += 1
            k += 1
        kept[e] = needed
        if needed:
            for at in range(over.link_starts[e], over.link_starts[e + 1]):
                missing[over.link_topics[at]] -= 1
        ticks[DONE] += 1
    return kept
