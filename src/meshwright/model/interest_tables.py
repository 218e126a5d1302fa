"""The tables of an interests dataset: `interests/` for everybody, `nodes/`, `topics/`, `lists/` for jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from meshwright.model.dense import Dense, dense, rows_of, sealed
from meshwright.model.names import name_array
from meshwright.model.pairs import NODE_TOPIC, collect, from_parquet
from meshwright.model.storage.dataset import TableSource, read_table, whole
from meshwright.model.storage.manifest import Dataset, check_files
from meshwright.model.storage.schema import INT32, LIST_OF_INT32, STRING
from meshwright.runtime.arrays import Ids, Offsets
from meshwright.runtime.errors import DatasetError

if TYPE_CHECKING:
    from meshwright.model.interests import Interests

PAIRS_SCHEMA = pa.schema([("node", pa.string()), ("topic", pa.string())])
LISTS_SCHEMA = pa.schema([("node_id", pa.int32()), ("topic_ids", pa.list_(pa.int32()))])

_NAMED = {"id": INT32, "name": STRING}
LISTS = {"node_id": INT32, "topic_ids": LIST_OF_INT32}
"""The columns of `lists/` as they may come."""

_DENSE = ("nodes", "topics", "lists")
_INTERESTS_A_BLOCK = 1 << 20


def counts(interests: Interests) -> dict[str, int]:
    """What the manifest counts."""
    return {"nodes": interests.node_count, "topics": interests.topic_count, "interests": len(interests)}


def tables(interests: Interests) -> dict[str, TableSource]:
    """The tables to write, in blocks of about a million interests."""
    return {
        "interests": TableSource(PAIRS_SCHEMA, _blocks(interests, _pairs_block), len(interests)),
        "nodes": _named(interests.nodes, interests.node_attributes),
        "topics": _named(interests.topics, interests.topic_attributes),
        "lists": TableSource(LISTS_SCHEMA, _blocks(interests, _lists_block), interests.node_count),
    }


def _named(names: pa.StringArray, attributes: pa.Table | None) -> TableSource:
    table = pa.table({"id": np.arange(len(names), dtype=np.int32), "name": names})
    if attributes is not None:
        for column in attributes.schema:
            table = table.append_column(column, attributes[column.name])
    return whole(table)


def _blocks(
    interests: Interests, block: Callable[[Interests, int, int], pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    start = 0
    while start < interests.node_count:
        enough = interests.indptr[start] + _INTERESTS_A_BLOCK
        stop = max(start + 1, int(np.searchsorted(interests.indptr, enough, side="right")) - 1)
        yield block(interests, start, stop)
        start = stop


def _pairs_block(interests: Interests, start: int, stop: int) -> pa.RecordBatch:
    indptr = interests.indptr[start : stop + 1]
    nodes = interests.nodes.slice(start, stop - start).take(pa.array(rows_of(indptr)))
    topics = interests.topics.take(pa.array(interests.topic_ids[indptr[0] : indptr[-1]]))
    return pa.record_batch([nodes, topics], schema=PAIRS_SCHEMA)


def _lists_block(interests: Interests, start: int, stop: int) -> pa.RecordBatch:
    indptr = interests.indptr[start : stop + 1]
    values = pa.array(interests.topic_ids[indptr[0] : indptr[-1]])
    lists = pa.ListArray.from_arrays(pa.array((indptr - indptr[0]).astype(np.int32)), values)
    return pa.record_batch([np.arange(start, stop, dtype=np.int32), lists], schema=LISTS_SCHEMA)


def read(dataset: Dataset[Path]) -> Dense:
    """The dense tables; or the pairs, when none of the dense tables is there."""
    if not any(dataset.has(name) for name in _DENSE):
        check_files(dataset, ("interests",))
        return dense(collect(from_parquet(dataset.path / "interests", NODE_TOPIC), NODE_TOPIC))
    nodes, node_attributes = read_named(dataset, "nodes")
    topics, topic_attributes = read_named(dataset, "topics")
    indptr, topic_ids = _read_lists(dataset, len(nodes))
    return Dense(indptr, topic_ids, nodes, topics, node_attributes, topic_attributes)


def read_named(dataset: Dataset[Path], name: str) -> tuple[pa.StringArray, pa.Table]:
    """The names of nodes or topics by id, and their attributes."""
    table = read_table(dataset, name, _NAMED)
    ids = table["id"].to_numpy()
    if not _counts_up(ids):
        table = table.take(np.argsort(ids))
        if not _counts_up(table["id"].to_numpy()):
            raise DatasetError(
                f"{dataset.path / name}: the ids are not 0 to {len(ids) - 1}, each once; write it again"
            )
    return name_array(table["name"], name.removesuffix("s")), table.drop_columns(["id", "name"])


def _counts_up(ids: Ids) -> bool:
    return np.array_equal(ids, np.arange(len(ids), dtype=np.int32))


def _read_lists(dataset: Dataset[Path], node_count: int) -> tuple[Offsets, Ids]:
    """The CSR of `lists/`; the rows may come in any order, and a node without a row has no topics."""
    path = dataset.path
    table = read_table(dataset, "lists", LISTS, only_wanted=True)
    node_ids = table["node_id"].to_numpy()
    lengths = pc.list_value_length(table["topic_ids"]).to_numpy().astype(np.int64)
    lists = [chunk.flatten() for chunk in table["topic_ids"].chunks]
    if any(values.null_count for values in lists):
        raise DatasetError(f"{path / 'lists'}: a list holds a null; write the dataset again")
    topic_ids = np.concatenate([np.empty(0, np.int32), *(values.to_numpy() for values in lists)])
    if len(node_ids) and (node_ids.min() < 0 or node_ids.max() >= node_count):
        raise DatasetError(f"{path / 'lists'}: a node_id lies outside 0 to {node_count - 1}; write it again")
    if (node_ids[1:] <= node_ids[:-1]).any():
        if len(np.unique(node_ids)) < len(node_ids):
            raise DatasetError(f"{path / 'lists'}: a node_id appears twice; write the dataset again")
        topic_ids = topic_ids[_by_node(node_ids, lengths)]
    indptr = np.zeros(node_count + 1, np.int64)
    indptr[node_ids.astype(np.int64) + 1] = lengths
    return sealed(np.cumsum(indptr)), sealed(topic_ids)


def _by_node(node_ids: Ids, lengths: Offsets) -> Offsets:
    """Where the entries of lists that are in any order stand when the lists are sorted by node."""
    order = np.argsort(node_ids)
    starts, sizes = (np.cumsum(lengths) - lengths)[order], lengths[order]
    shift = starts - (np.cumsum(sizes) - sizes)
    return np.repeat(shift, sizes) + np.arange(lengths.sum())
