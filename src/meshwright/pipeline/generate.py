"""Interests drawn from a law by tasks: nothing is ever held but the nodes that a task draws."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from meshwright.model.dense import rows_of
from meshwright.model.interests import LISTS_SCHEMA, PAIRS_SCHEMA
from meshwright.model.names import numbered, numbered_within
from meshwright.model.storage.dataset import draft
from meshwright.model.storage.manifest import make_manifest, write_manifest
from meshwright.pipeline.spark import functions as f
from meshwright.pipeline.spark.arrays import Batches
from meshwright.pipeline.spark.failures import translated
from meshwright.pipeline.spark.status import spark_stage
from meshwright.pipeline.spark.storage import drop_by_products, read_table, url
from meshwright.pipeline.spark.tables import written_here
from meshwright.pipeline.spark.task_files import write_in_tasks
from meshwright.runtime.disk import check_disk, list_bytes, node_bytes
from meshwright.runtime.places import Place, is_local
from meshwright.runtime.progress import Progress
from meshwright.workloads.synthetic import NODES_PER_STREAM, Law

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NODES_A_FILE = 64 * NODES_PER_STREAM
_NODES_AT_ONCE = 8 * NODES_PER_STREAM
_NAMED = pa.schema([("id", pa.int32()), ("name", pa.string())])
_DDL = {
    "lists": "node_id int, topic_ids array<int>",
    "nodes": "id int, name string",
    "interests": "node string, topic string",
}
_SCHEMAS = {"lists": LISTS_SCHEMA, "nodes": _NAMED, "interests": PAIRS_SCHEMA}


def generate_on_spark(
    session: SparkSession,
    law: Law,
    out: Place,
    made_by: Mapping[str, Any],
    *,
    names: bool = True,
    force: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Draw interests and write them to `out`; gives the manifest.

    They are those that `workloads` draws in process, whatever the number of tasks. Without `names` the table
    `interests/` is left out. A task holds 32,768 nodes at a time; the disk is looked at first.
    """
    tables = ["lists", "nodes", *(["interests"] if names else [])]
    if is_local(out):
        check_disk(f"generating {law.nodes:,} nodes", _estimate(law, names), out)
    begin = perf_counter()
    with translated(), draft(out, force) as folder:
        with spark_stage(session, progress, "generate"):
            items = {name: _write_table(session, law, name, folder / name) for name in tables}
        with written_here(session, folder) as here:
            (here / "topics").mkdir()
            topics = np.arange(law.sizes.topics, dtype=np.int32), numbered("t", law.sizes.topics)
            table = pa.table(list(topics), schema=_NAMED)
            pq.write_table(table, here / "topics" / "part-00000.parquet", compression="zstd")
        drop_by_products(folder)
        counts = {"nodes": law.nodes, "topics": law.sizes.topics, "interests": items["lists"]}
        seconds = {"seconds": {"generate": round(perf_counter() - begin, 3)}}
        manifest = make_manifest("interests", counts, {}, {}, {**made_by, **seconds})
        write_manifest(folder, manifest)
    return manifest


def _estimate(law: Law, names: bool) -> int:
    lists = list_bytes(law.expected_interests(), law.sizes.topics)
    return lists * (2 if names else 1) + node_bytes(law.nodes)


def _write_table(session: SparkSession, law: Law, name: str, folder: Place) -> int:
    """Write a table; gives how many interests it holds, or rows if it is another."""
    span = _NODES_A_FILE
    files = max(1, -(-law.nodes // span))

    def rows(batches: Iterable[pa.RecordBatch]) -> Batches:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for first, last in _blocks(number * span, min((number + 1) * span, law.nodes)):
                    yield pa.record_batch(_COLUMNS[name](law, first, last), schema=_SCHEMAS[name])

    frame = session.range(0, files, 1, files)
    if is_local(folder):
        counted = {"count": _interests_in} if name == "lists" else {}
        return write_in_tasks(frame, rows, _SCHEMAS[name], folder, **counted)  # type: ignore[arg-type]
    frame.mapInArrow(rows, _DDL[name]).write.parquet(url(folder))
    items = f.sum(f.size("topic_ids")) if name == "lists" else f.count(f.lit(1))
    return int(read_table(session, folder).agg(f.coalesce(items, f.lit(0))).collect()[0][0])


def _interests_in(batch: pa.RecordBatch) -> int:
    return len(batch.column("topic_ids").flatten())


def _blocks(first: int, last: int) -> Iterator[tuple[int, int]]:
    """The nodes of a file, in runs that are drawn at once."""
    for start in range(first, last, _NODES_AT_ONCE):
        yield start, min(start + _NODES_AT_ONCE, last)


def _lists(law: Law, first: int, last: int) -> list[pa.Array]:
    indptr, topics = law.lists(first, last)
    lists = pa.ListArray.from_arrays(pa.array(indptr.astype(np.int32)), pa.array(topics))
    return [pa.array(np.arange(first, last, dtype=np.int32)), lists]


def _nodes(law: Law, first: int, last: int) -> list[pa.Array]:
    ids = np.arange(first, last, dtype=np.int32)
    return [pa.array(ids), numbered_within("n", law.nodes, first, last)]


def _pairs(law: Law, first: int, last: int) -> list[pa.Array]:
    indptr, topics = law.lists(first, last)
    nodes = numbered_within("n", law.nodes, first, last).take(pa.array(rows_of(indptr)))
    return [nodes, numbered("t", law.sizes.topics).take(pa.array(topics))]


_COLUMNS = {"lists": _lists, "nodes": _nodes, "interests": _pairs}
