"""Cut lines into pairs of names: columns or JSON, and what can be wrong with either.

Lines of JSON are read a batch at a time where they are alike, otherwise one by one.
"""

import csv
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from meshwright.model.reading.text import csv_reader
from meshwright.runtime.arrays import Flags, Longs

NOT_UTF8 = "not UTF-8"
LONG_LINE = "line too long"
MISSING_COLUMN = "missing column"
WRONG_COLUMNS = "wrong number of columns"
UNCLOSED_QUOTE = "unclosed quote"
NOT_JSON = "not a JSON object"
REPEATED_KEY = "key given twice"
TOO_DEEP = "nested too deep"
NOT_A_NAME = "not a name"
NULL = "null"
EMPTY_NAME = "empty name"
LONG_NAME = "name too long"
WILDCARD = "wildcard in topic"
NO_FILTER = "not a filter"

LONGEST_NAME = 65_535
"""In bytes: what MQTT allows for a topic, and more than any name that somebody meant."""

SHOWN_CHARACTERS = 200
"""How much of a row that can't be used is shown."""

Faults = list[tuple[int, str]]
"""Lines, by their place in a batch, and why they, or a name in them, can't be used."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How the lines of one file are cut.

    `kind` is delimited, edges, adjacency or jsonl. `columns` are positions from 0, or the keys of JSON
    objects. `width` is the number of columns that every line of a delimited file must have, `header` the
    line that names them (0: there is none). With `wildcards`, topics that have one are rejected;
    with a `dialect`, those that are no filters of it.
    """

    kind: str
    columns: tuple[int, int] | tuple[str, str]
    delimiter: str = ","
    width: int = 0
    header: int = 0
    wildcards: bool = False
    dialect: str | None = None


class Cut(NamedTuple):
    """Names cut out of lines: which line each pair is of, and what can't be used.

    `wide` is how many lines have more columns than were looked at.
    """

    rows: Longs
    first: pa.StringArray
    second: pa.StringArray
    bad: Faults
    wide: int = 0


def flags_of(mask: pa.BooleanArray) -> Flags:
    """A mask for numpy; null is false."""
    flags: Flags = (mask.fill_null(False) if mask.null_count else mask).to_numpy(zero_copy_only=False)
    return flags


def all_for(rows: Longs, reason: str) -> Faults:
    """The same fault for each row."""
    return [(row, reason) for row in rows.tolist()]


def decoded(names: pa.BinaryArray) -> tuple[pa.StringArray, Flags]:
    """Bytes as strings, with null for those that are not UTF-8, and which these are.

    Arrow checks a batch at once; only where something is wrong are they looked at one by one.
    """
    try:
        return names.cast(pa.string()), np.zeros(len(names), np.bool_)
    except pa.ArrowInvalid:
        texts = pa.array([_text(name) for name in names.to_pylist()], pa.string())
        return texts, flags_of(pc.and_(names.is_valid(), texts.is_null()))


def _text(name: bytes | None) -> str | None:
    try:
        return None if name is None else name.decode()
    except UnicodeDecodeError:
        return None


def cut_edges(texts: pa.StringArray, layout: Layout) -> Cut:
    """Columns between blanks, as many as there are; only blanks of ASCII separate."""
    first, second = layout.columns
    most = max(int(first), int(second)) + 1
    parts = pc.ascii_split_whitespace(pc.ascii_trim_whitespace(texts), max_splits=most)
    lengths = pc.list_value_length(parts)
    enough = flags_of(pc.greater_equal(lengths, most))
    wide = int(flags_of(pc.greater(lengths, most)).sum())
    return _elements(parts, enough, np.arange(len(texts)), layout, MISSING_COLUMN)._replace(wide=wide)


def cut_adjacency(texts: pa.StringArray, layout: Layout) -> Cut:
    """A node, and all its topics, between blanks or delimiters; a node by itself has no topics."""
    rows: Longs = np.arange(len(texts))
    bad: Faults = []
    if not layout.delimiter:
        parts = pc.ascii_split_whitespace(pc.ascii_trim_whitespace(texts))
    else:
        fields, bad = _unquoted(texts.to_pylist(), rows, layout.delimiter)
        parts = pa.array(list(fields.values()), pa.list_(pa.string()))
        rows = np.fromiter(fields, np.int64, len(fields))
    lengths = pc.list_value_length(parts).to_numpy(zero_copy_only=False).astype(np.int64)
    values, parents = pc.list_flatten(parts), np.repeat(np.arange(len(lengths)), lengths)
    is_node = np.zeros(len(parents), np.bool_)
    is_node[(np.cumsum(lengths) - lengths)[lengths > 0]] = True
    nodes = values.filter(pa.array(is_node))
    alone = lengths == 1
    topics = pa.concat_arrays([values.filter(pa.array(~is_node)), pa.nulls(int(alone.sum()), pa.string())])
    of = np.concatenate([parents[~is_node], np.flatnonzero(alone)])
    return Cut(rows[of], nodes.take(pa.array(of)), topics, bad)


