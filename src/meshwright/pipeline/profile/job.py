"""Profile a dataset: sizes, who subscribes to how much, what is popular, and how topics correlate ([5], 3.2).

Two passes over `lists/`: one counts the subscribers of topics and the topics of nodes, the other the common
subscribers of a bounded number of topics, from which the Pearson correlation follows ([5], Fig. 5). Only
distributions and those counts reach the driver.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from meshwright.model.storage.manifest import Dataset, check_counts
from meshwright.model.storage.manifest import counted as stated_counts
from meshwright.pipeline.profile.distribution import Distribution
from meshwright.pipeline.spark import functions as f
from meshwright.pipeline.spark.arrays import Batches, Packed, entries, places
from meshwright.pipeline.spark.status import spark_stage
from meshwright.pipeline.spark.storage import open_checked
from meshwright.pipeline.spark.tables import dense_table, rank, salt
from meshwright.runtime.arrays import Floats, Longs
from meshwright.runtime.errors import DatasetError, OptionError
from meshwright.runtime.json_values import plain
from meshwright.runtime.places import Place
from meshwright.runtime.progress import Progress

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


STRONG = 0.1
_DIGITS = 4


@dataclass(frozen=True, kw_only=True)
class Correlation:
    """How alike topics are: the correlation of columns in the matrix of nodes by topics, of zeros and ones.

    Attributes:
        topics: their names, ordered such that like ones stand together: as the leaves of a hierarchical
            clustering (average linkage over 1 - correlation).
        subscribers: of each.
        matrix: a row for each topic, rounded to four digits. A topic that all nodes or none subscribe to does
            not vary; its correlations are 0 by definition, that with itself too.
        sampled: whether there are more topics than these.
        chosen: how they were chosen, in words.
        mean, mean_absolute, maximum: over pairs of different topics; None where there are none.
        share_strong: the share of pairs whose correlation is over 0.1.
    """

    topics: tuple[str, ...]
    subscribers: tuple[int, ...]
    matrix: tuple[tuple[float, ...], ...]
    sampled: bool
    chosen: str
    mean: float | None
    mean_absolute: float | None
    maximum: float | None
    share_strong: float | None

    @classmethod
    def of(cls, common: Longs, nodes: int, names: Sequence[str], *, sampled: bool, chosen: str) -> Self:
        """Build from the numbers of common subscribers; the diagonal counts each topic's own."""
        found = pearson(common, nodes)
        order = clustered(found)
        off = found[np.triu_indices(len(found), 1)]
        return cls(
            topics=tuple(names[at] for at in order),
            subscribers=tuple(int(common[at, at]) for at in order),
            matrix=tuple(tuple(row) for row in np.round(found[np.ix_(order, order)], _DIGITS).tolist()),
            sampled=sampled,
            chosen=chosen,
            mean=float(off.mean()) if len(off) else None,
            mean_absolute=float(np.abs(off).mean()) if len(off) else None,
            maximum=float(off.max()) if len(off) else None,
            share_strong=float((off > STRONG).mean()) if len(off) else None,
        )


def pearson(common: Longs, nodes: int) -> Floats:
    """(n c - a b) / sqrt(a (n - a) b (n - b)), c being common to a and b of n; 0 where a or b is 0 or n."""
    own = np.diagonal(common).astype(np.float64)
    deviation = np.sqrt(own * (nodes - own))
    scale = np.outer(deviation, deviation)
    covariance = nodes * common.astype(np.float64) - np.outer(own, own)
    found: Floats = np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > 0)
    return found


