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
        self._columns, self._sizes = np.empty(0, np.int32), np.empty(0, np.int64)
        self._least, self._waited = np.empty(0), np.empty(0, np.int64)
        self._active, self._place = np.empty(0, np.int64), np.full(len(costs), -1, np.int32)
        self._solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for name in ("output_flag", "presolve", "parallel"):
            self._solver.setOptionValue(name, False if name == "output_flag" else "off")
        self._activate(columns)

    def add(self, rows: list[Row]) -> None:
        """Add rows."""
        if not rows:
            return
        sizes = np.array([len(row.columns) for row in rows], np.int64)
        columns = np.concatenate([row.columns for row in rows]).astype(np.int32)
        least, most = np.array([row.least for row in rows], np.float64), np.full(len(rows), highspy.kHighsInf)
        places, owners = self._place[columns], np.repeat(np.arange(len(rows)), sizes)
        inside = places >= 0
        starts = np.searchsorted(owners[inside], np.arange(len(rows))).astype(np.int32)
        ones = np.ones(int(inside.sum()))
        self._solver.addRows(len(rows), least, most, len(ones), starts, places[inside], ones)
        self._columns = np.concatenate([self._columns, columns])
        self._sizes = np.concatenate([self._sizes, sizes])
        self._least = np.concatenate([self._least, least])
        self._waited = np.concatenate([self._waited, np.zeros(len(rows), np.int64)])

    def _activate(self, columns: Offsets) -> None:
        """Hand further columns to the solver, with their entries in all rows."""
        self._place[columns] = np.arange(len(columns)) + len(self._active)
        own = self._place[self._columns] >= len(self._active)
        entries, rows = self._columns[own], np.repeat(np.arange(len(self._sizes)), self._sizes)[own]
        order = np.argsort(self._place[entries], kind="stable")
        starts = np.searchsorted(self._place[entries][order], self._place[columns]).astype(np.int32)
        low, high, ones = self._low[columns], self._high[columns], np.ones(len(order))
        rows = rows[order].astype(np.int32)
        costs = self._costs[columns]
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

    def is_possible(self) -> bool:
        """Whether some values within the limits satisfy all rows: if any do, the greatest do."""
        return bool(np.all(self._sums(self._high) >= self._least))

    def solve(self) -> Relaxed:
        """The cheapest values within the limits; there must be some (`is_possible`)."""
        self._make_solvable()
        while True:
            self._solver.run()
            solution = self._solver.getSolution()
            duals = np.maximum(np.array(solution.row_dual, np.float64), 0.0)
            # Weak duality: rows are paid for, and what that makes cheaper than nothing is taken in full.
            paid = np.bincount(self._columns, np.repeat(duals, self._sizes), minlength=len(self._costs))
            reduced = self._costs - paid
            missing = np.flatnonzero((reduced < -_SLACK) & (self._place < 0) & (self._high > 0))
            if not len(missing):
                break
            self._activate(missing[np.argsort(reduced[missing], kind="stable")[:_AT_ONCE]])
        values = np.zeros(len(self._costs))
        values[self._active] = np.array(solution.col_value, np.float64)
        values = np.clip(values, self._low, self._high)
        bound = float(duals @ self._least + reduced @ np.where(reduced > 0, self._low, self._high))
        self._drop_slack(values, duals)
        return Relaxed(values, bound, reduced)

    def _make_solvable(self) -> None:
        """Activate columns of rows that those in the solver can't satisfy."""
        usable = np.where(self._place >= 0, self._high, 0.0)
        short = self._sums(usable) < self._least
        if short.any():
            columns = np.unique(self._columns[np.repeat(short, self._sizes)])
            self._activate(columns[(self._place[columns] < 0) & (self._high[columns] > 0)].astype(np.int64))

    def _sums(self, values: Floats) -> Floats:
        """By row, the sum of its values; no row is empty."""
        found: Floats = np.add.reduceat(values[self._columns], np.cumsum(self._sizes) - self._sizes)
        return found

    def _drop_slack(self, values: Floats, duals: Floats) -> None:
        """Drop rows that were slack in many solutions in a row; they are found again if they are needed."""
        slack = (self._sums(values) > self._least + _SLACK) & (duals == 0)
        self._waited = np.where(slack, self._waited + 1, 0)
        drop = np.flatnonzero(self._waited >= _DROPPED_AFTER).astype(np.int32)
        if len(drop) * 4 < len(self._sizes):
            return
        keep = self._waited < _DROPPED_AFTER
        self._solver.deleteRows(len(drop), drop)
        self._columns = self._columns[np.repeat(keep, self._sizes)]
        self._sizes, self._least, self._waited = self._sizes[keep], self._least[keep], self._waited[keep]
