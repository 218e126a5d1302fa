"""The sub-overlays of topics: for each topic, the edges whose two ends are both interested in it.

Inside a topic a node goes by its rank among the topic's subscribers, 0 to |V(t)| - 1, so that whatever works
on a topic needs memory for that topic alone.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.runtime.arrays import Ids, Offsets


class TopicLists(NamedTuple):
    """The topics of each node, sorted, and the node's rank among the subscribers of each."""

    indptr: Offsets
    topic_ids: Ids
    ranks: Ids


class Links(NamedTuple):
    """The neighbours of each node, both directions of every edge, and the number of the edge to each."""

    indptr: Offsets
    nodes: Ids
    edge_ids: Ids


class TopicGraphs(NamedTuple):
    """Sub-overlays of topics in a row: topic `first_topic + i` has `sizes[i]` vertices.

    Its edges are `ends[indptr[i] : indptr[i + 1]]`, pairs of ranks. `edge_ids` says which edges of the
    overlay these are, or is empty.
    """

    first_topic: int
    sizes: Offsets
    indptr: Offsets
    ends: Ids
    edge_ids: Ids


@kernel
def interest_ranks(topic_ids: Ids, topic_count: int) -> Ids:
    """For each interest, in node order, how many nodes of a lower id have the same topic. O(interests)."""
    seen = np.zeros(topic_count, np.int32)
    ranks = np.empty(topic_ids.size, np.int32)
    for slot in range(topic_ids.size):
        topic = topic_ids[slot]
        ranks[slot] = seen[topic]
        seen[topic] += 1
    return ranks


@kernel
def links_of(edges: Ids, node_count: int) -> Links:
    """The neighbours of each node, in the order of the edges. O(edges)."""
    indptr = np.zeros(node_count + 1, np.int64)
    for edge in range(edges.shape[0]):
        indptr[edges[edge, 0] + 1] += 1
        indptr[edges[edge, 1] + 1] += 1
    for node in range(node_count):
        indptr[node + 1] += indptr[node]
    free = indptr[:-1].copy()
    nodes = np.empty(2 * edges.shape[0], np.int32)
    edge_ids = np.empty(2 * edges.shape[0], np.int32)
    for edge in range(edges.shape[0]):
        for end in range(2):
            item = free[edges[edge, end]]
            free[edges[edge, end]] = item + 1
            nodes[item] = edges[edge, 1 - end]
            edge_ids[item] = edge
    return Links(indptr, nodes, edge_ids)


@kernel
def count_topic_edges(
    lists: TopicLists, links: Links, nodes: tuple[int, int], counts: Offsets, ticks: Offsets
) -> None:
    """Add to `counts` how many edges that belong to a range of nodes each topic's sub-overlay has.

    Every edge belongs to one of its ends. The shorter of its two topic lists is read, against marks that the
    longer one leaves, so all nodes together cost O(interests + sum over edges of the shorter list).
    """
    marked = np.zeros(counts.size, np.uint8)
    for node in range(*nodes):
        if ticks[1]:
            break
        topics = lists.topic_ids[lists.indptr[node] : lists.indptr[node + 1]]
        for topic in topics:
            marked[topic] = 1
        for other in links.nodes[links.indptr[node] : links.indptr[node + 1]]:
            if _belongs_to(lists.indptr, node, other):
                for topic in lists.topic_ids[lists.indptr[other] : lists.indptr[other + 1]]:
                    counts[topic] += marked[topic]
        for topic in topics:
            marked[topic] = 0


@kernel
def fill_topic_edges(
    lists: TopicLists,
    links: Links,
    nodes: tuple[int, int],
    graphs: TopicGraphs,
    free: Offsets,
    ticks: Offsets,
) -> None:
    """Write the edges that belong to a range of nodes to `graphs`, that of graph i from `free[i]` on.

    Costs as `count_topic_edges`.
    """
    first_topic = graphs.first_topic
    topics = (first_topic, first_topic + free.size)
    marks = np.full(free.size, np.int32(-1))
    common = np.empty(free.size, np.int64)
    for node in range(*nodes):
        if ticks[1]:
            break
        start, stop = _slots_of(lists, node, topics)
        for slot in range(start, stop):
            marks[lists.topic_ids[slot] - first_topic] = lists.ranks[slot]
        for link in range(links.indptr[node], links.indptr[node + 1]):
            other = int(links.nodes[link])
            if not _belongs_to(lists.indptr, node, other):
                continue
            # Collected without a branch first: whether a topic is common is a coin that no processor guesses.
            found = 0
            for slot in range(*_slots_of(lists, other, topics)):
                common[found] = slot
                found += marks[lists.topic_ids[slot] - first_topic] >= 0
            for slot in common[:found]:
                topic = lists.topic_ids[slot] - first_topic
                item = free[topic]
                free[topic] = item + 1
                graphs.ends[item, 0] = marks[topic]
                graphs.ends[item, 1] = lists.ranks[slot]
                if graphs.edge_ids.size:
                    graphs.edge_ids[item] = links.edge_ids[link]
        for slot in range(start, stop):
            marks[lists.topic_ids[slot] - first_topic] = -1


@inner
def _belongs_to(indptr: Offsets, node: int, other: int) -> bool:
    """Whether an edge is `node`'s to handle: the end with more topics, or else with the higher id."""
    mine = indptr[node + 1] - indptr[node]
    theirs = indptr[other + 1] - indptr[other]
    return theirs < mine or (theirs == mine and other < node)


@inner
def _slots_of(lists: TopicLists, node: int, topics: tuple[int, int]) -> tuple[int, int]:
    """Where a node's topics inside a range begin and end."""
    start, stop = lists.indptr[node], lists.indptr[node + 1]
    while start < stop and lists.topic_ids[start] < topics[0]:
        start += 1
    while start < stop and lists.topic_ids[stop - 1] >= topics[1]:
        stop -= 1
    return start, stop
