"""What jobs share: tables, whole datasets in the driver's memory, broadcast values, random ranks.

Writing a scratch table cuts the lineage of what is computed from it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from meshwright.model.costs.costs import Costs
from meshwright.model.interests import Interests, read_named
from meshwright.model.overlay import COSTS_FACT
from meshwright.model.storage.manifest import MANIFEST, open_dataset, read_manifest
from meshwright.pipeline.spark import functions as f
from meshwright.pipeline.spark.storage import copy_folder, read_table, url
from meshwright.runtime.errors import DatasetError
from meshwright.runtime.memory import check_memory, needed
from meshwright.runtime.owned import remove_own_folder
from meshwright.runtime.places import Place, is_local

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
    return lists.select("node_id", f.explode("topic_ids").alias("topic_id"))


def owners(session: SparkSession, dataset: Place) -> DataFrame:
    """Which topics are named like a node, as in social networks: `topic_id: int, owner_id: int`."""
    nodes = dense_table(session, dataset, "nodes").select(f.col("id").alias("owner_id"), "name")
    topics = dense_table(session, dataset, "topics").select(f.col("id").alias("topic_id"), "name")
    return topics.join(nodes, "name").select("topic_id", "owner_id")


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


def rank(salt: int, *ids: str) -> Column:
    """The rank of a row by its columns of ids, as in `ranks`; of equal ranks, the lower id comes first."""
    return f.xxhash64(f.lit(salt).cast("long"), *(f.col(name).cast("long") for name in ids))


_INSTEAD = "use dc or dcbc-direct with random parts, which Spark builds in pieces, or a larger driver"


def load_interests(session: SparkSession | None, dataset: Place, counts: Mapping[str, int]) -> Interests:
    """The interests of a dataset in the driver's memory, after a check that they fit."""
    check_memory("reading all interests on the driver", needed("reading", **counts), _INSTEAD)
    with on_this_machine(session, dataset) as folder:
        return Interests.read(folder)


def load_nodes(session: SparkSession | None, dataset: Place) -> Interests:
    """The nodes of a dataset with their attributes in the driver's memory, as interests in nothing."""
    with on_this_machine(session, dataset, ("nodes", MANIFEST)) as folder:
        names, attributes = read_named(open_dataset(folder), "nodes")
    lists = np.zeros(len(names) + 1, np.int64), np.empty(0, np.int32)
    return Interests(*lists, names, pa.array([], pa.string()), attributes, None)


def load_costs(session: SparkSession | None, dataset: Place) -> Costs | None:
    """The costs between all nodes that an overlay's dataset holds; None where it holds none."""
    manifest = read_manifest(dataset)
    if COSTS_FACT not in manifest["facts"]:
        return None
    with on_this_machine(session, dataset, (*manifest["tables"], MANIFEST)) as folder:
        return Costs.read(folder)


@contextmanager
def on_this_machine(
    session: SparkSession | None,
    dataset: Place,
    tables: tuple[str, ...] = ("nodes", "topics", "lists", MANIFEST),
) -> Iterator[Path]:
    """The folder of a dataset, or a copy of some tables of a remote one that is gone at the end."""
    if is_local(dataset):
        yield dataset
        return
    assert session is not None
    with tempfile.TemporaryDirectory(prefix="meshwright-") as name:
        folder = Path(name)
        for table in tables:
            copy_folder(session, dataset / table, folder / table)
        yield folder


@contextmanager
def written_here(session: SparkSession | None, folder: Place) -> Iterator[Path]:
    """The folder, or for a remote one a folder of this machine, of which all is copied there at the end."""
    if is_local(folder):
        yield folder
        return
    assert session is not None
    with tempfile.TemporaryDirectory(prefix="meshwright-") as name:
        yield Path(name)
        for entry in Path(name).iterdir():
            copy_folder(session, entry, folder / entry.name)
