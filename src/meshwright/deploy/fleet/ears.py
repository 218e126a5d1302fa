"""What arrives where: counts of the copies of numbered messages at every broker."""

import time
from collections import Counter
from typing import Protocol

from meshwright.deploy.plan.plan import Topic


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


class Ears(Protocol):
    """Clients at every broker: one subscribes to what its node wants, one to everything."""

    heard: Heard

    def publish(self, node: str, topic: Topic, number: int) -> None:
        """Publish a numbered message at a node."""

    def pump(self, seconds: float) -> None:
        """Take in what has arrived; wait for it at most this long."""

    def close(self) -> None:
        """Let go of all connections."""
