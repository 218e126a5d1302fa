"""What arrives where: counts of the copies of numbered messages at every broker."""

import time
from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from meshwright.deploy.plan.plan import Topic
from meshwright.filters.filter import Filter


class Heard:
    """Copies by node and message, at its subscribers and at all that the broker takes in, with delays."""

    def __init__(self) -> None:
        self.sent: dict[int, int] = {}
        """When a message was published, in nanoseconds."""
        self.wanted: Counter[tuple[str, int]] = Counter()
        self.seen: Counter[tuple[str, int]] = Counter()
        self.delays: list[int] = []
        self.count = 0
        self.began = self.last = 0
        """When the publishing that counts began, and when the last copy came to a subscriber."""
        self.most = 0
        """The most copies of one message at one broker: very many if it goes round for ever."""

    def subscriber(self, node: str, payload: bytes) -> None:
        """A subscriber at a node has got a copy."""
        number = int(payload)
        self.count += 1
        self.wanted[node, number] += 1
        self.last = time.monotonic_ns()
        if number in self.sent:
            self.delays.append(self.last - self.sent[number])

    def observer(self, node: str, payload: bytes) -> None:
        """A broker has taken in a copy."""
        self.count += 1
        key = node, int(payload)
        self.seen[key] += 1
        self.most = max(self.most, self.seen[key])


def earlier_filters(wants: Sequence[str], dialect: str) -> list[list[Filter]]:
    """By filter of a node, those before it that match some of its names as well: these count them."""
    filters = [Filter(each, dialect) for each in wants]
    return [[other for other in filters[:at] if _may_meet(other, own)] for at, own in enumerate(filters)]


def _may_meet(one: Filter, other: Filter) -> bool:
    """Whether some name may be matched by both; two names are never the same here."""
    return any(letter in each.text for each in (one, other) for letter in "*>") and one.meets(other)


class Ears(Protocol):
    """Clients at every broker: one subscribes to what its node wants, one to everything."""

    heard: Heard

    def publish(self, node: str, topic: Topic, number: int) -> None:
        """Publish a numbered message at a node."""

    def pump(self, seconds: float) -> None:
        """Take in what has arrived; wait for it at most this long."""

    def close(self) -> None:
        """Let go of all connections."""
