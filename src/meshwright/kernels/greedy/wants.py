"""The neighbours that subscribers want in their topics, and what links contribute to that.

In a topic that the failure of no node cuts, every subscriber has two neighbours. So an edge contributes, for
each topic that its ends share, one if it joins two components, and one for each end that wants another
neighbour there. Contributions only fall as edges are taken.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inlined, lean, lean_kernel
from meshwright.kernels.core.prefetching import prefetch
from meshwright.kernels.core.topic_components import NONE, TopicComponents, unite
from meshwright.runtime.arrays import Bytes, Ids, Longs, Ticks, Words, int64
from meshwright.runtime.progress import DONE


class Wants(NamedTuple):
    """The neighbours that subscribers want. `loose` of the components counts the topics of wants as well."""

    wanted: Bytes  # by slot: how many more
    bits: Words  # by node: the topics in which it wants some; none in the sparse form
    columns: Bytes  # those of the components, and then as many of the topics in which a node wants some
    slots: Ids  # by topic, from its first slot on: the slots that want some, and at most as many others
    listed: Ids  # by topic: how many `slots` lists
    counts: Ids  # by topic: how many of them want some
    degrees: Longs  # by node
    caps: Longs  # by node: the most links that it may have


class Own(NamedTuple):
    """What is known of one node, by topic."""

    names: Ids  # its component, or NONE
    slots: Ids  # its slot
    wants: Bytes  # whether it wants neighbours


@inlined
def _flip_wanting(wants: Wants, column: int, topic: int, node: int) -> None:
    """Note that a node wants neighbours in a topic, or no longer does."""
    if topic >> 6 < wants.bits.shape[1]:
        wants.bits[node, topic >> 6] ^= np.uint64(1) << np.uint64(topic & 63)
    if column != NONE:
        wants.columns[len(wants.columns) // 3 * 2 + (column >> 3), node] ^= np.uint8(1 << (column & 7))


@lean_kernel
def start_wants(state: TopicComponents, wants: Wants) -> None:
    """Fill in what follows from `wanted`, and count it in `loose`. O(interests)."""
    for topic in range(len(state.counts)):
        first = state.topic_indptr[topic]
        wants.counts[topic] = 0
        for slot in range(first, state.topic_indptr[topic + 1]):
            if wants.wanted[slot] > 0:
                node = state.slot_nodes[slot]
                wants.slots[first + wants.counts[topic]] = slot
                wants.counts[topic] += 1
                state.loose[node] += 1
                _flip_wanting(wants, state.column_of[topic], topic, node)
        wants.listed[topic] = wants.counts[topic]


@lean
def _satisfy(state: TopicComponents, wants: Wants, topic: int, slot: int, node: int) -> int:
    """Give the slot of a node a neighbour; 1 if it wanted one."""
    if wants.wanted[slot] == 0:
        return 0
    wants.wanted[slot] -= np.uint8(1)
    if wants.wanted[slot] == 0:
        state.loose[node] -= 1
        _flip_wanting(wants, state.column_of[topic], topic, node)
        wants.counts[topic] -= 1
        if 2 * wants.counts[topic] < wants.listed[topic]:
            first, kept = state.topic_indptr[topic], 0
            for place in range(first, first + wants.listed[topic]):
                if wants.wanted[wants.slots[place]] > 0:
                    wants.slots[first + kept] = wants.slots[place]
                    kept += 1
            wants.listed[topic] = kept
    return 1


@lean
def write_own(state: TopicComponents, wants: Wants, u: int, own: Own) -> None:
    """Write what is known of a node."""
    begin, end = state.indptr[u], state.indptr[u + 1]
    topics, slots = state.topic_ids[begin:end], state.slots[begin:end]
    for i in range(len(topics)):
        topic, slot = np.uint32(topics[i]), slots[i]
        own.names[topic], own.slots[topic] = state.names[np.uint32(slot)], slot
        own.wants[topic] = wants.wanted[np.uint32(slot)] > 0


@lean
def clear_own(state: TopicComponents, u: int, own: Own) -> None:
    """Undo `write_own`."""
    for topic in state.topic_ids[state.indptr[u] : state.indptr[u + 1]]:
        own.names[np.uint32(topic)] = NONE


@inlined
def find_common(state: TopicComponents, own: Own, v: int) -> int:
    """Note in `gaining` the topics that `v` shares with the node of `own`, and the slots of `v`; how many."""
    names, begin, end = state.names, state.indptr[v], state.indptr[v + 1]
    topics, slots = state.topic_ids[begin:end], state.slots[begin:end]
    common, others = state.gaining[0], state.gaining[2]
    count = 0
    for i in range(len(topics)):
        if own.names[np.uint32(topics[i])] != NONE:
            prefetch(names, int64(slots[i]))
            common[count], others[count] = topics[i], slots[i]
            count += 1
    return count


@inlined
def common_gain(state: TopicComponents, wants: Wants, own: Own, count: int) -> int:
    """What a link contributes to the first `count` topics in `gaining`."""
    gain = 0
    for k in range(count):
        topic, slot = np.uint32(state.gaining[0, k]), np.uint32(state.gaining[2, k])
        gain += (own.names[topic] != state.names[slot]) + own.wants[topic] + (wants.wanted[slot] > 0)
    return gain


@lean
def link_common(state: TopicComponents, wants: Wants, own: Own, count: int, u: int, v: int) -> None:
    """Make a link that shares the first `count` topics in `gaining`: unite components, and satisfy wants.

    What the unions read is asked for before the first of them.
    """
    for k in range(count):
        topic, b = state.gaining[0, k], state.names[state.gaining[2, k]]
        a = own.names[topic]
        if a != b:
            moved = int64(b if a == state.marked[topic] else a)
            prefetch(state.following, moved)
            prefetch(state.slot_nodes, moved)
    for k in range(count):
        topic, slot = int64(state.gaining[0, k]), int64(state.gaining[2, k])
        own_slot = int64(own.slots[topic])
        if own.names[topic] != state.names[slot]:
            own.names[topic] = unite(state, topic, int64(own.names[topic]), int64(state.names[slot]))
        _satisfy(state, wants, topic, own_slot, u)
        _satisfy(state, wants, topic, slot, v)
        own.wants[topic] = wants.wanted[own_slot] > 0
    wants.degrees[u] += 1
    wants.degrees[v] += 1


@lean_kernel
def take_links(state: TopicComponents, wants: Wants, links: Ids, own: Own, ticks: Ticks) -> None:
    """Take all `links`, whatever they contribute and the caps say."""
    for e in range(len(links)):
        u, v = int64(links[e, 0]), int64(links[e, 1])
        write_own(state, wants, u, own)
        count = find_common(state, own, v)
        ticks[DONE] += common_gain(state, wants, own, count)
        link_common(state, wants, own, count, u, v)
        clear_own(state, u, own)
