"""One TCP connection between two nodes, as one of its ends sees it."""

import asyncio
from collections.abc import Callable
from typing import Protocol, cast

from meshwright.net.live.frames import (
    TALK,
    FrameReader,
    Hello,
    Kind,
    challenge_to,
    check_proof,
    framed,
    proof_to,
)
from meshwright.net.protocol import Node
from meshwright.runtime.errors import InputError

PATIENCE = 30.0
"""Seconds to open a connection, for both ends to know each other, and for one to close after the other."""

FULL = 1 << 20
"""Bytes that wait at one end; beyond them messages are dropped: a slow peer must not take all memory."""


class Keeper(Protocol):
    """What a link tells the node whose end it is."""

    def opened(self, link: "Link") -> None:
        """The connection is open that this end asked for, and the other end is who it should be."""

    def called(self, link: "Link", hello: Hello) -> None:
        """The other end says who it is, without proof yet; InputError where it has no business here."""

    def greeted(self, link: "Link", source: Node) -> None:
        """The other end has proved who it is."""

    def got(self, link: "Link", body: bytes) -> None:
        """A message came; InputError where it is none."""

    def unfit(self, link: "Link", reason: str) -> None:
        """The other end does not keep to the format; the link is being cut."""

    def retired(self, link: "Link") -> None:
        """The other end will send no more."""

    def ended(self, link: "Link") -> None:
        """The connection is no more; no call follows."""


class Link(asyncio.Protocol):
    """A connection that carries frames both ways.

    Whoever opens it sends a hello first; what is there to say follows when both ends have proved that they
    know the `run` (see `handshake`). Until then no frame is longer than these, and all have to come within
    `PATIENCE`. Either end ends it by closing its own direction and reading on until the other has done so
    too: what is under way still comes.

    Attributes:
        peer: the node at the other end; None until it has proved itself, where it has opened it.
        dialled: whether this end has opened it.
        over: whether this end sends no more.
        used: when a message last went or came, by the loop's clock.
        held, held_there: whether some logical link of this end, or of the other, uses the connection.
        sent_bytes: all that was written.
    """

    def __init__(self, keeper: Keeper, run: bytes, hello: Hello | None = None) -> None:
        self.peer: Node | None = hello.target if hello else None
        self.dialled = hello is not None
        self.held = self.held_there = False
        self._loop = asyncio.get_running_loop()
        self.used = self._loop.time()
        self._keeper, self._run, self._hello = keeper, run, hello
        self._challenge = b""
        self._transport: asyncio.Transport | None = None
        self._reader = FrameReader({Kind.CHALLENGE if self.dialled else Kind.HELLO})
        self._unsent = bytearray()
        self.sent_bytes = 0
        self.over = self._open = self._cut = self._full = False
        self._limit: asyncio.TimerHandle | None = None
        self._handlers: dict[Kind, Callable[[bytes], None]] = {
            Kind.HELLO: self._take_hello,
            Kind.CHALLENGE: self._take_challenge,
            Kind.PROOF: self._take_proof,
            Kind.MESSAGE: self._take_message,
            Kind.HOLD: self._take_hold,
            Kind.RELEASE: self._take_release,
        }

    @property
    def address(self) -> str:
        """Where the other end is, for people."""
        name = self._transport.get_extra_info("peername") if self._transport else None
        return f"{name[0]}:{name[1]}" if name else "an unknown address"

    def send(self, frame: bytes) -> bool:
        """Write a frame, or keep it until the connection is open; False where too much waits already."""
        if self._full or self.over or (self._transport is not None and self._transport.is_closing()):
            return False
        self.used = self._loop.time()
        if self._open:
            self._write(frame)
        else:
            self._unsent += frame
            self._full = len(self._unsent) > FULL
        return True

    def hold(self, held: bool) -> None:
        """Tell the other end whether this one needs the connection, if that is new."""
        if held != self.held and self.send(framed(Kind.HOLD if held else Kind.RELEASE)):
            self.held = held

    def retire(self) -> None:
        """Send no more, and be gone when the other end has closed too."""
        if self.over:
            return
        self.over = True
        if self._open:
            self._close_direction()

    def abort(self) -> None:
        """Cut the connection, as a node does that dies; nothing that came with what came last counts."""
        self.over = self._cut = True
        if self._transport is not None:
            self._transport.abort()

    def refuse(self, reason: str) -> None:
        """Cut the connection, and say why to the node whose end this is."""
        self._keeper.unfit(self, reason)
        self.abort()

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection is open."""
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=FULL)
        if self._cut:
            self._transport.abort()
            return
        self._wait(self._give_up)
        if self._hello is not None:
            self._write(framed(Kind.HELLO, self._hello.body()))

    def _write(self, data: bytes) -> None:
        assert self._transport is not None
        self.sent_bytes += len(data)
        self._transport.write(data)

    def _close_direction(self) -> None:
        assert self._transport is not None
        try:
            self._transport.write_eof()
        except OSError:  # the other end is gone, and the loop will say so
            self.abort()
        else:
            self._wait(self.abort)

    def data_received(self, data: bytes) -> None:
        """Take all frames that are whole; after one that is malformed there is nothing to read."""
        try:
            for frame in self._reader.feed(data):
                if (handler := self._handlers.get(frame.kind)) is not None:  # none once it has ended
                    handler(frame.body)
        except InputError as error:
            self.refuse(str(error))

    def eof_received(self) -> None:
        """The other end has closed its direction: asyncio writes what waits, and closes this one."""
        self.over = True
        self._keeper.retired(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is no more."""
        del exc
        self.over = True
        self._wait(None)
        self._handlers.clear()
        self._keeper.ended(self)

    def pause_writing(self) -> None:
        """Too much waits."""
        self._full = True

    def resume_writing(self) -> None:
        """Enough has gone."""
        self._full = False

    # What frames do.

    def _take_hello(self, body: bytes) -> None:
        self._hello = Hello.read(body)
        self._keeper.called(self, self._hello)
        self._challenge = challenge_to(self._hello, self._run)
        self._reader.expected = {Kind.PROOF}
        self._write(framed(Kind.CHALLENGE, self._challenge))

    def _take_challenge(self, body: bytes) -> None:
        assert self._hello is not None
        proof = framed(Kind.PROOF, proof_to(body, self._hello, self._run))
        self._trust()
        self._write(proof + self._unsent)
        self._unsent.clear()
        self._keeper.opened(self)
        if self.over:  # it was retired before it was open
            self._close_direction()

    def _take_proof(self, body: bytes) -> None:
        assert self._hello is not None
        check_proof(body, self._challenge, self._hello, self._run)
        self._trust()
        self.peer = self._hello.source
        self._keeper.greeted(self, self.peer)

    def _trust(self) -> None:
        """Both ends know each other from now on, and talk."""
        self._wait(None)
        self._open, self._full = True, False
        self._reader.expected = TALK

    def _take_message(self, body: bytes) -> None:
        self.used = self._loop.time()
        self._keeper.got(self, body)

    def _take_hold(self, body: bytes) -> None:
        del body
        self.held_there = True

    def _take_release(self, body: bytes) -> None:
        del body
        self.held_there = False

    def _give_up(self) -> None:
        self.refuse(f"it did not prove who it is within {PATIENCE:g} s")

    def _wait(self, late: Callable[[], None] | None) -> None:
        """Call `late` unless something else is waited for, or nothing, before patience ends."""
        if self._limit is not None:
            self._limit.cancel()
        self._limit = self._loop.call_later(PATIENCE, late) if late else None
