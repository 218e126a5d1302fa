"""Flows made ready for walking: filters as patterns, prefixes as whole words, and what earlier lines take."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

import pyarrow as pa

from meshwright.deploy.clusters import components
from meshwright.deploy.lint.names import ByWords, Names, Renaming, Words, less, meet
from meshwright.deploy.mesh import SERVICE_STAGE, STREAM_STAGE, Broker, Flow, Note, Place
from meshwright.filters.dialects import Dialect, dialect_of
from meshwright.filters.filter import rules_of
from meshwright.filters.parsing import parse_filters
from meshwright.filters.patterns import ANY, MANY, Pattern, Rules, has_simple_form
from meshwright.runtime.errors import quoted

DIALECT_OF_KIND = {"mosquitto": "mqtt", "nats": "nats", "rabbitmq": "amqp", "zenoh": "zenoh"}

STATE_OF_LINK: Pattern = ("$SYS", "broker", "connection", ANY, "state")
"""The only names with $SYS that Mosquitto takes from clients, bridges included."""

_CONTROL: Pattern = ("$CONTROL",)
"""How names begin that Mosquitto takes as orders to itself, and never delivers."""

_MOST_PAIRS = 200_000
"""Pairs of lines of one link that may match the same names; links that make more are not followed."""


@dataclass(frozen=True, eq=False, slots=True)
class Way:
    """One flow between two brokers of the mesh.

    Attributes:
        number: of the way, in the order of the flows.
        flow: as the configuration has it.
        source: number of the broker from which it leads.
        target: number of the broker to which it leads.
        link: number of its link.
        opener: number of the broker whose configuration opens the link.
        names: what it takes, at the source; names that an earlier line of the link takes are left out.
        denied: patterns of names that do not cross.
        stopped_by_wildcards: patterns of names that do not cross where somebody subscribes with wildcards.
        strip: the first words of each name, which are replaced.
        add: what they are replaced by.
        becomes: the name that everything gets, if there is one.
        rules: of matching, where it begins.
        first_wins: whether of the lines of the link that match a name only the first counts.
        clusters: the names of the clusters of the brokers at its source and target, where they have any.
    """

    number: int
    flow: Flow
    source: int
    target: int
    link: int
    opener: int
    names: Names
    denied: tuple[Pattern, ...]
    stopped_by_wildcards: tuple[Pattern, ...]
    strip: Words
    add: Words
    becomes: Words | None
    rules: Rules
    first_wins: bool
    clusters: tuple[str | None, str | None] = (None, None)

    @property
    def renames(self) -> bool:
        """Whether names are not the same behind it."""
        return self.strip != self.add or self.becomes is not None

    @property
    def is_simple(self) -> bool:
        """Whether its patterns have wildcards for many words only at the end."""
        return has_simple_form(self.names.pattern) and all(map(has_simple_form, self.denied))

    def behind(self, words: Words) -> Words:
        """What a name that crosses is called behind it."""
        return self.becomes if self.becomes is not None else self.add + words[len(self.strip) :]

    @property
    def beside_wildcards(self) -> "Way":
        """The same way where somebody subscribes with wildcards, and stops what they stop."""
        return _without(replace(self, denied=(*self.denied, *self.stopped_by_wildcards)), [])

    @property
    def stays(self) -> bool:
        """Whether it leads from a broker to itself: between accounts, or by a link to itself."""
        return self.source == self.target

    @property
    def imports_service(self) -> bool:
        """Whether it takes requests from an account of NATS to the one that exports a service."""
        return self.flow.stage == SERVICE_STAGE

    @property
    def imports_stream(self) -> bool:
        """Whether it brings a stream of one account of NATS into another."""
        return self.flow.stage == STREAM_STAGE

    @property
    def rank(self) -> tuple[bool, int]:
        """The order in which lines of a link count: those of Mosquitto that have prefixes come first."""
        return self.first_wins and not self.flow.prefixed, self.number

    @property
    def direction(self) -> tuple[object, ...]:
        """Its link, and from where to where it leads."""
        flow = self.flow
        return self.link, self.source, self.target, flow.pulls, flow.account, flow.target_account

    @property
    def line(self) -> tuple[object, ...]:
        """Link and direction: a name crosses once, whatever the lines that match it.

        There are two exceptions. Each import of NATS between two accounts delivers. And what a group of
        Mosquitto's subscribers shares goes back over the link, which it does not by other lines.
        """
        if self.first_wins:
            return *self.direction, self.flow.competes_for
        return *self.direction, self.number if self.stays else None


class Ways(NamedTuple):
    """All ways of a mesh, and what could not be made one."""

    ways: list[Way]
    brokers: list[Broker]
    notes: list[Note]
    leading_out: frozenset[str] = frozenset()
    """The brokers from which links lead to others that are not in the mesh."""

    def dialect(self, broker: int) -> Dialect:
        """In which the clients of a broker write names."""
        return dialect_of(DIALECT_OF_KIND[self.brokers[broker].kind])


def ways_of(brokers: Sequence[Broker], flows: Iterable[Flow], most_pairs: int = _MOST_PAIRS) -> Ways:
    """The flows between brokers of the mesh as ways, and a note for each that can't be followed."""
    number_of = {broker.name: number for number, broker in enumerate(brokers)}
    flows = list(flows)
    known = [flow for flow in flows if flow.source in number_of and flow.target in number_of]
    maker = _Maker(brokers, number_of, known)
    out = frozenset(flow.source for flow in flows if flow.target not in number_of)
    found = Ways([], list(brokers), [], out)
    refused = []
    for flow in known:
        made = maker.way(len(found.ways), flow)
        if isinstance(made, Way):
            found.ways.append(made)
        elif made is not None:
            found.notes.append(made)
        else:
            refused.append(flow)
    found.notes.extend(_of_refused(refused, {way.flow.place for way in found.ways}))
    ways, notes = _in_order(found.ways, most_pairs)
    return found._replace(ways=ways, notes=[*found.notes, *notes])


