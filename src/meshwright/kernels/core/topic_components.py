"""Topic-connected components: the state that every greedy algorithm keeps while it takes edges.

An interest (a node's interest in a topic) has a *slot*: its place when interests are sorted by topic. A
component of a topic is named by one of its slots; every slot carries that name, so whether two subscribers
are connected is one comparison. Uniting renames the smaller one, so all unions together cost O(k log k) for k
interests, and the state takes 32 bytes per interest, whatever nodes x topics may be.

One component of each topic, the largest that a union has made, is *marked*. A pair of nodes can't gain from
a topic in which both are marked, so what lies outside the marked components bounds what an edge can still
contribute: `loose` by node, `loose_slots` by topic, and, in the dense form, bitsets. Every other component
is a linked list of its slots that begins with the one that names it; the marked one needs no list, since
others are only ever moved into it.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inlined, kernel, lean, lean_kernel
from meshwright.kernels.core.prefetching import prefetch
from meshwright.runtime.arrays import Bytes, Ids, Offsets, Ticks, Words, int64
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
    following: Ids  # the next slot of the same component, NONE at its end; not where it is marked
    last: Ids  # by name: the end of the list; not where it is marked
    sizes: Ids  # by name; not where it is marked
    counts: Ids  # by topic: how many components
    marked: Ids  # by topic: the name of the marked component, or NONE
    loose_slots: Ids  # by topic: the slots outside the marked component, and at most as many inside it
    listed: Ids  # by topic: how many loose_slots lists
    loose_counts: Ids  # by topic: how many of those are outside
    loose: Ids  # by node: the weight of its topics in which it is not marked
    bits: Words  # by node: its first topics, then those in which it is not marked; none in the sparse form
    column_of: Ids  # by topic: its place in the columns, or NONE
    columns: Bytes  # by eight topics, then by node: as bits; first all of a node, then those not marked
    gaining: Ids  # room for the topics that an edge joins: [topic, one component, the other]
    own: Ids  # by topic, room: NONE


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
    column_of, own = np.empty(topic_count, np.int32), np.empty(topic_count, np.int32)
    for t in range(topic_count):
        place[t], marked[t] = topic_indptr[t], NONE
        column_of[t] = own[t] = NONE
        listed[t] = loose_counts[t] = counts[t]
        topic_indptr[t + 1] = topic_indptr[t] + counts[t]
    slots, slot_nodes = np.empty(interests, np.int32), np.empty(interests, np.int32)
    loose, most = np.zeros(nodes, np.int32), 0
    bits = np.zeros((nodes, 2 * words), np.uint64)
    for u in range(nodes):
        most = max(most, indptr[u + 1] - indptr[u])
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
        column_of,
        np.empty((0, 0), np.uint8),
        np.empty((3, most + 1), np.int32),
        own,
    )


@inlined
def _move_slot(state: TopicComponents, topic: int, slot: int, weight: int) -> None:
    """Move a slot into the marked component of its topic, or, with a negative weight, out of it."""
    node, words = np.uint32(state.slot_nodes[np.uint32(slot)]), state.bits.shape[1] >> 1
    state.loose[node] -= weight
    if topic >> 6 < words:
        state.bits[node, words + (topic >> 6)] ^= np.uint64(1) << np.uint64(topic & 63)
    column = state.column_of[np.uint32(topic)]
    if column != NONE:
        loose = (state.columns.shape[0] >> 1) + (column >> 3)
        state.columns[loose, node] ^= np.uint8(1 << (column & 7))


@lean
def _list_loose(state: TopicComponents, topic: int) -> None:
    """List the slots outside the marked component again, of those that are listed."""
    start = end = state.topic_indptr[topic]
    for at in range(start, start + state.listed[topic]):
        slot = state.loose_slots[at]
        if state.names[slot] != state.marked[topic]:
            state.loose_slots[end] = slot
            end += 1
    state.listed[topic] = end - start


@lean
def _mark(state: TopicComponents, topic: int, name: int) -> None:
    """Mark a component in place of the present one, of which a list is made. O(subscribers)."""
    old, weight = state.marked[topic], state.weights[topic]
    start, size = state.topic_indptr[topic], 0
    before, end = old, start
    for slot in range(start, state.topic_indptr[topic + 1]):
        if state.names[slot] == name:
            _move_slot(state, topic, slot, weight)
            continue
        state.loose_slots[end] = slot
        end += 1
        if state.names[slot] == old:
            _move_slot(state, topic, slot, -weight)
            size += 1
            if slot != old:
                state.following[before] = slot
                before = slot
    if old != NONE:
        state.following[before] = NONE
        state.last[old], state.sizes[old] = before, size
    state.marked[topic] = name
    state.listed[topic] = state.loose_counts[topic] = end - start


@lean
def _join(state: TopicComponents, topic: int, a: int, b: int) -> int:
    """Make one component of two that are not marked; mark it if it is larger than the marked one."""
    if state.sizes[a] < state.sizes[b]:
        a, b = b, a
    slot = b
    while slot != NONE:
        state.names[slot] = a
        slot = state.following[slot]
    state.following[state.last[a]] = b
    state.last[a] = state.last[b]
    state.sizes[a] += state.sizes[b]
    subscribers = state.topic_indptr[topic + 1] - state.topic_indptr[topic]
    if state.sizes[a] > subscribers - state.loose_counts[topic]:
        _mark(state, topic, a)
    return a


@inlined
def _unite(state: TopicComponents, topic: int, a: int, b: int) -> int:
    """`unite` without a call where one of the two is marked, which nearly all unions are."""
    place = np.uint32(topic)
    marked = state.marked[place]
    state.counts[place] -= 1
    if marked not in (a, b):
        return _join(state, topic, a, b)
    slot, weight = b if a == marked else a, state.weights[place]
    while slot != NONE:
        state.names[np.uint32(slot)] = marked
        _move_slot(state, topic, slot, weight)
        state.loose_counts[place] -= 1
        slot = state.following[np.uint32(slot)]
    if 2 * state.loose_counts[place] < state.listed[place]:
        _list_loose(state, topic)
    return marked


@lean_kernel
def unite(state: TopicComponents, topic: int, a: int, b: int) -> int:
    """Make one component of `a` and `b`, names of two different ones of `topic`; return its name."""
    return int64(_unite(state, topic, a, b))


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


@inlined
def unite_gaining(state: TopicComponents, count: int, own: Ids) -> None:
    """Unite what the first `count` entries of `gaining` have; `own` gets the new names.

    What the unions read is asked for before the first of them, since a union waits for memory most of its
    time (measured: they take a third of the time so).
    """
    for k in range(count):
        topic, a, b = state.gaining[0, k], state.gaining[1, k], state.gaining[2, k]
        moved = int64(b if a == state.marked[topic] else a)
        prefetch(state.following, moved)
        prefetch(state.slot_nodes, moved)
    for k in range(count):
        topic, a, b = state.gaining[0, k], state.gaining[1, k], state.gaining[2, k]
        own[topic] = _unite(state, topic, a, b)


@inlined
def find_gaining(state: TopicComponents, own: Ids, v: int) -> int:
    """Note in `gaining` the topics that an edge to `v` would join; return how many there are.

    `own` has the names of the other end. For each topic the name of its component is noted, and that of `v`.
    """
    names, begin, end = state.names, state.indptr[v], state.indptr[v + 1]
    topics, slots = state.topic_ids[begin:end], state.slots[begin:end]
    gaining, ones, others = state.gaining[0], state.gaining[1], state.gaining[2]
    common = 0
    for i in range(len(topics)):
        name = own[np.uint32(topics[i])]
        if name != NONE:
            prefetch(names, int64(slots[i]))
            gaining[common], ones[common], others[common] = topics[i], name, slots[i]
            common += 1
    count = 0
    for k in range(common):
        topic, a, b = gaining[k], ones[k], names[np.uint32(others[k])]
        gaining[count], ones[count], others[count] = topic, a, b
        count += a != b
    return count


@lean
def take_edge(state: TopicComponents, u: int, v: int) -> int:
    """Unite the components of `u` and `v` in all their common topics; return how many there were."""
    own = state.own
    write_own_names(state, u, own)
    united = find_gaining(state, own, v)
    unite_gaining(state, united, own)
    clear_own_names(state, u, own)
    return united


@lean_kernel
def take_all_edges(state: TopicComponents, edges: Ids, ticks: Ticks) -> None:
    """Unite what the `edges` of an overlay connect. O(their ends' interests), beside the unions."""
    for edge in range(len(edges)):
        if ticks[CANCEL]:
            return
        take_edge(state, edges[edge, 0], edges[edge, 1])
        ticks[DONE] += 1


@inlined
def prefetch_interests(state: TopicComponents, v: int) -> None:
    """Ask for the topics of a node that is looked at next."""
    for i in range(state.indptr[v], state.indptr[v + 1], 16):
        prefetch(state.topic_ids, i)
        prefetch(state.slots, i)


@lean
def write_own_names(state: TopicComponents, u: int, own: Ids) -> None:
    """Write the component of `u` in each of its topics into `own`, which is indexed by topic."""
    # Slices and unsigned places here and above: places that might be negative keep processors from reading
    # ahead, and make loops gather what stands in a row.
    begin, end = state.indptr[u], state.indptr[u + 1]
    topics, slots = state.topic_ids[begin:end], state.slots[begin:end]
    for i in range(len(topics)):
        own[np.uint32(topics[i])] = state.names[np.uint32(slots[i])]


@lean
def clear_own_names(state: TopicComponents, u: int, own: Ids) -> None:
    """Undo `write_own_names`."""
    for topic in state.topic_ids[state.indptr[u] : state.indptr[u + 1]]:
        own[np.uint32(topic)] = NONE
