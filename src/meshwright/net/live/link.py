"""One TCP connection between two nodes, as one of its ends sees it: its frames, its handshake and its end.

A frame is a head of six bytes (the version of this format, the kind, the length of the body) and the body.
Nothing that comes from a socket is trusted: version, kind and length are checked as soon as they are there,
and a kind out of turn, or a length that its kind does not have, is refused before any of the body is kept.

The handshake proves that both nodes belong to the same run. The run is 16 random bytes, which never cross a
socket. The caller says who it is, whom it wants, and a nonce; the listener answers with a nonce of its own
and a proof; the caller answers with its own proof. A proof is HMAC-SHA256 under the run, over the role of
whoever proves, both ids and both nonces. A recorded proof therefore fits no other connection, direction or
role (challenge and response with mutual authentication, ISO/IEC 9798-4, 5.2.2). What follows is neither
signed nor encrypted.
"""

import asyncio
import hmac
from collections.abc import Callable, Collection, Iterator
from enum import IntEnum
from secrets import token_bytes
from struct import Struct
from typing import NamedTuple, Protocol, cast

from meshwright.net.protocol import Node
from meshwright.runtime.errors import InputError

VERSION = 2
LARGEST_BODY = 1 << 20
"""Bytes; a walk that carries 10,000 nodes takes some 60,000."""

_HEAD = Struct("!BBI")


class Kind(IntEnum):
    """What a frame is for."""

    HELLO = 1  # the first on a connection, from the end that opened it
    MESSAGE = 2
    HOLD = 3  # some logical link at the sender's end uses this connection: keep it open
    RELEASE = 4  # none does any more
    CHALLENGE = 5  # the answer to a hello
    PROOF = 6  # the answer to a challenge


TALK = frozenset({Kind.MESSAGE, Kind.HOLD, Kind.RELEASE})
"""What comes once both ends know each other."""

_KINDS = {int(kind): kind for kind in Kind}
_LENGTHS = {
    Kind.HELLO: range(32, 33),
    Kind.CHALLENGE: range(48, 49),
    Kind.PROOF: range(32, 33),
    Kind.MESSAGE: range(LARGEST_BODY + 1),
    Kind.HOLD: range(1),
    Kind.RELEASE: range(1),
}
"""How long bodies are, by kind."""


class Frame(NamedTuple):
    """A frame that has come in whole."""

    kind: Kind
    body: bytes


def framed(kind: Kind, body: bytes = b"") -> bytes:
    """The bytes of a frame."""
    if len(body) > LARGEST_BODY:
        raise InputError(
            f"a message takes {len(body):,} bytes, but a frame holds {LARGEST_BODY:,}; send smaller ones"
        )
    return _HEAD.pack(VERSION, kind, len(body)) + body


class FrameReader:
    """Puts frames together from bytes that come in pieces of any size.

    It never keeps more than one frame's bytes and the piece that came last. After an error the rest of the
    connection has no meaning.

    Attributes:
        expected: the kinds that may come now; whoever takes a frame may change it for those that follow.
    """

    def __init__(self, expected: Collection[Kind]) -> None:
        self.expected = expected
        self._bytes = bytearray()

    def feed(self, piece: bytes) -> Iterator[Frame]:
        """The frames that this piece completes."""
        self._bytes += piece
        while (end := self._end()) is not None and end <= len(self._bytes):
            kind, body = _KINDS[self._bytes[1]], bytes(self._bytes[_HEAD.size : end])
            del self._bytes[:end]
            yield Frame(kind, body)

    def _end(self) -> int | None:
        """Where the first frame ends, or None while its head is not there yet."""
        if self._bytes and self._bytes[0] != VERSION:
            raise InputError(f"a frame has version {self._bytes[0]}; it must be {VERSION}")
        if len(self._bytes) < _HEAD.size:
            return None
        _, number, length = _HEAD.unpack_from(self._bytes)
        if number not in _KINDS:
            raise InputError(f"a frame has kind {number}; it must be from {min(Kind)} to {max(Kind)}")
        self._check(_KINDS[number], length)
        return _HEAD.size + int(length)

    def _check(self, kind: Kind, length: int) -> None:
        """A frame that comes out of turn, or has a length that its kind never has, is no frame."""
        if kind not in self.expected:
            wanted = " or ".join(kind.name for kind in sorted(self.expected))
            raise InputError(f"a {kind.name} came, but only {wanted} can come here")
        if length not in _LENGTHS[kind]:
            raise InputError(f"a {kind.name} has {length:,} bytes; it must have {_said(_LENGTHS[kind])}")


def _said(lengths: range) -> str:
    return f"{lengths[0]:,}" if len(lengths) == 1 else f"up to {lengths[-1]:,}"


_HELLO = Struct("!QQ16s")
_NONCE = 16
_CALLS, _LISTENS = b"meshwright calls", b"meshwright listens"


class Hello(NamedTuple):
    """Who opens a connection, to whom, and 16 bytes that it has never sent before."""

    source: int
    target: int
    nonce: bytes

    def body(self) -> bytes:
        """As a frame carries it."""
        return _HELLO.pack(*self)

    @classmethod
    def read(cls, body: bytes) -> "Hello":
        """From the body of a frame."""
        return cls(*_HELLO.unpack(body))


def hello_to(source: int, target: int) -> Hello:
    """A hello with a nonce of its own."""
    return Hello(source, target, token_bytes(_NONCE))


def challenge_to(hello: Hello, run: bytes) -> bytes:
    """What the listening end answers: its own nonce, and the proof that it knows the run."""
    nonce = token_bytes(_NONCE)
    return nonce + _proof(run, _LISTENS, hello, nonce)


def proof_to(challenge: bytes, hello: Hello, run: bytes) -> bytes:
    """What the calling end answers; InputError where the listening end does not know the run."""
    nonce, proof = challenge[:_NONCE], challenge[_NONCE:]
    if not hmac.compare_digest(proof, _proof(run, _LISTENS, hello, nonce)):
        raise InputError(f"the program that answers as node {hello.target} is from another run")
    return _proof(run, _CALLS, hello, nonce)


def check_proof(proof: bytes, challenge: bytes, hello: Hello, run: bytes) -> None:
    """InputError where the calling end does not know the run."""
    if not hmac.compare_digest(proof, _proof(run, _CALLS, hello, challenge[:_NONCE])):
        raise InputError(f"the program that calls itself node {hello.source} is from another run")


def _proof(run: bytes, role: bytes, hello: Hello, nonce: bytes) -> bytes:
    return hmac.digest(run, role + hello.body() + nonce, "sha256")


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