def patterns_of(texts: Iterable[str], dialect: Dialect) -> dict[str, Pattern]:
    """By text, the patterns of those that are filters of the dialect."""
    distinct = [text for text in dict.fromkeys(texts) if _is_unicode(text)]
    parsed = parse_filters(pa.array(distinct, pa.string()), dialect)
    numbers = parsed.number_of.tolist()
    return {
        text: parsed.patterns.pattern(number)
        for text, number in zip(distinct, numbers, strict=True)
        if number >= 0
    }


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class _Maker:
    """Makes ways; filters of a dialect are read all at once."""

    def __init__(self, brokers: Sequence[Broker], number_of: Mapping[str, int], flows: list[Flow]) -> None:
        self._brokers, self._number_of = brokers, number_of
        self._links: dict[str, int] = {}
        self._routed = components((flow.source, flow.target) for flow in flows if flow.is_route)
        texts: dict[str, list[str]] = {}
        for flow in flows:
            own = flow.filter, *flow.denies, *flow.stopped_by_wildcards
            texts.setdefault(self._dialect(flow).name, []).extend(own)
        self._patterns = {name: patterns_of(own, dialect_of(name)) for name, own in texts.items()}

    def _cluster(self, name: str) -> str | None:
        """The name of a broker's cluster; where members make up names, they agree on one."""
        first = self._routed.get(name, [name])[0]
        return self._brokers[self._number_of[first]].cluster

    def _opener(self, flow: Flow) -> int:
        return self._number_of[flow.target if flow.pulls else flow.source]

    def _dialect(self, flow: Flow) -> Dialect:
        return dialect_of(DIALECT_OF_KIND[self._brokers[self._opener(flow)].kind])

    def way(self, number: int, flow: Flow) -> Way | Note | None:
        """The way of a flow, or why there is none; None where the target refuses all that would cross."""
        dialect = self._dialect(flow)
        patterns = self._patterns[dialect.name]
        if flow.filter not in patterns:
            return _not_decided(flow, f"{quoted(flow.filter)} is no {dialect.filter_word}")
        pattern = _with_rest(patterns[flow.filter], flow.strip, dialect)
        change = _whole_words(pattern, flow, dialect)
        if change is None:
            return _not_decided(flow, "the prefixes cut a level that is a wildcard")
        if self._brokers[self._number_of[flow.target]].kind == "mosquitto":
            left = _not_refused(pattern, Renaming(*change), rules_of(dialect))
            if left is None:
                return None
            pattern = left
        opener = self._opener(flow)
        return Way(
            number=number,
            flow=flow,
            source=self._number_of[flow.source],
            target=self._number_of[flow.target],
            link=self._links.setdefault(flow.link, len(self._links)),
            opener=opener,
            names=Names(pattern),
            denied=tuple(patterns[text] for text in flow.denies if text in patterns),
            stopped_by_wildcards=tuple(
                patterns[text] for text in flow.stopped_by_wildcards if text in patterns
            ),
            strip=change[0],
            add=change[1],
            becomes=None if flow.becomes is None else tuple(flow.becomes.split(dialect.separator)),
            rules=rules_of(dialect),
            first_wins=self._brokers[opener].kind == "mosquitto",
            clusters=(self._cluster(flow.source), self._cluster(flow.target)),
        )


def _not_decided(flow: Flow, why: str) -> Note:
    return Note("not-decided", "warning", f"{why}; what crosses by this line is not followed", flow.place)


