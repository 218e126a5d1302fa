"""Dual-guided Greedy for links that cost: topics pay for an edge what it costs, instead of 1."""

from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import numpy as np

from meshwright.construct.dual.ascent import Ascent, Climber
from meshwright.construct.dual.bound import Pricing
from meshwright.construct.dual.bound_by_cost import CostPricing, cheapest
from meshwright.construct.dual.guided import Budget, Dive, default_steps
from meshwright.construct.options import DgMawOptions, PdMawOptions
from meshwright.construct.reverse_delete import cost_of, reverse_delete
from meshwright.construct.weighted.by_price import primal_dual, weighted_greedy
from meshwright.model.costs.costs import Costs
from meshwright.model.edges import Built
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Ids
from meshwright.runtime.machine import threads
from meshwright.runtime.progress import Progress


def dual_guided_by_cost(
    interests: Interests, costs: Costs, options: DgMawOptions, seed: int, progress: Progress | None
) -> Built:
    """Dual-guided Greedy by cost (DgMAW).

    Guarantee: topic-connected, without an edge that no topic needs, and never dearer than `gr-maw` and
    `pdrd-maw` at the same seed. The fact `lower_bound_cost` is under the cost of every topic-connected
    overlay. Deterministic for a seed, whatever the number of cores, where the budget is in steps.

    How: as Dual-guided Greedy (`guided.py`), with what an edge costs as the limit of what its topics pay
    for it. Candidates are the pairs with the least cost for each topic that they share. It begins with the
    cheaper of the two overlays by price, each after reverse delete.

    Cost: that of `gr-maw` and `pd-maw`; then a step takes some 50 ns for each topic of each candidate edge,
    on all cores.
    """
    began = perf_counter()
    given = PdMawOptions(ties=options.ties, memory_limit=options.memory_limit)
    built = [build(interests, costs, given, seed, progress) for build in (weighted_greedy, primal_dual)]
    known = max(float(each.facts.get("lower_bound_cost", 0.0)) for each in built)
    starts = [_without_needless(interests, each, options, progress) for each in built]
    start = min(starts, key=lambda edges: cost_of(edges, costs))
    if not len(start):
        return Built(edges=start, facts={"candidates": 0, "lower_bound_cost": 0.0}, in_order=True)
    counts = len(interests), interests.node_count
    steps = default_steps(*counts) if options.budget is None else options.steps
    dive = _Dive(interests, costs, start, seed, options.memory_limit, progress)
    with ThreadPoolExecutor(threads()) as pool:
        dive.run(Climber(pool, threads()), Budget(steps, options.seconds, began))
    facts = {"candidates": dive.candidates, "lower_bound_cost": max(known, dive.lower_bound)}
    return Built(edges=dive.best, facts=facts, in_order=True)


def _without_needless(
    interests: Interests, built: Built, options: DgMawOptions, progress: Progress | None
) -> Ids:
    edges = np.asarray(built.edges, np.int32)
    return reverse_delete(interests, edges, memory_limit=options.memory_limit, progress=progress)


class _Dive(Dive):
    """Takes edges round by round, and keeps the cheapest overlay on the way."""

    def __init__(
        self,
        interests: Interests,
        costs: Costs,
        start: Ids,
        seed: int,
        memory_limit: int | None,
        progress: Progress | None,
    ) -> None:
        super().__init__(interests, start, seed, memory_limit, progress)
        self._costs, self.lower_bound = costs, 0.0

    def _priced(self) -> Pricing:
        likely = np.concatenate([self.best, cheapest(self._interests, self._costs, self._progress)])
        self._pricing = CostPricing(self._interests, self._costs, likely, self._progress, self._limit)
        return self._pricing

    def _begin(self, climber: Climber, budget: Budget) -> Ascent:
        ascent = super()._begin(climber, budget)
        self.lower_bound = self._pricing.cost_certificate(climber, ascent).cost
        return ascent

    def _size(self, edges: Ids) -> float:
        return cost_of(edges, self._costs)
