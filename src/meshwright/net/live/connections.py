"""The physical links of one node: a pool of TCP connections that all its logical links share.

As in NeEM, on which [5] relies: however many topics two nodes have in common, one connection is between them.
It is opened when one of them first has something to say or a logical link to keep, serves both directions,
and is closed when neither end has had a use for it for a while.
"""

import asyncio
import socket
from collections.abc import Callable, Collection, Coroutine, Mapping
from dataclasses import astuple, dataclass
from functools import partial
from operator import add
from typing import Any, cast

from meshwright.net.live.codec import Codec
from meshwright.net.live.link import PATIENCE, Hello, Kind, Link, framed, hello_to
from meshwright.net.live.sockets import SHORTAGES, Address, Listener, reason
from meshwright.net.protocol import Node
from meshwright.runtime.errors import InputError, NetworkError

_ANOTHER_PORT = "give another port, or none to use any free one"
RETRY = 1.0
"""Seconds before a connection that a logical link needs, and that could not be opened, is tried again."""

STRANGERS = 64
"""How many more connections than there are nodes may wait until their callers have proved who they are; for
one more, that which has waited longest is cut. A node takes a few milliseconds, so it is hardly ever the one,
and 64 strangers take less than a megabyte."""


@dataclass(frozen=True)
class Owner:
    """What a pool tells the node that it belongs to.

    Attributes:
        received: a message came from a node.
        missed: a message could not be sent, since its target is not there.
        lost: a message was dropped, since too many wait for its target.
        complain: something came that should not; a word for its kind, and the words to log.
    """

    received: Callable[[Node, Any], None]
    missed: Callable[[Node, Any], None]
    lost: Callable[[Node, Any], None]
    complain: Callable[[str, str], None]


@dataclass
class Traffic:
    """What crossed the physical links of a node, or of several: frames and bytes as written here.

    Attributes:
        messages: frames that carry a message.
        bytes: of all frames.
        opened: connections that this end opened.
        open: connections there are now, counted at both of their ends.
    """

    messages: int = 0
    bytes: int = 0
    opened: int = 0
    open: int = 0

    def __add__(self, other: "Traffic") -> "Traffic":
        return Traffic(*map(add, astuple(self), astuple(other)))


