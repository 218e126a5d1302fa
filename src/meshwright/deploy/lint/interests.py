"""What clients want, where the inventory says so: subscribers out of reach, and links in vain."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from meshwright.deploy.lint.findings import Finding, Stop
from meshwright.deploy.lint.loops import LONGEST_NAME
from meshwright.deploy.lint.names import Names, Words, example, matches, meet
from meshwright.deploy.lint.walking import Cargo, Step, Walker
from meshwright.deploy.lint.ways import Ways, patterns_of
from meshwright.deploy.lint.witnesses import Witnesses, shown
from meshwright.deploy.mesh import Broker
from meshwright.filters.dialects import dialect_of
from meshwright.filters.filter import rules_of
from meshwright.filters.patterns import ANY, Element, Pattern, Rules
from meshwright.runtime.errors import quoted, visible

_MOST_STEPS = 150_000
"""Steps of messages after which publishers that are left are not decided."""


def is_known(broker: Broker) -> bool:
    """Whether it is known what the clients of a broker publish and want."""
    return broker.clients_known


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
        self._by_word: dict[Element, dict[Pattern, None]] = {}
        self._by_pattern: dict[Pattern, dict[int, _Want]] = {}
        for want in wants:
            self._of.setdefault(want.broker, []).append(want)
            self._by_word.setdefault(_first(want.pattern), {})[want.pattern] = None
            self._by_pattern.setdefault(want.pattern, {})[want.broker] = want

    def at(self, broker: int, name: Words, rules: Rules) -> bool:
        """Whether a filter of a broker matches a name."""
        return any(matches(want.pattern, name, rules) for want in self._of.get(broker, ()))

    def meeting(self, pattern: Pattern) -> Iterable[Pattern]:
        """The different filters that may meet a pattern, by their first words."""
        first = _first(pattern)
        if first is ANY:
            return self._by_pattern
        return self._by_word.get(first, {}) | self._by_word.get(ANY, {})

    def missing(self, pattern: Pattern, reached: set[int]) -> list[_Want]:
        """The filters of this pattern at other brokers than these."""
        own = self._by_pattern[pattern]
        return [want for broker, want in own.items() if broker not in reached]

    def forget(self, want: _Want) -> None:
        """Leave a filter out of `missing` from now on."""
        self._by_pattern[want.pattern].pop(want.broker, None)


def _first(pattern: Pattern) -> Element:
    """The first word; ANY for all that is no plain word."""
    return pattern[0] if pattern and isinstance(pattern[0], str) else ANY


class InterestSearch:
    """Sends examples of what is published over the mesh, and looks where they come.

    For each filter of a publisher, there is an example of what it shares with each filter of a subscriber,
    and with each line that leaves its broker.

    Ways that a server refuses carry nothing. What comes round by ways on loops is told with these, and not
    here as carried in vain.

    Attributes:
        findings: what was found.
    """

    def __init__(
        self, mesh: Ways, fresh: str, refused: set[int], looping: set[int], most_steps: int = _MOST_STEPS
    ) -> None:
        self._mesh, self._fresh = mesh, fresh
        self._walker = Walker([way for way in mesh.ways if way.number not in refused], mesh.brokers, fresh)
        self._witnesses = Witnesses(mesh, fresh)
        self._wanted = _Wants(self._wants("subscribes"))
        self._published = _Wants(self._wants("publishes"))
        self.findings: list[Finding] = []
        self._check_filters("subscribes", self._wanted.all)
        self._check_filters("publishes", self._published.all)
        self._vain = set(looping)
        self._left = most_steps
        for publisher in self._published.all:
            if self._left < 0:
                self.findings.append(_not_followed(mesh.brokers[publisher.broker]))
                break
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

    def _check_filters(self, field: str, wants: list[_Want]) -> None:
        """Tell of what the inventory has as filters and is none in the dialect of its broker."""
        read = {(want.broker, want.text) for want in wants}
        for number, broker in enumerate(self._mesh.brokers):
            word = self._mesh.dialect(number).filter_word
            for text in dict.fromkeys(getattr(broker, field)):
                if (number, text) not in read:
                    what = f"{quoted(text)} in {field} of {quoted(broker.name)}"
                    said = f"{what} is no {word}; correct the inventory"
                    self.findings.append(Finding("unreadable", "error", said, broker.place))

    def _rules(self, broker: int) -> Rules:
        return rules_of(self._mesh.dialect(broker))

    def _follow(self, publisher: _Want) -> None:
        walks: dict[Words, _Walk] = {}
        for pattern in self._wanted.meeting(publisher.pattern):
            for words in self._examples(publisher, pattern):
                if words not in walks:
                    walks[words] = self._sent(publisher, words)
                for want in self._wanted.missing(pattern, walks[words].reached):
                    self._check_reach(publisher, want, words)
        for way in self._walker.leaving(publisher.broker):
            for words in self._examples(publisher, way.names.pattern):
                if words not in walks:
                    walks[words] = self._sent(publisher, words)
        for words, walk in walks.items():
            self._check_use(publisher, words, walk)

    def _examples(self, publisher: _Want, pattern: Pattern) -> Iterator[Words]:
        rules = self._rules(publisher.broker)
        for both in meet(publisher.pattern, pattern, rules):
            words = example(Names(both), rules, self._fresh)
            if words is not None:
                yield words

    def _sent(self, publisher: _Want, words: Words) -> "_Walk":
        """All steps of a message from its publisher."""
        starts = self._walker.sent(Cargo(Names(words)), publisher.broker)
        steps = list(self._walker.steps(starts, _is_short))
        self._left -= sum(1 + len(step.cargo.renaming.new) // 4 for step in steps)
        wanted = [step for step in steps if self._is_wanted(step)]
        useful: set[int] = set()
        for step in wanted:
            at: Step | None = step
            while at is not None and id(at) not in useful:
                useful.add(id(at))
                at = at.before
        return _Walk(steps, {step.way.target for step in wanted}, useful)

    def _check_reach(self, publisher: _Want, want: _Want, words: Words) -> None:
        """Tell of a subscriber that a message does not come to, under a name that its clients subscribe to.

        A name that is published there as well is taken for a local one.
        """
        if self._published.at(want.broker, words, self._rules(want.broker)):
            return
        self._wanted.forget(want)
        source, target = self._mesh.brokers[publisher.broker], self._mesh.brokers[want.broker]
        topic = self._witnesses.text(words, publisher.broker)
        said = (
            f"clients of {quoted(target.name)} want {quoted(want.text)}, but what {quoted(source.name)} "
            f"publishes on {visible(topic)} does not get there; add a line that carries it"
        )
        path = (Stop(source.name, topic), Stop(target.name, topic))
        self.findings.append(Finding("unreachable", "error", said, target.place, topic, path))

    def _check_use(self, publisher: _Want, words: Words, walk: "_Walk") -> None:
        """Whether somebody behind each way of a message wants it; the first way in vain is told."""
        for step in walk.steps:
            useful = id(step) in walk.useful or step.way.flow.on_demand
            first = step.before is None or id(step.before) in walk.useful
            if useful or not first or step.way.number in self._vain:
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


class _Walk(NamedTuple):
    """The steps of a message from its publisher, and what they are good for."""

    steps: list[Step]
    reached: set[int]
    """The brokers that it comes to and that want it, or may want it."""
    useful: set[int]
    """The ids of the steps behind which somebody wants it."""


def _is_short(step: Step) -> bool:
    return len(step.cargo.renaming.new) <= LONGEST_NAME


def _name_of(step: Step) -> Words:
    """What a single message is called behind a step."""
    if step.cargo.fixed is not None:
        return step.cargo.fixed
    return tuple(map(str, step.cargo.renaming.of(step.cargo.names.pattern)))


def _not_followed(broker: Broker) -> Finding:
    said = (
        f"whether what {quoted(broker.name)} and later brokers of the inventory publish is wanted and gets "
        f"there is not decided: it takes more steps than lint follows; give fewer publishers"
    )
    return Finding("not-decided", "warning", said, broker.place)
