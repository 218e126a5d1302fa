"""The Lagrangian lower bound on the cost of every topic-connected overlay, with its certificate.

*The proof* is that of `bound.py`, with what the link between two nodes costs in place of the number S: if D,
summed over the topics that u and v share, is at most the cost of (u, v) for every pair, then the links of
every topic-connected overlay cost together at least as much as all gaps.

Gaps are whole numbers of parts. A unit of cost has 2^k parts, so that costs are as exact in parts as in
floating point, before they are rounded down. Costs by distance are the exception: whoever computes them again
may round otherwise. They are lowered by a small share.
"""

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from meshwright.construct.dual.ascent import Ascent, Climber
from meshwright.construct.dual.bound import CANDIDATES_EACH, Pricing, Proof, raised
from meshwright.construct.dual.candidates import arrays_of, connected, pair_steps
from meshwright.kernels.core.cost_arrays import CLUSTERS, SITES
from meshwright.kernels.dual.by_cost import cheapest_edges, find_too_cheap
from meshwright.kernels.dual.lines import Exceeding
from meshwright.kernels.dual.shares import Shares
from meshwright.model.costs.costs import Costs
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Floats, Ids, Longs, Ticks
from meshwright.runtime.machine import threads
from meshwright.runtime.parallel import Chunk, balanced_chunks, on_all_cores
from meshwright.runtime.progress import Progress

_SCALE_BITS = 31
"""Of the dearest of the first candidates, in parts: the square of that fits into 64 bits."""

_GREATEST_EXPONENT = 1_000
"""2 to the power of it is still a number; only costs under 10^-292 would have a greater one."""

_DOUBT = 2e-7
"""The share by which costs by distance are lowered; on the opposite side of the globe 1e-8 is rounding."""


@dataclass(frozen=True, kw_only=True)
class CostCertificate:
    """A line for every topic: the proof that the links of no topic-connected overlay cost less than `cost`.

    Attributes:
        nodes: of topic 0 from one end of its line to the other, then of topic 1, and so on.
        gaps: before each of these nodes, in parts; 0 before the first of a topic.
        exponent: a unit of cost has 2^exponent parts.
    """

    nodes: Ids
    gaps: Longs
    exponent: int

    @property
    def parts(self) -> int:
        """All gaps together."""
        return int(self.gaps.sum())

    @property
    def cost(self) -> float:
        """The same as a cost, rounded down."""
        parts = float(self.parts)
        return math.ldexp(parts if parts <= self.parts else math.nextafter(parts, 0.0), -self.exponent)


def find_cost_certificate(
    interests: Interests, costs: Costs, *, steps: int, progress: Progress | None = None
) -> CostCertificate:
    """The best certificate that a number of steps finds; deterministic, whatever the number of threads.

    Cost: as `find_certificate`, and the cost of each pair that shares a topic, at each look at all pairs.
    """
    likely = connected(interests, cheapest(interests, costs, progress), progress)
    pricing = CostPricing(interests, costs, likely, progress)
    with ThreadPoolExecutor(threads()) as pool:
        climber = Climber(pool, threads())
        return pricing.cost_certificate(climber, raised(pricing, climber, steps, progress))


def cheapest(interests: Interests, costs: Costs, progress: Progress | None) -> Ids:
    """The pairs with the least cost for each shared topic, of each node, in each topic and in all."""
    arrays, cost_arrays = arrays_of(interests), costs.arrays()

    def choose(turns: Iterator[Chunk], ticks: Ticks) -> list[Ids]:
        return [cheapest_edges(*arrays, cost_arrays, nodes, CANDIDATES_EACH, ticks) for nodes in turns]

    chunks = balanced_chunks(pair_steps(interests))
    found = on_all_cores(choose, chunks, "choosing candidate links", progress)
    return np.concatenate([np.empty((0, 2), np.int32), *(edges for each in found for edges in each)])


class CostPricing(Pricing):
    """Looks at the pairs that are no candidates, and at what they cost.

    Prices are in a unit, a power of two, that is no less than the cost of any of the first candidates. Those
    connect every topic, so no gap of a line is greater than the scale.
    """

    scale = 1 << _SCALE_BITS

    def __init__(
        self,
        interests: Interests,
        costs: Costs,
        likely: Ids,
        progress: Progress | None,
        memory_limit: int | None = None,
    ) -> None:
        super().__init__(interests, progress, memory_limit)
        self._costs, self._cost_arrays, self._likely = costs, costs.arrays(), likely
        dearest = float(costs.between(likely[:, 0], likely[:, 1]).max(initial=0.0))
        self.exponent = min(_SCALE_BITS - math.frexp(dearest)[1], _GREATEST_EXPONENT)
        is_exact = self._cost_arrays.kind in (SITES, CLUSTERS)
        self._parts_of_one = math.ldexp(1.0 if is_exact else 1.0 - _DOUBT, self.exponent)

    def likely(self) -> Ids:
        """The first candidate edges."""
        return self._likely

    def shares(self, edges: Ids) -> Shares:
        """The shares of candidate edges, which may be paid what the edges cost."""
        return super().shares(edges)._replace(limits=self._limits(edges))

    def _limits(self, edges: Ids) -> Floats:
        """What edges cost, in units; where that is under a part, half a part, since none may be 0."""
        costs = self._costs.between(edges[:, 0], edges[:, 1])
        limits: Floats = np.maximum(np.floor(costs * self._parts_of_one), 0.5) / self.scale
        return limits

    def find(self, proof: Proof, nodes: Chunk, most: int, found: Exceeding, ticks: Ticks) -> None:
        """Fill in the pairs whose distances exceed what they cost, with their share of it."""
        arrays = *self._arrays[:2], proof.lines, self._cost_arrays
        find_too_cheap(*arrays, self._parts_of_one, self.scale, nodes, most, found, ticks)

    def cost_certificate(self, climber: Climber, ascent: Ascent) -> CostCertificate:
        """What the prices prove for all pairs."""
        lines = self.valid_proof(climber, ascent).lines
        return CostCertificate(nodes=lines.nodes, gaps=lines.gaps, exponent=self.exponent)
