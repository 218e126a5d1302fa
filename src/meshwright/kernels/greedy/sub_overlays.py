"""Every topic's sub-overlay at once, for reverse delete: what each edge links inside the topics of its ends.

A *link* is an edge inside one topic that its ends share. Its ends are *slots*: an interest's place when
interests are sorted by topic, so a search from slot to slot never leaves its topic.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import kernel, lean, lean_kernel
from meshwright.kernels.core.bits import popcount
from meshwright.kernels.core.totals import add_up
from meshwright.runtime.arrays import Flags, Ids, Offsets, Words

_NONE = -1


class SubOverlays(NamedTuple):
    """The links of some edges, by slot and by edge."""

    starts: Offsets  # by slot
    others: Ids  # the slots that it is linked to
    edge_of: Ids  # by the edges that link them
    link_starts: Offsets  # by edge
    link_slots: Ids  # (links, 2) the slots of both ends


_WORDS_AN_INTEREST = 2
"""Words of a bitset for each interest up to which links are counted by bitsets: 8 to 20 times as fast as by
lists at 10,000 nodes and 200 to 1,000 topics (measured)."""


@kernel
def count_links(indptr: Offsets, topic_ids: Ids, edges: Ids) -> Offsets:
    """Where the shared topics of each edge begin, and at the end how many there are in all."""
    starts = np.zeros(len(edges) + 1, np.int64)
    topics = 0
    for topic in topic_ids:
        topics = max(topics, topic + 1)
    nodes, words = len(indptr) - 1, (topics + 63) >> 6
    if nodes * words <= _WORDS_AN_INTEREST * len(topic_ids):
        _count_by_bits(indptr, topic_ids, edges, np.zeros((nodes, words), np.uint64), starts)
    else:
        _count_by_lists(indptr, topic_ids, edges, starts)
    return starts


@lean
def _count_by_bits(indptr: Offsets, topic_ids: Ids, edges: Ids, bits: Words, starts: Offsets) -> None:
    """`count_links`, by a bit for each topic of each node; none is set yet."""
    for node in range(len(bits)):
        for topic in topic_ids[indptr[node] : indptr[node + 1]]:
            bits[node, topic >> 6] |= np.uint64(1) << np.uint64(topic & 63)
    for e in range(len(edges)):
        u, v = edges[e, 0], edges[e, 1]
        common = 0
        for w in range(bits.shape[1]):
            common += popcount(bits[u, w] & bits[v, w])
        starts[e + 1] = starts[e] + common


@lean
def _count_by_lists(indptr: Offsets, topic_ids: Ids, edges: Ids, starts: Offsets) -> None:
    """`count_links`, by going through the topics of both ends of each edge."""
    for e in range(len(edges)):
        u, v = edges[e, 0], edges[e, 1]
        i, j, common = indptr[u], indptr[v], 0
        while i < indptr[u + 1] and j < indptr[v + 1]:
            topic, other = topic_ids[i], topic_ids[j]
            common += topic == other
            i += topic <= other
            j += other <= topic
        starts[e + 1] = starts[e] + common


@kernel
def find_link_slots(
    indptr: Offsets, topic_ids: Ids, topic_count: int, edges: Ids, link_starts: Offsets
) -> Ids:
    """The slots of both ends of every link, in the order of edges and then of topics."""
    free = np.zeros(topic_count + 1, np.int64)
    for topic in topic_ids:
        free[topic + 1] += 1
    add_up(free)
    slots = np.empty(len(topic_ids), np.int32)
    for i in range(len(topic_ids)):
        slots[i] = free[topic_ids[i]]
        free[topic_ids[i]] += 1
    link_slots = np.empty((link_starts[-1], 2), np.int32)
    for e in range(len(edges)):
        at = link_starts[e]
        i, i_end = indptr[edges[e, 0]], indptr[edges[e, 0] + 1]
        j, j_end = indptr[edges[e, 1]], indptr[edges[e, 1] + 1]
        while i < i_end and j < j_end:
            topic, other = topic_ids[i], topic_ids[j]
            if topic == other:
                link_slots[at, 0], link_slots[at, 1] = slots[i], slots[j]
                at += 1
            i += topic <= other
            j += other <= topic
    return link_slots


@kernel
def list_sub_overlays(slot_count: int, link_starts: Offsets, link_slots: Ids, chosen: Flags) -> SubOverlays:
    """The sub-overlays that the chosen edges make, in their order."""
    starts = np.zeros(slot_count + 1, np.int64)
    for e in range(len(chosen)):
        if chosen[e]:
            for at in range(link_starts[e], link_starts[e + 1]):
                starts[link_slots[at, 0] + 1] += 1
                starts[link_slots[at, 1] + 1] += 1
    add_up(starts)
    free = starts[:-1].copy()
    others, edge_of = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.int32)
    for e in range(len(chosen)):
        if chosen[e]:
            for at in range(link_starts[e], link_starts[e + 1]):
                a, b = link_slots[at, 0], link_slots[at, 1]
                others[free[a]], others[free[b]] = b, a
                edge_of[free[a]] = edge_of[free[b]] = e
                free[a] += 1
                free[b] += 1
    return SubOverlays(starts, others, edge_of, link_starts, link_slots)


@lean
def _root(parents: Ids, slot: int) -> int:
    """The root of a slot's tree; the path to it gets half as long."""
    while parents[slot] != slot:
        parents[slot] = parents[parents[slot]]
        slot = parents[slot]
    return slot


