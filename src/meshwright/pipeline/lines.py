"""Lines of text as pairs of names: arrays of Arrow in, arrays of Arrow out, no Spark.

Whole batches are cut by Arrow's kernels. Only lines that have a quote in them, or batches in which a line is
not the JSON that was expected, are looked at one by one.
"""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

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

LONGEST_LINE = 1 << 26
SHOWN_CHARACTERS = 200
IS_WILDCARD = "(^|/)[#+](/|$)"

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
    ]
)
"""What becomes of lines: a pair (a node alone has a null topic), or where and why a line can't be used."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How the lines of one file are cut.

    `kind` is delimited, edges or jsonl. `columns` are positions from 0, or the keys of JSON objects. `width` is
    the number of columns that every line of a delimited file must have, `header` the line that names them (0:
    there is none).
    """

    kind: str
    columns: tuple[int, int] | tuple[str, str]
    delimiter: str = ","
    width: int = 0
    header: int = 0
    wildcards: bool = False


Faults = list[tuple[int, str]]
"""Lines, by their place in a batch, and why they, or a name in them, can't be used."""


class Cut(NamedTuple):
    """Names cut out of lines: which line each pair is of, and what can't be used."""

    rows: Rows
    first: pa.StringArray
    second: pa.StringArray
    bad: Faults


class Place(NamedTuple):
    """Where lines are: the file, the block of it, and the number of the first of them in the block."""

    file: int
    block: int
    line: int


def staged(batches: Iterator[pa.RecordBatch], layouts: Mapping[int, Layout]) -> Iterator[pa.RecordBatch]:
    """Batches of `line, long, file, block` as batches of STAGED.

    `line` is binary, or null where the line is too long, and then `long` is how it begins. `file` is a key of
    `layouts`. The lines of a block of a file come together and in order; after the last one comes a row with
    the reason BLOCK_END and the number of lines.
    """
    at: Place | None = None
    for batch in batches:
        for start, stop in _runs(batch.column("file"), batch.column("block")):
            part = batch.slice(start, stop - start)
            file, block = part.column("file")[0].as_py(), part.column("block")[0].as_py()
            if at is None or (at.file, at.block) != (file, block):
                if at is not None:
                    yield _block_end(at)
                at = Place(file, block, 1)
            yield from parsed(part.column("line"), part.column("long"), layouts[file], at)
            at = at._replace(line=at.line + part.num_rows)
    if at is not None:
        yield _block_end(at)


def _runs(*columns: pa.Array) -> Iterator[tuple[int, int]]:
    """The stretches of rows in which no column changes."""
    changes = np.zeros(max(len(columns[0]) - 1, 0), np.bool_)
    for column in columns:
        values = column.to_numpy(zero_copy_only=False)
        changes |= values[1:] != values[:-1]
    ends = [0, *(np.flatnonzero(changes) + 1).tolist(), len(columns[0])]
    return zip(ends[:-1], ends[1:], strict=True) if len(columns[0]) else iter(())


def _block_end(place: Place) -> pa.RecordBatch:
    lines = place.line - 1
    row = {"file": place.file, "block": place.block, "line": lines, "reason": BLOCK_END}
    return pa.RecordBatch.from_pylist([row], STAGED)


def parsed(lines: pa.BinaryArray, long: pa.BinaryArray, layout: Layout, place: Place) -> Iterator[pa.RecordBatch]:
    """Lines that follow each other in one block as pairs, and as rows that say why a line can't be used."""
    texts, bad = _decoded(lines)
    if lines.null_count:
        bad += _all(np.flatnonzero(_flags(lines.is_null())), LONG_LINE)
    if place.block == 0 and place.line == 1:
        texts = _without_mark(texts)
    wanted = _wanted(texts, layout)
    if place.block == 0 and place.line <= layout.header < place.line + len(lines):
        wanted[layout.header - place.line] = False
    rows = np.flatnonzero(wanted)
    cut = _CUTTERS[layout.kind](texts if len(rows) == len(texts) else texts.take(pa.array(rows)), layout)
    good, faults = _sorted_out(cut, layout)
    bad += [(int(rows[row]), reason) for row, reason in cut.bad + faults]
    if len(good):
        yield _pairs(cut, good)
    if bad:
        yield _rejected(sorted(bad), lines, long, place)


def _all(rows: Rows, reason: str) -> Faults:
    return [(row, reason) for row in rows.tolist()]


