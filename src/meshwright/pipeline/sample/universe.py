"""Self-contained universes: smaller workloads cut out of a large one around random topics ([5], 3.1).

A universe begins with a seed set of random topics. The users subscribed to them are its nodes, and they add
topics to the set: each the topic named like the user (`own`, as for LiveJournal's journals), or each one
random topic of the user's subscriptions (`random`, as for Wikipedia's pages). The topics of the universe are
those of the grown set. Topics of fewer than 30 subscribers within the universe are pruned, once, and users
left without topics go.

[5] can also be read differently: the nodes may be the subscribers of the grown set. Table 1 of [5] fits the
reading used here (`docs/sampling.md` argues it); `nodes_of` and `topics_of` offer the others.

All universes of a choice among many are made in the same jobs, with a column that says of which one a row is.
"""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from meshwright.pipeline.ranks import salt
from meshwright.pipeline.spark import functions as f
from meshwright.pipeline.spark.arrays import Batches
from meshwright.pipeline.spark.tables import interests_of, kept, rank
from meshwright.runtime.arrays import Ids
from meshwright.runtime.errors import InputError, OptionError
from meshwright.runtime.places import Place
from meshwright.runtime.seeds import generator
from meshwright.runtime.wording import choose, count

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

GROWTHS = ("own", "random")
NODES_OF = ("seeds", "grown")
TOPICS_OF = ("grown", "nodes")


_COUNTS = {"seeds": "--universe", "least_subscribers": "--least-subscribers", "median_of": "--median-of"}


@dataclass(frozen=True, kw_only=True)
class UniverseOptions:
    """How a self-contained universe is made.

    Attributes:
        seeds: how many random topics it begins with.
        grow: what each user adds to the seed set: the topic named like the user (`own`), or one of the user's
            topics at random (`random`).
        nodes_of: the nodes are subscribers of the `seeds`, or of the `grown` set.
        topics_of: the topics are those of the `grown` set, or all topics of the `nodes`.
        least_subscribers: topics with fewer subscribers in the universe are pruned.
        median_of: how many universes to make; the one with the median ratio of topics to nodes is kept.
    """

    seeds: int
    grow: str = "random"
    nodes_of: str = "seeds"
    topics_of: str = "grown"
    least_subscribers: int = 30
    median_of: int = 1

    def __post_init__(self) -> None:
        for name, choices in (("grow", GROWTHS), ("nodes_of", NODES_OF), ("topics_of", TOPICS_OF)):
            if getattr(self, name) not in choices:
                raise OptionError(
                    f"{name} is {getattr(self, name)!r}; {choose(getattr(self, name), choices)}", option=name
                )
        for name, flag in _COUNTS.items():
            if getattr(self, name) < 1:
                raise OptionError(
                    f"{flag} is {getattr(self, name)}; give a whole number of at least 1", option=flag
                )


class Sizes(NamedTuple):
    """How large a universe is after pruning."""

    universe: int
    topics: int
    nodes: int

    @property
    def ratio(self) -> float:
        """Topics a node."""
        return self.topics / self.nodes


class Universe(NamedTuple):
    """The universe chosen: its nodes (`node_id: int`) and topics (`topic_id: int`), and the sizes of all."""

    nodes: "DataFrame"
    topics: "DataFrame"
    chosen: Sizes
    all_sizes: list[Sizes]


def seed_topics(session: "SparkSession", topics: int, options: UniverseOptions, seed: int) -> "DataFrame":
    """`universe: int, topic_id: int`: for each universe, `options.seeds` of the ids under `topics`."""
    universes = session.range(options.median_of, numPartitions=min(options.median_of, 8))
    draw = partial(_draws, topics=topics, seeds=options.seeds, seed=seed)
    return universes.mapInArrow(draw, "universe int, topic_id int")


def _draws(batches: Batches, topics: int, seeds: int, seed: int) -> Batches:
    for batch in batches:
        for universe in batch.column(0).to_pylist():
            of = np.full(seeds, universe, np.int32)
            drawn = drawn_topics(universe, topics, seeds, seed)
            yield pa.record_batch([of, drawn], names=["universe", "topic_id"])


def drawn_topics(universe: int, topics: int, seeds: int, seed: int) -> Ids:
    """The seed set of one universe: `seeds` of the ids under `topics`."""
    drawn: Ids = generator(seed, "universe", universe).choice(topics, seeds, replace=False).astype(np.int32)
    return drawn


