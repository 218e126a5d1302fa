"""Distributions over nodes, and sums of floating-point numbers that do not depend on their order."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from meshwright.runtime.arrays import Floats, Longs

PERCENTILES = {"p25": 25, "median": 50, "p75": 75, "p90": 90, "p99": 99}
SUMMARY = ("mean", *PERCENTILES, "maximum")
"""What is said about a distribution beside its histogram, in the order to show."""

LEAST_TAIL = 50
"""Fewer values say nothing reliable about the exponent of a power law (Clauset and others, section 3.1)."""


def seldom_exceeded(count: int) -> float:
    """The Kolmogorov-Smirnov distance that 95 of 100 samples of `count` values have at most to their law."""
    return 1.36 / float(np.sqrt(count))


def distribution(values: npt.NDArray[Any], bins: Longs | None = None) -> dict[str, Any]:
    """Mean, percentiles, maximum, and `histogram`: pairs of a value and how many have it, values rising.

    The p-th percentile is the least of the values that at least p% of them don't exceed, so it is one of
    them. Of what is not whole, `bins` says where each counts in the histogram. Without values all are None.
    O(n log n) for n values.
    """
    own = np.sort(values)
    kinds, counts = np.unique(values if bins is None else bins, return_counts=True)
    histogram = [list(pair) for pair in zip(kinds.tolist(), counts.tolist(), strict=True)]
    if not len(own):
        return {**dict.fromkeys(SUMMARY), "histogram": histogram}
    ranks = {name: -(-percent * len(own) // 100) for name, percent in PERCENTILES.items()}
    return {
        "mean": float(own.sum()) / len(own),
        **{name: own[rank - 1].item() for name, rank in ranks.items()},
        "maximum": own[-1].item(),
        "histogram": histogram,
    }


def greatest(values: Longs | Floats, most: int) -> Longs:
    """The places of the greatest values above 0, falling; of equal values, the first comes first."""
    among = np.flatnonzero(values > 0)
    if len(among) > 4 * most > 0:  # Sorting a hundred million values takes twenty seconds.
        place = len(among) - most
        among = among[values[among] >= np.partition(values[among], place)[place]]
    chosen: Longs = among[np.lexsort((among, -values[among]))][:most]
    return chosen


def summary(found: dict[str, Any]) -> dict[str, Any]:
    """A distribution without its histogram."""
    return {name: found[name] for name in SUMMARY}


_DIGITS = 53  # of a float
_LOW = 26  # this many low bits are summed apart: neither half overflows before 2**36 numbers


class Partial(NamedTuple):
    """Part of a sum: for each exponent the sum of (high * 2**26 + low) * 2**(exponent - 53)."""

    exponents: Longs
    high: Longs
    low: Longs


def partial_sum(values: Floats) -> Partial:
    """The exact sum of finite numbers, by exponent: some rows, however many numbers there are. O(n log n)."""
    fractions, exponents = np.frexp(values)
    order = np.argsort(exponents, kind="stable")
    digits = np.ldexp(fractions[order], _DIGITS).astype(np.int64)
    found, starts = np.unique(exponents[order], return_index=True)
    if not len(found):
        return Partial(*(np.empty(0, np.int64) for _ in Partial._fields))
    low = np.add.reduceat(digits & ((1 << _LOW) - 1), starts)
    return Partial(found.astype(np.int64), np.add.reduceat(digits >> _LOW, starts), low)


def total(partials: Iterable[Partial]) -> float:
    """The sum that some parts make, rounded to the nearest float."""
    rows = [row for partial in partials for row in zip(*(part.tolist() for part in partial), strict=True)]
    exact = sum(
        (((high << _LOW) + low) * Fraction(2) ** (exponent - _DIGITS) for exponent, high, low in rows),
        Fraction(0),
    )
    return float(exact)


def exact_sum(values: Floats) -> float:
    """The sum of finite numbers as if it were computed exactly, rounded to the nearest float."""
    return total([partial_sum(values)])
