"""Loops: walks after which a message is where it was, under the same name or under one that grows."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from meshwright.deploy.lint.names import Names
from meshwright.deploy.lint.walking import ANYTHING, Cargo, Step, Walker, may_follow, taken
from meshwright.deploy.lint.ways import Way
from meshwright.deploy.mesh import Broker, Place

MOST_WITNESSES = 20
"""How many loops of one part of the mesh are shown; the first one says how many links are on loops."""


LONGEST_NAME = 200
"""Words that are put before a name: beyond, a search gives up. Mosquitto refuses names with more levels."""


_MOST_FROM_ONE_WAY = 20_000
"""How much of the budget the search from one way may spend."""


class Loop(NamedTuple):
    """A closed walk."""

    walk: list[Way]
    names: Names
    grows: bool
    links: int
    """How many links of this part of the mesh are on loops."""


class Budget:
    """How much may still be looked at before the answer is "not decided"."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def spend(self, cargo: Cargo) -> bool:
        """Take one step, which costs more where names are followed; False where nothing is left."""
        self.left -= 1 if cargo is ANYTHING else 5 + len(cargo.renaming.new) + len(cargo.names.without)
        return self.left >= 0


class LoopSearch:
    """Finds the loops among ways that hang together.

    Attributes:
        loops: what was found, each the shortest that begins with its first way.
        looping: the numbers of the ways that are on loops.
    """

    def __init__(
        self, ways: Sequence[Way], brokers: Sequence[Broker], fresh: str, budget: Budget, *, carried: bool
    ) -> None:
        self._fresh, self._carried, self._budget = fresh, carried, budget
        self._brokers = brokers
        self._deepest = max((len(way.names.pattern) + len(way.add) for way in ways), default=0)
        self._longest = min(max(2 * self._deepest + 8, sum(_growth(way) for way in ways)), LONGEST_NAME)
        self._broken_off: list[list[Way]] = []
        self.loops: list[Loop] = []
        self.looping: set[int] = set()
        endless = [way for way in ways if way.flow.most_hops is None and not way.flow.once]
        for part in knots(endless, list(self._followers(endless))):
            self._search(part, grows=False)
            if not carried:
                self._search(part, grows=True)

    @property
    def undecided(self) -> list[Way]:
        """Where walks begin that were broken off before they closed or ended, and that no loop explains."""
        return [walk[0] for walk in self._broken_off if not any(way.number in self.looping for way in walk)]

    def _followers(self, ways: Sequence[Way]) -> Iterator[tuple[int, int]]:
        """Pairs of ways, by their places, of which the second may take what the first brings."""
        places: dict[object, list[int]] = {}
        for place, way in enumerate(ways):
            places.setdefault(way.line if self._carried else way.number, []).append(place)
        walker = Walker(ways, self._brokers, self._fresh, carried=self._carried)
        for place, way in enumerate(ways):
            for step in walker.starts([way]):
                for following in walker.candidates(step):
                    if walker.may_go(step, following):
                        at = places[following.line if self._carried else following.number]
                        yield from ((place, other) for other in at)

    def _search(self, part: list[Way], *, grows: bool) -> None:
        walker = Walker(part, self._brokers, self._fresh, carried=self._carried)
        found: dict[frozenset[Place], Loop] = {}
        covered: set[int] = set()
        for start in walker.ways:
            if len(found) == MOST_WITNESSES:
                break
            loop = None if self._mark(start) in covered else self._through(start, walker, grows)
            if loop is not None:
                found.setdefault(frozenset(way.flow.place for way in loop.walk), loop)
                covered |= {self._mark(way) for way in loop.walk}
        if found:
            on_loops = {self._mark(way) for way in part} if self._carried else covered
            ways = [way for way in part if self._mark(way) in on_loops]
            self.looping |= {way.number for way in ways}
            links = len({way.link for way in ways})
            self.loops += [loop._replace(links=links) for loop in found.values()]

    def _mark(self, way: Way) -> int:
        """What one loop is shown of: a link where all ways carry the same names, and otherwise a way."""
        return way.link if self._carried else way.number

    def _through(self, start: Way, walker: Walker, grows: bool) -> Loop | None:
        """The shortest loop that begins with this way, and on which no name is shorter than there.

        Every loop is found so from the place where its names are shortest. If it is one that `grows`, names
        are longer after it.
        """

        def admits(step: Step) -> bool:
            return step.cargo.growth >= 0

        least = self._budget.left - _MOST_FROM_ONE_WAY
        for step in walker.steps(walker.starts([start]), admits):
            enough = self._budget.spend(step.cargo) and self._budget.left >= least
            if not enough or len(step.cargo.renaming.new) > self._longest:
                self._broken_off.append(step.walk())
                return None
            if not walker.may_go(step, start) or not _may_turn(step, start):
                continue
            if grows and step.cargo.growth > 0 and (names := self._going_on(step)) is not None:
                return Loop(step.walk(), names, True, 0)
            if not grows and (names := self._same(step.cargo, start)) is not None:
                return Loop(step.walk(), names, False, 0)
        return None

    def _same(self, cargo: Cargo, start: Way) -> Names | None:
        """The names that are again what they were; None where there are none."""
        return cargo.names if self._carried else cargo.unchanged(start.rules)

    def _going_on(self, step: Step) -> Names | None:
        """The names with which the walk can be repeated until no filter sees more than the words it adds."""
        walk = step.walk()
        cargos = [step.cargo]
        for _ in range(self._deepest + 2):
            for way in walk:
                cargos = [new for cargo in cargos for new in taken(cargo, way, self._fresh)]
        return cargos[0].names if cargos else None


def _may_turn(step: Step, start: Way) -> bool:
    """Whether the walk to a step may begin again behind its first way: what came before may forbid it."""
    walk = step.walk()
    again = step._replace(way=start, before=step)
    return may_follow(again._replace(account=start.flow.target_account or step.account), walk[1 % len(walk)])


def _growth(way: Way) -> int:
    return max(len(way.add) - len(way.strip), 0)


def knots(ways: Sequence[Way], followers: Sequence[tuple[int, int]]) -> list[list[Way]]:
    """The ways that can be reached from themselves, in parts that reach each other."""
    if not followers:
        return []
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rows, columns = np.array(followers).T
    shape = (len(ways), len(ways))
    graph = coo_array((np.ones(len(rows), np.int8), (rows, columns)), shape=shape).tocsr()
    _, part_of = connected_components(graph, connection="strong")
    own = set(rows[rows == columns].tolist())
    found: dict[int, list[int]] = {}
    for place, part in enumerate(part_of.tolist()):
        found.setdefault(part, []).append(place)
    return [[ways[place] for place in part] for part in found.values() if len(part) > 1 or part[0] in own]
