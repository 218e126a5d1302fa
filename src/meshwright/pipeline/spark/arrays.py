"""Arrays inside Spark tasks: packed as bytes, taken from lists of ids, and read from a dataset's tables.

Spark moves a list of numbers value by value, from Arrow to its rows and back; bytes it copies as they are.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from meshwright.kernels.core.forests import place_runs
from meshwright.model.dense import check_lists
from meshwright.runtime.arrays import Ids, Offsets
from meshwright.runtime.errors import DatasetError, InputError

Array = npt.NDArray[Any]
Batches = Iterator[pa.RecordBatch]

ROWS_AT_ONCE = 1 << 16
"""Rows of a table that are packed together: enough that what they are cut into is worth a row."""


def packed(arrays: Iterable[Array]) -> pa.Array:
    """A binary column with the bytes of one array in each row."""
    return pa.array([array.tobytes() for array in arrays], pa.binary())


def unpacked(column: pa.Array | pa.ChunkedArray, kind: type[np.generic]) -> Array:
    """The arrays of all rows, one after another."""
    return np.concatenate([np.empty(0, kind), *(np.frombuffer(value.as_buffer(), kind) for value in column)])


class Packed:
    """Rows of a whole number, if any, and of arrays, which travel as bytes: their columns by name.

    Attributes:
        schema: the columns for Arrow.
        ddl: the columns for Spark.
    """

    def __init__(self, number: str | None = None, **kinds: type[np.generic]) -> None:
        numbers = [] if number is None else [(number, pa.int32())]
        self._kinds = kinds
        self.schema = pa.schema([*numbers, *((name, pa.binary()) for name in kinds)])
        self.ddl = ", ".join([*(f"{name} int" for name, _ in numbers), *(f"{name} binary" for name in kinds)])

    def rows(self, batches: Iterable[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
        """The rows of batches, which may lack columns.

        Arrays are copies: kernels that are compiled for arrays that can be written to are compiled once.
        """
        for batch in batches:
            columns = {name: batch.column(name) for name in batch.schema.names}
            for at in range(batch.num_rows):
                yield {name: _value(column[at], self._kinds.get(name)) for name, column in columns.items()}

    def batch(self, **row: int | Array | None) -> pa.RecordBatch:
        """A batch of one row: rows of packed arrays are long, and Spark gathers them as it likes."""
        return pa.record_batch(
            [_column(row.get(own.name), own.type) for own in self.schema], schema=self.schema
        )


def _value(scalar: Any, kind: type[np.generic] | None) -> Any:
    if kind is None:
        return scalar.as_py()
    return np.frombuffer(scalar.as_buffer(), kind).copy() if scalar.is_valid else np.empty(0, kind)


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


def places(ids: Ids, values: Ids) -> tuple[Ids, npt.NDArray[np.bool_]]:
    """Where each value is in the rising `ids`, and whether it is there at all."""
    if not len(ids):
        return np.zeros(len(values), np.int32), np.zeros(len(values), np.bool_)
    at = np.minimum(np.searchsorted(ids, values), len(ids) - 1).astype(np.int32)
    return at, ids[at] == values


def by_id(rows: pa.Table, key: str, name: str, count: int) -> Offsets:
    """The numbers in a column by the ids in another, 0 for those of the `count` ids that have none."""
    numbers = np.zeros(count, np.int64)
    numbers[rows[key].to_numpy()] = rows[name].to_numpy()
    return numbers


def restricted(lists: pa.ListArray, topics: Ids) -> pa.ListArray:
    """Lists of topics with only those of `topics`, each as its place among them."""
    rows, values = entries(lists)
    at, among = places(topics, values)
    lengths = np.bincount(rows[among], minlength=len(lists))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(at[among]))


def entries(lists: pa.ListArray) -> tuple[npt.NDArray[np.int64], Ids]:
    """The row and the value of each entry of the lists."""
    lengths = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
    return np.repeat(np.arange(len(lists)), lengths), lists.flatten().to_numpy(zero_copy_only=False)


def column(table: pa.Table, name: str, where: str) -> pa.Array:
    """A column without nulls."""
    found = table.column(name)
    if found.null_count:
        raise DatasetError(f"{where}: column {name!r} has {found.null_count} nulls; fill them")
    return found.chunk(0)


def edge_arrays(table: pa.Table, nodes: int, where: str) -> tuple[Ids, Array | None]:
    """The ends (m, 2) of checked edges, the lower first, and their costs."""
    source, target = (column(table, name, where).to_numpy() for name in ("source_id", "target_id"))
    ends = np.stack([np.minimum(source, target), np.maximum(source, target)], axis=1)
    if len(ends) and (ends[:, 0].min() < 0 or ends[:, 1].max() >= nodes or (ends[:, 0] == ends[:, 1]).any()):
        raise DatasetError(
            f"{where}: an edge has an end outside 0 to {nodes - 1}, or joins a node to itself; "
            f"write the dataset again"
        )
    if "cost" not in table.column_names:
        return ends, None
    costs = column(table, "cost", where).to_numpy()
    if not (np.isfinite(costs) & (costs > 0)).all():
        raise DatasetError(f"{where}: a cost is not a positive number; write the dataset again")
    return ends, costs


def list_arrays(table: pa.Table, nodes: int, topics: int, where: str) -> tuple[Ids, Offsets, Ids]:
    """The nodes of checked lists, and their topics as a CSR."""
    node_ids, lists = column(table, "node_id", where).to_numpy(), column(table, "topic_ids", where)
    topic_ids = lists.flatten()
    if topic_ids.null_count:
        raise DatasetError(f"{where}: a list holds a null; write the dataset again")
    if len(node_ids) and (node_ids.min() < 0 or node_ids.max() >= nodes):
        raise DatasetError(f"{where}: a node_id lies outside 0 to {nodes - 1}; write the dataset again")
    lengths = pc.list_value_length(lists).to_numpy()
    indptr = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    try:
        check_lists(indptr, topic_ids.to_numpy(), len(node_ids), topics)
    except InputError as error:
        raise DatasetError(f"{where}: {error}") from error
    return node_ids, indptr, topic_ids.to_numpy()


def gathered(places: Array, lengths: Array, values: Ids, size: int, where: str) -> tuple[Offsets, Ids]:
    """The CSR of `size` lists that come in any order: list i belongs to `places[i]`, where no other does."""
    if (np.bincount(places, minlength=size) > 1).any():
        raise DatasetError(f"{where}: a node_id appears twice in lists; write the dataset again")
    indptr = np.zeros(size + 1, np.int64)
    indptr[places.astype(np.int64) + 1] = lengths
    indptr = np.cumsum(indptr)
    ordered = np.empty(len(values), np.int32)
    place_runs(indptr[places], lengths.astype(np.int32), values, ordered)
    return indptr, ordered
