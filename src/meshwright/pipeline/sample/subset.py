"""Write a part of an interests dataset, some nodes and some topics of it, as a dataset of its own."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from meshwright.pipeline.engine.dense import dense_table, interests_of
from meshwright.pipeline.engine.id_lists import Ids, places, restricted
from meshwright.pipeline.engine.scratch import kept
from meshwright.pipeline.engine.storage import url

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

Batches = Iterator["pa.RecordBatch"]

LISTS = "node_id int, topic_ids array<int>"
_ROWS_A_FILE = 1 << 20


def write_subset(
    session: "SparkSession", dataset: Path, folder: Path, nodes: Ids, topics: Ids
) -> dict[str, int]:
    """Write to `folder` the tables of `dataset` with these nodes and topics only; return the counts.

    `nodes` and `topics` are ids in `dataset`, rising. New ids are the places in them: an old id is the rank
    of a name among all, so its place is the rank of the name among those left, and no names are compared.
    Every column of `nodes/` and `topics/` stays. The ids go to all tasks, 4 bytes each.
    """
    from pyspark.sql import functions as f

    named = {}
    for name, ids in (("nodes", nodes), ("topics", topics)):
        table = dense_table(session, dataset, name)
        rows = table.mapInArrow(rows_of_ids(ids), table.schema)
        named[name] = kept(session, in_order(rows, len(ids), "id"), folder / name)
    rows = dense_table(session, dataset, "lists").select("node_id", "topic_ids")
    lists = rows.mapInArrow(lists_of_ids(nodes, topics), LISTS)
    lists = kept(session, in_order(lists, len(nodes), "node_id"), folder / "lists")
    interests = lists.agg(f.sum(f.size("topic_ids"))).first()[0] or 0  # type: ignore[index]
    pairs = in_order(named_pairs(lists, **named), interests, "node_id", "topic_id")
    pairs.select("node", "topic").write.parquet(url(folder / "interests"))
    return {"nodes": len(nodes), "topics": len(topics), "interests": interests}


def in_order(frame: "DataFrame", rows: int, *columns: str) -> "DataFrame":
    """`frame` such that its files, a million rows each, are in the order of `columns`."""
    files = -(-rows // _ROWS_A_FILE)
    if files <= 1:  # a range would be looked for in a job of its own
        return frame.repartition(1).sortWithinPartitions(*columns)
    return frame.repartitionByRange(files, *columns).sortWithinPartitions(*columns)


def named_pairs(lists: "DataFrame", nodes: "DataFrame", topics: "DataFrame") -> "DataFrame":
    """`node_id: int, topic_id: int, node: string, topic: string` of the three dense tables."""
    from pyspark.sql import functions as f

    node = nodes.select(f.col("id").alias("node_id"), f.col("name").alias("node"))
    topic = topics.select(f.col("id").alias("topic_id"), f.col("name").alias("topic"))
    return interests_of(lists).join(topic, "topic_id").join(node, "node_id")


def rows_of_ids(ids: Ids) -> Callable[[Batches], Batches]:
    """For mapInArrow over `nodes/` or `topics/`: the rows of `ids` under their new ids."""

    def restrict(batches: Batches) -> Batches:
        import pyarrow as pa

        for batch in batches:
            at, among = places(ids, batch.column("id").to_numpy())
            left = batch.filter(pa.array(among))
            yield left.set_column(left.schema.get_field_index("id"), "id", pa.array(at[among]))

    return restrict


def lists_of_ids(nodes: Ids, topics: Ids) -> Callable[[Batches], Batches]:
    """For mapInArrow over `lists/`: LISTS of `nodes`, with those of `topics`, under their new ids."""

    def restrict(batches: Batches) -> Batches:
        import pyarrow as pa

        for batch in batches:
            at, among = places(nodes, batch.column("node_id").to_numpy())
            lists = restricted(batch.filter(pa.array(among)).column("topic_ids"), topics)
            yield pa.record_batch([pa.array(at[among]), lists], names=["node_id", "topic_ids"])

    return restrict
