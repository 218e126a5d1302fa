"""Frames: what two nodes write to a connection, one after another.

A frame is a head of six bytes (the version of this format, the kind, the length of the body) and the body.
Nothing is believed of what comes from a socket: the version and the kind are checked as soon as they are
there, and a length above the limit is refused before any of the body is kept.
"""

from collections.abc import Iterator
from enum import IntEnum
from struct import Struct
from typing import NamedTuple

from meshwright.errors import InputError

VERSION = 1
LARGEST_BODY = 1 << 20
"""Bytes; a walk that carries 10,000 nodes takes some 60,000."""

_HEAD = Struct("!BBI")
_HELLO = Struct("!QQ16s")


class Kind(IntEnum):
    """What a frame is for."""

    HELLO = 1  # the first on a connection, from the end that opened it
    MESSAGE = 2
    HOLD = 3  # some logical link at the sender's end uses this connection: keep it open
    RELEASE = 4  # none does any more


_KINDS = {int(kind): kind for kind in Kind}


class Frame(NamedTuple):
    """A frame that has come in whole."""

    kind: Kind
    body: bytes


class Hello(NamedTuple):
    """Who opens a connection, to whom, and the run that both belong to, 16 bytes that others can't guess."""

    source: int
    target: int
    run: bytes

    def body(self) -> bytes:
        """As a frame carries it."""
        return _HELLO.pack(*self)

    @classmethod
    def read(cls, body: bytes) -> "Hello":
        """From the body of a frame."""
        if len(body) != _HELLO.size:
            raise InputError(f"a hello has {len(body)} bytes; {_HELLO.size} are legal")
        return cls(*_HELLO.unpack(body))


def framed(kind: Kind, body: bytes = b"") -> bytes:
    """The bytes of a frame."""
    if len(body) > LARGEST_BODY:
        raise InputError(
            f"a message takes {len(body):,} bytes, and a frame holds {LARGEST_BODY:,}; send smaller ones"
        )
    return _HEAD.pack(VERSION, kind, len(body)) + body


class FrameReader:
    """Puts frames together from bytes that come in pieces of any size.

    It never keeps more than one frame's bytes and the piece that came last. After an error the rest of the
    connection has no meaning.
    """

    def __init__(self) -> None:
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
            raise InputError(f"a frame has version {self._bytes[0]}; {VERSION} is legal")
        if len(self._bytes) < _HEAD.size:
            return None
        _, kind, length = _HEAD.unpack_from(self._bytes)
        if kind not in _KINDS:
            raise InputError(f"a frame has kind {kind}; {min(Kind)} to {max(Kind)} are legal")
        if length > LARGEST_BODY:
            raise InputError(f"a frame has {length:,} bytes; up to {LARGEST_BODY:,} are legal")
        return _HEAD.size + int(length)
