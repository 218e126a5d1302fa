"""The counts of a profile on Spark; only distributions, and the counts of a few topics, reach the driver."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from meshwright.model.storage.manifest import check_counts
from meshwright.pipeline.profile.job import common_of
from meshwright.pipeline.spark import functions as f
from meshwright.pipeline.spark.arrays import Batches, Packed, entries
from meshwright.pipeline.spark.status import spark_stage
from meshwright.pipeline.spark.storage import open_checked
from meshwright.pipeline.spark.tables import dense_table, rank
from meshwright.runtime.arrays import Ids, Longs
from meshwright.runtime.errors import DatasetError
from meshwright.runtime.places import Place
from meshwright.runtime.progress import Progress

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

TALLY = "of_topics boolean, key int, count long"
_COUNTS = Packed(counts=np.int64)
_SUMMED_BY_DRIVER = 64


class OnSpark:
    """See `Counts`."""

    def __init__(self, session: SparkSession, dataset: Place) -> None:
        self._session = session
        self._dataset = open_checked(dataset, ("lists", "topics"))
        self._lists = dense_table(session, dataset, "lists").select("node_id", "topic_ids")
        self._tally = tally(self._lists).persist()

    def stage(self, progress: Progress | None, label: str) -> AbstractContextManager[None]:
        """With Spark's tasks."""
        return spark_stage(self._session, progress, label)

    def close(self) -> None:
        """Spark forgets the tally."""
        self._tally.unpersist()

    @cached_property
    def _of_topics(self) -> DataFrame:
        return self._tally.where("of_topics")

    def subscribers(self) -> Iterable[tuple[int, int]]:
        """After a check against the manifest's counts."""
        groups = self._of_topics.groupBy("count").agg(f.count("*"), f.min("key"), f.max("key"))
        rows = groups.collect()
        check_counts(self._dataset, {"interests": sum(row[0] * row[1] for row in rows)})
        topics = self._dataset.manifest["counts"]["topics"]
        if rows and not (min(row[2] for row in rows) >= 0 and max(row[3] for row in rows) < topics):
            raise DatasetError(
                f"{self._dataset.path}/lists: a topic id lies outside 0 to {topics - 1}; "
                "write the dataset again"
            )
        return [(row[0], row[1]) for row in rows]

    def sizes(self) -> Iterable[tuple[int, int]]:
        """See `Counts`."""
        return [(row.key, row["count"]) for row in self._tally.where("not of_topics").collect()]

    def popular(self, most: int) -> dict[int, int]:
        """See `Counts`."""
        found = self._of_topics.orderBy(f.desc("count"), "key").limit(most)
        return {row.key: row["count"] for row in found.collect()}

    def drawn(self, most: int, least_subscribers: int, salted: int) -> Ids:
        """See `Counts`."""
        enough = self._of_topics.where(f.col("count") >= least_subscribers)
        return self._first(enough, most, rank(salted, "key"))

    def most_popular(self, most: int, salted: int) -> Ids:
        """See `Counts`."""
        return self._first(self._of_topics, most, f.desc("count"), rank(salted, "key"))

    def _first(self, found: DataFrame, most: int, *order: Column) -> Ids:
        rows = found.orderBy(*order, "key").limit(most).select("key").collect()
        return np.array([row.key for row in rows], np.int32)

    def common(self, topics: Ids) -> Longs:
        """With very many tasks, some of them add up before the driver does."""
        if not len(topics):
            return np.zeros((0, 0), np.int64)
        counted = self._lists.mapInArrow(partial(common_subscribers, topic_ids=topics), _COUNTS.ddl)
        tasks = counted.rdd.getNumPartitions()
        if tasks > _SUMMED_BY_DRIVER:
            counted = counted.repartition(int(np.ceil(np.sqrt(tasks)))).mapInArrow(summed, _COUNTS.ddl)
        total = np.zeros(len(topics) ** 2, np.int64)
        for row in counted.collect():
            total += np.frombuffer(row.counts, np.int64)
        return total.reshape(len(topics), len(topics))

    def names(self, topics: Sequence[int]) -> Mapping[int, str]:
        """See `Counts`."""
        table = dense_table(self._session, self._dataset.path, "topics")
        rows = table.where(f.col("id").isin(*set(topics))).select("id", "name")
        return {row.id: row.name for row in rows.collect()}


def tally(lists: DataFrame) -> DataFrame:
    """TALLY: how many subscribers a topic (key) has, and how many nodes have a number (key) of topics."""
    tallied = lists.mapInArrow(tally_batches, TALLY)
    return tallied.groupBy("of_topics", "key").agg(f.sum("count").alias("count"))


def tally_batches(batches: Batches) -> Batches:
    """For mapInArrow: TALLY of each batch by itself, so that the memory is that of one batch."""
    for batch in batches:
        lists = batch.column("topic_ids")
        lengths = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
        for of_topics, values in ((True, lists.flatten().to_numpy(zero_copy_only=False)), (False, lengths)):
            keys, counts = np.unique(values, return_counts=True)
            kind = pa.array(np.full(len(keys), of_topics))
            yield pa.record_batch(
                [kind, keys.astype(np.int32), counts.astype(np.int64)], names=["of_topics", "key", "count"]
            )


def common_subscribers(batches: Batches, topic_ids: Ids) -> Batches:
    """For mapInArrow over `lists/`: one row per task, how many subscribers `topic_ids` share, as bytes.

    `topic_ids` rise. The time is the sum of the squares of how many of them each node has.
    """
    total = np.zeros((len(topic_ids), len(topic_ids)), np.int64)
    for batch in batches:
        total += common_of(*entries(batch.column("topic_ids")), batch.num_rows, topic_ids)
    yield _COUNTS.batch(counts=total)


def summed(batches: Batches) -> Batches:
    """For mapInArrow: the sum of a task's rows of `common_subscribers`."""
    total = sum(row["counts"] for row in _COUNTS.rows(batches))
    if isinstance(total, np.ndarray):
        yield _COUNTS.batch(counts=total)
