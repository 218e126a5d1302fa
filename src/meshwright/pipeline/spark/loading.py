"""Whole datasets between the driver's memory and wherever they are."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from meshwright.model.costs.costs import Costs
from meshwright.model.interest_tables import read_named
from meshwright.model.interests import Interests
from meshwright.model.overlay_costs import FACT
from meshwright.model.storage.manifest import MANIFEST, open_dataset, read_manifest
from meshwright.pipeline.spark.storage import copy_folder
from meshwright.runtime.memory import check_memory, needed
from meshwright.runtime.places import Place, is_local

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_INSTEAD = "use dc or dcbc-direct with random parts, which Spark builds in pieces, or a larger driver"


def load_interests(session: SparkSession, dataset: Place, counts: Mapping[str, int]) -> Interests:
    """The interests of a dataset in the driver's memory, after a check that they fit."""
    check_memory("reading all interests on the driver", needed("reading", **counts), _INSTEAD)
    with on_this_machine(session, dataset) as folder:
        return Interests.read(folder)


def load_nodes(session: SparkSession, dataset: Place) -> Interests:
    """The nodes of a dataset with their attributes in the driver's memory, as interests in nothing."""
    with on_this_machine(session, dataset, ("nodes", MANIFEST)) as folder:
        names, attributes = read_named(open_dataset(folder), "nodes")
    lists = np.zeros(len(names) + 1, np.int64), np.empty(0, np.int32)
    return Interests(*lists, names, pa.array([], pa.string()), attributes, None)


def load_costs(session: SparkSession, dataset: Place) -> Costs | None:
    """The costs between all nodes that an overlay's dataset holds; None where it holds none."""
    manifest = read_manifest(dataset)
    if FACT not in manifest["facts"]:
        return None
    with on_this_machine(session, dataset, (*manifest["tables"], MANIFEST)) as folder:
        return Costs.read(folder)


@contextmanager
def on_this_machine(
    session: SparkSession, dataset: Place, tables: tuple[str, ...] = ("nodes", "topics", "lists", MANIFEST)
) -> Iterator[Path]:
    """The folder of a dataset, or a copy of some tables of a remote one that is gone at the end."""
    if is_local(dataset):
        yield dataset
        return
    with tempfile.TemporaryDirectory(prefix="meshwright-") as name:
        folder = Path(name)
        for table in tables:
            copy_folder(session, dataset / table, folder / table)
        yield folder
