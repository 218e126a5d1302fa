"""Checks of options: an error says what came, what is legal, and the way out."""

import numpy as np

from meshwright.errors import OptionError

# Ten characters a name times this many names stay inside the 2 GiB of one Arrow string array.
MOST_NAMES = 100_000_000
# exp(-1000) is 0 in double precision: what is steeper draws the same topics and sizes.
STEEPEST = 1_000.0


def whole(name: str, value: object, low: int, high: int, way_out: str = "") -> int:
    """`value` as an int, if it is a whole number from `low` to `high`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value <= high:
        raise OptionError(f"{name} is {value!r}; give a whole number from {low} to {high}{way_out}")
    return int(value)


def number(name: str, value: object, low: float, high: float, way_out: str = "") -> float:
    """`value` as a float, if it is a number from `low` to `high`."""
    kinds = int | float | np.integer | np.floating
    if isinstance(value, bool) or not isinstance(value, kinds) or not low <= value <= high:
        raise OptionError(f"{name} is {value!r}; give a number from {low:g} to {high:g}{way_out}")
    return float(value)


def positive(name: str, value: object, high: float, way_out: str = "") -> float:
    """`value` as a float, if it is a number above 0 and at most `high`."""
    kinds = int | float | np.integer | np.floating
    if isinstance(value, bool) or not isinstance(value, kinds) or not 0 < value <= high:
        raise OptionError(f"{name} is {value!r}; give a number above 0, at most {high:g}{way_out}")
    return float(value)
