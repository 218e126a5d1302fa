"""Bulk Clones: parts of nodes, each with a bulk set: a few nodes of many topics, which all others link to.

`bulk_clones_direct` has no parts: every lightweight node, on its own, links to a few bulk nodes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from meshwright.construct import greedy
from meshwright.construct.options import DcbcDirectOptions, DcbcOptions
from meshwright.construct.parts.conquer import Part
from meshwright.construct.parts.interest_queries import InProcess, Source, choose_partitions
from meshwright.construct.parts.partitioning import random_parts
from meshwright.construct.parts.resilient_parts import take_resilient
from meshwright.construct.parts.star_sets import star_set
from meshwright.construct.parts.topic_lists import Lists, join_lists, lists_of, split_lists, take_lists
from meshwright.construct.parts.topic_prices import SAMPLE, learn_weights, sampled
from meshwright.kernels.greedy.cover_search import search_room, shorten_covers
from meshwright.kernels.greedy.covering import (
    MOST_TOPICS,
    BulkTopics,
    Gains,
    cover_again,
    cover_nodes,
    list_bulk_topics,
)
from meshwright.model.costs.costs import Costs
from meshwright.model.edges import Built
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Flags, Ids, Offsets, Ticks
from meshwright.runtime.errors import OptionError
from meshwright.runtime.machine import cores
from meshwright.runtime.parallel import map_parts, threads_each
from meshwright.runtime.progress import Progress, run_with_ticks, stage
from meshwright.runtime.seeds import generator

_INSTEAD = "set a smaller bulk_limit or part_size, or use dcbc-direct (linear)"


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
    source: Source, *, threshold: int | None, bulk_share: float, bulk_limit: int, resilience: int = 1
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
    source: Source, order: Ids, *, bulk_size: int, most_topics: int, crowd: int, resilience: int = 1
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


def _bulk_set(source: Source, chosen: Flags, threshold: int, demand: Offsets) -> BulkSet:
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


def bulk_clones(
    interests: Interests, costs: Costs | None, options: DcbcOptions, seed: int, progress: Progress | None
) -> Built:
    """Divide-and-Conquer with Bulk Clones (DCBC).

    Guarantee: topic-connected; no edge joins two lightweight nodes of different parts. At most
    O(η log(|V||T|)) times the least possible number of edges ([1], Lemma 13), η being the threshold. With
    `threshold` 0 it is Greedy Merge, edge for edge. Costs change nothing.

    Cost: O(|B|² + |L||B| + |L|²/p) pairs of nodes for |B| bulk nodes and p parts of |L| lightweight ones;
    a byte for each pair of the parts that are at work at once, one on each core.

    Source: [1], Alg. 6, as written: edges between two lightweight nodes of one part are allowed. Ours are the
    limit on the bulk set and the choice of p by part size, without which |L||B| grows with the square.
    """
    del costs
    planned = plan(InProcess(interests), options, seed, progress)
    light = take_lists(lists_of(interests), planned.chosen.light)
    parts = split_lists(light, planned.part_of[light.nodes], planned.partitions)

    threads = threads_each(planned.partitions)

    def one(part: int, ticks: Ticks) -> Part:
        return conquer(part, parts[part], planned.known, options, seed, ticks, threads)

    every = range(planned.partitions)
    conquered = map_parts(one, every, "conquering parts", len(light.topic_ids), progress)
    edges = np.concatenate([planned.bulk_edges, *(part.edges for part in conquered)])
    return Built(edges=edges, facts=facts_of(planned, [part.facts for part in conquered]))


class Known(NamedTuple):
    """What every part must know of the whole."""

    bulk: Lists  # in the order in which Greedy Merge settles ties
    topic_count: int
    weights: Ids | None  # by topic, what a union counts; None: 1 each


@dataclass(frozen=True, kw_only=True)
class BulkPlan:
    """The bulk set, joined, and who belongs to which part.

    Attributes:
        chosen: the bulk set and the lightweight nodes.
        known: what every part must know.
        among_bulk: the edges between bulk nodes, as places in the bulk set.
        part_of: by node, its part; -1 for bulk nodes.
        partitions: how many parts there are.
    """

    chosen: BulkSet
    known: Known
    among_bulk: greedy.GreedyResult
    part_of: Ids
    partitions: int

    @property
    def bulk_edges(self) -> Ids:
        """The edges between bulk nodes, as node ids."""
        found: Ids = self.known.bulk.nodes[self.among_bulk.edges]
        return found


def plan(source: Source, options: DcbcOptions, seed: int, progress: Progress | None = None) -> BulkPlan:
    """Choose the bulk nodes, join them and divide the others ([1], Alg. 6, lines 1 to 8).

    Cost: linear in the interests, and Greedy Merge on the bulk set.
    """
    chosen = bulk_by_threshold(
        source,
        threshold=options.threshold,
        bulk_share=options.bulk_share,
        bulk_limit=options.bulk_limit,
        resilience=options.resilience,
    )
    bulk = ordered_bulk(chosen, source.node_count, seed, options.ties)
    among_bulk = join_bulk(bulk, source.topic_count, options.memory_limit, progress, options.resilience)
    partitions = _count_parts(source, len(chosen.light), options, seed, progress)
    part_of = np.full(source.node_count, -1, np.int32)
    part_of[chosen.light] = random_parts(len(chosen.light), partitions, seed)
    weights = _weights(source, chosen.light, bulk, partitions, options, seed, progress)
    return BulkPlan(
        chosen=chosen,
        known=Known(bulk, source.topic_count, weights),
        among_bulk=among_bulk,
        part_of=part_of,
        partitions=partitions,
    )


def _weights(
    source: Source,
    light: Ids,
    bulk: Lists,
    partitions: int,
    options: DcbcOptions,
    seed: int,
    progress: Progress | None,
) -> Ids | None:
    """By price, if guided, learned on as many random lightweight nodes as a part has."""
    if options.guide == "none" or not len(light):
        return None
    sample = source.lists(sampled(light, -(-len(light) // partitions), source.node_count, seed))
    order = greedy.tie_order(np.diff(sample.indptr), options.ties, seed)
    together = _together(sample, bulk, order, options.ties)

    def build(weights: Ids, ticks: Ticks) -> Ids:
        problem = together.problem(source.topic_count, weights)
        greedy.check_fits(problem, _INSTEAD, options.memory_limit)
        return greedy.run_greedy(problem, ticks, cores()).edges

    return learn_weights(build, together.lists, source.topic_count, progress, together.labels)


def facts_of(planned: BulkPlan, conquered: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """What the algorithm reports, of the plan and the facts of all parts."""
    facts = {"partitions": planned.partitions, **bulk_facts(planned.chosen, planned.among_bulk)}
    for counts in [dict.fromkeys(("light_edges", "outer_edges"), 0), *conquered]:
        for name, count in counts.items():
            facts[name] = facts.get(name, 0) + count
    return facts


def ordered_bulk(chosen: BulkSet, node_count: int, seed: int, ties: str = "shuffled") -> Lists:
    """The bulk nodes with their topics, in the order in which Greedy Merge settles ties among all nodes."""
    place = np.full(node_count, -1, np.int32)
    place[chosen.bulk] = np.arange(len(chosen.bulk), dtype=np.int32)
    # Where the others stand does not matter, so their sizes don't.
    sizes = np.zeros(node_count, np.int64)
    sizes[chosen.bulk] = np.diff(chosen.lists.indptr)
    ranked = place[greedy.tie_order(sizes, ties, seed)]
    return take_lists(chosen.lists, ranked[ranked >= 0])


def join_bulk(
    bulk: Lists, topic_count: int, memory_limit: int | None, progress: Progress | None, resilience: int
) -> greedy.GreedyResult:
    """Greedy Merge of the bulk nodes; the edges are pairs of places in `bulk` ([1], Alg. 6, line 6).

    With `resilience` 2, no topic of three bulk subscribers has a cut node among them.
    """
    with stage(progress, "preparing bulk nodes"):
        every = np.arange(len(bulk.nodes), dtype=np.int32)
        problem = greedy.make_problem(bulk.indptr, bulk.topic_ids, topic_count, every)
    if resilience == 1:
        return greedy.take_edges(problem, instead=_INSTEAD, memory_limit=memory_limit, progress=progress)
    greedy.check_fits(problem, _INSTEAD, memory_limit)

    def work(ticks: Ticks) -> Ids:
        return take_resilient(problem, bulk, None, ticks)

    edges = run_with_ticks(work, "taking edges", 0, progress)
    return greedy.GreedyResult(edges=edges, pairs_examined=0)


def bulk_facts(chosen: BulkSet, among_bulk: greedy.GreedyResult) -> dict[str, int]:
    """What both forms of the algorithm report of the bulk set."""
    return {
        "threshold": chosen.threshold,
        "bulk": len(chosen.bulk),
        "bulk_added": chosen.added,
        "bulk_edges": len(among_bulk.edges),
        "pairs_examined": among_bulk.pairs_examined,
    }


def _count_parts(
    source: Source, light: int, options: DcbcOptions, seed: int, progress: Progress | None
) -> int:
    """As many parts as wanted, and at most one for each lightweight node; none where there are none."""
    if options.part_size is not None:
        return -(-light // options.part_size)
    chosen = choose_partitions(
        source,
        partitions=options.partitions,
        part_size=None,
        criterion="pn-size",
        seed=seed,
        progress=progress,
    )
    return min(chosen, light)


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


def _together(lists: Lists, bulk: Lists, order: Ids, ties: str = "shuffled") -> Together:
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


def conquer(
    part: int,
    lists: Lists,
    known: Known,
    options: DcbcOptions,
    seed: int,
    ticks: Ticks,
    threads: int = 1,
) -> Part:
    """Connect the nodes of one part, which come in the order of their ids, to the bulk nodes or each other.

    [1], Alg. 6, lines 10 to 14: the bulk nodes are one topic-connected group, every other node is one of its
    own. The facts count `light_edges`, those between two lightweight nodes, `outer_edges`, those between a
    lightweight and a bulk node, and `pairs_examined`.
    """
    order = greedy.tie_order(np.diff(lists.indptr), options.ties, seed, part)
    together = _together(lists, known.bulk, order, options.ties)
    problem = together.problem(known.topic_count, known.weights)
    greedy.check_fits(problem, _INSTEAD, options.memory_limit, threads)
    if options.resilience == 1:
        result = greedy.run_greedy(problem, ticks, threads)
    else:
        bulk = int(together.groups[~together.is_light].max(initial=-1))
        taken = take_resilient(problem, together.lists, together.groups, ticks, bulk)
        result = greedy.GreedyResult(edges=taken, pairs_examined=0)
    light_edges = int(together.is_light[result.edges].all(axis=1).sum())
    facts = {
        "light_edges": light_edges,
        "outer_edges": len(result.edges) - light_edges,
        "pairs_examined": result.pairs_examined,
    }
    return part_without_stars(together.lists.nodes[result.edges], facts)


def part_without_stars(edges: Ids, facts: dict[str, int]) -> Part:
    """A part that needs no links to other parts, since it is connected to the bulk set."""
    nobody = Lists(np.empty(0, np.int32), np.zeros(1, np.int64), np.empty(0, np.int32))
    return Part(edges=edges, stars=nobody, met=np.empty(0, np.int64), facts=facts)


NODES_A_PART = 8192
"""By node id. Each part balances the load of the bulk nodes by itself, so this settles the overlay."""

_SHARE = 0.2
_MOST_BULK = {"none": 2_000, "dual": 8_000}
"""By guide. With prices, a node takes several times as long already, and more bulk nodes cover better."""

_WIDTH = 16
"""How many beginnings of covers are kept. At a million nodes with 8,000 bulk nodes, measured on a sample: a
width of 8 saves 3.9% of the links, 32 saves 4.3% and takes twice as long, and 128 saves 4.3%."""


class Shared(NamedTuple):
    """What every part must know of the bulk set; a place is a position in `bulk`."""

    bulk: Ids
    topics: BulkTopics
    links: Offsets  # by place: the links to other bulk nodes that a part has to reckon with
    prices: Gains  # by topic, if covers are to be searched for; none if the greedy ones are taken
    resilience: int = 1  # how many bulk nodes cover a topic, if it has as many


def bulk_clones_direct(
    interests: Interests,
    costs: Costs | None,
    options: DcbcDirectOptions,
    seed: int,
    progress: Progress | None,
) -> Built:
    """Greedy Merge on a bulk set, and for every other node a greedy cover of its topics by bulk nodes.

    Guarantee: topic-connected; every edge has an end in the bulk set, so a topic's diameter is at most that
    of its bulk subscribers plus two. A lightweight node has at most 1 + ln(its topics) times the
    links to bulk nodes that it needs, with no `slack`. With all nodes bulk it is Greedy Merge, edge for edge.
    Costs change nothing.

    Cost: that of Greedy Merge on the bulk set, whose size is bounded, and a pass over the other nodes in
    which an interest costs at most two additions for each bulk node that has the topic, or a sixteenth of
    that for each bulk node at all. Nodes need to know the bulk set alone, not each other.

    Source: ours, after [1], Alg. 6, which also allows links between lightweight nodes of one part (see
    `dcbc`). `DcbcDirectOptions` tells how the bulk set is chosen.

    """
    del costs
    planned = plan_direct(InProcess(interests), options, seed, progress)

    def one(part: int, ticks: Ticks) -> Part:
        lists = _lists(interests, slice(part * NODES_A_PART, (part + 1) * NODES_A_PART))
        rows = np.flatnonzero(planned.is_light[lists.nodes]).astype(np.int32)
        return cover(part, lists, rows, planned.shared, options.slack, seed, ticks)

    rounds = 2 if len(planned.shared.prices) else 1
    light = len(planned.chosen.light) * rounds
    conquered = map_parts(one, range(planned.partitions), "covering topics", light, progress)
    edges = np.concatenate([planned.bulk_edges, *(part.edges for part in conquered)])
    return Built(edges=edges, facts=facts_of_direct(planned, [part.facts for part in conquered]))


@dataclass(frozen=True, kw_only=True)
class CoverPlan:
    """The bulk set, joined, and what every part must know of it.

    Attributes:
        chosen: the bulk set and the lightweight nodes.
        shared: what a part must know.
        among_bulk: the edges between bulk nodes, as places in the bulk set.
        is_light: by node, whether it is lightweight.
        partitions: how many parts there are.
    """

    chosen: BulkSet
    shared: Shared
    among_bulk: greedy.GreedyResult
    is_light: Flags
    partitions: int

    @property
    def bulk_edges(self) -> Ids:
        """The edges between bulk nodes, as node ids."""
        found: Ids = self.shared.bulk[self.among_bulk.edges]
        return found


def plan_direct(
    source: Source, options: DcbcDirectOptions, seed: int, progress: Progress | None = None
) -> CoverPlan:
    """Choose the bulk nodes and join them; linear in the interests, and Greedy Merge on the bulk set."""
    with stage(progress, "choosing bulk nodes"):
        chosen = _choose_bulk(source, options, seed)
        bulk = ordered_bulk(chosen, source.node_count, seed)
    among_bulk = join_bulk(bulk, source.topic_count, options.memory_limit, progress, options.resilience)
    partitions = -(-source.node_count // NODES_A_PART)
    shared = _share(bulk, source.topic_count, among_bulk, partitions)
    shared = shared._replace(resilience=options.resilience)
    if options.guide == "dual":
        shared = shared._replace(prices=_cover_prices(source, chosen, bulk, shared, seed, progress))
    is_light = np.zeros(source.node_count, np.bool_)
    is_light[chosen.light] = True
    return CoverPlan(
        chosen=chosen,
        shared=shared,
        among_bulk=among_bulk,
        is_light=is_light,
        partitions=partitions,
    )


def facts_of_direct(planned: CoverPlan, conquered: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """What the algorithm reports, of the plan and the facts of all parts."""
    outer_edges = sum(counts["outer_edges"] for counts in conquered)
    return bulk_facts(planned.chosen, planned.among_bulk) | {"outer_edges": outer_edges}


def _choose_bulk(source: Source, options: DcbcDirectOptions, seed: int) -> BulkSet:
    bulk_size = options.bulk_size
    if bulk_size is None:
        bulk_size = min(int(_SHARE * source.node_count), _MOST_BULK[options.guide])
    order = greedy.tie_order(np.zeros(source.node_count, np.int64), "shuffled", seed)
    return bulk_by_size(
        source,
        order,
        bulk_size=bulk_size,
        most_topics=MOST_TOPICS,
        crowd=options.crowd,
        resilience=options.resilience,
    )


def _share(bulk: Lists, topic_count: int, among_bulk: greedy.GreedyResult, parts: int) -> Shared:
    every = np.arange(len(bulk.nodes), dtype=np.int32)
    topics = list_bulk_topics(bulk.indptr, bulk.topic_ids, topic_count, every)
    links = np.bincount(among_bulk.edges.ravel(), minlength=len(every)) // max(1, parts)
    return Shared(bulk=bulk.nodes, topics=topics, links=links, prices=np.empty(0, np.uint16))


def _cover_prices(
    source: Source, chosen: BulkSet, bulk: Lists, shared: Shared, seed: int, progress: Progress | None
) -> Gains:
    """What it takes to cover each topic, learned on the covers of random lightweight nodes."""
    sample = source.lists(sampled(chosen.light, SAMPLE, source.node_count, seed))
    rows = np.arange(len(sample.nodes), dtype=np.int32)
    together = _together(sample, bulk, rows)
    most = max(1, MOST_TOPICS // max(1, chosen.threshold))

    def priced(weights: Ids) -> Gains:
        return np.minimum(weights, most).astype(np.uint16)

    def build(weights: Ids, ticks: Ticks) -> Ids:
        once = shared._replace(prices=priced(weights), resilience=1)
        found = _covers(sample, once, 0.0, seed, 0, ticks)
        return found + np.array([0, len(rows)], np.int32)

    found = learn_weights(
        build, together.lists, source.topic_count, progress, together.labels, least_gain=0.0
    )
    return priced(found)


def _lists(interests: Interests, span: slice) -> Lists:
    """Those of a range of nodes, without copying them."""
    nodes = np.arange(span.start, min(span.stop, interests.node_count), dtype=np.int32)
    return Lists(nodes, interests.indptr[span.start : span.start + len(nodes) + 1], interests.topic_ids)


def cover(part: int, lists: Lists, rows: Ids, shared: Shared, slack: float, seed: int, ticks: Ticks) -> Part:
    """Link the lightweight nodes of one part, which stand in `rows` of `lists`, to bulk nodes.

    Among bulk nodes that cover equally many topics, or fewer by a fraction of at most `slack`, those with
    fewer links come first; the links counted are those of this part and its share of those among bulk nodes,
    so that parts don't depend on each other. With prices, a beam search replaces covers by shorter ones where
    it finds any. The facts count `outer_edges`.
    """
    light = take_lists(lists, rows)
    found = _covers(light, shared, slack, seed, part, ticks)
    edges = np.column_stack([light.nodes[found[:, 0]], shared.bulk[found[:, 1]]])
    return part_without_stars(edges, {"outer_edges": len(edges)})


def _covers(light: Lists, shared: Shared, slack: float, seed: int, part: int, ticks: Ticks) -> Ids:
    """Links from rows of `light` to places in the bulk set: greedy covers, or shorter ones where found."""
    _, indptr, topic_ids = light
    rows, places = np.arange(len(light.nodes), dtype=np.int32), len(shared.bulk)
    turns = generator(seed, "dcbc-direct", part).permutation(places) + places * shared.links
    found = cover_nodes(indptr, topic_ids, rows, shared.topics, turns, slack, ticks)
    if len(shared.prices) and len(found):
        room = search_room(_WIDTH, int(np.diff(indptr).max()), places)
        found = shorten_covers(indptr, topic_ids, rows, shared.topics, shared.prices, found, room, ticks)
    if shared.resilience > 1:
        found = cover_again(indptr, topic_ids, rows, shared.topics, found, turns, slack, ticks)
    return found
