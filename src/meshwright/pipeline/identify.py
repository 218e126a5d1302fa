"""Ids and dense lists, made once: an id is the rank of a name in UTF-8 byte order, which is Spark's order too."""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from meshwright.errors import CapacityError
from meshwright.pipeline.grouping import NO_TOPIC, grouped
from meshwright.pipeline.storage import read_table, url

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

GROUPED = "name string, topic_ids array<int>, duplicates bigint"
_NAMED = "name string"
_MOST_IDS = 2**31 - 1

ROWS_A_PART = 2_000_000
"""Rows that one task brings into lists: about 100 MB in its Python."""

MOST_BROADCAST_BYTES = 1 << 26
"""Names of topics up to this size go to every task, at some three times the size; more are joined by a shuffle."""


class Numbered(NamedTuple):
    """A table in the order of its ids, with the column `id`, as it lies in Parquet files."""

    frame: DataFrame
    count: int
    name_bytes: int


def write_topics(session: SparkSession, names: DataFrame, folder: Path) -> Numbered:
    """The distinct names of `names`, which has one column `name`, sorted and numbered. One shuffle of the distinct."""
    names.distinct().orderBy("name").write.parquet(url(folder))
    return numbered(session, folder, _NAMED)


def numbered(session: SparkSession, folder: Path, schema: str) -> Numbered:
    """Files that were written sorted by name, with ids: the rows of the files before, and the row in the file.

    One light job counts the rows of each file. Each file is read by itself and in its turn: Spark would take
    larger ones first, and what is written from here would not be in the order of ids.
    """
    from pyspark.sql import functions as f

    size = f.sum(f.octet_length("name"))
    files = (
        read_table(session, folder)
        .groupBy(f.col("_metadata.file_name").alias("file"))
        .agg(f.count("*").alias("rows"), size.alias("bytes"))
        .collect()
    )
    parts, before = [], 0
    for file, rows, _ in sorted(map(tuple, files)):
        part = session.read.schema(schema).option("__globPaths__", "false").parquet(url(folder / file))
        number = (f.lit(before) + f.col("_metadata.row_index")).cast("int")
        parts.append(part.select(number.alias("id"), "*"))
        before += rows
    if before > _MOST_IDS:
        raise CapacityError(f"there are {before:,} names, and ids reach to {_MOST_IDS:,}; take a part of the data")
    frame = reduce(lambda one, other: one.unionAll(other), parts or [session.createDataFrame([], f"id int, {schema}")])
    return Numbered(frame, before, sum(row.bytes for row in files))


def coded(pairs: DataFrame, topics: Numbered) -> DataFrame:
    """`node, topic` as `name, code`, in which a topic is its id, or NO_TOPIC where it is null."""
    from pyspark.sql import functions as f

    known = topics.frame.select("id", f.col("name").alias("topic"))
    code = f.coalesce("id", f.lit(NO_TOPIC))
    return pairs.join(_small(known, topics), "topic", "left").select(f.col("node").alias("name"), code.alias("code"))


def _small(frame: DataFrame, topics: Numbered) -> DataFrame:
    from pyspark.sql import functions as f

    return f.broadcast(frame) if topics.name_bytes <= MOST_BROADCAST_BYTES else frame


def as_users(topics: Numbered, own_topic: bool) -> DataFrame:
    """Each topic's name as the name of a node: without a topic, or with its own."""
    from pyspark.sql import functions as f

    code = -2 - f.col("id") if own_topic else f.lit(NO_TOPIC)
    return topics.frame.select("name", code.alias("code"))


def write_lists(session: SparkSession, rows: DataFrame, count: int, folder: Path) -> Numbered:
    """`name, code` as one row of GROUPED for each name, sorted and numbered; `count` is about how many rows.

    One shuffle by ranges of names. A task brings its range into lists in memory; a name is in one range, so a
    node with a million topics is a list of four megabytes, and a topic with a million nodes is spread over all.
    """
    parts = max(session.sparkContext.defaultParallelism, -(-count // ROWS_A_PART))
    ranges = rows.repartitionByRange(parts, "name")
    ranges.mapInArrow(grouped, GROUPED).write.parquet(url(folder))
    return numbered(session, folder, GROUPED)


def interest_names(nodes: Numbered, topics: Numbered) -> DataFrame:
    """`node, topic` by name, in the order of ids."""
    from pyspark.sql import functions as f

    known = topics.frame.select("id", f.col("name").alias("topic"))
    pairs = nodes.frame.select(
        f.col("id").alias("node_id"), f.col("name").alias("node"), f.explode("topic_ids").alias("id")
    )
    named = pairs.join(_small(known, topics), "id")
    if topics.name_bytes > MOST_BROADCAST_BYTES:  # a join by a shuffle keeps no order
        named = named.orderBy("node_id", "id")
    return named.select("node", "topic")
