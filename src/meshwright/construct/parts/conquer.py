"""Divide and Conquer: Greedy Merge on parts, and Star Merge between them, in pure functions.

Whoever runs them, in whatever order, gets the same overlay. What divides the nodes, and by which greedy edges
are taken, differs between the algorithms built on this. In process, `build_in_parts` runs it all in threads.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from meshwright.construct.greedy import GreedyProblem, check_fits, make_problem, run_greedy, tie_order
from meshwright.construct.options import DcMawOptions, DcOptions
from meshwright.construct.parts.interest_queries import InProcess, Source, choose_partitions, shared_topics
from meshwright.construct.parts.partitioning import k_means_parts, random_parts
from meshwright.construct.parts.resilient_parts import star_pairs, take_resilient
from meshwright.construct.parts.star_sets import star_set
from meshwright.construct.parts.topic_lists import Lists, join_lists, lists_of, split_lists, take_lists
from meshwright.construct.parts.topic_prices import learn_weights, sampled
from meshwright.model.costs.costs import Costs
from meshwright.model.edges import Built
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Flags, Ids, Offsets, Ticks
from meshwright.runtime.machine import cores
from meshwright.runtime.parallel import map_parts, threads_each
from meshwright.runtime.progress import Progress

TOO_LARGE = "give more partitions, a smaller part_size or a smaller most_stars"
"""What to do about a part that does not fit."""


@dataclass(frozen=True, kw_only=True)
class PartsPlan:
    """Who belongs to which part, by node, and the topics that more than one part has, by topic."""

    part_of: Ids
    partitions: int
    shared: Flags


@dataclass(frozen=True, kw_only=True)
class Part:
    """A topic-connected overlay of some nodes, and what the others must know of it.

    Attributes:
        edges: (m, 2) node ids.
        stars: nodes that together have all its topics that others have too, with their topics; through them
            alone is the part linked to others.
        met: by star, how many nodes were candidates to become its neighbours so far.
        facts: counts; see `conquer` for their names.
    """

    edges: Ids
    stars: Lists
    met: Offsets
    facts: Mapping[str, int]


Take = Callable[[GreedyProblem, Ids, Ticks, int], tuple[Ids, int]]
"""Takes the edges of a problem over some nodes, with ticks and a number of threads.

