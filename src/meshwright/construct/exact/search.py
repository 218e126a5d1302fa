"""Branch and cut: the cheapest overlay, with the proof that none is cheaper.

The linear program over pairs has a row for each partition inequality found so far; the one that its solution
violates most is added for each topic, until none is violated. Its value bounds all overlays, and pairs whose
reduced cost is above what is left to the best overlay are never linked in a better one. Where the solution is
not whole, one pair is linked in one branch and not linked in the other.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from time import perf_counter

import numpy as np

from meshwright.construct.exact.problem import Problem
from meshwright.construct.exact.program import Program, Relaxed, Row
from meshwright.runtime.arrays import Floats, Offsets, Ticks
from meshwright.runtime.progress import CANCEL, DONE

_WHOLE = 1e-6
_EXACT = 1e-9
"""Costs that differ by this fraction are equal."""

_HALFWAY = 0.5
"""Where between the best overlay and the solution violated inequalities are looked for first: halfway, fewer
programs are solved than at the solution itself (measured: half the time)."""

_ROUNDS = 12
"""Of cuts in a branch, while it stays undecided."""

_TRIED = 3
"""Pairs on which branches are tried out."""


@dataclass(order=True)
class _Branch:
    """A part of all overlays: of each column the least and the greatest value."""

    rank: tuple[float, int, int]
    bound: float = field(compare=False)
    low: Floats = field(compare=False)
    high: Floats = field(compare=False)


@dataclass
class Found:
    """What a search knows.

    Attributes:
        columns: the best overlay.
        cost: of it.
        bound: no overlay costs less.
        branches: how many parts of all overlays were looked at.
        rows: how many inequalities were found.
        is_optimal: whether no overlay is better.
    """

    columns: Offsets
    cost: float
    bound: float = 0.0
    branches: int = 0
    rows: int = 0
    is_optimal: bool = False


class Search:
    """Looks for a better overlay until there is none, or the time is over."""

    def __init__(
        self,
        problem: Problem,
        best: Offsets,
        round_up: Callable[[Floats], Offsets],
        likely: Offsets,
        deadline: float,
        ticks: Ticks,
    ) -> None:
        self._problem, self._round_up = problem, round_up
        self._deadline, self._ticks = deadline, ticks
        self._counted = bool(np.all(problem.costs == 1))
        self._program = Program(problem.costs, likely)
        self._branches: list[_Branch] = []
        self._numbers = count()
        self.found = Found(columns=best, cost=float(problem.costs[best].sum()))

    def run(self, rows: list[Row], bound: float) -> Found:
        """Search, beginning with some rows and with what is known to be a bound."""
        self._program.add(rows)
        self.found.bound = bound
        columns = len(self._problem.costs)
        self._push(bound, np.zeros(columns), np.ones(columns), 0)
        while self._branches and not self._is_over():
            branch = heappop(self._branches)
            if not self._is_hopeless(branch.bound):
                self._look_into(branch)
            ends = [each.bound for each in self._branches]
            self.found.bound = min([self._rounded(end) for end in ends], default=self.found.cost)
            self._ticks[DONE] += 1
        self.found.is_optimal = not self._branches
        return self.found

    def _is_over(self) -> bool:
        return bool(self._ticks[CANCEL]) or perf_counter() > self._deadline

    def _rounded(self, bound: float) -> float:
        """The least cost from the bound on; links are whole."""
        least = float(np.ceil(bound - _WHOLE)) if self._counted else bound
        return min(least, self.found.cost)

    def _is_hopeless(self, bound: float) -> bool:
        return self._rounded(bound) >= self.found.cost * (1 - _EXACT)

    def _push(self, bound: float, low: Floats, high: Floats, depth: int) -> None:
        rank = self._rounded(bound), -depth, next(self._numbers)
        heappush(self._branches, _Branch(rank, bound, low, high))

    def _look_into(self, branch: _Branch) -> None:
        """Cut, and divide what is not decided then."""
        self.found.branches += 1
        low, high, depth = branch.low.copy(), branch.high.copy(), -branch.rank[1]
        solved = self._cut(branch, low, high)
        if solved is None:
            return
        bound = max(branch.bound, solved.bound)
        if self._is_over():
            self._push(bound, low, high, depth)
            return
        column, ends = self._divide(solved, low, high)
        for value in (1.0, 0.0):
            own_low, own_high = low.copy(), high.copy()
            own_low[column] = own_high[column] = value
            self._push(max(bound, ends[int(value)]), own_low, own_high, depth + 1)

    def _cut(self, branch: _Branch, low: Floats, high: Floats) -> Relaxed | None:
        """Add violated inequalities while that helps; None where no better overlay is left.

        Pairs that no better overlay links, or without which there is none, get limits. At the root there are
        as many rounds as it takes; else a branch is divided once a few rounds changed little.
        """
        rounds = 0
        while True:
            self._program.limit(low, high)
            solved = self._program.solve()
            if solved is None or self._is_hopeless(max(solved.bound, branch.bound)):
                return None
            self._tighten(solved, low, high)
            rows = self._violated(solved.values)
            self._try(solved.values, whole=not rows)
            rounds += 1
            if self._is_hopeless(max(solved.bound, branch.bound)):
                return None
            is_whole = bool(np.all(np.minimum(solved.values, 1 - solved.values) < _WHOLE))
            if self._is_over() or not rows or (branch.rank[1] and rounds >= _ROUNDS and not is_whole):
                return solved
            self._program.add(rows)
            self.found.rows += len(rows)

    def _tighten(self, solved: Relaxed, low: Floats, high: Floats) -> None:
        """Limit the columns whose other value would cost too much, by their reduced costs."""
        left = self.found.cost * (1 - _EXACT) - solved.bound - (1 - 2 * _WHOLE if self._counted else 0)
        high[(solved.reduced > left) & (low == 0)] = 0.0
        low[(-solved.reduced > left) & (high == 1)] = 1.0

    def _violated(self, values: Floats) -> list[Row]:
        """Inequalities that the values violate: halfway to the best overlay, or else at the values."""
        between = (1 - _HALFWAY) * values
        between[self.found.columns] += _HALFWAY
        rows = [
            row
            for row in self._problem.violated(between, self._ticks)
            if values[row.columns].sum() < row.least - _WHOLE
        ]
        return rows or self._problem.violated(values, self._ticks)

    def _try(self, values: Floats, *, whole: bool) -> None:
        """Keep the overlay that the values lead to, if it is better."""
        if not whole and self.found.rows % 3:
            return
        columns = self._round_up(values)
        cost = float(self._problem.costs[columns].sum())
        if cost < self.found.cost * (1 - _EXACT):
            self.found.columns, self.found.cost = columns, cost

    def _divide(self, solved: Relaxed, low: Floats, high: Floats) -> tuple[int, tuple[float, float]]:
        """The column to divide by, and the bounds of both branches: of some, that which raises them most."""
        far = np.minimum(solved.values, 1 - solved.values)
        best, best_score, best_ends = -1, -1.0, (0.0, 0.0)
        for column in np.argsort(-far, kind="stable")[:_TRIED]:
            if far[column] < _WHOLE:
                break
            ends = (self._end(column, 0.0, low, high), self._end(column, 1.0, low, high))
            gains = [max(1e-6, end - solved.bound) for end in ends]
            if gains[0] * gains[1] > best_score:
                best, best_score, best_ends = int(column), gains[0] * gains[1], ends
        return best, best_ends

    def _end(self, column: int, value: float, low: Floats, high: Floats) -> float:
        """The bound where a column has one value."""
        own_low, own_high = low.copy(), high.copy()
        own_low[column] = own_high[column] = value
        self._program.limit(own_low, own_high)
        solved = self._program.solve()
        return np.inf if solved is None else solved.bound