def _decoded(lines: pa.BinaryArray) -> tuple[pa.StringArray, Faults]:
    """The lines as strings, with null for those that are not UTF-8; Arrow checks a batch at once."""
    try:
        return lines.cast(pa.string()), []
    except pa.ArrowInvalid:
        texts = pa.array([_text(line) for line in lines.to_pylist()], pa.string())
        bad = _flags(pc.and_(lines.is_valid(), texts.is_null()))
        return texts, _all(np.flatnonzero(bad), NOT_UTF8)


def _text(line: bytes | None) -> str | None:
    try:
        return None if line is None else line.decode()
    except UnicodeDecodeError:
        return None


def _without_mark(texts: pa.StringArray) -> pa.StringArray:
    """Without the byte order mark that some editors put first."""
    if not len(texts) or not (texts[0].as_py() or "").startswith("\ufeff"):
        return texts
    return pa.concat_arrays([pa.array([texts[0].as_py()[1:]], pa.string()), texts.slice(1)])


def _wanted(texts: pa.StringArray, layout: Layout) -> Flags:
    """The lines that are rows: not blank, no comment, and text at all."""
    if layout.kind == "delimited":
        wanted = pc.not_equal(texts, "")
    else:
        trimmed = pc.ascii_ltrim_whitespace(texts)
        wanted = pc.not_equal(trimmed, "")
        if layout.kind == "edges":
            comment = pc.or_(pc.starts_with(trimmed, "#"), pc.starts_with(trimmed, "%"))
            wanted = pc.and_not(wanted, comment)
    return _flags(wanted).copy()


def _flags(mask: pa.BooleanArray) -> Flags:
    flags: Flags = (mask.fill_null(False) if mask.null_count else mask).to_numpy(zero_copy_only=False)
    return flags


def _cut_edges(texts: pa.StringArray, layout: Layout) -> Cut:
    first, second = layout.columns
    most = max(int(first), int(second)) + 1
    parts = pc.ascii_split_whitespace(pc.ascii_trim_whitespace(texts), max_splits=most)
    enough = _flags(pc.greater_equal(pc.list_value_length(parts), most))
    return _elements(parts, enough, np.arange(len(texts)), layout, MISSING_COLUMN)


def _cut_delimited(texts: pa.StringArray, layout: Layout) -> Cut:
    quoted = _flags(pc.match_substring(texts, '"'))
    if not quoted.any():
        return _cut_unquoted(texts, np.arange(len(texts)), layout)
    rows = np.flatnonzero(~quoted)
    plain = _cut_unquoted(texts.take(pa.array(rows)), rows, layout)
    rows = np.flatnonzero(quoted)
    fields, bad = _unquoted(texts.take(pa.array(rows)).to_pylist(), rows, layout.delimiter)
    parts = pa.array(list(fields.values()), pa.list_(pa.string()))
    whole = _flags(pc.equal(pc.list_value_length(parts), layout.width))
    other = _elements(parts, whole, np.fromiter(fields, np.int64, len(fields)), layout, WRONG_COLUMNS)
    return Cut(
        np.concatenate([plain.rows, other.rows]),
        pa.concat_arrays([plain.first, other.first]),
        pa.concat_arrays([plain.second, other.second]),
        plain.bad + other.bad + bad,
    )


def _cut_unquoted(texts: pa.StringArray, rows: Rows, layout: Layout) -> Cut:
    parts = pc.split_pattern(texts, layout.delimiter)
    whole = _flags(pc.equal(pc.list_value_length(parts), layout.width))
    return _elements(parts, whole, rows, layout, WRONG_COLUMNS)


def _unquoted(texts: Sequence[str], rows: Rows, delimiter: str) -> tuple[dict[int, list[str]], Faults]:
    """The fields of lines with quotes, by row; a quote that is not closed, or goes on after its end, is bad."""
    fields, bad = {}, []
    for row, text in zip(rows.tolist(), texts, strict=True):
        try:
            fields[row] = split_line(text, delimiter)
        except csv.Error:
            bad.append((row, UNCLOSED_QUOTE))
    return fields, bad


def split_line(text: str, delimiter: str) -> list[str]:
    """The fields of one line of a delimited file; raises csv.Error where a quote is not closed."""
    csv.field_size_limit(LONGEST_LINE)
    return next(csv.reader([text], delimiter=delimiter, strict=True), [])


def _elements(parts: pa.ListArray, fits: Flags, rows: Rows, layout: Layout, reason: str) -> Cut:
    """The two wanted elements of each list that fits."""
    bad = _all(rows[~fits], reason)
    if bad:
        parts, rows = parts.filter(pa.array(fits)), rows[fits]
    if not len(rows):
        empty = pa.array([], pa.string())
        return Cut(rows, empty, empty, bad)
    first, second = (pc.list_element(parts, int(column)) for column in layout.columns)
    return Cut(rows, first, second, bad)


