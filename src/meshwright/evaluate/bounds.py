"""A lower bound on the edges of every topic-connected overlay of given interests."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from meshwright.evaluate.cores import Chunk, balanced_chunks, on_all_cores
from meshwright.kernels import bounds as kernel
from meshwright.kernels.arrays import Offsets
from meshwright.kernels.bounds import Counts, Subscribers
from meshwright.kernels.subgraphs import TopicLists
from meshwright.model.interests import Interests
from meshwright.progress import Progress, Ticks, run_with_ticks

_MOST_STEPS = 5_000_000_000
"""Steps for exact overlaps; about a second for each thousand million on two cores."""

# Sums of floats: a topic's have a relative error under its number of nodes times 2^-53.
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class LowerBound:
    """No topic-connected overlay has fewer than `edges`; `method` says by which argument."""

    edges: int
    method: str


def lower_bound(interests: Interests, lists: TopicLists, progress: Progress | None = None) -> LowerBound:
    """A number of edges that every topic-connected overlay of these interests has, by proof.

    Let only topics of two or more nodes count, o(u, v) be the number of topics that u and v share, and
    o(v, t) the greatest o(u, v) over the other nodes u of t. Take any topic-connected overlay (V, E).

    *Trees.* Let each edge (u, v) pay 1 / o(u, v) to each topic that its ends share, at most 1 in all; so |E|
    is at least what all topics get. The edges that pay to t connect all nodes of t, so they contain a tree
    that spans them. Root it at any node: every other node v has an edge to its parent, an edge that is no
    other node's, and that paid at least 1 / o(v, t). Hence |E| is at least the sum over t of the sum over v
    in V(t) of 1 / o(v, t), without the least of these.

    *Covers.* For each of its topics v has a neighbour who shares it. Let neighbour u give 1 / o(u, v) to each
    topic that it shares with v, 1 altogether: every topic t gets 1 / o(v, t) or more. So v has at least the
    sum of that over its topics as neighbours, rounded up; |E| is at least half of the sum of these
    over all nodes. (This is linear-programming duality on v's set-cover problem.)

    *Spanning.* Nodes that chains of shared topics connect, a component C of the interest hypergraph, are
    connected in the overlay too: |E| >= |C| - 1.

    All three hold for the edges inside each component, so the greatest of the three, rounded up, is
    taken for each and added up. Larger values in place of o(v, t) keep everything true. The exact ones take
    sum over t of |V(t)|^2 / 2 steps; where these are over 5e9, the lesser of v's number of topics and the
    greatest number of topics among the other nodes of t stands in, in O(interests).

    `method` is "spanning" where no component needs more than the third argument, else "overlap-duality" with
    exact overlaps and "size-duality" with the stand-ins.

    Measured, at 1,000 nodes, 100 topics and 20 topics a node: 2 |E| / |V| is at least 4.38 by trees, 2.96 by
    covers, 2.00 by spanning; Greedy Merge has 5.27. Minimum spanning trees in place of each node's cheapest
    edge, with the best found of all ways to split the cost of edges among topics, gave 4.55 (400 steps of
    subgradient ascent), so a better dual has little left to gain.
    """
    subscribers = Subscribers(interests.topic_indptr, interests.node_ids.view(np.uint32))
    sizes = np.diff(subscribers.indptr)
    exact = float(np.sum(sizes.astype(np.float64) ** 2)) / 2 <= _MOST_STEPS
    overlaps = _overlaps(lists, subscribers, progress) if exact else _ceilings(lists, subscribers)
    spanning, duality = _by_component(subscribers, overlaps, interests.node_count)
    edges = int(np.maximum(spanning, duality).sum())
    if edges == spanning.sum():
        return LowerBound(edges=edges, method="spanning")
    return LowerBound(edges=edges, method="overlap-duality" if exact else "size-duality")


def _by_component(subscribers: Subscribers, overlaps: Counts, node_count: int) -> tuple[Offsets, Offsets]:
    """For each component, at its lowest node: the bound by the third argument, and by the better other."""
    by_topic, by_node = kernel.shares(subscribers, overlaps, node_count)
    components = kernel.interest_components(subscribers, node_count)
    spanning = np.maximum(np.bincount(components, minlength=node_count) - 1, 0)
    shared = np.diff(subscribers.indptr) > 1
    at_topic = components[subscribers.node_ids[subscribers.indptr[:-1][shared]]]
    trees = np.bincount(at_topic, by_topic[shared], minlength=node_count)
    covers = np.bincount(components, np.ceil(by_node - _ROUNDING), minlength=node_count)
    duality = np.maximum(trees * (1 - _ROUNDING) - _ROUNDING, covers / 2)
    return spanning, np.ceil(duality).astype(np.int64)


def _counts_for(lists: TopicLists) -> Counts:
    """An array by subscription, of the narrowest type that an overlap fits."""
    most = int(np.diff(lists.indptr).max(initial=0))
    return np.zeros(len(lists.topic_ids), np.uint16 if most <= np.iinfo(np.uint16).max else np.uint32)


def _overlaps(lists: TopicLists, subscribers: Subscribers, progress: Progress | None) -> Counts:
    """By subscription (t, v), the most topics that v shares with another node of t."""
    unsigned = TopicLists(lists.indptr, lists.topic_ids.view(np.uint32), lists.ranks.view(np.uint32))
    later = np.diff(subscribers.indptr)[lists.topic_ids] - lists.ranks
    reached = np.concatenate([[0], np.cumsum(later)])
    chunks = balanced_chunks(np.diff(reached[lists.indptr]))

    def work(ticks: Ticks) -> Counts:
        def raise_overlaps(turns: Iterator[Chunk]) -> Counts:
            overlaps = _counts_for(lists)
            for nodes in turns:
                kernel.raise_overlaps(unsigned, subscribers, nodes, overlaps, ticks)
            return overlaps

        found: Counts = np.maximum.reduce(on_all_cores(raise_overlaps, chunks, ticks))
        return found

    return run_with_ticks(work, "bounding the degree", len(lists.indptr) - 1, progress)


def _ceilings(lists: TopicLists, subscribers: Subscribers) -> Counts:
    """By subscription (t, v), the lesser of v's number of topics and the greatest of t's other nodes."""
    shared = np.diff(subscribers.indptr)[lists.topic_ids] > 1
    sizes = np.diff(np.concatenate([[0], np.cumsum(shared)])[lists.indptr])
    ceilings = _counts_for(lists)
    kernel.overlap_ceilings(subscribers, sizes, ceilings)
    return ceilings
