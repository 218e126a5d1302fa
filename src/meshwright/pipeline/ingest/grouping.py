"""Rows of (name, topic) as one sorted list for each name: arrays of Arrow in and out, no Spark."""

from collections.abc import Iterator
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from meshwright.runtime.arrays import Ids, Longs

NO_TOPIC = -1
"""The code of a node that is named without a topic."""

GROUPED = pa.schema([("name", pa.string()), ("topic_ids", pa.list_(pa.int32())), ("duplicates", pa.int64())])

ROWS_AT_ONCE = 1 << 22
_INTERESTS_A_BATCH = 1 << 18
_HALF = 1 << 31


Code = TypeVar("Code", int, Ids)


def own_code(topic_id: Code) -> Code:
    """The code of a topic that a node has of itself, which is no duplicate of one that was read."""
    return -2 - topic_id


class _Sorted(NamedTuple):
    """Distinct rows by name and code, and how often each came; `row` is the place of the name in `names`."""

    names: pa.StringArray
    row: Longs
    code: Longs
    times: Longs


def grouped(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Batches of `name: string, code: int32`, in any order, as GROUPED, sorted by name, each name once.

    A code is the id of a topic, NO_TOPIC, or `own_code`. `duplicates` counts the rows of a name that said
    again what another had said. Holds the distinct rows, and up to as many others, in memory: some 40 bytes
    a row.
    """
    waiting: list[pa.Table] = []
    rows, enough = 0, ROWS_AT_ONCE
    for batch in batches:
        once = pa.array(np.ones(batch.num_rows, np.int64))
        waiting.append(pa.table([batch.column(0), batch.column(1), once], names=["name", "code", "times"]))
        rows += batch.num_rows
        if rows > enough:
            waiting = [_as_table(_sorted(waiting))]
            rows = waiting[0].num_rows
            enough = max(ROWS_AT_ONCE, 2 * rows)
    if waiting:
        yield from _lists(_sorted(waiting))


def _sorted(tables: list[pa.Table]) -> _Sorted:
    table = pa.concat_tables(tables)
    coded = table.column("name").dictionary_encode()
    names = coded.chunk(0).dictionary if coded.num_chunks else pa.array([], pa.string())
    order = pc.sort_indices(names)
    rank = np.empty(len(names), np.int64)
    rank[order.to_numpy()] = np.arange(len(names))
    row = rank[np.concatenate([np.empty(0, np.int32), *(chunk.indices.to_numpy() for chunk in coded.chunks)])]
    key = (row << 32) + (table.column("code").to_numpy().astype(np.int64) + _HALF)
    by_key = np.argsort(key)
    key = key[by_key]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    times = np.add.reduceat(table.column("times").to_numpy()[by_key], first) if len(key) else key
    key = key[first]
    return _Sorted(names.take(order), key >> 32, (key & (2 * _HALF - 1)) - _HALF, times)


def _as_table(found: _Sorted) -> pa.Table:
    columns = {"name": found.names.take(pa.array(found.row)), "code": found.code.astype(np.int32)}
    return pa.table({**columns, "times": found.times})


def _lists(found: _Sorted) -> Iterator[pa.RecordBatch]:
    """The lists, in batches of about as many interests."""
    count = len(found.names)
    read = found.code >= 0
    duplicates = np.bincount(found.row[read], found.times[read] - 1, count).astype(np.int64)
    row, topic = _interests(found)
    bounds = np.searchsorted(row, np.arange(count + 1))
    start = 0
    while start < count:
        stop = max(
            start + 1, int(np.searchsorted(bounds, bounds[start] + _INTERESTS_A_BATCH, side="right")) - 1
        )
        offsets = pa.array((bounds[start : stop + 1] - bounds[start]).astype(np.int32))
        values = pa.array(topic[bounds[start] : bounds[stop]].astype(np.int32))
        lists = pa.ListArray.from_arrays(offsets, values)
        names = found.names.slice(start, stop - start)
        yield pa.RecordBatch.from_arrays([names, lists, pa.array(duplicates[start:stop])], schema=GROUPED)
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
