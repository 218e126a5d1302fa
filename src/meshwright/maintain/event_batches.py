"""A batch of events and its effect: the topics of each node before and after.

Also the ids of applied events, so that no event is applied twice.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from meshwright.model.events import Event
from meshwright.runtime.errors import InputError, OptionError

Topics = frozenset[str]


class Move(NamedTuple):
    """A node and its topics before and after; None while the node is absent."""

    node: str
    before: Topics | None
    after: Topics | None


class Refusal(NamedTuple):
    """An event that can't be applied, and why."""

    event: Event
    reason: str


TopicsOf = Callable[[str], Topics | None]
Check = Callable[[Event], None]
"""Refuses an event for a reason other than the presence of its node, with an InputError."""


class Batch:
    """The joint effect of events, applied in order.

    `topics_of` gives the topics of a node before them, and `check` refuses an event.
    """

    def __init__(self, topics_of: TopicsOf, check: Check) -> None:
        self._topics_of = topics_of
        self._check = check
        self._before: dict[str, Topics | None] = {}
        self._now: dict[str, Topics | None] = {}

    def add(self, event: Event) -> None:
        """Apply an event; one that can't be applied is refused and changes nothing."""
        node = event.node
        if node not in self._now:
            self._before[node] = self._now[node] = self._topics_of(node)
        changed = _changed(event, self._now[node])
        self._check(event)
        self._now[node] = changed

    def add_all(self, events: Iterable[Event], lenient: bool) -> list[Refusal]:
        """Apply events; one that can't be applied is an error or, if `lenient`, left out and returned."""
        refused = []
        for event in events:
            try:
                self.add(event)
            except InputError as error:
                if not lenient:
                    raise
                refused.append(Refusal(event, str(error)))
        return refused

    def moves(self) -> list[Move]:
        """The nodes that have changed, in the order in which events first named them."""
        changed = (Move(node, before, self._now[node]) for node, before in self._before.items())
        return [move for move in changed if move.before != move.after]


def _changed(event: Event, now: Topics | None) -> Topics | None:
    """The topics of the event's node after it; None for a node that is not there."""
    topics = frozenset(event.topics)
    if event.event == "join":
        if now is not None:
            raise InputError(
                f"{event.node!r} joins, but is already in the overlay; use subscribe to change its topics"
            )
        return topics
    if now is None:
        raise InputError(
            f"{event.node!r} {event.event}s, but is not in the overlay; a node has to join first"
        )
    if event.event == "leave":
        return None
    return now | topics if event.event == "subscribe" else now - topics


def check_remembered(events: int, remember: int, advice: str) -> None:
    """Refuse more events at a time than there are remembered ids: a forgotten event is applied again."""
    if events > remember:
        raise OptionError(
            f"a batch has {events:,} events, but the journal remembers only {remember:,} event ids; {advice}"
        )


class KnownIds:
    """The last `most` ids, oldest first."""

    def __init__(self, most: int, ids: Iterable[str] = ()) -> None:
        self._most = most
        self._ids: OrderedDict[str, None] = OrderedDict.fromkeys(ids)  # gives up its first at constant time

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def new(self, events: Iterable[Event]) -> list[Event]:
        """Leave out events whose id is known, or repeats that of an earlier one among them."""
        seen: set[str] = set()
        found = []
        for event in events:
            if event.id is not None:
                if event.id in self._ids or event.id in seen:
                    continue
                seen.add(event.id)
            found.append(event)
        return found

    def add(self, events: Sequence[Event]) -> None:
        """Remember the ids of these events, and forget the oldest beyond `most`."""
        self._ids |= dict.fromkeys(event.id for event in events if event.id is not None)
        while len(self._ids) > self._most:
            self._ids.popitem(last=False)
