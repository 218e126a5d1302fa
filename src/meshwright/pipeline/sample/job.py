"""Sample an interests dataset: a breadth-first search over a social graph, or a self-contained universe."""

from dataclasses import asdict
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from meshwright.model.storage.dataset import draft
from meshwright.model.storage.manifest import counted, make_manifest, write_manifest
from meshwright.pipeline.sample.bfs import BfsOptions, relations, topics_among, visit
from meshwright.pipeline.sample.universe import Sizes, UniverseOptions, make_universe
from meshwright.pipeline.spark import functions as f
from meshwright.pipeline.spark.arrays import Batches, places, restricted
from meshwright.pipeline.spark.status import spark_stage
from meshwright.pipeline.spark.storage import drop_by_products, open_checked, url
from meshwright.pipeline.spark.tables import check_social, dense_table, interests_of, kept, owners, scratch
from meshwright.runtime.arrays import Ids
from meshwright.runtime.errors import InputError
from meshwright.runtime.places import Place
from meshwright.runtime.progress import Progress

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


LISTS = "node_id int, topic_ids array<int>"
_ROWS_A_FILE = 1 << 20


def write_subset(
    session: "SparkSession", dataset: Place, folder: Place, nodes: Ids, topics: Ids
) -> dict[str, int]:
    """Write to `folder` the tables of `dataset` with these nodes and topics only; return the counts.

    `nodes` and `topics` are ids in `dataset`, rising. New ids are the places in them: an old id is the rank
    of a name among all, so its place is the rank of the name among those left, and no names are compared.
    Every column of `nodes/` and `topics/` stays. The ids go to all tasks, 4 bytes each.
    """
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
    return {"nodes": len(nodes), "topics": len(topics), "interests": interests}


def in_order(frame: "DataFrame", rows: int, *columns: str) -> "DataFrame":
    """`frame` such that its files, a million rows each, are in the order of `columns`."""
    files = -(-rows // _ROWS_A_FILE)
    if files <= 1:  # a range would be looked for in a job of its own
        return frame.repartition(1).sortWithinPartitions(*columns)
    return frame.repartitionByRange(files, *columns).sortWithinPartitions(*columns)


def named_pairs(lists: "DataFrame", nodes: "DataFrame", topics: "DataFrame") -> "DataFrame":
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


class Found(NamedTuple):
    """A sample is all interests between some nodes and some topics: their ids, rising, and facts."""

    nodes: Ids
    topics: Ids
    facts: dict[str, Any]


def sample(
    session: "SparkSession",
    dataset: Place,
    out: Place,
    options: BfsOptions | UniverseOptions,
    *,
    seed: int = 0,
    force: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write the sample of the interests at `dataset` that `options` asks for to `out`; return its manifest.

    The result depends on the data, the options and the seed alone. Names and attributes stay; ids are new.
    """
    opened = open_checked(dataset, ("nodes", "topics", "lists"))
    counts = counted(opened.manifest, ("nodes", "topics"), dataset)
    _check_size(options, counts)
    seconds: dict[str, float] = {}
    with draft(out, force) as folder:
        with scratch(folder) as place:
            begin = perf_counter()
            with spark_stage(session, progress, "sampling"):
                if isinstance(options, BfsOptions):
                    found = _by_bfs(session, dataset, options, seed, place)
                else:
                    found = _by_universe(session, dataset, counts["topics"], options, seed, place)
            seconds["sample"] = round(perf_counter() - begin, 3)
            begin = perf_counter()
            with spark_stage(session, progress, "writing"):
                written = write_subset(session, dataset, folder, found.nodes, found.topics)
            seconds["write"] = round(perf_counter() - begin, 3)
        made_by = {
            "command": "sample",
            "options": {"way": "bfs" if isinstance(options, BfsOptions) else "universe", **asdict(options)},
            "seed": seed,
            "inputs": [str(dataset)],
            "seconds": seconds,
        }
        manifest = make_manifest("interests", written, found.facts, {}, made_by)
        drop_by_products(folder)
        write_manifest(folder, manifest)
    return manifest


def _check_size(options: BfsOptions | UniverseOptions, counts: dict[str, int]) -> None:
    if isinstance(options, BfsOptions):
        asked, there, what = options.users, counts["nodes"], "users"
    else:
        asked, there, what = options.seeds, counts["topics"], "topics"
    if asked > there:
        raise InputError(
            f"{asked:,} {what} were asked for, and the dataset has {there:,}; ask for no more than it has"
        )


def _by_bfs(session: "SparkSession", dataset: Place, options: BfsOptions, seed: int, place: Place) -> Found:
    nodes = dense_table(session, dataset, "nodes").select("id", "name")
    owned = owners(session, dataset)
    interests = interests_of(dense_table(session, dataset, "lists"))
    related = kept(session, relations(interests, owned), place / "relations")
    check_social(related, dataset, "--bfs")
    found = visit(session, nodes, related, options, seed, place)
    facts = {
        "levels": [level for level in found.levels if level],
        "rounds": len(found.levels),
        "restarts": found.restarts,
    }
    return Found(_rising(found.users), _rising(topics_among(related, found.users)), facts)


def _by_universe(
    session: "SparkSession",
    dataset: Place,
    topics: int,
    options: UniverseOptions,
    seed: int,
    place: Place,
) -> Found:
    lists = dense_table(session, dataset, "lists")
    owned = None
    if options.grow == "own":
        owned = kept(session, owners(session, dataset), place / "owners")
        check_social(owned, dataset, "--grow own")
    found = make_universe(session, lists, owned, topics, options, seed, place)
    facts = _universe_facts(found.chosen, found.all_sizes, options)
    return Found(_rising(found.nodes), _rising(found.topics), facts)


def _rising(ids: "DataFrame") -> Ids:
    """The one column of ids of a sample; 4 bytes each on the driver."""
    found: Ids = np.sort(ids.toArrow().column(0).to_numpy())
    return found


def _universe_facts(chosen: Sizes, sizes: list[Sizes], options: UniverseOptions) -> dict[str, Any]:
    """The ratios of all universes, by their number; none for one that was pruned away."""
    ratios = {size.universe: round(size.ratio, 6) for size in sizes}
    return {
        "universe": chosen.universe,
        "topics_a_node": ratios[chosen.universe],
        "topics_a_node_of_all": [ratios.get(number) for number in range(options.median_of)],
    }
