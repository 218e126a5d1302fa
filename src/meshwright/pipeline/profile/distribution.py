"""How often each value occurs, what is usually asked about it, and the power law that fits it.

The fit is that of Clauset, Shalizi and Newman: Power-law distributions in empirical data, SIAM Review 51
(2009).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import zeta

from meshwright.metrics.statistics import LEAST_TAIL
from meshwright.runtime.arrays import Floats, Longs

_LOWEST, _HIGHEST = 1.001, 16.0
_MOST_STARTS = 250
_STEPS = 60


class PowerLaw(NamedTuple):
    """Values x from `x_min` on have probabilities proportional to x^-exponent.

    `ks_distance` is the greatest difference between the distribution functions of the law and of the `tail`
    values from `x_min` on: 0 is a perfect fit, and `seldom_exceeded` what chance alone seldom exceeds.
    """

    exponent: float
    x_min: int
    ks_distance: float
    tail: int


def fit_power_law(values: Longs, counts: Longs) -> PowerLaw | None:
    """The law of `counts[i]` values `values[i]`, rising and distinct; None where there is too little to fit.

    For each `x_min` the exponent is the most likely one for discrete data, ζ being the Hurwitz zeta function;
    the `x_min` of least Kolmogorov-Smirnov distance is taken. Zeros are no part of a law. Every `x_min` is
    tried that leaves at least 50 values and two different ones, or 250 of them, evenly spread by rank among
    the different values. Exponents over 16 are no power law but a sharp end. O(250 · different values).
    """
    present = (values > 0) & (counts > 0)
    values, counts = values[present], counts[present]
    tails = np.cumsum(counts[::-1])[::-1]
    starts = np.flatnonzero((tails >= LEAST_TAIL) & (np.arange(len(values)) < len(values) - 1))
    if not len(starts):
        return None
    if len(starts) > _MOST_STARTS:
        starts = starts[np.linspace(0, len(starts) - 1, _MOST_STARTS).astype(np.int64)]
    logs = np.cumsum((counts * np.log(values))[::-1])[::-1]
    exponents = _most_likely(values[starts].astype(np.float64), logs[starts] / tails[starts])
    fits = [
        PowerLaw(
            float(exponent), int(values[at]), _distance(values[at:], counts[at:], exponent), int(tails[at])
        )
        for at, exponent in zip(starts, exponents, strict=True)
        if _LOWEST * 1.001 < exponent < _HIGHEST * 0.999
    ]
    return min(fits, key=lambda law: (law.ks_distance, law.x_min)) if fits else None


def _most_likely(starts: Floats, mean_logs: Floats) -> Floats:
    """The exponents a of greatest likelihood, by golden section: ln ζ(a, x_min) + a · mean ln x is convex."""
    shrink = (np.sqrt(5) - 1) / 2
    low, high = np.full(len(starts), _LOWEST), np.full(len(starts), _HIGHEST)

    def loss(exponent: Floats) -> Floats:
        found: Floats = np.log(zeta(exponent, starts)) + exponent * mean_logs
        return found

    for _ in range(_STEPS):
        left, right = high - shrink * (high - low), low + shrink * (high - low)
        is_left = loss(left) < loss(right)
        high, low = np.where(is_left, right, high), np.where(is_left, low, left)
    middle: Floats = (low + high) / 2
    return middle


def _distance(values: Longs, counts: Longs, exponent: float) -> float:
    """The greatest distance lies at a value or right before the next one, where the law has risen most."""
    empirical = np.cumsum(counts) / counts.sum()
    whole = zeta(exponent, float(values[0]))
    at = 1 - zeta(exponent, values + 1.0) / whole
    before_next = 1 - zeta(exponent, values[1:].astype(np.float64)) / whole
    distances = np.abs(np.concatenate([empirical - at, empirical[:-1] - before_next]))
    return float(distances.max())


_QUANTILES = {
    "minimum": 0.0,
    "p25": 0.25,
    "median": 0.5,
    "p75": 0.75,
    "p90": 0.9,
    "p99": 0.99,
    "maximum": 1.0,
}


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """`counts[i]` things have the value `values[i]`; values rise, are from 0 on, and none has the count 0.

    Attributes:
        values, counts: the distribution.
        mean: None where there is nothing.
        quantiles: `minimum, p25, median, p75, p90, p99, maximum`: the least value that so large a share has
            at most; empty where there is nothing.
        exponent: of the power law fitted to the values from `x_min` on, None where there is too little.
        x_min, ks_distance, tail: see `PowerLaw`.
    """

    values: tuple[int, ...]
    counts: tuple[int, ...]
    mean: float | None
    quantiles: Mapping[str, int]
    exponent: float | None
    x_min: int | None
    ks_distance: float | None
    tail: int | None

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, int]]) -> Self:
        """Build from pairs (value, count) in any order; a value may appear several times."""
        tally: dict[int, int] = {}
        for value, count in pairs:
            tally[value] = tally.get(value, 0) + count
        rising = sorted((value, count) for value, count in tally.items() if count)
        values = np.array([value for value, _ in rising], np.int64)
        counts = np.array([count for _, count in rising], np.int64)
        law = fit_power_law(values, counts)
        return cls(
            values=tuple(values.tolist()),
            counts=tuple(counts.tolist()),
            mean=float(values @ counts / counts.sum()) if rising else None,
            quantiles=_quantiles(values, counts) if rising else {},
            **(law._asdict() if law else dict.fromkeys(PowerLaw._fields)),
        )


def _quantiles(values: np.ndarray[Any, Any], counts: np.ndarray[Any, Any]) -> dict[str, int]:
    reached = np.cumsum(counts)
    wanted = {name: max(1, int(np.ceil(share * reached[-1]))) for name, share in _QUANTILES.items()}
    return {name: int(values[np.searchsorted(reached, place)]) for name, place in wanted.items()}
