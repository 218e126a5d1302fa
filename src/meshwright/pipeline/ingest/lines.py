"""Lines of text as pairs of names: arrays of Arrow in, arrays of Arrow out, no Spark.

Whole batches are cut by Arrow's kernels. Only lines that have a quote in them, or batches in which a line is
not the JSON that was expected, are looked at one by one.
"""

from collections.abc import Generator, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from meshwright.model.wildcards import has_wildcard
from meshwright.pipeline.ingest import cutting
from meshwright.pipeline.ingest.cutting import (
    SHOWN_CHARACTERS,
    Cut,
    Faults,
    Layout,
    all_for,
    decoded,
    flags_of,
)
from meshwright.pipeline.ingest.filter_rows import filter_faults
from meshwright.runtime.arrays import Flags, Longs

BLOCK_END = ""
"""The reason of a row that is no rejected line: it says how many lines the block of a file has."""

STAGED = pa.schema(
    [
        ("node", pa.string()),
        ("topic", pa.string()),
        ("file", pa.int64()),
        ("block", pa.int64()),
        ("line", pa.int64()),
        ("reason", pa.string()),
        ("text", pa.string()),
        ("wide", pa.int64()),
        ("comments", pa.int64()),
    ]
)
"""What becomes of lines: a pair (a node alone has a null topic), or where and why a line can't be used.

At the end of a block, `wide` is how many of its lines have more columns than were looked at, and `comments`
how many were passed over as comments.
"""


class Passed(NamedTuple):
    """How many lines have more columns than were looked at, and how many were taken for comments."""

    wide: int = 0
    comments: int = 0

    def plus(self, other: "Passed") -> "Passed":
        """Both together."""
        return Passed(self.wide + other.wide, self.comments + other.comments)


class Place(NamedTuple):
    """Where lines are: the file, the block of it, and the number of the first of them in the block."""

    file: int
    block: int
    line: int


_CUTTERS = {
    "edges": cutting.cut_edges,
    "adjacency": cutting.cut_adjacency,
    "delimited": cutting.cut_delimited,
    "jsonl": cutting.cut_jsonl,
}
_LINED = ("edges", "adjacency")


def staged(batches: Iterator[pa.RecordBatch], layouts: Mapping[int, Layout]) -> Iterator[pa.RecordBatch]:
    """Batches of `line, long, file, block` as batches of STAGED.

    `line` is binary, or null where the line is too long, and then `long` is how it begins. `file` is a key of
    `layouts`. The lines of a block of a file come together and in order; after the last one comes a row with
    the reason BLOCK_END and the number of lines.
    """
    at: Place | None = None
    passed = Passed()
    for batch in batches:
        for start, stop in runs(batch.column("file"), batch.column("block")):
            part = batch.slice(start, stop - start)
            file, block = part.column("file")[0].as_py(), part.column("block")[0].as_py()
            if at is None or (at.file, at.block) != (file, block):
                if at is not None:
                    yield _block_end(at, passed)
                at, passed = Place(file, block, 1), Passed()
            more = yield from parsed(part.column("line"), part.column("long"), layouts[file], at)
            passed = passed.plus(more)
            at = at._replace(line=at.line + part.num_rows)
    if at is not None:
        yield _block_end(at, passed)


def runs(*columns: pa.Array) -> Iterator[tuple[int, int]]:
    """The stretches of rows in which no column changes."""
    changes = np.zeros(max(len(columns[0]) - 1, 0), np.bool_)
    for column in columns:
        values = column.to_numpy(zero_copy_only=False)
        changes |= values[1:] != values[:-1]
    ends = [0, *(np.flatnonzero(changes) + 1).tolist(), len(columns[0])]
    return iter(pairwise(ends) if len(columns[0]) else ())


def _block_end(place: Place, passed: Passed) -> pa.RecordBatch:
    row = {
        "file": place.file,
        "block": place.block,
        "line": place.line - 1,
        "reason": BLOCK_END,
        **passed._asdict(),
    }
    return pa.RecordBatch.from_pylist([row], STAGED)


