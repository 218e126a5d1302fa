"""The driver of the greedy by price, for every algorithm that takes edges by their costs."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from meshwright.construct.greedy_driver import GreedyProblem
from meshwright.kernels.core.cost_arrays import CostArrays
from meshwright.kernels.core.topic_components import TopicComponents, start_components, unite_labelled
from meshwright.kernels.greedy import by_price as kernel
from meshwright.kernels.greedy.lazy import CAP
from meshwright.kernels.greedy.prices import TIGHT, UnionTrees, start_trees
from meshwright.model.costs.forms import taken
from meshwright.runtime.arrays import Floats, Ids, Offsets, Ticks
from meshwright.runtime.machine import MOST_THREADS, cores, threads
from meshwright.runtime.memory import check_memory, needed
from meshwright.runtime.progress import CANCEL, Progress, run_with_ticks
from meshwright.runtime.seeds import generator

_HEAVY = 1_000_000
"""Pairs in the rows of a level from which on threads pay: under it a level takes about a millisecond."""

_MOST_CANDIDATES = 2**20
"""For one thread at a time."""

_SAMPLE = 2**14
"""Pairs looked at to spread the levels over the prices that occur."""


@dataclass(frozen=True, kw_only=True)
class PricedResult:
    """The edges as ids of the interests, in the order in which they were taken, and their prices then.

    `dual_value` is that of the dual solution, 0 under the rule RATIO.
    """

    edges: Ids
    prices: Floats
    dual_value: float
    pairs_examined: int


def estimated_bytes(problem: GreedyProblem, rule: int) -> int:
    """How much memory taking edges by price needs: one byte per pair, and what grows with the interests."""
    slots = len(problem.topic_ids) if rule == TIGHT else 0
    candidates = threads() * _room(len(problem.nodes))
    return problem.estimated_bytes() + needed("pricing", tree_slots=slots, candidates=candidates)


def check_fits(problem: GreedyProblem, rule: int, instead: str, limit: int | None, at_once: int = 1) -> None:
    """Refuse a problem that does not fit into memory, and recommend what to do `instead`."""
    what = f"the greedy over {len(problem.nodes):,} nodes" + (f", {at_once} at once," if at_once > 1 else "")
    check_memory(what, at_once * estimated_bytes(problem, rule), instead, limit)


def take_cheapest(
    problem: GreedyProblem,
    costs: CostArrays,
    rule: int,
    *,
    instead: str,
    memory_limit: int | None = None,
    progress: Progress | None = None,
) -> PricedResult:
    """Take the edge of least price until none contributes; `costs` are by the ids of the interests.

    Every edge has the least price of all pairs when it is taken, and is the first of those that do in the
    order of the problem's nodes.
    """
    check_fits(problem, rule, instead, memory_limit)
    to_unite = problem.components - problem.topic_count

    def work(ticks: Ticks) -> PricedResult:
        return run_by_price(problem, costs, rule, ticks, cores())

    return run_with_ticks(work, "taking edges", to_unite, progress)


def run_by_price(
    problem: GreedyProblem, costs: CostArrays, rule: int, ticks: Ticks, thread_count: int
) -> PricedResult:
    """`take_cheapest` for a caller that has `ticks` and threads of its own; these don't change the result."""
    if not problem.topic_count:
        nothing = np.empty((0, 2), np.int32)
        return PricedResult(edges=nothing, prices=np.empty(0), dual_value=0.0, pairs_examined=0)
    pairs = _run(problem, taken(costs, problem.nodes), rule, ticks, min(thread_count, MOST_THREADS))
    count, examined = int(pairs.counts[0]), int(pairs.counts[1])
    return PricedResult(
        edges=problem.nodes[pairs.edges[:count]],
        prices=pairs.prices[:count].copy(),
        dual_value=float(pairs.dual[kernel.VALUE]),
        pairs_examined=examined,
    )


def _run(
    problem: GreedyProblem, costs: CostArrays, rule: int, ticks: Ticks, thread_count: int
) -> kernel.PricedPairs:
    state = start_components(
        problem.indptr, problem.topic_ids, problem.topic_count, problem.weights, problem.words
    )
    if problem.labels is not None:
        unite_labelled(state, problem.labels)
    trees = start_trees(state, rule)
    pairs = _start_pairs(problem, state, costs)
    nodes = len(problem.nodes)
    rooms = [_start_room(nodes) for _ in range(thread_count)]
    chosen = [_start_candidates(nodes) for _ in range(thread_count)]
    shared = (state, trees, costs, pairs)
    with ThreadPoolExecutor(thread_count) as pool:
        while level := kernel.settle_light_levels(*shared, rule, _HEAVY, rooms[0], chosen[0], ticks):
            if ticks[CANCEL]:
                break
            _refresh(pool, rooms, chosen, shared, level, rule, ticks)
            kernel.settle(*shared, level, rule, rooms[0], _join(pairs, chosen), ticks)
    return pairs


def _start_pairs(problem: GreedyProblem, state: TopicComponents, costs: CostArrays) -> kernel.PricedPairs:
    nodes, to_unite = len(problem.nodes), problem.components - problem.topic_count
    starts = np.concatenate([[0], np.cumsum((nodes - problem.firsts + 63) // 64 * 8)])
    pairs = kernel.PricedPairs(
        firsts=problem.firsts,
        store=np.zeros(starts[-1], np.uint64),
        starts=starts,
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
        return np.array([CAP, 62], np.int64)
    low, high = (int(np.float64(price).view(np.int64)) for price in (least, greatest))
    shift = max(0, (high - low).bit_length() - CAP.bit_length())
    shift += (high >> shift) - (low >> shift) > CAP - 2
    return np.array([CAP - 1 + (low >> shift), shift], np.int64)


def _room(nodes: int) -> int:
    return max(2 * nodes, min(_MOST_CANDIDATES, nodes * nodes // 2))


def _start_room(nodes: int) -> kernel.PriceScratch:
    found, gains, row_gains = (np.zeros(nodes, np.int32) for _ in range(3))
    return kernel.PriceScratch(found=found, gains=gains, prices=np.zeros(nodes), row_gains=row_gains)


def _start_candidates(nodes: int) -> kernel.Candidates:
    size = _room(nodes)
    return kernel.Candidates(
        prices=np.empty(size),
        codes=np.empty(size, np.int64),
        size=np.zeros(1, np.int64),
        cut_price=np.full(1, np.inf),
        cut_code=np.zeros(1, np.int64),
    )


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


def _join(pairs: kernel.PricedPairs, chosen: list[kernel.Candidates]) -> kernel.Candidates:
    """The candidates of all threads before the first of their cuts."""
    cut = min((each.cut_price[0], each.cut_code[0]) for each in chosen)
    for each in chosen:
        each.cut_price[0], each.cut_code[0] = cut
        kernel.drop_behind_cut(pairs, each)
    if len(chosen) == 1:
        return chosen[0]
    return kernel.Candidates(
        prices=np.concatenate([each.prices[: each.size[0]] for each in chosen]),
        codes=np.concatenate([each.codes[: each.size[0]] for each in chosen]),
        size=np.array([sum(each.size[0] for each in chosen)], np.int64),
        cut_price=chosen[0].cut_price,
        cut_code=chosen[0].cut_code,
    )
