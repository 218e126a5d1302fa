"""PdMAW and PdrdMAW: the primal-dual algorithm, without and with reverse delete, and its lower bound."""

from dataclasses import dataclass

import numpy as np

from meshwright.construct.gm import tie_order
from meshwright.construct.greedy_driver import make_problem
from meshwright.construct.options import PdMawOptions
from meshwright.construct.reverse_delete import reverse_delete
from meshwright.construct.weighted.gr_maw import INSTEAD, problem_of
from meshwright.kernels.core.cost_arrays import CostArrays
from meshwright.model.costs.costs import Costs
from meshwright.model.edges import Built
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Floats, Ids, Offsets
from meshwright.runtime.machine import cores
from meshwright.runtime.progress import Progress, run_with_ticks

_ROUNDING = 1e-9
"""The bound is lowered by this fraction: a sum of so many raises is not exact in its last digits."""


@dataclass(frozen=True, kw_only=True)
class PrimalDual:
    """The edges in the order in which they became tight, and the dual solution.

    Attributes:
        edges: (m, 2) node ids.
        tight_at: by edge, the sum of all raises when it was taken: the dual variable of the edges before it
            is the difference to the one before.
        lower_bound: the value of the dual solution, so no overlay that is topic-connected costs less.
        pairs_examined: how often a price was computed.
        estimated_bytes: how much memory it was thought to need.
    """

    edges: Ids
    tight_at: Floats
    lower_bound: float
    pairs_examined: int
    estimated_bytes: int


def run_primal_dual(
    interests: Interests, costs: Costs, options: PdMawOptions, seed: int, progress: Progress | None
) -> PrimalDual:
    """[2], Alg. 4; see `primal_dual`."""
    from meshwright.construct.weighted.price_greedy_driver import estimated_bytes, take_cheapest
    from meshwright.kernels.greedy.prices import TIGHT

    problem = problem_of(interests, options.ties, seed)
    result = take_cheapest(
        problem,
        costs.of(interests).arrays(),
        TIGHT,
        instead=INSTEAD,
        memory_limit=options.memory_limit,
        progress=progress,
    )
    return PrimalDual(
        edges=result.edges,
        tight_at=result.prices,
        lower_bound=result.dual_value * (1 - _ROUNDING),
        pairs_examined=result.pairs_examined,
        estimated_bytes=estimated_bytes(problem, TIGHT),
    )


def dual_value(
    indptr: Offsets, topic_ids: Ids, topic_count: int, costs: CostArrays, progress: Progress | None
) -> float:
    """The value of the dual solution alone, for interests as arrays; see `primal_dual`."""
    from meshwright.construct.weighted.price_greedy_driver import run_by_price
    from meshwright.kernels.greedy.prices import TIGHT

    problem = make_problem(indptr, topic_ids, topic_count, tie_order(np.diff(indptr), "shuffled", 0))
    result = run_with_ticks(
        lambda ticks: run_by_price(problem, costs, TIGHT, ticks, cores()),
        "bounding by duality",
        problem.components - problem.topic_count,
        progress,
    )
    return result.dual_value * (1 - _ROUNDING)


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
    found = run_primal_dual(interests, costs, options, seed, progress)
    return Built(edges=found.edges, facts=_facts(found), in_order=True)


def primal_dual_reverse_delete(
    interests: Interests, costs: Costs, options: PdMawOptions, seed: int, progress: Progress | None
) -> Built:
    """The primal-dual algorithm with reverse delete (PdrdMAW).

    Guarantee: as for `primal_dual`; moreover no edge can be removed.

    Cost: that of `primal_dual`, and of `reverse_delete`, which is less (measured).

    Source: [2], Alg. 5: the edges of Alg. 4 are looked at from the last that was taken to the first.
    """
    found = run_primal_dual(interests, costs, options, seed, progress)
    edges = reverse_delete(interests, found.edges, memory_limit=options.memory_limit, progress=progress)
    facts = _facts(found) | {"edges_deleted": len(found.edges) - len(edges)}
    return Built(edges=edges, facts=facts, in_order=True)


def _facts(found: PrimalDual) -> dict[str, int | float]:
    return {
        "pairs_examined": found.pairs_examined,
        "estimated_bytes": found.estimated_bytes,
        "lower_bound_cost": found.lower_bound,
    }
