"""The edges of parts in tables as `edges/` of a dataset: sorted, each once, with names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from meshwright.kernels.arrays import Ids
from meshwright.pipeline.blocks import packed, unpacked
from meshwright.pipeline.broadcasting import broadcast
from meshwright.pipeline.storage import read_table, url

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_KEYS = "range int, keys binary"
_IDS = "source_id int, target_id int"
_NAMED = f"source string, target string, {_IDS}"
_EDGES_A_RANGE = 1 << 20
_ROWS_A_BATCH = 1 << 16
_MOST_NAMES = 256 << 20
"""Bytes of all names up to which every task may hold them; beyond, Spark joins them."""


def write_edges(
    session: SparkSession, folders: list[Path], extra: Ids, count: int, dataset: Path, nodes: int, out: Path
) -> int:
    """Write the edges of the parts in `folders`, and the `extra` ones, to `out`; gives their number.

    `count` is about how many there are. They are cut into ranges of their lower node, one task and one file
    each, so that they are sorted over all files. A task holds one range, of about a million edges.
    """
    ranges = max(1, min(nodes, -(-count // _EDGES_A_RANGE), 1 << 14))
    span = max(1, -(-nodes // ranges))
    frame = session.createDataFrame(pa.table({"edges": packed([extra.astype(np.int32)])}))
    for folder in folders:
        frame = frame.unionByName(read_table(session, folder).select("edges"))

    def cut(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield _ranges(unpacked(batch.column("edges"), np.int32).reshape(-1, 2), nodes, span)

    keys = frame.mapInArrow(cut, _KEYS).repartitionById(ranges, "range")
    _write(session, keys, dataset, nodes, out)
    return read_table(session, out).count()


def _ranges(edges: Ids, nodes: int, span: int) -> pa.RecordBatch:
    """A row for each range: a number for each edge, which sorts like it."""
    low, high = edges.min(axis=1, initial=nodes), edges.max(axis=1, initial=0)
    keys = np.sort(low.astype(np.int64) * nodes + high)
    numbers, starts = np.unique(keys // nodes // span, return_index=True)
    columns = [pa.array(numbers.astype(np.int32)), packed(np.split(keys, starts[1:])[: len(numbers)])]
    return pa.record_batch(columns, names=["range", "keys"])


def _write(session: SparkSession, keys: DataFrame, dataset: Path, nodes: int, out: Path) -> None:
    from pyspark.sql import functions as f

    table = read_table(session, dataset / "nodes").select("id", "name")
    length = table.agg(f.coalesce(f.sum(f.octet_length("name")), f.lit(0))).collect()[0][0]
    if length > _MOST_NAMES:
        ids = keys.mapInArrow(_sorter(nodes), _IDS)
        _joined(ids, table).write.parquet(url(out))
        return
    with broadcast(session, _names(table)) as names:

        def name(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in _sorter(nodes)(batches):
                found = [names.value.take(column) for column in batch.columns]
                columns = [*found, *batch.columns]
                yield pa.record_batch(columns, names=["source", "target", *batch.schema.names])

        keys.mapInArrow(name, _NAMED).write.parquet(url(out))


def _sorter(nodes: int) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """For `mapInArrow`: the edges of a range, which is all of a task, sorted and each once."""

    def to_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found = [unpacked(batch.column("keys"), np.int64) for batch in batches]
        keys = np.unique(np.concatenate([np.empty(0, np.int64), *found]))
        for start in range(0, len(keys), _ROWS_A_BATCH):
            ends = np.divmod(keys[start : start + _ROWS_A_BATCH], nodes)
            columns = [pa.array(end.astype(np.int32)) for end in ends]
            yield pa.record_batch(columns, names=["source_id", "target_id"])

    return to_rows


def _names(table: DataFrame) -> pa.Array:
    """The names by id."""
    found = table.toArrow().sort_by("id").column("name").combine_chunks()
    return found.chunk(0) if isinstance(found, pa.ChunkedArray) else found


def _joined(ids: DataFrame, table: DataFrame) -> DataFrame:
    """The rows of `_NAMED`, sorted, with names that are joined."""
    sources = table.selectExpr("id as source_id", "name as source")
    targets = table.selectExpr("id as target_id", "name as target")
    found = ids.join(sources, "source_id").join(targets, "target_id")
    ordered = found.repartitionByRange("source_id", "target_id")
    return ordered.sortWithinPartitions("source_id", "target_id").select(
        "source", "target", "source_id", "target_id"
    )
