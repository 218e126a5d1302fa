"""DcMAW: the greedy by cost on parts, and between representatives of them."""

from functools import partial

from meshwright.construct.cost_partitioning import divide
from meshwright.construct.greedy import GreedyProblem
from meshwright.construct.parts import TOO_LARGE, Greedy, Plan, build_in_parts, facts_of
from meshwright.construct.source import InProcess, Source
from meshwright.construct.weighted_options import DcMawOptions
from meshwright.kernels.arrays import Ids
from meshwright.machine import cores
from meshwright.model.built import Built
from meshwright.model.cost_forms import taken
from meshwright.model.costs import Costs
from meshwright.model.interests import Interests
from meshwright.progress import Progress, Ticks


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
    whole, levels = build_in_parts(interests, planned, greedy(costs, options), options, seed, progress)
    return Built(edges=whole.edges, facts=facts_of(whole.facts, levels, interests.node_count))


def plan(source: Source, costs: Costs, options: DcMawOptions, seed: int) -> Plan:
    """Divide the nodes by `costs`, which speak of them in the order of their ids ([2], Alg. 6, line 1)."""
    part_of = divide(costs, options, seed)
    partitions = int(part_of.max(initial=0)) + 1
    return Plan(part_of=part_of, partitions=partitions, shared=source.shared(part_of))


def greedy(costs: Costs, options: DcMawOptions) -> Greedy:
    """The greedy by cost per contribution ([2], Alg. 6, lines 3 and 5), with the memory that options allow.

    `costs` speak of all nodes in the order of their ids.
    """
    return partial(_by_cost, costs=costs, memory_limit=options.memory_limit)


def _by_cost(
    problem: GreedyProblem, nodes: Ids, ticks: Ticks, threads: int, *, costs: Costs, memory_limit: int | None
) -> tuple[Ids, int]:
    from meshwright.construct.pricing import check_fits, run_by_price
    from meshwright.kernels.prices import RATIO

    check_fits(problem, RATIO, TOO_LARGE, memory_limit, max(1, cores() // threads))
    result = run_by_price(problem, taken(costs.arrays(), nodes), RATIO, ticks, threads)
    return result.edges, result.pairs_examined
