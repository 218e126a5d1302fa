"""Ids and dense lists, made once: an id is the rank of a name in UTF-8 byte order, which is Spark's too."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

from meshwright.model.reading.files import reading
from meshwright.pipeline.ingest.grouping import NO_TOPIC, grouped, grouped_at_once, partly_grouped
from meshwright.pipeline.spark import functions as f
from meshwright.pipeline.spark.storage import url
from meshwright.runtime.errors import CapacityError, DatasetError
from meshwright.runtime.places import Place

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

GROUPED = "name string, topic_ids array<int>, duplicates bigint"
_PARTS = "name string, codes array<int>, duplicates bigint"
_NAMED = "name string"
_MOST_IDS = 2**31 - 1

ROWS_A_PART = 4_000_000
"""The most rows that one task brings into lists, on average: about 100 MB in its Python."""

_FEWEST_ROWS_A_PART = 100_000

MOST_BROADCAST_BYTES = 1 << 26
"""Names of topics up to this size go to every task, at some three times the size; more are shuffled."""


class Numbered(NamedTuple):
    """A table in the order of its ids, with the column `id`, as it lies in Parquet files."""

    frame: DataFrame
    total: int
    name_bytes: int


def write_topics(session: SparkSession, names: DataFrame, count: int, folder: Place) -> Numbered:
    """The distinct values of the one column `name`, sorted and numbered; shuffles those of each task.

    `count` is about how many rows there are. To find ranges of few is a job that is not worth it.
    """
    found = names.distinct()
    if count <= _FEWEST_ROWS_A_PART:
        found = found.coalesce(1).sortWithinPartitions("name")
    else:
        found = found.orderBy("name")
    found.write.parquet(url(folder))
    return numbered(session, folder, _NAMED)


def numbered(session: SparkSession, folder: Place, schema: str) -> Numbered:
    """Files that were written sorted by name, with ids: the rows in the files before, and before in the file.

    The rows of each file are read from its footer. Each file is read by itself and in its turn: Spark would
    take larger ones first, and what is written from here would not be in the order of ids.
    """
    parts, before, size = [], 0, 0
    for file in part_sizes(session, folder):
        part = session.read.schema(schema).option("__globPaths__", "false").parquet(url(file.path))
        number = (f.lit(before) + f.col("_metadata.row_index")).cast("int")
        parts.append(part.select(number.alias("id"), "*"))
        before, size = before + file.rows, size + file.size
    if before > _MOST_IDS:
        raise CapacityError(
            f"there are {before:,} names, but only {_MOST_IDS:,} can have an id; use less data"
        )
    nothing = session.createDataFrame([], f"id int, {schema}")
    return Numbered(reduce(lambda one, other: one.unionAll(other), parts or [nothing]), before, size)


class PartSize(NamedTuple):
    """What a footer says: the rows of a part file, and its bytes before compression."""

    path: Place
    rows: int
    size: int


def part_sizes(session: SparkSession, folder: Place) -> list[PartSize]:
    """The part files of a table that have rows, by name, without a job: a few milliseconds a file."""
    jvm: Any = session.sparkContext._jvm
    conf = session.sparkContext._jsc.hadoopConfiguration()
    found = []
    with reading(folder, DatasetError):
        for path in sorted(folder.iterdir(), key=lambda file: file.name):
            if path.suffix == ".parquet":
                place = jvm.org.apache.hadoop.fs.Path(url(path))
                file = jvm.org.apache.parquet.hadoop.util.HadoopInputFile.fromPath(place, conf)
                reader = jvm.org.apache.parquet.hadoop.ParquetFileReader.open(file)
                try:
                    blocks = reader.getFooter().getBlocks()
                    size = sum(block.getTotalByteSize() for block in blocks)
                    found.append(PartSize(path, int(reader.getRecordCount()), int(size)))
                finally:
                    reader.close()
    return [part for part in found if part.rows]


def coded(pairs: DataFrame, topics: Numbered) -> DataFrame:
    """`node, topic` as `name, code`, in which a topic is its id, or NO_TOPIC where it is null."""
    known = topics.frame.select("id", f.col("name").alias("topic"))
    code = f.coalesce("id", f.lit(NO_TOPIC))
    return pairs.join(_small(known, topics), "topic", "left").select(
        f.col("node").alias("name"), code.alias("code")
    )


def _small(frame: DataFrame, topics: Numbered) -> DataFrame:
    return f.broadcast(frame) if topics.name_bytes <= MOST_BROADCAST_BYTES else frame


def as_users(topics: Numbered, own_topic: bool) -> DataFrame:
    """Each topic's name as the name of a node: without a topic, or with its own."""
    code = -2 - f.col("id") if own_topic else f.lit(NO_TOPIC)
    return topics.frame.select("name", code.alias("code"))


def write_lists(session: SparkSession, rows: DataFrame, count: int, folder: Place) -> Numbered:
    """`name, code` as one row of GROUPED for each name, sorted and numbered; `count` is about how many rows.

    Tasks bring what they read into lists first, which are written. So names are sampled from those, and
    shuffled once, by ranges: a name as often as tasks met it, with a number for each row. A task brings its
    range together in memory; a name is in one range, so a node with a million topics is a list of four
    megabytes, and a topic with a million nodes is spread.
    """
    parts = _parts(session, count)
    if parts == 1:
        lists = rows.coalesce(1).mapInArrow(grouped_at_once, GROUPED)
    else:
        scratch = folder.parent / "parts"
        rows.mapInArrow(partly_grouped, _PARTS).write.parquet(url(scratch))
        found = session.read.schema(_PARTS).option("__globPaths__", "false").parquet(url(scratch))
        lists = found.repartitionByRange(parts, "name").mapInArrow(grouped, GROUPED)
    lists.write.parquet(url(folder))
    return numbered(session, folder, GROUPED)


def _parts(session: SparkSession, count: int) -> int:
    """One for each core, unless they would be tiny or too large."""
    useful = min(session.sparkContext.defaultParallelism, -(-count // _FEWEST_ROWS_A_PART))
    return max(1, useful, -(-count // ROWS_A_PART))


def interest_names(nodes: Numbered, topics: Numbered) -> DataFrame:
    """`node, topic` by name, in the order of ids."""
    known = topics.frame.select("id", f.col("name").alias("topic"))
    pairs = nodes.frame.select(
        f.col("id").alias("node_id"), f.col("name").alias("node"), f.explode("topic_ids").alias("id")
    )
    named = pairs.join(_small(known, topics), "id")
    if topics.name_bytes > MOST_BROADCAST_BYTES:  # a join by a shuffle keeps no order
        named = named.orderBy("node_id", "id")
    return named.select("node", "topic")