def clustered(correlations: Floats) -> list[int]:
    """An order in which like topics stand together; O(topics²) memory."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(correlations) < 3:
        return list(range(len(correlations)))
    apart = np.clip(1 - (correlations + correlations.T) / 2, 0, 2)
    np.fill_diagonal(apart, 0)
    order: list[int] = leaves_list(linkage(squareform(apart, checks=False), "average")).tolist()
    return order


_COUNTS = Packed(counts=np.int64)


def common_subscribers(batches: Batches, topic_ids: npt.NDArray[np.int32]) -> Batches:
    """For mapInArrow over `lists/`: one row per task, how many subscribers `topic_ids` share, as bytes.

    `topic_ids` rise. The time is the sum of the squares of how many of them each node has.
    """
    total = np.zeros((len(topic_ids), len(topic_ids)), np.int64)
    for batch in batches:
        total += _common(batch.column("topic_ids"), topic_ids)
    yield _COUNTS.batch(counts=total)


def _common(lists: pa.ListArray, topic_ids: npt.NDArray[np.int32]) -> Longs:
    from scipy.sparse import csr_array

    rows, values = entries(lists)
    at, among = places(topic_ids, values)
    ones = np.ones(int(among.sum()), np.int64)
    chosen = csr_array((ones, (rows[among], at[among])), shape=(len(lists), len(topic_ids)))
    found: Longs = (chosen.T @ chosen).toarray()
    return found


def summed(batches: Batches) -> Batches:
    """For mapInArrow: the sum of a task's rows of `common_subscribers`."""
    total = sum(row["counts"] for row in _COUNTS.rows(batches))
    if isinstance(total, np.ndarray):
        yield _COUNTS.batch(counts=total)


TALLY = "of_topics boolean, key int, count long"
LARGEST_SAMPLE = 2000
ENOUGH_SUBSCRIBERS = 30
"""Correlations of topics of fewer are mostly chance; [5] prunes them."""

_POPULAR = 10
_SUMMED_BY_DRIVER = 64


@dataclass(frozen=True, kw_only=True)
class Profile:
    """What a dataset is like.

    Attributes:
        nodes, topics, interests: how many.
        sparsity: the share of the pairs of a node and a topic that are no interest; None without pairs.
        subscribers_per_topic, topics_per_node: zeros included.
        popular_topics: names and subscribers of the most popular topics, falling.
        correlation: of the topics, or of a sample of them.
    """

    nodes: int
    topics: int
    interests: int
    sparsity: float | None
    subscribers_per_topic: Distribution
    topics_per_node: Distribution
    popular_topics: tuple[tuple[str, int], ...]
    correlation: Correlation

    def to_json(self) -> dict[str, Any]:
        """In JSON's types."""
        found: dict[str, Any] = plain(self, "the profile")
        return found


class Chosen(NamedTuple):
    """The topics to correlate: rising ids, whether there are more, and how they were chosen."""

    ids: np.ndarray[Any, np.dtype[np.int32]]
    sampled: bool
    how: str


def profile(
    session: "SparkSession",
    dataset: Place,
    *,
    most_topics: int = 400,
    seed: int = 0,
    progress: Progress | None = None,
) -> Profile:
    """The profile of the interests at `dataset`, in two passes over its `lists/`.

    If there are more than `most_topics` topics, a sample of that size is correlated, drawn with the seed from
    the topics with at least 30 subscribers. If there are fewer of these, it is the most popular topics.
    """
    if not 2 <= most_topics <= LARGEST_SAMPLE:
        raise OptionError(
            f"most_topics is {most_topics}; give a whole number from 2 to {LARGEST_SAMPLE:,}",
            option="most_topics",
        )
    opened = open_checked(dataset, ("lists", "topics"))
    counts = stated_counts(opened.manifest, ("nodes", "topics", "interests"), dataset)
    lists = dense_table(session, dataset, "lists").select("node_id", "topic_ids")
    counted = tally(lists).persist()
    try:
        with spark_stage(session, progress, "counting subscribers"):
            subscribers, sizes = _distributions(counted, opened)
            chosen = _choose(counted, subscribers, counts["topics"], most_topics, seed)
            popular = _most_popular(counted)
    finally:
        counted.unpersist()
    with spark_stage(session, progress, "correlating topics"):
        common = _count_common(lists, chosen.ids)
        names = _names(session, dataset, [*popular, *chosen.ids.tolist()])
    possible = counts["nodes"] * counts["topics"]
    return Profile(
        nodes=counts["nodes"],
        topics=counts["topics"],
        interests=counts["interests"],
        sparsity=1 - counts["interests"] / possible if possible else None,
        subscribers_per_topic=subscribers,
        topics_per_node=sizes,
        popular_topics=tuple((names[topic], count) for topic, count in popular.items()),
        correlation=Correlation.of(
            common,
            counts["nodes"],
            [names[topic] for topic in chosen.ids.tolist()],
            sampled=chosen.sampled,
            chosen=chosen.how,
        ),
    )


