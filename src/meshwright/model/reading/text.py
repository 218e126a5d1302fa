"""Text files from outside: unpacked block by block and cut into lines, in linear time and bounded memory."""

import csv
import io
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from meshwright.model.reading.contents import LOOKED_AT, check_packed, check_regular, check_text, not_utf8
from meshwright.model.reading.limits import ReadLimits
from meshwright.runtime.errors import DamagedFileError, InputError, one_line

if TYPE_CHECKING:
    from _csv import Reader


_CODECS = {"gz": "gzip", "bz2": "bz2", "zst": "zstd", "lz4": "lz4", "br": "brotli"}
_ZIP = "zip"
BLOCK_BYTES = 1 << 20


def is_packed(name: str | Path) -> bool:
    """Whether a file is compressed, by its name."""
    return _codec(name) is not None or is_zip(name)


def is_zip(name: str | Path) -> bool:
    """Whether a file is a zip archive, by its name."""
    return _ending(name) == _ZIP


def _codec(name: str | Path) -> str | None:
    return _CODECS.get(_ending(name))


def _ending(name: str | Path) -> str:
    return str(name).rpartition(".")[2].lower()


def zipped_name(path: str | Path) -> str:
    """The name of the one file in a zip archive; an archive with none or several is refused."""
    with _opened_zip(path) as archive:
        return _only_member(archive, path).filename


@contextmanager
def _opened_zip(path: str | Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, NotImplementedError, zlib.error, EOFError) as error:
        raise DamagedFileError(
            f"{path}: the zip archive is cut off or damaged, or compressed in an unknown way "
            f"({one_line(error)}); fetch it again, or unpack it"
        ) from None


def _only_member(archive: zipfile.ZipFile, path: str | Path) -> zipfile.ZipInfo:
    """What macOS adds, and hidden files, do not count."""
    names = [
        member
        for member in archive.infolist()
        if not member.is_dir() and not Path(member.filename).name.startswith((".", "_"))
    ]
    if len(names) != 1:
        raise InputError(f"{path}: the zip archive holds {len(names)} files; unpack it, and give the files")
    if names[0].flag_bits & 1:
        raise InputError(f"{path}: the zip archive is encrypted; unpack it")
    return names[0]


def _zip_blocks(path: str | Path, limits: ReadLimits, size: int) -> Iterator[bytes]:
    packed, grown = Path(path).stat().st_size, 0
    with _opened_zip(path) as archive, archive.open(_only_member(archive, path)) as stream:
        while block := stream.read(size):
            grown += len(block)
            limits.check_unpacked(str(path), packed, grown)
            yield block


def blocks(path: str | Path, limits: ReadLimits, size: int = BLOCK_BYTES) -> Iterator[bytes]:
    """The bytes of a file, decompressed by its name, at most `size` at a time. Linear, in constant memory.

    A compressed file is checked by its own checksums; several members after each other are one file. A zip
    archive may hold one file. What
    grows beyond the limits is refused as soon as it does, and so is what is cut off or damaged.
    """
    check_regular(path)
    if (codec := _ZIP if is_zip(path) else _codec(path)) is not None:
        with Path(path).open("rb") as stream:
            check_packed(stream.read(LOOKED_AT), path, codec)
    if codec == _ZIP:
        yield from _zip_blocks(path, limits, size)
        return
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
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            part = next(self._parts, None)
            if part is None:
                return 0
            self._rest = memoryview(part)
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
        raise DamagedFileError(
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


SHOWN_BYTES = 1_000
_NO_LIMIT = 2**31 - 1
_MARK = b"\xef\xbb\xbf"


class Piece(NamedTuple):
    """Some whole lines with their ends, but for the last line of a file, which may have none.

    `long` says that it is the beginning of a single line instead, which was too long to be held.
    """

    data: bytes
    long: bool = False


class _Held:
    """A line that has no end yet: all of it, or the beginning of one that is too long."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, part: bytes) -> None:
        """Go on with it."""
        self._size += len(part)
        if self._size <= self._longest:
            self._parts.append(part)
        else:
            self._parts = [b"".join([*self._parts, part[:SHOWN_BYTES]])[:SHOWN_BYTES]]

    def finish(self, block: bytes) -> Iterator[Piece]:
        """End it with a block of whole lines, of which the first is its rest; or with nothing."""
        if self._size > self._longest:
            yield Piece(b"".join(self._parts), long=True)
            block = block.partition(b"\n")[2]
        elif self._size:
            block = b"".join([*self._parts, block])
        self._parts, self._size = [], 0
        if block:
            yield Piece(block)


def whole_lines(parts: Iterable[bytes], longest: int) -> Iterator[Piece]:
    r"""Blocks cut at the ends of lines, `\n`; at most `longest` bytes are held.

    So lines up to that length come whole, and so may longer ones that a block or two have room for.
    """
    held = _Held(longest)
    for block in parts:
        end = block.rfind(b"\n") + 1
        if end:
            yield from held.finish(block[:end])
        if end < len(block):
            held.add(block[end:])
    yield from held.finish(b"")


def _without_mark(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Without the byte order mark that some editors put first."""
    for number, part in enumerate(parts):
        yield part if number else part.removeprefix(_MARK)


def cut_lines(parts: Iterable[bytes], longest: int) -> Iterator[tuple[int, bytes, bool, bool]]:
    """The lines one by one: the number, the bytes without the end, whether there is one, whether it is long.

    Of a line that is longer than `longest` the bytes are its beginning.
    """
    number = 1
    for data, is_long in whole_lines(_without_mark(parts), longest):
        *lines, last = data.split(b"\n")
        for line in lines:
            if len(line) <= longest:
                yield number, line, True, False
            else:
                yield number, line[:SHOWN_BYTES], True, True
            number += 1
        if last:
            long = is_long or len(last) > longest
            yield number, last[:SHOWN_BYTES] if long else last, False, long
            number += 1


def decoded_lines(path: Path, limits: ReadLimits) -> Iterator[str]:
    r"""The lines of a file in UTF-8, with their ends: `\n`, `\r\n` or `\r`; too long a one is refused."""
    number = 1
    for data, long in whole_lines(_without_mark(_text_blocks(path, limits)), limits.line):
        for line in data.splitlines(keepends=True):
            if long or len(line) > limits.line:
                raise limits.too_long(f"{path}, line {number}").at(path, number)
            try:
                yield line.decode("utf-8")
            except UnicodeDecodeError:
                raise not_utf8(f"{path}, line {number},").at(path, number) from None
            number += 1


def _text_blocks(path: Path, limits: ReadLimits) -> Iterator[bytes]:
    """The bytes of a file that begins as text in UTF-8 does."""
    for at, block in enumerate(blocks(path, limits)):
        if at == 0:
            check_text(block, path)
        yield block


def csv_reader(lines: Iterable[str], delimiter: str = ",", *, strict: bool = False) -> "Reader":
    """A reader of the csv module's, for fields of any length: lines have a limit of their own."""
    csv.field_size_limit(_NO_LIMIT)
    return csv.reader(lines, delimiter=delimiter, strict=strict)
