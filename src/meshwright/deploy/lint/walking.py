"""Walks of messages over the ways of a mesh, shortest first."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from meshwright.deploy.lint.names import ByWords, Names, Renaming, Words, example, less, matches, meet
from meshwright.deploy.lint.ways import Way
from meshwright.deploy.mesh import Broker
from meshwright.filters.patterns import MANY, NOTHING_HIDDEN, Partial, Pattern, Rules


class Cargo(NamedTuple):
    """Names that have come some way: as they were when they set out, and what has become of them."""

    names: Names
    renaming: Renaming = Renaming()
    fixed: Words | None = None
    """The name that all of them have got, if they have."""

    @property
    def is_as_before(self) -> bool:
        """Whether every name is again what it was."""
        return self.renaming == Renaming() and self.fixed is None

    def has(self, name: Words, rules: Rules) -> bool:
        """Whether a name, as it was when it set out, is one of them."""
        without = any(matches(one, name, rules) for one in self.names.without)
        return matches(self.names.pattern, name, rules) and not without

    def before(self, name: Words) -> Words | None:
        """What was called so when it set out that has this name by now; None where it can be none."""
        old, new = self.renaming
        return old + name[len(new) :] if name[: len(new)] == new else None

    def unchanged(self, rules: Rules) -> Names | None:
        """The names that are again what they were; None where there are none."""
        if self.fixed is None:
            return self.names if self.is_as_before else None
        return Names(self.fixed) if self.has(self.fixed, rules) else None

    @property
    def growth(self) -> int:
        """How many words have been added."""
        return len(self.renaming.new) - len(self.renaming.old) if self.fixed is None else 0


def loaded(way: Way) -> list[Cargo]:
    """All that a way takes, behind it."""
    return _renamed(Cargo(way.names), way)


def taken(cargo: Cargo, way: Way, fresh: str) -> list[Cargo]:
    """What of a cargo crosses by a way, behind it. Several parts only where wildcards are inside filters."""
    if cargo.fixed is not None:
        crosses = _carries(way, cargo.fixed)
        return _renamed(cargo, way) if crosses else []
    found: list[Cargo] = []
    hidden = _passed_over(cargo, way)
    for pattern in _met(cargo, way):
        names = less(Names(pattern), [*cargo.names.without, *hidden], way.rules)
        if way.names.without:
            both = cargo.renaming.of(pattern)
            own = less(Names(both), way.names.without, _rules_behind(cargo, way)).without
            names = Names(pattern, names.without | {cargo.renaming.back(one) for one in own})
        if not names.without or example(names, way.rules, fresh) is not None:
            found += _renamed(cargo._replace(names=names), way)
    return found


def _met(cargo: Cargo, way: Way) -> Iterator[Pattern]:
    """What a way takes of a cargo by their patterns, as the names were when they set out.

    A word that a wildcard passes over where the names set out does not get in by being called otherwise.
    """
    here = cargo.renaming.of(cargo.names.pattern)
    for both in meet(here, way.names.pattern, _rules_behind(cargo, way)):
        pattern = cargo.renaming.back(both)
        yield from meet(cargo.names.pattern, pattern, way.rules) if cargo.renaming.new else [pattern]


def _has_come_first(cargo: Cargo) -> bool:
    """Whether a wildcard stands first now that did not when the names set out: no word is hidden from it."""
    old, new = cargo.renaming
    return len(old) > len(new) == 0 and _first_word(cargo.renaming.of(cargo.names.pattern)) is None


def _rules_behind(cargo: Cargo, way: Way) -> Rules:
    """Of matching what has become of a cargo with the filter of a way."""
    is_free = _has_come_first(cargo) and _first_word(way.names.pattern) is not None
    return NOTHING_HIDDEN if is_free and not way.rules.everywhere else way.rules


def _passed_over(cargo: Cargo, way: Way) -> list[Pattern]:
    """The names that have got a first word which the wildcard at the start of a filter passes over."""
    if not way.rules.hides or not _has_come_first(cargo) or _first_word(way.names.pattern) is not None:
        return []
    return [(*cargo.renaming.old, Partial((*way.rules.hides, MANY)), MANY)]


def _carries(way: Way, name: Words) -> bool:
    return matches(way.names.pattern, name, way.rules) and not any(
        matches(one, name, way.rules) for one in way.names.without
    )


def _renamed(cargo: Cargo, way: Way) -> list[Cargo]:
    if not way.renames and not way.strip:
        return [cargo]
    if way.becomes is not None:
        return [cargo._replace(fixed=way.becomes)]
    if cargo.fixed is not None:
        return [cargo._replace(fixed=way.add + cargo.fixed[len(way.strip) :])]
    return [
        cargo._replace(names=names, renaming=cargo.renaming.then(way.strip, way.add))
        for names in _that_begin(cargo, way)
    ]


def _that_begin(cargo: Cargo, way: Way) -> Iterator[Names]:
    """The names that begin with the prefix in so many words, where a wildcard for many may hide it."""
    pattern = cargo.renaming.of(cargo.names.pattern)
    if pattern[: len(way.strip)] == way.strip:
        yield cargo.names
        return
    for both in meet(pattern, (*way.strip, MANY), way.rules):
        yield cargo.names._replace(pattern=cargo.renaming.back(both))


class Step(NamedTuple):
    """One way of a walk, and what has come so far."""

    way: Way
    account: str | None
    cargo: Cargo
    before: "Step | None" = None
    been: frozenset[tuple[int, str]] = frozenset()
    """Where federation has brought it, and the virtual hosts there."""

    @property
    def key(self) -> tuple[object, ...]:
        """Alike for steps that go on alike."""
        return self.way.number, *self.state

    @property
    def state(self) -> tuple[object, ...]:
        """All that decides how a step goes on, except its way."""
        return self.account, self.cargo, self.been, self.behind_service

    @property
    def behind_service(self) -> bool:
        """Whether NATS took it into an account as a request for a service, and then at most as streams."""
        at: Step | None = self
        while at is not None and at.way.imports_stream:
            at = at.before
        return at is not None and at.way.imports_service

    @property
    def is_heard(self) -> bool:
        """Whether clients get what has come: not if NATS imported it as a stream behind a service.

        Measured with nats-server 2.15: clients of an account that imports a stream don't get what came to the
        exporting account as a request for a service at the same server; leaf nodes of the account do.
        """
        return not (self.way.imports_stream and self.behind_service)

    def walk(self) -> list[Way]:
        """The ways from the start to here."""
        found = []
        step: Step | None = self
        while step is not None:
            found.append(step.way)
            step = step.before
        return found[::-1]


class Walker:
    """Walks over some of the ways of a mesh.

    A message never goes back over the link it came by, unless that echoes. With `carried`, all ways are
    known to carry the name in question, and names are not looked at.
    """

    def __init__(
        self, ways: Sequence[Way], brokers: Sequence[Broker], fresh: str, *, carried: bool = False
    ) -> None:
        self._brokers = brokers
        self._fresh = fresh
        self.carried = carried
        self.ways = _one_each(ways) if carried else list(ways)
        self._from: dict[int, list[Way]] = {}
        self._by_words: dict[int, ByWords[Way]] = {}
        for way in self.ways:
            self._from.setdefault(way.source, []).append(way)
            if not carried:
                self._by_words.setdefault(way.source, ByWords()).add(way.names.pattern, way)
        self._by_links = all(map(_depends_on_links, self.ways))

    def starts(self, ways: Iterable[Way]) -> Iterator[Step]:
        """First steps by these ways, of all names that they carry."""
        for way in ways:
            yield from (_first_step(way, cargo) for cargo in ([ANYTHING] if self.carried else loaded(way)))

    def sent(self, cargo: Cargo, broker: int) -> Iterator[Step]:
        """First steps of a cargo from a broker."""
        for way in self.leaving(broker):
            yield from (_first_step(way, crossing) for crossing in taken(cargo, way, self._fresh))

    def leaving(self, broker: int) -> list[Way]:
        """The ways that begin at a broker."""
        return self._from.get(broker, [])

    def candidates(self, step: Step) -> Iterable[Way]:
        """The ways that begin where a step ends, less those for names with other words."""
        broker, cargo = step.way.target, step.cargo
        if self.carried or broker not in self._by_words:
            return self.leaving(broker)
        pattern = cargo.fixed if cargo.fixed is not None else cargo.renaming.of(cargo.names.pattern)
        return self._by_words[broker].meeting(pattern)

    def may_go(self, step: Step, way: Way) -> bool:
        """Whether a message may go on by this way, whatever its name."""
        last = step.way
        if way.source != last.target:
            return False
        here = self._brokers[last.target]
        if not here.relays and not here.passes(self._brokers[last.source], self._brokers[way.target]):
            return False
        return (self._by_links and way.link != last.link) or may_follow(step, way)

    def further(self, step: Step, way: Way) -> Iterator[Step]:
        """The step by a way that may come next, for each part of the cargo that crosses."""
        for cargo in [step.cargo] if self.carried else taken(step.cargo, way, self._fresh):
            account = _account_behind(way.flow.account or step.account, way)
            yield Step(way, account, cargo, step, _been_by(step, way))

    def steps(self, starts: Iterable[Step], admits: Callable[[Step], bool]) -> Iterator[Step]:
        """All steps that can be taken from the starts on, nearest first; those that go on alike only once."""
        waiting = deque(starts)
        seen = {step.key for step in waiting}
        # What a way makes of a step depends on this alone, so in dense meshes it is worked out once for many.
        states: dict[tuple[object, ...], int] = {}
        tried: set[tuple[int, int]] = set()
        while waiting:
            step = waiting.popleft()
            if not admits(step):
                continue
            yield step
            state = states.setdefault(step.state, len(states))
            for way in self.candidates(step):
                if (state, way.number) in tried or not self.may_go(step, way):
                    continue
                tried.add((state, way.number))
                for new in self.further(step, way):
                    if new.key not in seen:
                        seen.add(new.key)
                        waiting.append(new)


ANYTHING = Cargo(Names((MANY,)))
"""The cargo of walks on which names are not looked at."""


def _first_word(pattern: Pattern) -> str | None:
    """The word that all names begin with; None where they may begin with several."""
    return pattern[0] if pattern and isinstance(pattern[0], str) else None


def _first_step(way: Way, cargo: Cargo) -> Step:
    start = Step(way, way.flow.account, cargo)
    return start._replace(account=_account_behind(start.account, way), been=_been_by(start, way))


def _one_each(ways: Iterable[Way]) -> list[Way]:
    """Of the lines of a link that carry a name in one direction, the first."""
    return list({way.line: way for way in reversed(list(ways))}.values())[::-1]


def _account_behind(account: str | None, way: Way) -> str | None:
    return way.flow.target_account if way.flow.target_account is not None else account


def _been_by(step: Step, way: Way) -> frozenset[tuple[int, str]]:
    """Where federation has brought a message, with this way."""
    if way.flow.most_hops is None:
        return step.been
    account = _account_behind(way.flow.account or step.account, way)
    return step.been | {(way.source, _host(way.flow.account)), (way.target, _host(account))}


def _host(account: str | None) -> str:
    return (account or "").partition(" ")[0]


def may_follow(step: Step, way: Way) -> bool:
    """Whether what came by a step may go on by a way, whatever its name."""
    last, flow = step.way, way.flow
    if None not in (flow.account, step.account) and flow.account != step.account:
        return False
    if last.link == way.link and not flow.echoes and not _passes_itself(last, way):
        return False
    if 0 < flow.stage < last.flow.stage or _came_by_import(step, way) or _is_apart(last, way):
        return False
    if _leads_back(last, way):
        return False
    return flow.most_hops is None or _may_hop(step, way)


def _depends_on_links(way: Way) -> bool:
    """Whether nothing but its link can forbid a message to come or go on by a way, as with Mosquitto."""
    flow = way.flow
    inside = flow.account is not None or flow.target_account is not None or flow.stage > 0
    return not inside and not flow.refuses_loops and flow.most_hops is None


def _is_apart(last: Way, way: Way) -> bool:
    """Whether a NATS server would have to pass on between a route and a leaf link that it opened."""
    leaf, route = (last, way) if last.flow.apart_from_routes else (way, last)
    return leaf.flow.apart_from_routes and route.flow.is_route and leaf.opener == way.source


def _came_by_import(step: Step, way: Way) -> bool:
    """Whether a NATS server got a message by a leaf link, and imported it into an account.

    It does not pass it back by this link. If it opened the link, it passes it on by another leaf link that it
    opened only if the servers at their other ends have names of clusters, and different ones, whether a
    stream or a service was imported, and whoever listens at the server (measured with 2.15).
    """
    if not step.way.stays or not way.flow.refuses_loops:
        return False
    before: Step | None = step
    while before is not None and before.way.stays:
        before = before.before
    if before is None or not before.way.flow.refuses_loops:
        return False
    came, goes = before.way.clusters[0], way.clusters[1]
    stays_apart = None in (came, goes) or came == goes
    opened_both = before.way.opener == way.opener == way.source
    return before.way.link == way.link or (opened_both and stays_apart)


def _leads_back(last: Way, way: Way) -> bool:
    """Whether a message came by one leaf link of NATS, and another one leads to the cluster it came from.

    It is not passed on (measured with 2.15). Every server that opens leaf links has the name of a cluster.
    """
    is_leaf = last.flow.refuses_loops and way.flow.refuses_loops
    return is_leaf and way.clusters[1] is not None and last.clusters[0] == way.clusters[1]


def _passes_itself(last: Way, way: Way) -> bool:
    """Whether a link leads to the broker that opened it, where its two ends don't know each other."""
    return last.stays and way.stays and last.flow.pulls == way.flow.pulls and last.first_wins


def _may_hop(step: Step, way: Way) -> bool:
    account = _account_behind(way.flow.account or step.account, way)
    hops = max(len(step.been) - 1, 0)
    return hops < (way.flow.most_hops or 0) and (way.target, _host(account)) not in step.been
