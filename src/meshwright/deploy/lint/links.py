"""Loops and doubled deliveries of a whole mesh."""

from collections.abc import Iterator, Sequence

from meshwright.deploy.lint.doubles import DoubleSearch
from meshwright.deploy.lint.findings import Finding
from meshwright.deploy.lint.loops import Budget, LoopSearch
from meshwright.deploy.lint.names import Names, Words, example
from meshwright.deploy.lint.regions import TooManyRegionsError, core, parts, regions
from meshwright.deploy.lint.walking import Walker
from meshwright.deploy.lint.ways import Way, Ways
from meshwright.deploy.lint.witnesses import Witnesses
from meshwright.filters.automata import fresh_word

MOST_STEPS = 500_000
"""Steps of walks after which the rest of the mesh is not decided; steps that follow names count more."""

_MOST_LOOKS = 3_000_000
"""Filters, each at the beginnings of names that it matches, that are looked at to tell names apart."""


def fresh_word_of(ways: Sequence[Way]) -> str:
    """A word that no filter of the ways has."""
    words = {
        word
        for way in ways
        for pattern in (way.names.pattern, *way.names.without, way.add, way.becomes or ())
        for word in pattern
        if isinstance(word, str)
    }
    return fresh_word(words)


class LinkSearch:
    """Looks for loops and doubled deliveries, part by part.

    Attributes:
        findings: what was found.
        looping: the numbers of ways that are on loops.
        refused: the numbers of ways that a server refuses.
    """

    def __init__(self, mesh: Ways, most_steps: int = MOST_STEPS) -> None:
        self._mesh = mesh
        self._fresh = fresh_word_of(mesh.ways)
        self._budget = Budget(most_steps)
        self._witnesses = Witnesses(mesh, self._fresh)
        self.findings: list[Finding] = []
        self.looping: set[int] = set()
        self.refused = self._find_refused()
        carrying = [way for way in mesh.ways if way.number not in self.refused and self._carries(way)]
        for part in parts(carrying):
            self._search(part)

    def _carries(self, way: Way) -> bool:
        """Whether anything is left to a way by the lines before it."""
        return not way.names.without or example(way.names, way.rules, self._fresh) is not None

    def _find_refused(self) -> set[int]:
        """The ways that NATS may refuse, since they close cycles of leaf node connections."""
        leaves = core(way for way in self._mesh.ways if way.flow.refuses_loops)
        search = LoopSearch(leaves, self._mesh.brokers, self._fresh, self._budget, carried=True)
        self.findings += [self._witnesses.refused(loop.walk) for loop in search.loops]
        return search.looping

    def _search(self, part: list[Way]) -> None:
        """Search ways that hang together; names that change are followed beyond the cycles, too."""
        cyclic = core(part)
        if not cyclic:
            return
        if any(way.renames or not way.is_simple for way in part):
            self._search_names(cyclic, part, None)
            return
        try:
            for region in regions(cyclic, self._fresh, _MOST_LOOKS):
                self._search_names(region.ways, region.ways, region.name)
        except TooManyRegionsError:
            self._not_decided(part[0])

    def _search_names(self, cyclic: list[Way], ways: list[Way], name: Words | None) -> None:
        """Search ways that all carry a name, or, where none is given, whatever names they carry."""
        carried = name is not None
        brokers = self._mesh.brokers
        loops = LoopSearch(cyclic, brokers, self._fresh, self._budget, carried=carried)
        walker = Walker(ways, brokers, self._fresh, carried=carried)
        starts = {way.source for way in cyclic}
        doubles = DoubleSearch(walker, starts, self._fresh, self._budget, loops.looping)
        self.looping |= loops.looping
        names = Names(name) if name is not None else None
        for loop in loops.loops:
            self.findings.append(self._witnesses.loop(loop._replace(names=names or loop.names)))
        for double in doubles.doubles:
            self.findings.append(self._witnesses.double(double._replace(names=names or double.names)))
        for way in [*loops.undecided, *doubles.undecided][:1]:
            self._not_decided(way)

    def _not_decided(self, way: Way) -> None:
        said = (
            "whether messages loop or arrive twice behind this line is not decided: its filters and prefixes "
            "make more cases than lint looks at; use fewer wildcards, or lint fewer brokers at once"
        )
        self.findings.append(Finding("not-decided", "warning", said, way.flow.place))


def without_repeats(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Each finding once, although several groups of names show it by the same lines."""
    seen = set()
    for finding in findings:
        key = finding.rule, frozenset(finding.places), finding.message if not finding.path else None
        if key not in seen:
            seen.add(key)
            yield finding
