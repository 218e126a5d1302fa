"""Rows of `lists/` and `edges/` for tasks: read by the tasks themselves where they can, else by Spark.

Spark takes lists apart value by value on their way to Arrow, which is five times the work (measured) of
reading a file inside the task. That needs files on a path: of this machine, or one that all machines have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from meshwright.model.interests import LISTS
from meshwright.model.reading.files import part_files, reading
from meshwright.model.storage.schema import Wanted, check_types
from meshwright.pipeline.spark import functions as f
from meshwright.pipeline.spark.arrays import Batches
from meshwright.pipeline.spark.storage import read_table
from meshwright.runtime.arrays import Offsets
from meshwright.runtime.errors import DatasetError
from meshwright.runtime.places import Place, is_local

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Work = Callable[[Iterable[pa.RecordBatch]], Batches]

_ROWS_A_BATCH = 1 << 16
_MOST_NODES = (1 << 31) - 1
_TASKS_A_SLOT = 2
_RANGES_A_TASK = 16
_MOST_OVERLAP = 2
_FEW_ROWS = 1 << 17
"""So many rows, or so many times all, may be read for the sake of ranges; a shuffle costs as much."""


class Piece(NamedTuple):
    """A row group of a file, and the least and greatest node in it."""

    file: str
    group: int
    rows: int
    low: int
    high: int


class TableFiles:
    """A table of a dataset: the files in a folder, of which `wanted` columns are read."""

    def __init__(self, session: SparkSession, folder: Place, wanted: Mapping[str, Wanted]) -> None:
        self._session, self._folder, self._wanted = session, folder, wanted

    def map(self, work: Work, schema: str) -> DataFrame:
        """What `work` makes of the wanted columns of the rows, which each task has some of."""
        tasks, columns = self._tasks, list(self._wanted)
        if not tasks:
            return self._frame.mapInArrow(work, schema)

        def run(batches: Iterable[pa.RecordBatch]) -> Batches:
            numbers = (number for batch in batches for number in batch.column(0).to_pylist())
            pieces = (piece for number in numbers for piece in tasks[number])
            return work(chain.from_iterable(_read(piece, columns) for piece in pieces))

        return self._each(len(tasks)).mapInArrow(run, schema)

    def _each(self, tasks: int) -> DataFrame:
        """A row with its number for each task."""
        return self._session.range(0, tasks, 1, tasks)

    @property
    def _slots(self) -> int:
        return _TASKS_A_SLOT * self._session.sparkContext.defaultParallelism

    @cached_property
    def _pieces(self) -> list[Piece]:
        """All row groups; nothing where Spark must read."""
        if not is_local(self._folder):
            return []
        files = part_files(self._folder.absolute())
        pieces = [piece for file in files for piece in _pieces(file, self._wanted)]
        return pieces if self._is_complete(sum(piece.rows for piece in pieces)) else []

    def _is_complete(self, rows: int) -> bool:
        """Whether tasks may read files that have so many rows together."""
        del rows
        return True

    @cached_property
    def _tasks(self) -> list[list[Piece]]:
        """The pieces that each task reads."""
        rows = np.cumsum([0, *(piece.rows for piece in self._pieces)])
        cuts = np.searchsorted(rows, np.linspace(0, rows[-1], min(len(self._pieces), self._slots) + 1))
        return [self._pieces[start:end] for start, end in pairwise(cuts) if end > start]

    @cached_property
    def _frame(self) -> DataFrame:
        """The table as Spark reads it."""
        return read_table(self._session, self._folder).select(*self._wanted)


class ListFiles(TableFiles):
    """The table `lists/` of a dataset of so many nodes, with a row for each of them."""

    def __init__(self, session: SparkSession, dataset: Place, nodes: int) -> None:
        super().__init__(session, dataset / "lists", LISTS)
        self._dataset, self._nodes = dataset, nodes

    def map_ranges(self, work: Work, schema: str, span: int) -> DataFrame | None:
        """As `map`, with all rows of a range of `span` nodes in one task; none where that takes a shuffle.

        It does not where the files are in the order of ids: each task reads what its ranges lie in, and
        passes over the rest of that.
        """
        ranges = -(-self._nodes // span)
        count = min(ranges, max(self._slots, -(-ranges // _RANGES_A_TASK)))
        cuts = np.linspace(0, ranges, count + 1).astype(np.int64) * span
        tasks = self.pieces_within(cuts)
        if tasks is None:
            return None

        def run(batches: Iterable[pa.RecordBatch]) -> Batches:
            for batch in batches:
                for number in batch.column(0).to_pylist():
                    yield from work(read_within(tasks[number], cuts[number], cuts[number + 1]))

        return self._each(count).mapInArrow(run, schema)

    def pieces_within(self, cuts: Offsets) -> list[list[Piece]] | None:
        """What to read for the nodes between each two cuts; none where too much would be read for nothing."""
        found = [
            [piece for piece in self._pieces if piece.low < end and piece.high >= start]
            for start, end in pairwise(cuts)
        ]
        to_read = sum(piece.rows for task in found for piece in task)
        few = bool(self._pieces) and to_read <= max(_MOST_OVERLAP * self._nodes, _FEW_ROWS)
        return found if few else None

    def _is_complete(self, rows: int) -> bool:
        """Not where Spark must add nodes that have no row."""
        return rows == self._nodes

    @cached_property
    def _frame(self) -> DataFrame:
        """The table as Spark reads it; a node without topics may have no row on disk."""
        found = read_table(self._session, self._dataset / "lists").select("node_id", "topic_ids")
        rows = found.count()
        if rows > self._nodes:
            raise DatasetError(
                f"{self._dataset / 'lists'} has {rows} rows for {self._nodes} nodes; write the dataset again"
            )
        if rows == self._nodes:
            return found
        nodes = read_table(self._session, self._dataset / "nodes").select(f.col("id").alias("node_id"))
        missing = nodes.join(found, "node_id", "left_anti")
        return found.unionByName(missing.withColumn("topic_ids", f.expr("cast(array() as array<int>)")))


def _pieces(file: Path, wanted: Mapping[str, Wanted]) -> list[Piece]:
    """The row groups of a file, by the nodes in the first of the wanted columns."""
    with reading(file, DatasetError), pq.ParquetFile(file) as opened:
        check_types(opened.schema_arrow, wanted, str(file), DatasetError)
        ids = opened.schema.names.index(next(iter(wanted)))
        pieces = []
        for at in range(opened.num_row_groups):
            group = opened.metadata.row_group(at)
            known = group.column(ids).statistics
            low, high = (known.min, known.max) if known and known.has_min_max else (0, _MOST_NODES)
            pieces.append(Piece(str(file), at, group.num_rows, low, high))
    return [piece for piece in pieces if piece.rows]


def _read(piece: Piece, columns: list[str]) -> Batches:
    with reading(Path(piece.file), DatasetError), pq.ParquetFile(piece.file) as opened:
        yield from opened.iter_batches(_ROWS_A_BATCH, [piece.group], columns)


def read_within(pieces: Iterable[Piece], start: int, end: int) -> Batches:
    """The lists in some pieces whose nodes lie between two cuts."""
    for batch in chain.from_iterable(_read(piece, list(LISTS)) for piece in pieces):
        ids = batch.column("node_id").to_numpy(zero_copy_only=False)
        yield batch.filter(pa.array((ids >= start) & (ids < end)))
