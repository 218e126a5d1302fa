"""Doubled delivery: two walks that bring a message to the same broker under the same name."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from meshwright.deploy.lint.loops import LONGEST_NAME, MOST_WITNESSES, Budget
from meshwright.deploy.lint.names import ByWords, Names, example, less, meet
from meshwright.deploy.lint.walking import Cargo, Step, Walker
from meshwright.deploy.lint.ways import Way
from meshwright.filters.patterns import Rules

_MOST_TURNS = 3
"""How often a walk may take one way; names that get shorter with each turn would go on for very long."""


class Double(NamedTuple):
    """Two walks from one broker to another; the first is empty where the message comes back to its start."""

    one: list[Way]
    other: list[Way]
    names: Names


class DoubleSearch:
    """Finds doubled deliveries over ways that hang together, of what sets out at some brokers.

    Each is found where its two walks part and where they meet first. Names that reach a loop are left out.

    Attributes:
        doubles: what was found, shortest first for each start.
        undecided: the first ways of walks that were broken off.
    """

    def __init__(
        self, walker: Walker, starts: Iterable[int], fresh: str, budget: Budget, looping: set[int]
    ) -> None:
        self._walker, self._carried = walker, walker.carried
        self._fresh, self._budget, self._looping = fresh, budget, looping
        self._seen: set[frozenset[tuple[int, ...]]] = set()
        self.doubles: list[Double] = []
        self.undecided: list[Way] = []
        for broker in sorted(starts):
            if len(self.doubles) >= MOST_WITNESSES:
                break
            self._from(broker)

    def _from(self, broker: int) -> None:
        """Look for walks that begin at a broker, in each of its accounts."""
        leaving = self._walker.leaving(broker)
        for account in dict.fromkeys(way.flow.account for way in leaving):
            first = [way for way in leaving if way.flow.account in (account, None)]
            steps = self._steps(first)
            if self._budget.left < 0:
                self.undecided.append(first[0])
            self.doubles += self._met((broker, account), steps)

    def _steps(self, first: list[Way]) -> list[Step]:
        """All steps from these ways on; none where the one name that is looked at gets into a loop."""
        found = []
        for step in self._walker.steps(self._walker.starts(first), self._admits):
            if step.way.number in self._looping:
                return []
            found.append(step)
        return found if self._budget.left >= 0 else []

    def _admits(self, step: Step) -> bool:
        """Whether to go on: not with names that are in a loop, nor too often or too long."""
        if not self._budget.spend(step.cargo) or self._carried:
            return self._budget.left >= 0
        is_short = len(step.cargo.renaming.new) <= LONGEST_NAME
        return is_short and step.way.number not in self._looping and _turns(step) <= _MOST_TURNS

    def _met(self, start: tuple[int, str | None], steps: list[Step]) -> Iterator[Double]:
        """The walks that meet, at the start or elsewhere."""
        arrived: dict[tuple[int, str | None], ByWords[Step]] = {}
        for step in steps:
            here = step.way.target, step.account
            if here == start and (names := self._back(step)) is not None:
                yield from self._new([], step.walk(), names)
            others = arrived.setdefault(here, ByWords())
            for earlier in others.meeting(step.cargo.names.pattern):
                if (names := self._same(earlier, step)) is not None:
                    yield from self._new(earlier.walk(), step.walk(), names)
            others.add(step.cargo.names.pattern, step)

    def _back(self, step: Step) -> Names | None:
        """The names that are again what they were when they set out."""
        return step.cargo.names if self._carried or step.cargo.is_as_before else None

    def _same(self, one: Step, other: Step) -> Names | None:
        """The names that both steps bring under one name; None where there are none."""
        if one.way.number == other.way.number:
            return None
        if self._carried:
            return one.cargo.names
        return next(iter(_common(one.cargo, other.cargo, other.way.rules, self._fresh)), None)

    def _new(self, one: list[Way], other: list[Way], names: Names) -> Iterator[Double]:
        """The pair of walks, unless they part later than at their start, are known, or deliver once."""
        if one and one[0].number == other[0].number:
            return
        if all(way.flow.once for way in (*one, *other)):
            return
        key = frozenset(tuple(way.link for way in walk) for walk in (one, other))
        if key not in self._seen:
            self._seen.add(key)
            yield Double(one, other, names)


def _turns(step: Step) -> int:
    """How often a walk has taken the way that it ends with."""
    number, turns = step.way.number, 0
    at: Step | None = step
    while at is not None:
        turns += at.way.number == number
        at = at.before
    return turns


def _common(one: Cargo, other: Cargo, rules: Rules, fresh: str) -> Iterator[Names]:
    """The names that are in both cargos, and are called alike in both by now."""
    if not _called_alike(one, other):
        return
    for pattern in meet(one.names.pattern, other.names.pattern, rules):
        names = less(Names(pattern), one.names.without | other.names.without, rules)
        if example(names, rules, fresh) is not None:
            yield names


def _called_alike(one: Cargo, other: Cargo) -> bool:
    """Whether a name that is in both has become the same in both."""
    if one.fixed is not None or other.fixed is not None:
        return one.fixed == other.fixed
    short, long = sorted((one.renaming, other.renaming), key=lambda renaming: len(renaming.old))
    return short.new + long.old[len(short.old) :] == long.new
