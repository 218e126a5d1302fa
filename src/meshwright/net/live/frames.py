"""Frames, which two nodes write to a connection one after another, and the handshake that comes first.

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

import hmac
from collections.abc import Collection, Iterator
from enum import IntEnum
from secrets import token_bytes
from struct import Struct
from typing import NamedTuple

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
        raise InputError(f"what answers for node {hello.target} is from another run")
    return _proof(run, _CALLS, hello, nonce)


def check_proof(proof: bytes, challenge: bytes, hello: Hello, run: bytes) -> None:
    """InputError where the calling end does not know the run."""
    if not hmac.compare_digest(proof, _proof(run, _CALLS, hello, challenge[:_NONCE])):
        raise InputError(f"what calls itself node {hello.source} is from another run")


def _proof(run: bytes, role: bytes, hello: Hello, nonce: bytes) -> bytes:
    return hmac.digest(run, role + hello.body() + nonce, "sha256")
