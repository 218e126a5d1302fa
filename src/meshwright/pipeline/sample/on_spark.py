"""The engine of a sample that runs on Spark; ids of the sample are all that reaches the driver."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from meshwright.model.storage.dataset import writing
from meshwright.model.storage.manifest import counted
from meshwright.pipeline.sample.bfs import BfsOptions, relations, topics_among, visit
from meshwright.pipeline.sample.job import Found, bfs_facts, check_social, universe_facts
from meshwright.pipeline.sample.universe import UniverseOptions, make_universe
from meshwright.pipeline.spark import functions as f
from meshwright.pipeline.spark.arrays import Batches, places, restricted
from meshwright.pipeline.spark.status import spark_stage
from meshwright.pipeline.spark.storage import drop_by_products, open_checked, url
from meshwright.pipeline.spark.tables import dense_table, interests_of, kept, owners, scratch
from meshwright.runtime.arrays import Ids
from meshwright.runtime.places import Place
from meshwright.runtime.progress import Progress

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LISTS = "node_id int, topic_ids array<int>"
_ROWS_A_FILE = 1 << 20


class OnSpark:
    """See `Sampling`."""

    name = "spark"

    def __init__(self, session: SparkSession, dataset: Place) -> None:
        self._session, self._dataset = session, dataset
        self._manifest = open_checked(dataset, ("nodes", "topics", "lists")).manifest

    def stage(self, progress: Progress | None, label: str) -> AbstractContextManager[None]:
        """With Spark's tasks."""
        return spark_stage(self._session, progress, label)

    def by_bfs(self, options: BfsOptions, seed: int, folder: Place) -> Found:
        """See `Sampling`."""
        session, dataset = self._session, self._dataset
        nodes = dense_table(session, dataset, "nodes").select("id", "name")
        owned = owners(session, dataset)
        interests = interests_of(dense_table(session, dataset, "lists"))
        with scratch(folder) as place:
            related = kept(session, relations(interests, owned), place / "relations")
            check_social(not related.isEmpty(), str(dataset), "--bfs")
            found = visit(session, nodes, related, options, seed, place)
            facts = bfs_facts(found.levels, found.restarts)
            return Found(_rising(found.users), _rising(topics_among(related, found.users)), facts)

    def by_universe(self, options: UniverseOptions, seed: int, folder: Place) -> Found:
        """See `Sampling`."""
        session, dataset = self._session, self._dataset
        lists = dense_table(session, dataset, "lists")
        owned = None
        topics = counted(self._manifest, ("topics",), dataset)["topics"]
        with scratch(folder) as place:
            if options.grow == "own":
                owned = kept(session, owners(session, dataset), place / "owners")
                check_social(not owned.isEmpty(), str(dataset), "--grow own")
            found = make_universe(session, lists, owned, topics, options, seed, place)
            facts = universe_facts(found.chosen, found.all_sizes, options)
            return Found(_rising(found.nodes), _rising(found.topics), facts)

    def write(self, folder: Place, nodes: Ids, topics: Ids) -> dict[str, int]:
        """The ids go to all tasks, 4 bytes each."""
        session, dataset = self._session, self._dataset
        named = {}
        for name, ids in (("nodes", nodes), ("topics", topics)):
            table = dense_table(session, dataset, name)
            rows = table.mapInArrow(partial(rows_of_ids, ids=ids), table.schema)
            named[name] = kept(session, in_order(rows, len(ids), "id"), folder / name)
        rows = dense_table(session, dataset, "lists").select("node_id", "topic_ids")
        lists = rows.mapInArrow(partial(lists_of_ids, nodes=nodes, topics=topics), LISTS)
        lists = kept(session, in_order(lists, len(nodes), "node_id"), folder / "lists")
        interests = lists.agg(f.sum(f.size("topic_ids"))).first()[0] or 0  # type: ignore[index]
        pairs = in_order(named_pairs(lists, **named), interests, "node_id", "topic_id")
        pairs.select("node", "topic").write.parquet(url(folder / "interests"))
        with writing(folder.parent):
            drop_by_products(folder)
        return {"nodes": len(nodes), "topics": len(topics), "interests": interests}


def _rising(ids: DataFrame) -> Ids:
    """The one column of ids of a sample; 4 bytes each on the driver."""
    found: Ids = np.sort(ids.toArrow().column(0).to_numpy())
    return found


def in_order(frame: DataFrame, rows: int, *columns: str) -> DataFrame:
    """`frame` such that its files, a million rows each, are in the order of `columns`."""
    files = -(-rows // _ROWS_A_FILE)
    if files <= 1:  # a range would be looked for in a job of its own
        return frame.repartition(1).sortWithinPartitions(*columns)
    return frame.repartitionByRange(files, *columns).sortWithinPartitions(*columns)


def named_pairs(lists: DataFrame, nodes: DataFrame, topics: DataFrame) -> DataFrame:
    """`node_id: int, topic_id: int, node: string, topic: string` of the three dense tables."""
    node = nodes.select(f.col("id").alias("node_id"), f.col("name").alias("node"))
    topic = topics.select(f.col("id").alias("topic_id"), f.col("name").alias("topic"))
    return interests_of(lists).join(topic, "topic_id").join(node, "node_id")


def rows_of_ids(batches: Batches, ids: Ids) -> Batches:
    """For mapInArrow over `nodes/` or `topics/`: the rows of `ids` under their new ids."""
    for batch in batches:
        at, among = places(ids, batch.column("id").to_numpy())
        left = batch.filter(pa.array(among))
        yield left.set_column(left.schema.get_field_index("id"), "id", pa.array(at[among]))


def lists_of_ids(batches: Batches, nodes: Ids, topics: Ids) -> Batches:
    """For mapInArrow over `lists/`: LISTS of `nodes`, with those of `topics`, under their new ids."""
    for batch in batches:
        at, among = places(nodes, batch.column("node_id").to_numpy())
        lists = restricted(batch.filter(pa.array(among)).column("topic_ids"), topics)
        yield pa.record_batch([pa.array(at[among]), lists], names=["node_id", "topic_ids"])
