"""What evaluating on Spark takes: against this process at 20,000 nodes, and at 1,000,000 nodes.

    python -m benchmarks.spark_evaluate [--nodes 20000 1000000] [--algorithms dcbc-direct] [--folder FOLDER]

Interests: unif, 1,000 topics, 10 to 150 subscriptions by a power law; the overlays are built in process and
kept in FOLDER, if given. Spark runs in local mode. Seconds are those from a dataset to an evaluation,
without the start of Spark; a small overlay is evaluated beforehand, so that kernels are compiled and workers
up. Busy seconds are those of all processors together, which don't depend on what else runs. Memory is the
peak of all processes, Java and Python, shared pages counted once.
"""

import argparse
import tempfile
from contextlib import nullcontext
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import meshwright as mw
from benchmarks.processes import busy_seconds, watched_memory
from meshwright.pipeline.evaluate.job import evaluate_on_spark
from meshwright.pipeline.spark.session import spark_session
from meshwright.runtime.progress import StageTimer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_OPTIONS: dict[str, dict[str, int]] = {"dc": {"part_size": 2_000}}
_TIMES = 3
_SMALL = 100_000


def overlay_in(folder: Path, algorithm: str, nodes: int) -> Path:
    """The dataset of an overlay, which is built unless it is there already."""
    path = folder / f"{algorithm}-{nodes}"
    if not path.exists():
        interests = mw.workloads.unif(nodes, 1_000, min_subscriptions=10, max_subscriptions=150, seed=1)
        mw.build(interests, algorithm, **_OPTIONS.get(algorithm, {})).write(path)
    return path


def on_spark(session: "SparkSession", path: Path, times: int) -> dict[str, Any]:
    """Seconds (the best), those of the stages, memory and the evaluation."""
    rows = []
    for _ in range(times):
        timer = StageTimer(None)
        with watched_memory() as peak:
            begin, begin_busy = perf_counter(), busy_seconds()
            found = evaluate_on_spark(session, path, progress=timer)
            seconds, busy = perf_counter() - begin, busy_seconds() - begin_busy
        rows.append({"seconds": seconds, "busy": busy, "stages": timer.seconds, "peak": peak, "found": found})
    return min(rows, key=lambda row: row["seconds"])


def here(path: Path, times: int) -> dict[str, Any]:
    """The same of reading and evaluating in this process."""
    rows = []
    for _ in range(times):
        begin, begin_busy = perf_counter(), process_time()
        found = mw.evaluate(mw.Overlay.read(path))
        rows.append({"seconds": perf_counter() - begin, "busy": process_time() - begin_busy, "found": found})
    return min(rows, key=lambda row: row["seconds"])


def same(one: mw.Evaluation, other: mw.Evaluation) -> bool:
    """Whether two evaluations have the same numbers, but for the rounding of means."""
    pairs = zip(one.to_json().values(), other.to_json().values(), strict=True)
    return all(a == b or abs(a - b) <= 1e-12 * abs(a) for a, b in pairs) and all(
        (getattr(one, name) == getattr(other, name)).all()
        for name in ("degrees", "components_per_topic", "diameter_per_topic")
    )


def show(session: "SparkSession", path: Path, nodes: int) -> None:
    """Measure one overlay on both engines, and print where the time goes."""
    times = _TIMES if nodes <= _SMALL else 1
    row = on_spark(session, path, times)
    found, peak = row["found"], row["peak"]
    local = here(path, times)
    print(
        f"{path.name}: {found.nodes:,} nodes, {found.interests:,} interests, {found.edges:,} edges; "
        f"topic-connected: {'yes' if found.topic_connected else 'NO'}, greatest topic diameter "
        f"{found.maximum_topic_diameter} ({'exact' if found.diameters_exact else 'a bound'})"
    )
    print(
        f"  Spark {row['seconds']:.1f} s ({row['busy']:.1f} busy), in process {local['seconds']:.1f} s "
        f"({local['busy']:.1f} busy), ratio {row['busy'] / local['busy']:.1f} by busy seconds; "
        f"same numbers: {'yes' if same(found, local['found']) else 'NO'}; "
        f"peak {peak.total / 2**30:.1f} GiB, of Java {peak.java / 2**30:.1f}"
    )
    for stage, took in row["stages"].items():
        print(f"    {stage}: {took:.1f} s", flush=True)


def main() -> None:
    """Print a block for each overlay."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, nargs="+", default=[20_000, 1_000_000])
    parser.add_argument("--algorithms", nargs="+", default=["dcbc-direct"])
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    kept = nullcontext(options.folder) if options.folder else tempfile.TemporaryDirectory()
    with kept as name, spark_session() as session:
        folder = Path(name)
        folder.mkdir(exist_ok=True)
        on_spark(session, overlay_in(folder, "dcbc-direct", 500), 1)
        for nodes in options.nodes:
            for algorithm in options.algorithms:
                show(session, overlay_in(folder, algorithm, nodes), nodes)


if __name__ == "__main__":
    main()
