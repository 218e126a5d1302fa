"""The least overlay there is, for small interests."""

from importlib.util import find_spec
from time import perf_counter

import numpy as np

from meshwright.construct.dual.bound import find_certificate
from meshwright.construct.dual.bound_by_cost import find_cost_certificate
from meshwright.construct.dual.candidates import candidate_edges, unique_edges
from meshwright.construct.dual.guided import dual_guided
from meshwright.construct.dual.guided_by_cost import dual_guided_by_cost
from meshwright.construct.exact.problem import Problem, make_problem
from meshwright.construct.exact.search import Found, Search
from meshwright.construct.options import DgMawOptions, DgOptions, ExactOptions
from meshwright.construct.reduction import reduced
from meshwright.construct.reverse_delete import reverse_delete
from meshwright.kernels.core.subgraphs import interest_ranks
from meshwright.kernels.dual.guiding import ends_of, take_by_worth
from meshwright.kernels.dual.shares import make_shares
from meshwright.model.costs.costs import Costs
from meshwright.model.edges import Built
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Floats, Ids, Offsets, Ticks
from meshwright.runtime.errors import CapacityError, OptionError
from meshwright.runtime.progress import Progress, run_with_ticks
from meshwright.runtime.seeds import generator
from meshwright.runtime.wording import count

MOST_PAIRS = 50_000
"""Pairs of nodes that share a topic: the columns of the linear program."""

_LEAST_STEPS, _MOST_STEPS = 100, 600
"""In which prices are raised for the first overlay and for the first inequalities: one for each interest."""

_LIKELY = 4
"""Partners of each node that the linear program begins with, beside the best in each topic."""

_OWN_WORTH = 0.02
"""What a pair counts in an overlay made from a solution, beside its value there."""


def optimum(
    interests: Interests, costs: Costs | None, options: ExactOptions, seed: int, progress: Progress | None
) -> Built:
    """The optimum, by branch and cut.

    Guarantee: topic-connected. The fact `optimal` says whether it is proved that no topic-connected overlay
    has fewer links (costs less, where the objective is the cost) than this one; that holds unless the budget
    was spent. `lower_bound` is what is proved in any case. Deterministic for a seed where it is proved
    optimal. Unless the objective is the cost, costs change nothing.

    How: some nodes are linked at once (`reduction.py`), Dual-guided Greedy builds a first overlay of the
    rest, and branch and cut (`search.py`) looks for a better one until there is none.

    Cost: exponential at worst. Pairs of nodes that share a topic are limited to 50,000.

    Source: none; `kernels/exact/partitions.py` has that of the inequalities.
    """
    began = perf_counter()
    by_cost = options.objective == "cost"
    if by_cost and costs is None:
        raise OptionError("the objective is the cost, but there are no costs; give costs", option="objective")
    if find_spec("highspy") is None:
        raise OptionError("exact needs highspy, which is not installed; install meshwright[exact]")
    left = reduced(interests, link_nodes=not by_cost)
    known = _pairs(left.interests)
    own = costs.between(known[:, 0], known[:, 1]) if by_cost and costs is not None else np.ones(len(known))
    start = _start(left.interests, costs if by_cost else None, seed, progress)
    steps = _steps(left.interests)
    lines = find_certificate(left.interests, steps=steps, progress=progress)
    by_price = None
    if by_cost and costs is not None:
        by_price = find_cost_certificate(left.interests, costs, steps=steps, progress=progress)
    candidates = candidate_edges(left.interests, _LIKELY, progress)
    order = generator(seed, "exact").permutation(len(known))
    problem = make_problem(left.interests, known[order], own[order])

    def work(ticks: Ticks) -> Found:
        rounding = _Rounding(left.interests, problem, ticks)
        likely = problem.columns(unique_edges(np.concatenate([start, candidates])))
        search = Search(problem, problem.columns(start), rounding, likely, began + options.seconds, ticks)
        rows = problem.rows_of_lines(by_price or lines) + problem.rows_of_demands(lines.demands)
        return search.run(rows, float(lines.edges) if by_price is None else by_price.cost)

    found = run_with_ticks(work, "searching the optimum", 0, progress)
    facts = {
        "optimal": found.is_optimal,
        "lower_bound": found.bound if by_cost else round(found.bound) + len(left.edges),
        "linked_at_once": len(left.edges),
        "branches": found.branches,
        "inequalities": found.rows,
    }
    return Built(edges=np.concatenate([left.edges, problem.pairs[found.columns]]), facts=facts)


def _pairs(interests: Interests) -> Ids:
    """All pairs of nodes that share a topic; too many are refused."""
    sizes = np.diff(interests.topic_indptr).astype(np.int64)
    pairs = [np.empty((0, 2), np.int64)]
    for start, size in zip(interests.topic_indptr[:-1], sizes, strict=True):
        nodes = interests.node_ids[start : start + size]
        if size * (size - 1) // 2 > MOST_PAIRS:
            raise _too_large(interests, f"over {MOST_PAIRS:,}")
        i, j = np.triu_indices(size, 1)
        pairs.append(np.column_stack([nodes[i], nodes[j]]).astype(np.int64))
    found = unique_edges(np.concatenate(pairs))
    if len(found) > MOST_PAIRS:
        raise _too_large(interests, f"{len(found):,}")
    return found


def _too_large(interests: Interests, pairs: str) -> CapacityError:
    nodes = count(int(np.count_nonzero(np.diff(interests.indptr))), "node")
    return CapacityError(
        f"in these interests of {nodes}, {pairs} pairs of nodes share a topic, and exact takes at most "
        f"{MOST_PAIRS:,}; use dg, whose tight bound says how near to the optimum it is, or take a sample"
    )


def _steps(interests: Interests) -> int:
    return max(_LEAST_STEPS, min(_MOST_STEPS, len(interests)))


def _start(interests: Interests, costs: Costs | None, seed: int, progress: Progress | None) -> Ids:
    """The overlay that the search begins with."""
    if costs is None:
        found = dual_guided(interests, None, DgOptions(budget=_steps(interests)), seed, progress)
    else:
        found = dual_guided_by_cost(interests, costs, DgMawOptions(budget=_steps(interests)), seed, progress)
    return np.asarray(found.edges, np.int32)


class _Rounding:
    """Makes overlays from solutions of the linear program."""

    def __init__(self, interests: Interests, problem: Problem, ticks: Ticks) -> None:
        self._interests, self._problem, self._ticks = interests, problem, ticks
        indptr, topic_ids = interests.indptr.copy(), interests.topic_ids.copy()
        sizes = np.diff(interests.topic_indptr).astype(np.int32)
        ranks = interest_ranks(topic_ids, interests.topic_count)
        self._shares = make_shares(indptr, topic_ids, ranks, sizes, problem.pairs, problem.costs)
        self._ends = ends_of(self._shares)
        self._worth, self._ties = np.ones(len(self._shares.by_topic)), np.arange(len(problem.pairs))

    def __call__(self, values: Floats) -> Offsets:
        """Take pairs by value, cost and what they connect, and delete what is not needed."""
        factors = (values + _OWN_WORTH) / self._problem.costs
        most = len(self._ties)
        taken = take_by_worth(
            self._shares.indptr, self._ends, self._worth, factors, self._ties, most, self._ticks
        )
        return self._problem.columns(reverse_delete(self._interests, self._problem.pairs[taken]))
