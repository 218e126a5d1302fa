"""Build an overlay from a dataset of any size: in tasks if the algorithm is spread, else on the driver."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from meshwright import building, registry
from meshwright.model.costs.costs import Costs
from meshwright.model.overlay import COSTS_FACT, Overlay
from meshwright.model.storage.dataset import check_free, draft
from meshwright.model.storage.manifest import (
    MANIFEST,
    counted,
    make_manifest,
    read_manifest,
    without_files,
    write_manifest,
)
from meshwright.pipeline.build.edges import write_edges
from meshwright.pipeline.build.in_process import BuildPlan, has_names
from meshwright.pipeline.build.source import SparkSource
from meshwright.pipeline.build.spread import SPREAD, Job, Spread
from meshwright.pipeline.spark.failures import translated
from meshwright.pipeline.spark.status import spark_stage
from meshwright.pipeline.spark.storage import copy_folder, drop_by_products, open_checked
from meshwright.pipeline.spark.tables import load_interests, load_nodes, written_here
from meshwright.runtime.disk import check_disk, edge_bytes
from meshwright.runtime.errors import DatasetError
from meshwright.runtime.owned import remove_own_folder
from meshwright.runtime.places import Place, is_local
from meshwright.runtime.progress import Progress, StageTimer, stage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def write_from_driver(
    session: SparkSession,
    overlay: Overlay,
    out: Place,
    force: bool,
    made_by: Mapping[str, Any],
    names: bool = True,
) -> dict[str, Any]:
    """Write an overlay to wherever `out` is; gives its manifest."""
    if is_local(out):
        overlay.write(out, force=force, made_by=made_by, names=names)
        return without_files(read_manifest(out))
    with tempfile.TemporaryDirectory(prefix="meshwright-") as name, draft(out, force) as folder:
        local = Path(name) / "overlay"
        overlay.write(local, made_by=made_by, names=names)
        for table in local.iterdir():
            if table.name != MANIFEST:
                copy_folder(session, table, folder / table.name)
        copy_folder(session, local / MANIFEST, folder / MANIFEST)
    return without_files(read_manifest(out))


_DENSE = ("nodes", "topics", "lists")


def build_on_spark(
    session: SparkSession,
    dataset: Place,
    out: Place,
    plan: BuildPlan,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Build an overlay of a dataset's interests and write it to `out`; gives the manifest.

    The overlay and its facts are those that `building.build` gives in process, edge for edge, on any number
    of machines and after the loss of any of them. Algorithms in `SPREAD` run in tasks, and neither
    edges nor interests pass through the driver. The others, reverse delete, resilience and max_links run on
    the driver, and are refused where the interests don't fit there. Costs are read on the
    driver, and known to all tasks, where every link gets its cost. The manifest has the seconds of each stage
    and, as `task_seconds`, those that tasks spent in the algorithm itself.
    """
    spread = plan.algorithm in SPREAD
    with translated():
        counts = _counts(dataset, spread or plan.costs is not None)
        check_free(out, force)
        timer = StageTimer(progress)
        prices = None if plan.costs is None else plan.costs.load(load_nodes(session, dataset))
        building.check_costs(plan.algorithm, prices)
        made_by = plan.made_by("spark", dataset) | {"seconds": timer.seconds}
        if spread and not plan.works_on_the_whole and counts["nodes"]:
            if is_local(out):
                check_disk(f"building {counts['nodes']:,} nodes", edge_bytes(counts["interests"]), out)
            with draft(out, force) as folder:
                source = SparkSource(session, dataset, counts, timer)
                job = Job(session=session, source=source, scratch=folder / "scratch", progress=timer)
                return _build_in_tasks(job, plan, prices, made_by, dataset, folder)
        with stage(timer, "reading the interests"):
            interests = load_interests(session, dataset, counts)
        overlay = plan.build(interests, prices, timer)
        return write_from_driver(session, overlay, out, force, made_by, has_names(read_manifest(dataset)))


def _build_in_tasks(
    job: Job, plan: BuildPlan, prices: Costs | None, made_by: dict[str, Any], dataset: Place, folder: Place
) -> dict[str, Any]:
    """Build in tasks, and write everything into a draft; gives the manifest."""
    checked = plan.options()
    spread = SPREAD[plan.algorithm](job, prices, checked, plan.seed)
    edges = _write_tables(job, spread, prices, dataset, folder)
    extras = {} if prices is None else _write_costs(job.session, prices, folder)
    facts = registry.how_made(plan.algorithm, checked, plan.seed) | dict(spread.facts)
    facts |= {} if prices is None else {COSTS_FACT: prices.description()}
    facts["seconds"], made_by["task_seconds"] = job.progress.seconds, _task_seconds(spread)
    counts = job.source.counts | {"edges": edges}
    manifest = make_manifest("overlay", counts, facts, extras, made_by)
    drop_by_products(folder)
    write_manifest(folder, manifest)
    return manifest


def _counts(dataset: Place, dense: bool) -> dict[str, int]:
    manifest = open_checked(dataset, ("interests", *_DENSE), "interests", "overlay").manifest
    missing = [name for name in _DENSE if dense and not (dataset / name).is_dir()]
    if missing:
        raise DatasetError(
            f"{dataset} has no {missing[0]}/, which Spark needs; "
            f"use --engine local, or write the dataset again"
        )
    return counted(manifest, ("nodes", "topics", "interests"), dataset)


def _write_tables(job: Job, spread: Spread, costs: Costs | None, dataset: Place, folder: Place) -> int:
    """Write the tables of the overlay, and leave nothing else in the draft; gives the number of edges."""
    count = sum(part.edges for kept in spread.kept for part in kept.parts) + len(spread.edges)
    folders = [kept.folder for kept in spread.kept]
    nodes = job.source.node_count
    with spark_stage(job.session, job.progress, "writing the edges"):
        named = dataset / "nodes" if has_names(read_manifest(dataset)) else None
        edges = write_edges(job.session, folders, spread.edges, count, nodes, folder / "edges", named, costs)
    with stage(job.progress, "copying the interests"):
        for name in ("interests", *_DENSE):
            if (dataset / name).is_dir():
                copy_folder(job.session, dataset / name, folder / name)
        remove_own_folder(job.scratch)
    return edges


def _write_costs(session: SparkSession, costs: Costs, folder: Place) -> dict[str, int]:
    """Keep the costs beside the edges; gives the rows of each table."""
    tables = costs.tables()
    with written_here(session, folder) as here:
        for name, table in tables.items():
            (here / name).mkdir()
            pq.write_table(table, here / name / "part-00000.parquet", compression="zstd")
    return {name: table.num_rows for name, table in tables.items()}


def _task_seconds(spread: Spread) -> dict[str, float]:
    seconds: dict[str, float] = {}
    for kept in spread.kept:
        seconds[kept.label] = seconds.get(kept.label, 0.0) + sum(part.seconds for part in kept.parts)
    return seconds
