"""Measure the constants by which `plan-capacity` predicts, and how far off it is on runs it has not seen.

    python -m benchmarks.capacity            # measure, fit, compare, and write capacity.json
    python -m benchmarks.capacity --spark    # the same for the stages on Spark, in local mode

Workloads of several sizes and shapes are ingested, built and evaluated, each size in a process of its own.
Constants are fitted by least squares of relative errors, none of them negative. Then larger workloads, of
which one is of another law, are predicted and measured. How often a prediction is wrong by how much is
printed, and the worst ratio of each stage is kept beside its constants.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import nnls

import meshwright as mw
from benchmarks.processes import watched_memory
from benchmarks.scale import watched
from meshwright.metrics.condensed import FEWEST_INTERESTS
from meshwright.model.interests import interest_counts
from meshwright.pipeline import capacity
from meshwright.pipeline.build.in_process import BuildPlan, build_here
from meshwright.pipeline.capacity import AROUND_HUBS, EVALUATE, PART_SIZE, TERMS, Size, value_of
from meshwright.pipeline.ingest.job import ingest
from meshwright.pipeline.ingest.options import IngestOptions

TABLE = Path(capacity.__file__).with_name("capacity.json")
LINEAR = ("dc", "dcbc", "dcbc-direct", "ring")
BY_PAIRS = ("gm", "dg", "low-oda")
WITH_HUBS = ("dcbc-direct",)
_OF_LINEAR = ("once", "node", "topic", "interest")


class Workload(NamedTuple):
    """A law, its size, and the subscriptions of a node."""

    law: str
    nodes: int
    topics: int
    subscriptions: int
    algorithms: tuple[str, ...]

    def make(self) -> mw.Interests:
        """The interests."""
        law = getattr(mw.workloads, self.law)
        made: mw.Interests = law(self.nodes, self.topics, subscriptions=self.subscriptions, seed=3)
        return made


FITTED = [
    *(
        Workload("unif", nodes, topics, subscriptions, LINEAR)
        for nodes in (5_000, 20_000, 50_000)
        for topics, subscriptions in ((100, 5), (1_000, 28))
    ),
    *(
        Workload("unif", nodes, topics, subscriptions, BY_PAIRS)
        for nodes in (1_000, 3_000, 6_000)
        for topics, subscriptions in ((100, 5), (1_000, 28))
    ),
    *(Workload("unif", nodes, 1_000, 28, WITH_HUBS) for nodes in (160_000, 320_000, 640_000)),
]
UNSEEN = [
    Workload("unif", 140_000, 1_000, 28, LINEAR),
    Workload("zipf", 100_000, 500, 10, LINEAR),
    Workload("unif", 10_000, 1_000, 28, BY_PAIRS),
    Workload("zipf", 8_000, 500, 10, BY_PAIRS),
    Workload("unif", 1_000_000, 1_000, 28, WITH_HUBS),
    Workload("zipf", 500_000, 500, 10, WITH_HUBS),
]
IN_PARTS = ("dc", "dcbc", "dcbc-direct")
ON_SPARK = [Workload("unif", nodes, 1_000, 28, IN_PARTS) for nodes in (100_000, 300_000, 1_000_000)]
UNSEEN_ON_SPARK = [Workload("unif", 500_000, 500, 20, IN_PARTS), Workload("zipf", 300_000, 500, 15, IN_PARTS)]
SPARK_OPTIONS: dict[str, dict[str, int]] = {
    "dc": {"part_size": PART_SIZE},
    "dcbc": {"part_size": PART_SIZE, "bulk_limit": PART_SIZE},
}
"""Parts of a size that is settled, so that the memory of a task does not grow with the nodes."""


def folder_bytes(folder: Path) -> int:
    """What the files below a folder take."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


class Run(NamedTuple):
    """What a stage took at a size."""

    stage: str
    size: Size
    measures: dict[str, float]


@contextmanager
def _own_peak() -> Iterator[Callable[[], int]]:
    """The peak of this process from here on."""
    Path("/proc/self/clear_refs").write_text("5")

    def peak() -> int:
        lines = Path("/proc/self/status").read_text("ascii").splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))

    yield peak


def measured_here(workload: Workload, folder: Path) -> list[Run]:
    """Ingest, build and evaluate in this process; what is compiled on first use is not counted."""
    warm = mw.workloads.unif(60, 20, subscriptions=4, seed=1)
    for name in workload.algorithms:
        mw.evaluate(mw.build(warm, name))
    made = workload.make()
    size = Size(**interest_counts(made))
    made.write(folder / "raw")
    del made
    runs = []

    def note(stage: str, work: Callable[[], object], out: Path) -> None:
        with _own_peak() as peak:
            begin = process_time()
            work()
            took = {"seconds": process_time() - begin, "memory_bytes": float(peak())}
        runs.append(
            Run(stage, size, took | {"disk_bytes": float(folder_bytes(out)) if out.exists() else 0.0})
        )

    rows, dataset = str(folder / "raw" / "interests"), folder / "dataset"
    note("ingest", lambda: ingest(None, [rows], dataset, IngestOptions(relation="pairs")), dataset)
    for name in workload.algorithms:
        out = folder / name
        note(
            f"build {name}",
            lambda name=name, out=out: build_here(dataset, out, BuildPlan(algorithm=name)),
            out,
        )
    last = folder / workload.algorithms[-2 if workload.algorithms == LINEAR else 0]
    stage = AROUND_HUBS if workload.algorithms == WITH_HUBS else EVALUATE
    note(stage, lambda: mw.evaluate(mw.Overlay.read(last)), folder / "nothing")
    return runs


