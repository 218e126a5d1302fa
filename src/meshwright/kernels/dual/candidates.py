"""Candidate edges: the pairs of nodes that share most topics, for each node and for each of its topics."""

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.hashing import mixed
from meshwright.runtime.arrays import Flags, Ids, Offsets, Ticks, int64
from meshwright.runtime.progress import CANCEL


@inner
def _count_shared(indptr: Offsets, topic_ids: Ids, topic_indptr: Offsets, node_ids: Ids, node: int,
                  shared: Ids) -> None:  # fmt: skip
    """How many topics a node shares with each other one."""
    for other in range(len(shared)):
        shared[other] = 0
    for i in range(indptr[node], indptr[node + 1]):
        topic = topic_ids[i]
        for other in node_ids[topic_indptr[topic] : topic_indptr[topic + 1]]:
            shared[other] += 1
    shared[node] = 0


@inner
def _hash(node: int, other: int) -> np.uint64:
    low, high = min(node, other), max(node, other)
    return mixed((np.uint64(low) << np.uint64(32)) | np.uint64(high))


@inner
def _best(members: Ids, node: int, shared: Ids) -> int:
    """The member of a topic that shares most with a node; of equals, the one whose pair hashes highest."""
    best, most, highest = int64(-1), 0, np.uint64(0)
    for other in members:
        if shared[other] > most:
            best, most, highest = int64(other), shared[other], _hash(node, other)
        elif most and shared[other] == most:
            value = _hash(node, other)
            if value > highest:
                best, highest = int64(other), value
    return best


@inner
def _choose_most_like(node: int, shared: Ids, most: int, counts: Offsets, chosen: Flags) -> None:
    """Choose the `most` others that share most topics, at least one each; of equals, the next by number."""
    for at in range(len(counts)):
        counts[at] = 0
    for other in range(len(shared)):
        counts[shared[other]] += 1
    left, level = most, len(counts) - 1
    while level > 1 and counts[level] < left:
        left -= counts[level]
        level -= 1
    for ahead in range(1, len(shared)):
        other = (node + ahead) % len(shared)
        if shared[other] > level:
            chosen[other] = True
        elif shared[other] == level and level and left:
            chosen[other] = True
            left -= 1


@kernel
def likeliest_edges(
    indptr: Offsets,
    topic_ids: Ids,
    topic_indptr: Offsets,
    node_ids: Ids,
    nodes: tuple[int, int],
    most: int,
    ticks: Ticks,
) -> Ids:
    """For a range of nodes: the best partner in each topic, and up to `most` that share most topics.

    The edges (m, 2) have the lower node first; some come twice. O(sum over the nodes' topics of their
    subscribers).
    """
    node_count, first, last = len(indptr) - 1, nodes[0], nodes[1]
    edges = np.empty((indptr[last] - indptr[first] + (last - first) * most, 2), np.int32)
    shared, chosen = np.zeros(node_count, np.int32), np.zeros(node_count, np.bool_)
    longest = 0
    for node in range(first, last):
        longest = max(longest, indptr[node + 1] - indptr[node])
    counts = np.zeros(longest + 1, np.int64)
    size = 0
    for node in range(first, last):
        if ticks[CANCEL]:
            break
        if indptr[node] == indptr[node + 1]:
            continue
        _count_shared(indptr, topic_ids, topic_indptr, node_ids, node, shared)
        _choose_partners(indptr, topic_ids, topic_indptr, node_ids, node, shared, chosen)
        _choose_most_like(node, shared, most, counts, chosen)
        for other in range(node_count):
            if chosen[other]:
                edges[size, 0], edges[size, 1] = min(node, other), max(node, other)
                size += 1
            chosen[other] = False
    return edges[:size].copy()


@inner
def _choose_partners(
    indptr: Offsets,
    topic_ids: Ids,
    topic_indptr: Offsets,
    node_ids: Ids,
    node: int,
    shared: Ids,
    chosen: Flags,
) -> None:
    """Choose the best partner of a node in each of its topics."""
    for i in range(indptr[node], indptr[node + 1]):
        topic = topic_ids[i]
        best = _best(node_ids[topic_indptr[topic] : topic_indptr[topic + 1]], node, shared)
        if best >= 0:
            chosen[best] = True


@kernel
def connecting_edges(topic_indptr: Offsets, node_ids: Ids, labels: Ids) -> Ids:
    """Edges (m, 2) that connect the components of every topic, each with the next; `labels` are by slot.

    A slot is the place of a subscriber in `node_ids`. O(interests).
    """
    edges = np.empty((len(node_ids), 2), np.int32)
    seen = np.zeros(len(node_ids) + 1, np.bool_)
    size = 0
    for topic in range(len(topic_indptr) - 1):
        start, end = topic_indptr[topic], topic_indptr[topic + 1]
        last = int64(-1)
        for slot in range(start, end):
            if not seen[labels[slot]]:
                seen[labels[slot]] = True
                if last >= 0:
                    edges[size, 0], edges[size, 1] = node_ids[last], node_ids[slot]
                    size += 1
                last = slot
        for slot in range(start, end):
            seen[labels[slot]] = False
    return edges[:size].copy()
