"""Loops and doubled deliveries of a whole mesh."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from meshwright.deploy.lint.doubles import DoubleSearch
from meshwright.deploy.lint.findings import Finding
from meshwright.deploy.lint.loops import Budget, LoopSearch
from meshwright.deploy.lint.names import Names, Words, example, is_wild, matches
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
    """

    def __init__(self, mesh: Ways, most_steps: int = MOST_STEPS) -> None:
        self._mesh = mesh
        self._fresh = fresh_word_of(mesh.ways)
        self._budget = Budget(most_steps)
        self._witnesses = Witnesses(mesh, self._fresh)
        self.findings: list[Finding] = []
        self.looping: set[int] = set()
        self._told: set[frozenset[int]] = set()
        self._refused = self._find_refused()
        self._stopped = _stopped_by_wildcards(mesh)
        carrying = [way for way in mesh.ways if self._carries(way)]
        for part in parts(list(self._surely(carrying))):
            self._search(part, self._tell)
        unsure = self._refused | self._stopped
        for part in parts(carrying) if unsure else ():
            if not unsure.isdisjoint(way.number for way in part):
                self._search(part, self._tell_unsure)

    def _carries(self, way: Way) -> bool:
        """Whether anything is left to a way by the lines before it."""
        return not way.names.without or example(way.names, way.rules, self._fresh) is not None

    def _surely(self, ways: Iterable[Way]) -> Iterator[Way]:
        """The ways that are there and carry something, whatever servers refuse and clients subscribe to."""
        for way in ways:
            sure = way.beside_wildcards if way.number in self._stopped else way
            if not self._is_unsure(way) and self._carries(sure):
                yield sure

    def _is_unsure(self, way: Way) -> bool:
        """Whether the servers may refuse the link, which is told by itself."""
        return way.flow.may_be_refused or way.number in self._refused

    def _find_refused(self) -> set[int]:
        """The ways that NATS may refuse, since they close cycles of leaf node connections.

        Whether messages would be passed on from one to the next makes no difference.
        """
        links = (way for way in self._mesh.ways if way.flow.refuses_loops)
        leaves = core(replace(way, clusters=(None, None)) for way in links)
        search = LoopSearch(leaves, self._mesh.brokers, self._fresh, self._budget, carried=True)
        self.findings += [self._witnesses.refused(loop.walk) for loop in search.loops]
        return search.looping

    def _search(self, part: list[Way], tell: "_Tell") -> None:
        """Search ways that hang together; names that change are followed beyond the cycles, too."""
        cyclic = core(part)
        if not cyclic or all(way.flow.once for way in part):
            return
        if any(way.renames or not way.is_simple for way in part):
            self._search_names(cyclic, part, None, tell)
            return
        try:
            for region in regions(cyclic, self._fresh, _MOST_LOOKS):
                self._search_names(region.ways, region.ways, region.name, tell)
        except TooManyRegionsError:
            self._not_decided(part[0])

    def _search_names(self, cyclic: list[Way], ways: list[Way], name: Words | None, tell: "_Tell") -> None:
        """Search ways that all carry a name, or, where none is given, whatever names they carry."""
        carried = name is not None
        brokers = self._mesh.brokers
        loops = LoopSearch(cyclic, brokers, self._fresh, self._budget, carried=carried)
        walker = Walker(ways, brokers, self._fresh, carried=carried)
        starts = {way.source for way in cyclic}
        doubles = DoubleSearch(walker, starts, self._fresh, self._budget, loops.looping)
        tell(loops, doubles, Names(name) if name is not None else None)

    def _tell(self, loops: LoopSearch, doubles: DoubleSearch, names: Names | None) -> None:
        """Tell of loops and doubled deliveries, of a name where all ways carry it."""
        self.looping |= loops.looping
        self._told |= {_numbers(walks) for walks, _ in _walks(loops, doubles)}
        for loop in loops.loops:
            self.findings.append(self._witnesses.loop(loop._replace(names=names or loop.names)))
        for double in doubles.doubles:
            self.findings.append(self._witnesses.double(double._replace(names=names or double.names)))
        for way in [*loops.undecided, *doubles.undecided][:1]:
            self._not_decided(way)

    def _tell_unsure(self, loops: LoopSearch, doubles: DoubleSearch, names: Names | None) -> None:
        """Tell that what goes over links which may be refused, and over others, is not decided.

        Nor is what goes over links on which wildcards of subscribers may stop it.
        """
        for walks, own in _walks(loops, doubles):
            ways = list(chain.from_iterable(walks))
            refused = [way for way in ways if way.number in self._refused]
            if 0 < len(refused) < len(ways):
                self.findings.append(_depends_on_refused(refused[0]))
                return
            stopped = list(self._stopped_on(walks, names or own)) if not refused else []
            if stopped and _numbers(walks) not in self._told:
                self.findings.append(_depends_on_wildcards(stopped[0]))
                return

    def _stopped_on(self, walks: Iterable[Sequence[Way]], names: Names) -> Iterator[Way]:
        """The ways on which wildcards may stop an example of these names."""
        for walk in filter(None, walks):
            words = self._witnesses.example(names, walk[0])
            for way in walk:
                own = way.stopped_by_wildcards if way.number in self._stopped else ()
                if any(matches(pattern, words, way.rules) for pattern in own):
                    yield way
                words = way.behind(words)

    def _not_decided(self, way: Way) -> None:
        said = (
            "whether messages loop or arrive twice behind this line is not decided: its filters and prefixes "
            "make more cases than lint looks at; use fewer wildcards, or lint fewer brokers at once"
        )
        self.findings.append(Finding("not-decided", "warning", said, way.flow.place))


