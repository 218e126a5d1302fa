"""What Spark itself adds: build and evaluate in one session, against the same in one process.

    python -m benchmarks.spark_overhead [--nodes 1000000] [--algorithm dcbc-direct]

Interests: unif, 1,000 topics, 10 to 150 subscriptions by a power law, without names. Both engines read them,
build, write the overlay, and evaluate what they wrote. What the start of a session takes is told apart: it is
over when small interests have gone the same way, so that Python workers are up and kernels are there; this
process does the same first. The overlays must be the same, edge for edge, and so must all numbers that
evaluating gives.
"""

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import meshwright as mw
from meshwright.pipeline.build.in_process import BuildPlan, build_here
from meshwright.pipeline.build.job import build_on_spark
from meshwright.pipeline.evaluate.job import evaluate_on_spark
from meshwright.pipeline.spark.session import spark_session
from meshwright.runtime.progress import StageTimer

_SMALL = 200_000
"""As few nodes as go the same way as many: topics are condensed from four million interests on."""


def make(nodes: int, folder: Path) -> Path:
    """The interests of one size."""
    drawn = mw.workloads.unif(nodes, 1_000, min_subscriptions=10, max_subscriptions=150, seed=1)
    drawn.write(folder, names=False)
    return folder


def timed(
    dataset: Path, out: Path, build: Callable[..., Any], evaluate: Callable[..., Any], plan: BuildPlan
) -> tuple[float, float, mw.Evaluation, dict[str, float]]:
    """Seconds to build and to evaluate, what evaluating gives, and the seconds of its stages."""
    begin = perf_counter()
    build(dataset, out, plan)
    built = perf_counter()
    timer = StageTimer(None)
    found = evaluate(out, progress=timer)
    return built - begin, perf_counter() - built, found, timer.seconds


def evaluate_here(overlay: Path, progress: StageTimer) -> mw.Evaluation:
    """Read an overlay and measure it, in this process."""
    return mw.evaluate(mw.Overlay.read(overlay), progress=progress)


def main() -> None:
    """Print the seconds of both engines, and the share that Spark adds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--algorithm", default="dcbc-direct")
    parser.add_argument("--folder", type=Path, help="where to work; a temporary folder unless given")
    options = parser.parse_args()
    plan = BuildPlan(algorithm=options.algorithm)
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        small, large = make(_SMALL, folder / "small"), make(options.nodes, folder / "large")
        timed(small, folder / "small-here", build_here, evaluate_here, plan)
        here = timed(large, folder / "here", build_here, evaluate_here, plan)
        begin = perf_counter()
        with spark_session() as session:

            def build(dataset: Path, out: Path, plan: BuildPlan) -> None:
                manifest = build_on_spark(session, dataset, out, plan)
                print({name: round(seconds, 1) for name, seconds in manifest["seconds"].items()})

            def evaluate(overlay: Path, progress: StageTimer) -> mw.Evaluation:
                return evaluate_on_spark(session, overlay, progress=progress)

            timed(small, folder / "small-spark", build, evaluate, plan)
            started = perf_counter() - begin
            spark = timed(large, folder / "spark", build, evaluate, plan)
        for engine, (built, evaluated, _, stages) in (("here", here), ("spark", spark)):
            shown = ", ".join(f"{name} {seconds:.1f}" for name, seconds in stages.items())
            print(f"{engine:6} build {built:6.1f} s, evaluate {evaluated:6.1f} s ({shown})")
        edges = [mw.Overlay.read(folder / engine).edges for engine in ("here", "spark")]
        same = np.array_equal(*edges) and here[2].to_json() == spark[2].to_json()
        print(
            f"start of the session {started:.1f} s; beyond it Spark takes "
            f"{sum(spark[:2]) / sum(here[:2]) - 1:+.0%}; same overlay and numbers: {same}"
        )
    if not same:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
