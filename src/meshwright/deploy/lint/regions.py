"""Where names can meet themselves again: the parts of a mesh that are no trees, for names that all go alike.

In a tree, nothing loops and nothing arrives twice. So trees are put aside first, for all names at once, and
then for each group of names that the filters of the rest tell apart.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from meshwright.deploy.lint.names import Words
from meshwright.deploy.lint.ways import Way
from meshwright.filters.patterns import MANY, Pattern


class Region(NamedTuple):
    """Ways that all carry one name, and are no tree."""

    name: Words
    ways: list[Way]


class TooManyRegionsError(Exception):
    """The filters tell more groups of names apart than may be looked at."""


def core(ways: Iterable[Way]) -> list[Way]:
    """The ways that are on some cycle of brokers and links, or between two such; the others form trees.

    Cost: linear.
    """
    ways = list(ways)
    graph = _Graph(ways)
    graph.peel()
    return [way for way in ways if graph.keeps(way)]


class _Graph:
    """Brokers and links, each a node; a broker is beside the links that end at it."""

    def __init__(self, ways: list[Way]) -> None:
        self._links_of: dict[int, set[int]] = {}
        self._brokers_of: dict[int, set[int]] = {}
        self._kept = {way.link for way in ways if way.stays or way.flow.echoes} | _beside_imports(ways)
        for way in ways:
            for broker in (way.source, way.target):
                self._links_of.setdefault(broker, set()).add(way.link)
                self._brokers_of.setdefault(way.link, set()).add(broker)

    def peel(self) -> None:
        """Take away what is beside one node alone, again and again."""
        links = [link for link, own in self._brokers_of.items() if len(own) == 1 and link not in self._kept]
        brokers = [broker for broker, own in self._links_of.items() if self._is_leaf(broker)]
        while links or brokers:
            if links:
                self._drop_link(links.pop(), brokers)
            else:
                self._drop_broker(brokers.pop(), links)

    def _is_leaf(self, broker: int) -> bool:
        own = self._links_of[broker]
        return len(own) == 1 and not own & self._kept

    def _drop_link(self, link: int, brokers: list[int]) -> None:
        for broker in self._brokers_of.pop(link, ()):
            self._links_of[broker].discard(link)
            if self._is_leaf(broker):
                brokers.append(broker)

    def _drop_broker(self, broker: int, links: list[int]) -> None:
        own, self._links_of[broker] = self._links_of[broker], set()
        for link in own:
            self._brokers_of[link].discard(broker)
            if len(self._brokers_of[link]) == 1:
                links.append(link)

    def keeps(self, way: Way) -> bool:
        """Whether a way is still there."""
        ends = self._brokers_of.get(way.link, ())
        return way.source in ends and way.target in ends


def _beside_imports(ways: list[Way]) -> set[int]:
    """The leaf links of NATS servers that import streams and services: only they show what comes twice."""
    servers = {way.source for way in ways if way.imports_service}
    servers &= {way.source for way in ways if way.imports_stream}
    leaves = (way for way in ways if servers and way.flow.refuses_loops)
    return {way.link for way in leaves if way.source in servers or way.target in servers}


def parts(ways: Sequence[Way]) -> list[list[Way]]:
    """The ways that hang together, part by part."""
    part_of: dict[int, int] = {}

    def find(node: int) -> int:
        while (up := part_of.setdefault(node, node)) != node:
            part_of[node] = part_of[up]
            node = part_of[node]
        return node

    for way in ways:
        part_of[find(way.source)] = find(way.target)
    found: dict[int, list[Way]] = {}
    for way in ways:
        found.setdefault(find(way.source), []).append(way)
    return list(found.values())


class _Rider(NamedTuple):
    """A way, and what its filter, or a filter of what it denies, has left behind the words read so far."""

    way: Way
    rest: Pattern
    denies: bool = False


def regions(ways: Sequence[Way], fresh: str, most: int) -> Iterator[Region]:
    """For each group of names that are carried alike, a name and the ways that carry it, if they are no tree.

    Words are read one by one, and the ways that still match are followed; as soon as they form trees, all
    names that begin so are done. No group comes twice.

    Raises:
        TooManyRegionsError: there are more than `most` beginnings to look at.
    """
    riders = [_Rider(way, way.names.pattern) for way in ways]
    riders += [_Rider(way, pattern, True) for way in ways for pattern in way.denied]
    waiting: list[tuple[Words, list[_Rider]]] = list(_next((), riders, fresh))
    if _take_all(riders):
        waiting.append(((fresh,), riders))
    done: set[frozenset[int]] = set()
    nameless = ("",) if any(way.first_wins for way in ways) else ()  # MQTT has no empty name
    looks = 0
    while waiting:
        words, alive = waiting.pop()
        looks += len(alive)
        if looks > most:
            raise TooManyRegionsError
        for part in parts(core(_carrying(alive))) if words != nameless or _take_all(alive) else ():
            key = frozenset(way.number for way in part)
            if key not in done:
                done.add(key)
                yield Region(_shown(words, alive, fresh), part)
        waiting += _next(words, alive, fresh)


def _shown(words: Words, riders: list[_Rider], fresh: str) -> Words:
    """The name to show for those that begin so: with one word more, where only `a/#` and such are left."""
    return (*words, fresh) if words[-1] != fresh and _take_all(riders) else words


def _take_all(riders: list[_Rider]) -> bool:
    """Whether whatever comes next makes no difference: only `a/#` and such are left."""
    return all(rider.rest == (MANY,) for rider in riders)


def _carrying(riders: list[_Rider]) -> list[Way]:
    """The ways that carry the name that ends here."""
    ending = [rider for rider in riders if rider.rest in ((), (MANY,))]
    denied = {rider.way.number for rider in ending if rider.denies}
    return [rider.way for rider in ending if not rider.denies and rider.way.number not in denied]


def _next(words: Words, riders: list[_Rider], fresh: str) -> Iterator[tuple[Words, list[_Rider]]]:
    """Each word that may come next, and the ways that it leaves; the fresh word stands for all others."""
    if _take_all(riders):
        return
    going = [rider for rider in riders if rider.rest]
    literal: dict[str, list[_Rider]] = {fresh: []}
    for rider in going:
        if isinstance(rider.rest[0], str):
            literal.setdefault(rider.rest[0], []).append(rider)
    wild = [rider for rider in going if not isinstance(rider.rest[0], str)]
    for word, own in literal.items():
        passed = [_step(rider) for rider in wild if not rider.way.rules.hide(word, first=not words)]
        left = [*(rider._replace(rest=rider.rest[1:]) for rider in own), *passed]
        kept = _kept(left)
        if kept:
            yield (*words, word), kept


def _step(rider: _Rider) -> _Rider:
    return rider if rider.rest == (MANY,) else rider._replace(rest=rider.rest[1:])


def _kept(riders: list[_Rider]) -> list[_Rider]:
    """Those whose ways are no trees, if all of them that still match carried a name."""
    kept = {way.number for way in core([rider.way for rider in riders if not rider.denies])}
    return [rider for rider in riders if rider.way.number in kept]
