"""Lines of columns as pairs of names: how a file is laid out, what can be wrong, and the cutting."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from meshwright.model.text_lines import csv_reader

Rows = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

NOT_UTF8 = "not UTF-8"
LONG_LINE = "line too long"
MISSING_COLUMN = "missing column"
WRONG_COLUMNS = "wrong number of columns"
UNCLOSED_QUOTE = "unclosed quote"
NOT_JSON = "not a JSON object"
NOT_A_NAME = "not a name"
NULL = "null"
EMPTY_NAME = "empty name"
LONG_NAME = "name too long"
WILDCARD = "wildcard in topic"

LONGEST_NAME = 65_535
"""In bytes: what MQTT allows for a topic, and more than any name that somebody meant."""

Faults = list[tuple[int, str]]
"""Lines, by their place in a batch, and why they, or a name in them, can't be used."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How the lines of one file are cut.

    `kind` is delimited, edges or jsonl. `columns` are positions from 0, or the keys of JSON objects. `width`
    is the number of columns that every line of a delimited file must have, `header` the line that names them
    (0: there is none). With `wildcards`, topics that have one are rejected.
    """

    kind: str
    columns: tuple[int, int] | tuple[str, str]
    delimiter: str = ","
    width: int = 0
    header: int = 0
    wildcards: bool = False


class Cut(NamedTuple):
    """Names cut out of lines: which line each pair is of, and what can't be used."""

    rows: Rows
    first: pa.StringArray
    second: pa.StringArray
    bad: Faults


def flags_of(mask: pa.BooleanArray) -> Flags:
    """A mask for numpy; null is false."""
    flags: Flags = (mask.fill_null(False) if mask.null_count else mask).to_numpy(zero_copy_only=False)
    return flags


def all_for(rows: Rows, reason: str) -> Faults:
    """The same fault for each row."""
    return [(row, reason) for row in rows.tolist()]


def cut_edges(texts: pa.StringArray, layout: Layout) -> Cut:
    """Columns between blanks, as many as there are; only blanks of ASCII separate."""
    first, second = layout.columns
    most = max(int(first), int(second)) + 1
    parts = pc.ascii_split_whitespace(pc.ascii_trim_whitespace(texts), max_splits=most)
    enough = flags_of(pc.greater_equal(pc.list_value_length(parts), most))
    return _elements(parts, enough, np.arange(len(texts)), layout, MISSING_COLUMN)


def cut_delimited(texts: pa.StringArray, layout: Layout) -> Cut:
    """Columns between delimiters; lines that have a quote go through the csv module one by one."""
    quoted = flags_of(pc.match_substring(texts, '"'))
    if not quoted.any():
        return _cut_unquoted(texts, np.arange(len(texts)), layout)
    rows = np.flatnonzero(~quoted)
    plain = _cut_unquoted(texts.take(pa.array(rows)), rows, layout)
    rows = np.flatnonzero(quoted)
    fields, bad = _unquoted(texts.take(pa.array(rows)).to_pylist(), rows, layout.delimiter)
    parts = pa.array(list(fields.values()), pa.list_(pa.string()))
    whole = flags_of(pc.equal(pc.list_value_length(parts), layout.width))
    other = _elements(parts, whole, np.fromiter(fields, np.int64, len(fields)), layout, WRONG_COLUMNS)
    return Cut(
        np.concatenate([plain.rows, other.rows]),
        pa.concat_arrays([plain.first, other.first]),
        pa.concat_arrays([plain.second, other.second]),
        plain.bad + other.bad + bad,
    )


def _cut_unquoted(texts: pa.StringArray, rows: Rows, layout: Layout) -> Cut:
    parts = pc.split_pattern(texts, layout.delimiter)
    whole = flags_of(pc.equal(pc.list_value_length(parts), layout.width))
    return _elements(parts, whole, rows, layout, WRONG_COLUMNS)


def _unquoted(texts: Sequence[str], rows: Rows, delimiter: str) -> tuple[dict[int, list[str]], Faults]:
    """The fields of lines with quotes, by row; a quote that is not closed, or goes on after it, is bad.

    So is an odd number of quotes: each half of a field that holds a line break has one, and the second would
    pass for a row of its own.
    """
    fields, bad = {}, []
    for row, text in zip(rows.tolist(), texts, strict=True):
        try:
            if text.count('"') % 2:
                raise csv.Error
            fields[row] = split_line(text, delimiter)
        except csv.Error:
            bad.append((row, UNCLOSED_QUOTE))
    return fields, bad


def split_line(text: str, delimiter: str) -> list[str]:
    """The fields of one line of a delimited file; raises csv.Error where a quote is not closed."""
    return next(csv_reader([text], delimiter, strict=True), [])


def _elements(parts: pa.ListArray, fits: Flags, rows: Rows, layout: Layout, reason: str) -> Cut:
    """The two wanted elements of each list that fits."""
    bad = all_for(rows[~fits], reason)
    if bad:
        parts, rows = parts.filter(pa.array(fits)), rows[fits]
    if not len(rows):
        empty = pa.array([], pa.string())
        return Cut(rows, empty, empty, bad)
    first, second = (pc.list_element(parts, int(column)) for column in layout.columns)
    return Cut(rows, first, second, bad)
