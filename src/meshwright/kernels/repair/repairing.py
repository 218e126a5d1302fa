"""Step II: which links connect the topics again that churn has disconnected.

The topics that churn touched are searched from their *seeds* (`kernels/repair/searching.py`). Those that
fell apart make a small problem for the greedy that minds the maximum degree (`kernels/greedy/low_degree.py`):
constructLowEdges of [3], Alg. 2, with the shadow set, or all subscribers, as its nodes. Where links cost, the
same by contribution per cost (`kernels/greedy/low_price.py`).

An interest is a number here, as in `core/interest_keys.py`.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.cost_arrays import CostArrays
from meshwright.kernels.core.hashing import GOLDEN, mixed
from meshwright.kernels.core.interest_keys import node_of, topic_of
from meshwright.kernels.core.rows import Rows, holds, row_of
from meshwright.kernels.core.topic_components import (
    NONE,
    TopicComponents,
    start_components,
    unite_labelled,
)
from meshwright.kernels.core.totals import add_up
from meshwright.kernels.greedy.bounds import TAKEN, Pairs, Scratch, start_rows
from meshwright.kernels.greedy.low_degree import start_degrees, take_low_edges
from meshwright.kernels.greedy.low_price import start_priced_rows, take_cheap_edges
from meshwright.kernels.repair.mutable_overlay import MOST, Live, Marks, next_step
from meshwright.kernels.repair.searching import (
    add_representatives,
    owner_of,
    search_in_turns,
    unique,
    unique_nodes,
)
from meshwright.runtime.arrays import Ids, Offsets, int64

INTERESTS, TOPICS, APART = 0, 1, 2
"""Where `Broken.counts` has its interests, its topics, and the components to unite."""

OF_OVERLAY, OF_SHADOWS = -1, -2
"""Whose maximum degree the rule minds."""


class Broken(NamedTuple):
    """Interests in the topics that fell apart, one topic after the other."""

    nodes: Ids
    topics: Ids  # numbered from 0 on
    labels: Ids  # of one topic's interests, equal for those that are connected
    counts: Offsets  # by INTERESTS, TOPICS and APART


class Repairing(NamedTuple):
    """What is to be repaired: the topics that fell apart, and the nodes that may be linked for it."""

    broken: Broken
    order: Ids  # the nodes, in the order that settles ties
    firsts: Offsets  # by place in the order: the first node to pair with
    most: int  # the maximum degree that the rule minds
    looked_at: int


@kernel
def plan_repair(
    live: Live,
    room: Marks,
    lost: Offsets,
    gained: Offsets,
    shadows: Ids,
    everybody: bool,
    most: int,
    rho: float,
    salt: int,
) -> tuple[Ids, int]:
    """The links to add, (m, 2), and how many nodes were looked at for them.

    `lost` holds the interests of those who were next to somebody in a topic that it lost; `gained` the new
    interests. Links are taken among the `shadows`, and whom the search needs beside them, or among
    `everybody` who has a topic that fell apart; where nothing was lost, only links of nodes with new
    interests ([3], Alg. 10), and otherwise any ([3], Alg. 7). The maximum degree that the rule minds is
    `most`, or that `OF_OVERLAY`, or that `OF_SHADOWS` alone. Of equals the nodes of few links come first, or,
    with a `salt` that is not 0, any.
    """
    task = _find_task(live, room, lost, gained, shadows, everybody, most, salt)
    if not task.broken.counts[APART]:
        return np.empty((0, 2), np.int32), task.looked_at
    return _connect(room, task, _minded(live.links.counts, task), rho), task.looked_at


@kernel
def plan_repair_by_cost(
    live: Live,
    room: Marks,
    lost: Offsets,
    gained: Offsets,
    shadows: Ids,
    everybody: bool,
    most: int,
    rho: float,
    salt: int,
    costs: CostArrays,
    cost_ids: Ids,
) -> tuple[Ids, int]:
    """As `plan_repair`, by contribution per cost; `cost_ids` has by place where `costs` have the node."""
    task = _find_task(live, room, lost, gained, shadows, everybody, most, salt)
    if not task.broken.counts[APART]:
        return np.empty((0, 2), np.int32), task.looked_at
    order, state = task.order, _start_state(room, task)
    rows = start_priced_rows(task.firsts, task.broken.counts[APART])
    degrees = _minded(live.links.counts, task)
    ticks = np.zeros(2, np.int64)
    take_cheap_edges(state, rows, degrees, task.most, rho, costs, cost_ids[order], ticks)
    return _by_place(order, rows.edges[: rows.counts[TAKEN]]), task.looked_at


@inner
def _find_task(
    live: Live,
    room: Marks,
    lost: Offsets,
    gained: Offsets,
    shadows: Ids,
    everybody: bool,
    most: int,
    salt: int,
) -> Repairing:
    """Find the topics that fell apart, and put the nodes that may be linked for them in order."""
    gained = np.sort(gained)
    seeds = unique(np.concatenate((lost, gained)))
    if len(gained):
        seeds, shadows = add_representatives(live, room, seeds, gained, shadows)
    else:
        shadows = unique_nodes(shadows)
    members = next_step(room.steps)
    for place in range(len(shadows)):
        room.chosen[shadows[place]] = members
    broken = _find_broken(live, room, seeds, shadows, members, everybody)
    if everybody:
        shadows = unique_nodes(broken.nodes[: broken.counts[INTERESTS]])
    if most == OF_OVERLAY:
        most = live.sums[MOST]
    if not broken.counts[APART]:
        return Repairing(broken, shadows[:0], np.empty(0, np.int64), most, len(shadows))
    first = next_step(room.steps)
    if not len(lost):
        for interest in gained:
            room.chosen[node_of(interest)] = first
    order = _in_order(live.links.counts, room.chosen, first, shadows, salt)
    firsts = _firsts(order, room.chosen, first, len(lost) > 0)
    for place in range(len(order)):
        room.numbers[order[place]] = place
    if most == OF_SHADOWS:
        most = int64(live.links.counts[order].max())
    return Repairing(broken, order, firsts, most, len(shadows))


@inner
def _find_broken(
    live: Live, room: Marks, seeds: Offsets, shadows: Ids, members: int, everybody: bool
) -> Broken:
    """Search the topics of the seeds, and note the interests of the shadows, or of all, in broken ones."""
    topics, links = live.topics, live.links
    broken = _start_broken(live, seeds, shadows, everybody)
    nodes = np.empty(len(seeds), np.int32)
    for at in range(len(seeds)):
        nodes[at] = node_of(seeds[at])
    parents = np.empty(len(seeds), np.int32)
    start = 0
    while start < len(seeds):
        topic = topic_of(seeds[start])
        end = start + 1
        while end < len(seeds) and topic_of(seeds[end]) == topic:
            end += 1
        if end - start > 1:
            components, last, step = search_in_turns(
                topics, links, room, topic, nodes[start:end], parents, NONE, NONE
            )
            if components > 1:
                subscribers = row_of(live.subscribers, topic)
                if everybody or len(subscribers) < len(shadows):
                    _note(room, broken, subscribers, members, everybody, parents, last, step)
                else:
                    _note_shadows(topics, room, broken, shadows, topic, parents, last, step)
                broken.counts[TOPICS] += 1
                broken.counts[APART] += components - 1
        start = end
    return broken


@inner
def _start_broken(live: Live, seeds: Offsets, shadows: Ids, everybody: bool) -> Broken:
    """Room for all interests that may have to be noted."""
    most = 0
    if everybody:
        topic = np.int64(NONE)
        for interest in seeds:
            if topic_of(interest) != topic:
                topic = topic_of(interest)
                most += live.subscribers.counts[topic]
    else:
        for node in shadows:
            most += live.topics.counts[node]
    return Broken(
        np.empty(most, np.int32), np.empty(most, np.int32), np.empty(most, np.int32), np.zeros(3, np.int64)
    )


@inner
def _note_one(room: Marks, broken: Broken, node: int, parents: Ids, last: int, step: int) -> None:
    at = broken.counts[INTERESTS]
    broken.nodes[at], broken.topics[at] = node, broken.counts[TOPICS]
    broken.labels[at] = owner_of(parents, room.owners[node]) if room.marks[node] == step else last
    broken.counts[INTERESTS] += 1


@inner
def _note(
    room: Marks,
    broken: Broken,
    subscribers: Ids,
    members: int,
    everybody: bool,
    parents: Ids,
    last: int,
    step: int,
) -> None:
    """Note those of a topic's subscribers that are shadows, or all."""
    for node in subscribers:
        if everybody or room.chosen[node] == members:
            _note_one(room, broken, node, parents, last, step)


