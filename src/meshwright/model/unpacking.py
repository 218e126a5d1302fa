"""The bytes of files from outside, unpacked block by block, as far as the limits allow."""

import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from meshwright.errors import InputError
from meshwright.model.names import one_line
from meshwright.model.read_limits import ReadLimits

_CODECS = {"gz": "gzip", "bz2": "bz2", "zst": "zstd", "lz4": "lz4", "br": "brotli"}
BLOCK_BYTES = 1 << 20


def is_packed(name: str | Path) -> bool:
    """Whether a file is compressed, by its name."""
    return _codec(name) is not None


def _codec(name: str | Path) -> str | None:
    return _CODECS.get(str(name).rpartition(".")[2].lower())


def blocks(path: str | Path, limits: ReadLimits, size: int = BLOCK_BYTES) -> Iterator[bytes]:
    """The bytes of a file, decompressed by its name, at most `size` at a time. Linear, in constant memory.

    A compressed file is checked by its own checksums; several members after each other are one file. What
    grows beyond the limits is refused as soon as it does, and so is what is cut off or damaged.
    """
    with pa.OSFile(str(path)) as raw:
        yield from unpacked(raw, path, limits, size)


def unpacked(raw: Any, name: str | Path, limits: ReadLimits, size: int = BLOCK_BYTES) -> Iterator[bytes]:
    """As `blocks`, of an open file of Arrow's."""
    return _unpacked(raw, name, raw.size(), limits, size)


def unpacked_bytes(
    parts: Iterable[bytes], name: str | Path, packed: int, limits: ReadLimits, size: int = BLOCK_BYTES
) -> Iterator[bytes]:
    """As `blocks`, of a file whose bytes are given, and how many they are."""
    stream = io.BufferedReader(_Parts(parts), BLOCK_BYTES)
    return _unpacked(pa.PythonFile(stream, "r"), name, packed, limits, size)


class _Parts(io.RawIOBase):
    """Blocks of bytes as a file, read once from its beginning to its end."""

    def __init__(self, parts: Iterable[bytes]) -> None:
        self._parts = iter(parts)
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            part = next(self._parts, None)
            if part is None:
                return 0
            self._rest = part
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        return count


def _unpacked(raw: Any, name: str | Path, packed: int, limits: ReadLimits, size: int) -> Iterator[bytes]:
    grown = 0
    with _decompressed(raw, name) as stream:
        while block := _read(stream, size, name, stream is not raw):
            grown += len(block)
            if stream is not raw:
                limits.check_unpacked(str(name), packed, grown)
            yield block


def _read(stream: Any, size: int, name: str | Path, is_packed: bool) -> bytes:
    try:
        data: bytes = stream.read(size)
    except OSError as error:
        if not is_packed:
            raise
        raise InputError(
            f"{name}: a compressed file is cut off or damaged ({one_line(error)}); fetch it again"
        ) from None
    return data


@contextmanager
def _decompressed(raw: Any, name: str | Path) -> Iterator[Any]:
    codec = _codec(name)
    if codec is None:
        yield raw
        return
    with pa.CompressedInputStream(raw, codec) as stream:
        yield stream
