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
                yield from self._heard(None, step, names)
            others = arrived.setdefault(here, ByWords())
            for earlier in others.meeting(step.cargo.names.pattern):
                if (names := self._same(earlier, step)) is not None:
                    yield from self._heard(earlier, step, names)
            others.add(step.cargo.names.pattern, step)

    def _heard(self, earlier: Step | None, step: Step, names: Names) -> Iterator[Double]:
        """The pair of walks to where two steps meet, or, if clients there don't hear both, beyond.

        Without an earlier step, the other one has come back to the start.
        """
        one = earlier.walk() if earlier else []
        if step.is_heard and (earlier is None or earlier.is_heard):
            yield from self._new(one, step.walk(), names)
            return
        for way in self._walker.candidates(step):
            goes_on = self._walker.may_go(step, way) and (not earlier or self._walker.may_go(earlier, way))
            for beyond in self._walker.further(step, way) if goes_on and not way.stays else ():
                yield from self._new([*one, way], beyond.walk(), beyond.cargo.names)

    def _back(self, step: Step) -> Names | None:
        """The names that are again what they were when they set out."""
        return step.cargo.names if self._carried else step.cargo.unchanged(step.way.rules)

    def _same(self, one: Step, other: Step) -> Names | None:
        """The names that both steps bring under one name; None where there are none."""
        if one.way.number == other.way.number:
            return None
        if self._carried:
            return one.cargo.names
        return next(iter(_common(one.cargo, other.cargo, other.way.rules, self._fresh)), None)

    def _new(self, one: list[Way], other: list[Way], names: Names) -> Iterator[Double]:
        """The pair of walks, unless they part later than at their start, are known, or deliver once.

        A queue of RabbitMQ gets a message once, whatever bindings lead to it, and gives it to one shovel.
        Lines of one bridge of Mosquitto that match the same names are told by themselves.
        """
        if one and one[0].number == other[0].number:
            return
        if all(way.flow.once for way in (*one, *other)):
            return
        key = frozenset(tuple(way.link for way in walk) for walk in (one, other))
        if len(key) == 1 and all(walk and walk[-1].flow.routes_once for walk in (one, other)):
            return
        if other[0].first_wins and _directions(one) == _directions(other):
            return
        if one and one[0].flow.competes_for and one[0].flow.competes_for == other[0].flow.competes_for:
            return
        if key not in self._seen:
            self._seen.add(key)
            yield Double(one, other, names)


def _directions(walk: list[Way]) -> list[tuple[object, ...]]:
    """The links of a walk, each with its direction."""
    return [way.direction for way in walk]


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
    fixed, free = (other, one) if one.fixed is None else (one, other)
    if fixed.fixed is not None and free.fixed is None:
        name = free.before(fixed.fixed)
        if name is not None and free.has(name, rules) and fixed.has(name, rules):
            yield Names(name)
        return
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
