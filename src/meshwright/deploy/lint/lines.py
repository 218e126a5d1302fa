"""Lines of one link that match the same names: those that deliver twice, and those that do nothing."""

from collections.abc import Container, Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from meshwright.deploy.lint.findings import Finding, Stop
from meshwright.deploy.lint.names import Names, covers, example, meet
from meshwright.deploy.lint.ways import Way, Ways, may_meet
from meshwright.deploy.lint.witnesses import Witnesses
from meshwright.deploy.mesh import Broker, Place
from meshwright.runtime.errors import quoted, visible

_DOUBLES_FROM = (2, 1)
"""The version of Mosquitto from which overlapping subscriptions of MQTT 3.1.1 deliver twice."""


class _Pair(NamedTuple):
    """Two lines of a link in one direction; the first counts where only one does."""

    first: Way
    second: Way


def overlapping(mesh: Ways, fresh: str, told: Container[Place] = ()) -> Iterator[Finding]:
    """What to say of lines that match the same names; lines of which it is `told` do nothing already."""
    useless: dict[Way, _Pair] = {}
    halves = _of_both(mesh.ways)
    for pair in _pairs(mesh.ways):
        if any(way.flow.place in told for way in pair):
            continue
        sender = mesh.brokers[pair.second.source]
        if _subscription(pair.first) == _subscription(pair.second):
            if pair.first.flow.qos == pair.second.flow.qos:
                useless.setdefault(_spare_of(pair, halves), pair)
        elif _deliver_twice(pair, sender):
            yield _twice(pair, mesh, fresh)
        elif _does_nothing(pair):
            useless.setdefault(pair.second, pair)
        elif _may_deliver_twice(sender):
            yield _perhaps(pair, mesh, fresh)
    yield from _all_useless(mesh.ways, useless)


def _all_useless(ways: Sequence[Way], useless: dict[Way, _Pair]) -> Iterator[Finding]:
    """What to say of lines that do nothing, in one direction or in all that they have."""
    of_line: dict[Place, list[Way]] = {}
    for way in ways:
        of_line.setdefault(way.flow.place, []).append(way)
    for place, own in of_line.items():
        idle = [way for way in own if way in useless]
        if idle:
            where = {way.flow.pulls for way in idle}
            half = "" if where == {way.flow.pulls for way in own} else " in" if idle[0].flow.pulls else " out"
            other = next(way for way in useless[idle[0]] if way is not idle[0])
            if half == " in" and _subscription(other) == _subscription(idle[0]):
                continue  # written as out, the line would unsubscribe from what the other one takes
            yield _useless(place, half, other)


def _pairs(ways: Sequence[Way]) -> Iterator[_Pair]:
    """The pairs of lines of one link in one direction whose filters meet; the one that counts is first."""
    lines: dict[tuple[object, ...], list[Way]] = {}
    for way in ways:
        if way.first_wins:
            lines.setdefault(way.direction, []).append(way)
    for own in lines.values():
        if len(own) > 1:
            for pair in may_meet(own):
                yield from _if_met(*sorted(pair, key=attrgetter("rank")))


def _if_met(first: Way, second: Way) -> Iterator[_Pair]:
    same_line = first.flow.place == second.flow.place
    if not same_line and meet(first.names.pattern, second.names.pattern, first.rules):
        yield _Pair(first, second)


def _of_both(ways: Sequence[Way]) -> set[Place]:
    """The lines that carry in both directions."""
    directions: dict[Place, set[bool]] = {}
    for way in ways:
        directions.setdefault(way.flow.place, set()).add(way.flow.pulls)
    return {place for place, own in directions.items() if len(own) > 1}


def _spare_of(pair: _Pair, halves: Container[Place]) -> Way:
    """Which of two lines with the same subscription can go: the one whose names the other one changes.

    Where they treat names alike, it is one that has no other direction, and else the later one.
    """
    if _change(pair.first) != _change(pair.second):
        return pair.second
    return max(pair, key=lambda way: (way.flow.place not in halves, way.number))


def _change(way: Way) -> tuple[object, object]:
    return way.strip, way.add


def _subscription(way: Way) -> str:
    """What the link subscribes to; the same filter twice is one subscription."""
    return way.flow.subscription or way.flow.filter


def _deliver_twice(pair: _Pair, sender: Broker) -> bool:
    """Whether the broker that sends does so for each line: in MQTT 5 always, otherwise if it is set so."""
    if pair.second.flow.doubles:
        return True
    version = _version(sender)
    by_version = version is not None and version >= _DOUBLES_FROM
    return sender.kind == "mosquitto" and (by_version if sender.duplicates is None else sender.duplicates)


def _may_deliver_twice(sender: Broker) -> bool:
    return sender.kind == "mosquitto" and sender.duplicates is None and _version(sender) is None


def _version(broker: Broker) -> tuple[int, ...] | None:
    numbers = (broker.version or "").split(".")[:2]
    return tuple(map(int, numbers)) if all(one.isdecimal() for one in numbers) else None


def _does_nothing(pair: _Pair) -> bool:
    """Whether the first line leaves nothing to the second: no name, and no better QoS.

    A line that shares a subscription sends back what came over the link, and may get a part of the messages.
    """
    first, second = pair
    if first.flow.competes_for != second.flow.competes_for or (second.flow.qos or 0) > (first.flow.qos or 0):
        return False
    return covers(first.names.pattern, second.names.pattern, first.rules)


def _witness(pair: _Pair, mesh: Ways, fresh: str) -> tuple[tuple[Stop, ...], tuple[Stop, ...]]:
    """How a message that both lines match crosses by each."""
    both = meet(pair.first.names.pattern, pair.second.names.pattern, pair.first.rules)[0]
    words = example(Names(both), pair.first.rules, fresh) or ()
    witnesses = Witnesses(mesh, fresh)
    return witnesses.stops([pair.first], words), witnesses.stops([pair.second], words)


def _named(way: Way) -> str:
    return f"line {way.flow.place.line} ({quoted(way.flow.filter)})"


def _twice(pair: _Pair, mesh: Ways, fresh: str) -> Finding:
    one, other = _witness(pair, mesh, fresh)
    topic = one[0].name
    said = (
        f"a message on {visible(topic)} crosses the link twice: {_named(pair.first)} matches it, too; "
        f"make the filters disjoint, or use MQTT 3.1.1 with allow_duplicate_messages false"
    )
    return Finding("overlapping-lines", "error", said, pair.second.flow.place, topic, one, other)


def _perhaps(pair: _Pair, mesh: Ways, fresh: str) -> Finding:
    one, other = _witness(pair, mesh, fresh)
    topic, sender = one[0].name, quoted(one[0].broker)
    said = (
        f"a message on {visible(topic)} crosses the link twice if {sender} is Mosquitto 2.1 or later, since "
        f"{_named(pair.first)} matches it, too; put the version into the inventory, or set "
        f"allow_duplicate_messages false"
    )
    return Finding("not-decided", "note", said, pair.second.flow.place, topic, one, other)


def _useless(place: Place, half: str, other: Way) -> Finding:
    what = f"takes nothing{half}" if half else "does nothing"
    said = f"this line {what}: {_named(other)} takes all that it matches; "
    way_out = f"write {'out' if half == ' in' else 'in'} instead of both" if half else "remove it"
    return Finding("useless-line", "warning", said + way_out, place)