def parsed(
    lines: pa.BinaryArray, long: pa.BinaryArray, layout: Layout, place: Place
) -> Generator[pa.RecordBatch, None, Passed]:
    """Lines that follow each other in one block as pairs, and as rows that say why a line can't be used.

    Returns what was passed over.
    """
    texts, no_text = decoded(lines)
    bad = all_for(np.flatnonzero(no_text), cutting.NOT_UTF8)
    if lines.null_count:
        bad += all_for(np.flatnonzero(flags_of(lines.is_null())), cutting.LONG_LINE)
    if place.block == 0 and place.line == 1:
        texts = _without_mark(texts)
    wanted, comments = _wanted(texts, layout)
    if place.block == 0 and place.line <= layout.header < place.line + len(lines):
        wanted[layout.header - place.line] = False
    rows = np.flatnonzero(wanted)
    cut = _CUTTERS[layout.kind](texts if len(rows) == len(texts) else texts.take(pa.array(rows)), layout)
    good, faults = sorted_out(cut, layout.wildcards, layout.dialect)
    bad += [(int(rows[row]), reason) for row, reason in cut.bad + faults]
    if len(good):
        yield _pairs(cut, good)
    if bad:
        yield _rejected(sorted(bad), lines, long, place)
    return Passed(cut.wide, comments)


def _without_mark(texts: pa.StringArray) -> pa.StringArray:
    """Without the byte order mark that some editors put first."""
    if not len(texts) or not (texts[0].as_py() or "").startswith("\ufeff"):
        return texts
    return pa.concat_arrays([pa.array([texts[0].as_py()[1:]], pa.string()), texts.slice(1)])


def _wanted(texts: pa.StringArray, layout: Layout) -> tuple[Flags, int]:
    """The lines that are rows, not blank, no comment, and text at all; and how many are comments."""
    if layout.kind == "delimited":
        return flags_of(pc.not_equal(texts, "")).copy(), 0
    trimmed = pc.ascii_ltrim_whitespace(texts)
    wanted = flags_of(pc.not_equal(trimmed, "")).copy()
    if layout.kind not in _LINED:
        return wanted, 0
    comment = flags_of(pc.or_(pc.starts_with(trimmed, "#"), pc.starts_with(trimmed, "%")))
    return wanted & ~comment, int(np.count_nonzero(comment))


def sorted_out(cut: Cut, refuse_wildcards: bool, dialect: str | None) -> tuple[Longs, Faults]:
    """Which pairs are good, and what is wrong with the others; with a dialect, topics are filters."""
    faults = [
        (cutting.EMPTY_NAME, pc.or_kleene(pc.equal(cut.first, ""), pc.equal(cut.second, ""))),
        (cutting.LONG_NAME, pc.or_kleene(_is_long(cut.first), _is_long(cut.second))),
    ]
    if refuse_wildcards:
        faults.append((cutting.WILDCARD, has_wildcard(cut.second)))
    good = np.ones(len(cut.rows), np.bool_)
    found: Faults = []
    for reason, mask in faults:
        hit = flags_of(mask) & good
        if hit.any():
            found += all_for(cut.rows[hit], reason)
            good &= ~hit
    if dialect is not None:
        reasons = filter_faults(cut.second, dialect)
        hit = flags_of(reasons.is_valid()) & good
        found += zip(cut.rows[hit].tolist(), reasons.filter(pa.array(hit)).to_pylist(), strict=True)
        good &= ~hit
    return np.flatnonzero(good), found


def _is_long(names: pa.StringArray) -> pa.BooleanArray:
    return pc.greater(pc.binary_length(names), cutting.LONGEST_NAME)


def _pairs(cut: Cut, good: Longs) -> pa.RecordBatch:
    first, second = cut.first, cut.second
    if len(good) < len(first):
        first, second = first.take(pa.array(good)), second.take(pa.array(good))
    nothing = [pa.nulls(len(first), field.type) for field in list(STAGED)[2:]]
    return pa.RecordBatch.from_arrays([first, second, *nothing], schema=STAGED)


def _rejected(found: Faults, lines: pa.BinaryArray, long: pa.BinaryArray, place: Place) -> pa.RecordBatch:
    rows = [
        {
            "file": place.file,
            "block": place.block,
            "line": place.line + row,
            "reason": reason,
            "text": _shown(lines[row].as_py() if lines[row].is_valid else long[row].as_py()),
        }
        for row, reason in found
    ]
    return pa.RecordBatch.from_pylist(rows, STAGED)


def _shown(line: bytes | None) -> str:
    """How a line begins; bytes that are no text are shown as such."""
    text = (line or b"")[: 4 * SHOWN_CHARACTERS].decode(errors="backslashreplace")
    return text[:SHOWN_CHARACTERS]
