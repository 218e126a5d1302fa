"""The linear program over pairs of nodes, by HiGHS: the cheapest values that satisfy all rows found so far.

A row says that the values of some pairs add up to at least a whole number. Rows are added and dropped while
the solver keeps its basis, so that solving again takes milliseconds: measured on 80 nodes, 12 topics, with
`scipy.optimize.linprog`'s way of starting anew each time, 93 programs took 16 times as long.
"""

from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np

from meshwright.runtime.arrays import Floats, Ids, Offsets

_SLACK = 1e-6
_DROPPED_AFTER = 30
"""Solutions in a row in which a row was slack."""

_AT_ONCE = 200
"""Columns that join the solver's at once, the cheapest first."""


@dataclass(frozen=True)
class Row:
    """The values of `columns` add up to at least `least`."""

    columns: Ids
    least: int


@dataclass(frozen=True)
class Relaxed:
    """A solution of the linear program.

    Attributes:
        values: by column.
        bound: no solution within the limits costs less. It is computed from the dual values alone, so it does
            not depend on how exactly the solver keeps its own constraints.
        reduced: by column, what the bound rises by at least for each unit of it.
    """

    values: Floats
    bound: float
    reduced: Floats


class Program:
    """A linear program that changes and is solved again and again; values lie between 0 and 1.

    The solver has only some columns, those that were cheaper than nothing at some time: a few hundred of
    thousands, so that solving takes a fraction of the time. The others are looked at after each solution.
    """

    def __init__(self, costs: Floats, columns: Offsets) -> None:
        self._costs = costs
        self._low, self._high = np.zeros(len(costs)), np.ones(len(costs))
        self._rows: list[Row] = []
        self._waited = np.empty(0, np.int64)
        self._active, self._place = np.empty(0, np.int64), np.full(len(costs), -1, np.int32)
        self._solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for name in ("output_flag", "presolve", "parallel"):
            self._solver.setOptionValue(name, False if name == "output_flag" else "off")
        self._activate(columns)

    def add(self, rows: list[Row]) -> None:
        """Add rows."""
        if not rows:
            return
        columns, owners = _entries(rows)
        places = self._place[columns]
        inside = places >= 0
        starts = np.searchsorted(owners[inside], np.arange(len(rows))).astype(np.int32)
        least, most = _least(rows), np.full(len(rows), highspy.kHighsInf)
        ones = np.ones(int(inside.sum()))
        self._solver.addRows(len(rows), least, most, len(ones), starts, places[inside], ones)
        self._rows = self._rows + rows
        self._waited = np.concatenate([self._waited, np.zeros(len(rows), np.int64)])

    def _activate(self, columns: Offsets) -> None:
        """Hand further columns to the solver, with their entries in all rows."""
        if not len(columns):
            return
        self._place[columns] = np.arange(len(columns)) + len(self._active)
        entries, rows = _entries(self._rows)
        places = self._place[entries]
        own = np.flatnonzero(places >= len(self._active))
        own = own[np.argsort(places[own], kind="stable")]
        starts = np.searchsorted(places[own], self._place[columns]).astype(np.int32)
        low, high, ones = self._low[columns], self._high[columns], np.ones(len(own))
        costs, rows = self._costs[columns], rows[own].astype(np.int32)
        self._solver.addCols(len(columns), costs, low, high, len(ones), starts, rows, ones)
        self._active = np.concatenate([self._active, columns])

    def limit(self, low: Floats, high: Floats) -> None:
        """Set the least and the greatest value of every column; those that must be above 0 are active."""
        self._activate(np.flatnonzero((low > 0) & (self._place < 0)))
        changed = np.flatnonzero(((low != self._low) | (high != self._high)) & (self._place >= 0))
        if len(changed):
            places = self._place[changed]
            self._solver.changeColsBounds(len(changed), places, low[changed], high[changed])
        self._low, self._high = low.copy(), high.copy()

    def solve(self) -> Relaxed | None:
        """The cheapest values within the limits; None where no values satisfy all rows."""
        while True:
            self._solver.run()
            if self._solver.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
                if not self._is_made_solvable():
                    return None
                continue
            solution = self._solver.getSolution()
            bound, reduced = self._proved(np.maximum(np.array(solution.row_dual, np.float64), 0.0))
            missing = np.flatnonzero((reduced < -_SLACK) & (self._place < 0) & (self._high > 0))
            if not len(missing):
                break
            self._activate(missing[np.argsort(reduced[missing], kind="stable")[:_AT_ONCE]])
        values = np.zeros(len(self._costs))
        values[self._active] = np.array(solution.col_value, np.float64)
        self._drop_slack(np.array(solution.row_value, np.float64))
        return Relaxed(np.clip(values, self._low, self._high), bound, reduced)

    def _proved(self, duals: Floats) -> tuple[float, Floats]:
        """The bound, and the reduced costs, by weak duality.

        Rows are paid for as the duals say, and what is then cheaper than nothing is taken in full.
        """
        paid = np.flatnonzero(duals)
        rows = [self._rows[at] for at in paid]
        columns, owners = _entries(rows)
        reduced = self._costs - np.bincount(columns, duals[paid][owners], minlength=len(self._costs))
        at = np.where(reduced > 0, self._low, self._high)
        return float(duals[paid] @ _least(rows) + reduced @ at), reduced

    def _is_made_solvable(self) -> bool:
        """Activate all columns of rows that the active ones can't satisfy.

        False where even all columns can't. If any values satisfy a row, the greatest do.
        """
        entries, owners = _entries(self._rows)
        least, high = _least(self._rows), self._high[entries]
        if np.any(np.bincount(owners, high, len(least)) < least):
            return False
        short = np.bincount(owners, high * (self._place[entries] >= 0), len(least)) < least
        columns = np.unique(entries[short[owners]])
        self._activate(columns[(self._place[columns] < 0) & (self._high[columns] > 0)].astype(np.int64))
        return True

    def _drop_slack(self, sums: Floats) -> None:
        """Drop rows that were slack in many solutions in a row; they are found again if they are needed."""
        self._waited = np.where(sums > _least(self._rows) + _SLACK, self._waited + 1, 0)
        keep = self._waited < _DROPPED_AFTER
        drop = np.flatnonzero(~keep).astype(np.int32)
        if len(drop) * 4 >= len(self._rows):
            self._solver.deleteRows(len(drop), drop)
            self._rows = [row for row, stays in zip(self._rows, keep, strict=True) if stays]
            self._waited = self._waited[keep]


def _entries(rows: list[Row]) -> tuple[Ids, Offsets]:
    """The columns of all rows, one after the other, and for each the number of its row."""
    columns = np.concatenate([np.empty(0, np.int32), *(row.columns for row in rows)])
    return columns, np.repeat(np.arange(len(rows)), [len(row.columns) for row in rows])


def _least(rows: list[Row]) -> Floats:
    return np.array([row.least for row in rows], np.float64)
