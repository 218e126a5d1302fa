"""What the lower bound on the edges of a topic-connected overlay counts; the proof is beside its driver.

Arrays *by subscription* have one item for each (topic, node), in the order of `node_ids`.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.bits import popcount
from meshwright.kernels.core.subgraphs import TopicLists
from meshwright.runtime.arrays import Floats, Ids, Offsets, Vertices, Words

_CLEARED_AT_ONCE = 16
Counts = npt.NDArray[np.unsignedinteger[Any]]


class Subscribers(NamedTuple):
    """The nodes of each topic, sorted."""

    indptr: Offsets
    node_ids: Vertices


@kernel
def interest_components(subscribers: Subscribers, node_count: int) -> Ids:
    """For each node, the lowest of all that chains of shared topics connect it to.

    Union-find with path halving: O(interests), in practice.
    """
    parents = np.arange(node_count).astype(np.int32)
    for topic in range(subscribers.indptr.size - 1):
        for item in range(subscribers.indptr[topic] + 1, subscribers.indptr[topic + 1]):
            left = _root(parents, subscribers.node_ids[item - 1])
            right = _root(parents, subscribers.node_ids[item])
            parents[max(left, right)] = min(left, right)
    for node in range(node_count):
        parents[node] = parents[parents[node]]
    return parents


@inner
def _root(parents: Ids, node: int) -> int:
    """The root of a node's tree; the path to it gets half as long."""
    while parents[node] != node:
        parents[node] = parents[parents[node]]
        node = parents[node]
    return node


@kernel
def raise_overlaps(
    lists: TopicLists, subscribers: Subscribers, nodes: tuple[int, int], overlaps: Counts, ticks: Offsets
) -> None:
    """Raise `overlaps`, by subscription (t, v), to the most topics that v shares with another node of t.

    A call looks at the pairs whose lower node lies in the range, once for each topic they share; the greatest
    of what the calls for all ranges find is the answer, at sum over t of |V(t)|^2 / 2 steps. The counters
    have the type of `overlaps`: narrow ones stay in the nearest cache.
    """
    counters = np.zeros(lists.indptr.size - 1, overlaps.dtype)
    for node in range(*nodes):
        if ticks[1]:
            break
        steps = 0
        slots = range(lists.indptr[node], lists.indptr[node + 1])
        for slot in slots:
            own, end = _own_to_end(lists, subscribers, slot)
            steps += end - own
            for other in subscribers.node_ids[own + 1 : end]:
                counters[other] += 1
        for slot in slots:
            own, end = _own_to_end(lists, subscribers, slot)
            most = overlaps[own]
            for item in range(own + 1, end):
                overlap = counters[subscribers.node_ids[item]]
                overlaps[item] = max(overlaps[item], overlap)
                most = max(most, overlap)
            overlaps[own] = most
        if steps * _CLEARED_AT_ONCE > counters.size - node:
            counters[node:] = 0
        else:
            for slot in slots:
                own, end = _own_to_end(lists, subscribers, slot)
                counters[subscribers.node_ids[own:end]] = 0


@kernel
def overlaps_by_bits(
    lists: TopicLists,
    subscribers: Subscribers,
    columns: Words,
    nodes: tuple[int, int],
    overlaps: Counts,
    ticks: Offsets,
) -> None:
    """Write `overlaps` of the subscriptions (t, v) of a range of nodes v: what `raise_overlaps` finds.

    `columns` are bitsets of topics, by word and then by node. The few nodes that share most topics with v
    settle most of its topics; the subscribers of the others are looked at. For each node, all nodes for each
    word, by vector instructions, and twice more.
    """
    shared = np.empty(columns.shape[1], overlaps.dtype)
    counts = np.empty(64 * len(columns) + 1, np.int64)
    found = np.empty(_MOST_FOUND, np.int64)
    for node in range(*nodes):
        if ticks[1]:
            break
        _count_shared(columns, node, shared)
        count = _find_most(shared, counts, found)
        for slot in range(lists.indptr[node], lists.indptr[node + 1]):
            topic = lists.topic_ids[slot]
            word, bit = topic >> 6, np.uint64(1) << np.uint64(topic & 63)
            most = overlaps.dtype.type(0)
            for other in found[:count]:
                if columns[word, other] & bit:
                    most = max(most, shared[other])
            if most == 0:
                for other in subscribers.node_ids[subscribers.indptr[topic] : subscribers.indptr[topic + 1]]:
                    most = max(most, shared[other])
            overlaps[subscribers.indptr[topic] + lists.ranks[slot]] = most


