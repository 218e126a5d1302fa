"""Run protocols on one event loop: sockets carry their messages, and the loop's clock runs their timers."""

import asyncio
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from traceback import extract_tb
from typing import Generic, NamedTuple

import numpy as np

from meshwright.net.live.codec import Codec
from meshwright.net.live.connections import Connections, Owner, Traffic
from meshwright.net.live.options import LiveOptions
from meshwright.net.live.sockets import Address
from meshwright.net.protocol import Action, Deliver, Message, Moment, Node, Protocol, Send, Wake
from meshwright.net.simulator import Happening, What
from meshwright.runtime.errors import OptionError
from meshwright.runtime.seeds import generator


class NodeState(NamedTuple):
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
        raise OptionError(f"a timer is set to {after!r}; give a finite number of at least 0")
    return after


def place_of(error: Exception) -> str:
    """The error and the line that raised it, in one line."""
    frames = extract_tb(error.__traceback__)
    place = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error!s:.200}{place}"


class Host(Generic[Message]):
    """Runs protocols on the running event loop, each with a socket of its own that it listens on.

    It does what the simulator does and notes the same happenings; only that time passes by itself. A message
    that was sent is noted as received, missed or lost where this can be known: what is under way to a node
    when that dies, nobody hears of. An exception that a protocol raises at a message from another node is a
    complaint, since a node must survive what others send; one that it raises at its own timer, or at its
    start, goes to `fail`.

    Attributes:
        late: the longest time in seconds that a timer had to wait for the machine.
    """

    def __init__(
        self,
        protocols: Mapping[Node, Protocol[Message]],
        options: LiveOptions,
        run: bytes,
        *,
        watch: Callable[[Happening], None] | None,
        complain: Callable[[str, str], None],
        fail: Callable[[str], None],
    ) -> None:
        self._options = options
        self._run = run
        self._watch, self._complain, self._fail = watch, complain, fail
        self._loop = asyncio.get_running_loop()
        self._codec = Codec(options.messages)
        self._book: dict[Node, Address] = {}
        self._start: float | None = None
        self._random: dict[Node, np.random.Generator] = {}
        self._sent = self._settled = 0
        self.late = 0.0
        self._past = Traffic()
        self._leaving: list[Connections] = []
        self._links = generator(options.seed, "net.links", min(protocols, default=0))
        self._sweeps: asyncio.TimerHandle | None = None
        self._frozen = False
        self._seats = {node: self._seat(node, protocol) for node, protocol in protocols.items()}

    @property
    def protocols(self) -> dict[Node, Protocol[Message]]:
        """What runs on the nodes that are here now."""
        return {node: seat.protocol for node, seat in self._seats.items()}

    @property
    def peers(self) -> dict[Node, set[Node]]:
        """By node, those that it has an open connection to."""
        return {node: seat.connections.peers for node, seat in self._seats.items()}

    @property
    def traffic(self) -> Traffic:
        """What crossed the connections of all nodes here."""
        return sum((seat.connections.traffic for seat in self._seats.values()), self._past)

    @property
    def state(self) -> NodeState:
        """What is going on."""
        seats = self._seats.values()
        timers = sum(len(seat.timers) + (not seat.started) for seat in seats)
        return NodeState(self._sent, self._settled, timers, sum(seat.connections.opening for seat in seats))

    def open(self) -> dict[Node, Address]:
        """Listen for all nodes, and say where."""
        return {
            node: seat.connections.listen(self._options.address(node)) for node, seat in self._seats.items()
        }

    def link(self) -> None:
        """Bring the physical links in line with the logical ones."""
        if self._options.holds is not None:
            for seat in self._seats.values():
                seat.connections.hold(frozenset(self._options.holds(seat.protocol)))

    def begin(self, start: float) -> None:
        """Start all nodes at a time of the loop's clock, which is the protocols' time 0."""
        self._loop.call_at(start, self._begin, start)

    def add(self, node: Node, protocol: Protocol[Message]) -> Address:
        """Let a node listen that came later, and say where; one that is here is removed before."""
        self.remove(node)
        self._seats[node] = self._seat(node, protocol)
        return self._seats[node].connections.listen(self._options.address(node))

    def learn(self, book: Mapping[Node, Address]) -> None:
        """Where nodes listen, here and elsewhere."""
        self._book.update(book)

    def start(self, node: Node) -> None:
        """Start a node that came later."""
        self._start_node(node, self._loop.time())

    def inject(self, node: Node, message: Message) -> None:
        """Hand a node a message from its application."""
        self._receive(None, node, message)

    def remove(self, node: Node) -> None:
        """Let a node die: without a word to anybody, in the midst of whatever it does."""
        seat = self._seats.pop(node, None)
        if seat is not None:
            seat.stop_timers()
            self._past += seat.connections.traffic
            self._past.open -= len(seat.connections.peers)
            seat.connections.abort()
            self._leaving.append(seat.connections)

    def freeze(self) -> None:
        """Let nothing happen any more; connections stay, so that no other node misses anybody."""
        self._frozen = True
        if self._sweeps is not None:
            self._sweeps.cancel()
        for seat in self._seats.values():
            seat.stop_timers()

    async def close(self) -> None:
        """End all connections; nothing is left afterwards, no socket, no timer and no task."""
        self.freeze()
        pools = [*self._leaving, *(seat.connections for seat in self._seats.values())]
        await asyncio.gather(*(pool.close() for pool in pools))

    # What happens to nodes.

    def _seat(self, node: Node, protocol: Protocol[Message]) -> Seat[Message]:
        owner = Owner(
            received=partial(self._receive_from, node),
            missed=partial(self._settle, What.MISSED, node),
            lost=partial(self._settle, What.LOST, node),
            complain=self._complain,
        )
        connections = Connections(node, self._run, self._codec, self._book, owner)
        if node not in self._random:
            self._random[node] = generator(self._options.seed, "net.node", node)
        return Seat(protocol, self._random[node], connections)

    def _begin(self, start: float) -> None:
        if self._frozen:
            return
        self._start = start
        for node in list(self._seats):
            self._start_node(node, start)
        self._sweep()

    def _start_node(self, node: Node, due: float) -> None:
        seat = self._seats[node]
        seat.started = True
        self._act(node, seat, due, "its start", partial(seat.protocol.start, self._moment(seat)))
        for event in seat.early:
            event()

    def _receive_from(self, target: Node, source: Node, message: Message) -> None:
        self._settled += 1
        self._receive(source, target, message)

    def _receive(self, source: Node | None, target: Node, message: Message) -> None:
        seat = self._seats.get(target)
        if seat is None or self._frozen:
            self._note(What.MISSED, source, target, message)
            return
        if not seat.started:  # whoever sent it was told a little earlier
            seat.early.append(partial(self._receive, source, target, message))
            return
        self._note(What.RECEIVED, source, target, message)
        try:
            actions = seat.protocol.receive(message, source, self._moment(seat))
            self._do(target, seat, actions, self._loop.time())
        except Exception as error:
            self._complain("message", f"node {target} can't handle {message!r:.200}: {place_of(error)}")

    def _wake(self, node: Node, seat: Seat[Message], timer: Hashable, due: float) -> None:
        self._act(node, seat, due, f"timer {timer!r}", partial(seat.protocol.wake, timer, self._moment(seat)))

    def _act(
        self,
        node: Node,
        seat: Seat[Message],
        due: float,
        what: str,
        call: Callable[[], Iterable[Action[Message]]],
    ) -> None:
        try:
            self._do(node, seat, call(), due)
        except Exception as error:
            self._fail(f"node {node} failed at {what}: {place_of(error)}")

    def _do(self, node: Node, seat: Seat[Message], actions: Iterable[Action[Message]], due: float) -> None:
        for action in actions:
            match action:
                case Send(to, message):
                    self._send(node, seat, to, message)
                case Wake(after, timer):
                    self._set_timer(node, seat, due + checked_delay(after) * self._options.unit, timer)
                case Deliver(message):
                    self._note(What.DELIVERED, node, node, message)

    def _send(self, source: Node, seat: Seat[Message], target: Node, message: Message) -> None:
        self._sent += 1
        self._note(What.SENT, source, target, message)
        if self._options.loss and self._links.random() < self._options.loss:
            self._settle(What.LOST, source, target, message)
        elif target == source:
            self._loop.call_soon(self._receive_from, target, source, message)
        else:
            seat.connections.send(target, message)

    def _set_timer(self, node: Node, seat: Seat[Message], due: float, timer: Hashable) -> None:
        """Timers follow on from when they were due, not from when the loop came to them: periods keep.

        Unless it came later than a unit of time: then rounds that were missed would all come at once.
        """

        def ring() -> None:
            late = self._loop.time() - due
            self.late = max(self.late, late)
            self._wake(node, seat, timer, due if late < self._options.unit else due + late)

        seat.call_at(self._loop, due, ring)

    def _sweep(self) -> None:
        """Open the connections that are needed and close those that are not, now and then."""
        if self._frozen:
            return
        self._sweeps = self._loop.call_later(min(1.0, self._options.idle / 4), self._sweep)
        self.link()
        for seat in self._seats.values():
            seat.connections.close_idle(self._options.idle)

    def _settle(self, what: What, source: Node, target: Node, message: Message) -> None:
        self._settled += 1
        self._note(what, source, target, message)

    def _moment(self, seat: Seat[Message]) -> Moment:
        return Moment(self._now(), seat.random)

    def _now(self) -> float:
        start = self._loop.time() if self._start is None else self._start
        return (self._loop.time() - start) / self._options.unit

    def _note(self, what: What, source: Node | None, target: Node, message: Message) -> None:
        if self._watch is not None:
            self._watch(Happening(self._now(), what, source, target, message))
