"""The blocks of topics: parts of sub-overlays that the loss of no single node cuts; and components.

The blocks of a connected graph and the vertices where they meet form a tree. Root it at a vertex: every other
vertex is in one block on its way up, its *own* block, and every block has one *top*, the vertex of it that is
nearest to the root. A link between two vertices makes one block of all blocks on the path between them.

Slots number the interests by topic, and within a topic so that every top comes before all vertices below it;
the first slot of a topic is its root. A link keeps that: what is above a vertex afterwards was above before.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inner, kernel, lean
from meshwright.kernels.core.subgraphs import Links, TopicGraphs, links_of
from meshwright.runtime.arrays import Flags, Ids, Longs, Offsets, Ticks, int64
from meshwright.runtime.progress import CANCEL

NONE = -1

BLOCKS, COMPONENTS = 0, 1
"""What the names of slots stand for: blocks, or, of topics that are not connected yet, components."""


class Blocks(NamedTuple):
    """The trees of blocks of all topics."""

    indptr: Offsets  # by node: its interests
    topic_ids: Ids  # by interest
    slots: Ids  # by interest
    starts: Offsets  # by topic: its first slot
    members: Ids  # by slot: the node
    names: Ids  # by slot: leads to the slot that names its own block (union-find); the root's is itself
    tops: Ids  # by slot that names a block; NONE for a root
    left: Longs  # by topic: blocks but one
    mains: Ids  # by topic: a slot of its main block, the largest at first; NONE where it has none
    outside: Ids  # by topic, from its first slot on: the slots that are not in its main block; of components,
    # those whose nodes can have more links
    outside_counts: Longs  # by topic


@kernel
def fill_blocks(
    graphs: TopicGraphs, subscribers: Ids, topics: tuple[int, int], blocks: Blocks, ticks: Ticks
) -> None:
    """Find the blocks of a range of topics; `subscribers` are in the order of topics and ranks.

    The sub-overlays must be connected. On return `members` has subscribers in the order of slots, and `slots`
    must still be written. Linear in subscribers and links.

    Source: Hopcroft and Tarjan, Communications of the ACM 16(6), 1973.
    """
    for topic in range(*topics):
        if ticks[CANCEL]:
            break
        own = topic - graphs.first_topic
        ends = graphs.ends[graphs.indptr[own] : graphs.indptr[own + 1]]
        _find_blocks(ends, graphs.sizes[own], subscribers, topic, blocks)


@lean
def _most_linked(links: Links) -> int:
    """The vertex with most links, the first of equals."""
    found = 0
    for vertex in range(len(links.indptr) - 1):
        own = links.indptr[vertex + 1] - links.indptr[vertex]
        if own > links.indptr[found + 1] - links.indptr[found]:
            found = vertex
    return found


@inner
def _find_blocks(ends: Ids, size: int, subscribers: Ids, topic: int, blocks: Blocks) -> None:
    """The blocks of one topic, by a depth-first search from the vertex of most links."""
    blocks.left[topic] = 0
    first = blocks.starts[topic]
    if size == 0:
        return
    links = links_of(ends, size)
    root = _most_linked(links)
    orders = np.full(size, np.int32(NONE))
    lows = np.zeros(size, np.int32)
    parents = np.full(size, np.int32(NONE))  # by order: that of the parent
    vertices = np.empty(size, np.int32)  # by order
    places = links.indptr[:-1].copy()
    orders[root], vertices[0] = 0, root
    count, at = 1, 0
    while True:
        vertex = vertices[at]
        if places[vertex] < links.indptr[vertex + 1]:
            other = links.nodes[places[vertex]]
            places[vertex] += 1
            if orders[other] == NONE:
                orders[other] = lows[count] = count
                parents[count], vertices[count] = at, other
                at = count
                count += 1
            elif orders[other] != parents[at]:
                lows[at] = min(lows[at], orders[other])
        elif at == 0:
            break
        else:
            above = parents[at]
            lows[above] = min(lows[above], lows[at])
            at = above
    for order in range(count):
        slot = first + order
        blocks.members[slot] = subscribers[first + vertices[order]]
        above = parents[order]
        if order == 0:
            blocks.names[slot], blocks.tops[slot] = slot, NONE
        elif lows[order] >= above:
            blocks.names[slot], blocks.tops[slot] = slot, first + above
            blocks.left[topic] += 1
        else:
            blocks.names[slot] = blocks.names[first + above]
    blocks.left[topic] = max(blocks.left[topic] - 1, 0)


@kernel
def find_mains(blocks: Blocks) -> None:
    """Find the largest block of every topic, and list the slots outside of it. O(interests)."""
    sizes = np.zeros(len(blocks.names), np.int32)
    for topic in range(len(blocks.left)):
        first, end = blocks.starts[topic], blocks.starts[topic + 1]
        main = NONE
        for slot in range(first + 1, end):
            name = own_block(blocks.names, slot)
            sizes[name] += 1
            if main == NONE or sizes[name] > sizes[main]:
                main = name
        blocks.mains[topic] = main
        count = 0
        for slot in range(first, end):
            if not is_inside(blocks, topic, slot):
                blocks.outside[first + count] = slot
                count += 1
        blocks.outside_counts[topic] = count


@kernel
def list_all(blocks: Blocks) -> None:
    """List all slots of every topic as `outside`. O(interests)."""
    for slot in range(len(blocks.outside)):
        blocks.outside[slot] = slot
    for topic in range(len(blocks.left)):
        blocks.outside_counts[topic] = blocks.starts[topic + 1] - blocks.starts[topic]


@kernel
def start_apart(subscribers: Ids, blocks: Blocks) -> None:
    """Make every subscriber a component of its own. O(interests)."""
    for slot in range(len(subscribers)):
        blocks.members[slot], blocks.names[slot] = subscribers[slot], slot
    for topic in range(len(blocks.left)):
        blocks.left[topic] = max(blocks.starts[topic + 1] - blocks.starts[topic] - 1, 0)


@kernel
def take_given(blocks: Blocks, edges: Ids, degrees: Longs, caps: Longs) -> Flags:
    """Take those of some edges, in order, that join components and that `caps` allow; which these are."""
    taken = np.zeros(len(edges), np.bool_)
    for edge in range(len(edges)):
        u, v = edges[edge, 0], edges[edge, 1]
        if degrees[u] < caps[u] and degrees[v] < caps[v]:
            taken[edge] = link_gain(blocks, COMPONENTS, u, v, True) > 0
            degrees[u] += taken[edge]
            degrees[v] += taken[edge]
    return taken


@kernel
def number_slots(blocks: Blocks) -> None:
    """Write the slot of each interest, from the members of slots. O(interests)."""
    free = blocks.indptr[:-1].copy()
    for topic in range(len(blocks.starts) - 1):
        for slot in range(blocks.starts[topic], blocks.starts[topic + 1]):
            node = blocks.members[slot]
            blocks.slots[free[node]] = slot
            free[node] += 1


@lean
def own_block(names: Ids, slot: int) -> int:
    """The slot that names the own block of a slot; the way to it gets half as long."""
    while names[slot] != slot:
        names[slot] = names[names[slot]]
        slot = names[slot]
    return slot


@lean
def is_inside(blocks: Blocks, topic: int, slot: int) -> bool:
    """Whether a slot is in the main block of its topic."""
    main = blocks.mains[topic]
    if main == NONE:
        return False
    name = own_block(blocks.names, main)
    return own_block(blocks.names, slot) == name or blocks.tops[name] == slot


@lean
def joined_by(blocks: Blocks, a: int, b: int, unite: bool) -> int:
    """How many blocks fewer there are with a link between two slots of a topic; with `unite` it is made."""
    names, tops = blocks.names, blocks.tops
    count, last_a, last_b = 0, NONE, NONE
    name_a, name_b = own_block(names, a), own_block(names, b)
    while a != b and name_a != name_b:
        if a > b:
            if unite and last_a != NONE:
                names[last_a] = name_a
            a, last_a = tops[name_a], name_a
            name_a = own_block(names, a)
        else:
            if unite and last_b != NONE:
                names[last_b] = name_b
            b, last_b = tops[name_b], name_b
            name_b = own_block(names, b)
        count += 1
    if a == b:  # they meet in a vertex, or in a block that both went through
        if last_a == last_b and last_a != NONE:
            count -= 1
        if unite and last_a != last_b and min(last_a, last_b) > NONE:
            names[last_a] = last_b
        return max(count - 1, 0)
    if unite:
        if last_a != NONE:
            names[last_a] = name_a
        if last_b != NONE:
            names[last_b] = name_b
    return count


@lean
def _are_joined_by(names: Ids, a: int, b: int, unite: bool) -> int:
    """1 if two slots of a topic are in different components; with `unite` these become one."""
    name_a, name_b = own_block(names, a), own_block(names, b)
    if unite:
        names[max(name_a, name_b)] = min(name_a, name_b)
    return int64(name_a != name_b)


@lean
def link_gain(blocks: Blocks, kind: int, u: int, v: int, unite: bool) -> int:
    """How many blocks, or components, fewer all topics have with a link; with `unite` it is made."""
    i, i_end = blocks.indptr[u], blocks.indptr[u + 1]
    j, j_end = blocks.indptr[v], blocks.indptr[v + 1]
    gain = 0
    while i < i_end and j < j_end:
        topic, other = blocks.topic_ids[i], blocks.topic_ids[j]
        if topic == other and blocks.left[topic] > 0:
            if kind == BLOCKS:
                found = joined_by(blocks, blocks.slots[i], blocks.slots[j], unite)
            else:
                found = _are_joined_by(blocks.names, blocks.slots[i], blocks.slots[j], unite)
            gain += found
            if unite:
                blocks.left[topic] -= found
        i += topic <= other
        j += other <= topic
    return gain
