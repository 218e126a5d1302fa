"""Dual-guided Greedy for links that cost: topics pay for an edge what it costs, instead of 1."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import numpy as np

from meshwright.construct.dual.ascent import Ascent, Climber
from meshwright.construct.dual.bound import SCALE, Pricing, Proof
from meshwright.construct.dual.candidates import arrays_of, pair_steps
from meshwright.construct.dual.guided import CANDIDATES_EACH, Budget, Dive, default_steps
from meshwright.construct.options import DgMawOptions, PdMawOptions
from meshwright.construct.reverse_delete import reverse_delete
from meshwright.construct.weighted.by_price import primal_dual, weighted_greedy
from meshwright.kernels.dual.by_cost import cheapest_edges, find_too_cheap
from meshwright.kernels.dual.lines import Exceeding
from meshwright.kernels.dual.shares import Shares
from meshwright.model.costs.costs import Costs
from meshwright.model.edges import Built
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Ids, Ticks
from meshwright.runtime.machine import threads
from meshwright.runtime.parallel import Chunk, balanced_chunks, on_all_cores
from meshwright.runtime.progress import Progress

_MOST_AT_LAST = 256
"""Pairs of a node that become candidates at once, for the bound."""

_LAST_ROUNDS = 6

_ROUNDING = 1e-6
"""By which distances may exceed costs; the bound is lowered by it."""


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
    start = min(starts, key=lambda edges: _cost(edges, costs))
    if not len(start):
        return Built(edges=start, facts={"candidates": 0, "lower_bound_cost": 0.0}, in_order=True)
    steps = default_steps(len(interests)) if options.budget is None else options.steps
    dive = _Dive(interests, costs, start, seed, options.memory_limit, progress)
    with ThreadPoolExecutor(threads()) as pool:
        dive.run(Climber(pool, threads()), Budget(steps, options.seconds, began))
    facts = {"candidates": dive.candidates, "lower_bound_cost": max(known, dive.lower_bound)}
    return Built(edges=dive.best, facts=facts, in_order=True)


def _cost(edges: Ids, costs: Costs) -> float:
    return float(costs.between(edges[:, 0], edges[:, 1]).sum())


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

    def _candidates(self) -> tuple[Pricing, Ids]:
        likely = np.concatenate([self.best, *self._cheapest()])
        unit = float(self._costs.between(likely[:, 0], likely[:, 1]).max())
        self._pricing = _Pricing(self._interests, self._costs, unit, self._progress, self._limit)
        return self._pricing, likely

    def _cheapest(self) -> list[Ids]:
        arrays, costs = arrays_of(self._interests), self._costs.arrays()

        def choose(turns: Iterator[Chunk], ticks: Ticks) -> list[Ids]:
            return [cheapest_edges(*arrays, costs, nodes, CANDIDATES_EACH, ticks) for nodes in turns]

        chunks = balanced_chunks(pair_steps(self._interests))
        found = on_all_cores(choose, chunks, "choosing candidate links", self._progress)
        return [edges for by_thread in found for edges in by_thread]

    def _begin(self, climber: Climber, budget: Budget) -> Ascent:
        ascent = super()._begin(climber, budget)
        self.lower_bound = self._pricing.lower_bound(climber, ascent)
        return ascent

    def _size(self, edges: Ids) -> float:
        return _cost(edges, self._costs)


class _Pricing(Pricing):
    """Looks at the pairs that are no candidates, and at what they cost in a unit.

    The unit is the greatest cost of the first candidates, which connect every topic, so no gap of a line is
    greater than the scale.
    """

    def __init__(
        self,
        interests: Interests,
        costs: Costs,
        unit: float,
        progress: Progress | None,
        memory_limit: int | None,
    ) -> None:
        super().__init__(interests, progress, memory_limit)
        self._costs, self._unit, self._cost_arrays = costs, unit, costs.arrays()

    def shares(self, edges: Ids) -> Shares:
        """The shares of candidate edges, which may be paid what the edges cost."""
        limits = self._costs.between(edges[:, 0], edges[:, 1]) / self._unit
        return super().shares(edges)._replace(limits=limits)

    def find(self, proof: Proof, nodes: Chunk, most: int, found: Exceeding, ticks: Ticks) -> None:
        """Fill in the pairs whose distances exceed what they cost, as a share of it."""
        arrays = *self._arrays[:2], proof.lines, self._cost_arrays
        find_too_cheap(*arrays, self._unit, SCALE, nodes, most, found, ticks)

    def lower_bound(self, climber: Climber, ascent: Ascent) -> float:
        """What every topic-connected overlay costs at least.

        That is the sum of all gaps, divided by the greatest distance of a pair as a share of its cost: the
        proof of `bound.py` with costs in place of the scale. Pairs with a greater share than 1 become
        candidates, for some rounds.
        """
        for _ in range(_LAST_ROUNDS):
            proof = self.proof(ascent)
            found = self.exceeding(proof, _MOST_AT_LAST)
            share = int(found.counts[2]) / SCALE
            if share <= 1 + _ROUNDING:
                break
            ascent = self.extended(climber, ascent, proof, found)
        return float(proof.lines.gaps.sum()) / SCALE / max(1.0, share) * self._unit * (1 - _ROUNDING)
