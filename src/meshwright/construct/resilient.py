"""Resilience: topics that the failure of no single node cuts."""

from collections.abc import Callable

import numpy as np

from meshwright.construct.augmenting import Augmentation, InterestArrays
from meshwright.construct.greedy import make_problem, node_order
from meshwright.construct.neighbours import take_wanted, wanted_by
from meshwright.construct.options import RobustOptions
from meshwright.construct.overlaps import most_shared, overlaps_pay
from meshwright.construct.reverse_delete import by_cost, cost_of
from meshwright.kernels.core.subgraphs import TopicLists, interest_ranks
from meshwright.kernels.greedy.resilient_delete import delete_resilient
from meshwright.kernels.greedy.sub_overlays import (
    SubOverlays,
    count_links,
    find_link_slots,
    list_sub_overlays,
)
from meshwright.kernels.metrics.bounds import Subscribers
from meshwright.model.costs.costs import Costs
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Floats, Ids, Longs, Offsets, Ticks
from meshwright.runtime.memory import check_memory, needed
from meshwright.runtime.progress import Progress, run_with_ticks
from meshwright.runtime.seeds import generator
from meshwright.runtime.wording import count

MOST_STORED = 50_000
"""Nodes up to which wanted neighbours come first, by a greedy with a byte for each pair: 1.25 GB."""

_FEW = 2_000
"""Nodes up to which a resilient overlay that may begin anew is also made of the algorithm's links.

Of the smaller workloads some get 1 to 5% fewer links so; at 10,000 nodes none does (measured).
"""

_ROUNDS, _LITTLE_NEED = 8, 3
"""How often links are given up that so few subscribers need, up to 2,000 nodes.

At 400 to 1,000 nodes 0.5 to 10% fewer links (measured). Of 10,000 nodes a round saves 1.2% (unif), 6% (zipf)
and 1.7% (expo), but then takes half as long again or more.
"""

_INSTEAD = "leave resilience out, or allow more memory"


def owes_nothing(interests: Interests, options: RobustOptions) -> bool:
    """Whether a robust overlay would be the same whatever the algorithm built, so that it need not build."""
    large = _FEW < interests.node_count <= MOST_STORED
    return options.resilience > 1 and options.begins_anew and options.max_links is None and large


def resilient_edges(
    interests: Interests,
    edges: Ids,
    seed: int,
    *,
    anew: bool = False,
    ties: str = "shuffled",
    costs: Costs | None = None,
    memory_limit: int | None = None,
    progress: Progress | None = None,
    when_one_core: Callable[[], None] | None = None,
) -> Ids:
    """Links by which every topic of three or more stays connected when any one node fails.

    They are those of a topic-connected overlay and others, or, if `anew`, those of a greedy that need not
    keep any; where both are tried, the fewer count. With `costs`, links are added by contribution per cost,
    up to 2,000 nodes, the dearest go first that no topic needs, and the cheapest overlay counts. Guarantee:
    with any one node gone, the other subscribers of each topic are connected among themselves, and none of
    the edges could be left out. Deterministic for a seed.

    How: a greedy gives all subscribers two neighbours in each topic and connects them
    (`kernels/greedy/neighbours.py`); a second one makes one block of what blocks topics still have
    (`kernels/greedy/augmenting.py`); then each link goes that no topic needs. If `anew`, up to 2,000 nodes,
    links that few subscribers need are given up, and others are taken in the same way, while that saves some.

    Cost: up to 50,000 nodes three to four times Greedy Merge's processor time, and its memory. From there on
    the second greedy does all of it: sum over t of |V(t)|² steps for each level of contributions at worst, in
    memory that is linear in the interests and in the links of topics. The first greedy uses all cores, and
    what follows one; `when_one_core` is called in between.
    """
    by_price = costs is not None and interests.node_count <= _FEW
    if by_price or interests.node_count > MOST_STORED:
        starts = [edges]
    elif anew:
        starts = [
            with_neighbours(interests, None, seed, ties=ties, memory_limit=memory_limit, progress=progress)
        ]
    else:
        starts = []
    if interests.node_count <= (_FEW if anew else MOST_STORED):
        starts.append(
            with_neighbours(interests, edges, seed, ties=ties, memory_limit=memory_limit, progress=progress)
        )
    if when_one_core is not None:
        when_one_core()
    found = [_whole(interests, start, seed, costs, memory_limit, progress) for start in starts]
    best = min(found, key=len if costs is None else lambda own: cost_of(own, costs))
    for _ in range(_ROUNDS if anew and costs is None and interests.node_count <= _FEW else 0):
        kept = best[ends_in_need(interests, best) > _LITTLE_NEED]
        links = with_neighbours(
            interests, kept, seed, ties=ties, memory_limit=memory_limit, progress=progress
        )
        again = _whole(interests, links, seed, None, memory_limit, progress)
        if len(again) >= len(best):
            break
        best = again
    return best


