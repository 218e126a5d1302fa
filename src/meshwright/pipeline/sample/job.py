"""Sample an interests dataset: a breadth-first search over a social graph, or a self-contained universe.

Two engines do it, in this process or on Spark, and give the same sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from meshwright.model.interests import Interests
from meshwright.model.storage.dataset import draft
from meshwright.model.storage.manifest import counted, make_manifest, open_dataset, write_manifest
from meshwright.pipeline.sample.bfs import BfsOptions
from meshwright.pipeline.sample.universe import Sizes, UniverseOptions
from meshwright.runtime.arrays import Ids
from meshwright.runtime.errors import InputError
from meshwright.runtime.places import Place, is_local
from meshwright.runtime.progress import Progress

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Found(NamedTuple):
    """A sample is all interests between some nodes and some topics: their ids, rising, and facts."""

    nodes: Ids
    topics: Ids
    facts: dict[str, Any]


class Sampling(Protocol):
    """An engine that samples one dataset."""

    name: str

    def stage(self, progress: Progress | None, label: str) -> AbstractContextManager[object]:
        """Show what is done in here as one stage."""

    def by_bfs(self, options: BfsOptions, seed: int, folder: Place) -> Found:
        """What a breadth-first search visits; `folder` is the draft of the new dataset."""

    def by_universe(self, options: UniverseOptions, seed: int, folder: Place) -> Found:
        """A self-contained universe."""

    def write(self, folder: Place, nodes: Ids, topics: Ids) -> dict[str, int]:
        """Write the tables of the dataset with these nodes and topics only; gives the counts.

        New ids are the places in the old ones: an old id is the rank of a name among all, so its place is
        the rank of the name among those left, and no names are compared. Every column of `nodes/` and
        `topics/` stays.
        """


def sample(
    session: SparkSession | None,
    dataset: Place,
    out: Place,
    options: BfsOptions | UniverseOptions,
    *,
    seed: int = 0,
    force: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write the sample of the interests at `dataset` that `options` asks for to `out`; return its manifest.

    The result depends on the data, the options and the seed alone, not on whether Spark or, without a
    session, this process makes it. Names and attributes stay; ids are new.
    """
    counts = counted(open_dataset(dataset).manifest, ("nodes", "topics"), dataset)
    check_size(options, counts)
    engine = _engine(session, dataset, progress)
    seconds: dict[str, float] = {}
    with draft(out, force) as folder:
        begin = perf_counter()
        with engine.stage(progress, "sampling"):
            found = found_by(engine, options, seed, folder)
        seconds["sample"] = round(perf_counter() - begin, 3)
        begin = perf_counter()
        with engine.stage(progress, "writing"):
            written = engine.write(folder, found.nodes, found.topics)
        seconds["write"] = round(perf_counter() - begin, 3)
        made_by = {
            "command": "sample",
            "engine": engine.name,
            "options": {"way": "bfs" if isinstance(options, BfsOptions) else "universe", **asdict(options)},
            "seed": seed,
            "inputs": [str(dataset)],
            "seconds": seconds,
        }
        manifest = make_manifest("interests", written, found.facts, {}, made_by)
        write_manifest(folder, manifest)
    return manifest


def found_by(engine: Sampling, options: BfsOptions | UniverseOptions, seed: int, folder: Place) -> Found:
    """What is sampled in the way that `options` ask for."""
    if isinstance(options, BfsOptions):
        return engine.by_bfs(options, seed, folder)
    return engine.by_universe(options, seed, folder)


def _engine(session: SparkSession | None, dataset: Place, progress: Progress | None) -> Sampling:
    """Imported where it is needed: each brings much that the other does without."""
    if session is None:
        from meshwright.pipeline.sample.in_process import InProcess

        assert is_local(dataset)
        return InProcess(Interests.read(dataset, progress=progress), str(dataset))
    from meshwright.pipeline.sample.on_spark import OnSpark

    return OnSpark(session, dataset)


def check_size(options: BfsOptions | UniverseOptions, counts: dict[str, int]) -> None:
    """Refuse a sample that is larger than all."""
    if isinstance(options, BfsOptions):
        asked, there, what = options.users, counts["nodes"], "users"
    else:
        asked, there, what = options.seeds, counts["topics"], "topics"
    if asked > there:
        raise InputError(
            f"{asked:,} {what} were asked for, but the dataset has only {there:,}; ask for at most that many"
        )


def check_social(is_social: bool, origin: str, way: str) -> None:
    """Refuse a dataset of which no topic is named like a node."""
    if not is_social:
        raise InputError(
            f"{origin}: no topic has the same name as a node, but {way} goes from a node to the topic with "
            f"its name; use a dataset of follows or friendships, or --universe with --grow random"
        )


def bfs_facts(levels: Sequence[int], restarts: int) -> dict[str, Any]:
    """How many users each level brought, how many rounds there were, and how often the search began anew."""
    return {"levels": [level for level in levels if level], "rounds": len(levels), "restarts": restarts}


def universe_facts(chosen: Sizes, sizes: Sequence[Sizes], options: UniverseOptions) -> dict[str, Any]:
    """The ratios of all universes, by their number; none for one that was pruned away."""
    ratios = {size.universe: round(size.ratio, 6) for size in sizes}
    return {
        "universe": chosen.universe,
        "topics_a_node": ratios[chosen.universe],
        "topics_a_node_of_all": [ratios.get(number) for number in range(options.median_of)],
    }
