"""Events as what they come to: for each node that they touch, its topics before and after.

The ids of events that were applied, so that none is applied twice.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from meshwright.model.events import Event
from meshwright.runtime.errors import InputError, OptionError

Topics = frozenset[str]


class Move(NamedTuple):
    """A node and its topics before and after; None where it is not there."""

    node: str
    before: Topics | None
    after: Topics | None


class Refusal(NamedTuple):
    """An event that can't be applied, and why."""

    event: Event
    reason: str


class Batch:
    """What some events come to, one after the other, where `topics_of` knows how it is before them."""

    def __init__(self, topics_of: Callable[[str], Topics | None]) -> None:
        self._topics_of = topics_of
        self._before: dict[str, Topics | None] = {}
        self._now: dict[str, Topics | None] = {}

    def add(self, event: Event) -> None:
        """Apply an event; one that can't be is refused and changes nothing."""
        node = event.node
        if node not in self._now:
            self._before[node] = self._now[node] = self._topics_of(node)
        self._now[node] = _CHANGES[event.event](node, self._now[node], frozenset(event.topics))

    def add_all(self, events: Iterable[Event], lenient: bool) -> list[Refusal]:
        """Apply events; one that can't be is an error or, if `lenient`, left out and among the refusals."""
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
        """The nodes that are not as they were, in the order in which events first named them."""
        changed = (Move(node, before, self._now[node]) for node, before in self._before.items())
        return [move for move in changed if move.before != move.after]


def sort_out(
    events: Sequence[Event], topics_of: Callable[[str], Topics | None]
) -> tuple[list[Event], list[Refusal]]:
    """The events that can be applied one after the other, and those that can't once these are left out."""
    refused = Batch(topics_of).add_all(events, lenient=True)
    bad = {id(refusal.event) for refusal in refused}
    return [event for event in events if id(event) not in bad], refused


def _join(node: str, now: Topics | None, topics: Topics) -> Topics:
    if now is not None:
        raise InputError(f"{node!r} joins, but is there already; subscribe to change its topics")
    return topics


def _leave(node: str, now: Topics | None, _: Topics) -> None:
    _present(node, now, "leaves")


def _subscribe(node: str, now: Topics | None, topics: Topics) -> Topics:
    return _present(node, now, "subscribes") | topics


def _unsubscribe(node: str, now: Topics | None, topics: Topics) -> Topics:
    return _present(node, now, "unsubscribes") - topics


def _present(node: str, now: Topics | None, does: str) -> Topics:
    if now is None:
        raise InputError(f"{node!r} {does}, but is not there; a node has to join first")
    return now


_CHANGES: dict[str, Callable[[str, Topics | None, Topics], Topics | None]] = {
    "join": _join,
    "leave": _leave,
    "subscribe": _subscribe,
    "unsubscribe": _unsubscribe,
}


def check_remembered(events: int, remember: int, advice: str) -> None:
    """Refuse more events at a time than are known by their ids: one that is forgotten is applied again."""
    if events > remember:
        raise OptionError(
            f"there are {events:,} events, and a journal that knows the last {remember:,} by their ids; "
            f"{advice}"
        )


class KnownIds:
    """The last `most` ids, in the order in which they came."""

    def __init__(self, most: int, ids: Iterable[str] = ()) -> None:
        self._most = most
        self._ids: OrderedDict[str, None] = OrderedDict.fromkeys(ids)  # gives up its first at constant time

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def new(self, events: Iterable[Event]) -> list[Event]:
        """The events without those whose id is known or came with an earlier one of them."""
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
        """Know the ids of these events, and forget the oldest beyond the most."""
        self._ids |= dict.fromkeys(event.id for event in events if event.id is not None)
        while len(self._ids) > self._most:
            self._ids.popitem(last=False)
