"""The edges of parts in tables as `edges/` of a dataset: sorted, each once, with names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from meshwright.model.costs.costs import Costs
from meshwright.model.overlay import edges_schema
from meshwright.pipeline.build.part_rows import runs
from meshwright.pipeline.spark import functions as f
from meshwright.pipeline.spark.arrays import Batches, packed, unpacked
from meshwright.pipeline.spark.storage import read_table, url
from meshwright.pipeline.spark.tables import broadcast
from meshwright.pipeline.spark.task_files import write_in_tasks
from meshwright.runtime.arrays import Ids
from meshwright.runtime.places import Place, is_local

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_KEYS = "range int, keys binary"
_IDS = "source_id int, target_id int"
_NAMED = f"source string, target string, {_IDS}"
_EDGES_A_RANGE = 1 << 20
_MOST_RANGES = 1 << 14
_ROWS_A_BATCH = 1 << 18
_MOST_NAMES = 256 << 20
"""Bytes of all names up to which every task may hold them; beyond, Spark joins them."""


def write_edges(
    session: SparkSession,
    folders: list[Place],
    extra: Ids,
    count: int,
    nodes: int,
    out: Place,
    named: Place | None,
    costs: Costs | None = None,
) -> int:
    """Write the edges of the parts in `folders`, and the `extra` ones, to `out`; gives their number.

    `count` is about how many there are. They are cut into ranges of their lower node, one task and one file
    each, so that they are sorted over all files. A task holds one range, of about a million edges, the names
    of all nodes unless these are many, and the `costs`, of which every edge gets its own. The names are those
    of the table `named`; without it, edges have ids alone.
    """
    ranges = max(1, min(nodes, -(-count // _EDGES_A_RANGE), _MOST_RANGES))
    span = max(1, -(-nodes // ranges))
    frame = session.createDataFrame(pa.table({"edges": packed([extra.astype(np.int32)])}))
    for folder in folders:
        frame = frame.unionByName(read_table(session, folder).select("edges"))

    def cut(batches: Iterable[pa.RecordBatch]) -> Batches:
        for batch in batches:
            yield _ranges(unpacked(batch.column("edges"), np.int32).reshape(-1, 2), nodes, span)

    keys = frame.mapInArrow(cut, _KEYS).repartitionById(ranges, "range")
    return _write(session, keys, ranges, nodes, out, named, costs)


def _ranges(edges: Ids, nodes: int, span: int) -> pa.RecordBatch:
    """A row for each range: a number for each edge, which sorts like it."""
    low, high = edges.min(axis=1, initial=nodes), edges.max(axis=1, initial=0)
    keys = np.sort(low.astype(np.int64) * nodes + high)
    numbers, starts = runs(keys // nodes // span)
    columns = [pa.array(numbers.astype(np.int32)), packed(np.split(keys, starts[1:])[: len(numbers)])]
    return pa.record_batch(columns, names=["range", "keys"])


def _write(
    session: SparkSession,
    keys: DataFrame,
    ranges: int,
    nodes: int,
    out: Place,
    named: Place | None,
    costs: Costs | None,
) -> int:
    table = None if named is None else read_table(session, named).select("id", "name")
    few = table is None or _bytes_of(table) <= _MOST_NAMES
    schema = edges_schema(costs is not None, names=table is not None)
    names = _names(table) if table is not None and few else None
    with broadcast(session, (names, costs)) as known:

        def rows(batches: Iterable[pa.RecordBatch]) -> Batches:
            names, prices = known.value
            for batch in _sorted(batches, nodes):
                found = [] if names is None else [names.take(column) for column in batch.columns]
                cost = [] if prices is None else [pa.array(prices.between(*batch.columns))]
                columns = [*found, *batch.columns, *cost]
                yield pa.record_batch(columns, names=schema.names[-len(columns) :])

        if few and is_local(out):
            # Targets hardly repeat within a file, so that a dictionary of them costs more than it saves.
            encoded = ["source"] if table is not None else ["source_id"]
            return write_in_tasks(keys, rows, schema, out, dictionary=encoded)
        ddl = _IDS if table is None or not few else _NAMED
        found = keys.mapInArrow(rows, ddl + (", cost double" if costs is not None else ""))
        whole = found if few or table is None else _joined(found, table, ranges, schema.names)
        whole.write.parquet(url(out))
    return read_table(session, out).count()


def _bytes_of(table: DataFrame) -> int:
    """How long all names are together."""
    return int(table.agg(f.coalesce(f.sum(f.octet_length("name")), f.lit(0))).collect()[0][0])


def _sorted(batches: Iterable[pa.RecordBatch], nodes: int) -> Batches:
    """The edges of a range, which is all of a task, sorted and each once."""
    found = [unpacked(batch.column("keys"), np.int64) for batch in batches]
    keys, _ = runs(np.sort(np.concatenate([np.empty(0, np.int64), *found])))
    for start in range(0, len(keys), _ROWS_A_BATCH):
        ends = np.divmod(keys[start : start + _ROWS_A_BATCH], nodes)
        columns = [pa.array(end.astype(np.int32)) for end in ends]
        yield pa.record_batch(columns, names=["source_id", "target_id"])


def _names(table: DataFrame) -> pa.Array:
    """The names by id."""
    found = table.toArrow().sort_by("id").column("name").combine_chunks()
    return found.chunk(0) if isinstance(found, pa.ChunkedArray) else found


def _joined(ids: DataFrame, table: DataFrame, ranges: int, columns: list[str]) -> DataFrame:
    """The rows with these columns, sorted, with names that are joined."""
    sources = table.selectExpr("id as source_id", "name as source")
    targets = table.selectExpr("id as target_id", "name as target")
    found = ids.join(sources, "source_id").join(targets, "target_id")
    ordered = found.repartitionByRange(ranges, "source_id", "target_id")
    return ordered.sortWithinPartitions("source_id", "target_id").select(*columns)