_MOST_FOUND = 64


@inner
def _count_shared(columns: Words, node: int, shared: Counts) -> None:
    """Write how many topics a node shares with every other, and 0 for itself."""
    shared[:] = 0
    for word in range(len(columns)):
        own, column = columns[word, node], columns[word]
        for other in range(len(shared)):
            shared[other] += popcount(own & column[other])
    shared[node] = 0


@inner
def _find_most(shared: Counts, counts: Offsets, found: Offsets) -> int:
    """List the nodes that share most topics, as far as all that share as many have room; how many."""
    counts[:] = 0
    for other in range(len(shared)):
        counts[shared[other]] += 1
    least, listed = len(counts), 0
    while least > 1 and listed + counts[least - 1] <= len(found):
        least -= 1
        listed += counts[least]
    count = 0
    for other in range(len(shared)):
        if shared[other] >= least:
            found[count] = other
            count += 1
    return count


@inner
def _own_to_end(lists: TopicLists, subscribers: Subscribers, slot: int) -> tuple[int, int]:
    """The subscription that an interest is, and where those of its topic end."""
    topic = lists.topic_ids[slot]
    return subscribers.indptr[topic] + lists.ranks[slot], subscribers.indptr[topic + 1]


@kernel
def add_shares(subscribers: Subscribers, overlaps: Counts, by_topic: Floats, by_node: Floats) -> None:
    """Add 1 / overlap of every subscription to its node, and to its topic that of all nodes but the least.

    Topics of one node are left out. O(interests).
    """
    for topic in range(by_topic.size):
        start, end = subscribers.indptr[topic], subscribers.indptr[topic + 1]
        if end - start < 2:
            continue
        least = np.inf
        for item in range(start, end):
            share = 1.0 / overlaps[item]
            least = min(least, share)
            by_topic[topic] += share
            by_node[subscribers.node_ids[item]] += share
        by_topic[topic] -= least


class Sampled(NamedTuple):
    """Some nodes, any of them several times, with their topics.

    The samples that have topic t are `samples[starts[t] : starts[t + 1]]`; sample i is node `nodes[i]`, and
    `nodes` rise.
    """

    nodes: Ids
    starts: Offsets
    samples: Ids


@kernel
def raise_sampled_overlaps(
    nodes: Ids, indptr: Offsets, topic_ids: Ids, sampled: Sampled, overlaps: Ids, ticks: Offsets
) -> None:
    """Raise `overlaps` to the most topics that a sample shares with one of the `nodes` that has the topic.

    They are in the order of `sampled.samples`. A node is not compared with itself. Two steps for each topic
    of a node and each sample that has it.
    """
    counters = np.zeros(sampled.nodes.size, np.int32)
    for row in range(nodes.size):
        if ticks[1]:
            break
        topics = topic_ids[indptr[row] : indptr[row + 1]]
        for topic in topics:
            for sample in sampled.samples[sampled.starts[topic] : sampled.starts[topic + 1]]:
                counters[sample] += 1
        own = np.searchsorted(sampled.nodes, nodes[row])
        while own < sampled.nodes.size and sampled.nodes[own] == nodes[row]:
            counters[own] = 0
            own += 1
        for topic in topics:
            for item in range(sampled.starts[topic], sampled.starts[topic + 1]):
                overlaps[item] = max(overlaps[item], counters[sampled.samples[item]])
        counters[:] = 0
        ticks[0] += 1
