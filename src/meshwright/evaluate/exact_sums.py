"""Sums of floating-point numbers that do not depend on their order: exact, and rounded once at the end."""

from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from meshwright.kernels.arrays import Floats

_DIGITS = 53  # of a float
_LOW = 26  # so many of them are summed apart: neither half overflows before 2**36 numbers

Integers = npt.NDArray[np.int64]


class Partial(NamedTuple):
    """Part of a sum: for each exponent the sum of (high * 2**26 + low) * 2**(exponent - 53)."""

    exponents: Integers
    high: Integers
    low: Integers


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