@inner
def _note_shadows(
    topics: Rows,
    room: Marks,
    broken: Broken,
    shadows: Ids,
    topic: int,
    parents: Ids,
    last: int,
    step: int,
) -> None:
    """Note those of the shadows that subscribe to a topic."""
    for node in shadows:
        if holds(topics.items, topics.starts[node], topics.counts[node], topic):
            _note_one(room, broken, node, parents, last, step)


@inner
def _rank(node: int, salt: int) -> int:
    """30 bits that look like chance, from a node and a salt."""
    return int64(mixed(np.uint64(node) * GOLDEN + np.uint64(salt)) >> np.uint64(34))


@inner
def _in_order(degrees: Ids, chosen: Offsets, first: int, nodes: Ids, salt: int) -> Ids:
    """Nodes in the order that settles ties: chosen ones first, then by degree or chance, then by place."""
    keys = np.empty(len(nodes), np.int64)
    for at in range(len(nodes)):
        node = int64(nodes[at])
        later = np.int64(chosen[node] != first)
        rank = _rank(node, salt) if salt else np.int64(degrees[node])
        keys[at] = (later << 62) | (rank << 32) | node
    keys = np.sort(keys)
    order = np.empty(len(nodes), np.int32)
    for at in range(len(nodes)):
        order[at] = node_of(keys[at])
    return order


