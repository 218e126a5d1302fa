"""Sample an interests dataset: a breadth-first search over a social graph, or a self-contained universe."""

from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from meshwright.errors import InputError
from meshwright.model.dataset import draft
from meshwright.model.facts import counted
from meshwright.model.manifest import make_manifest, write_manifest
from meshwright.pipeline.engine.dense import check_social, dense_table, interests_of, owners
from meshwright.pipeline.engine.id_lists import Ids
from meshwright.pipeline.engine.scratch import kept, scratch
from meshwright.pipeline.engine.status import spark_stage
from meshwright.pipeline.engine.storage import drop_by_products, open_checked
from meshwright.pipeline.sample.bfs import BfsOptions, relations, topics_among, visit
from meshwright.pipeline.sample.subset import write_subset
from meshwright.pipeline.sample.universe import Sizes, UniverseOptions, make_universe
from meshwright.progress import Progress

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Found(NamedTuple):
    """A sample is all interests between some nodes and some topics: their ids, rising, and facts."""

    nodes: Ids
    topics: Ids
    facts: dict[str, Any]


def sample(
    session: "SparkSession",
    dataset: Path,
    out: Path,
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
    with draft(out, force) as folder, scratch(folder) as place:
        begin = perf_counter()
        with spark_stage(session, progress, "sampling"):
            found = _find(session, dataset, counts, options, seed, place)
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
            f"{asked:,} {what} are asked for and the dataset has {there:,}; ask for at most those"
        )


def _find(
    session: "SparkSession",
    dataset: Path,
    counts: dict[str, int],
    options: BfsOptions | UniverseOptions,
    seed: int,
    place: Path,
) -> Found:
    if isinstance(options, BfsOptions):
        return _by_bfs(session, dataset, options, seed, place)
    return _by_universe(session, dataset, counts["topics"], options, seed, place)


def _by_bfs(session: "SparkSession", dataset: Path, options: BfsOptions, seed: int, place: Path) -> Found:
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
    dataset: Path,
    topics: int,
    options: UniverseOptions,
    seed: int,
    place: Path,
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
