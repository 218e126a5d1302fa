"""Arrays that cross between tasks as bytes, many values a row.

Spark moves a list of numbers value by value, from Arrow to its rows and back; bytes it copies as they are.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Array = npt.NDArray[Any]
Row = Mapping[str, int | Array | None]
"""The values of a row by column: a number, or an array, which is packed; None is null."""

ROWS_AT_ONCE = 1 << 16
"""Rows of a table that are packed together: enough that what they are cut into is worth a row."""


def rows_of(batch: pa.RecordBatch, kinds: Mapping[str, type[np.generic]]) -> Iterator[dict[str, Any]]:
    """The rows of a batch; columns named in `kinds` are unpacked as arrays.

    These are copies: kernels that are compiled for arrays that can be written to are compiled once.
    """
    columns = {name: batch.column(name) for name in batch.schema.names}
    for at in range(batch.num_rows):
        yield {name: _value(column[at], kinds.get(name)) for name, column in columns.items()}


def _value(scalar: Any, kind: type[np.generic] | None) -> Any:
    if kind is None:
        return scalar.as_py()
    return np.frombuffer(scalar.as_buffer(), kind).copy() if scalar.is_valid else np.empty(0, kind)


def batch_of(row: Row, schema: pa.Schema) -> pa.RecordBatch:
    """A batch of one row: rows of packed arrays are long, and Spark gathers them as it likes."""
    return pa.record_batch([_column(row.get(field.name), field.type) for field in schema], schema=schema)


def _column(value: int | Array | None, kind: pa.DataType) -> pa.Array:
    if not isinstance(value, np.ndarray):
        return pa.array([value], kind)
    offsets = np.array([0, value.nbytes], np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(value))]
    return pa.Array.from_buffers(kind, 1, buffers)


def large_batches(batches: Iterable[pa.RecordBatch], rows: int = ROWS_AT_ONCE) -> Iterator[pa.Table]:
    """The same rows in tables of about `rows`, one chunk a column; never an empty one."""
    waiting: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        waiting.append(batch)
        count += batch.num_rows
        if count >= rows:
            yield pa.Table.from_batches(waiting).combine_chunks()
            waiting, count = [], 0
    if count:
        yield pa.Table.from_batches(waiting).combine_chunks()
