"""Checksums: XXH3 with 64 bits, of files and of JSON values.

They notice damage, not intent: whoever can write a file can also write its checksum. Any single flipped bit
changes the checksum; other damage goes unnoticed once in 2^64. Checking takes 3.6% of reading an overlay
from the page cache (`python -m benchmarks.checksums`).
"""

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import xxhash

_BLOCK = 1 << 20


class Sum(NamedTuple):
    """The size of a file and the checksum of its content."""

    bytes: int
    xxh3: str


class Summing:
    """A checksum that grows with what is written."""

    def __init__(self) -> None:
        self._state, self._bytes = xxhash.xxh3_64(), 0

    def update(self, data: bytes | memoryview) -> None:
        """Take in what comes next."""
        self._state.update(data)
        self._bytes += len(data)

    def sum(self) -> Sum:
        """The sum of all so far."""
        return Sum(self._bytes, self._state.hexdigest())


def sum_of(path: Path) -> Sum:
    """The sum of a file; reads all of it, a mebibyte at a time."""
    summing, block = Summing(), bytearray(_BLOCK)
    view = memoryview(block)
    with open(path, "rb", buffering=0, opener=_open_plain) as stream:
        while count := stream.readinto(block):
            summing.update(view[:count])
    return summing.sum()


def _open_plain(path: str, flags: int) -> int:
    """Opens a file, or what a link leads to; a pipe, which nobody may ever write to, is refused at once."""
    file = os.open(path, flags | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(f"{path} is not a regular file")
    return file


CHECKSUM = "checksum"
"""The key under which a JSON object of ours holds the checksum of the rest of it."""


def sealed(value: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON object with its checksum, by which it is known as ours and as whole."""
    rest = {key: item for key, item in value.items() if key != CHECKSUM}
    return {**rest, CHECKSUM: _digest(rest)}


def is_whole(value: Mapping[str, Any]) -> bool:
    """Whether a JSON object is what `sealed` gave."""
    return bool(value.get(CHECKSUM) == sealed(value)[CHECKSUM])


def _digest(value: Mapping[str, Any]) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return xxhash.xxh3_64_hexdigest(text.encode())
