r"""Text files in parts, each of whole lines: read by the tasks themselves, or handed to them by Spark.

Spark's own reader takes a line of any length into memory, passes over a damaged block of bzip2 in silence,
and can't open a file whose name has a colon. So tasks read the files of this machine.

Files that only Hadoop reaches are cut by Spark's reader of text at every `\n`, and what is between is handed
over, of compressed files as well. So the bytes of a file come in pieces, and are unpacked, cut and bounded by
the functions that read local files. Hadoop passes over a piece that is longer than it may be, in silence:
sizes tell that one is missing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from meshwright.model.reading.files import reading
from meshwright.model.reading.limits import ReadLimits
from meshwright.model.reading.text import (
    BLOCK_BYTES,
    SHOWN_BYTES,
    blocks,
    is_packed,
    unpacked_bytes,
    whole_lines,
)
from meshwright.pipeline.ingest.cutting import Layout
from meshwright.pipeline.ingest.inputs import InputFile
from meshwright.pipeline.ingest.lines import BLOCK_END, runs, staged
from meshwright.runtime.errors import InputError

_LEAST_PART, _LARGEST_PART = 1 << 22, 1 << 27
_LINE_END = ord("\n")

LINES = pa.schema([("line", pa.binary()), ("long", pa.binary()), ("file", pa.int64()), ("block", pa.int64())])
"""Lines as `staged` takes them."""


class Part(NamedTuple):
    """The bytes of a file from `start` up to `stop`; of a compressed file, all. `file` is what rows carry."""

    file: int
    path: str
    start: int
    stop: int


def parts_of(files: Mapping[int, str], tasks: int) -> list[list[Part]]:
    """The parts of some files, in about as many shares of equal size as there are tasks, or more.

    Parts begin and end at ends of lines, so that the number of reads is that of the parts; a line that is
    longer than a part makes it longer. A compressed file is one part.
    """
    sizes = {key: Path(path).stat().st_size for key, path in files.items()}
    work = sum(sizes.values()) + _LEAST_PART * len(files)
    size = min(_LARGEST_PART, max(_LEAST_PART, work // tasks))
    parts = [part for key, path in files.items() for part in _cut(key, path, sizes[key], size)]
    return _shares(sorted(parts, key=lambda part: part.start - part.stop), size)


def _cut(key: int, path: str, length: int, size: int) -> Iterator[Part]:
    start = 0
    while start < length:
        near = is_packed(path) or start + size >= length
        stop = length if near else _line_end(path, start + size, length)
        yield Part(key, path, start, stop)
        start = stop


def _line_end(path: str, at: int, length: int) -> int:
    """The end of the line that the byte before `at` is in."""
    with reading(Path(path)), open(path, "rb") as stream:
        stream.seek(at - 1)
        while block := stream.read(BLOCK_BYTES):
            end = block.find(b"\n")
            if end >= 0:
                return stream.tell() - len(block) + end + 1
    return length


def _shares(parts: Iterable[Part], size: int) -> list[list[Part]]:
    """Parts in the order given, together as long as they are small; to open a file is work as well."""
    shares: list[list[Part]] = []
    room = 0
    for part in parts:
        cost = part.stop - part.start + _LEAST_PART
        if cost > room:
            shares.append([])
            room = size
        shares[-1].append(part)
        room -= cost
    return shares


def staged_shares(
    batches: Iterable[pa.RecordBatch],
    shares: Sequence[Sequence[Part]],
    layouts: Mapping[int, Layout],
    limits: ReadLimits,
) -> Iterator[pa.RecordBatch]:
    """Batches of numbers of shares as batches of STAGED: the lines of each share's parts, cut."""
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield from staged_parts(shares[number], layouts, limits)


def staged_parts(
    parts: Iterable[Part], layouts: Mapping[int, Layout], limits: ReadLimits
) -> Iterator[pa.RecordBatch]:
    """The lines of some parts as batches of STAGED."""
    return staged(_lines_of(parts, limits), layouts)


def _lines_of(parts: Iterable[Part], limits: ReadLimits) -> Iterator[pa.RecordBatch]:
    for part in parts:
        with reading(Path(part.path)):
            yield from lines_in(_bytes_of(part, limits), part, limits.line)


def lines_in(parts: Iterable[bytes], where: Part, longest: int) -> Iterator[pa.RecordBatch]:
    """The bytes of a part of a file, in blocks, as batches of LINES."""
    for data, long in whole_lines(_with_one_end(parts), longest):
        yield _as_batch(data, long, where, longest)


def _bytes_of(part: Part, limits: ReadLimits) -> Iterator[bytes]:
    if is_packed(part.path):
        yield from blocks(part.path, limits)
        return
    with open(part.path, "rb") as stream:
        stream.seek(part.start)
        left = part.stop - part.start
        while left and (block := stream.read(min(left, BLOCK_BYTES))):
            left -= len(block)
            yield block


def _with_one_end(parts: Iterable[bytes]) -> Iterator[bytes]:
    r"""Blocks in which every line ends with `\n`, in place of `\r\n` or `\r`."""
    held = b""
    for part in parts:
        block = held + part
        held = b"\r" if block.endswith(b"\r") else b""
        block = block.removesuffix(b"\r")
        yield block.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in block else block
    if held:
        yield b"\n"