def _too_many_pairs(flow: Flow) -> Note:
    said = (
        "what crosses this link is not followed: more of its lines may match the same names than lint "
        "compares; use fewer wildcards at the start of filters"
    )
    return Note("not-decided", "warning", said, flow.place)


def _of_refused(flows: Iterable[Flow], carrying: Container[Place]) -> Iterator[Note]:
    """A note for each line of which the target refuses all; the line may carry something the other way."""
    for place, flow in {flow.place: flow for flow in flows}.items():
        how = "crosses" if place not in carrying else "comes in" if flow.pulls else "goes out"
        said = (
            f"nothing {how} by this line: Mosquitto takes no names that begin with $SYS (except states of "
            f"links) or $CONTROL from a bridge; give the names another prefix, or remove the line"
        )
        yield Note("useless-line", "warning", said, place)


def _not_refused(pattern: Pattern, change: Renaming, rules: Rules) -> Pattern | None:
    """What Mosquitto takes of a pattern from a client: of names that begin with $SYS, the states of links.

    Those with $CONTROL are not delivered at all.
    """
    behind = change.of(pattern)
    if _CONTROL in (pattern[:1], behind[:1]):
        return None
    if behind[:1] != STATE_OF_LINK[:1]:
        return pattern
    return next(map(change.back, meet(behind, STATE_OF_LINK, rules)), None)


def _with_rest(pattern: Pattern, strip: str, dialect: Dialect) -> Pattern:
    """The pattern of those names that really begin with the prefix: of `a/#` with `a/`, not `a` itself."""
    words = tuple(strip.split(dialect.separator)[:-1])
    return (*words, ANY, MANY) if words and pattern == (*words, MANY) else pattern


def _whole_words(pattern: Pattern, flow: Flow, dialect: Dialect) -> tuple[Words, Words] | None:
    """Which first words become which, where a prefix may end inside a word; None where that is a wildcard."""
    cut = dialect.separator
    strip, add = flow.strip.split(cut), flow.add.split(cut)
    if strip[-1] == "" and add[-1] == "":
        return tuple(strip[:-1]), tuple(add[:-1])
    at = len(strip) - 1
    word = pattern[at] if at < len(pattern) else ""
    if not isinstance(word, str):
        return None
    rest = word[len(strip[-1]) :]
    return (*strip[:-1], word), (*add[:-1], add[-1] + rest)


def _in_order(ways: list[Way], most_pairs: int) -> tuple[list[Way], list[Note]]:
    """The ways, each without the names that an earlier line of its link takes.

    Links are left out, with a note, from the first one on whose lines make more than `most_pairs` pairs with
    those of earlier links.
    """
    lines: dict[tuple[object, ...], list[Way]] = {}
    for way in ways:
        lines.setdefault(way.line, []).append(way)
    changed: dict[Way, Way | None] = {}
    notes: list[Note] = []
    for own in lines.values():
        pairs = list(islice(may_meet(own), most_pairs + 1))
        most_pairs -= len(pairs)
        if most_pairs >= 0:
            changed.update(_first_wins(own, pairs))
        else:
            most_pairs = 0
            changed.update(dict.fromkeys(own))
            notes.append(_too_many_pairs(own[0].flow))
    left = (changed.get(way, way) for way in ways)
    return [way for way in left if way is not None], list(dict.fromkeys(notes))


def may_meet(ways: Sequence[Way]) -> Iterator[tuple[Way, Way]]:
    """Pairs of ways, less those whose filters have different words in one place."""
    earlier: ByWords[Way] = ByWords()
    for way in ways:
        for other in earlier.meeting(way.names.pattern):
            yield other, way
        earlier.add(way.names.pattern, way)


def _first_wins(lines: list[Way], pairs: Iterable[tuple[Way, Way]]) -> Iterator[tuple[Way, Way]]:
    """What is left to each line behind those before it."""
    taken: dict[Way, list[Pattern]] = {way: [] for way in lines}
    for pair in pairs:
        earlier, later = sorted(pair, key=attrgetter("rank"))
        if _takes_from(earlier, later):
            taken[later].append(earlier.names.pattern)
    for way in lines:
        yield way, _without(way, taken[way])


def _takes_from(earlier: Way, way: Way) -> bool:
    """Whether names of a line cross by an earlier line instead, or alike."""
    return earlier.first_wins or (earlier.strip, earlier.add, earlier.becomes) == (
        way.strip,
        way.add,
        way.becomes,
    )


def _without(way: Way, taken: list[Pattern]) -> Way:
    names = less(way.names, [*taken, *way.denied], way.rules)
    return way if names == way.names else replace(way, names=names)
