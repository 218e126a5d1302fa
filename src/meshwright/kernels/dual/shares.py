"""Candidate edges, and their shares: which topics an edge may serve.

An edge has a *share* for every topic that both of its ends have and in which they are in different
components; the topic's price for the edge belongs to it. Shares are numbered by edge and then by topic;
`by_topic` lists those of each topic. The components of a topic are numbered from 0 on.

Where nodes have demands (`demands.py`), each is one more topic, behind the others, in the order of nodes,
with 0 components: an edge that meets the demand of one of its ends has a share for it, too.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.totals import add_up
from meshwright.kernels.dual.demands import Demands, meets, no_demands
from meshwright.runtime.arrays import Flags, Floats, Ids, Offsets


class Shares(NamedTuple):
    """The shares of candidate edges."""

    edges: Ids  # (m, 2), each once, sorted
    limits: Floats  # by edge: what its topics may pay for it together
    indptr: Offsets  # by edge: its first share
    topic_indptr: Offsets  # by topic: where its shares begin in the next three
    by_topic: Offsets  # the shares, by topic
    lefts: Ids  # of each of these: the component of the edge's first end
    rights: Ids  # that of its second
    components: Ids  # by topic: how many it has; 0 for a demand


def make_shares(
    indptr: Offsets, topic_ids: Ids, labels: Ids, components: Ids, edges: Ids, limits: Floats
) -> Shares:
    """The shares of edges where no node has a demand."""
    nobody = no_demands(len(indptr) - 1, len(components))
    return Shares(*make_shares_and_demands(indptr, topic_ids, labels, components, edges, limits, nobody))


@kernel
def make_shares_and_demands(
    indptr: Offsets,
    topic_ids: Ids,
    labels: Ids,
    components: Ids,
    edges: Ids,
    limits: Floats,
    demands: Demands,
) -> Shares:
    """The shares of edges; `labels` has the component of each interest, in node order.

    O(interests of the edges' ends).
    """
    edge_indptr = np.zeros(len(edges) + 1, np.int64)
    topic_count, node_count = len(components), len(indptr) - 1 if len(demands.topics) else 0
    components_of = np.zeros(topic_count + node_count, np.int32)
    for topic in range(topic_count):
        components_of[topic] = components[topic]
    topic_indptr = np.zeros(len(components_of) + 1, np.int64)
    for edge in range(len(edges)):
        edge_indptr[edge + 1] = _count(indptr, topic_ids, labels, edges[edge], topic_indptr)
        for k in range(2):
            node, other = edges[edge, k], edges[edge, 1 - k]
            if meets(indptr, topic_ids, demands, other, node):
                edge_indptr[edge + 1] += 1
                topic_indptr[topic_count + node + 1] += 1
    add_up(edge_indptr)
    add_up(topic_indptr)
    total = edge_indptr[len(edges)]
    by_topic, free = np.empty(total, np.int64), topic_indptr[:-1].copy()
    lefts, rights = np.empty(total, np.int32), np.empty(total, np.int32)
    for edge in range(len(edges)):
        share = _fill(
            indptr, topic_ids, labels, edges[edge], edge_indptr[edge], free, by_topic, lefts, rights
        )
        for k in range(2):
            node, other = edges[edge, k], edges[edge, 1 - k]
            if meets(indptr, topic_ids, demands, other, node):
                place = free[topic_count + node]
                free[topic_count + node] = place + 1
                by_topic[place], lefts[place], rights[place] = share, 0, 0
                share += 1
    return Shares(edges, limits, edge_indptr, topic_indptr, by_topic, lefts, rights, components_of)


@inner
def _count(indptr: Offsets, topic_ids: Ids, labels: Ids, edge: Ids, by_topic: Offsets) -> int:
    """How many shares an edge has; they are added to the counts behind their topics."""
    i, i_end = indptr[edge[0]], indptr[edge[0] + 1]
    j, j_end = indptr[edge[1]], indptr[edge[1] + 1]
    count = 0
    while i < i_end and j < j_end:
        topic, other = topic_ids[i], topic_ids[j]
        if topic == other and labels[i] != labels[j]:
            by_topic[topic + 1] += 1
            count += 1
        i += topic <= other
        j += other <= topic
    return count


@inner
def _fill(
    indptr: Offsets,
    topic_ids: Ids,
    labels: Ids,
    edge: Ids,
    share: int,
    free: Offsets,
    by_topic: Offsets,
    lefts: Ids,
    rights: Ids,
) -> int:
    """Write the shares of an edge, from `share` on, to the next free place of each topic; return the next."""
    i, i_end = indptr[edge[0]], indptr[edge[0] + 1]
    j, j_end = indptr[edge[1]], indptr[edge[1] + 1]
    while i < i_end and j < j_end:
        topic, other = topic_ids[i], topic_ids[j]
        if topic == other and labels[i] != labels[j]:
            place = free[topic]
            free[topic] = place + 1
            by_topic[place] = share
            lefts[place], rights[place] = labels[i], labels[j]
            share += 1
        i += topic <= other
        j += other <= topic
    return share


@kernel
def equal_prices(shares: Shares) -> Floats:
    """Prices by share: every topic pays the same for an edge."""
    prices = np.empty(len(shares.by_topic))
    for edge in range(len(shares.edges)):
        start, end = shares.indptr[edge], shares.indptr[edge + 1]
        for share in range(start, end):
            prices[share] = shares.limits[edge] / (end - start)
    return prices


@kernel
def divide_by_totals(shares: Shares, edges: Offsets, prices: Floats) -> None:
    """Make the prices of some edges add up to their limits, in proportion; where all are 0 they stay."""
    for edge in edges:
        total = 0.0
        for share in range(shares.indptr[edge], shares.indptr[edge + 1]):
            total += prices[share]
        for share in range(shares.indptr[edge], shares.indptr[edge + 1]):
            prices[share] *= shares.limits[edge] / total if total else 0.0


@kernel
def carry_over(old: Shares, old_values: Floats, new: Shares, values: Floats) -> Flags:
    """Give the shares of edges that are candidates in both the values that they had; say which edges are not.

    The edges of the one are among those of the other, and have the same shares there.
    """
    is_new, at = np.ones(len(new.edges), np.bool_), 0
    for edge in range(len(old.edges)):
        while old.edges[edge, 0] != new.edges[at, 0] or old.edges[edge, 1] != new.edges[at, 1]:
            at += 1
        is_new[at] = False
        shift = new.indptr[at] - old.indptr[edge]
        for share in range(old.indptr[edge], old.indptr[edge + 1]):
            values[share + shift] = old_values[share]
    return is_new
