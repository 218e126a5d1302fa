"""An overlay as one rooted tree for each topic: what a search for fewer links changes.

Every slot (a node's interest in a topic) but the root of the topic has a parent in the topic, and the link to
it. The *load* of a link is how many slots use it; a link that no slot uses is superfluous. Every change of a
slot is noted in a log, so that it can be undone.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inner, kernel, lean, lean_kernel
from meshwright.kernels.core.totals import add_up
from meshwright.runtime.arrays import Ids, Offsets, Singles, int64

NONE = -1

USED, FREE, LOGGED, TURN, ENERGY = range(5)
"""Places in `counts`: links with a load, links in `free`, entries of the log, a number for marks, and the sum
of what links count."""

HEAVIEST = 63
"""From this load on, a link counts the same."""

_LOG = 1 << 16
_NO_LOAD = 1 << 30
"""Of what stands for the link above a root: never the least."""

_DEEPEST = 1 << 12
"""Longer ways up a tree are not walked."""


class TopicTrees(NamedTuple):
    """The interests, the tree of every topic, and the links by node."""

    indptr: Offsets
    topic_ids: Ids
    slots: Ids  # by interest
    nodes: Ids  # by slot
    topic_indptr: Offsets  # by topic: its first slot
    parents: Ids  # by slot; NONE at a root
    via: Ids  # by slot: the link to the parent; at a root the last of `loads`, which is none
    ends: Ids  # (links, 2)
    loads: Ids  # by link
    prices: Singles  # by link: what each slot pays for it
    energies: Offsets  # by load: what a link counts
    shares: Singles  # by load: what a slot pays for a link
    heads: Ids  # by node: its first half; half 2 l + k is the end k of link l
    after: Ids  # by half: the next one of its node
    before: Ids  # by half
    free: Ids  # numbers of links that are free
    marks: Offsets  # by slot
    log: Ids  # (entries, 3): a slot, its parent and its link before
    counts: Offsets


@kernel
def make_trees(
    indptr: Offsets,
    topic_ids: Ids,
    topic_count: int,
    edges: Ids,
    room: int,
    energies: Offsets,
    shares: Singles,
) -> TopicTrees:
    """The trees that breadth-first searches make, from the node of each topic that has most topics.

    There is room for `room` links more. O(interests + for each topic the links of its subscribers).
    """
    node_count, interests, links = len(indptr) - 1, len(topic_ids), len(edges) + room
    topic_indptr, slots, nodes = _number_slots(indptr, topic_ids, topic_count)
    free, loads = np.empty(links, np.int32), np.zeros(links + 1, np.int32)
    for at in range(links):
        free[at] = links - 1 - at
    loads[links] = _NO_LOAD
    trees = TopicTrees(
        indptr,
        topic_ids,
        slots,
        nodes,
        topic_indptr,
        np.full(interests, np.int32(NONE)),
        np.full(interests, np.int32(links)),
        np.empty((links, 2), np.int32),
        loads,
        np.zeros(links + 1, np.float32),
        energies,
        shares,
        np.full(node_count, np.int32(NONE)),
        np.empty(2 * links, np.int32),
        np.empty(2 * links, np.int32),
        free,
        np.zeros(interests, np.int64),
        np.empty((_LOG, 3), np.int32),
        np.array([0, links, 0, 0, 0]),
    )
    for edge in range(len(edges)):
        add_link(trees, int64(edges[edge, 0]), int64(edges[edge, 1]))
    queue = np.empty(node_count, np.int32)
    for topic in range(topic_count):
        _grow(trees, topic, queue)
    return trees


@inner
def _number_slots(indptr: Offsets, topic_ids: Ids, topic_count: int) -> tuple[Offsets, Ids, Ids]:
    """By topic its first slot; by interest its slot; by slot its node."""
    topic_indptr = np.zeros(topic_count + 1, np.int64)
    for topic in topic_ids:
        topic_indptr[topic + 1] += 1
    add_up(topic_indptr)
    place = topic_indptr.copy()
    slots, nodes = np.empty(len(topic_ids), np.int32), np.empty(len(topic_ids), np.int32)
    for node in range(len(indptr) - 1):
        for i in range(indptr[node], indptr[node + 1]):
            slots[i] = place[topic_ids[i]]
            nodes[slots[i]] = node
            place[topic_ids[i]] += 1
    return topic_indptr, slots, nodes


@inner
def _grow(trees: TopicTrees, topic: int, queue: Ids) -> None:
    """Make the tree of a topic."""
    start, end = trees.topic_indptr[topic], trees.topic_indptr[topic + 1]
    root, most = start, int64(-1)
    for slot in range(start, end):
        size = trees.indptr[trees.nodes[slot] + 1] - trees.indptr[trees.nodes[slot]]
        if size > most:
            root, most = slot, size
    if start == end:
        return
    trees.marks[root] = NONE
    queue[0], at, count = root, 0, 1
    while at < count:
        slot = int64(queue[at])
        node = trees.nodes[slot]
        half = trees.heads[node]
        while half != NONE:
            other = slot_of(trees, int64(trees.ends[half >> 1, 1 - (half & 1)]), topic)
            if other != NONE and trees.marks[other] != NONE:
                trees.marks[other] = NONE
                trees.parents[other], trees.via[other] = slot, half >> 1
                _load(trees, int64(half >> 1), 1)
                queue[count] = other
                count += 1
            half = trees.after[half]
        at += 1


@lean_kernel
def slot_of(trees: TopicTrees, node: int, topic: int) -> int:
    """The slot of a node in a topic, or NONE."""
    low, high = trees.indptr[node], trees.indptr[node + 1]
    end = high
    while low < high:
        middle = (low + high) >> 1
        if trees.topic_ids[middle] < topic:
            low = middle + 1
        else:
            high = middle
    return int64(trees.slots[low]) if low < end and trees.topic_ids[low] == topic else int64(NONE)


@lean
def add_link(trees: TopicTrees, u: int, v: int) -> int:
    """Open a link that no slot uses yet; return its number."""
    trees.counts[FREE] -= 1
    link = int64(trees.free[trees.counts[FREE]])
    trees.loads[link] = 0
    for k in range(2):
        node, half = v if k else u, 2 * link + k
        trees.ends[link, k] = node
        first = trees.heads[node]
        trees.after[half], trees.before[half] = first, NONE
        if first != NONE:
            trees.before[first] = half
        trees.heads[node] = half
    return link


@lean
def drop_link(trees: TopicTrees, link: int) -> None:
    """Close a link that no slot uses."""
    for k in range(2):
        node, half = trees.ends[link, k], 2 * link + k
        first, second = trees.before[half], trees.after[half]
        if first == NONE:
            trees.heads[node] = second
        else:
            trees.after[first] = second
        if second != NONE:
            trees.before[second] = first
    trees.free[trees.counts[FREE]] = link
    trees.counts[FREE] += 1


@lean
def _load(trees: TopicTrees, link: int, change: int) -> None:
    """Change the load of a link by 1 more or 1 less."""
    if link == len(trees.loads) - 1:
        return
    before = int64(trees.loads[link])
    after = before + change
    trees.loads[link] = after
    trees.counts[USED] += (before == 0) - (after == 0)
    trees.counts[ENERGY] += trees.energies[min(after, HEAVIEST)] - trees.energies[min(before, HEAVIEST)]
    trees.prices[link] = trees.shares[min(after, HEAVIEST)]


@lean
def _move(trees: TopicTrees, slot: int, parent: int, link: int) -> None:
    """Give a slot another parent, and note which it had."""
    entry = trees.counts[LOGGED]
    trees.log[entry, 0], trees.log[entry, 1], trees.log[entry, 2] = slot, trees.parents[slot], trees.via[slot]
    trees.counts[LOGGED] += 1
    if trees.via[slot] != link:
        _load(trees, link, 1)
        _load(trees, int64(trees.via[slot]), -1)
    trees.parents[slot], trees.via[slot] = parent, link


@lean_kernel
def rewire(trees: TopicTrees, low: int, high: int, other: int, link: int) -> None:
    """Cut the link above `high`, and hang what was below it on `other`, by a `link` from `low`.

    `low` is `high` or below it, and `other` is not.
    """
    slot, parent = low, other
    while True:
        above, old = int64(trees.parents[slot]), int64(trees.via[slot])
        _move(trees, slot, parent, link)
        if slot == high:
            break
        slot, parent, link = above, slot, old


@lean_kernel
def undo(trees: TopicTrees, entry: int) -> None:
    """Undo what was noted in the log from an entry on."""
    while trees.counts[LOGGED] > entry:
        trees.counts[LOGGED] -= 1
        at = trees.counts[LOGGED]
        slot, link = trees.log[at, 0], int64(trees.log[at, 2])
        if trees.via[slot] != link:
            _load(trees, link, 1)
            _load(trees, int64(trees.via[slot]), -1)
        trees.parents[slot], trees.via[slot] = trees.log[at, 1], link


@lean
def is_above(trees: TopicTrees, high: int, slot: int) -> bool:
    """Whether a slot is `high` or below it; True if the way up is too long."""
    for _ in range(_DEEPEST):
        if slot == high:
            return True
        if slot == NONE:
            return False
        slot = int64(trees.parents[slot])
    return True


@lean_kernel
def weakest(trees: TopicTrees, a: int, b: int) -> tuple[int, bool]:
    """The slot on the way between two slots whose link to its parent has the least load, or NONE.

    Returns whether it is on the side of `a`. Of equal loads, the one nearest to `a` or `b` is taken. There is
    none between a slot and itself, and none on a way longer than half the log.
    """
    trees.counts[TURN] += 1
    turn, slot, steps = trees.counts[TURN], a, 0
    while slot != NONE:
        trees.marks[slot] = turn
        slot = int64(trees.parents[slot])
        steps += 1
    slot, best, least, near = b, int64(NONE), int64(_NO_LOAD), False
    while slot != NONE and trees.marks[slot] != turn:
        load = int64(trees.loads[trees.via[slot]])
        if load < least:
            best, least = slot, load
        slot = int64(trees.parents[slot])
        steps += 1
    top, slot = slot, a
    while slot != top:
        load = int64(trees.loads[trees.via[slot]])
        if load < least:
            best, least, near = slot, load, True
        slot = int64(trees.parents[slot])
    return (best if 2 * steps < len(trees.log) else int64(NONE)), near


@kernel
def links_in_use(trees: TopicTrees) -> tuple[Ids, Ids]:
    """The links that some slot uses, (m, 2), and their loads."""
    edges, loads = np.empty((trees.counts[USED], 2), np.int32), np.empty(trees.counts[USED], np.int32)
    size = 0
    for link in range(len(trees.ends)):
        if trees.loads[link] > 0:
            edges[size, 0], edges[size, 1] = trees.ends[link, 0], trees.ends[link, 1]
            loads[size] = trees.loads[link]
            size += 1
    return edges, loads
