"""Algorithms that take the edge of least price: GrMAW by cost per contribution, PdMAW and PdrdMAW by duality.

`run_by_price` drives the kernels for all of them, and for the parts of DcMAW.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from meshwright.construct.candidates import join_candidates, room_for, start_candidates
from meshwright.construct.greedy import (
    GreedyProblem,
    check_fits,
    make_problem,
    row_starts,
    start_state,
    tie_order,
)
from meshwright.construct.options import GrMawOptions, PdMawOptions
from meshwright.construct.reverse_delete import reverse_delete
from meshwright.kernels.core.cost_arrays import CostArrays
from meshwright.kernels.core.topic_components import TopicComponents
from meshwright.kernels.greedy import by_price as kernel
from meshwright.kernels.greedy.bounds import CAP
from meshwright.kernels.greedy.prices import RATIO, TIGHT, UnionTrees, start_trees
from meshwright.model.costs.costs import Costs
from meshwright.model.costs.forms import by_cluster, taken
from meshwright.model.edges import Built
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Floats, Ids, Offsets, Ticks
from meshwright.runtime.machine import MOST_THREADS, cores, threads
from meshwright.runtime.memory import needed
from meshwright.runtime.progress import CANCEL, Progress, run_with_ticks
from meshwright.runtime.seeds import generator

_INSTEAD = "use dc-maw, whose overlays cost somewhat more, or allow more memory"

_HEAVY = 1_000_000
"""Pairs in the rows of a level from which on threads pay: under it a level takes about a millisecond."""

_ROUNDING = 1e-9
"""The bound is lowered by this fraction: a sum of so many raises is not exact in its last digits."""

_SAMPLE = 2**14
"""Pairs looked at to spread the levels over the prices that occur."""


@dataclass(frozen=True, kw_only=True)
class PricedResult:
    """What was taken under a rule, RATIO or TIGHT.

    Attributes:
        edges: (m, 2) ids of the interests' nodes, in the order in which they were taken.
        prices: by edge, its price then. Under TIGHT that is the sum of all raises: the dual variable of the
            edges before it is the difference to the one before.
        lower_bound: under TIGHT the value of the dual solution, so no overlay that is topic-connected costs
            less; under RATIO 0.
        pairs_examined: how often a price was computed.
    """

    edges: Ids
    prices: Floats
    lower_bound: float
    pairs_examined: int


def estimated_bytes(problem: GreedyProblem, rule: int) -> int:
    """How much memory taking edges by price needs: one byte per pair, and what grows with the interests."""
    slots = len(problem.topic_ids) if rule == TIGHT else 0
    candidates = threads() * room_for(len(problem.nodes))
    return problem.estimated_bytes() + needed("pricing", tree_slots=slots, candidates=candidates)


def run_by_price(
    problem: GreedyProblem, costs: CostArrays, rule: int, ticks: Ticks, thread_count: int
) -> PricedResult:
    """Take the edge of least price until none contributes; `costs` are by the ids of the interests.

    Every edge has the least price of all pairs when it is taken, and is the first of those that do in the
    order of the problem's nodes. Threads don't change the result.
    """
    if not problem.topic_count:
        nothing = np.empty((0, 2), np.int32)
        return PricedResult(edges=nothing, prices=np.empty(0), lower_bound=0.0, pairs_examined=0)
    pairs = _run(problem, taken(costs, problem.nodes), rule, ticks, min(thread_count, MOST_THREADS))
    count, examined = int(pairs.counts[0]), int(pairs.counts[1])
    return PricedResult(
        edges=problem.nodes[pairs.edges[:count]],
        prices=pairs.prices[:count].copy(),
        lower_bound=float(pairs.dual[kernel.VALUE]) * (1 - _ROUNDING),
        pairs_examined=examined,
    )


def _run(
    problem: GreedyProblem, costs: CostArrays, rule: int, ticks: Ticks, thread_count: int
) -> kernel.PricedPairs:
    state = start_state(problem)
    trees = start_trees(state, rule)
    pairs = _start_pairs(problem, state, costs)
    nodes = len(problem.nodes)
    rooms = [_start_room(nodes) for _ in range(thread_count)]
    chosen = [start_candidates(nodes) for _ in range(thread_count)]
    shared = (state, trees, costs, pairs)
    with ThreadPoolExecutor(thread_count) as pool:
        while level := kernel.settle_light_levels(*shared, rule, _HEAVY, rooms[0], chosen[0], ticks):
            if ticks[CANCEL]:
                break
            _refresh(pool, rooms, chosen, shared, level, rule, ticks)
            kernel.settle(*shared, level, rule, rooms[0], join_candidates(pairs, chosen), ticks)
    return pairs


def _start_pairs(problem: GreedyProblem, state: TopicComponents, costs: CostArrays) -> kernel.PricedPairs:
    nodes, to_unite = len(problem.nodes), problem.to_unite
    starts = row_starts(problem)
    pairs = kernel.PricedPairs(
        firsts=problem.firsts,
        store=np.zeros(starts[-1], np.uint64),
        starts=starts,
        blocks=np.zeros(0, np.uint8),
        tops=np.zeros(nodes, np.int32),
        scale=_scale(state, costs, nodes),
        edges=np.empty((to_unite, 2), np.int32),
        prices=np.empty(to_unite),
        counts=np.array([0, 0, to_unite], np.int64),
        dual=np.zeros(2),
    )
    kernel.start_levels(pairs, nodes)
    return pairs


def _scale(state: TopicComponents, costs: CostArrays, nodes: int) -> Offsets:
    """Levels for the prices of a sample of pairs: what is cheaper or dearer shares the outermost levels."""
    us, vs = generator(0, "price levels").integers(0, nodes, (2, _SAMPLE), np.int32)
    least, greatest = kernel.sample_prices(state, costs, us, vs)
    if least > greatest:
        return np.array([CAP, 62, -1], np.int64)
    low, high = (int(np.float64(price).view(np.int64)) for price in (least, greatest))
    shift = max(0, (high - low).bit_length() - CAP.bit_length())
    shift += (high >> shift) - (low >> shift) > CAP - 2
    return np.array([CAP - 1 + (low >> shift), shift, -1], np.int64)


def _start_room(nodes: int) -> kernel.PriceScratch:
    found, gains, row_gains = (np.zeros(nodes, np.int32) for _ in range(3))
    return kernel.PriceScratch(found=found, gains=gains, prices=np.zeros(nodes), row_gains=row_gains)


def _refresh(
    pool: ThreadPoolExecutor,
    rooms: list[kernel.PriceScratch],
    chosen: list[kernel.Candidates],
    shared: tuple[TopicComponents, UnionTrees, CostArrays, kernel.PricedPairs],
    level: int,
    rule: int,
    ticks: Ticks,
) -> None:
    """Choose the candidates of a level on all threads; neighbouring rows go to different ones."""
    pairs = shared[3]
    rows = np.flatnonzero(pairs.tops >= level)

    def share(k: int) -> Any:
        kernel.clear_candidates(chosen[k])
        mine = np.ascontiguousarray(rows[k :: len(rooms)])
        return kernel.refresh_rows(*shared, mine, level, rule, rooms[k], chosen[k], ticks)

    pairs.counts[1] += sum(pool.map(share, range(len(rooms))))


def weighted_greedy(
    interests: Interests, costs: Costs, options: GrMawOptions, seed: int, progress: Progress | None
) -> Built:
    """The greedy for links that cost (GrMAW).

    Guarantee: topic-connected; every edge had the least cost per contribution of all pairs when it was taken,
    which makes the cost of all at most H(the most topics that two nodes share), under 1 + ln |T|, times the
    least possible. With equal costs it is Greedy Merge, edge for edge. Deterministic for a seed, whatever the
    number of cores.

    Cost: at worst O(|V|²|T|) looks at pairs as in the paper, without its O(|V|⁴) for searching; in practice
    four to six times that of Greedy Merge (measured), and the same memory: one byte per pair of nodes.

    Source: [2], Alg. 2. The paper computes every ratio in each step; this one is lazy
    (`kernels/greedy/by_price.py`), since a ratio only rises. Where the paper takes "arg min", ours settles
    equal ratios by `GrMawOptions.ties`; edges come in the order in which they were taken.
    """
    result, facts = take_cheapest(interests, costs, options, RATIO, seed, progress)
    return Built(edges=result.edges, facts=facts, in_order=True)


def take_cheapest(
    interests: Interests, costs: Costs, options: GrMawOptions, rule: int, seed: int, progress: Progress | None
) -> tuple[PricedResult, dict[str, int | float]]:
    """`run_by_price` on all pairs, in the order that Greedy Merge has for the same seed; also facts of it."""
    order = tie_order(np.diff(interests.indptr), options.ties, seed)
    problem = make_problem(interests.indptr, interests.topic_ids, interests.topic_count, order)
    estimate, arrays = estimated_bytes(problem, rule), costs.of(interests).arrays()
    check_fits(problem, _INSTEAD, options.memory_limit, estimate=estimate)

    def work(ticks: Ticks) -> PricedResult:
        return run_by_price(problem, arrays, rule, ticks, cores())

    result = run_with_ticks(work, "taking edges", problem.to_unite, progress)
    facts = {"pairs_examined": result.pairs_examined, "estimated_bytes": estimate}
    return result, facts | ({"lower_bound_cost": result.lower_bound} if rule == TIGHT else {})


def least_cost(
    indptr: Offsets,
    topic_ids: Ids,
    topic_count: int,
    costs: CostArrays | None = None,
    progress: Progress | None = None,
) -> float:
    """A number under the cost of every topic-connected overlay, by proof; without `costs`, under its links.

    The overlays are the solutions of an integer program, eq. 17 of [2], and PdMAW raises a solution of the
    dual linear program, eq. 18: by weak duality its value is under the cost of all of them. Ties are settled
    by seed 0.
    """
    problem = make_problem(indptr, topic_ids, topic_count, tie_order(np.diff(indptr), "shuffled", 0))
    arrays = by_cluster(1.0, 1.0, np.zeros(len(indptr) - 1, np.int32)) if costs is None else costs

    def work(ticks: Ticks) -> PricedResult:
        return run_by_price(problem, arrays, TIGHT, ticks, cores())

    return run_with_ticks(work, "bounding by duality", problem.to_unite, progress).lower_bound


def primal_dual(
    interests: Interests, costs: Costs, options: PdMawOptions, seed: int, progress: Progress | None
) -> Built:
    """The primal-dual algorithm for links that cost (PdMAW).

    Guarantee: topic-connected; every edge was the first of all that contribute whose dual constraint became
    tight when the dual variable of the edges before it was raised. The dual solution is feasible, so the fact
    `lower_bound_cost` is under the cost of every topic-connected overlay; with unit costs that bounds the
    number of links. Deterministic for a seed, whatever the number of cores.

    Cost: near that of `gr-maw` (0.9 to 1.4 times its processor time, measured), where the paper pays up to 60
    times as much for recomputing every dual sum in each step. A dual sum is read from union trees that
    remember when each union happened (`kernels/greedy/prices.py`); the dual value at which an edge becomes
    tight only rises, so pairs are looked at lazily. One byte per pair of nodes, and 12 bytes per interest for
    the trees.

    Source: [2], Alg. 4. Where the paper takes "arg min", equals are settled by `PdMawOptions.ties`, as for
    `gr-maw`, unless rounding tells them apart; edges come in the order in which they were taken.
    """
    result, facts = take_cheapest(interests, costs, options, TIGHT, seed, progress)
    return Built(edges=result.edges, facts=facts, in_order=True)


def primal_dual_reverse_delete(
    interests: Interests, costs: Costs, options: PdMawOptions, seed: int, progress: Progress | None
) -> Built:
    """The primal-dual algorithm with reverse delete (PdrdMAW).

    Guarantee: as for `primal_dual`; moreover no edge can be removed.

    Cost: that of `primal_dual`, and of `reverse_delete`, which is less (measured).

    Source: [2], Alg. 5: the edges of Alg. 4 are looked at from the last that was taken to the first.
    """
    result, facts = take_cheapest(interests, costs, options, TIGHT, seed, progress)
    edges = reverse_delete(interests, result.edges, memory_limit=options.memory_limit, progress=progress)
    facts["edges_deleted"] = len(result.edges) - len(edges)
    return Built(edges=edges, facts=facts, in_order=True)