class Connections:
    """The pool of one node.

    Guarantee: there is at most one connection to each node over which messages are sent, and none is lost
    because connections are opened from both ends at once, or closed for want of use. Where both ends open
    one, that of the smaller id stays, and the other is closed when all that was sent over it has come.
    `run`, `codec` and `book`, where nodes listen, are shared with other pools.
    """

    def __init__(
        self, node: Node, run: bytes, codec: Codec, book: Mapping[Node, Address], owner: Owner
    ) -> None:
        self.node = node
        self._run, self._codec, self._book, self._owner = run, codec, book, owner
        self._links: dict[Node, Link] = {}
        self._others: set[Link] = set()  # not sent over: not greeted yet, not chosen, or on their way out
        self._strangers: dict[Link, None] = {}  # of the others those that are not greeted, oldest first
        self._dials: dict[Link, list[Any]] = {}  # not open yet, with the messages that wait for it
        self._tasks: set[asyncio.Task[None]] = set()
        self._retry: dict[Node, float] = {}
        self._past = Traffic()
        self._listener: Listener | None = None
        self._loop = asyncio.get_running_loop()
        self._over = False

    @property
    def peers(self) -> set[Node]:
        """The nodes that there is an open connection to."""
        return {node for node, link in self._links.items() if link not in self._dials}

    @property
    def opening(self) -> int:
        """How many connections are not open yet."""
        return len(self._dials)

    @property
    def traffic(self) -> Traffic:
        """What crossed the connections of this node so far."""
        written = sum(link.sent_bytes for link in (*self._links.values(), *self._others))
        return self._past + Traffic(bytes=written, open=len(self.peers))

    def listen(self, address: Address) -> Address:
        """Take connections from now on; port 0 is any that is free. Says where."""
        try:
            self._listener = Listener(
                address, self._accept, partial(self._complain_of, "accept a connection")
            )
        except OSError as error:
            raise NetworkError(
                f"node {self.node} can't listen on {address.host}:{address.port}: {reason(error)}; "
                f"{SHORTAGES.get(error.errno or 0, _ANOTHER_PORT)}"
            ) from None
        return self._listener.address

    def send(self, to: Node, message: Any) -> None:
        """Send a message to a node; opens a connection where there is none."""
        if self._over:
            return
        frame = framed(Kind.MESSAGE, self._codec.written(message))
        link = self._links.get(to) or self._dial(to)
        if link is None:
            self._owner.missed(to, message)
        elif not link.send(frame):
            self._owner.lost(to, message)
        else:
            self._past.messages += 1
            if link in self._dials:
                self._dials[link].append(message)

    def hold(self, nodes: Collection[Node]) -> None:
        """Keep connections to these nodes open, and open those that are missing; let go of all others."""
        now = self._loop.time()
        for node in nodes:
            if node != self.node and node not in self._links and self._retry.get(node, now) <= now:
                self._dial(node)
        for node, link in self._links.items():
            link.hold(node in nodes)

    def close_idle(self, idle: float) -> None:
        """Close connections that neither end holds, and that no message has crossed for `idle` seconds."""
        before = self._loop.time() - idle
        for link in list(self._links.values()):
            if not (link.held or link.held_there or link.used > before):
                self._set_aside(link)

    def abort(self) -> None:
        """Be gone at once and without a word, as a node that dies."""
        self._over = True
        if self._listener is not None:
            self._listener.close()
        for link in (*self._links.values(), *self._others):
            link.abort()
        for task in self._tasks:
            task.cancel()

    async def close(self) -> None:
        """Be gone, and come back when nothing is left: no socket, no task."""
        self.abort()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        while self._links or self._others:
            await asyncio.sleep(0)  # the loop ends a connection in the turn after its abort

    # Opening a connection, and choosing among several.

    def _begin(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _accept(self, accepted: socket.socket) -> None:
        task = self._begin(self._welcome(accepted))
        task.add_done_callback(lambda task: accepted.close() if task.cancelled() else None)

    async def _welcome(self, accepted: socket.socket) -> None:
        await self._loop.connect_accepted_socket(self._accepted, accepted)

    def _accepted(self) -> Link:
        link = Link(self, self._run)
        self._others.add(link)
        self._strangers[link] = None
        most = len(self._book) + STRANGERS
        if len(self._strangers) > most:
            oldest = next(iter(self._strangers))
            del self._strangers[oldest]
            oldest.refuse(f"more than {most} connections have not yet proved who they are")
        return link

    def _dial(self, to: Node) -> Link | None:
        address = self._book.get(to)
        if address is None:
            return None
        link = Link(self, self._run, hello_to(self.node, to))
        self._links[to], self._dials[link] = link, []
        self._begin(self._open(link, address))
        return link

    async def _open(self, link: Link, address: Address) -> None:
        """Connect; the link does the rest, and tells whether it is open or has ended before."""
        try:
            async with asyncio.timeout(PATIENCE):
                await self._loop.create_connection(lambda: link, *address)
        except OSError as error:  # TimeoutError is one
            self._complain_of("connect", error)
            self._not_opened(link)
        except asyncio.CancelledError:
            self._not_opened(link)
            raise

    def _complain_of(self, what: str, error: OSError) -> None:
        """Where the system is short of something; that others are gone is nothing to complain of."""
        if error.errno in SHORTAGES:
            words = f"node {self.node} can't {what}: {reason(error)}; {SHORTAGES[error.errno]}"
            self._owner.complain("system", words)

    def _not_opened(self, link: Link) -> None:
        """What waited for it goes over a connection that the other end has opened meanwhile, or nowhere."""
        waiting = self._dials.pop(link, None)
        if waiting is None:  # it was opened
            return
        self._forget(link)
        to = cast(Node, link.peer)
        self._retry[to] = self._loop.time() + RETRY
        there = to in self._links
        for message in waiting:
            if there:
                self.send(to, message)
            else:
                self._owner.missed(to, message)

    def _use(self, node: Node, link: Link) -> None:
        former = self._links.get(node)
        if former is not None:
            self._set_aside(former)
        self._others.discard(link)
        self._links[node] = link

    def _set_aside(self, link: Link) -> None:
        """Send no more over it; what comes over it is still read."""
        self._others.add(link)
        self._replace(link)
        link.retire()

    def _forget(self, link: Link) -> None:
        self._others.discard(link)
        self._replace(link)

    def _replace(self, link: Link) -> None:
        """Where this was the connection to send over, take another one that its peer has opened, if any."""
        node = link.peer
        if node is None or self._links.get(node) is not link:
            return  # nothing was sent over it
        del self._links[node]
        other = next((other for other in self._others if other.peer == node and not other.over), None)
        if other is not None and other is not link:
            self._use(node, other)

    # What links tell.

    def opened(self, link: Link) -> None:
        """A connection that this node asked for is open, and what waited is written."""
        del self._dials[link]
        self._retry.pop(cast(Node, link.peer), None)
        self._past.opened += 1

    def called(self, link: Link, hello: Hello) -> None:
        """Somebody has opened a connection, who may be another node, and may want this one."""
        del link
        if hello.target != self.node or hello.source not in self._book:
            raise InputError(f"a hello is not addressed to node {self.node}, or not from a node of this run")

    def greeted(self, link: Link, source: Node) -> None:
        """Another node has opened a connection; that of the smaller id stays where both have."""
        self._strangers.pop(link, None)
        current = self._links.get(source)
        if current is None or source < self.node or not current.dialled:
            self._use(source, link)

    def got(self, link: Link, body: bytes) -> None:
        """A message came."""
        message = self._codec.read(body)
        if not self._over:
            self._owner.received(cast(Node, link.peer), message)

    def unfit(self, link: Link, reason: str) -> None:
        """Something came that no node would send."""
        self._owner.complain("frame", f"node {self.node} cut the connection from {link.address}: {reason}")

    def retired(self, link: Link) -> None:
        """The other end will send no more, and so does this one."""
        self._others.add(link)
        self._replace(link)

    def ended(self, link: Link) -> None:
        """A connection is no more."""
        self._past.bytes += link.sent_bytes
        self._strangers.pop(link, None)
        self._forget(link)
        self._not_opened(link)
