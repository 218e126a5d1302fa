"""Frames: what two nodes write to a connection, one after another.

A frame is a head of six bytes (the version of this format, the kind, the length of the body) and the body.
Nothing is believed of what comes from a socket: version, kind and length are checked as soon as they are
there, and a kind out of turn, or a length that its kind does not have, is refused before any of the body is
kept.
"""

from collections.abc import Collection, Iterator
from enum import IntEnum
from struct import Struct
from typing import NamedTuple

from meshwright.errors import InputError

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
            f"a message takes {len(body):,} bytes, and a frame holds {LARGEST_BODY:,}; send smaller ones"
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
            raise InputError(f"a frame has version {self._bytes[0]}; {VERSION} is legal")
        if len(self._bytes) < _HEAD.size:
            return None
        _, number, length = _HEAD.unpack_from(self._bytes)
        if number not in _KINDS:
            raise InputError(f"a frame has kind {number}; {min(Kind)} to {max(Kind)} are legal")
        self._check(_KINDS[number], length)
        return _HEAD.size + int(length)

    def _check(self, kind: Kind, length: int) -> None:
        """A frame that comes out of turn, or has a length that its kind never has, is no frame."""
        if kind not in self.expected:
            legal = " or ".join(kind.name for kind in sorted(self.expected))
            raise InputError(f"a {kind.name} came; {legal} is legal here")
        if length not in _LENGTHS[kind]:
            raise InputError(f"a {kind.name} has {length:,} bytes; {_said(_LENGTHS[kind])} are legal")


def _said(lengths: range) -> str:
    return f"{lengths[0]:,}" if len(lengths) == 1 else f"up to {lengths[-1]:,}"
