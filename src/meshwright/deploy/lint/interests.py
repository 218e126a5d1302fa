"""What clients want, where the inventory says so: subscribers out of reach, and links in vain."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from meshwright.deploy.lint.findings import Finding, Stop
from meshwright.deploy.lint.loops import LONGEST_NAME
from meshwright.deploy.lint.names import ByWords, Names, Words, example, is_wild, matches, meet
from meshwright.deploy.lint.walking import Cargo, Step, Walker
from meshwright.deploy.lint.ways import Way, Ways, patterns_of
from meshwright.deploy.lint.witnesses import Witnesses, shown
from meshwright.deploy.mesh import Broker
from meshwright.filters.dialects import dialect_of
from meshwright.filters.filter import rules_of
from meshwright.filters.patterns import Pattern, Rules
from meshwright.runtime.errors import quoted, visible
from meshwright.runtime.wording import count

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
    """Filters of clients, found by broker and by their words."""

    def __init__(self, wants: list[_Want]) -> None:
        self.all = wants
        self._of: dict[int, list[_Want]] = {}
        self._by_words: ByWords[Pattern] = ByWords()
        self._by_pattern: dict[Pattern, dict[int, _Want]] = {}
        for want in wants:
            self._of.setdefault(want.broker, []).append(want)
            if want.pattern not in self._by_pattern:
                self._by_words.add(want.pattern, want.pattern)
            self._by_pattern.setdefault(want.pattern, {})[want.broker] = want

    def at(self, broker: int, name: Words, rules: Rules) -> bool:
        """Whether a filter of a broker matches a name."""
        return any(matches(want.pattern, name, rules) for want in self._of.get(broker, ()))

    def meeting(self, pattern: Pattern) -> Iterable[Pattern]:
        """The different filters that may meet a pattern, by their words."""
        return self._by_words.meeting(pattern)

    def missing(self, pattern: Pattern, reached: set[int]) -> list[_Want]:
        """The filters of this pattern at other brokers than these."""
        own = self._by_pattern[pattern]
        return [want for broker, want in own.items() if broker not in reached]

    def at_any(self, pattern: Pattern, brokers: Iterable[int]) -> list[_Want]:
        """The filters of this pattern at these brokers."""
        own = self._by_pattern[pattern]
        return [own[broker] for broker in brokers if broker in own]

    def forget(self, want: _Want) -> None:
        """Leave a filter out of `missing` from now on."""
        self._by_pattern[want.pattern].pop(want.broker, None)


class InterestSearch:
    """Sends examples of what is published over the mesh, and looks where they come.

    For each filter of a publisher, there is an example of what it shares with each filter of a subscriber,
    and with each line that leaves its broker; and one of what a subscriber wants, for each filter of what a
    link denies.

    Ways of which a server refuses one count as if they were all there: where leaf nodes form a cycle, the
    others still bring everything everywhere. What comes round by ways on loops is told with these, and not
    here as carried in vain.

    Attributes:
        findings: what was found.
    """

    def __init__(self, mesh: Ways, fresh: str, looping: set[int], most_steps: int = _MOST_STEPS) -> None:
        self._mesh, self._fresh = mesh, fresh
        self._walker = Walker(mesh.ways, mesh.brokers, fresh)
        self._witnesses = Witnesses(mesh, fresh)
        self._wanted = _Wants(self._wants("subscribes"))
        self._published = _Wants(self._wants("publishes"))
        self.findings: list[Finding] = []
        self._check_filters("subscribes", self._wanted.all)
        self._check_filters("publishes", self._published.all)
        self._vain = set(looping)
        self._opens_all = {number for number in range(len(mesh.brokers)) if self._opens_all_links(number)}
        self._denied: ByWords[Pattern] = ByWords()
        for pattern in dict.fromkeys(each for way in mesh.ways for each in _denied_by(way)):
            self._denied.add(pattern, pattern)
        self._left = most_steps
        self._unreached: dict[int, list[Finding]] = {}
        for publisher in self._published.all:
            if self._left < 0:
                self.findings.append(_not_followed(mesh.brokers[publisher.broker]))
                break
            self._follow(publisher)
        self.findings += map(_with_others, self._unreached.values())

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

    def _opens_all_links(self, broker: int) -> bool:
        """Whether a broker has nothing but leaf links of NATS that it opens itself."""
        ways = self._walker.leaving(broker)
        return all(way.flow.refuses_loops and way.opener == broker and not way.stays for way in ways)

    def _rules(self, broker: int) -> Rules:
        return rules_of(self._mesh.dialect(broker))

    def _follow(self, publisher: _Want) -> None:
        walks: dict[Words, _Walk] = {}
        for pattern in self._wanted.meeting(publisher.pattern):
            for words in dict.fromkeys(self._examples_for(publisher, pattern)):
                walk = walks.get(words) or self._sent(publisher, words)
                walks[words] = walk
                for want in self._wanted.missing(pattern, walk.reached):
                    self._check_reach(publisher, want, words)
                for want in self._wanted.at_any(pattern, walk.stopped):
                    self._check_wildcards(publisher, want, words, walk.stopped[want.broker])
        for way in self._walker.leaving(publisher.broker):
            for words in self._examples(publisher, way.names.pattern):
                if words not in walks:
                    walks[words] = self._sent(publisher, words)
        for words, walk in walks.items():
            self._check_use(publisher, words, walk)

    def _examples_for(self, publisher: _Want, wanted: Pattern) -> Iterator[Words]:
        """Of what is published and wanted: a name, and one of each filter of what some link denies."""
        yield from self._examples(publisher, wanted)
        rules = self._rules(publisher.broker)
        for both in meet(publisher.pattern, wanted, rules):
            for denied in self._denied.meeting(both):
                for names in map(Names, meet(both, denied, rules)):
                    words = example(names, rules, self._fresh)
                    yield from [] if words is None else [words]

    def _examples(self, publisher: _Want, pattern: Pattern) -> Iterator[Words]:
        rules = self._rules(publisher.broker)
        for both in meet(publisher.pattern, pattern, rules):
            words = example(Names(both), rules, self._fresh)
            if words is not None:
                yield words

    def _sent(self, publisher: _Want, words: Words) -> "_Walk":
        """All steps of a message from its publisher."""
        starts = self._walker.sent(Cargo(Names(words)), publisher.broker)
        steps = list(self._walker.steps(starts, self._is_passed_on))
        self._left -= sum(1 + len(step.cargo.renaming.new) // 4 for step in steps)
        wanted = [step for step in steps if self._is_wanted(step)]
        useful: set[int] = set()
        for step in wanted:
            at: Step | None = step
            while at is not None and id(at) not in useful:
                useful.add(id(at))
                at = at.before
        return _Walk(steps, {step.way.target for step in wanted}, useful, _stopped(wanted, words))

    def _check_reach(self, publisher: _Want, want: _Want, words: Words) -> None:
        """Tell of a subscriber that a message does not come to, under a name that its clients subscribe to.

        A name that is published there as well is taken for a local one.
        """
        if self._published.at(want.broker, words, self._rules(want.broker)):
            return
        self._wanted.forget(want)
        source, target = self._mesh.brokers[publisher.broker], self._mesh.brokers[want.broker]
        topic = self._witnesses.text(words, publisher.broker)
        if target.kind == source.kind and any(broker.scouts for broker in self._mesh.brokers):
            said = (
                f"whether {visible(topic)} gets from {quoted(source.name)} to {quoted(target.name)} is not "
                f"decided: by the links that files name it does not, but nodes find others by multicast; "
                f"name the link, or switch multicast off"
            )
            self.findings.append(Finding("not-decided", "warning", said, target.place))
            return
        said = (
            f"clients of {quoted(target.name)} want {quoted(want.text)}, but what {quoted(source.name)} "
            f"publishes on {visible(topic)} does not get there; add a line that carries it"
        )
        path = (Stop(source.name, topic), Stop(target.name, topic))
        found = Finding("unreachable", "error", said, target.place, topic, path)
        self._unreached.setdefault(want.broker, []).append(found)

    def _check_wildcards(self, publisher: _Want, want: _Want, words: Words, way: Way) -> None:
        """Tell of a message that NATS does not bring to a subscriber with wildcards, or beside one.

        Measured with nats-server 2.15: what a leaf node must not take in does not go out either, once
        somebody at either end has subscribed with a wildcard that may match it.
        """
        if self._published.at(want.broker, words, self._rules(want.broker)):
            return
        source, target = (self._mesh.brokers[each] for each in (publisher.broker, want.broker))
        topic = self._witnesses.text(words, publisher.broker)
        why = (
            "NATS denies what must not come in over this link (deny_imports, or subscribe.deny of its user) "
            "on the way out as well, once somebody subscribes with wildcards"
        )
        if is_wild(want.pattern):
            self._wanted.forget(want)
            said = (
                f"clients of {quoted(target.name)} want {quoted(want.text)}, but what {quoted(source.name)} "
                f"publishes on {visible(topic)} does not get there: {why}; deny less"
            )
            path = (Stop(source.name, topic), Stop(target.name, topic, way.flow.place))
            self.findings.append(Finding("unreachable", "error", said, target.place, topic, path))
        elif self._may_have_wildcards():
            said = (
                f"whether {visible(topic)} gets from {quoted(source.name)} to {quoted(target.name)} is not "
                f"decided: {why}; deny less"
            )
            self.findings.append(Finding("not-decided", "warning", said, way.flow.place))

    def _may_have_wildcards(self) -> bool:
        """Whether some client subscribes with wildcards, as far as is known."""
        known = all(map(is_known, self._mesh.brokers))
        return not known or any(is_wild(want.pattern) for want in self._wanted.all)

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
        if not step.is_heard:
            return False
        if not is_known(self._mesh.brokers[broker]) or self._leads_out(broker):
            return True
        return self._wanted.at(broker, _name_of(step), self._rules(broker))

    def _is_passed_on(self, step: Step) -> bool:
        """Whether a step is taken: names are not too long, and a NATS server has a reason to pass it on.

        It tells no server to which it has opened a leaf link what is wanted behind another such link
        (measured with 2.15); so only what its own clients want goes from one to the other. Servers that have
        other links or imports, too, are taken to pass everything on.
        """
        before, server = step.before, step.way.source
        if before is None or not _is_short(step) or not step.way.flow.refuses_loops:
            return _is_short(step)
        broker = self._mesh.brokers[server]
        if not is_known(broker) or self._leads_out(server) or server not in self._opens_all:
            return True
        return self._wanted.at(server, _name_of(before), self._rules(server))

    def _leads_out(self, broker: int) -> bool:
        return self._mesh.brokers[broker].name in self._mesh.leading_out


def _with_others(findings: list[Finding]) -> Finding:
    """The first of the findings about subscribers at one broker, and how many filters have others."""
    first, others = findings[0], len(findings) - 1
    more = f" (the same is true of {count(others, 'other filter')} there)" if others else ""
    return first._replace(message=first.message + more)


class _Walk(NamedTuple):
    """The steps of a message from its publisher, and what they are good for."""

    steps: list[Step]
    reached: set[int]
    """The brokers that it comes to and that want it, or may want it."""
    useful: set[int]
    """The ids of the steps behind which somebody wants it."""
    stopped: dict[int, Way]
    """Brokers that it comes to only by ways on which wildcards stop it, each with the first of them."""


def _stopped(steps: Iterable[Step], words: Words) -> dict[int, Way]:
    """The brokers to which all of the steps lead over ways on which wildcards stop a message of this name."""
    found: dict[int, list[Way | None]] = {}
    for step in steps:
        found.setdefault(step.way.target, []).append(_stopping(step, words))
    return {broker: ways[0] for broker, ways in found.items() if ways[0] is not None and None not in ways}


def _stopping(step: Step, words: Words) -> Way | None:
    """A way on the walk to a step on which wildcards stop a message that set out under this name."""
    at: Step | None = step
    while at is not None:
        if at.way.stopped_by_wildcards:
            name = words if at.before is None else _name_of(at.before)
            if any(matches(each, name, at.way.rules) for each in at.way.stopped_by_wildcards):
                return at.way
        at = at.before
    return None


def _denied_by(way: Way) -> tuple[Pattern, ...]:
    """The filters of what may not cross by a way."""
    return (*way.denied, *way.stopped_by_wildcards)


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
