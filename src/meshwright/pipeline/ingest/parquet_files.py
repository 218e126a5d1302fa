"""Parquet files as rows in this process: pairs of names, and what can't be used with the reason.

What Spark's columns say in `reading` is said here in Arrow's, with the same rows and reasons.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from meshwright.model.interests import PAIRS_SCHEMA
from meshwright.model.pairs import ENCODED
from meshwright.model.reading.files import check_rows, reading
from meshwright.model.wildcards import has_wildcard
from meshwright.pipeline.ingest import cutting
from meshwright.pipeline.ingest.cutting import decoded, flags_of
from meshwright.pipeline.ingest.filter_rows import filter_faults
from meshwright.pipeline.ingest.inputs import InputFile, schemas
from meshwright.pipeline.ingest.layouts import no_names, parquet_names, refuses_wildcards
from meshwright.pipeline.ingest.options import IngestOptions
from meshwright.runtime.arrays import Flags, Longs

REJECTED = pa.schema(
    [("file", pa.string()), ("line", pa.int64()), ("reason", pa.string()), ("text", pa.string())]
)
_ROWS_AT_ONCE = 1 << 18
_BYTES_OF_A_REPEATED_NAME = 3
NO_NOTES: Mapping[str, int] = MappingProxyType({})


class Found(NamedTuple):
    """What files hold: pairs of names (`node, topic` and more), and REJECTED.

    `notes` counts what is neither; see `Quality`.
    """

    pairs: Sequence[pa.RecordBatch]
    rejected: Sequence[pa.Table]
    notes: Mapping[str, int] = NO_NOTES

    @classmethod
    def joined(cls, parts: Iterable[Self]) -> Self:
        """All of several."""
        together = list(parts)
        return cls(
            [batch for part in together for batch in part.pairs],
            [table for part in together for table in part.rejected],
            sum((Counter(part.notes) for part in together), Counter()),
        )


def parquet_rows(files: Sequence[InputFile], *, options: IngestOptions) -> Iterator[tuple[Found, int]]:
    """What each file holds, and its bytes; lists are exploded."""
    columns = [
        _wanted(file.path, schema, options)
        for file, schema in zip(files, schemas(None, files, options.limits), strict=True)
    ]
    for file, own in zip(files, columns, strict=True):
        with reading(file.path):
            for found in _found(file.path, own, options):
                yield found, 0
        yield Found([], []), file.bytes


def _wanted(path: str, schema: pa.Schema, options: IngestOptions) -> tuple[str, str]:
    wanted = parquet_names(path, schema.names, options)
    for name in wanted:
        kind = schema.field(name).type
        if not _is_name(kind.value_type if _is_list(kind) else kind):
            raise no_names(path, name, _SHOWN.get(kind, str(kind)))
    return wanted


_SHOWN = {
    pa.float32(): "float",
    pa.float64(): "double",
    pa.date32(): "date",
    pa.uint64(): "uint64, which Spark lacks",
}


def _is_list(kind: pa.DataType) -> bool:
    tests = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(test(kind) for test in tests)


def _is_name(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_name(kind.value_type)
    # Spark reads unsigned integers of 64 bits as decimal numbers.
    is_integer = bool(pa.types.is_integer(kind)) and not kind.equals(pa.uint64())
    return is_integer or bool(pa.types.is_boolean(kind)) or _is_text(kind)


def _is_text(kind: pa.DataType) -> bool:
    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    return any(test(kind) for test in tests)


def _found(path: str, columns: tuple[str, str], options: IngestOptions) -> Iterator[Found]:
    line = 1
    metadata = pq.read_metadata(path)
    at_once, repeating = _how_to_read(metadata, columns)
    with pq.ParquetFile(path, metadata=metadata, read_dictionary=repeating) as opened:
        for batch in opened.iter_batches(at_once, columns=list(columns)):
            names = [batch.column(name) for name in columns]
            if all(map(_can_be_used, names)) and not _looks_at_topics(options):
                yield Found([pa.record_batch(names, names=list(PAIRS_SCHEMA.names))], [])
            else:
                node, topic = map(_bytes_of, names)
                rows = _exploded(node, topic, options.limits.line)
                yield _sorted_out(rows, path, line, options)
            line += batch.num_rows
    check_rows(metadata, path, line - 1)


def _how_to_read(metadata: pq.FileMetaData, columns: Sequence[str]) -> tuple[int, list[str]]:
    """How many rows to read at once, such that lists give no more names, and which columns as dictionaries.

    A column whose names mostly repeat is a dictionary in the file already, and needs no hashing.
    """
    values, sizes, nested = dict[str, int](), dict[str, int](), set[str]()
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for chunk in map(group.column, range(group.num_columns)):
            name = chunk.path_in_schema.partition(".")[0]
            values[name] = values.get(name, 0) + chunk.num_values
            sizes[name] = sizes.get(name, 0) + chunk.total_uncompressed_size
            nested |= {name} if name != chunk.path_in_schema else set()
    most = max((values.get(name, 0) for name in columns), default=0)
    repeating = [
        name
        for name in columns
        if sizes.get(name, 0) < _BYTES_OF_A_REPEATED_NAME * values.get(name, 0) and name not in nested
    ]
    return max(1, min(_ROWS_AT_ONCE, _ROWS_AT_ONCE * metadata.num_rows // max(1, most))), repeating


def _can_be_used(names: pa.Array) -> bool:
    """Whether all of a column are plain names, none of which is rejected whatever the options are."""
    if names.type.equals(ENCODED):
        return names.null_count == 0 and _can_be_used(names.dictionary)
    if not pa.types.is_string(names.type) or names.null_count:
        return False
    lengths = pc.min_max(pc.binary_length(names)).as_py()
    try:
        names.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return not len(names) or (lengths["min"] > 0 and lengths["max"] <= cutting.LONGEST_NAME)


def _looks_at_topics(options: IngestOptions) -> bool:
    return options.filters is not None or refuses_wildcards(options)


def _bytes_of(column: pa.Array) -> pa.Array:
    """Names, or lists of names, as bytes: text of a file may be no UTF-8, whatever its type says."""
    if not _is_list(column.type):
        return _as_bytes(column)
    lists = column if pa.types.is_list(column.type) else column.cast(pa.list_(column.type.value_type))
    offsets = pa.concat_arrays([pa.array([0], pa.int32()), _ends(lists)])
    values = _as_bytes(lists.flatten())
    return pa.ListArray.from_arrays(offsets, values, mask=lists.is_null() if lists.null_count else None)


def _ends(lists: pa.ListArray) -> pa.Array:
    """Where each list ends among the elements; a null has none."""
    lengths = pc.fill_null(pc.list_value_length(lists), 0)
    return pc.cumulative_sum(lengths).cast(pa.int32())


def _as_bytes(names: pa.Array) -> pa.BinaryArray:
    if pa.types.is_dictionary(names.type):
        names = names.dictionary_decode()
    if not _is_text(names.type):
        names = names.cast(pa.string())
    return names.cast(pa.binary())


class _Exploded(NamedTuple):
    """A row for each pair: which row of the batch it is of, and what is known before names are looked at."""

    row: Longs
    node: pa.BinaryArray
    topic: pa.BinaryArray
    alone: Flags  # a node whose list of topics is empty
    long: Flags  # of a list of more bytes than a line may have, of which the first element alone is kept


def _exploded(node: pa.Array, topic: pa.Array, longest: int) -> _Exploded:
    count = len(node)
    alone = np.zeros(count, np.bool_)
    if _is_list(topic.type):
        alone = flags_of(pc.equal(pc.list_value_length(topic), 0))
    long = _is_long(node, longest) | _is_long(topic, longest)
    row, first = _elements(node, long)
    back, second = _elements(topic.take(pa.array(row)), long[row])
    row, first = row[back], first.take(pa.array(back))
    return _Exploded(row, first, second, alone[row], long[row])


def _is_long(names: pa.Array, longest: int) -> Flags:
    """Which lists have more bytes than that. A short list could only by a long name, which is found later."""
    found = np.zeros(len(names), np.bool_)
    if not _is_list(names.type):
        return found
    lengths = pc.fill_null(pc.list_value_length(names), 0).to_numpy()
    many = np.flatnonzero(lengths > longest // cutting.LONGEST_NAME)
    for at in many.tolist():
        found[at] = (pc.sum(pc.binary_length(names[at].values)).as_py() or 0) > longest
    return found


def _elements(names: pa.Array, first_only: Flags) -> tuple[Longs, pa.BinaryArray]:
    """Each element of the lists with the row it is of; a list of none, or that is null, is a null."""
    if not _is_list(names.type):
        return np.arange(len(names)), names
    lengths = pc.fill_null(pc.list_value_length(names), 0).to_numpy().astype(np.int64)
    starts = np.cumsum(lengths) - lengths
    taken = np.where(first_only, np.minimum(lengths, 1), lengths)
    given = np.maximum(taken, 1)
    row = np.repeat(np.arange(len(names)), given)
    before = np.repeat(np.cumsum(given) - given, given)
    at = pa.array(starts[row] + np.arange(len(row)) - before, mask=taken[row] == 0)
    return row, names.flatten().take(at)


def _sorted_out(rows: _Exploded, path: str, line: int, options: IngestOptions) -> Found:
    """The pairs that can be used, and the others with the first reason that holds."""
    node, no_node = decoded(rows.node)
    topic, no_topic = decoded(rows.topic)
    faults = {
        cutting.LONG_LINE: rows.long,
        cutting.NULL: flags_of(rows.node.is_null()) | (flags_of(rows.topic.is_null()) & ~rows.alone),
        cutting.NOT_UTF8: no_node | no_topic,
        cutting.EMPTY_NAME: _either(pc.equal(node, ""), pc.equal(topic, "")),
        cutting.LONG_NAME: _is_long_name(rows.node) | _is_long_name(rows.topic),
    }
    if refuses_wildcards(options):
        faults[cutting.WILDCARD] = flags_of(has_wildcard(topic))
    reasons = np.full(len(rows.row), None, object)
    if options.filters is not None:
        reasons[:] = filter_faults(topic, options.filters).to_pylist()
    for reason, hit in reversed(faults.items()):
        reasons[hit] = reason
    bad = np.flatnonzero(reasons != None)  # noqa: E711 (compares each)
    good = np.ones(len(rows.row), np.bool_)
    good[bad] = False
    mask = pa.array(good)
    pairs = pa.record_batch([node.filter(mask), topic.filter(mask)], schema=PAIRS_SCHEMA)
    return Found([pairs], [_rejected(rows, bad, reasons[bad], path, line)] if len(bad) else [])


def _either(first: pa.BooleanArray, second: pa.BooleanArray) -> Flags:
    return flags_of(first) | flags_of(second)


def _is_long_name(names: pa.BinaryArray) -> Flags:
    return flags_of(pc.greater(pc.binary_length(names), cutting.LONGEST_NAME))


def _rejected(rows: _Exploded, bad: Longs, reasons: np.ndarray, path: str, line: int) -> pa.Table:
    pairs = zip(*(side.take(pa.array(bad)).to_pylist() for side in (rows.node, rows.topic)), strict=True)
    texts = [b", ".join(b"null" if name is None else name for name in pair) for pair in pairs]
    return pa.table(
        {
            "file": [path] * len(bad),
            "line": rows.row[bad] + line,
            "reason": reasons.tolist(),
            "text": [text.decode(errors="replace")[: cutting.SHOWN_CHARACTERS] for text in texts],
        },
        REJECTED,
    )
