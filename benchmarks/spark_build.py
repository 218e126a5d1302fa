"""What building on Spark takes: against this process at 20,000 nodes, and at 1,000,000 nodes.

    python -m benchmarks.spark_build
    python -m benchmarks.spark_build --large FOLDER

Interests: unif, 1,000 topics, 10 to 150 subscriptions by a power law; the large ones, about 28 million, are
written to FOLDER once. Spark runs in local mode. Seconds are those of a build from a dataset to a dataset,
without the start of Spark; small builds are run beforehand, so that kernels are compiled and workers up.
Memory is the peak of all processes together, Java and Python, shared pages counted once.

Two shares of a large build are told. Spark's overhead: how much longer it takes than the same build in this
process, from the same dataset to the same dataset, which reads and writes as well. And what is not the
algorithm: one minus the seconds in its functions, those of tasks divided by the cores; so reading, Arrow,
shuffles, scheduling, sorting and writing edges and copying interests all count.
"""

import argparse
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import meshwright as mw
from benchmarks.processes import watched_memory
from meshwright.pipeline.build.in_process import BuildPlan
from meshwright.pipeline.build.job import build_on_spark
from meshwright.pipeline.spark.session import spark_session
from meshwright.runtime.machine import cores

_SMALL: dict[str, dict[str, int]] = {
    "dc": {"part_size": 2_000},
    "dcbc": {"bulk_limit": 2_000, "part_size": 2_000},
    "dcbc-direct": {},
}
_LARGE: dict[str, dict[str, int]] = {"dc": {"part_size": 2_000}, "dcbc-direct": {}}
_ON_DRIVER = ("taking edges",)


def make(nodes: int) -> mw.Interests:
    """The workload of one size."""
    return mw.workloads.unif(nodes, 1_000, min_subscriptions=10, max_subscriptions=150, seed=1)


def on_spark(session: Any, dataset: Path, out: Path, name: str, options: dict[str, int]) -> dict[str, Any]:
    """Seconds, memory and overhead of one build."""
    with watched_memory() as peak:
        begin = perf_counter()
        manifest = build_on_spark(session, dataset, out, BuildPlan(algorithm=name, settings=options))
        seconds = perf_counter() - begin
    in_tasks = sum(manifest["task_seconds"].values()) / cores()
    on_driver = sum(manifest["seconds"].get(stage, 0.0) for stage in _ON_DRIVER)
    return {
        "seconds": seconds,
        "stages": manifest["seconds"],
        "task_seconds": manifest["task_seconds"],
        "beside": 1 - (in_tasks + on_driver) / seconds,
        "peak": peak.total,
        "counts": manifest["counts"],
        "facts": manifest["facts"],
    }


def here(dataset: Path, out: Path, name: str, options: dict[str, int]) -> float:
    """Seconds of the same in this process."""
    begin = perf_counter()
    mw.build(mw.Interests.read(dataset), name, **options).write(out)
    return perf_counter() - begin


def warm(session: Any, folder: Path) -> None:
    """Compile every kernel and start every worker."""
    make(500).write(folder / "warm")
    for name in _SMALL:
        on_spark(
            session,
            folder / "warm",
            folder / f"warm-{name}",
            name,
            {"part_size": 20} if name != "dcbc-direct" else {},
        )
        mw.build(mw.Interests.read(folder / "warm"), name)


def small(session: Any, folder: Path, nodes: int) -> None:
    """In this process against Spark, and whether both give the same."""
    make(nodes).write(folder / "interests")
    print(f"{nodes:,} nodes: {'in process':>16} {'Spark':>8} {'ratio':>6}  same overlay")
    for name, options in _SMALL.items():
        local = here(folder / "interests", folder / f"local-{name}", name, options)
        spark = on_spark(session, folder / "interests", folder / f"spark-{name}", name, options)["seconds"]
        same = mw.Overlay.read(folder / f"local-{name}") == mw.Overlay.read(folder / f"spark-{name}")
        print(
            f"{name:14} {local:14.2f} s {spark:6.2f} s {spark / local:6.1f}  {'yes' if same else 'NO'}",
            flush=True,
        )


def large(session: Any, folder: Path, place: Path, nodes: int) -> None:
    """Where the time goes at a million nodes."""
    dataset = place / f"interests-{nodes}"
    if not dataset.exists():
        make(nodes).write(dataset)
    for name, options in _LARGE.items():
        row = on_spark(session, dataset, folder / name, name, options)
        counts, degree = row["counts"], 2 * row["counts"]["edges"] / row["counts"]["nodes"]
        print(
            f"{name}: {counts['nodes']:,} nodes, {counts['interests']:,} interests, "
            f"{counts['edges']:,} edges, average degree {degree:.2f}; "
            f"{row['seconds']:.1f} s, peak {row['peak'] / 2**30:.1f} GiB; "
            f"not the algorithm {row['beside']:.0%}"
        )
        for stage, seconds in row["stages"].items():
            busy = row["task_seconds"].get(stage)
            note = f"  ({busy / cores():.1f} s of it in the algorithm, on {cores()} cores)" if busy else ""
            print(f"  {stage}: {seconds:.1f} s{note}", flush=True)
        local = here(dataset, folder / f"local-{name}", name, options)
        print(f"  in this process: {local:.1f} s, so Spark's overhead is {1 - local / row['seconds']:.0%}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--large", type=Path, metavar="FOLDER")
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--master", default=None)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(dir=options.large) as name,
        spark_session(options.master) as session,
    ):
        warm(session, Path(name))
        if options.large:
            large(session, Path(name), options.large, options.nodes or 1_000_000)
        else:
            small(session, Path(name), options.nodes or 20_000)


if __name__ == "__main__":
    main()