def subscribers(interests: "DataFrame", topics: "DataFrame") -> "DataFrame":
    """`universe: int, node_id: int`: who is interested in one of the `topics` of a universe."""
    return interests.join(topics, "topic_id").select("universe", "node_id").distinct()


def own_topics(members: "DataFrame", owned: "DataFrame") -> "DataFrame":
    """`universe: int, topic_id: int`: the topics that are named like the members."""
    of = owned.withColumnRenamed("owner_id", "node_id")
    return members.join(of, "node_id").select("universe", "topic_id")


def random_topics(members: "DataFrame", lists: "DataFrame", salted: int) -> "DataFrame":
    """`universe: int, topic_id: int`: one topic of each member, at the place that its rank gives."""
    place = f.pmod(rank(salted, "universe", "node_id"), f.size("topic_ids").cast("long"))
    topic = f.get("topic_ids", place.cast("int")).alias("topic_id")
    return members.join(lists, "node_id").select("universe", topic)


def make_universe(
    session: "SparkSession",
    lists: "DataFrame",
    owned: "DataFrame | None",
    topics: int,
    options: UniverseOptions,
    seed: int,
    place: Place,
) -> Universe:
    """Make `options.median_of` universes and choose one; `owned` is needed to grow by own topics."""
    seeds = kept(session, seed_topics(session, topics, options, seed), place / "seeds")
    interests = interests_of(lists)
    members = kept(session, subscribers(interests, seeds), place / "members")
    if owned is not None:
        added = own_topics(members, owned)
    else:
        added = random_topics(members, lists, salt(seed, "universe growth"))
    grown = kept(session, seeds.union(added).distinct(), place / "grown")
    found = kept(session, _interests_within(interests, members, grown, options), place / "within")
    return _chosen(session, found, options, place)


def _interests_within(
    interests: "DataFrame", members: "DataFrame", grown: "DataFrame", options: UniverseOptions
) -> "DataFrame":
    """`universe, node_id, topic_id: int`: the interests of each universe before pruning."""
    if options.nodes_of == "grown" and options.topics_of == "grown":
        return interests.join(grown, "topic_id").select("universe", "node_id", "topic_id")
    nodes = members if options.nodes_of == "seeds" else subscribers(interests, grown)
    theirs = nodes.join(interests, "node_id").select("universe", "node_id", "topic_id")
    if options.topics_of == "nodes":
        return theirs
    return theirs.join(grown, ["universe", "topic_id"], "left_semi")


def _chosen(session: "SparkSession", found: "DataFrame", options: UniverseOptions, place: Place) -> Universe:
    enough = f.col("count") >= options.least_subscribers
    counted = found.groupBy("universe", "topic_id").count().where(enough).select("universe", "topic_id")
    topics = kept(session, counted, place / "topics")
    left = found.join(topics, ["universe", "topic_id"], "left_semi")
    sizes = _sizes(left)
    if not sizes:
        raise no_universe(options)
    chosen = median(sizes)
    nodes = left.where(left.universe == chosen.universe).select("node_id").distinct()
    named = topics.where(topics.universe == chosen.universe).select("topic_id")
    return Universe(nodes, named, chosen, sizes)


def no_universe(options: UniverseOptions) -> InputError:
    """The error where pruning leaves nothing."""
    return InputError(
        f"in {count(options.median_of, 'universe')}, no topic has "
        f"{count(options.least_subscribers, 'subscriber')}; "
        f"give more seeds, or a lower --least-subscribers"
    )


def _sizes(left: "DataFrame") -> list[Sizes]:
    """The sizes of each universe that has anything left."""
    topics = (
        left.select("universe", "topic_id").distinct().groupBy("universe").agg(f.count("*").alias("topics"))
    )
    nodes = left.select("universe", "node_id").distinct().groupBy("universe").agg(f.count("*").alias("nodes"))
    rows = topics.join(nodes, "universe").collect()
    return sorted(Sizes(row.universe, row.topics, row.nodes) for row in rows)


def median(sizes: list[Sizes]) -> Sizes:
    """The one with the median of topics / nodes; the lower of two, and of equal ones the first."""
    ordered = sorted(sizes, key=lambda size: (size.ratio, size.universe))
    return ordered[(len(ordered) - 1) // 2]
