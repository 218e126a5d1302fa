"""How two nodes find out that they belong to the same run, before either believes the other.

The run is 16 random bytes, which never cross a socket. Who calls says who it is, whom it wants, and a nonce;
who listens answers with a nonce of its own and a proof; who calls answers that with its own proof. A proof is
HMAC-SHA256 under the run, over the role of whoever proves, both ids and both nonces. So a proof that was
recorded fits no other connection, direction or role (challenge and response with mutual authentication, as
ISO/IEC 9798-4, 5.2.2, has it). What comes afterwards is neither signed nor encrypted.
"""

import hmac
from secrets import token_bytes
from struct import Struct
from typing import NamedTuple

from meshwright.errors import InputError

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