def _as_batch(data: bytes, long: bool, part: Part, longest: int) -> pa.RecordBatch:
    """Whole lines as LINES."""
    if not data.endswith(b"\n"):
        data += b"\n"
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == _LINE_END)
    count = len(ends)
    offsets = np.zeros(count + 1, np.int32)
    offsets[1:] = ends - np.arange(count)
    values = pa.py_buffer(data.translate(None, b"\n"))
    lines = pa.Array.from_buffers(pa.binary(), count, [None, pa.py_buffer(offsets), values])
    long_ones = np.full(count, True) if long else np.diff(offsets) > longest
    return pa.record_batch([*_without_long(lines, long_ones), *_where(part, count)], schema=LINES)


def _without_long(lines: pa.BinaryArray, long: npt.NDArray[np.bool_]) -> tuple[pa.Array, pa.Array]:
    """The lines, null where they are long, and how those begin."""
    nothing = pa.nulls(len(lines), pa.binary())
    if not long.any():
        return lines, nothing
    mask = pa.array(long)
    beginnings = pc.binary_slice(lines, 0, SHOWN_BYTES)
    return pc.if_else(mask, nothing, lines), pc.if_else(mask, beginnings, nothing)


def _where(part: Part, count: int) -> list[pa.Array]:
    return [pa.array(np.full(count, number, np.int64)) for number in (part.file, part.start)]


_LEAST_PACKED_PIECE = 1 << 26
_LONGER = 1 << 10
_MARK_BYTES = 3


class _Piece(NamedTuple):
    file: int
    block: int
    data: bytes


def longest_piece(path: str, limits: ReadLimits) -> int:
    """How many bytes Hadoop may hold between two ends of lines of a file.

    Of text, little more than a line may have. In compressed bytes, ends of lines are where chance puts them.
    """
    return max(limits.line, _LEAST_PACKED_PIECE) if is_packed(path) else limits.line + _LONGER


def staged_pieces(
    batches: Iterable[pa.RecordBatch],
    files: Mapping[int, InputFile],
    layouts: Mapping[int, Layout],
    limits: ReadLimits,
) -> Iterator[pa.RecordBatch]:
    """Batches of `piece, file, block` as batches of STAGED; the end of a block says its bytes as its text."""
    for (file, block), pieces in groupby(_pieces(batches), key=lambda piece: (piece.file, piece.block)):
        counted = _Counted(piece.data for piece in pieces)
        part = Part(file, files[file].path, block, 0)
        with reading(part.path):
            data = _unpacked(counted, files[file], limits) if is_packed(part.path) else iter(counted)
            for batch in staged(lines_in(data, part, limits.line), layouts):
                yield _with_bytes(batch, counted.bytes)


def _pieces(batches: Iterable[pa.RecordBatch]) -> Iterator[_Piece]:
    """Stretches of a block of a file, every piece with the end that was cut off, or never was there."""
    for batch in batches:
        file, block = batch.column("file"), batch.column("block")
        ended = pc.binary_join_element_wise(batch.column("piece"), b"", b"\n")
        for start, stop in runs(file, block):
            data = b"".join(ended.slice(start, stop - start).to_pylist())
            yield _Piece(file[start].as_py(), block[start].as_py(), data)


class _Counted:
    """Blocks of bytes, counted as they go by."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks = blocks
        self.bytes = 0

    def __iter__(self) -> Iterator[bytes]:
        for block in self._blocks:
            self.bytes += len(block)
            yield block


def _unpacked(pieces: _Counted, file: InputFile, limits: ReadLimits) -> Iterator[bytes]:
    packed = _without_added_end(pieces, file)
    yield from unpacked_bytes(packed, file.path, file.bytes, limits)


def _without_added_end(pieces: _Counted, file: InputFile) -> Iterator[bytes]:
    for block in pieces:
        yield block[: len(block) - max(0, pieces.bytes - file.bytes)]
    if pieces.bytes < file.bytes:
        raise InputError(
            f"{file.path}: only a part of this compressed file arrived, since Hadoop drops stretches that "
            f"are longer than about {_LEAST_PACKED_PIECE:,} bytes; unpack the file"
        )


def _with_bytes(batch: pa.RecordBatch, count: int) -> pa.RecordBatch:
    if batch.num_rows != 1 or batch.column("reason")[0].as_py() != BLOCK_END:
        return batch
    at = batch.schema.get_field_index("text")
    return batch.set_column(at, batch.schema.field(at), pa.array([str(count)], pa.string()))


def check_all_handed(file: InputFile, counted: int, limits: ReadLimits) -> None:
    """Refuse a file of which Hadoop has passed over something, by the bytes of all that it handed over.

    There may be one more, the end of the last line, and three less, a byte order mark.
    """
    missing = file.bytes - counted
    if missing not in (-1, 0, _MARK_BYTES - 1, _MARK_BYTES):
        raise limits.too_long(f"{file.path}: a line")
