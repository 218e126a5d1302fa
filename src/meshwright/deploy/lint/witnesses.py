"""From walks to findings: an example of the names, what it is called at each broker, and the words for it."""

from collections.abc import Iterable, Sequence

from meshwright.deploy.lint.doubles import Double
from meshwright.deploy.lint.findings import Finding, Stop
from meshwright.deploy.lint.loops import Loop
from meshwright.deploy.lint.names import Names, Words, example
from meshwright.deploy.lint.ways import Way, Ways
from meshwright.runtime.errors import visible
from meshwright.runtime.wording import count


class Witnesses:
    """Makes findings of walks in one mesh."""

    def __init__(self, mesh: Ways, fresh: str) -> None:
        self._mesh, self._fresh = mesh, fresh

    def loop(self, loop: Loop) -> Finding:
        """What to say of a loop."""
        stops = self.stops(loop.walk, self.example(loop.names, loop.walk[0]))
        topic, way = stops[0].name, shown(stops)
        more = f" ({count(loop.links, 'link')} are on such loops)" if loop.links > len(loop.walk) else ""
        if loop.grows:
            rule = "growing-loop"
            said = (
                f"a message on {visible(topic)} goes round, and its name grows with each turn: {way}; "
                f"let a filter end it, or remove one of these lines{more}"
            )
        elif _both_ends(loop.walk[0], loop.walk[-1]) and len(loop.walk) == 2:
            rule = "both-ends"
            said = (
                f"the link is declared at both ends, and a message on {visible(topic)} loops for ever: "
                f"{way}; declare it at one end{more}"
            )
        else:
            rule = "loop"
            said = (
                f"a message on {visible(topic)} loops for ever: {way}; "
                f"remove one of these lines, or narrow its filter{more}"
            )
        return Finding(rule, "error", said, loop.walk[0].flow.place, topic, stops)

    def double(self, double: Double) -> Finding:
        """What to say of a doubled delivery."""
        words = self.example(double.names, double.other[0])
        one, other = self.stops(double.one, words, double.other[0]), self.stops(double.other, words)
        topic, target = other[0].name, visible(other[-1].broker)
        place = double.other[-1].flow.place
        if not double.one:
            said = (
                f"a message on {visible(topic)} comes back to {target}, which has it already: "
                f"{shown(other)}; remove one of these lines{_or_private(double.other)}"
            )
            return Finding("doubled-delivery", "warning", said, place, topic, other)
        if len(double.one) == len(double.other) == 1 and _both_ends(double.one[0], double.other[0]):
            said = (
                f"the link is declared at both ends, and a message on {visible(topic)} crosses it twice: "
                f"{shown(other)}; declare it at one end"
            )
            return Finding("both-ends", "error", said, place, topic, one, other)
        said = (
            f"a message on {visible(topic)} comes to {target} twice: {shown(one)} and {shown(other)}; "
            f"remove one of these lines, or narrow its filter"
        )
        return Finding("doubled-delivery", "warning", said, place, topic, one, other)

    def refused(self, walk: list[Way]) -> Finding:
        """What to say of a cycle that NATS does not allow."""
        path = tuple(stop._replace(name="") for stop in self.stops(walk, ()))
        refusing = next(way for way in walk if way.flow.refuses_loops)
        said = (
            f"the leaf node connections form a cycle, and NATS refuses one of them: "
            f"{shown(path)}; remove one, or use another account for it"
        )
        return Finding("refused-link", "error", said, refusing.flow.place, None, path)

    def example(self, names: Names, first: Way) -> Words:
        """One of the names that set out by a way."""
        words = example(names, first.rules, self._fresh)
        assert words is not None, "only sets that have names are found"
        return words

    def stops(self, walk: Sequence[Way], words: Words, beginning: Way | None = None) -> tuple[Stop, ...]:
        """Where a message is on its walk; without a walk, where it starts."""
        first = walk[0] if walk else beginning
        assert first is not None, "an empty walk has a start"
        start = self._mesh.brokers[first.source]
        is_nats = start.kind == "nats"
        account = first.flow.account if is_nats else None
        found = [Stop(start.name, self.text(words, first.source), None, account)]
        for way in walk:
            words = way.behind(words)
            broker = self._mesh.brokers[way.target].name
            account = (way.flow.target_account or account) if is_nats else None
            found.append(Stop(broker, self.text(words, way.target), way.flow.place, account))
        return tuple(found)

    def text(self, words: Words, broker: int) -> str:
        """A name as the clients of a broker write it."""
        return self._mesh.dialect(broker).separator.join(words)


def _or_private(walk: Sequence[Way]) -> str:
    """The other way out where a bridge echoes; what a group of subscribers shares is always echoed."""
    ways = [way for way in walk if way.flow.echoes and way.first_wins]
    return ", or leave try_private on" if any(way.flow.competes_for is None for way in ways) else ""


def _both_ends(one: Way, other: Way) -> bool:
    """Whether two ways are of links that are opened at opposite ends, between the same brokers."""
    if one.link == other.link or any(way.flow.meshed or way.flow.once for way in (one, other)):
        return False
    same = {one.source, one.target} == {other.source, other.target}
    return same and one.opener != other.opener


def shown(stops: Iterable[Stop]) -> str:
    """A walk in one line; names are shown where they change, and accounts of NATS where they differ."""
    found: list[str] = []
    name = None
    stops = list(stops)
    changes = len({stop.name for stop in stops}) > 1
    accounts = len({stop.account for stop in stops}) > 1
    for stop in stops:
        where = stop.where if accounts else visible(stop.broker)
        news = changes and stop.name != name
        found.append(f"{where} ({visible(stop.name)})" if news else where)
        name = stop.name
    return " -> ".join(found)
