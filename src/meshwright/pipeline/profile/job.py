"""Profile a dataset: sizes, who subscribes to how much, what is popular, and how topics correlate ([5], 3.2).

The interests are looked at twice: first to count the subscribers of topics and the topics of nodes, then the
common subscribers of a bounded number of topics, from which the Pearson correlation follows ([5], Fig. 5).
Two engines count, in this process or on Spark, and give the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

import numpy as np

from meshwright.model.interests import Interests
from meshwright.model.storage.manifest import counted as stated_counts
from meshwright.model.storage.manifest import open_dataset
from meshwright.pipeline.profile.distribution import Distribution
from meshwright.pipeline.ranks import salt
from meshwright.pipeline.spark.arrays import places
from meshwright.runtime.arrays import Floats, Ids, Longs
from meshwright.runtime.errors import OptionError
from meshwright.runtime.json_values import plain
from meshwright.runtime.places import Place, is_local
from meshwright.runtime.progress import Progress

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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


def common_of(rows: Longs, topics: Ids, count: int, among: Ids) -> Longs:
    """How many of `count` rows have both of each two topics `among`; row i of the pairs has `topics[i]`.

    `among` rises. The time is the sum of the squares of how many of them each row has.
    """
    from scipy.sparse import csr_array

    at, known = places(among, topics)
    ones = np.ones(int(known.sum()), np.int64)
    chosen = csr_array((ones, (rows[known], at[known])), shape=(count, len(among)))
    found: Longs = (chosen.T @ chosen).toarray()
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


LARGEST_SAMPLE = 2000
ENOUGH_SUBSCRIBERS = 30
"""Correlations of topics of fewer are mostly chance; [5] prunes them."""

_POPULAR = 10


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

    ids: Ids
    sampled: bool
    how: str


class Counts(Protocol):
    """What an engine counts. Topics are ids, and only those with subscribers are counted."""

    def stage(self, progress: Progress | None, label: str) -> AbstractContextManager[object]:
        """Show what is done in here as one stage."""

    def subscribers(self) -> Iterable[tuple[int, int]]:
        """Numbers of subscribers, and how many topics have so many."""

    def sizes(self) -> Iterable[tuple[int, int]]:
        """Numbers of topics, and how many nodes have so many."""

    def popular(self, most: int) -> dict[int, int]:
        """The most popular topics and their subscribers, falling; of equal ones, lower ids first."""

    def drawn(self, most: int, least_subscribers: int, salted: int) -> Ids:
        """The topics of least rank among those with enough subscribers; equal ranks by id."""

    def most_popular(self, most: int, salted: int) -> Ids:
        """The topics with most subscribers; equal ones by rank, then by id."""

    def common(self, topics: Ids) -> Longs:
        """How many subscribers each two of some topics have in common; `topics` rise."""

    def names(self, topics: Sequence[int]) -> Mapping[int, str]:
        """The names of some topics."""

    def close(self) -> None:
        """Nothing more is asked for."""


def profile(
    session: SparkSession | None,
    dataset: Place,
    *,
    most_topics: int = 400,
    seed: int = 0,
    progress: Progress | None = None,
) -> Profile:
    """The profile of the interests at `dataset`: on Spark in two passes over its `lists/`, else in memory.

    If there are more than `most_topics` topics, a sample of that size is correlated, drawn with the seed from
    the topics with at least 30 subscribers. If there are fewer of these, it is the most popular topics.
    """
    counts = stated_counts(open_dataset(dataset).manifest, ("nodes", "topics", "interests"), dataset)
    check_most_topics(most_topics)
    return profile_by(_engine(session, dataset, progress), counts, most_topics, seed, progress)


def check_most_topics(most_topics: int) -> None:
    """Refuse a number of topics to correlate that is out of range."""
    if not 2 <= most_topics <= LARGEST_SAMPLE:
        raise OptionError(
            f"most_topics is {most_topics}; give a whole number from 2 to {LARGEST_SAMPLE:,}",
            option="most_topics",
        )


def profile_by(
    counting: Counts, counts: Mapping[str, int], most_topics: int, seed: int, progress: Progress | None
) -> Profile:
    """The profile of what an engine counts; the engine is closed then."""
    try:
        with counting.stage(progress, "counting subscribers"):
            subscribers = _with_zeros(counting.subscribers(), counts["topics"])
            sizes = _with_zeros(counting.sizes(), counts["nodes"])
            chosen = _choose(counting, subscribers, counts["topics"], most_topics, seed)
            popular = counting.popular(_POPULAR)
        with counting.stage(progress, "correlating topics"):
            common = counting.common(chosen.ids)
            names = counting.names([*popular, *chosen.ids.tolist()])
    finally:
        counting.close()
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


def _engine(session: SparkSession | None, dataset: Place, progress: Progress | None) -> Counts:
    """Imported where it is needed: each brings much that the other does without."""
    if session is None:
        from meshwright.pipeline.profile.in_process import InProcess

        assert is_local(dataset)
        return InProcess(Interests.read(dataset, progress=progress))
    from meshwright.pipeline.profile.on_spark import OnSpark

    return OnSpark(session, dataset)


def _with_zeros(pairs: Iterable[tuple[int, int]], total: int) -> Distribution:
    """The distribution of `total` things, of which those with the value 0 may not have been counted."""
    found = list(pairs)
    return Distribution.of([*found, (0, total - sum(number for _, number in found))])


def _choose(counting: Counts, subscribers: Distribution, topics: int, most_topics: int, seed: int) -> Chosen:
    if topics <= most_topics:
        return Chosen(np.arange(topics, dtype=np.int32), False, "all topics")
    pairs = zip(subscribers.values, subscribers.counts, strict=True)
    enough = sum(count for value, count in pairs if value >= ENOUGH_SUBSCRIBERS)
    salted = salt(seed, "profile topics")
    if enough >= most_topics:
        ids = counting.drawn(most_topics, ENOUGH_SUBSCRIBERS, salted)
        how = f"{most_topics:,} drawn from the {enough:,} topics of at least {ENOUGH_SUBSCRIBERS} subscribers"
    else:
        ids = counting.most_popular(most_topics, salted)
        how = f"the {most_topics:,} most popular of {topics:,} topics"
    return Chosen(np.sort(ids), True, how)