@lean_kernel
def find_joins(link_starts: Offsets, link_slots: Ids, parents: Ids, joins: Flags, joining: Flags) -> None:
    """Take all edges in their order; note which links join two components, and which edges have such links.

    `parents` has every slot at its own place.
    """
    for e in range(len(joining)):
        for at in range(link_starts[e], link_starts[e + 1]):
            a, b = _root(parents, link_slots[at, 0]), _root(parents, link_slots[at, 1])
            joins[at] = a != b
            joining[e] |= joins[at]
            parents[max(a, b)] = min(a, b)


@kernel
def find_bridges(over: SubOverlays) -> Flags:
    """By edge, whether a topic is divided without it. Linear in slots and links.

    Source: Tarjan, Information Processing Letters 2(6), 1974.
    """
    slots = len(over.starts) - 1
    found = np.zeros(len(over.link_starts) - 1, np.bool_)
    orders, lows = np.full(slots, np.int32(_NONE)), np.zeros(slots, np.int32)
    above, by = np.full(slots, np.int32(_NONE)), np.full(slots, np.int32(_NONE))
    places = over.starts[:-1].copy()
    count = 0
    for root in range(slots):
        if orders[root] == _NONE:
            count = _find_bridges_from(over, root, count, orders, lows, above, by, places, found)
    return found


@lean
def _find_bridges_from(
    over: SubOverlays,
    root: int,
    count: int,
    orders: Ids,
    lows: Ids,
    above: Ids,
    by: Ids,
    places: Offsets,
    found: Flags,
) -> int:
    """Search one component, depth first; return how many slots have an order then."""
    slot = root
    orders[slot] = lows[slot] = count
    count += 1
    while slot != _NONE:
        at = places[slot]
        if at < over.starts[slot + 1]:
            places[slot] += 1
            other = over.others[at]
            if orders[other] == _NONE:
                orders[other] = lows[other] = count
                above[other], by[other] = slot, over.edge_of[at]
                count += 1
                slot = int(other)
            elif over.edge_of[at] != by[slot]:
                lows[slot] = min(lows[slot], orders[other])
        else:
            upper = int(above[slot])
            if upper != _NONE:
                if lows[slot] > orders[upper]:
                    found[by[slot]] = True
                lows[upper] = min(lows[upper], lows[slot])
            slot = upper
    return count
