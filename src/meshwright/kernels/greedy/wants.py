"""The neighbours that subscribers want in their topics, and what links contribute to that.

In a topic that the failure of no node cuts, every subscriber has two neighbours. So an edge contributes, for
each topic that its ends share, one if it joins two components, and one for each end that wants another
neighbour there. Contributions only fall as edges are taken.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.topic_components import NONE, TopicComponents, unite
from meshwright.runtime.arrays import Bytes, Ids, Longs, Ticks, Words, int64
from meshwright.runtime.progress import DONE


class Wants(NamedTuple):
    """The neighbours that subscribers want. `loose` of the components counts the topics of wants as well."""

    wanted: Bytes  # by slot: how many more
    bits: Words  # by node: the topics in which it wants some; none in the sparse form
    slots: Ids  # by topic, from its first slot on: the slots that want some, and at most as many others
    listed: Ids  # by topic: how many `slots` lists
    counts: Ids  # by topic: how many of them want some
    degrees: Longs  # by node
    caps: Longs  # by node: the most links that it may have


class WantScratch(NamedTuple):
    """Room to work in."""

    gains: Ids  # by node
    found: Ids  # by node
    names: Ids  # by topic: the component of one node, or NONE
    wants: Ids  # by topic: whether that node wants neighbours


@kernel
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
                if topic >> 6 < wants.bits.shape[1]:
                    wants.bits[node, topic >> 6] |= np.uint64(1) << np.uint64(topic & 63)
        wants.listed[topic] = wants.counts[topic]


@inner
def _satisfy(state: TopicComponents, wants: Wants, topic: int, slot: int, node: int) -> int:
    """Give the slot of a node a neighbour; 1 if it wanted one."""
    if wants.wanted[slot] == 0:
        return 0
    wants.wanted[slot] -= 1
    if wants.wanted[slot] == 0:
        state.loose[node] -= 1
        if topic >> 6 < wants.bits.shape[1]:
            wants.bits[node, topic >> 6] &= ~(np.uint64(1) << np.uint64(topic & 63))
        wants.counts[topic] -= 1
        if 2 * wants.counts[topic] < wants.listed[topic]:
            first, kept = state.topic_indptr[topic], 0
            for place in range(first, first + wants.listed[topic]):
                if wants.wanted[wants.slots[place]] > 0:
                    wants.slots[first + kept] = wants.slots[place]
                    kept += 1
            wants.listed[topic] = kept
    return 1


@inner
def link_nodes(state: TopicComponents, wants: Wants, u: int, v: int) -> int:
    """Make a link: unite components and satisfy wants in all common topics; what it contributed."""
    i, i_end = state.indptr[u], state.indptr[u + 1]
    j, j_end = state.indptr[v], state.indptr[v + 1]
    gain = 0
    while i < i_end and j < j_end:
        topic, other = state.topic_ids[i], state.topic_ids[j]
        if topic == other:
            a, b = state.slots[i], state.slots[j]
            if state.names[a] != state.names[b]:
                unite(state, topic, state.names[a], state.names[b])
                gain += 1
            gain += _satisfy(state, wants, topic, a, u) + _satisfy(state, wants, topic, b, v)
        i += topic <= other
        j += other <= topic
    wants.degrees[u] += 1
    wants.degrees[v] += 1
    return gain


@inner
def write_own(state: TopicComponents, wants: Wants, u: int, scratch: WantScratch) -> None:
    """Let `scratch` know the components and wants of a node."""
    for i in range(state.indptr[u], state.indptr[u + 1]):
        slot = state.slots[i]
        scratch.names[state.topic_ids[i]] = state.names[slot]
        scratch.wants[state.topic_ids[i]] = wants.wanted[slot] > 0


@inner
def clear_own(state: TopicComponents, u: int, scratch: WantScratch) -> None:
    """Undo `write_own`."""
    for i in range(state.indptr[u], state.indptr[u + 1]):
        scratch.names[state.topic_ids[i]] = NONE


@inner
def contribution(state: TopicComponents, wants: Wants, v: int, scratch: WantScratch) -> int:
    """What a link between `v` and the node that `scratch` knows would contribute."""
    gain = 0
    for i in range(state.indptr[v], state.indptr[v + 1]):
        topic = state.topic_ids[i]
        name = scratch.names[topic]
        if name != NONE:
            slot = state.slots[i]
            gain += (name != state.names[slot]) + scratch.wants[topic] + (wants.wanted[slot] > 0)
    return gain


@kernel
def take_links(state: TopicComponents, wants: Wants, links: Ids, ticks: Ticks) -> None:
    """Take all `links`, the lower end first, whatever they contribute and the caps say."""
    for e in range(len(links)):
        ticks[DONE] += link_nodes(state, wants, int64(links[e, 0]), int64(links[e, 1]))
