"""What is asked of costs wherever they come from: names that are unique, numbers that are positive."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from meshwright.errors import InputError
from meshwright.kernels.arrays import Flags, Ids
from meshwright.model.names import NameSource, name_array, ranks


def and_more(count: int) -> str:
    """For an error that names the first of `count` offenders."""
    return f" (and {count - 1:,} more)" if count > 1 else ""


def name_at(names: pa.StringArray, at: Any) -> str:
    """One of the names as errors show it."""
    return repr(names[int(at)].as_py())


LEAST, MOST = 1e-100, 1e100
"""Costs are within these, so that neither their squares nor sums of any number of them overflow."""

COST_RULE = f"a cost is a positive finite number, from {LEAST:g} to {MOST:g}"


def is_cost(values: Any) -> Flags:
    """Where numbers can be what a link costs."""
    fits: Flags = (values >= LEAST) & (values <= MOST)
    return fits


def positive(value: Any, what: str) -> float:
    """`value` as a float, if it can be a cost."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise InputError(f"{what} is {value!r}; give a positive number")
    if not is_cost(value):
        raise InputError(f"{what} is {value}; {COST_RULE}")
    return float(value)


def unique_names(names: NameSource, what: str, origin: str) -> pa.StringArray:
    """`names` as an Arrow array; one that is empty or comes twice is refused. O(n log n)."""
    array = name_array(names, what)
    empty = pc.index(array, pa.scalar("")).as_py()
    if empty >= 0:
        raise InputError(f"{origin}: {what} {empty + 1} has an empty name; name it or leave it out")
    ordered, rank = ranks(array)
    if len(ordered) < len(array):
        counts = np.bincount(rank)
        twice = np.flatnonzero(counts > 1)
        first = int(rank[np.isin(rank, twice).argmax()])
        raise InputError(
            f"{origin}: the {what} {name_at(ordered, first)} comes {counts[first]} times"
            f"{and_more(len(twice))}; name each once"
        )
    return array


def lookup(names: pa.StringArray, wanted: pa.StringArray) -> Ids:
    """The place of each wanted name among `names`, or -1. Linear."""
    found: Ids = pc.index_in(wanted, value_set=names).fill_null(-1).to_numpy()
    return found


def check_all_known(places: Ids, names: pa.StringArray, fault: str, way_out: str) -> None:
    """Refuse if `lookup` of `names` found one unknown; `fault` is what to say after the first one's name."""
    unknown = np.flatnonzero(places < 0)
    if len(unknown):
        first = name_at(names, unknown[0])
        raise InputError(f"{first}{and_more(len(unknown))} {fault}; {way_out}")
