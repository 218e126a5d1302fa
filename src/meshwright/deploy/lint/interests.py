"""What clients want, where the inventory says so: subscribers out of reach, and links in vain."""

from collections.abc import Iterator
from typing import NamedTuple

from meshwright.deploy.lint.findings import Finding, Stop
from meshwright.deploy.lint.names import Names, Words, example, matches, meet
from meshwright.deploy.lint.walking import Cargo, Step, Walker
from meshwright.deploy.lint.ways import Ways, patterns_of
from meshwright.deploy.lint.witnesses import Witnesses, shown
from meshwright.deploy.mesh import Broker
from meshwright.filters.dialects import dialect_of
from meshwright.filters.filter import rules_of
from meshwright.filters.patterns import ANY, Element, Pattern, Rules
from meshwright.runtime.errors import quoted, visible


def is_known(broker: Broker) -> bool:
    """Whether it is known what the clients of a broker publish and want."""
    return bool(broker.subscribes or broker.publishes)


class _Want(NamedTuple):
    """A filter of the clients of a broker."""

    broker: int
    text: str
    pattern: Pattern


class _Wants:
    """Filters of clients, found by broker and by their first word."""

    def __init__(self, wants: list[_Want]) -> None:
        self.all = wants
        self._of: dict[int, list[_Want]] = {}
        self._by_word: dict[Element, list[_Want]] = {}
        for want in wants:
            self._of.setdefault(want.broker, []).append(want)
            self._by_word.setdefault(_first(want.pattern), []).append(want)

    def at(self, broker: int, name: Words, rules: Rules) -> bool:
        """Whether a filter of a broker matches a name."""
        return any(matches(want.pattern, name, rules) for want in self._of.get(broker, ()))

    def meeting(self, pattern: Pattern) -> list[_Want]:
        """The filters that may meet a pattern, by their first words."""
        first = _first(pattern)
        if first is ANY:
            return self.all
        return [*self._by_word.get(first, ()), *self._by_word.get(ANY, ())]


def _first(pattern: Pattern) -> Element:
    """The first word; ANY for all that is no plain word."""
    return pattern[0] if pattern and isinstance(pattern[0], str) else ANY


class InterestSearch:
    """Sends examples of what is published over the mesh, and looks where they come.

    For each filter of a publisher, there is an example of what it shares with each filter of a subscriber,
    and with each line that leaves its broker.

    Attributes:
        findings: what was found.
    """

    def __init__(self, mesh: Ways, fresh: str, looping: set[int]) -> None:
        self._mesh, self._fresh = mesh, fresh
        self._walker = Walker([way for way in mesh.ways if way.number not in looping], mesh.brokers, fresh)
        self._witnesses = Witnesses(mesh, fresh)
        self._wanted = _Wants(self._wants("subscribes"))
        self._published = _Wants(self._wants("publishes"))
        self.findings: list[Finding] = []
        self._lost: set[tuple[int, str]] = set()
        self._vain: set[int] = set()
        for publisher in self._published.all:
            self._follow(publisher)

    def _wants(self, field: str) -> list[_Want]:
        texts: dict[str, list[str]] = {}
        for number, broker in enumerate(self._mesh.brokers):
            texts.setdefault(self._mesh.dialect(number).name, []).extend(getattr(broker, field))
        patterns = {name: patterns_of(own, dialect_of(name)) for name, own in texts.items()}
        return [
            _Want(number, text, pattern)
            for number, broker in enumerate(self._mesh.brokers)
            for text in dict.fromkeys(getattr(broker, field))
            if (pattern := patterns[self._mesh.dialect(number).name].get(text)) is not None
        ]

    def _rules(self, broker: int) -> Rules:
        return rules_of(self._mesh.dialect(broker))

    def _follow(self, publisher: _Want) -> None:
        walks: dict[Words, list[Step]] = {}
        for want in self._wanted.meeting(publisher.pattern):
            for words in self._examples(publisher, want.pattern):
                walks.setdefault(words, self._sent(publisher, words))
                self._check_reach(publisher, want, words, walks[words])
        for way in self._walker.leaving(publisher.broker):
            for words in self._examples(publisher, way.names.pattern):
                walks.setdefault(words, self._sent(publisher, words))
        for words, steps in walks.items():
            self._check_use(publisher, words, steps)

    def _examples(self, publisher: _Want, pattern: Pattern) -> Iterator[Words]:
        rules = self._rules(publisher.broker)
        for both in meet(publisher.pattern, pattern, rules):
            words = example(Names(both), rules, self._fresh)
            if words is not None:
                yield words

    def _sent(self, publisher: _Want, words: Words) -> list[Step]:
        """All steps of a message from its publisher."""
        starts = self._walker.sent(Cargo(Names(words)), publisher.broker)
        return list(self._walker.steps(starts, lambda step: True))

    def _check_reach(self, publisher: _Want, want: _Want, words: Words, steps: list[Step]) -> None:
        """Whether a message comes to a broker that wants it, under a name that its clients subscribe to.

        A name that is published there as well is taken for a local one.
        """
        own = self._published.at(want.broker, words, self._rules(want.broker))
        if own or any(step.way.target == want.broker and self._is_wanted(step) for step in steps):
            return
        if (want.broker, want.text) in self._lost:
            return
        self._lost.add((want.broker, want.text))
        source, target = self._mesh.brokers[publisher.broker], self._mesh.brokers[want.broker]
        topic = self._witnesses.text(words, publisher.broker)
        said = (
            f"clients of {quoted(target.name)} want {quoted(want.text)}, but what {quoted(source.name)} "
            f"publishes on {visible(topic)} does not get there; add a line that carries it"
        )
        path = (Stop(source.name, topic), Stop(target.name, topic))
        self.findings.append(Finding("unreachable", "error", said, target.place, topic, path))

    def _check_use(self, publisher: _Want, words: Words, steps: list[Step]) -> None:
        """Whether somebody behind each way of a message wants it; the first way in vain is told."""
        useful = {id(one) for step in steps if self._is_wanted(step) for one in _back(step)}
        for step in steps:
            before = step.before
            first = before is None or id(before) in useful
            if id(step) in useful or not first or step.way.flow.on_demand or step.way.number in self._vain:
                continue
            self._vain.add(step.way.number)
            self.findings.append(self._vainly(publisher, words, step))

    def _vainly(self, publisher: _Want, words: Words, step: Step) -> Finding:
        stops = self._witnesses.stops(step.walk(), words)
        topic = self._witnesses.text(words, publisher.broker)
        said = (
            f"a message on {visible(topic)} is carried to {visible(stops[-1].broker)}, but nobody there or "
            f"behind wants it: {shown(stops)}; narrow the filter of this line"
        )
        return Finding("carries-unwanted", "warning", said, step.way.flow.place, topic, stops)

    def _is_wanted(self, step: Step) -> bool:
        """Whether the clients of the broker where a step ends want the message, or may want it."""
        broker = step.way.target
        if not is_known(self._mesh.brokers[broker]) or self._leads_out(broker):
            return True
        return self._wanted.at(broker, _name_of(step), self._rules(broker))

    def _leads_out(self, broker: int) -> bool:
        return self._mesh.brokers[broker].name in self._mesh.leading_out


def _back(step: Step) -> Iterator[Step]:
    """The step and all before it."""
    at: Step | None = step
    while at is not None:
        yield at
        at = at.before


def _name_of(step: Step) -> Words:
    """What a single message is called behind a step."""
    if step.cargo.fixed is not None:
        return step.cargo.fixed
    return tuple(map(str, step.cargo.renaming.of(step.cargo.names.pattern)))