def cut_delimited(texts: pa.StringArray, layout: Layout) -> Cut:
    """Columns between delimiters; lines with a quote inside a field go through the csv module one by one."""
    quoted = flags_of(pc.match_substring(texts, '"'))
    if not quoted.any():
        return _cut_unquoted(texts, np.arange(len(texts)), layout)
    rows = np.flatnonzero(~quoted)
    plain = _cut_unquoted(texts.take(pa.array(rows)), rows, layout)
    rows = np.flatnonzero(quoted)
    simple, left = _cut_simply_quoted(texts.take(pa.array(rows)), rows, layout)
    fields, bad = _unquoted(texts.take(pa.array(left)).to_pylist(), left, layout.delimiter)
    parts = pa.array(list(fields.values()), pa.list_(pa.string()))
    whole = flags_of(pc.equal(pc.list_value_length(parts), layout.width))
    other = _elements(parts, whole, np.fromiter(fields, np.int64, len(fields)), layout, WRONG_COLUMNS)
    cuts = (plain, simple, other)
    return Cut(
        np.concatenate([cut.rows for cut in cuts]),
        pa.concat_arrays([cut.first for cut in cuts]),
        pa.concat_arrays([cut.second for cut in cuts]),
        [*plain.bad, *simple.bad, *other.bad, *bad],
    )


def _cut_simply_quoted(texts: pa.StringArray, rows: Longs, layout: Layout) -> tuple[Cut, Longs]:
    """Lines in which quotes only enclose whole fields, without a quote or a delimiter inside.

    Gives the rows of the other lines, too. Many programs put quotes around every text: ten times as fast as
    the csv module.
    """
    parts = pc.split_pattern(texts, layout.delimiter)
    fields = pc.list_flatten(parts)
    quotes = pc.count_substring(fields, '"')
    ends = pc.and_(pc.starts_with(fields, '"'), pc.ends_with(fields, '"'))
    enclosed = flags_of(pc.and_(ends, pc.equal(quotes, 2)))
    odd = ~enclosed & flags_of(pc.greater(quotes, 0))
    is_simple = np.ones(len(texts), np.bool_)
    is_simple[pc.list_parent_indices(parts).to_numpy()[odd]] = False
    bare = pc.if_else(pa.array(enclosed), pc.utf8_slice_codeunits(fields, 1, -1), fields)
    lists = pa.ListArray.from_arrays(parts.offsets, bare).filter(pa.array(is_simple))
    whole = flags_of(pc.equal(pc.list_value_length(lists), layout.width))
    return _elements(lists, whole, rows[is_simple], layout, WRONG_COLUMNS), rows[~is_simple]


def _cut_unquoted(texts: pa.StringArray, rows: Longs, layout: Layout) -> Cut:
    parts = pc.split_pattern(texts, layout.delimiter)
    whole = flags_of(pc.equal(pc.list_value_length(parts), layout.width))
    return _elements(parts, whole, rows, layout, WRONG_COLUMNS)


def _unquoted(texts: Sequence[str], rows: Longs, delimiter: str) -> tuple[dict[int, list[str]], Faults]:
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


def _elements(parts: pa.ListArray, fits: Flags, rows: Longs, layout: Layout, reason: str) -> Cut:
    """The two wanted elements of each list that fits."""
    bad = all_for(rows[~fits], reason)
    if bad:
        parts, rows = parts.filter(pa.array(fits)), rows[fits]
    if not len(rows):
        empty = pa.array([], pa.string())
        return Cut(rows, empty, empty, bad)
    first, second = (pc.list_element(parts, int(column)) for column in layout.columns)
    return Cut(rows, first, second, bad)


_MOST_LEVELS = 500
"""Half of Python's recursion limit: what its JSON reader follows however deep the stack is already."""

