r"""Text files that only Hadoop reaches: Spark hands tasks their bytes, and they go on as with local files.

Spark's reader of text cuts files at every `\n` and hands over what is between, of compressed files as well.
So the bytes of a file come in pieces, and are unpacked, cut and bounded by the functions that read local
files. Hadoop passes over a piece that is longer than it may be, in silence: sizes tell that one is missing.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from meshwright.model.reading.files import reading
from meshwright.model.reading.limits import ReadLimits
from meshwright.model.reading.text import is_packed, unpacked_bytes
from meshwright.pipeline.ingest.cutting import Layout
from meshwright.pipeline.ingest.file_parts import Part, lines_in
from meshwright.pipeline.ingest.lines import BLOCK_END, runs, staged
from meshwright.runtime.errors import InputError

_LEAST_PACKED_PIECE = 1 << 26
_LONGER = 1 << 10
_MARK_BYTES = 3


class HandedFile(NamedTuple):
    """A file as people name it, and its size."""

    path: str
    bytes: int


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
    files: Mapping[int, HandedFile],
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


def _unpacked(pieces: _Counted, file: HandedFile, limits: ReadLimits) -> Iterator[bytes]:
    packed = _without_added_end(pieces, file)
    yield from unpacked_bytes(packed, file.path, file.bytes, limits)


def _without_added_end(pieces: _Counted, file: HandedFile) -> Iterator[bytes]:
    for block in pieces:
        yield block[: len(block) - max(0, pieces.bytes - file.bytes)]
    if pieces.bytes < file.bytes:
        raise InputError(f"{file.path}: Hadoop can't hand over some {_LEAST_PACKED_PIECE:,} bytes; unpack it")


def _with_bytes(batch: pa.RecordBatch, count: int) -> pa.RecordBatch:
    if batch.num_rows != 1 or batch.column("reason")[0].as_py() != BLOCK_END:
        return batch
    at = batch.schema.get_field_index("text")
    return batch.set_column(at, batch.schema.field(at), pa.array([str(count)], pa.string()))


def check_all_handed(file: HandedFile, counted: int, limits: ReadLimits) -> None:
    """Refuse a file of which Hadoop has passed over something, by the bytes of all that it handed over.

    There may be one more, the end of the last line, and three less, a byte order mark.
    """
    missing = file.bytes - counted
    if missing not in (-1, 0, _MARK_BYTES - 1, _MARK_BYTES):
        raise limits.too_long(f"{file.path}: a line")
