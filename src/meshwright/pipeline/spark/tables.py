"""Tables that jobs share: dense tables of a dataset, scratch tables, broadcast values, random ranks.

Writing a scratch table cuts the lineage of what is computed from it. Spark's own `rand()` depends on how rows
lie in partitions. A rank does not: it is the 64-bit hash `xxhash64(salt, id, …)` over long integers, and the
rows with the least ranks are chosen. The salt comes from the seed and the name of the stage. XXH64 is a
published function (Spark's has the seed 42), so any engine can compute the same ranks.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from meshwright.pipeline.spark.storage import read_table, url
from meshwright.runtime.errors import DatasetError, InputError
from meshwright.runtime.owned import remove_own_folder
from meshwright.runtime.places import Place
from meshwright.runtime.seeds import generator

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import Column, DataFrame, SparkSession


@contextmanager
def broadcast(session: SparkSession, value: Any) -> Iterator[Broadcast[Any]]:
    """`value` on all executors, until the end; jobs that use it must be over by then."""
    held = session.sparkContext.broadcast(value)
    try:
        yield held
    finally:
        held.destroy()


def dense_table(session: SparkSession, dataset: Place, name: str) -> DataFrame:
    """`nodes`, `topics` or `lists` of a dataset that has the dense form."""
    if not (dataset / name).is_dir():
        raise DatasetError(f"{dataset} has no {name}/; write it again with ids and lists (meshwright ingest)")
    return read_table(session, dataset / name)


def interests_of(lists: DataFrame) -> DataFrame:
    """A row for each interest: `node_id: int, topic_id: int`."""
    from pyspark.sql import functions as f

    return lists.select("node_id", f.explode("topic_ids").alias("topic_id"))


def owners(session: SparkSession, dataset: Place) -> DataFrame:
    """Which topics are named like a node, as in social networks: `topic_id: int, owner_id: int`."""
    from pyspark.sql import functions as f

    nodes = dense_table(session, dataset, "nodes").select(f.col("id").alias("owner_id"), "name")
    topics = dense_table(session, dataset, "topics").select(f.col("id").alias("topic_id"), "name")
    return topics.join(nodes, "name").select("topic_id", "owner_id")


def check_social(owned: DataFrame, dataset: Place, way: str) -> None:
    """Refuse a dataset of which no topic is named like a node."""
    if owned.isEmpty():
        raise InputError(
            f"{dataset} has no topic that is named like a node, and {way} follows nodes to the topics of "
            f"their names; use a dataset of follows or friendships, or --universe with --grow random"
        )


@contextmanager
def scratch(folder: Place) -> Iterator[Place]:
    """A folder inside the draft of a dataset, gone at the end; on an error the whole draft goes."""
    place = folder / "scratch"
    place.mkdir()
    yield place
    remove_own_folder(place)


def kept(session: SparkSession, frame: DataFrame, place: Place) -> DataFrame:
    """`frame` written to `place` and read from there: computed once, and without a past."""
    frame.write.parquet(url(place))
    return read_table(session, place)


def salt(seed: int, stage: str) -> int:
    """What makes the ranks of a stage its own under `seed`."""
    return int(generator(seed, stage).integers(2**63))


def rank(salt: int, *ids: str) -> Column:
    """The rank of a row by its columns of ids; equal ranks of different ids are settled by the ids."""
    from pyspark.sql import functions as f

    return f.xxhash64(f.lit(salt).cast("long"), *(f.col(name).cast("long") for name in ids))
