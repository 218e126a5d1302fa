"""Matrices of costs: from cells as they were measured to one positive number for each pair.

The diagonal says nothing about links and is ignored. Work is done in place on blocks of rows, so that a large
matrix takes little more than its own memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from meshwright.model.costs.forms import COST_RULE, LEAST, MOST, and_more, checked_least, name_at
from meshwright.runtime.arrays import Flags, Floats
from meshwright.runtime.errors import InputError, OptionError
from meshwright.runtime.memory import check_memory, needed
from meshwright.runtime.wording import choose

SYMMETRISE = ("mean", "max", "min", "refuse")
MISSING = ("refuse", "other-direction", "path")

_BLOCK = 256
_ROUNDING = 1e-9
"""Relative difference of two directions that `refuse` takes for rounding."""


@dataclass(frozen=True, kw_only=True)
class MatrixRules:
    """How a matrix of measurements becomes costs.

    Attributes:
        symmetrise: what a pair costs whose directions differ: their `mean`, `max` or `min`; or `refuse`.
        missing: what happens to a pair without a number: `refuse`; take the `other-direction` where that is
            known, and refuse otherwise; or, beyond that, the cheapest `path` over pairs that are known.
        least_cost: what a pair costs that would cost less; zero is legal then.
    """

    symmetrise: str = "mean"
    missing: str = "refuse"
    least_cost: float | None = None

    def __post_init__(self) -> None:
        for name, legal in (("symmetrise", SYMMETRISE), ("missing", MISSING)):
            if getattr(self, name) not in legal:
                raise OptionError(
                    f"{name} is {getattr(self, name)!r}; {choose(getattr(self, name), legal)}", option=name
                )
        checked_least(self.least_cost)


def check_room(count: int, copies: int = 3) -> None:
    """Refuse a matrix of which this many copies do not fit into memory; call it before reading."""
    check_memory(
        f"a matrix of the costs between {count:,} nodes",
        needed("costs", pairs=copies * count * count),
        "put nodes on sites (Costs.sites), or give coordinates (Costs.coordinates)",
    )


def checked_matrix(
    cells: npt.ArrayLike, names: pa.StringArray, rules: MatrixRules
) -> tuple[Floats, dict[str, Any]]:
    """Costs of measured cells: row u, column v is the cost from u to v. NaN is a cell without a number.

    Quadratic; with missing pairs that need a path, a shortest path search from one end of each.
    """
    matrix = _numbers(cells, len(names))
    np.fill_diagonal(matrix, 0.0)
    _check_cells(matrix, names, 0.0 if rules.least_cost is not None else LEAST)
    if rules.missing == "refuse" and np.isnan(matrix).any():
        raise _missing_error(matrix, names)
    facts = {"symmetrised_by": rules.symmetrise, "missing_filled_by": rules.missing}
    facts |= _symmetrised(matrix, names, rules.symmetrise)
    facts |= _raised(matrix, rules.least_cost)
    return matrix, facts | _filled(matrix, names, rules.missing)


def _numbers(cells: npt.ArrayLike, count: int) -> Floats:
    """A copy in float64, after a look at type and shape."""
    given = np.asarray(cells)
    if given.dtype.kind not in "iuf":
        raise InputError(f"the matrix is of type {given.dtype}; give numbers, and NaN for a missing cost")
    if given.ndim != 2 or given.shape[0] != given.shape[1]:
        raise InputError(
            f"the matrix has shape {given.shape}; give a square matrix, with a row and a column per node"
        )
    if len(given) != count:
        raise InputError(
            f"the matrix has {len(given):,} rows, but there are {count:,} names; give one name per row"
        )
    check_room(count)
    return np.array(given, np.float64, order="C")


def _blocks(count: int) -> Iterator[slice]:
    return (slice(start, min(start + _BLOCK, count)) for start in range(0, count, _BLOCK))


def _check_cells(matrix: Floats, names: pa.StringArray, least: float) -> None:
    """Refuse cells off the diagonal that are neither from `least` to the greatest cost nor missing."""
    count, first = 0, None
    for rows in _blocks(len(matrix)):
        fits = (matrix[rows] >= least) & (matrix[rows] <= MOST)
        wrong = ~(fits | np.isnan(matrix[rows]))
        wrong[_diagonal(rows)] = False
        count += int(np.count_nonzero(wrong))
        if first is None and count:
            at = np.argwhere(wrong)[0]
            first = (rows.start + at[0], at[1])
    if first is not None:
        u, v = first
        raise InputError(
            f"the cost from {name_at(names, u)} to {name_at(names, v)} is {matrix[u, v]:g}{and_more(count)}; "
            f"{COST_RULE}"
        )


def _diagonal(rows: slice) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The places of the diagonal in a block of rows."""
    return np.arange(rows.stop - rows.start), np.arange(rows.start, rows.stop)


def _missing_error(matrix: Floats, names: pa.StringArray) -> InputError:
    """Names the first pair without a cost in some direction, and a rule that fills all of them."""
    gaps = np.isnan(matrix)
    u, v = divmod(int(gaps.argmax()), len(matrix))
    rules = "'path'" if (gaps & gaps.T).any() else "'other-direction' or 'path'"
    return InputError(
        f"there is no cost from {name_at(names, u)} to {name_at(names, v)}"
        f"{and_more(int(np.count_nonzero(np.triu(gaps | gaps.T))))}; "
        f"measure it, or set missing={rules} (--missing) to fill it"
    )


