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
from meshwright.runtime.machine import check_memory, free_memory
from meshwright.runtime.places import Place, is_local

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_BYTES_A_NAME, _BYTES_AN_INTEREST = 120, 16
"""While reading: names come as a table, as an array and as offsets, interests as a table and as arrays."""

_SHARE_OF_FREE_MEMORY = 0.8
_INSTEAD = "use dc or dcbc-direct with random parts, which Spark builds in pieces, or a larger driver"


def interests_bytes(counts: Mapping[str, int]) -> int:
    """How much memory reading interests takes at most, with names of some forty bytes."""
    return _BYTES_A_NAME * (counts["nodes"] + counts["topics"]) + _BYTES_AN_INTEREST * counts["interests"]


def fits_here(counts: Mapping[str, int], bytes_an_interest: int) -> bool:
    """Whether work on the interests that takes so many bytes for each leaves a fifth of the free memory."""
    needed = interests_bytes(counts) + bytes_an_interest * counts["interests"]
    return needed <= _SHARE_OF_FREE_MEMORY * free_memory()


def load_interests(session: SparkSession, dataset: Place, counts: Mapping[str, int]) -> Interests:
    """The interests of a dataset in the driver's memory, after a check that they fit."""
    check_memory("reading all interests on the driver", interests_bytes(counts), _INSTEAD)
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
