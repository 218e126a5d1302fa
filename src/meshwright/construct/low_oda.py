"""Low-ODA: an overlay whose maximum and average degree are both low."""

import numpy as np

from meshwright.construct import greedy
from meshwright.construct.options import LowOdaOptions
from meshwright.kernels.core.cost_arrays import CostArrays
from meshwright.kernels.greedy import low_degree as kernel
from meshwright.kernels.greedy import low_price as by_cost
from meshwright.kernels.greedy.bounds import TAKEN
from meshwright.model.costs.costs import Costs
from meshwright.model.edges import Built
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Ids, Ticks
from meshwright.runtime.progress import Progress, run_with_ticks

_INSTEAD = "use gm with ties=small-first (fewer links, a higher maximum degree) or dcbc-direct with a slack"


def low_oda(
    interests: Interests, costs: Costs | None, options: LowOdaOptions, seed: int, progress: Progress | None
) -> Built:
    """Low-ODA.

    Guarantee: topic-connected; every edge is the one that findLowEdge names. So the average degree is at most
    O(rho log(|V||T|)) times the least possible, and the maximum degree at most O(|V|/rho log(|V||T|)) times.
    Deterministic for a seed. Costs change nothing.

    Cost: as Greedy Merge, a few looks at each pair; one byte per pair and about 50 bytes per interest.

    Source: [3], Alg. 1 and 2, after Onus and Richa, ICDCS 2010. The paper updates every contribution after
    every edge; this one is lazy (`kernels/greedy/low_degree.py`). Ties are settled as in Greedy Merge, by
    the order of the nodes; e2 is preferred to e1 where both rules allow either.
    """
    del costs
    order = greedy.tie_order(np.diff(interests.indptr), options.ties, seed)
    problem = greedy.make_problem(interests.indptr, interests.topic_ids, interests.topic_count, order)
    degrees = np.zeros(interests.node_count, np.int32)
    result = take_low_edges(problem, degrees, options.rho, None, options.memory_limit, progress)
    facts = {"pairs_examined": result.pairs_examined, "estimated_bytes": problem.estimated_bytes()}
    return Built(edges=result.edges, facts=facts)


def construct_low_edges(
    interests: Interests,
    current: Ids,
    order: Ids,
    rho: float,
    potential: Ids | None = None,
    progress: Progress | None = None,
) -> Ids:
    """The edges that findLowEdge adds to the `current` ones until no `potential` edge contributes.

    Guarantee: together with the current edges they are topic-connected, if the potential ones suffice for
    it; all pairs of nodes are potential unless said. `order`, all nodes, settles ties. The maximum degree is
    that of all nodes.

    Cost: as Low-ODA, over the nodes of potential edges in topics that are not connected.

    Source: [3], Alg. 2 (constructLowEdges), with E_cur and E_pot.
    """
    labels = greedy.component_labels(interests, current, progress)
    if potential is not None:
        order = order[np.isin(order, potential)]
    problem = greedy.make_problem(
        interests.indptr, interests.topic_ids, interests.topic_count, order, labels=labels
    )
    degrees = np.bincount(current.ravel(), minlength=interests.node_count).astype(np.int32)
    return take_low_edges(problem, degrees, rho, potential, None, progress).edges


def construct_cheap_edges(
    interests: Interests,
    current: Ids,
    order: Ids,
    rho: float,
    costs: CostArrays,
    progress: Progress | None = None,
) -> Ids:
    """As `construct_low_edges` over all pairs, by contribution per cost; `costs` are by the ids of the nodes.

    Guarantee: together with the current edges topic-connected. With equal costs, the same edges.

    Cost: a few looks at each pair whose ends are in different components; linear memory.
    """
    labels = greedy.component_labels(interests, current, progress)
    problem = greedy.make_problem(
        interests.indptr, interests.topic_ids, interests.topic_count, order, labels=labels
    )
    degrees = np.bincount(current.ravel(), minlength=interests.node_count).astype(np.int32)

    def work(ticks: Ticks) -> Ids:
        rows = by_cost.start_priced_rows(problem.firsts, problem.to_unite)
        own, most = degrees[problem.nodes], int(degrees.max(initial=0))
        state = greedy.start_state(problem)
        by_cost.take_cheap_edges(state, rows, own, most, float(rho), costs, problem.nodes, ticks)
        taken: Ids = problem.nodes[rows.edges[: rows.counts[TAKEN]]]
        return taken

    return run_with_ticks(work, "taking edges", problem.to_unite, progress)


def take_low_edges(
    problem: greedy.GreedyProblem,
    degrees: Ids,
    rho: float,
    potential: Ids | None,
    memory_limit: int | None,
    progress: Progress | None,
) -> greedy.GreedyResult:
    """Take edges by findLowEdge until none contributes; `degrees` and `potential` are by outer ids."""
    greedy.check_fits(problem, _INSTEAD, memory_limit)

    def work(ticks: Ticks) -> greedy.GreedyResult:
        return _run(problem, degrees, rho, potential, ticks)

    return run_with_ticks(work, "taking edges", problem.to_unite, progress)


def _run(
    problem: greedy.GreedyProblem, degrees: Ids, rho: float, potential: Ids | None, ticks: Ticks
) -> greedy.GreedyResult:
    if not problem.topic_count:
        return greedy.GreedyResult(edges=np.empty((0, 2), np.int32), pairs_examined=0)
    state = greedy.start_state(problem, with_columns=True)
    rooms = [greedy.start_room(problem, state) for _ in range(2)]
    pairs = greedy.start_pairs(problem, state, rooms, ticks)
    if potential is not None:
        kernel.keep_pairs(pairs, _rows(problem, potential, len(degrees)))
    low = kernel.start_degrees(pairs, degrees[problem.nodes], int(degrees.max(initial=0)))
    kernel.take_low_edges(state, pairs, low, float(rho), rooms[0], rooms[1], ticks)
    taken, examined = (int(count) for count in pairs.counts)
    return greedy.GreedyResult(edges=problem.nodes[pairs.edges[:taken]], pairs_examined=examined)


def _rows(problem: greedy.GreedyProblem, potential: Ids, node_count: int) -> Ids:
    """The potential edges between nodes of the problem, by their places in it, the earlier end first."""
    place = np.full(node_count, -1, np.int32)
    place[problem.nodes] = np.arange(len(problem.nodes), dtype=np.int32)
    ends = np.sort(place[potential.reshape(-1, 2)], axis=1)
    return np.ascontiguousarray(ends[(ends[:, 0] >= 0) & (ends[:, 0] < ends[:, 1])])