def _cut_jsonl(texts: pa.StringArray, layout: Layout) -> Cut:
    table = _read_json(texts, layout)
    if table is None:
        return _cut_json_lines(texts.to_pylist(), np.arange(len(texts)), layout)
    columns = [table.column(str(name)).combine_chunks() for name in layout.columns]
    plain = np.logical_and(*(_is_plain(column) for column in columns))
    rows = np.flatnonzero(~plain)
    other = _cut_json_lines(texts.take(pa.array(rows)).to_pylist(), rows, layout)
    rows = np.flatnonzero(plain)
    rows, first, second = _exploded(rows, *(column.filter(pa.array(plain)) for column in columns))
    return Cut(
        np.concatenate([rows, other.rows]),
        pa.concat_arrays([first.cast(pa.string()), other.first]),
        pa.concat_arrays([second.cast(pa.string()), other.second]),
        other.bad,
    )


def _is_plain(column: pa.Array) -> Flags:
    """Where there is a name, or some in a list.

    A null may be a key that is missing, and an empty list has a meaning: these few are looked at one by one.
    """
    plain = _flags(column.is_valid())
    if pa.types.is_list(column.type):
        plain = plain & _flags(pc.greater(pc.list_value_length(column), 0))
        elements = pc.list_flatten(column)
        if elements.null_count:
            plain[pc.list_parent_indices(column).filter(elements.is_null()).to_numpy()] = False
    return plain


def _exploded(rows: Rows, first: pa.Array, second: pa.Array) -> tuple[Rows, pa.Array, pa.Array]:
    """Each element of a list is a row of its own."""
    if pa.types.is_list(first.type):
        parents = pc.list_parent_indices(first)
        rows, first, second = rows[parents.to_numpy()], pc.list_flatten(first), second.take(parents)
    if pa.types.is_list(second.type):
        parents = pc.list_parent_indices(second)
        rows, first, second = rows[parents.to_numpy()], first.take(parents), pc.list_flatten(second)
    return rows, first, second


def _read_json(texts: pa.StringArray, layout: Layout) -> pa.Table | None:
    """All lines at once, or None if they are not alike or one of them is wrong.

    A line that begins with { and ends with } can't be a part of an object that goes on in the next line; so as
    many objects as lines means one in each.
    """
    if not len(texts):
        return None
    schema = _guessed(texts[0].as_py(), layout)
    if schema is None:
        return None
    trimmed = pc.ascii_trim_whitespace(texts)
    if not (pc.all(pc.starts_with(trimmed, "{")).as_py() and pc.all(pc.ends_with(trimmed, "}")).as_py()):
        return None
    if _has_integers(schema) and pc.any(pc.match_substring(texts, "-0")).as_py():
        return None  # an integer would forget the sign of -0
    joined = pc.binary_join(pa.ListArray.from_arrays([0, len(trimmed)], trimmed), "\n")[0]
    data = joined.as_buffer()
    try:
        table = pj.read_json(
            pa.BufferReader(data),
            read_options=pj.ReadOptions(use_threads=False, block_size=data.size + 1),
            parse_options=pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
        )
    except (pa.ArrowException, UnicodeDecodeError):
        return None
    return table if table.num_rows == len(texts) else None


def _guessed(text: str, layout: Layout) -> pa.Schema | None:
    """The types of the two columns in one line, if they are among those that Arrow reads without loss."""
    try:
        record = json.loads(text)
        kinds = [_kind(record[name]) for name in layout.columns]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    if None in kinds or layout.columns[0] == layout.columns[1]:
        return None
    return pa.schema(list(zip(map(str, layout.columns), kinds, strict=True)))


def _kind(value: Any) -> pa.DataType | None:
    if isinstance(value, list):
        kinds = {_kind(element) for element in value} or {pa.string()}
        inner = kinds.pop()
        return pa.list_(inner) if not kinds and inner in (pa.string(), pa.int64()) else None
    return {str: pa.string(), int: pa.int64()}.get(type(value))


def _has_integers(schema: pa.Schema) -> bool:
    return any(pa.int64() in (kind, getattr(kind, "value_type", None)) for kind in schema.types)


