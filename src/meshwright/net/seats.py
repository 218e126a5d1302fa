"""What a host has for each of its nodes: protocol, random stream, connections and timers."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from traceback import extract_tb
from typing import Generic, NamedTuple

import numpy as np

from meshwright.errors import OptionError
from meshwright.net.connections import Connections
from meshwright.net.protocol import Message, Protocol


class State(NamedTuple):
    """What is going on in a host.

    Attributes:
        sent: messages that nodes have sent.
        settled: messages whose way has ended here: received, missed or dropped.
        timers: that will run out, the start of nodes included.
        opening: connections that are not open yet.
    """

    sent: int
    settled: int
    timers: int
    opening: int


@dataclass
class Seat(Generic[Message]):
    """A node, and all that it has here; what comes before its start waits in `early`."""

    protocol: Protocol[Message]
    random: np.random.Generator
    connections: Connections
    started: bool = False
    early: list[Callable[[], None]] = field(default_factory=list)
    timers: set[asyncio.TimerHandle] = field(default_factory=set)

    def call_at(self, loop: asyncio.AbstractEventLoop, due: float, ring: Callable[[], None]) -> None:
        """Set a timer, which rings at a time of the loop's clock unless it is stopped before."""

        def rung() -> None:
            self.timers.discard(handle)
            ring()

        handle = loop.call_at(due, rung)
        self.timers.add(handle)

    def stop_timers(self) -> None:
        """Let no timer ring any more."""
        for handle in self.timers:
            handle.cancel()
        self.timers.clear()


def checked_delay(after: float) -> float:
    """How long a timer waits, refused where no timer could."""
    if not 0 <= after < np.inf:
        raise OptionError(f"a timer is set to {after!r}; give a finite number from 0 on")
    return after


def place_of(error: Exception) -> str:
    """The error and the line that raised it, in one line."""
    frames = extract_tb(error.__traceback__)
    place = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error!s:.200}{place}"
