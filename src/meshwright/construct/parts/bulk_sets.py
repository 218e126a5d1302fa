"""Bulk sets: a few nodes of many topics, such that every topic has one, and the greedy that joins them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from meshwright.construct import greedy
from meshwright.construct.parts.conquer import Part
from meshwright.construct.parts.interest_queries import ListSource
from meshwright.construct.parts.resilient_parts import take_resilient
from meshwright.construct.parts.star_sets import star_set
from meshwright.construct.parts.topic_lists import Lists, join_lists, take_lists
from meshwright.runtime.arrays import Flags, Ids, Offsets, Ticks
from meshwright.runtime.errors import OptionError
from meshwright.runtime.progress import Progress, run_with_ticks, stage

INSTEAD = "set a smaller bulk_limit or part_size, or use dcbc-direct (linear)"
"""What to do about a bulk set that does not fit."""


@dataclass(frozen=True, kw_only=True)
class BulkSet:
    """The bulk nodes, and the others, which are the lightweight ones; both sorted by id.

    `lists` has the topics of the bulk nodes. `threshold` is such that nodes of more topics are bulk; `added`
    counts the nodes that are bulk for the sake of topics that would otherwise have too few bulk subscribers.
    """

    bulk: Ids
    light: Ids
    lists: Lists
    threshold: int
    added: int


def choose_threshold(sizes: Offsets, at_most: int) -> int:
    """The smallest number of topics that at most `at_most` nodes exceed; linear ([1], VII, chooseEta)."""
    if at_most >= len(sizes):
        return 0
    place = len(sizes) - 1 - at_most
    return int(np.partition(sizes, place)[place])


def bulk_by_threshold(
    source: ListSource, *, threshold: int | None, bulk_share: float, bulk_limit: int, resilience: int = 1
) -> BulkSet:
    """The nodes of more than `threshold` topics, and as many more as it takes to cover every topic.

    Without a threshold it is the smallest that leaves at most `bulk_share` of the nodes, and no more than
    `bulk_limit`, above it. Every topic of two subscribers has one in the bulk set, and of three as many as
    the `resilience` says; a topic of one needs no cover. Linear in the interests. Source: [1], Alg. 6, lines
    1 to 5; the limit is ours, since time grows with the bulk set times the nodes.
    """
    sizes = source.sizes()
    if threshold is None:
        threshold = choose_threshold(sizes, min(int(bulk_share * len(sizes)), bulk_limit))
    elif threshold > source.topic_count:
        raise OptionError(
            f"threshold is {threshold}, but there are {source.topic_count} topics; give at most that many",
            option="threshold",
        )
    chosen = sizes > threshold
    return _bulk_set(source, chosen, threshold, _least_demand(source.subscribers(), resilience))


def _least_demand(subscribers: Offsets, resilience: int) -> Offsets:
    """By topic: the bulk subscribers that it needs, so that others may be linked to them alone."""
    found: Offsets = np.where(subscribers > 1, np.where(subscribers > 2, resilience, 1), 0)
    return found


_MOST_FOR_A_CROWD = 128
"""Bulk subscribers that a popular topic asks for."""


def bulk_by_size(
    source: ListSource, order: Ids, *, bulk_size: int, most_topics: int, crowd: int, resilience: int = 1
) -> BulkSet:
    """The `bulk_size` nodes with the most topics, and more where a topic would crowd the few that have it.

    Ties go to the earlier node in `order`. Every topic of two subscribers has a bulk subscriber for each
    `crowd` of its subscribers, so that none has to take all links of a popular topic, but no more than 128
    for that reason: else the bulk set, which every node is compared with, would grow with the nodes. Nodes of
    more than `most_topics` are always bulk. Linear in the interests, for each of a few rounds.
    """
    sizes = source.sizes()
    least = choose_threshold(sizes, bulk_size)
    largest = order[sizes[order] >= least]
    largest = largest[np.argsort(-sizes[largest], kind="stable")[:bulk_size]]
    chosen = sizes > most_topics
    chosen[largest] = True
    chosen &= sizes > 0
    subscribers = source.subscribers()
    demand = np.where(subscribers > 1, np.minimum(-(-subscribers // crowd), _MOST_FOR_A_CROWD), 0)
    demand = np.maximum(demand, _least_demand(subscribers, resilience))
    threshold = int(sizes[~chosen].max(initial=0))
    return _bulk_set(source, chosen, threshold, demand)


def _bulk_set(source: ListSource, chosen: Flags, threshold: int, demand: Offsets) -> BulkSet:
    """The chosen nodes, and those that it takes to give each topic as many bulk subscribers as demanded."""
    lists = source.lists(chosen)
    lack = demand - np.bincount(lists.topic_ids, minlength=len(demand))
    added = np.zeros(len(chosen), np.bool_)
    if (lack > 0).any():
        added[meet_demand(source.lists(~chosen, lack > 0), lack)] = True
        both = join_lists([lists, source.lists(added)])
        lists = take_lists(both, np.argsort(both.nodes).astype(np.int32))
    return BulkSet(
        bulk=lists.nodes,
        light=np.flatnonzero(~(chosen | added)).astype(np.int32),
        lists=lists,
        threshold=threshold,
        added=int(added.sum()),
    )


def meet_demand(candidates: Lists, lack: Offsets) -> Ids:
    """Nodes among `candidates` such that each topic has as many of them as it lacks bulk subscribers.

    The candidates come by id, with the topics that lack any, and no others need be among their topics. Star
    sets of them are taken until nothing is lacking: a round gives each topic that lacks any at least one
    more, so there are as many rounds as the greatest lack. Each is linear in the candidates' topics.
    """
    lack = lack.copy()
    left = np.ones(len(candidates.nodes), np.bool_)
    while (lack > 0).any():
        rows = np.flatnonzero(left).astype(np.int32)
        stars = star_set(candidates.indptr, candidates.topic_ids, len(lack), rows, lack > 0)
        left[stars] = False
        lack -= np.bincount(take_lists(candidates, stars).topic_ids, minlength=len(lack))
    return candidates.nodes[~left]


def ordered_bulk(chosen: BulkSet, node_count: int, seed: int, ties: str = "shuffled") -> Lists:
    """The bulk nodes with their topics, in the order in which Greedy Merge settles ties among all nodes."""
    place = np.full(node_count, -1, np.int32)
    place[chosen.bulk] = np.arange(len(chosen.bulk), dtype=np.int32)
    # Where the others stand does not matter, so their sizes don't.
    sizes = np.zeros(node_count, np.int64)
    sizes[chosen.bulk] = np.diff(chosen.lists.indptr)
    ranked = place[greedy.tie_order(sizes, ties, seed)]
    return take_lists(chosen.lists, ranked[ranked >= 0])


def merge_bulk(
    bulk: Lists, topic_count: int, memory_limit: int | None, progress: Progress | None, resilience: int
) -> greedy.GreedyResult:
    """Greedy Merge of the bulk nodes; the edges are pairs of places in `bulk` ([1], Alg. 6, line 6).

    With `resilience` 2, no topic of three bulk subscribers has a cut node among them.
    """
    with stage(progress, "preparing bulk nodes"):
        every = np.arange(len(bulk.nodes), dtype=np.int32)
        problem = greedy.make_problem(bulk.indptr, bulk.topic_ids, topic_count, every)
    if resilience == 1:
        return greedy.take_edges(problem, instead=INSTEAD, memory_limit=memory_limit, progress=progress)
    greedy.check_fits(problem, INSTEAD, memory_limit)

    def work(ticks: Ticks) -> Ids:
        return take_resilient(problem, bulk, None, ticks)

    edges = run_with_ticks(work, "taking edges", 0, progress)
    return greedy.GreedyResult(edges=edges, pairs_examined=0)


_MOST_MERGED = 10_000
"""Bulk nodes that Greedy Merge joins; its time grows with their square, and with their topics: 3,985 nodes
with 250 topics each took 9 s of processor time on a busy machine."""

_NEARLY_ALL = 0.75


def too_many_to_merge(chosen: BulkSet) -> bool:
    """Whether topics have added more nodes to a bulk set than Greedy Merge should join.

    Where nearly all nodes are bulk, a bulk set of theirs would be hardly smaller, so they are merged.
    """
    count = len(chosen.bulk)
    asked = count - chosen.added
    return count > max(_MOST_MERGED, 2 * asked) and count <= _NEARLY_ALL * (count + len(chosen.light))


def bulk_facts(chosen: BulkSet, among_bulk: greedy.GreedyResult) -> dict[str, int]:
    """What both forms of the algorithm report of the bulk set."""
    return {
        "threshold": chosen.threshold,
        "bulk": len(chosen.bulk),
        "bulk_added": chosen.added,
        "bulk_edges": len(among_bulk.edges),
        "pairs_examined": among_bulk.pairs_examined,
    }


_BULK_BEFORE = ("large-first", "bulk-first")


class Together(NamedTuple):
    """The lightweight nodes of a part and, behind or before them, the bulk nodes, which are one group."""

    lists: Lists
    groups: Ids  # by row
    labels: Ids  # by interest: its group
    is_light: Flags  # by row

    def problem(self, topic_count: int, weights: Ids | None) -> greedy.GreedyProblem:
        """How the greedy may connect them."""
        return greedy.make_problem(
            self.lists.indptr,
            self.lists.topic_ids,
            topic_count,
            np.arange(len(self.groups), dtype=np.int32),
            groups=self.groups,
            labels=self.labels,
            weights=weights,
        )


def put_together(lists: Lists, bulk: Lists, order: Ids, ties: str = "shuffled") -> Together:
    """The lightweight nodes in `order`; whoever comes first is preferred among equals."""
    light = take_lists(lists, order)
    rows = np.arange(len(order) + len(bulk.nodes))
    if ties in _BULK_BEFORE:
        both, groups = join_lists([bulk, light]), np.maximum(rows - len(bulk.nodes) + 1, 0)
        is_light = rows >= len(bulk.nodes)
    else:
        both, groups = join_lists([light, bulk]), np.minimum(rows, len(order))
        is_light = rows < len(order)
    groups = groups.astype(np.int32)
    return Together(both, groups, np.repeat(groups, np.diff(both.indptr)), is_light)


def part_without_stars(edges: Ids, facts: dict[str, int]) -> Part:
    """A part that needs no links to other parts, since it is connected to the bulk set."""
    nobody = Lists(np.empty(0, np.int32), np.zeros(1, np.int64), np.empty(0, np.int32))
    return Part(edges=edges, stars=nobody, met=np.empty(0, np.int64), facts=facts)
