"""Text as the tasks of an ingest read it, without Spark: from files, and as Hadoop hands it over."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks.fuzz_formats import Format
from benchmarks.fuzz_ingest import INGESTED
from benchmarks.fuzz_ingest import Format as Ingested
from benchmarks.fuzz_mutations import BYTES, Mutation, lines_with_long_ones, unchanged
from meshwright.model.reading.limits import ReadLimits
from meshwright.model.reading.text import is_packed
from meshwright.pipeline.ingest import file_parts, reading
from meshwright.pipeline.ingest.cutting import Layout
from meshwright.pipeline.ingest.file_parts import check_all_handed, longest_piece, staged_pieces
from meshwright.pipeline.ingest.inputs import InputFile, beginning, format_by_name
from meshwright.pipeline.ingest.lines import BLOCK_END
from meshwright.pipeline.ingest.options import IngestOptions

_LIMITS = ReadLimits(line=100_000, small=4 << 20)
_OPTIONS = IngestOptions(relation="pairs", max_rejected=1.0, limits=_LIMITS)
_PART_BYTES = 100
_PIECES_AT_ONCE = 7
_MARK = b"\xef\xbb\xbf"


def _rows(path: Path) -> int:
    """How many rows a file has, good or rejected; the same by either way, but for what Hadoop passes over."""
    if not path.stat().st_size:
        return 0
    layout = _layout(path)
    found = Counter(_outcomes(_from_file(path, layout)))
    handed = Counter(_outcomes(_from_pieces(path, layout)))
    if found != handed:
        raise AssertionError(f"from files {found - handed}, from Hadoop {handed - found}")
    return found.total()


def _layout(path: Path) -> Layout:
    format = format_by_name(path.name)
    file = InputFile(str(path), path.as_uri(), path.as_uri(), path.stat().st_size, 0)
    same: Any = reading._one_layout(format, _OPTIONS)
    none: Any = None  # files of this machine need no session
    return same or reading.first_line_layout(file.path, beginning(none, file, 2, _LIMITS), format, _OPTIONS)


def _from_file(path: Path, layout: Layout) -> Iterator[pa.RecordBatch]:
    file_parts._LEAST_PART, file_parts._LARGEST_PART = 1, _PART_BYTES
    shares = file_parts.parts_of({0: str(path)}, 2)
    numbers = pa.record_batch([pa.array(range(len(shares)))], ["id"])
    yield from file_parts.staged_shares([numbers], shares, {0: layout}, _LIMITS)


def _from_pieces(path: Path, layout: Layout) -> Iterator[pa.RecordBatch]:
    file = InputFile(str(path), "", "", path.stat().st_size, 0)
    count = 0
    for batch in staged_pieces(_handed(path), {0: file}, {0: layout}, _LIMITS):
        yield batch
        if batch.column("reason")[0].as_py() == BLOCK_END:
            count += int(batch.column("text")[0].as_py())
    check_all_handed(file, count, _LIMITS)


def _handed(path: Path) -> Iterator[pa.RecordBatch]:
    """What Spark's reader of text hands over: pieces without their ends, but for those that are too long."""
    data = path.read_bytes()
    pieces = (data if data.endswith(b"\n") else data + b"\n").removeprefix(_MARK).split(b"\n")[:-1]
    longest = longest_piece(str(path), _LIMITS)
    pieces = [piece for piece in pieces if len(piece) + 1 < longest]
    for start in range(0, len(pieces), _PIECES_AT_ONCE):
        some = pieces[start : start + _PIECES_AT_ONCE]
        zeros = pa.array([0] * len(some), pa.int64())
        yield pa.record_batch([pa.array(some, pa.binary()), zeros, zeros], ["piece", "file", "block"])


def _outcomes(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[Any, ...]]:
    for batch in batches:
        for row in batch.to_pylist():
            if row["reason"] != BLOCK_END:
                yield row["node"], row["topic"], row["reason"], row["text"]


def _mutations(name: str, format: Ingested) -> Sequence[Mutation]:
    """More of them than for the ingest on Spark, where each file that is refused costs a job."""
    return (*BYTES, *[unchanged] * 8) if is_packed(name) else lines_with_long_ones(format.mutations)


TASKS: Mapping[str, Format] = {
    f"tasks.{name}": Format(f"tasks.{name}", format.sample, _mutations(name, format), _rows, format.rows)
    for name, format in INGESTED.items()
    if name != "parquet"
}
