"""Demands: nodes that need two links, since no other node has all their topics.

A node's *demand* is some of its topics, each with another subscriber, that no other node has all of. The node
is linked to another subscriber of each of these topics, and one neighbour alone does not have all of them: so
every topic-connected overlay links the node to at least two of the nodes that *meet* the demand, those that
have a topic of it. The linear program of trees does not see this: it links a node by halves.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.totals import add_up
from meshwright.runtime.arrays import Flags, Ids, Longs, Offsets

_NONE = -1
_NEVER = 2**30
"""The count of a topic without another subscriber, which forces no link."""


class Demands(NamedTuple):
    """By node, the topics of its demand, sorted; a node without a demand has none."""

    indptr: Offsets
    topics: Ids
    asker_indptr: Offsets  # by topic: where the nodes begin that have it in their demand
    askers: Ids


class Asked(NamedTuple):
    """What links that meet a demand pay for it, by the node that has it, in parts of the scale.

    All of them pay `prices`, but the one to `nearest`, which may pay less: so two of them pay the sum.
    """

    prices: Longs
    nearest: Ids
    nearest_prices: Longs


def no_demands(node_count: int, topic_count: int) -> Demands:
    """That of no node."""
    empty = np.empty(0, np.int32)
    return Demands(np.zeros(node_count + 1, np.int64), empty, np.zeros(topic_count + 1, np.int64), empty)


@kernel
def choose_demands(indptr: Offsets, topic_ids: Ids, topic_indptr: Offsets, node_ids: Ids) -> Demands:
    """A demand of every node that can have one, of few topics with few subscribers.

    The first topic is the one with the fewest subscribers, at least two; then that which the fewest nodes
    have that have all topics before, until there is none. O(interests of the first topics' subscribers), in
    practice.
    """
    node_count, topic_count = len(indptr) - 1, len(topic_indptr) - 1
    chosen = np.zeros(len(topic_ids), np.bool_)
    counts = np.zeros(topic_count, np.int32)
    rest = np.empty(node_count, np.int32)
    starts = np.zeros(node_count + 1, np.int64)
    for node in range(node_count):
        _choose(indptr, topic_ids, topic_indptr, node_ids, node, counts, rest, chosen)
        for i in range(indptr[node], indptr[node + 1]):
            starts[node + 1] += chosen[i]
    add_up(starts)
    topics, at = np.empty(starts[-1], np.int32), 0
    asker_indptr = np.zeros(topic_count + 1, np.int64)
    for i in range(len(topic_ids)):
        if chosen[i]:
            topics[at] = topic_ids[i]
            asker_indptr[topic_ids[i] + 1] += 1
            at += 1
    add_up(asker_indptr)
    free, askers = asker_indptr[:-1].copy(), np.empty(len(topics), np.int32)
    for node in range(node_count):
        for topic in topics[starts[node] : starts[node + 1]]:
            askers[free[topic]] = node
            free[topic] += 1
    return Demands(starts, topics, asker_indptr, askers)


@inner
def _choose(
    indptr: Offsets,
    topic_ids: Ids,
    topic_indptr: Offsets,
    node_ids: Ids,
    node: int,
    counts: Ids,
    rest: Ids,
    chosen: Flags,
) -> None:
    """Choose the topics of one node; none where another node has all of them.

    `counts`, all 0, are by topic: how many of the rest have it.
    """
    start, end = indptr[node], indptr[node + 1]
    for i in range(start, end):
        size = topic_indptr[topic_ids[i] + 1] - topic_indptr[topic_ids[i]]
        counts[topic_ids[i]] = size if size > 1 else _NEVER
    best = _rarest(topic_ids, start, end, counts, chosen)
    left = 0
    if best != _NONE:
        for other in node_ids[topic_indptr[topic_ids[best]] : topic_indptr[topic_ids[best] + 1]]:
            if other != node:
                rest[left] = other
                left += 1
        chosen[best] = True
    while left:
        _count_rest(indptr, topic_ids, start, end, rest[:left], counts)
        best = _rarest(topic_ids, start, end, counts, chosen)
        if best == _NONE or counts[topic_ids[best]] == left:
            for i in range(start, end):
                chosen[i] = False
            break
        chosen[best], kept = True, 0
        for other in rest[:left]:
            if _has(indptr, topic_ids, other, topic_ids[best]):
                rest[kept] = other
                kept += 1
        left = kept
    for i in range(start, end):
        counts[topic_ids[i]] = 0


@inner
def _rarest(topic_ids: Ids, start: int, end: int, counts: Ids, chosen: Flags) -> int:
    """The interest, not chosen yet, whose topic the fewest have; _NONE if all others are of no use."""
    best = _NONE
    for i in range(start, end):
        count = counts[topic_ids[i]]
        if not chosen[i] and count < _NEVER and (best == _NONE or count < counts[topic_ids[best]]):
            best = i
    return best


@inner
def _count_rest(indptr: Offsets, topic_ids: Ids, start: int, end: int, rest: Ids, counts: Ids) -> None:
    """Count how many of the rest have each topic from `start` to `end` that is of use."""
    for i in range(start, end):
        if counts[topic_ids[i]] < _NEVER:
            counts[topic_ids[i]] = 0
    for other in rest:
        i, j, j_end = start, indptr[other], indptr[other + 1]
        while i < end and j < j_end:
            topic, its = topic_ids[i], topic_ids[j]
            counts[topic] += topic == its and counts[topic] < _NEVER
            i += topic <= its
            j += its <= topic


@inner
def _has(indptr: Offsets, topic_ids: Ids, node: int, topic: int) -> bool:
    """Whether a node has a topic."""
    start, end = indptr[node], indptr[node + 1]
    at = start + np.searchsorted(topic_ids[start:end], topic)
    return at < end and topic_ids[at] == topic


@inner
def meets(indptr: Offsets, topic_ids: Ids, demands: Demands, other: int, node: int) -> bool:
    """Whether `other` has a topic of the demand of `node`."""
    i, i_end = demands.indptr[node], demands.indptr[node + 1]
    j, j_end = indptr[other], indptr[other + 1]
    while i < i_end and j < j_end:
        topic, its = demands.topics[i], topic_ids[j]
        if topic == its:
            return True
        i += topic < its
        j += its < topic
    return False


@inner
def price_of(asked: Asked, node: int, other: int) -> np.int64:
    """What a link to `other` pays for the demand of `node`."""
    if asked.nearest[node] == other:
        return asked.nearest_prices[node]
    return asked.prices[node]
