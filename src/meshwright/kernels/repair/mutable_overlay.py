"""An overlay that changes: interests in both directions, links and backups in growable rows.

Nodes and topics have *places*, small numbers that are given again after a node has left. Everything here
costs what it touches: the links and topics of the nodes that change.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.interest_keys import interest_key
from meshwright.kernels.core.rows import Rows, append, holds, remove, row_of
from meshwright.runtime.arrays import Flags, Ids, Offsets, Words

MOST = 0
LINKS = 1

SEEDS, SHADOWS, REMOVED = 0, 1, 2
"""Where the counts of `uproot` have what it lists."""


class Live(NamedTuple):
    """The overlay. All rows are by node but for `subscribers`, which are by topic."""

    topics: Rows  # sorted
    subscribers: Rows
    links: Rows
    backups: Rows
    primaries: Rows
    by_degree: Offsets  # by degree: how many nodes have it
    sums: Offsets  # [the maximum degree, the number of links]


class Marks(NamedTuple):
    """Room to work in. What is marked holds the number of the step that marked it, so nothing is cleared."""

    steps: Offsets  # [the last number given to a step]
    marks: Offsets  # by node
    owners: Ids  # by node
    following: Ids  # by node
    chosen: Offsets  # by node: a second mark
    numbers: Ids  # by node
    found: Ids  # by node: a list
    weights: Offsets  # by node: a weight behind the step in which it holds
    bits: Words  # by node
    topic_marks: Offsets  # by topic
    topic_numbers: Ids  # by topic


def make_room(node_count: int, topic_count: int) -> Marks:
    """Marks for this many nodes and topics."""
    return Marks(
        steps=np.zeros(1, np.int64),
        marks=np.zeros(node_count, np.int64),
        owners=np.zeros(node_count, np.int32),
        following=np.zeros(node_count, np.int32),
        chosen=np.zeros(node_count, np.int64),
        numbers=np.zeros(node_count, np.int32),
        found=np.zeros(node_count, np.int32),
        weights=np.zeros(node_count, np.int64),
        bits=np.zeros(node_count, np.uint64),
        topic_marks=np.zeros(topic_count, np.int64),
        topic_numbers=np.zeros(topic_count, np.int32),
    )


@inner
def next_step(steps: Offsets) -> int:
    """A number that nothing is marked with."""
    steps[0] += 1
    return steps[0]


@inner
def _change_degree(links: Rows, by_degree: Offsets, sums: Offsets, node: int, change: int) -> None:
    """Note that a node has one link more or less, after its row was changed."""
    degree = links.counts[node]
    by_degree[degree - change] -= 1
    by_degree[degree] += 1
    sums[MOST] = max(sums[MOST], degree)
    while sums[MOST] > 0 and by_degree[sums[MOST]] == 0:
        sums[MOST] -= 1


@inner
def link(links: Rows, by_degree: Offsets, sums: Offsets, u: int, v: int) -> bool:
    """Add a link; False, and nothing done, where there is no room."""
    if not append(links, u, v):
        return False
    if not append(links, v, u):
        remove(links, u, v)
        return False
    _change_degree(links, by_degree, sums, u, 1)
    _change_degree(links, by_degree, sums, v, 1)
    sums[LINKS] += 1
    return True


@kernel
def link_all(links: Rows, by_degree: Offsets, sums: Offsets, edges: Ids, start: int) -> int:
    """Add links from place `start` of `edges` on; return the place at which room ran out."""
    for at in range(start, len(edges)):
        if not link(links, by_degree, sums, edges[at, 0], edges[at, 1]):
            return at
    return len(edges)


@kernel
def unlink(links: Rows, by_degree: Offsets, sums: Offsets, u: int, v: int) -> bool:
    """Take a link away; False where there is none."""
    if not remove(links, u, v):
        return False
    remove(links, v, u)
    _change_degree(links, by_degree, sums, u, -1)
    _change_degree(links, by_degree, sums, v, -1)
    sums[LINKS] -= 1
    return True


@kernel
def unlink_all(links: Rows, by_degree: Offsets, sums: Offsets, edges: Ids) -> Ids:
    """Take links away, and return them; one that comes twice is returned once."""
    gone = np.empty_like(edges)
    count = 0
    for at in range(len(edges)):
        if unlink(links, by_degree, sums, edges[at, 0], edges[at, 1]):
            gone[count] = edges[at]
            count += 1
    return gone[:count]


@kernel
def share_topic(topics: Rows, u: int, v: int) -> bool:
    """Whether two nodes have a topic in common."""
    i, j = topics.starts[u], topics.starts[v]
    i_end, j_end = i + topics.counts[u], j + topics.counts[v]
    while i < i_end and j < j_end:
        a, b = topics.items[i], topics.items[j]
        if a == b:
            return True
        i += a < b
        j += b < a
    return False


@kernel
def uproot(
    live: Live, room: Marks, movers: Ids, leaving: Flags, lost_indptr: Offsets, lost: Ids
) -> tuple[Offsets, Ids, Ids]:
    """Take away what the movers' losses take away; return (seeds, shadows, removed edges).

    The interests have changed already; mover k has lost `lost[lost_indptr[k] : lost_indptr[k + 1]]`.
    Seeds are keys of interests: who was next to a mover in a topic that it lost, and still
    has it. Every component that the topic falls into has one. Shadows are those next to a mover in a lost
    topic (for one that leaves, all its neighbours) and the backups of movers, without those that leave.
    All links of those that leave are removed, and of the others the links over which no topic is left.
    """
    topics, links, backups = live.topics, live.links, live.backups
    step = next_step(room.steps)
    bounds = np.zeros(3, np.int64)
    for k in range(len(movers)):
        node, losses = movers[k], lost_indptr[k + 1] - lost_indptr[k]
        if leaving[k]:
            room.marks[node] = step
        if losses or leaving[k]:
            bounds[SEEDS] += losses * links.counts[node]
            bounds[SHADOWS] += links.counts[node] + backups.counts[node]
            bounds[REMOVED] += links.counts[node]
    seeds, shadows = np.empty(bounds[SEEDS], np.int64), np.empty(bounds[SHADOWS], np.int32)
    removed = np.empty((bounds[REMOVED], 2), np.int32)
    counts = np.zeros(3, np.int64)
    for k in range(len(movers)):
        if lost_indptr[k + 1] > lost_indptr[k] or leaving[k]:
            own = lost[lost_indptr[k] : lost_indptr[k + 1]]
            _uproot_one(
                topics, links, room, step, movers[k], leaving[k], own, seeds, shadows, removed, counts
            )
            _add_shadows(row_of(backups, movers[k]), room, step, shadows, counts)
    gone = unlink_all(links, live.by_degree, live.sums, removed[: counts[REMOVED]])
    return seeds[: counts[SEEDS]], shadows[: counts[SHADOWS]], gone


@inner
def _uproot_one(
    topics: Rows,
    links: Rows,
    room: Marks,
    step: int,
    node: int,
    leaves: bool,
    lost: Ids,
    seeds: Offsets,
    shadows: Ids,
    removed: Ids,
    counts: Offsets,
) -> None:
    for other in row_of(links, node):
        start, count = topics.starts[other], topics.counts[other]
        before = counts[SEEDS]
        for topic in lost:
            if holds(topics.items, start, count, topic):
                seeds[counts[SEEDS]] = interest_key(topic, other)
                counts[SEEDS] += 1
        other_leaves = room.marks[other] == step
        if leaves or not share_topic(topics, node, other):
            removed[counts[REMOVED], 0], removed[counts[REMOVED], 1] = node, other
            counts[REMOVED] += 1
        if not other_leaves and room.chosen[other] != step and (leaves or counts[SEEDS] > before):
            room.chosen[other] = step
            shadows[counts[SHADOWS]] = other
            counts[SHADOWS] += 1


@inner
def _add_shadows(nodes: Ids, room: Marks, step: int, shadows: Ids, counts: Offsets) -> None:
    for node in nodes:
        if room.marks[node] != step and room.chosen[node] != step:
            room.chosen[node] = step
            shadows[counts[SHADOWS]] = node
            counts[SHADOWS] += 1