def measured_on_spark(workloads: list[Workload]) -> list[list[Run]]:
    """The same on Spark in local mode, in one session; memory is that of a Python worker, and of this one."""
    from meshwright.pipeline.build.job import build_on_spark
    from meshwright.pipeline.evaluate.job import evaluate_on_spark
    from meshwright.pipeline.spark.session import spark_session

    found = []
    with tempfile.TemporaryDirectory() as scratch, spark_session() as session:
        warm = Workload("unif", 500, 50, 5, IN_PARTS)
        for at, workload in enumerate([warm, *workloads]):
            folder, runs = Path(scratch) / str(at), list[Run]()
            made = workload.make()
            size = Size(**interest_counts(made))
            made.write(folder / "raw")
            rows, dataset = str(folder / "raw" / "interests"), folder / "dataset"
            reading = partial(ingest, session, [rows], dataset, IngestOptions(relation="pairs"))
            steps: dict[str, tuple[Callable[[], object], Path]] = {"ingest": (reading, dataset)}
            for name in workload.algorithms:
                plan = BuildPlan(algorithm=name, settings=SPARK_OPTIONS.get(name, {}))
                build = partial(build_on_spark, session, dataset, folder / name, plan)
                steps[f"build {name}"] = build, folder / name
            hubs = EVALUATE if size.interests < FEWEST_INTERESTS else AROUND_HUBS
            for stage, name in {EVALUATE: "dcbc", hubs: "dcbc-direct"}.items():
                steps[stage] = partial(evaluate_on_spark, session, folder / name), folder / "nothing"
            for stage, (work, out) in steps.items():
                with watched_memory() as peak, watched(folder) as watch:
                    work()
                took = {
                    "seconds": watch.busy,
                    "worker_bytes": float(peak.worker),
                    "driver_bytes": float(peak.driver),
                }
                disk = float(folder_bytes(out)) if out.exists() else 0.0
                runs.append(Run(stage, size, took | {"disk_bytes": disk}))
            print(f"{workload}: {[(run.stage, run.measures) for run in runs]}", file=sys.stderr, flush=True)
            found.append(runs)
    return found[1:]


def in_own_process(workload: Workload, scratch: Path | None) -> list[Run]:
    """What `measured_here` says when nothing ran before it."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        words = [sys.executable, "-m", "benchmarks.capacity", "--one", json.dumps([workload, folder])]
        said = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1]
    return [Run(stage, Size(*size), measures) for stage, size, measures in json.loads(said)]


def fitted(runs: list[Run], terms: tuple[str, ...]) -> dict[str, dict[str, float]]:
    """The constants of one stage, by measure."""
    found = {}
    for measure in runs[0].measures:
        values = np.array([run.measures[measure] for run in runs])
        weights = 1 / np.maximum(values, 1e-9)
        matrix = np.array([[TERMS[term](run.size) for term in terms] for run in runs])
        scale = np.abs(matrix * weights[:, None]).max(axis=0)
        if not values.any():
            found[measure] = {}
            continue
        constants, _ = nnls(matrix * weights[:, None] / scale, values * weights)
        kept = zip(terms, constants / scale, strict=True)
        found[measure] = {term: float(f"{constant:.4g}") for term, constant in kept if constant > 0}
    return found


def table_of(
    seen: list[Run], unseen: list[Run], terms_of: Callable[[str], tuple[str, ...]]
) -> dict[str, Any]:
    """By stage: the constants, and how far off they are."""
    table = {}
    for stage in dict.fromkeys(run.stage for run in seen):
        constants = fitted([run for run in seen if run.stage == stage], terms_of(stage))
        worst: dict[str, float] = {}
        for run in unseen:
            for measure in constants if run.stage == stage else ():
                told, true = value_of(constants[measure], run.size), run.measures[measure]
                if true:
                    ratio = max(told / true, true / told)
                    worst[measure] = round(max(worst.get(measure, 1.0), ratio), 2)
                    print(
                        f"{stage:18} {measure:13} {run.size.nodes:8,} nodes, {run.size.interests:9,} "
                        f"interests: predicted {told:14,.2f}, measured {true:14,.2f}, {ratio:.2f} times"
                    )
        table[stage] = {"constants": constants, "unseen": worst}
    return table


def terms_here(stage: str) -> tuple[str, ...]:
    """Algorithms that look at pairs of nodes have terms for these."""
    return tuple(TERMS) if stage.removeprefix("build ") in BY_PAIRS else _OF_LINEAR


def terms_on_spark(stage: str) -> tuple[str, ...]:
    """All that grows does so with the interests; topics were too few to tell."""
    del stage
    return ("once", "interest")


def main() -> None:
    """Measure, fit, compare, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--scratch", type=Path, help="a folder to work in")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        workload, folder = json.loads(given.one)
        workload[-1] = tuple(workload[-1])
        print(json.dumps(measured_here(Workload(*workload), Path(folder))))
        return
    if given.spark:
        runs = measured_on_spark([*ON_SPARK, *UNSEEN_ON_SPARK])
        seen, unseen = (list(chain(*some)) for some in (runs[: len(ON_SPARK)], runs[len(ON_SPARK) :]))
        engine, table = "spark", table_of(seen, unseen, terms_on_spark)
    else:
        seen, unseen = (
            [run for workload in some for run in in_own_process(workload, given.scratch)]
            for some in (FITTED, UNSEEN)
        )
        engine, table = "local", table_of(seen, unseen, terms_here)
    known = json.loads(TABLE.read_text("utf-8")) if TABLE.exists() else {"engines": {}}
    known["machine"] = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    known["engines"][engine] = table
    TABLE.write_text(json.dumps(known, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
