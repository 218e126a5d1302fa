"""DcMAW: the greedy by cost on parts, and between representatives of them."""

from collections.abc import Sequence

import numpy as np

from meshwright.construct.cost_partitioning import divide
from meshwright.construct.gm import tie_order
from meshwright.construct.greedy import GreedyProblem, make_problem
from meshwright.construct.lists import Lists, join_lists, lists_of, split_lists, take_lists
from meshwright.construct.parts import Part, Plan, group_parts, map_parts, threads_each
from meshwright.construct.reverse_delete import by_cost, reverse_delete
from meshwright.construct.source import InProcess, Source, shared_topics
from meshwright.construct.star_sets import star_set
from meshwright.construct.weighted_options import DcMawOptions
from meshwright.kernels.arrays import Flags, Ids
from meshwright.kernels.cost_arrays import CostArrays
from meshwright.machine import cores
from meshwright.model.built import Built
from meshwright.model.cost_forms import taken
from meshwright.model.costs import Costs
from meshwright.model.interests import Interests
from meshwright.progress import Progress, Ticks, run_with_ticks

_INSTEAD = "give more partitions, a smaller part_size or a smaller most_stars"


def weighted_divide_and_conquer(
    interests: Interests, costs: Costs, options: DcMawOptions, seed: int, progress: Progress | None
) -> Built:
    """Divide and Conquer for links that cost (DcMAW).

    Guarantee: topic-connected. With one part it is `gr-maw`, edge for edge. The same seed gives the same
    overlay on any number of cores.

    Cost: that of `gr-maw` on each part and on the representatives of all, and that of dividing
    (`construct/cost_partitioning.py`). Parts run in threads; each core needs the memory of one.

    Source: [2], Alg. 6, as IX-G runs it: k-means by costs, GrMAW in each part, representative sets, and GrMAW
    between them. What the paper leaves open: representatives are star sets ([1], Alg. 3) of the topics that
    other parts have too; edges between parts go between representatives alone, and a part counts as one
    component of each of its topics there. The number of parts is |V|/100 as in IX-G, unless given. Parts are
    combined in a tree where they have more than `DcMawOptions.most_stars` representatives.

    [1] Chen, Jacobsen, Vitenberg: Algorithms Based on Divide and Conquer for Topic-Based Publish/Subscribe
    Overlay Design, IEEE/ACM Transactions on Networking, 2016.
    [2] Chen, Tock, Jacobsen, Vitenberg: Weighted Overlay Design for Topic-based Publish/Subscribe Systems on
    Geo-Distributed Data Centers, ICDCS 2015.
    """
    costs = costs.of(interests)
    planned = plan(InProcess(interests), costs, options, seed)
    parts = _conquer_all(interests, costs.arrays(), planned, options, seed, progress)
    levels = 0
    while len(parts) > 1:
        parts = _combine_once(parts, costs.arrays(), interests.topic_count, options, progress)
        levels += 1
    edges = parts[0].edges if parts else np.empty((0, 2), np.int32)
    if options.reverse_delete:
        edges = reverse_delete(
            interests, by_cost(edges, costs), memory_limit=options.memory_limit, progress=progress
        )
    return Built(edges=edges, facts=_facts(parts, levels, len(edges)))


def plan(source: Source, costs: Costs, options: DcMawOptions, seed: int) -> Plan:
    """Divide the nodes by `costs`, which speak of them in the order of their ids ([2], Alg. 6, line 1)."""
    part_of = divide(costs, options, seed)
    partitions = int(part_of.max(initial=-1)) + 1
    return Plan(part_of=part_of, partitions=partitions, shared=source.shared(part_of))


def conquer(
    part: int,
    lists: Lists,
    costs: CostArrays,
    shared: Flags,
    options: DcMawOptions,
    seed: int,
    ticks: Ticks,
    threads: int = 1,
) -> Part:
    """The greedy by cost on one part, whose nodes come in the order of their ids, and its representatives.

    `costs` are those among the part's nodes, in their order. [2], Alg. 6, lines 3 and 4. The facts are as for
    `dc`.
    """
    order = tie_order(np.diff(lists.indptr), options.ties, seed, part)
    problem = make_problem(lists.indptr, lists.topic_ids, len(shared), order)
    edges, examined = _run(problem, costs, options, ticks, threads)
    stars = star_set(lists.indptr, lists.topic_ids, len(shared), order, shared)
    others = max(0, len(order) - 1)
    facts = {
        "parts": 1,
        "stars": len(stars),
        "inner_edges": len(edges),
        "outer_edges": 0,
        "pairs_examined": examined,
        "pn_size": others,
    }
    met = np.full(len(stars), others, np.int64)
    return Part(edges=lists.nodes[edges], stars=take_lists(lists, stars), met=met, facts=facts)


