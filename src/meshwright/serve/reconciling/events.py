"""From what brokers show to events: who has gone, who is back, who wants what."""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

import pyarrow as pa

from meshwright.filters.dialects import dialect_of
from meshwright.filters.parsing import parse_filters, parse_names
from meshwright.model.events import Event
from meshwright.runtime.errors import quoted
from meshwright.serve.reconciling.damping import Damper
from meshwright.serve.reconciling.watching import MOST_TOPICS


class Members(NamedTuple):
    """The brokers that the overlay has, of those that are looked at, and what they want."""

    wants: Mapping[str, frozenset[str]]
    dialect: str | None
    """Of their filters; None where topics are plain."""


def departures(
    members: Members, damper: Damper, up: Mapping[str, bool], most_down: float, now: float
) -> tuple[list[str], str]:
    """The brokers that are due to leave, or why none is: if too many seem to be down, we may be cut off."""
    looked_at = [node for node in members.wants if node in up]
    down = [node for node in looked_at if not up[node]]
    if len(down) > 1 and len(down) > most_down * len(looked_at):
        return [], (
            f"{len(down):,} of {len(looked_at):,} brokers don't answer, which is taken for a fault of the "
            f"network here; if they have failed, send events by which they leave"
        )
    return [node for node in down if damper.is_gone(node, now)], ""


def returns(gone: Iterable[str], members: Members, damper: Damper, now: float) -> list[str]:
    """The brokers that failed and are due to join again."""
    return [node for node in gone if node not in members.wants and damper.is_back(node, now)]


def believable(topics: Collection[str], driver_dialect: str, members: Members) -> tuple[set[str], str]:
    """What a broker tells, without what no plan could have, and a reason if there was any.

    One client with an odd subscription must not keep the fleet from being planned.
    """
    if len(topics) > MOST_TOPICS:
        return set(), f"it tells of {len(topics):,} topics, and at most {MOST_TOPICS:,} are believed"
    given = sorted(topic for topic in topics if topic and _is_unicode(topic))
    rules = dialect_of(driver_dialect)
    texts = pa.array(given, pa.string())
    faults = parse_names(texts, rules)[1] if members.dialect is None else parse_filters(texts, rules).faults
    wrong = {fault.text: fault.reason for fault in faults}
    wrong |= {topic: "it has a blank" for topic in given if driver_dialect == "mqtt" and _has_blank(topic)}
    reason = next((f"its topic {quoted(topic)} can't be used: {why}" for topic, why in wrong.items()), "")
    return {topic for topic in given if topic not in wrong}, reason


def _is_unicode(topic: str) -> bool:
    return topic.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in topic)


def _has_blank(topic: str) -> bool:
    return any(letter.isspace() for letter in topic)


class Wishes:
    """What clients at brokers want, as the brokers tell, with ends that are damped.

    A topic that nobody wants any more is given up only after a window in which it was never told of, and only
    if it came from what brokers told: no broker tells who publishes.
    """

    def __init__(self, window: float) -> None:
        self._window = window
        self._missing: dict[tuple[str, str], float] = {}

    def new(self, node: str, told: Collection[str], members: Members) -> list[str]:
        """What a broker tells of that the overlay does not know yet."""
        return sorted(set(told) - members.wants[node])

    def ended(self, node: str, told: Collection[str], heard: Iterable[str], now: float) -> list[str]:
        """What was heard of earlier and is due to be given up."""
        found = []
        for topic in heard:
            if topic in told:
                self._missing.pop((node, topic), None)
            elif now - self._missing.setdefault((node, topic), now) >= self._window:
                found.append(topic)
        return found


def leave(node: str, at: int) -> Event:
    """A broker has failed."""
    return Event(at, "leave", node)


def join(node: str, topics: Iterable[str], at: int) -> Event:
    """A broker is there."""
    return Event(at, "join", node, tuple(topics))
