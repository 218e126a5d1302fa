"""Write a part of an interests dataset as a dataset of its own."""

from pathlib import Path
from typing import TYPE_CHECKING

from meshwright.pipeline.dense import dense_table, interests_of
from meshwright.pipeline.scratch import kept
from meshwright.pipeline.storage import read_table, url

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_BLOCK_BITS = 16


def ranked_ids(ids: "DataFrame") -> "DataFrame":
    """`id: int, new_id: int` of the distinct `id: int`: new ids count up from 0 in the order of the old ones.

    An old id is the rank of a name among all, so a new id is the rank of the name among those left, and no
    names need be compared. Ranks are counted inside blocks of 65,536 old ids, and what the blocks before a
    block hold is added; so there is no global sort, and only the counts of blocks meet in one task.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    blocked = ids.select("id", f.shiftright("id", _BLOCK_BITS).alias("block"))
    before = Window.orderBy("block").rowsBetween(Window.unboundedPreceding, -1)
    starts = blocked.groupBy("block").count().select("block", f.sum("count").over(before).alias("start"))
    inside = f.row_number().over(Window.partitionBy("block").orderBy("id")) - 1
    new_id = (f.coalesce("start", f.lit(0)) + f.col("inside")).cast("int").alias("new_id")
    return blocked.withColumn("inside", inside).join(f.broadcast(starts), "block").select("id", new_id)


def renamed(table: "DataFrame", new_ids: "DataFrame") -> "DataFrame":
    """The rows of `nodes/` or `topics/` that have a new id, under it, with all their other columns."""
    from pyspark.sql import functions as f

    others = [name for name in table.columns if name != "id"]
    return table.join(new_ids, "id").select(f.col("new_id").alias("id"), *others).orderBy("id")


def new_lists(interests: "DataFrame", nodes: "DataFrame", topics: "DataFrame") -> "DataFrame":
    """`lists/` of interests by old ids, for all of `nodes`, which may be without topics."""
    from pyspark.sql import functions as f

    new_nodes = nodes.select(f.col("id").alias("node_id"), f.col("new_id").alias("new_node"))
    new_topics = topics.select(f.col("id").alias("topic_id"), f.col("new_id").alias("new_topic"))
    topic_ids = f.sort_array(f.collect_list("new_topic")).alias("topic_ids")
    found = interests.join(new_topics, "topic_id").groupBy("node_id").agg(topic_ids)
    none = f.array().cast("array<int>")
    return (
        new_nodes.join(found, "node_id", "left")
        .select(f.col("new_node").alias("node_id"), f.coalesce("topic_ids", none).alias("topic_ids"))
        .orderBy("node_id")
    )


def named_pairs(lists: "DataFrame", nodes: "DataFrame", topics: "DataFrame") -> "DataFrame":
    """`interests/` of the three dense tables, in the order of ids."""
    from pyspark.sql import functions as f

    node = nodes.select(f.col("id").alias("node_id"), f.col("name").alias("node"))
    topic = topics.select(f.col("id").alias("topic_id"), f.col("name").alias("topic"))
    pairs = interests_of(lists).join(topic, "topic_id").join(node, "node_id")
    return pairs.orderBy("node_id", "topic_id").select("node", "topic")


def write_subset(
    session: "SparkSession",
    dataset: Path,
    folder: Path,
    place: Path,
    nodes: "DataFrame",
    interests: "DataFrame",
) -> dict[str, int]:
    """Write the tables of a dataset to `folder`; return its counts.

    It has the `nodes` (`id: int`, distinct) and the `interests` of theirs (`node_id: int, topic_id: int`,
    distinct), by the ids in `dataset`, and the topics that occur in them. Attributes stay. `place` is for
    tables in between.
    """
    from pyspark.sql import functions as f

    def write(frame: "DataFrame", name: str) -> "DataFrame":
        return kept(session, frame, folder / name)

    topics = interests.select(f.col("topic_id").alias("id")).distinct()
    new_nodes = kept(session, ranked_ids(nodes), place / "new_nodes")
    new_topics = kept(session, ranked_ids(topics), place / "new_topics")
    node_table = write(renamed(dense_table(session, dataset, "nodes"), new_nodes), "nodes")
    topic_table = write(renamed(dense_table(session, dataset, "topics"), new_topics), "topics")
    lists = write(new_lists(interests, new_nodes, new_topics), "lists")
    named_pairs(lists, node_table, topic_table).write.parquet(url(folder / "interests"))
    counted = {name: read_table(session, folder / name).count() for name in ("nodes", "topics", "interests")}
    return counted
