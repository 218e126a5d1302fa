"""Divide and Conquer: Greedy Merge on parts, and Star Merge between them."""

from functools import partial

from meshwright.construct.greedy_driver import GreedyProblem, check_fits, run_greedy
from meshwright.construct.options import DcOptions
from meshwright.construct.parts.conquer import TOO_LARGE, Greedy, PartsPlan, build_in_parts, facts_of
from meshwright.construct.parts.interest_queries import InProcess, Source, choose_partitions
from meshwright.construct.parts.partitioning import k_means_parts, random_parts
from meshwright.model.costs.costs import Costs
from meshwright.model.edges import Built
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Ids, Ticks
from meshwright.runtime.progress import Progress


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
    planned = plan(InProcess(interests), options, seed, progress)
    whole, levels = build_in_parts(interests, planned, greedy(options), options, seed, progress)
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


def greedy(options: DcOptions) -> Greedy:
    """The greedy by contribution, with the memory that the options allow."""
    return partial(_by_contribution, memory_limit=options.memory_limit)


def _by_contribution(
    problem: GreedyProblem, nodes: Ids, ticks: Ticks, threads: int, *, memory_limit: int | None
) -> tuple[Ids, int]:
    check_fits(problem, TOO_LARGE, memory_limit, threads)
    result = run_greedy(problem, ticks, threads)
    return result.edges, result.pairs_examined
