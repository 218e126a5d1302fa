"""Rows of (name, topic) as one sorted list for each name, in two steps: arrays of Arrow in and out, no Spark.

What lies together is brought together first (`partly_grouped`), so that a name goes through the shuffle
between the two steps once for each task that met it, and not once for each row.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from meshwright.model.names import ranks
from meshwright.runtime.arrays import Ids, Longs
from meshwright.runtime.columns import arrow_of, numpy_of

NO_TOPIC = -1
"""The code of a node that is named without a topic."""

PARTS = pa.schema([("name", pa.string()), ("codes", pa.list_(pa.int32())), ("duplicates", pa.int64())])
GROUPED = pa.schema([("name", pa.string()), ("topic_ids", pa.list_(pa.int32())), ("duplicates", pa.int64())])

ROWS_AT_ONCE = 1 << 22
_INTERESTS_A_BATCH = 1 << 18
_HALF = 1 << 31


Code = TypeVar("Code", int, Ids)


def own_code(topic_id: Code) -> Code:
    """The code of a topic that a node has of itself, which is no duplicate of one that was read."""
    return -2 - topic_id


class _Sorted(NamedTuple):
    """Distinct rows by name and code, and what each name has said again; `row` is a place in `names`."""

    names: pa.StringArray
    row: Longs
    code: Longs
    duplicates: Longs


def grouped_at_once(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Both steps, for rows of which a single task gets all."""
    return grouped(partly_grouped(batches))


def partly_grouped(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Batches of `name: string, code: int32`, in any order, as PARTS: names, each with some of its codes.

    A code is the id of a topic, NO_TOPIC, or `own_code`. `duplicates` counts the rows of a name that said
    again what another had said. Holds four million rows in memory, at some 30 bytes each.
    """
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= ROWS_AT_ONCE:
            yield from _parts(waiting)
            waiting, rows = [], 0
    if rows:
        yield from _parts(waiting)


def _parts(batches: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    table = pa.Table.from_batches(batches)
    names = table.column(0)
    found = _sorted(names, np.ones(len(names), np.int64), numpy_of(table.column(1)), np.zeros(len(names)))
    return _lists(found, found.row, found.code, PARTS)


def grouped(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Batches of PARTS, in any order, as GROUPED, sorted by name, each name once.

    Holds all of them in memory: some 24 bytes for each code, beside the names.
    """
    together = [batch for batch in batches if batch.num_rows]
    if not together:
        return
    table = pa.Table.from_batches(together)
    lengths = numpy_of(pc.list_value_length(table["codes"])).astype(np.int64)
    codes = numpy_of(pc.list_flatten(table["codes"]))
    found = _sorted(table["name"], lengths, codes, numpy_of(table["duplicates"]))
    yield from _lists(found, *_interests(found), GROUPED)


def _sorted(names: pa.ChunkedArray, lengths: Longs, codes: Ids, duplicates: np.ndarray) -> _Sorted:
    """Of names, each with so many of the codes, and so many duplicates of which it is known already."""
    coded = names.dictionary_encode()
    distinct, rank = ranks(coded.chunk(0).dictionary.cast(pa.string()))
    at = rank[numpy_of(pa.chunked_array([chunk.indices for chunk in coded.chunks]))]
    row = np.repeat(at.astype(np.int64), lengths)
    known = np.bincount(at, duplicates, len(distinct)) + np.bincount(row[codes >= 0], minlength=len(distinct))
    key = (row << 32) + (codes.astype(np.int64) + _HALF)
    key.sort()
    key = key[np.diff(key, prepend=-1) != 0]
    row, code = key >> 32, (key & (2 * _HALF - 1)) - _HALF
    kept = np.bincount(row[code >= 0], minlength=len(distinct))
    return _Sorted(distinct, row, code, known.astype(np.int64) - kept)


def _lists(found: _Sorted, row: Longs, values: Longs, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The values of each name as a list, in batches of about as many values; `row` rises."""
    count = len(found.names)
    bounds = np.searchsorted(row, np.arange(count + 1))
    start = 0
    while start < count:
        enough = bounds[start] + _INTERESTS_A_BATCH
        stop = max(start + 1, int(np.searchsorted(bounds, enough, side="right")) - 1)
        offsets = arrow_of((bounds[start : stop + 1] - bounds[start]).astype(np.int32))
        lists = pa.ListArray.from_arrays(
            offsets, arrow_of(values[bounds[start] : bounds[stop]].astype(np.int32))
        )
        names = found.names.slice(start, stop - start)
        duplicates = arrow_of(found.duplicates[start:stop])
        yield pa.RecordBatch.from_arrays([names, lists, duplicates], schema=schema)
        start = stop


def _interests(found: _Sorted) -> tuple[Longs, Longs]:
    """Names and topics of all interests, sorted; a topic of its own that a name also read comes once."""
    own = found.code < NO_TOPIC
    if not own.any():
        kept = found.code >= 0
        return found.row[kept], found.code[kept]
    kept = found.code != NO_TOPIC
    topic = np.where(own, -2 - found.code, found.code)
    key = np.unique((found.row[kept] << 32) + topic[kept])
    return key >> 32, key & (2 * _HALF - 1)
