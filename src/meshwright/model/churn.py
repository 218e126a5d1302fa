"""Churn: nodes and interests that come and go, as events."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from meshwright.errors import InputError
from meshwright.model.names import check_all_strings

KINDS = ("join", "leave", "subscribe", "unsubscribe")

_LEAST_TIME, _GREATEST_TIME = -(2**63), 2**63 - 1


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a node does at a time; checked when made.

    Attributes:
        at: when, a whole number of 64 bits in any unit. It says nothing about order to a maintainer, which
            takes events as they come; files are put in the order of `at` when they are read.
        event: `join`, `leave`, `subscribe` or `unsubscribe`.
        node: who.
        topics: those that a node joins with (there may be none), subscribes to or unsubscribes from (at
            least one). One that is named twice counts once. A leave has none.
        id: an idempotency key: of events with the same key only the first is applied.
    """

    at: int
    event: str
    node: str
    topics: tuple[str, ...] = ()
    id: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.at, bool) or not isinstance(self.at, int):
            raise InputError(f"the time of an event is {self.at!r}; give a whole number")
        if not _LEAST_TIME <= self.at <= _GREATEST_TIME:
            raise InputError(f"the time of an event is {self.at}; give a whole number of 64 bits")
        if self.event not in KINDS:
            raise InputError(f"the event is {self.event!r}; choose one of {', '.join(KINDS)}")
        check_name(self.node, "the node of an event")
        if self.id is not None:
            check_name(self.id, "the id of an event")
        topics = checked_topics(self.topics)
        object.__setattr__(self, "topics", topics)
        if topics and self.event == "leave":
            raise InputError(
                f"{self.node!r} leaves with {len(topics)} topics; a leave names none, and an unsubscribe "
                f"gives up some of a node's topics"
            )
        if not topics and self.event in ("subscribe", "unsubscribe"):
            raise InputError(f"{self.node!r} {self.event}s without topics; name at least one")


def with_ids(events: Iterable[Event]) -> list[Event]:
    """The events, each with an id: its own, or one made of what it says.

    The same events get the same ids whenever they are read, also when others are added at their end; of
    several that say the same, time included, each gets another one.
    """
    seen: Counter[bytes] = Counter()
    found = []
    for event in events:
        if event.id is None:
            said = repr((event.at, event.event, event.node, event.topics)).encode()
            key = blake2b(said, digest_size=12).digest()
            seen[key] += 1
            found.append(replace(event, id=f"~{key.hex()}-{seen[key]}"))
        else:
            found.append(event)
    return found


def check_name(name: object, what: str) -> None:
    """Refuse what is no string, is empty, or has no UTF-8 form."""
    if not isinstance(name, str) or not name:
        raise InputError(f"{what} is {name!r}; names are strings of at least one character")
    if not name.isascii() and any("\ud800" <= character <= "\udfff" for character in name):
        raise InputError(f"{what} is {name!r}, which holds a lone surrogate; names must be valid Unicode")


def checked_topics(topics: Iterable[Any]) -> tuple[str, ...]:
    """The topics of an event, each once, in the order given."""
    if isinstance(topics, str):
        raise InputError(f"topics is the single string {topics!r}; give a list of topic names")
    try:
        if isinstance(topics, Mapping):
            raise TypeError
        given = list(topics)
    except TypeError:
        raise InputError(f"topics is {topics!r}; give a list of topic names") from None
    check_all_strings(given, "topic")
    for topic in given:
        check_name(topic, "a topic")
    return tuple(dict.fromkeys(given))
