"""The simulator: protocols on one machine, with a clock that jumps from event to event.

Events wait in a heap of (time, priority, number, event). The number counts events as they are made, so two
events never compare equal and a run is a function of its arguments alone: same protocols, same seed, same
course. At one moment nodes leave first, then others join, then messages arrive, then timers run out; other
ties are broken by the order of the requests. Nodes present at the start are added before anything else
happens.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from enum import Enum
from functools import partial
from heapq import heappop, heappush
from itertools import count
from types import MappingProxyType
from typing import Any, Generic, NamedTuple

import numpy as np

from meshwright.net.protocol import Action, Deliver, Message, Moment, Node, Protocol, Send, Wake
from meshwright.runtime.errors import OptionError
from meshwright.runtime.seeds import generator

_START, _LEAVE, _JOIN, _MESSAGE, _TIMER = range(5)

Delay = Callable[[Node, Node, Message, np.random.Generator], float]
"""(source, target, message, random state) -> how long it takes."""

Loss = Callable[[Node, Node, Message, np.random.Generator], bool]
"""(source, target, message, random state) -> whether it is lost."""


class What(Enum):
    """What can happen to a message."""

    SENT = "sent"
    LOST = "lost"  # on the way
    MISSED = "missed"  # its target is not there
    RECEIVED = "received"
    DELIVERED = "delivered"  # to the application, which is both source and target


class Happening(NamedTuple):
    """Something that happened to a message; `source` is None where it came from the application."""

    time: float
    what: What
    source: Node | None
    target: Node
    message: Any


class Simulator(Generic[Message]):
    """Runs a protocol on each node, and carries messages among them.

    Args:
        protocols: by node; all are there from time 0 on, and start in the order given.
        delay: how long a message takes, a number or a function of source, target, message and random state.
        loss: with what probability a message is lost, a number or a function that decides.
        failures: (time, node) pairs: the node is gone from then on, without a word, and its timers with it.
        seed: all randomness comes from it: a stream for each node, and one for the links.
        watch: called with everything that happens to messages, at once.

    An event costs a push to the heap and a pop; memory grows with what is under way, not with what was.
    """

    def __init__(
        self,
        protocols: Mapping[Node, Protocol[Message]],
        *,
        delay: float | Delay[Message] = 1.0,
        loss: float | Loss[Message] = 0.0,
        failures: Iterable[tuple[float, Node]] = (),
        seed: int = 0,
        watch: Callable[[Happening], None] | None = None,
    ) -> None:
        self._now = 0.0
        self._queue: list[tuple[float, int, int, Callable[[], None]]] = []
        self._numbers = count()
        self._protocols: dict[Node, Protocol[Message]] = {}
        self._joins: dict[Node, int] = {}  # how often each node has joined: timers are those of one stay
        self._delay, self._loss = _delay(delay), _loss(loss)
        self._seed = seed
        self._links = generator(seed, "net.links")
        self._random: dict[Node, np.random.Generator] = {}
        self._watch = watch
        for node, protocol in protocols.items():
            self._schedule(0.0, _START, partial(self._join, node, protocol))
        for time, node in failures:
            self.remove(node, at=time)

    @property
    def now(self) -> float:
        """The time of the last event, or that until which was run."""
        return self._now

    @property
    def protocols(self) -> Mapping[Node, Protocol[Message]]:
        """What runs on the nodes that are there now."""
        return MappingProxyType(self._protocols)

    def add(self, node: Node, protocol: Protocol[Message], *, at: float | None = None) -> None:
        """Let a node join, now unless another time is given; one that is there begins anew."""
        self._schedule(at, _JOIN, partial(self._join, node, protocol))

    def remove(self, node: Node, *, at: float | None = None) -> None:
        """Let a node go, without a word to anybody."""
        self._schedule(at, _LEAVE, partial(self._leave, node))

    def inject(self, node: Node, message: Message, *, at: float | None = None) -> None:
        """Hand a node a message from its application."""
        self._schedule(at, _MESSAGE, partial(self._receive, None, node, message))

    def run(self, until: float = np.inf) -> None:
        """Let everything happen that happens before `until`; all of it, unless that is given.

        Events at that very time still wait: a period of 1 from time 0 comes 8 times in `run(8)`.
        """
        while self._queue and self._queue[0][0] < until:
            self._now, _, _, event = heappop(self._queue)
            event()
        if np.isfinite(until):
            self._now = max(self._now, until)

    def _schedule(self, at: float | None, priority: int, event: Callable[[], None]) -> None:
        time = self._now if at is None else at
        if not self._now <= time < np.inf:
            raise OptionError(f"the time is {self._now}, so nothing can happen at {time}; give a later time")
        heappush(self._queue, (time, priority, next(self._numbers), event))

    def _join(self, node: Node, protocol: Protocol[Message]) -> None:
        self._protocols[node] = protocol
        self._joins[node] = self._joins.get(node, 0) + 1
        self._do(node, protocol.start(self._moment(node)))

    def _leave(self, node: Node) -> None:
        self._protocols.pop(node, None)

    def _receive(self, source: Node | None, target: Node, message: Message) -> None:
        protocol = self._protocols.get(target)
        if protocol is None:
            self._note(What.MISSED, source, target, message)
            return
        self._note(What.RECEIVED, source, target, message)
        self._do(target, protocol.receive(message, source, self._moment(target)))

    def _wake(self, node: Node, stay: int, timer: Hashable) -> None:
        protocol = self._protocols.get(node)
        if protocol is not None and self._joins[node] == stay:
            self._do(node, protocol.wake(timer, self._moment(node)))

    def _do(self, node: Node, actions: Iterable[Action[Message]]) -> None:
        for action in actions:
            match action:
                case Send(to, message):
                    self._send(node, to, message)
                case Wake(after, timer):
                    time = self._now + _checked_delay(after)
                    self._schedule(time, _TIMER, partial(self._wake, node, self._joins[node], timer))
                case Deliver(message):
                    self._note(What.DELIVERED, node, node, message)
                case _:
                    raise TypeError(f"a protocol returned {action!r}; return Send, Wake or Deliver")

    def _send(self, source: Node, target: Node, message: Message) -> None:
        self._note(What.SENT, source, target, message)
        if self._loss(source, target, message, self._links):
            self._note(What.LOST, source, target, message)
            return
        delay = _checked_delay(self._delay(source, target, message, self._links))
        self._schedule(self._now + delay, _MESSAGE, partial(self._receive, source, target, message))

    def _moment(self, node: Node) -> Moment:
        if node not in self._random:
            self._random[node] = generator(self._seed, "net.node", node)
        return Moment(self._now, self._random[node])

    def _note(self, what: What, source: Node | None, target: Node, message: Message) -> None:
        if self._watch is not None:
            self._watch(Happening(self._now, what, source, target, message))


def _checked_delay(delay: float) -> float:
    if not 0 <= delay < np.inf:
        raise OptionError(f"a delay is {delay!r}; give a finite number of at least 0")
    return delay


def _delay(delay: float | Delay[Message]) -> Delay[Message]:
    if callable(delay):
        return delay
    constant = _checked_delay(delay)
    return lambda *_: constant


def _loss(loss: float | Loss[Message]) -> Loss[Message]:
    if callable(loss):
        return loss
    if not 0 <= loss <= 1:
        raise OptionError(f"loss is {loss!r}; give a probability from 0 to 1", option="loss")
    return lambda source, target, message, random: bool(loss > 0 and random.random() < loss)
