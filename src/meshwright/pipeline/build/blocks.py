"""Lists of topics on their way between tasks: many nodes a row, as bytes.

Spark moves a list value by value, from Arrow to its rows and back; bytes it copies as they are.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from meshwright.construct.lists import Lists, join_lists, take_lists
from meshwright.errors import DatasetError, InputError
from meshwright.kernels.arrays import Ids, Offsets
from meshwright.model.dense import check_lists

BLOCKS = "part int, nodes binary, sizes binary, topic_ids binary"

_SCHEMA = pa.schema(
    [("part", pa.int32()), ("nodes", pa.binary()), ("sizes", pa.binary()), ("topic_ids", pa.binary())]
)
_INTERESTS_AT_ONCE = 1 << 22
"""Gathered before they are cut into blocks, so that blocks are long although parts are many."""


def packed(arrays: Iterable[npt.NDArray[Any]]) -> pa.Array:
    """A binary column with the bytes of one array in each row."""
    return pa.array([array.tobytes() for array in arrays], pa.binary())


def unpacked(column: pa.Array | pa.ChunkedArray, kind: type[np.generic]) -> npt.NDArray[Any]:
    """The arrays of all rows, one after another."""
    found = [np.frombuffer(value.as_buffer(), kind) for value in column]
    return np.concatenate([np.empty(0, kind), *found])


def read_lists(batches: Iterable[pa.RecordBatch], nodes: int, topics: int) -> Iterator[Lists]:
    """Rows of `lists/`, checked, some millions of interests at once."""
    waiting: list[Lists] = []
    for batch in batches:
        waiting.append(_checked(batch, nodes, topics))
        if sum(len(lists.topic_ids) for lists in waiting) >= _INTERESTS_AT_ONCE:
            yield join_lists(waiting)
            waiting = []
    if waiting:
        yield join_lists(waiting)


def _checked(batch: pa.RecordBatch, nodes: int, topics: int) -> Lists:
    ids, column = batch.column("node_id"), batch.column("topic_ids")
    values = column.flatten()
    if ids.null_count or column.null_count or values.null_count:
        raise DatasetError("lists/ of the dataset holds a null; write it again")
    indptr = np.concatenate([[0], np.cumsum(column.value_lengths().to_numpy(), dtype=np.int64)])
    found = Lists(ids.to_numpy(), indptr, values.to_numpy())
    if len(found.nodes) and (found.nodes.min() < 0 or found.nodes.max() >= nodes):
        raise DatasetError(f"lists/ of the dataset has a node_id outside 0 to {nodes - 1}; write it again")
    try:
        check_lists(found.indptr, found.topic_ids, len(found.nodes), topics)
    except InputError as error:
        raise DatasetError(f"lists/ of the dataset, in a batch of rows: {error}") from None
    return found


def runs(ordered: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Offsets]:
    """The distinct values of a sorted array, and where each begins: linear, where `np.unique` sorts again."""
    starts = np.flatnonzero(np.concatenate([[len(ordered) > 0], ordered[1:] != ordered[:-1]]))
    return ordered[starts], starts


def cut(lists: Lists, parts: Ids) -> pa.RecordBatch:
    """A block for each part that `lists` have nodes of; a part below 0 is left out."""
    order = np.argsort(parts, kind="stable").astype(np.int32)
    order = order[np.searchsorted(parts[order], 0) :]
    sorted_lists = take_lists(lists, order)
    numbers, starts = runs(parts[order])
    sizes = np.diff(sorted_lists.indptr).astype(np.int32)
    ends = sorted_lists.indptr[starts[1:]]
    columns = [
        pa.array(numbers.astype(np.int32)),
        packed(np.split(sorted_lists.nodes, starts[1:])[: len(numbers)]),
        packed(np.split(sizes, starts[1:])[: len(numbers)]),
        packed(np.split(sorted_lists.topic_ids, ends)[: len(numbers)]),
    ]
    return pa.record_batch(columns, schema=_SCHEMA)


def cutter(
    part_of: Callable[[Ids], Ids], nodes: int, topics: int
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """For `mapInArrow`: rows of `lists/` to blocks; `part_of` gives the parts of some nodes."""

    def to_blocks(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for lists in read_lists(batches, nodes, topics):
            yield cut(lists, part_of(lists.nodes))

    return to_blocks


def joined(blocks: pa.Table) -> Lists:
    """The nodes of some blocks with their topics, by id."""
    sizes = unpacked(blocks.column("sizes"), np.int32)
    found = Lists(
        nodes=unpacked(blocks.column("nodes"), np.int32),
        indptr=np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]),
        topic_ids=unpacked(blocks.column("topic_ids"), np.int32),
    )
    return by_id(found)


def by_id(lists: Lists) -> Lists:
    """The same by id; a node that comes twice is refused."""
    if (lists.nodes[1:] < lists.nodes[:-1]).any():
        lists = take_lists(lists, np.argsort(lists.nodes).astype(np.int32))
    if (lists.nodes[1:] == lists.nodes[:-1]).any():
        raise DatasetError("lists/ of the dataset has a node_id twice; write it again")
    return lists
