"""Resilience: topics that the failure of no single node cuts."""

import numpy as np

from meshwright.construct.augmenting import Augmentation, InterestArrays
from meshwright.construct.dual.candidates import candidate_edges
from meshwright.construct.overlaps import most_shared, overlaps_pay
from meshwright.kernels.core.subgraphs import TopicLists, interest_ranks
from meshwright.kernels.core.topic_components import start_components
from meshwright.kernels.greedy.resilient_delete import delete_resilient
from meshwright.kernels.greedy.reverse_delete import count_links, list_sub_overlays
from meshwright.kernels.metrics.bounds import Subscribers
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Floats, Ids, Ticks
from meshwright.runtime.memory import check_memory, needed
from meshwright.runtime.progress import Progress, run_with_ticks
from meshwright.runtime.seeds import generator
from meshwright.runtime.wording import count

_LIKELY = 16
"""Of each node, the partners with most common topics that are looked at before all others."""

_CROWDED = 20_000
"""Subscribers in all topics of a node, on average, from which on likely partners are looked at first.

It takes a third of the time. For zipf 4,000 x 600 (47,000) it gives 2% fewer links, for unif (8,000) 10%
more.
"""

_INSTEAD = "leave resilience out, or allow more memory"


def resilient_edges(
    interests: Interests,
    edges: Ids,
    seed: int,
    *,
    memory_limit: int | None = None,
    progress: Progress | None = None,
) -> Ids:
    """The links of a topic-connected overlay and others, so that no topic of three or more has a cut node.

    Guarantee: with any one node gone, the other subscribers of each topic are connected among themselves, and
    none of the edges could be left out. Every link added contributes at least nine tenths of the most that
    any could, in blocks of topics that grow together. Deterministic for a seed.

    Cost: for each level of contributions, a walk over the members of all topics of all nodes that reach it;
    sum over t of |V(t)|² steps each at worst. Memory is linear in the interests and in the links of topics.
    """
    grown = Augmentation(interests, tie_order(interests, seed))
    grown.take_all(edges)
    crowd = np.sum(np.diff(interests.topic_indptr).astype(np.float64) ** 2) / max(1, interests.node_count)
    likely = candidate_edges(interests, _LIKELY, progress) if crowd > _CROWDED else None

    def work(ticks: Ticks) -> None:
        grown.thicken(ticks, likely)

    run_with_ticks(work, "taking spare links", 0, progress)
    return delete_spare(interests, grown.edges, memory_limit=memory_limit, progress=progress)


def tie_order(interests: Interests, seed: int) -> Ids:
    """The order in which nodes are looked at."""
    return generator(seed, "resilient").permutation(interests.node_count).astype(np.int32)


def delete_spare(
    interests: InterestArrays,
    edges: Ids,
    *,
    doubtful: int | None = None,
    memory_limit: int | None = None,
    progress: Progress | None = None,
) -> Ids:
    """The edges that stay when each, from the last to the first, goes if no topic gets a cut node by it.

    Only the last `doubtful` are looked at; all, unless given. Cost and memory: those of `reverse_delete`,
    with a search for two paths in place of one.
    """
    edges = np.ascontiguousarray(edges, np.int32).reshape(-1, 2)
    if not len(edges):
        return edges
    tried = len(edges) if doubtful is None else doubtful
    indptr, topic_ids = interests.indptr.copy(), interests.topic_ids.copy()
    starts = count_links(indptr, topic_ids, edges)
    estimate = needed("reverse delete", shared_topics=int(starts[-1]), interests=len(topic_ids))
    check_memory(f"reverse delete of {count(len(edges), 'link')}", estimate, _INSTEAD, memory_limit)
    longest = int(np.bincount(topic_ids, minlength=1).max())

    def work(ticks: Ticks) -> Ids:
        ones = np.ones(interests.topic_count, np.int32)
        state = start_components(indptr, topic_ids, interests.topic_count, ones, 0)
        over = list_sub_overlays(state, edges, starts, ticks)
        found: Ids = edges[delete_resilient(over, longest, tried, ticks)]
        return found

    return run_with_ticks(work, "removing edges", len(edges), progress)


def neighbours_needed(
    interests: Interests, resilience: int, progress: Progress | None = None
) -> Floats | None:
    """By node, a number that its links can't be below, by proof; None where that would take too long.

    For each of its topics a node v has a neighbour who shares it, and in a topic of three or more that no
    failure cuts two of them. Let neighbour u give 1 / o(u, v) to each topic that it shares with v, where
    o(u, v) is how many these are: 1 in all. Every topic t gets 1 / o(v, t) or more from each that shares it,
    where o(v, t) is the greatest o(u, v) over the nodes of t. So v has at least the sum of that over its
    topics, twice where it needs two, rounded up. (Duality for the set-cover problem of v.)
    """
    sizes = np.diff(interests.topic_indptr)
    if not overlaps_pay(sizes):
        return None
    lists = TopicLists(
        interests.indptr, interests.topic_ids, interest_ranks(interests.topic_ids, interests.topic_count)
    )
    subscribers = Subscribers(interests.topic_indptr, interests.node_ids.view(np.uint32))
    overlaps = most_shared(lists, subscribers, progress).astype(np.float64)
    wanted = np.repeat(np.where(sizes > 2, min(resilience, 2), (sizes > 1) * 1), sizes)
    shares = np.divide(wanted, overlaps, out=np.zeros(len(overlaps)), where=wanted > 0)
    sums = np.bincount(interests.node_ids, shares, minlength=interests.node_count)
    least: Floats = np.ceil(sums * (1 - _ROUNDING) - _ROUNDING)
    return least


_ROUNDING = 1e-9
"""Above the relative error of the sums, which is their number of terms times 2^-53."""


def least_edges(interests: Interests, progress: Progress | None = None) -> int | None:
    """No overlay whose topics survive the failure of any one node has fewer edges; None if too much work."""
    by_node = neighbours_needed(interests, 2, progress)
    return None if by_node is None else int(-(-by_node.sum() // 2))
