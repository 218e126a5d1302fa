"""The ids of events that were applied, so that none is applied twice."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence

from meshwright.errors import OptionError
from meshwright.model.churn import Event


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