class _Differences:
    """Counts how pairs differ between their directions while blocks pass by."""

    def __init__(self) -> None:
        self.two_way = self.one_way = self.unequal = self.beyond_rounding = 0
        self.total = self.greatest = 0.0
        self.example: tuple[int, int, float, float] | None = None

    def add(self, there: Floats, back: Floats, upper: Flags, start: int) -> None:
        """Take in a block of pairs; `upper` flags each pair once, `start` is its first row and column."""
        known = ~np.isnan(there), ~np.isnan(back)
        both = upper & known[0] & known[1]
        self.one_way += int(np.count_nonzero(upper & (known[0] ^ known[1])))
        self.two_way += int(np.count_nonzero(both))
        share = np.zeros(there.shape)
        greater = np.maximum(there, back)
        np.divide(np.abs(there - back), greater, out=share, where=both & (greater > 0))
        self.unequal += int(np.count_nonzero(share))
        self.beyond_rounding += int(np.count_nonzero(share > _ROUNDING))
        self.total += float(share.sum())
        at = np.unravel_index(int(share.argmax()), share.shape)
        if share[at] > self.greatest:
            self.greatest = float(share[at])
            u, v = int(at[0]) + start, int(at[1]) + start
            self.example = (u, v, float(there[at]), float(back[at]))


def _symmetrised(matrix: Floats, names: pa.StringArray, rule: str) -> dict[str, Any]:
    """Make both directions of each pair the same; one that is known alone holds for both."""
    seen = _Differences()
    for rows in _blocks(len(matrix)):
        there, back = matrix[rows, rows.start :], matrix[rows.start :, rows].T.copy()
        upper = np.arange(there.shape[1]) > np.arange(there.shape[0])[:, None]
        seen.add(there, back, upper, rows.start)
        both = _RULES[rule](there, back)
        matrix[rows, rows.start :] = both
        matrix[rows.start :, rows] = both.T
    if rule == "refuse" and seen.example is not None and seen.beyond_rounding:
        u, v, there_, back_ = seen.example
        a, b, others = name_at(names, u), name_at(names, v), seen.beyond_rounding - 1
        pairs = "pair" if others == 1 else "pairs"
        more = f" (the directions of {others:,} more {pairs} differ by less)" if others else ""
        raise InputError(
            f"{a} to {b} costs {there_:g}, but {b} to {a} costs {back_:g}{more}; a link has one cost: "
            f"set symmetrise (--symmetrise) to mean, max or min"
        )
    return _difference_facts(seen, names)


def _mean(there: Floats, back: Floats) -> Floats:
    """The mean, NaN only where both are; halves first, since a sum of great numbers could overflow."""
    middle = np.where(there == back, there, there / 2 + back / 2)
    return np.where(np.isnan(there), back, np.where(np.isnan(back), there, middle))


_RULES: dict[str, Any] = {"mean": _mean, "max": np.fmax, "min": np.fmin, "refuse": _mean}


def _difference_facts(seen: _Differences, names: pa.StringArray) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "asymmetric_pairs": seen.unequal,
        "mean_difference": seen.total / seen.two_way if seen.two_way else 0.0,
        "greatest_difference": seen.greatest,
        "filled_from_other_direction": seen.one_way,
    }
    if seen.example is not None:
        u, v, there, back = seen.example
        pair = [names[u].as_py(), names[v].as_py()]
        facts["most_unlike"] = {"pair": pair, "there": there, "back": back}
    return facts


def _raised(matrix: Floats, least: float | None) -> dict[str, Any]:
    """Raise what costs less than the least cost; the fact counts pairs."""
    if least is None:
        return {}
    low = matrix < least
    np.fill_diagonal(low, False)
    matrix[low] = least
    return {"least_cost": float(least), "raised_to_least_cost": int(np.count_nonzero(low)) // 2}


def _filled(matrix: Floats, names: pa.StringArray, rule: str) -> dict[str, Any]:
    """Give pairs that are known in neither direction the cost of the cheapest path over known pairs."""
    gaps = np.argwhere(np.isnan(matrix))
    gaps = gaps[gaps[:, 0] < gaps[:, 1]]
    if len(gaps) and rule != "path":
        raise _missing_error(matrix, names)
    if len(gaps):
        paths = _path_costs(matrix, gaps)
        lost = np.flatnonzero(np.isinf(paths))
        if len(lost):
            u, v = gaps[lost[0]]
            raise InputError(
                f"no path of known costs leads from {name_at(names, u)} to {name_at(names, v)}"
                f"{and_more(len(lost))}; measure some of their costs, or leave one of them out"
            )
        matrix[gaps[:, 0], gaps[:, 1]] = matrix[gaps[:, 1], gaps[:, 0]] = paths
    return {"filled_by_path": len(gaps)}


def _path_costs(matrix: Floats, gaps: npt.NDArray[np.int64]) -> Floats:
    """The cost of the cheapest path for each pair, infinite where there is none."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    check_memory(
        f"a search for paths among {len(matrix):,} nodes",
        needed("costs", pairs=5 * len(matrix) ** 2),
        "give the missing costs, or put nodes on fewer sites",
    )
    sources, row = np.unique(gaps[:, 0], return_inverse=True)
    distances: Floats = dijkstra(csr_array(np.nan_to_num(matrix)), indices=sources)
    return distances[row, gaps[:, 1]]
