"""Raise the prices that topics pay for candidate edges, by the volume algorithm."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from meshwright.kernels.dual.shares import Shares, equal_prices
from meshwright.kernels.dual.steps import average, step
from meshwright.kernels.dual.trees import span_topics, tree_room
from meshwright.runtime.arrays import Flags, Floats, Offsets, Ticks
from meshwright.runtime.parallel import Chunk, balanced_chunks
from meshwright.runtime.progress import CANCEL, DONE

_WEIGHT = 0.1
"""How much the latest trees count in the mean of all, at first."""

_LIGHTER = 0.7
_LEAST_WEIGHT = 0.03

_PATIENCE = 4
"""Steps without a gain after which steps get shorter, and the latest trees count less."""

_SHORTER = 0.85
_GAIN = 1e-4
"""The least relative gain that counts as one."""

_GAP = 0.3
"""How far above the value the optimum is taken to be, for the length of a step."""


@dataclass(kw_only=True)
class Ascent:
    """Prices by share, and what is known of them.

    Attributes:
        shares: the candidate edges.
        prices: the best found; on each edge they add up to its limit at most.
        value: what the minimum spanning trees of all topics cost under them.
        mean: by share, how often it was in its topic's tree lately, from 0 to 1: nearly a solution of the
            linear program.
        length: of the next step, in relation to what the gap asks for.
        weight: of the latest trees in the mean.
        waited: how many steps were without a gain.
        taken: by share, whether it is in its topic's tree under the prices.
    """

    shares: Shares
    prices: Floats
    value: float
    mean: Floats
    length: float = 1.0
    weight: float = _WEIGHT
    waited: int = 0
    taken: Flags = field(repr=False)


class Climber:
    """Takes steps on some threads, whose number does not change the result."""

    def __init__(self, pool: ThreadPoolExecutor, threads: int) -> None:
        self._pool, self._threads = pool, threads

    def start(self, shares: Shares, prices: Floats | None = None, mean: Floats | None = None) -> Ascent:
        """The trees under the prices given, or under equal ones; their mean is that given, or themselves."""
        prices = equal_prices(shares) if prices is None else prices
        taken = np.zeros(len(prices), np.bool_)
        value = self._span(shares, prices, taken)
        mean = taken.astype(np.float64) if mean is None else mean
        return Ascent(shares=shares, prices=prices, value=value, mean=mean, taken=taken)

    def climb(self, ascent: Ascent, steps: int, ticks: Ticks) -> None:
        """Take steps from the best prices along the mean of the trees; keep what is better.

        That is the volume algorithm (Barahona and Anbil, 2000): a subgradient method whose direction is the
        mean of the trees. A step is as long as Polyak's rule asks for, with a guess of the gap to the
        optimum. After some steps without a gain it gets shorter, and the mean longer: where many trees cost
        the same, the mean of a few leads nowhere.
        """
        trial = np.empty_like(ascent.prices)
        for _ in range(steps):
            squares = float(np.sum(np.square(ascent.mean)))
            if ticks[CANCEL] or not squares:
                break
            self._step(ascent, ascent.length * _GAP * ascent.value / squares, trial)
            value = self._span(ascent.shares, trial, ascent.taken)
            average(ascent.mean, ascent.taken, ascent.weight)
            gained = value > ascent.value * (1 + _GAIN)
            if value > ascent.value:
                ascent.value, ascent.prices, trial = value, trial, ascent.prices
            ascent.waited = 0 if gained else ascent.waited + 1
            if ascent.waited == _PATIENCE:
                ascent.length, ascent.waited = ascent.length * _SHORTER, 0
                ascent.weight = max(_LEAST_WEIGHT, ascent.weight * _LIGHTER)
            ticks[DONE] += 1
        self._span(ascent.shares, ascent.prices, ascent.taken)

    def _step(self, ascent: Ascent, length: float, trial: Floats) -> None:
        shares = ascent.shares

        def move(edges: Chunk) -> None:
            step(shares, ascent.prices, ascent.mean, length, edges, trial)

        list(self._pool.map(move, self._chunks(np.diff(shares.indptr))))

    def _span(self, shares: Shares, prices: Floats, taken: Flags) -> float:
        values = np.zeros(len(shares.components))
        taken[:] = False

        def span(topics: Chunk) -> None:
            span_topics(shares, prices, topics, taken, values, tree_room(shares))

        list(self._pool.map(span, self._chunks(np.diff(shares.topic_indptr))))
        return float(np.sum(values))

    def _chunks(self, work: Offsets) -> list[Chunk]:
        return balanced_chunks(work, 1) if self._threads > 1 else [(0, len(work))]