@inner
def _firsts(order: Ids, chosen: Offsets, first: int, every_pair: bool) -> Offsets:
    """By place in the order: the first node to pair with; those that were not chosen have none."""
    firsts = np.arange(1, len(order) + 1)
    if not every_pair:
        for place in range(len(order)):
            if chosen[order[place]] != first:
                firsts[place] = len(order)
    return firsts


@inner
def _start_state(room: Marks, task: Repairing) -> TopicComponents:
    """The components of the broken topics, by place in the order."""
    indptr, topic_ids, labels = _by_node(room, task.broken, len(task.order))
    count, topic_count, _ = task.broken.counts
    weights = np.ones(topic_count, np.int32)
    words = (topic_count + 63) >> 6
    if words * len(task.order) > 2 * count:
        words = 0
    state = start_components(indptr, topic_ids, topic_count, weights, words)
    unite_labelled(state, labels)
    return state


@inner
def _connect(room: Marks, task: Repairing, degrees: Ids, rho: float) -> Ids:
    """The links that findLowEdge takes until nothing is broken, as pairs of nodes."""
    order, firsts = task.order, task.firsts
    state = _start_state(room, task)
    starts = np.zeros(len(order) + 1, np.int64)
    for place in range(len(order)):
        starts[place + 1] = starts[place] + ((len(order) - firsts[place] + 63) >> 6 << 3)
    pairs = Pairs(
        firsts,
        np.zeros(starts[-1], np.uint64),
        starts,
        np.zeros(0, np.uint8),
        np.zeros(len(order), np.int32),
        np.empty((task.broken.counts[APART], 2), np.int32),
        np.zeros(2, np.int64),
    )
    start_rows(state, pairs)
    low = start_degrees(pairs, degrees, task.most)
    topic_count = task.broken.counts[TOPICS]
    one, other = _scratch(len(order), topic_count), _scratch(len(order), topic_count)
    take_low_edges(state, pairs, low, rho, one, other, np.zeros(2, np.int64))
    return _by_place(order, pairs.edges[: pairs.counts[TAKEN]])


@inner
def _minded(degrees: Ids, task: Repairing) -> Ids:
    """The degrees of the nodes in order, none above the maximum that the rule minds.

    A node above it counts as one at it, so that a single link of a busy node does not raise the maximum to
    the degree of that node.
    """
    found = np.empty(len(task.order), np.int32)
    for place in range(len(found)):
        found[place] = min(degrees[task.order[place]], task.most)
    return found


@inner
def _by_place(order: Ids, edges: Ids) -> Ids:
    """Edges between places in the order as edges between nodes."""
    found = np.empty((len(edges), 2), np.int32)
    for at in range(len(edges)):
        found[at, 0], found[at, 1] = order[edges[at, 0]], order[edges[at, 1]]
    return found


@inner
def _scratch(nodes: int, topic_count: int) -> Scratch:
    return Scratch(
        np.zeros(nodes, np.int32),
        np.zeros(nodes, np.int32),
        np.full(topic_count, NONE, np.int32),
        np.zeros(nodes, np.uint8),
        np.zeros(0, np.uint8),
        np.zeros(0, np.uint8),
    )


@inner
def _by_node(room: Marks, broken: Broken, node_count: int) -> tuple[Offsets, Ids, Ids]:
    """The broken interests by node, numbered by `room.numbers`, each with its topics in order: a CSR."""
    indptr = np.zeros(node_count + 1, np.int64)
    count = broken.counts[INTERESTS]
    for at in range(count):
        indptr[room.numbers[broken.nodes[at]] + 1] += 1
    add_up(indptr)
    free = indptr[:-1].copy()
    topic_ids, labels = np.empty(count, np.int32), np.empty(count, np.int32)
    for at in range(count):
        place = room.numbers[broken.nodes[at]]
        topic_ids[free[place]], labels[free[place]] = broken.topics[at], broken.labels[at]
        free[place] += 1
    return indptr, topic_ids, labels
