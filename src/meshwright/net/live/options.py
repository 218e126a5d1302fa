"""How nodes run on real sockets."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from meshwright.net.live.sockets import Address
from meshwright.net.protocol import Node
from meshwright.runtime.errors import OptionError
from meshwright.runtime.machine import cores

Holds = Callable[[Any], Collection[Node]]
"""A protocol -> the nodes that it has logical links to, whose connections stay open."""

_A_CORE, _FEWEST = 8, 16


def most_processes() -> int:
    """Over how many processes nodes may be spread: eight a core, and sixteen on the smallest machine."""
    return max(_FEWEST, _A_CORE * cores())


@dataclass(frozen=True, kw_only=True)
class LiveOptions:
    """How nodes run on real sockets.

    Attributes:
        messages: the classes of all messages, dataclasses or named tuples (see `Codec`).
        unit: how many seconds the protocols' unit of time takes.
        prepare: called in each process before its nodes start, to load what would hold them up; it and
            `holds` must be functions that pickle finds by name.
        holds: which logical links a node has; None where connections live by their use alone.
        idle: after how many seconds a connection without use or logical link is closed.
        loss: with what probability a message is dropped before it is sent, besides what the network does.
        host: the address that all nodes listen on.
        port: node 0 listens there, and node i on the i-th port after it; None for ports that are free.
        processes: over how many the nodes are spread; at most `most_processes`.
        seed: a node draws from the same stream as in a simulator with the same seed.
    """

    messages: tuple[type, ...]
    unit: float = 1.0
    prepare: Callable[[], None] | None = None
    holds: Holds | None = None
    idle: float = 5.0
    loss: float = 0.0
    host: str = "127.0.0.1"
    port: int | None = None
    processes: int = 2
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("unit", "idle"):
            if not 0 < getattr(self, name) < np.inf:
                raise OptionError(
                    f"{name} is {getattr(self, name)!r}; give a number of seconds above 0", option=name
                )
        if not 0 <= self.loss <= 1:
            raise OptionError(f"loss is {self.loss!r}; give a probability from 0 to 1", option="loss")
        if not 1 <= self.processes <= most_processes():
            raise OptionError(
                f"processes is {self.processes!r}; give a whole number from 1 to {most_processes()}: on this "
                f"machine more would only wait for each other",
                option="processes",
            )
        if self.port is not None and not 1 <= self.port <= 65_535:
            raise OptionError(f"port is {self.port!r}; give one from 1 to 65535, or none", option="port")

    def address(self, node: Node) -> Address:
        """Where a node listens; port 0 is any that is free."""
        return Address(self.host, 0 if self.port is None else self.port + node)
