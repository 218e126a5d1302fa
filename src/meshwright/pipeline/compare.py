"""Comparing algorithms on a dataset, in this process or on Spark, and the folder that it leaves."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from meshwright.comparing import Comparison, Result, as_table, in_process, results
from meshwright.metrics.evaluation import Evaluation
from meshwright.model.interests import Interests
from meshwright.model.storage.dataset import draft, writing
from meshwright.model.storage.manifest import counted, make_manifest, read_manifest, write_manifest
from meshwright.pipeline.build.in_process import BuildPlan
from meshwright.pipeline.build.job import build_on_spark
from meshwright.pipeline.cost_files import CostFiles
from meshwright.pipeline.evaluate.job import evaluate_on_spark
from meshwright.pipeline.spark.tables import written_here
from meshwright.report.compare import compare_page
from meshwright.report.page import write_page
from meshwright.runtime.owned import remove_own_folder
from meshwright.runtime.places import Place
from meshwright.runtime.progress import Progress
from meshwright.runtime.usage import Usage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE, JSON, PAGE = "comparison.parquet", "comparison.json", "comparison.html"


def compare_here(
    dataset: Path,
    out: Path,
    wanted: Comparison,
    *,
    costs: CostFiles | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Compare in this process, and write table, JSON and page to `out`; returns what the JSON says."""
    with draft(out, force) as folder:
        interests = Interests.read(dataset, progress=progress)
        prices = None if costs is None else costs.load(interests)
        found = results(wanted, in_process(interests, wanted, prices, progress), progress)
        return _write(folder, dataset, found, _about(dataset, wanted, costs, "local"), None)


def compare_on_spark(
    session: SparkSession,
    dataset: Place,
    out: Place,
    wanted: Comparison,
    *,
    costs: CostFiles | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Compare on Spark, with the numbers that `compare_here` gives, but for what was spent.

    Overlays are written inside `out` while they are measured, one at a time. Seconds include that writing;
    processor seconds and memory are those of other processes and stay None.
    """
    with draft(out, force) as folder:
        scratch = folder / "overlay"

        def run(algorithm: str, seed: int | None, bound: bool) -> tuple[Evaluation, Usage | None]:
            assert seed is not None  # a command compares algorithms only
            begin, given = perf_counter(), wanted.options.get(algorithm, {})
            try:
                plan = BuildPlan(algorithm=algorithm, settings=given, costs=costs, seed=seed)
                build_on_spark(session, dataset, scratch, plan, progress=progress)
                usage = Usage(perf_counter() - begin)
                return evaluate_on_spark(session, scratch, bound=bound, progress=progress), usage
            finally:
                if scratch.exists():
                    remove_own_folder(scratch)

        found = results(wanted, run, progress)
        return _write(folder, dataset, found, _about(dataset, wanted, costs, "spark"), session)


def _about(dataset: Place, wanted: Comparison, costs: CostFiles | None, engine: str) -> dict[str, Any]:
    return {
        "command": "compare",
        "engine": engine,
        "algorithms": list(wanted.algorithms),
        "options": {name: dict(own) for name, own in wanted.options.items()},
        "seeds": wanted.seeds,
        "costs": None if costs is None else costs.given(),
        "inputs": [str(dataset)],
    }


def _write(
    folder: Place,
    dataset: Place,
    found: Sequence[Result],
    about: Mapping[str, Any],
    session: SparkSession | None,
) -> dict[str, Any]:
    """Write the files and their manifest into a draft, wherever that is; returns what the JSON says."""
    counts = counted(read_manifest(dataset), ("nodes", "topics", "interests"), dataset)
    with writing(folder):
        with written_here(session, folder) as here:
            _write_files(here, dataset.name, found, counts, about)
        write_manifest(folder, make_manifest("comparison", counts, {}, {}, about))
    return _as_json(found, counts, about)


def _write_files(
    folder: Path,
    title: str,
    found: Sequence[Result],
    counts: Mapping[str, int],
    about: Mapping[str, Any],
) -> None:
    pq.write_table(as_table(found), folder / TABLE, compression="zstd")
    text = json.dumps(_as_json(found, counts, about), indent=2, ensure_ascii=False)
    (folder / JSON).write_text(f"{text}\n", "utf-8")
    write_page(folder / PAGE, compare_page(title, found, counts, about))


def _as_json(found: Sequence[Result], counts: Mapping[str, int], about: Mapping[str, Any]) -> dict[str, Any]:
    """What was compared, on what, and every run."""
    return {**about, "counts": dict(counts), "runs": [asdict(row) for row in found]}