def _cut_json_lines(texts: Sequence[str], rows: Rows, layout: Layout) -> Cut:
    """One by one; numbers stay as they are written, and a user with an empty list is a node without topics."""
    found: list[tuple[int, str, str | None]] = []
    bad: Faults = []
    for row, text in zip(rows.tolist(), texts, strict=True):
        faults: list[str] = []
        found += ((row, *pair) for pair in _json_pairs(text, layout, faults))
        bad += ((row, fault) for fault in faults)
    taken, first, second = zip(*found, strict=True) if found else ((), (), ())
    return Cut(np.array(taken, np.int64), _strings(first), _strings(second), bad)


def _json_pairs(text: str, layout: Layout, faults: list[str]) -> list[tuple[str, str | None]]:
    """The pairs of one line; what is wrong with it, or with a name in it, is added to `faults`."""
    try:
        record = json.loads(text, parse_int=str, parse_float=str, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        faults.append(NOT_JSON)
        return []
    if any(name not in record for name in layout.columns):
        faults.append(MISSING_COLUMN)
        return []
    nodes, topics = (_json_names(record[name], faults) for name in layout.columns)
    if not nodes and not faults:
        faults.append(EMPTY_NAME)
    no_topic: list[None] = [None] if record[layout.columns[1]] == [] else []
    return [(node, topic) for node in nodes for topic in topics or no_topic]


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def _json_names(value: Any, faults: list[str]) -> list[str]:
    """The names that a value stands for: itself, or the elements of a list."""
    names = []
    for element in value if isinstance(value, list) else [value]:
        name = {True: "true", False: "false"}[element] if isinstance(element, bool) else element
        if element is None:
            faults.append(NULL)
        elif not isinstance(name, str):
            faults.append(NOT_A_NAME)
        elif any("\ud800" <= character <= "\udfff" for character in name):
            faults.append(NOT_UTF8)
        else:
            names.append(name)
    return names


def _strings(values: Sequence[str | None]) -> pa.StringArray:
    return pa.array(values, pa.string())


_CUTTERS = {"edges": _cut_edges, "delimited": _cut_delimited, "jsonl": _cut_jsonl}


def _sorted_out(cut: Cut, layout: Layout) -> tuple[Rows, Faults]:
    """Which pairs are good, and what is wrong with the others."""
    faults = [
        (EMPTY_NAME, pc.or_kleene(pc.equal(cut.first, ""), pc.equal(cut.second, ""))),
        (LONG_NAME, pc.or_kleene(_is_long(cut.first), _is_long(cut.second))),
    ]
    if layout.wildcards:
        faults.append((WILDCARD, _has_wildcard(cut.second)))
    good = np.ones(len(cut.rows), np.bool_)
    found: Faults = []
    for reason, mask in faults:
        hit = _flags(mask) & good
        if hit.any():
            found += _all(cut.rows[hit], reason)
            good &= ~hit
    return np.flatnonzero(good), found


def _is_long(names: pa.StringArray) -> pa.BooleanArray:
    return pc.greater(pc.binary_length(names), LONGEST_NAME)


def _has_wildcard(topics: pa.StringArray) -> pa.BooleanArray:
    """A search for two characters first: the pattern alone takes five times as long."""
    maybe = pc.or_(pc.match_substring(topics, "#"), pc.match_substring(topics, "+"))
    if not pc.any(maybe).as_py():
        return maybe
    return pc.match_substring_regex(topics, IS_WILDCARD)


def _pairs(cut: Cut, good: Rows) -> pa.RecordBatch:
    first, second = cut.first, cut.second
    if len(good) < len(first):
        first, second = first.take(pa.array(good)), second.take(pa.array(good))
    nothing = [pa.nulls(len(first), field.type) for field in list(STAGED)[2:]]
    return pa.RecordBatch.from_arrays([first, second, *nothing], schema=STAGED)


def _rejected(found: Faults, lines: pa.BinaryArray, long: pa.BinaryArray, place: Place) -> pa.RecordBatch:
    rows = [row for row, _ in found]
    numbers = pa.array([place.line + row for row in rows], pa.int64())
    texts = [_shown(lines[row].as_py() if lines[row].is_valid else long[row].as_py()) for row in rows]
    nothing, same = pa.nulls(len(rows), pa.string()), np.ones(len(rows), np.int64)
    columns = [
        nothing,
        nothing,
        pa.array(same * place.file),
        pa.array(same * place.block),
        numbers,
        pa.array([reason for _, reason in found], pa.string()),
        pa.array(texts, pa.string()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=STAGED)


def _shown(line: bytes | None) -> str:
    """How a line begins; bytes that are no text are written \\xNN."""
    text = (line or b"")[: 4 * SHOWN_CHARACTERS].decode(errors="backslashreplace")
    return text[:SHOWN_CHARACTERS]
