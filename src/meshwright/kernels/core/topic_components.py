"""Topic-connected components: the state that every greedy algorithm keeps while it takes edges.

An interest (a node's interest in a topic) has a *slot*: its place when interests are sorted by topic. A
component of a topic is a linked list of slots, named by the slot at its head; every slot carries that name,
so whether two subscribers are connected is one comparison. Uniting renames the smaller list, so all unions
together cost O(k log k) for k interests, and the state takes 32 bytes per interest, whatever nodes x topics
may be.

One component of each topic, the largest that a union has made, is *marked*. A pair of nodes can't gain from
a topic in which both are marked, so what lies outside the marked components bounds what an edge can still
contribute: `loose` by node, `loose_slots` by topic, and, in the dense form, bitsets.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.runtime.arrays import Ids, Offsets, Ticks, Words, int64
from meshwright.runtime.progress import CANCEL, DONE

NONE = -1


class TopicComponents(NamedTuple):
    """The interests in both directions, and the components of every topic."""

    indptr: Offsets
    topic_ids: Ids
    slots: Ids  # of each interest in node order
    topic_indptr: Offsets
    slot_nodes: Ids
    weights: Ids  # of each topic
    names: Ids  # of the component that a slot belongs to
    following: Ids  # the next slot of the same component, NONE at its end
    last: Ids  # by name: the end of the list
    sizes: Ids  # by name
    counts: Ids  # by topic: how many components
    marked: Ids  # by topic: the name of the marked component, or NONE
    loose_slots: Ids  # by topic: the slots outside the marked component, and at most as many inside it
    listed: Ids  # by topic: how many loose_slots lists
    loose_counts: Ids  # by topic: how many of those are outside
    loose: Ids  # by node: the weight of its topics in which it is not marked
    bits: Words  # by node: its first topics, then those in which it is not marked; none in the sparse form


@kernel
def start_components(
    indptr: Offsets, topic_ids: Ids, topic_count: int, weights: Ids, words: int
) -> TopicComponents:
    """Every subscriber of every topic as a component of its own.

    Bitsets have `words` words, for the topics from 0 on; none in the sparse form. Plain loops, since NumPy's
    functions and assignments to slices take Numba three seconds more to compile.
    """
    nodes, interests = len(indptr) - 1, len(topic_ids)
    topic_indptr, counts = np.zeros(topic_count + 1, np.int64), np.zeros(topic_count, np.int32)
    for i in range(interests):
        counts[topic_ids[i]] += 1
    place, marked = np.empty(topic_count, np.int64), np.empty(topic_count, np.int32)
    listed, loose_counts = np.empty(topic_count, np.int32), np.empty(topic_count, np.int32)
    for t in range(topic_count):
        place[t], marked[t] = topic_indptr[t], NONE
        listed[t] = loose_counts[t] = counts[t]
        topic_indptr[t + 1] = topic_indptr[t] + counts[t]
    slots, slot_nodes = np.empty(interests, np.int32), np.empty(interests, np.int32)
    loose = np.zeros(nodes, np.int32)
    bits = np.zeros((nodes, 2 * words), np.uint64)
    for u in range(nodes):
        for i in range(indptr[u], indptr[u + 1]):
            topic = topic_ids[i]
            slots[i] = place[topic]
            slot_nodes[place[topic]] = u
            place[topic] += 1
            loose[u] += weights[topic]
            if topic >> 6 < words:
                bits[u, topic >> 6] |= np.uint64(1) << np.uint64(topic & 63)
        for word in range(words):
            bits[u, words + word] = bits[u, word]
    names, following = np.empty(interests, np.int32), np.empty(interests, np.int32)
    last, sizes = np.empty(interests, np.int32), np.empty(interests, np.int32)
    loose_slots = np.empty(interests, np.int32)
    for slot in range(interests):
        names[slot] = last[slot] = loose_slots[slot] = slot
        following[slot], sizes[slot] = NONE, 1
    return TopicComponents(
        indptr,
        topic_ids,
        slots,
        topic_indptr,
        slot_nodes,
        weights,
        names,
        following,
        last,
        sizes,
        counts,
        marked,
        loose_slots,
        listed,
        loose_counts,
        loose,
        bits,
    )


@inner
def _set_marked(state: TopicComponents, topic: int, name: int, change: int) -> None:
    """Move all slots of a component into the marked one of their topic (change 1) or out of it (-1)."""
    word = (state.bits.shape[1] >> 1) + (topic >> 6)
    bit = np.uint64(1) << np.uint64(topic & 63)
    dense = topic >> 6 < state.bits.shape[1] >> 1
    weight = change * state.weights[topic]
    slot = name
    while slot != NONE:
        node = state.slot_nodes[slot]
        state.loose[node] -= weight
        if dense:
            state.bits[node, word] ^= bit
        slot = state.following[slot]
    state.loose_counts[topic] -= change * state.sizes[name]


@inner
def _list_loose(state: TopicComponents, topic: int) -> None:
    """List the slots outside the marked component again, of all slots of the topic."""
    start = end = state.topic_indptr[topic]
    for slot in range(start, state.topic_indptr[topic + 1]):
        if state.names[slot] != state.marked[topic]:
            state.loose_slots[end] = slot
            end += 1
    state.listed[topic] = end - start


@kernel
def unite(state: TopicComponents, topic: int, a: int, b: int) -> None:
    """Make one component of `a` and `b`, names of two different ones of `topic`."""
    if state.sizes[a] < state.sizes[b]:
        a, b = b, a
    old = state.marked[topic]
    anew = old not in (a, b) and (old == NONE or state.sizes[a] + state.sizes[b] > state.sizes[old])
    if anew and old != NONE:
        _set_marked(state, topic, old, int64(-1))
    if anew or old == b:
        _set_marked(state, topic, a, int64(1))
        state.marked[topic] = a
    if anew or old == a:
        _set_marked(state, topic, b, int64(1))
    slot = b
    while slot != NONE:
        state.names[slot] = a
        slot = state.following[slot]
    state.following[state.last[a]] = b
    state.last[a] = state.last[b]
    state.sizes[a] += state.sizes[b]
    state.counts[topic] -= 1
    if anew or 2 * state.loose_counts[topic] < state.listed[topic]:
        _list_loose(state, topic)


@kernel
def unite_labelled(state: TopicComponents, labels: Ids) -> None:
    """Unite the interests of a topic that have the same label; `labels` has one for each, from 0 on."""
    label_of_slot = np.empty(len(labels), np.int32)
    for i in range(len(labels)):
        label_of_slot[state.slots[i]] = labels[i]
    first_slot = np.full(labels.max() + 1 if len(labels) else 0, NONE, np.int32)
    for topic in range(len(state.counts)):
        start, end = state.topic_indptr[topic], state.topic_indptr[topic + 1]
        for slot in range(start, end):
            first = first_slot[label_of_slot[slot]]
            if first == NONE:
                first_slot[label_of_slot[slot]] = slot
            else:
                unite(state, topic, state.names[first], state.names[slot])
        for slot in range(start, end):
            first_slot[label_of_slot[slot]] = NONE


@inner
def take_edge(state: TopicComponents, u: int, v: int) -> int:
    """Unite the components of `u` and `v` in all their common topics; return how many there were."""
    united = 0
    i, i_end = state.indptr[u], state.indptr[u + 1]
    j, j_end = state.indptr[v], state.indptr[v + 1]
    while i < i_end and j < j_end:
        topic, other = state.topic_ids[i], state.topic_ids[j]
        if topic == other:
            a, b = state.names[state.slots[i]], state.names[state.slots[j]]
            if a != b:
                unite(state, topic, a, b)
                united += 1
        i += topic <= other
        j += other <= topic
    return united


@kernel
def take_all_edges(state: TopicComponents, edges: Ids, ticks: Ticks) -> None:
    """Unite what the `edges` of an overlay connect. O(their ends' interests), beside the unions."""
    for edge in range(len(edges)):
        if ticks[CANCEL]:
            return
        take_edge(state, edges[edge, 0], edges[edge, 1])
        ticks[DONE] += 1


@inner
def write_own_names(state: TopicComponents, u: int, own: Ids) -> None:
    """Write the component of `u` in each of its topics into `own`, which is indexed by topic."""
    for i in range(state.indptr[u], state.indptr[u + 1]):
        own[state.topic_ids[i]] = state.names[state.slots[i]]


@inner
def clear_own_names(state: TopicComponents, u: int, own: Ids) -> None:
    """Undo `write_own_names`."""
    for i in range(state.indptr[u], state.indptr[u + 1]):
        own[state.topic_ids[i]] = NONE