_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_CONSTANT = r"[:,\[]\s*-?(NaN|Inf)"


def cut_jsonl(texts: pa.StringArray, layout: Layout) -> Cut:
    """The values of two keys; the elements of a list are names each."""
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
    plain = flags_of(column.is_valid())
    if pa.types.is_list(column.type):
        plain = plain & flags_of(pc.greater(pc.list_value_length(column), 0))
        elements = pc.list_flatten(column)
        if elements.null_count:
            plain[pc.list_parent_indices(column).filter(elements.is_null()).to_numpy()] = False
    return plain


def _exploded(rows: Longs, first: pa.Array, second: pa.Array) -> tuple[Longs, pa.Array, pa.Array]:
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

    A line that begins with { and ends with } can't be a part of an object that goes on in the next line; so
    as many objects as lines means one in each.
    """
    if not len(texts):
        return None
    schema = _guessed(texts[0].as_py(), layout)
    if schema is None:
        return None
    trimmed = pc.ascii_trim_whitespace(texts)
    if not (pc.all(pc.starts_with(trimmed, "{")).as_py() and pc.all(pc.ends_with(trimmed, "}")).as_py()):
        return None
    # An integer would forget the sign of -0.
    if _may_be_deep(texts) or _has_constant(texts) or (_has_integers(schema) and _has_any(texts, "-0")):
        return None
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


def _is_nested_deep(text: str) -> bool:
    """Whether brackets are nested deeper than any reader is asked to follow; linear in the line."""
    if text.count("[") + text.count("{") <= _MOST_LEVELS:
        return False
    depth = 0
    for bracket in _BRACKETS.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(bracket[0], 0)
        if depth > _MOST_LEVELS:
            return True
    return False


def _may_be_deep(texts: pa.StringArray) -> bool:
    """Whether a line may be nested too deep: Arrow follows any nesting, where Python's reader gives up."""
    brackets = pc.add(pc.count_substring(texts, "["), pc.count_substring(texts, "{"))
    return bool(pc.max(brackets).as_py() > _MOST_LEVELS)


def _has_constant(texts: pa.StringArray) -> bool:
    """Whether a line may have a NaN or an Infinity, which Arrow reads and JSON does not know."""
    if not (_has_any(texts, "NaN") or _has_any(texts, "Inf")):
        return False
    return bool(pc.any(pc.match_substring_regex(texts, _CONSTANT)).as_py())


def _has_any(texts: pa.StringArray, word: str) -> bool:
    return bool(pc.any(pc.match_substring(texts, word)).as_py())


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


def _cut_json_lines(texts: Sequence[str], rows: Longs, layout: Layout) -> Cut:
    """One by one; numbers stay as they are written, and a node with an empty list has no topics."""
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
    if _is_nested_deep(text):
        faults.append(TOO_DEEP)
        return []
    try:
        record = json.loads(
            text,
            parse_int=str,
            parse_float=str,
            parse_constant=_no_constant,
            object_pairs_hook=json_object,
        )
    except ValueError:
        record = None
    first, second = layout.columns
    return json_pairs(record, (str(first), str(second)), faults)


class Repeating(dict[str, Any]):
    """A JSON object in which a key comes twice; `pairs` are all its keys and values."""

    def __init__(self, pairs: Sequence[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs

    def repeats(self, key: str) -> bool:
        """Whether this key comes twice."""
        return sum(own == key for own, _ in self.pairs) > 1


def json_object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """What a JSON object holds, without forgetting that a key came twice."""
    found = dict(pairs)
    return found if len(found) == len(pairs) else Repeating(pairs)


def json_pairs(record: Any, columns: tuple[str, str], faults: list[str]) -> list[tuple[str, str | None]]:
    """The pairs of one JSON value, with numbers as they are written; what is wrong is added to `faults`."""
    if not isinstance(record, dict):
        faults.append(NOT_JSON)
        return []
    if any(name not in record for name in columns):
        faults.append(MISSING_COLUMN)
        return []
    if isinstance(record, Repeating) and any(map(record.repeats, columns)):
        faults.append(REPEATED_KEY)
        return []
    nodes, topics = (_json_names(record[name], faults) for name in columns)
    if not nodes and not faults:
        faults.append(EMPTY_NAME)
    no_topic: list[None] = [None] if record[columns[1]] == [] else []
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