It refuses what does not fit into memory. What comes back are edges, as places in the nodes, and how many
pairs were examined.
"""


class Greedy(NamedTuple):
    """How edges are taken, and what a union counts in each topic: 1, unless there are weights.

    With `resilience` 2, parts and what is made of them have topics that the failure of no node cuts; edges
    are then taken by the neighbours that subscribers want, within `memory_limit`, and without weights.
    """

    take: Take
    weights: Ids | None = None
    resilience: int = 1
    memory_limit: int | None = None


PartOptions = DcOptions | DcMawOptions
"""How a problem is divided."""


def conquer(
    greedy: Greedy,
    part: int,
    lists: Lists,
    shared: Flags,
    ties: str,
    seed: int,
    ticks: Ticks,
    threads: int = 1,
) -> Part:
    """The greedy on one part, whose nodes come in the order of their ids, and its star set.

    [1], Alg. 4, line 7, and Alg. 3, lines 3 to 6. The facts count `parts`, `stars` (those of the parts
    themselves), `inner_edges`, `outer_edges`, `pairs_examined`, and `pn_size`, the most candidates that a
    node had.
    """
    order = tie_order(np.diff(lists.indptr), ties, seed, part)
    problem = make_problem(lists.indptr, lists.topic_ids, len(shared), order, weights=greedy.weights)
    edges, examined = _taken(greedy, problem, lists, None, ticks, threads)
    stars = _stars(greedy, lists, order, shared)
    others = max(0, len(order) - 1)
    facts = {
        "parts": 1,
        "stars": len(stars),
        "inner_edges": len(edges),
        "outer_edges": 0,
        "pairs_examined": examined,
        "pn_size": others,
    }
    return Part(
        edges=lists.nodes[edges],
        stars=take_lists(lists, stars),
        met=np.full(len(stars), others, np.int64),
        facts=facts,
    )


def combine(greedy: Greedy, parts: Sequence[Part], shared: Flags, ticks: Ticks, threads: int = 1) -> Part:
    """Star Merge of two or more parts: the greedy over pairs of stars of different parts ([1], Alg. 3).

    `shared` are the topics that nodes outside of all these `parts` have too. What comes out is a part again:
    its stars are a star set of those of the parts, so combines may be stacked. Ties go to the first part,
    and in it to the star that was chosen first.
    """
    stars = join_lists([part.stars for part in parts])
    sizes = np.array([len(part.stars.nodes) for part in parts])
    groups = np.repeat(np.arange(len(parts), dtype=np.int32), sizes)
    every = np.arange(len(groups), dtype=np.int32)
    labels = np.repeat(groups, np.diff(stars.indptr))
    problem = make_problem(
        stars.indptr,
        stars.topic_ids,
        len(shared),
        every,
        groups=groups,
        labels=labels,
        weights=greedy.weights,
    )
    edges, examined = _taken(greedy, problem, stars, groups, ticks, threads)
    met = np.concatenate([part.met for part in parts]) + sizes.sum() - sizes[groups]
    chosen = _stars(greedy, stars, every, shared)
    facts = {name: sum(part.facts[name] for part in parts) for name in parts[0].facts}
    facts["outer_edges"] += len(edges)
    facts["pairs_examined"] += examined
    facts["pn_size"] = max(*(part.facts["pn_size"] for part in parts), met.max(initial=0).item())
    return Part(
        edges=np.concatenate([*(part.edges for part in parts), stars.nodes[edges]]),
        stars=take_lists(stars, chosen),
        met=met[chosen],
        facts=facts,
    )


def _taken(
    greedy: Greedy, problem: GreedyProblem, lists: Lists, groups: Ids | None, ticks: Ticks, threads: int
) -> tuple[Ids, int]:
    """The edges that the greedy takes between rows, and how many pairs were examined."""
    if greedy.resilience == 1:
        return greedy.take(problem, lists.nodes, ticks, threads)
    check_fits(problem, TOO_LARGE, greedy.memory_limit, threads)
    return take_resilient(problem, lists, groups, ticks), 0


def _stars(greedy: Greedy, lists: Lists, order: Ids, shared: Flags) -> Ids:
    """Rows that speak for the shared topics, two for each if these must survive a failure."""
    if greedy.resilience == 1:
        return star_set(lists.indptr, lists.topic_ids, len(shared), order, shared)
    return star_pairs(lists, len(shared), order, shared)


def group_parts(stars: Sequence[int], most: int) -> list[range]:
    """Runs of parts to combine next: of two parts or more, and as long as they have `most` stars at most.

    One run of all means that the next combine is the last. The last run may be a single part.
    """
    runs = []
    start, total = 0, 0
    for at, count in enumerate(stars):
        if at - start >= 2 and total + count > most:
            runs.append(range(start, at))
            start, total = at, 0
        total += count
    return [*runs, range(start, len(stars))]


def build_in_parts(
    interests: Interests,
    planned: PartsPlan,
    greedy: Greedy,
    options: PartOptions,
    seed: int,
    progress: Progress | None,
) -> tuple[Part, int]:
    """All steps after the plan: the part that all nodes have become, and by how many levels of combines.

    Parts run in threads; the result is the same on any number of cores.
    """
    parts = _conquer_all(interests, planned, greedy, options.ties, seed, progress)
    levels = 0
    while len(parts) > 1:
        parts = _combine_once(parts, interests.topic_count, greedy, options.most_stars, progress)
        levels += 1
    return parts[0], levels


def _conquer_all(
    interests: Interests, planned: PartsPlan, greedy: Greedy, ties: str, seed: int, progress: Progress | None
) -> list[Part]:
    members = split_lists(lists_of(interests), planned.part_of, planned.partitions)
    threads = threads_each(planned.partitions)

    def one(part: int, ticks: Ticks) -> Part:
        return conquer(greedy, part, members[part], planned.shared, ties, seed, ticks, threads)

    # An interest is united with its topic's others in the part, but for one in each topic of each part.
    return map_parts(one, range(planned.partitions), "building the parts", len(interests), progress)


def _combine_once(
    parts: list[Part], topic_count: int, greedy: Greedy, most_stars: int, progress: Progress | None
) -> list[Part]:
    """One level of the tree of combines."""
    runs = group_parts([len(part.stars.nodes) for part in parts], most_stars)
    shared = _shared_by_run(parts, runs, topic_count)
    threads = threads_each(len(runs))

    def one(run: range, ticks: Ticks) -> Part:
        if len(run) == 1:
            return parts[run.start]
        return combine(greedy, parts[run.start : run.stop], shared, ticks, threads)

    return map_parts(one, runs, "combining the parts", 0, progress)


def _shared_by_run(parts: list[Part], runs: list[range], topic_count: int) -> Flags:
    """The topics that stars of more than one run have: a star set has all that another part has too."""
    owner_of = np.repeat(np.arange(len(runs), dtype=np.int32), [len(run) for run in runs])
    owners = np.repeat(owner_of, [len(part.stars.topic_ids) for part in parts])
    return shared_topics(np.concatenate([part.stars.topic_ids for part in parts]), owners, topic_count)


def facts_of(counted: Mapping[str, int], levels: int, nodes: int) -> dict[str, int | float]:
    """What an algorithm reports of the facts of the part that all `nodes` have become."""
    counts = dict(counted)
    partitions, stars = counts.pop("parts"), counts.pop("stars")
    return {
        "partitions": partitions,
        "average_star_set_size": stars / partitions,
        **counts,
        "pn_ratio": counts["pn_size"] / max(1, nodes),
        "combine_levels": levels,
    }


def divide_and_conquer(
    interests: Interests, costs: Costs | None, options: DcOptions, seed: int, progress: Progress | None
) -> Built:
    """Divide and Conquer (DC).

    Guarantee: topic-connected; at most O(p log(|V||T|)) times the least number of edges, for p parts. With
    one part it is Greedy Merge, edge for edge, and with a part for each node a greedy with other ties. The
    same seed gives the same overlay on any number of cores. Costs change nothing.

    Cost: that of Greedy Merge on each part, so |V|²|T|/p in all, and that of the stars, (p k̃)²|T| for
    star sets of k̃ nodes. Parts run in threads; each core needs the memory of one.

    Source: [1], Alg. 4 with Alg. 3 and 5. Where [1] combines all parts at once, we combine in a tree when
    they have more than `DcOptions.most_stars` stars.

    """
    del costs
    source = InProcess(interests)
    planned = plan(source, options, seed, progress)
    greedy = greedy_of(source, planned.partitions, options, seed, progress)
    whole, levels = build_in_parts(interests, planned, greedy, options, seed, progress)
    return Built(edges=whole.edges, facts=facts_of(whole.facts, levels, interests.node_count))


def plan(source: Source, options: DcOptions, seed: int, progress: Progress | None = None) -> PartsPlan:
    """Divide the nodes ([1], Alg. 4, lines 2 to 4); linear in the interests for each p that is tried."""
    partitions = choose_partitions(
        source,
        partitions=options.partitions,
        part_size=options.part_size,
        criterion=options.criterion,
        seed=seed,
        progress=progress,
    )
    if options.partition_by == "random":
        part_of = random_parts(source.node_count, partitions, seed)
    else:
        part_of = k_means_parts(source.interests(), partitions, seed)
        partitions = int(part_of.max(initial=0)) + 1
    return PartsPlan(part_of=part_of, partitions=partitions, shared=source.shared(part_of))


def greedy_of(
    source: Source, partitions: int, options: DcOptions, seed: int, progress: Progress | None = None
) -> Greedy:
    """The greedy by contribution, with the memory that the options allow; guided, by price.

    Prices are then learned on random nodes, as many as a part has.
    """
    take = partial(_by_contribution, memory_limit=options.memory_limit)
    if options.guide == "none":
        return Greedy(take, None, options.resilience, options.memory_limit)
    every = np.arange(source.node_count, dtype=np.int32)
    sample = source.lists(sampled(every, -(-len(every) // partitions), len(every), seed))
    order = tie_order(np.diff(sample.indptr), options.ties, seed)

    def build(weights: Ids, ticks: Ticks) -> Ids:
        problem = make_problem(sample.indptr, sample.topic_ids, source.topic_count, order, weights=weights)
        return take(problem, sample.nodes, ticks, cores())[0]

    return Greedy(take, learn_weights(build, sample, source.topic_count, progress))


def _by_contribution(
    problem: GreedyProblem, nodes: Ids, ticks: Ticks, threads: int, *, memory_limit: int | None
) -> tuple[Ids, int]:
    check_fits(problem, TOO_LARGE, memory_limit, threads)
    result = run_greedy(problem, ticks, threads)
    return result.edges, result.pairs_examined
