"""Rows of `lists/` for tasks: read by the tasks themselves where they can, else by Spark.

Spark takes lists apart value by value on their way to Arrow, which is five times the work (measured) of
reading a file inside the task. That needs files on a path: of this machine, or one that all machines have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from meshwright.errors import DatasetError
from meshwright.model.files import part_files, reading
from meshwright.model.interest_tables import LISTS
from meshwright.model.schema import check_types
from meshwright.pipeline.storage import read_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Work = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]

_ROWS_A_BATCH = 1 << 16
_TASKS_A_SLOT = 2


class Piece(NamedTuple):
    """A row group of a file."""

    file: str
    group: int
    rows: int


class ListFiles:
    """The table `lists/` of a dataset of so many nodes, with a row for each of them."""

    def __init__(self, session: SparkSession, dataset: Path, nodes: int) -> None:
        self._session, self._dataset, self._nodes = session, dataset, nodes

    def map(self, work: Work, schema: str) -> DataFrame:
        """What `work` makes of the rows `node_id, topic_ids`, which each task has some of."""
        tasks = self._tasks
        if not tasks:
            return self._frame.mapInArrow(work, schema)

        def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            numbers = (number for batch in batches for number in batch.column(0).to_pylist())
            return work(chain.from_iterable(_read(piece) for number in numbers for piece in tasks[number]))

        return self._session.range(0, len(tasks), 1, len(tasks)).mapInArrow(run, schema)

    @cached_property
    def _tasks(self) -> list[list[Piece]]:
        """What each task reads; nothing where Spark must read, or add nodes that have no row."""
        folder = self._dataset / "lists"
        if not isinstance(folder, Path):
            return []
        pieces = [piece for file in part_files(folder) for piece in _pieces(file)]
        rows = np.cumsum([0, *(piece.rows for piece in pieces)])
        if rows[-1] != self._nodes:
            return []
        count = min(len(pieces), _TASKS_A_SLOT * self._session.sparkContext.defaultParallelism)
        cuts = np.searchsorted(rows, np.linspace(0, rows[-1], count + 1))
        return [pieces[start:end] for start, end in pairwise(cuts) if end > start]

    @cached_property
    def _frame(self) -> DataFrame:
        """The table as Spark reads it; a node without topics may have no row on disk."""
        from pyspark.sql import functions as f

        found = read_table(self._session, self._dataset / "lists").select("node_id", "topic_ids")
        rows = found.count()
        if rows > self._nodes:
            raise DatasetError(
                f"{self._dataset / 'lists'} has {rows} rows for {self._nodes} nodes; write it again"
            )
        if rows == self._nodes:
            return found
        nodes = read_table(self._session, self._dataset / "nodes").select(f.col("id").alias("node_id"))
        missing = nodes.join(found, "node_id", "left_anti")
        return found.unionByName(missing.withColumn("topic_ids", f.expr("cast(array() as array<int>)")))


def _pieces(file: Path) -> list[Piece]:
    with reading(file, DatasetError), pq.ParquetFile(file) as opened:
        check_types(opened.schema_arrow, LISTS, str(file), DatasetError)
        counts = [opened.metadata.row_group(at).num_rows for at in range(opened.num_row_groups)]
    return [Piece(str(file), at, count) for at, count in enumerate(counts) if count]


def _read(piece: Piece) -> Iterator[pa.RecordBatch]:
    with reading(Path(piece.file), DatasetError), pq.ParquetFile(piece.file) as opened:
        yield from opened.iter_batches(_ROWS_A_BATCH, [piece.group], list(LISTS))