def _depends_on_refused(way: Way) -> Finding:
    said = (
        "which leaf node connections NATS refuses depends on the order in which the servers start; whether "
        "messages loop or arrive twice over this one and those that are left is not decided"
    )
    return Finding("not-decided", "warning", said, way.flow.place)


def _depends_on_wildcards(way: Way) -> Finding:
    said = (
        "what must not come in over this leaf node connection (deny_imports, or subscribe.deny of its user) "
        "goes out only while nobody subscribes with wildcards; whether messages loop or arrive twice by it "
        "is not decided: deny them on the way out as well, or say in the inventory what clients subscribe to"
    )
    return Finding("not-decided", "warning", said, way.flow.place)


def _stopped_by_wildcards(mesh: Ways) -> set[int]:
    """The numbers of ways of NATS on which wildcards stop some names; none where it is known to have none."""
    servers = [broker for broker in mesh.brokers if broker.kind == "nats"]
    wanted = [each.split(".") for server in servers for each in server.subscribes]
    plain = not any(word in ("*", ">") for words in wanted for word in words)
    imports = (way.names.pattern for way in mesh.ways if way.stays)
    if plain and all(server.clients_known for server in servers) and not any(map(is_wild, imports)):
        return set()
    return {way.number for way in mesh.ways if way.stopped_by_wildcards}


def _walks(loops: LoopSearch, doubles: DoubleSearch) -> Iterator[tuple[list[list[Way]], Names]]:
    """What was found: the walk of a loop, or both of a doubled delivery, and for which names."""
    yield from (([loop.walk], loop.names) for loop in loops.loops)
    yield from (([double.one, double.other], double.names) for double in doubles.doubles)


def _numbers(walks: Iterable[Sequence[Way]]) -> frozenset[int]:
    return frozenset(way.number for walk in walks for way in walk)


_Tell = Callable[[LoopSearch, DoubleSearch, Names | None], None]


def without_repeats(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Each finding once, although several groups of names show it by the same lines."""
    seen = set()
    for finding in findings:
        key = finding.rule, frozenset(finding.places), finding.message if not finding.path else None
        if key not in seen:
            seen.add(key)
            yield finding
