"""The dense tables of a dataset as Spark reads them."""

from pathlib import Path
from typing import TYPE_CHECKING

from meshwright.errors import DatasetError, InputError
from meshwright.pipeline.engine.storage import read_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def dense_table(session: "SparkSession", dataset: Path, name: str) -> "DataFrame":
    """`nodes`, `topics` or `lists` of a dataset that has the dense form."""
    if not (dataset / name).is_dir():
        raise DatasetError(f"{dataset} has no {name}/; write it again with ids and lists (meshwright ingest)")
    return read_table(session, dataset / name)


def interests_of(lists: "DataFrame") -> "DataFrame":
    """A row for each interest: `node_id: int, topic_id: int`."""
    from pyspark.sql import functions as f

    return lists.select("node_id", f.explode("topic_ids").alias("topic_id"))


def owners(session: "SparkSession", dataset: Path) -> "DataFrame":
    """Which topics are named like a node, as in social networks: `topic_id: int, owner_id: int`."""
    from pyspark.sql import functions as f

    nodes = dense_table(session, dataset, "nodes").select(f.col("id").alias("owner_id"), "name")
    topics = dense_table(session, dataset, "topics").select(f.col("id").alias("topic_id"), "name")
    return topics.join(nodes, "name").select("topic_id", "owner_id")


def check_social(owned: "DataFrame", dataset: Path, way: str) -> None:
    """Refuse a dataset of which no topic is named like a node."""
    if owned.isEmpty():
        raise InputError(
            f"{dataset} has no topic that is named like a node, and {way} goes from nodes to topics of their "
            f"names; take a dataset of follows or friendships, or --universe with --grow random"
        )
