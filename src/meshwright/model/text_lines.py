"""Blocks of bytes cut into lines, in linear time and bounded memory, however long a line is."""

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from meshwright.model.read_limits import ReadLimits
from meshwright.model.unpacking import blocks

if TYPE_CHECKING:
    from _csv import Reader

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
    for data, long in whole_lines(_without_mark(blocks(path, limits)), limits.line):
        for line in data.splitlines(keepends=True):
            if long or len(line) > limits.line:
                raise limits.too_long(f"{path}, line {number}")
            yield line.decode("utf-8")
            number += 1


def csv_reader(lines: Iterable[str], delimiter: str = ",", *, strict: bool = False) -> "Reader":
    """A reader of the csv module's, for fields of any length: lines have a limit of their own."""
    csv.field_size_limit(_NO_LIMIT)
    return csv.reader(lines, delimiter=delimiter, strict=strict)