def combine(
    parts: Sequence[Part],
    costs: CostArrays,
    shared: Flags,
    options: DcMawOptions,
    ticks: Ticks,
    threads: int = 1,
) -> Part:
    """The greedy by cost over pairs of representatives of different parts ([2], Alg. 6, line 5).

    `costs` are those among all nodes, by id, and `shared` the topics that nodes outside of all these `parts`
    have too. What comes out is a part again, so combines may be stacked. Ties go to the first part, and in it
    to the representative that was chosen first.
    """
    stars = join_lists([part.stars for part in parts])
    sizes = np.array([len(part.stars.nodes) for part in parts])
    groups = np.repeat(np.arange(len(parts), dtype=np.int32), sizes)
    every = np.arange(len(groups), dtype=np.int32)
    labels = np.repeat(groups, np.diff(stars.indptr))
    problem = make_problem(stars.indptr, stars.topic_ids, len(shared), every, groups=groups, labels=labels)
    edges, examined = _run(problem, taken(costs, stars.nodes), options, ticks, threads)
    met = np.concatenate([part.met for part in parts]) + sizes.sum() - sizes[groups]
    chosen = star_set(stars.indptr, stars.topic_ids, len(shared), every, shared)
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


def _run(
    problem: GreedyProblem, costs: CostArrays, options: DcMawOptions, ticks: Ticks, threads: int
) -> tuple[Ids, int]:
    from meshwright.construct.pricing import check_fits, run_by_price
    from meshwright.kernels.prices import RATIO

    check_fits(problem, RATIO, _INSTEAD, options.memory_limit, max(1, cores() // threads))
    result = run_by_price(problem, costs, RATIO, ticks, threads)
    return result.edges, result.pairs_examined


def _conquer_all(
    interests: Interests,
    costs: CostArrays,
    planned: Plan,
    options: DcMawOptions,
    seed: int,
    progress: Progress | None,
) -> list[Part]:
    members = split_lists(lists_of(interests), planned.part_of, planned.partitions)
    threads = threads_each(planned.partitions)

    def work(ticks: Ticks) -> list[Part]:
        def one(part: int) -> Part:
            own = taken(costs, members[part].nodes)
            return conquer(part, members[part], own, planned.shared, options, seed, ticks, threads)

        return map_parts(one, range(planned.partitions), ticks)

    return run_with_ticks(work, "building the parts", len(interests), progress)


def _combine_once(
    parts: list[Part], costs: CostArrays, topic_count: int, options: DcMawOptions, progress: Progress | None
) -> list[Part]:
    """One level of the tree of combines."""
    runs = group_parts([len(part.stars.nodes) for part in parts], options.most_stars)
    owner_of = np.repeat(np.arange(len(runs), dtype=np.int32), [len(run) for run in runs])
    owners = np.repeat(owner_of, [len(part.stars.topic_ids) for part in parts])
    shared = shared_topics(np.concatenate([part.stars.topic_ids for part in parts]), owners, topic_count)
    threads = threads_each(len(runs))

    def work(ticks: Ticks) -> list[Part]:
        def one(run: range) -> Part:
            if len(run) == 1:
                return parts[run.start]
            return combine(parts[run.start : run.stop], costs, shared, options, ticks, threads)

        return map_parts(one, runs, ticks)

    return run_with_ticks(work, "combining the parts", 0, progress)


def _facts(parts: Sequence[Part], levels: int, edges: int) -> dict[str, int | float]:
    if not parts:
        return {"partitions": 0}
    counts = dict(parts[0].facts)
    partitions, stars = counts.pop("parts"), counts.pop("stars")
    deleted = counts["inner_edges"] + counts["outer_edges"] - edges
    return {
        "partitions": partitions,
        "average_star_set_size": stars / partitions,
        **counts,
        "edges_deleted": deleted,
        "combine_levels": levels,
    }