def with_neighbours(
    interests: Interests,
    links: Ids | None,
    seed: int,
    *,
    ties: str = "shuffled",
    caps: Longs | None = None,
    memory_limit: int | None = None,
    progress: Progress | None = None,
) -> Ids:
    """Some links and others, by which topics are connected, and subscribers have two neighbours in each.

    With `caps`, as far as these allow.
    """
    problem = make_problem(
        interests.indptr,
        interests.topic_ids,
        interests.topic_count,
        node_order(interests, ties, seed),
    )
    wanted = wanted_by(problem, 2)
    taken = take_wanted(
        problem,
        wanted,
        instead=_INSTEAD,
        links=links,
        caps=caps,
        memory_limit=memory_limit,
        progress=progress,
    )
    return taken if links is None else np.concatenate([links, taken])


def _whole(
    interests: Interests,
    edges: Ids,
    seed: int,
    costs: Costs | None,
    memory_limit: int | None,
    progress: Progress | None,
) -> Ids:
    """The links of an overlay and spares, without those that no topic needs."""
    arrays = None if costs is None else costs.arrays()
    grown = Augmentation(interests, tie_order(interests, seed), costs=arrays)
    grown.take_all(edges)

    def work(ticks: Ticks) -> None:
        grown.thicken(ticks)

    run_with_ticks(work, "taking spare links", 0, progress)
    whole = grown.edges if costs is None else by_cost(grown.edges, costs)
    return delete_spare(interests, whole, memory_limit=memory_limit, progress=progress)


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
    starts = count_links(interests.indptr.copy(), interests.topic_ids.copy(), edges)
    estimate = needed("reverse delete", shared_topics=int(starts[-1]), interests=len(interests))
    check_memory(f"reverse delete of {count(len(edges), 'link')}", estimate, _INSTEAD, memory_limit)

    def work(ticks: Ticks) -> Ids:
        return spare_deleted(interests, edges, doubtful, ticks, starts)

    return run_with_ticks(work, "removing edges", len(edges), progress)


def spare_deleted(
    interests: InterestArrays,
    edges: Ids,
    doubtful: int | None,
    ticks: Ticks,
    starts: Offsets | None = None,
) -> Ids:
    """`delete_spare` for a caller that has `ticks` of its own; `starts` are those of `count_links`."""
    if not len(edges):
        return edges
    over = _listed(interests, edges, starts)
    longest = int(np.bincount(interests.topic_ids, minlength=1).max())
    tried = len(edges) if doubtful is None else doubtful
    found: Ids = edges[delete_resilient(over, longest, tried, ticks)]
    return found


def _listed(interests: InterestArrays, edges: Ids, starts: Offsets | None = None) -> SubOverlays:
    indptr, topic_ids = interests.indptr.copy(), interests.topic_ids.copy()
    if starts is None:
        starts = count_links(indptr, topic_ids, edges)
    slots = find_link_slots(indptr, topic_ids, interests.topic_count, edges, starts)
    return list_sub_overlays(len(topic_ids), starts, slots, np.ones(len(edges), np.bool_))


def ends_in_need(interests: InterestArrays, edges: Ids) -> Longs:
    """By edge: in how many topics its ends, each counted by itself, have no more than two neighbours."""
    over = _listed(interests, np.ascontiguousarray(edges, np.int32))
    needs = (np.diff(over.starts)[over.link_slots] <= 2).sum(axis=1)
    sums = np.concatenate([[0], np.cumsum(needs)])
    found: Longs = np.diff(sums[over.link_starts])
    return found


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