def tally(lists: "DataFrame") -> "DataFrame":
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


def _distributions(counted: "DataFrame", dataset: Dataset[Place]) -> tuple[Distribution, Distribution]:
    """Subscribers of topics, and topics of nodes, after a check against the manifest's counts."""
    of_topics = counted.where("of_topics").groupBy("count").agg(f.count("*"), f.min("key"), f.max("key"))
    rows = of_topics.collect()
    check_counts(dataset, {"interests": sum(row[0] * row[1] for row in rows)})
    counts = dataset.manifest["counts"]
    if rows and not (min(row[2] for row in rows) >= 0 and max(row[3] for row in rows) < counts["topics"]):
        raise DatasetError(
            f"{dataset.path}/lists: a topic id lies outside 0 to {counts['topics'] - 1}; write it again"
        )
    pairs = [(row[0], row[1]) for row in rows]
    sizes = [(row.key, row["count"]) for row in counted.where("not of_topics").collect()]
    without_nodes = counts["topics"] - sum(number for _, number in pairs)
    without_topics = counts["nodes"] - sum(number for _, number in sizes)
    return Distribution.of([*pairs, (0, without_nodes)]), Distribution.of([*sizes, (0, without_topics)])


def _choose(
    counted: "DataFrame", subscribers: Distribution, topics: int, most_topics: int, seed: int
) -> Chosen:
    if topics <= most_topics:
        return Chosen(np.arange(topics, dtype=np.int32), False, "all topics")
    pairs = zip(subscribers.values, subscribers.counts, strict=True)
    enough = sum(count for value, count in pairs if value >= ENOUGH_SUBSCRIBERS)
    drawn = rank(salt(seed, "profile topics"), "key")
    found = counted.where("of_topics")
    if enough >= most_topics:
        found = found.where(f.col("count") >= ENOUGH_SUBSCRIBERS).orderBy(drawn, "key")
        how = f"{most_topics:,} drawn from the {enough:,} topics of at least {ENOUGH_SUBSCRIBERS} subscribers"
    else:
        found = found.orderBy(f.desc("count"), drawn, "key")
        how = f"the {most_topics:,} most popular of {topics:,} topics"
    ids = [row.key for row in found.limit(most_topics).select("key").collect()]
    return Chosen(np.sort(np.array(ids, np.int32)), True, how)


def _most_popular(counted: "DataFrame") -> dict[int, int]:
    found = counted.where("of_topics").orderBy(f.desc("count"), "key").limit(_POPULAR)
    return {row.key: row["count"] for row in found.collect()}


def _count_common(lists: "DataFrame", topic_ids: np.ndarray[Any, np.dtype[np.int32]]) -> Any:
    """The numbers of common subscribers; with very many tasks, some of them add up before the driver does."""
    if not len(topic_ids):
        return np.zeros((0, 0), np.int64)
    counted = lists.mapInArrow(partial(common_subscribers, topic_ids=topic_ids), _COUNTS.ddl)
    tasks = counted.rdd.getNumPartitions()
    if tasks > _SUMMED_BY_DRIVER:
        counted = counted.repartition(int(np.ceil(np.sqrt(tasks)))).mapInArrow(summed, _COUNTS.ddl)
    total = sum(np.frombuffer(row.counts, np.int64) for row in counted.collect())
    return (total + np.zeros(len(topic_ids) ** 2, np.int64)).reshape(len(topic_ids), len(topic_ids))


def _names(session: "SparkSession", dataset: Place, ids: list[int]) -> dict[int, str]:
    topics = dense_table(session, dataset, "topics").where(f.col("id").isin(*set(ids)))
    return {row.id: row.name for row in topics.select("id", "name").collect()}
