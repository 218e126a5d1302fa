"""What else is known of nodes and topics, from tables by name: sites, places, caps on links, rates."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from meshwright.model.costs.forms import and_more, name_at
from meshwright.model.interests import NODE_ATTRIBUTES, TOPIC_ATTRIBUTES, Interests
from meshwright.model.names import lookup, name_array
from meshwright.model.pairs import is_parquet
from meshwright.model.reading.columns import listed
from meshwright.model.reading.csv_rows import CsvLayout, first_row, line_of_row, read_rows
from meshwright.model.reading.files import parquet_table, reading, refuse_dataset
from meshwright.model.reading.limits import READ_LIMITS, ReadLimits
from meshwright.model.storage.schema import DOUBLE, INTEGER, STRING, Wanted
from meshwright.runtime.errors import InputError, quoted, visible

_TYPES = {STRING: pa.string(), DOUBLE: pa.float64(), INTEGER: pa.int64()}
_NUMBERS = {DOUBLE: "a number", INTEGER: "a whole number"}


class _Kind(NamedTuple):
    """Nodes or topics: the word for one, and the attributes that have a type."""

    word: str
    known: Mapping[str, Wanted]


_NODE, _TOPIC = _Kind("node", NODE_ATTRIBUTES), _Kind("topic", TOPIC_ATTRIBUTES)


def with_attributes(
    interests: Interests, nodes: Any = None, topics: Any = None, limits: ReadLimits = READ_LIMITS
) -> Interests:
    """The interests with attributes of nodes and topics, beside those that they have.

    `nodes` and `topics` are tables (of pandas, Arrow, …), or files in CSV, TSV or Parquet. Names stand in the
    column `node` (or `topic`), or else `name`; every other column becomes an attribute, in place of one of
    the same name. What a table does not name has no value there. A name that the interests don't have, or
    that comes twice, is refused, and so is a value of a wrong type. O(rows) beside the interests.
    """
    held = interests.node_attributes, interests.topic_attributes
    return replace(
        interests,
        node_attributes=_beside(held[0], interests.nodes, nodes, _NODE, limits),
        topic_attributes=_beside(held[1], interests.topics, topics, _TOPIC, limits),
    )


def _beside(
    held: pa.Table | None, names: pa.StringArray, source: Any, kind: _Kind, limits: ReadLimits
) -> pa.Table | None:
    """The attributes held, and those of a source, a row for each of the names."""
    if source is None:
        return held
    origin = f"the table of {kind.word}s"
    if isinstance(source, str | Path):
        origin = str(source)
        table = _read(Path(source), kind, limits)
    else:
        table = pa.table(source).replace_schema_metadata(None)
    key = _key(table, kind, origin)
    rows = _row_of_each(names, name_array(table[key], kind.word), kind, origin)
    found = {} if held is None else {name: held[name] for name in held.column_names}
    for name in table.column_names:
        if name != key:
            found[name] = _typed(table[name], name, kind, origin).take(rows)
    return pa.table(found)


def _key(table: pa.Table, kind: _Kind, origin: str) -> str:
    """The column with the names; a table without one, or without any other column, is refused."""
    columns = table.column_names
    twice = [name for name in columns if columns.count(name) > 1]
    if twice:
        raise InputError(f"{origin} has two columns {visible(twice[0])!r}; rename one")
    key = next((name for name in (kind.word, "name") if name in columns), None)
    if key is None:
        raise InputError(
            f"{origin} has no column {kind.word!r} or 'name'; its columns are {listed(columns)}; rename the "
            f"one with the names of {kind.word}s"
        )
    if len(columns) == 1:
        raise InputError(f"{origin} has only the column {key!r}; add columns such as {', '.join(kind.known)}")
    return key


def _row_of_each(names: pa.StringArray, given: pa.StringArray, kind: _Kind, origin: str) -> pa.Array:
    """For each of our names the row that tells of it, null where none does."""
    at = lookup(names, given)
    unknown = np.flatnonzero(at < 0)
    if len(unknown):
        raise InputError(
            f"{origin} names {kind.word} {name_at(given, unknown[0])}, which is not in the dataset"
            f"{and_more(len(unknown))}; correct the name, or remove the row"
        )
    rows = np.full(len(names), -1)
    rows[at] = np.arange(len(at))
    again = np.flatnonzero(rows[at] != np.arange(len(at)))
    if len(again):
        raise InputError(
            f"{origin} has several rows for {kind.word} {name_at(given, again[0])}{and_more(len(again))}; "
            f"keep one"
        )
    return pa.array(rows, mask=rows < 0)


def _typed(column: pa.ChunkedArray, name: str, kind: _Kind, origin: str) -> pa.ChunkedArray:
    """A column in the type that its name has, if it is known."""
    wanted = kind.known.get(name)
    if wanted is None or wanted.holds(column.type):
        return column
    is_flag = pa.types.is_boolean(column.type) and wanted in _NUMBERS
    try:
        if is_flag and column.null_count < len(column):
            raise pa.ArrowInvalid("Arrow would take them as 1 and 0")
        return column.cast(_TYPES[wanted])
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        values = (value for value in column.to_pylist() if value is not None)
        value = next(value for value in values if is_flag or not _casts(value, _TYPES[wanted]))
        raise InputError(
            f"{origin}: {visible(name)} is {quoted(str(value))}; give {_NUMBERS.get(wanted, 'text')}, or "
            f"leave the cell empty"
        ) from None


def _casts(value: Any, kind: pa.DataType) -> bool:
    try:
        pa.array([value]).cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False
    return True


def _read(path: Path, kind: _Kind, limits: ReadLimits) -> pa.Table:
    """A file as a table; cells of CSV are text, and empty ones have no value."""
    refuse_dataset(path)
    with reading(path):
        if is_parquet(path):
            return parquet_table(path, limits).replace_schema_metadata(None)
        return _read_csv(path, kind, limits)


def _read_csv(path: Path, kind: _Kind, limits: ReadLimits) -> pa.Table:
    first = first_row(path, "\t" if ".tsv" in path.suffixes else None, ",;\t", limits)
    labels = [str(place) for place in range(len(first.cells))]
    schema = pa.schema({label: pa.string() for label in labels})
    layout = CsvLayout(
        names=labels,
        types=dict(zip(labels, schema.types, strict=True)),
        delimiter=first.delimiter,
        blank_lines=first.blank_lines,
    )
    table = pa.Table.from_batches(read_rows(path, layout, limits), schema).rename_columns(first.cells)
    key = _key(table, kind, str(path))
    nameless = np.flatnonzero(pc.equal(table[key], "").to_numpy())
    if len(nameless):
        line = line_of_row(path, first.delimiter, int(nameless[0]) + 2, limits)
        raise InputError(f"{path}, line {line}: the {kind.word} has no name; give it one", path=path)
    empty_is_null = [pc.if_else(pc.equal(column, ""), None, column) for column in table.columns]
    return pa.table(empty_is_null, names=table.column_names)
