"""From raw rows to a report: seconds and peak memory by stage.

    python -m benchmarks.spark_run twitter.txt.gz --as follows [--algorithm dcbc-direct] [--spark-only]
    python -m benchmarks.spark_run --nodes 1000000 --engine local

Without files, interests are made up (unif, 1,000 topics, 10 to 150 subscriptions by a power law), and written
as Parquet pairs in random order beforehand. Spark runs in local mode; with `--engine local`, there is none.
Memory is the peak of all processes together, Java and Python, shared pages counted once. The run includes
whatever compiling and starting of workers it needs.
"""

import argparse
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path
from time import perf_counter

from benchmarks.processes import Peak, busy_seconds, watched_memory
from meshwright.pipeline.ingest.options import IngestOptions
from meshwright.pipeline.run import RunOptions, run
from meshwright.pipeline.spark.session import spark_session


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("inputs", nargs="*")
    parser.add_argument("--as", dest="relation", default="pairs")
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--engine", choices=("local", "spark"), default="spark")
    parser.add_argument("--scratch", type=Path, help="a folder to work in")
    parser.add_argument("--algorithm", default="dcbc-direct")
    parser.add_argument("--spark-only", action="store_true")
    given = parser.parse_args()
    options = RunOptions(ingest=IngestOptions(relation=given.relation), algorithm=given.algorithm)
    with tempfile.TemporaryDirectory(dir=given.scratch) as folder:
        if not given.inputs:
            subprocess.run(
                [sys.executable, "-m", "benchmarks.ingesting", "--rows-of", str(given.nodes), folder],
                check=True,
            )
            given.inputs = [f"{folder}/rows.parquet"]
        measure(given, options, Path(folder) / "out")


def measure(given: argparse.Namespace, options: RunOptions, out: Path) -> None:
    """Run, and print what each stage took."""
    begin = perf_counter()
    print(f"{'stage':16} {'seconds':>8} {'busy':>8} {'GiB':>6}")
    engine = spark_session() if given.engine == "spark" else nullcontext()
    with engine as session, watched_memory() as peak:
        print(f"{'starting Spark':16} {perf_counter() - begin:8.1f} {busy_seconds():8.1f}")
        seen = [busy_seconds()]

        def say(name: str, seconds: float, again: bool) -> None:
            del again
            seen.append(busy_seconds())
            print(f"{name:16} {seconds:8.1f} {seen[-1] - seen[-2]:8.1f} {_taken(peak):6.2f}", flush=True)

        manifest = run(session, given.inputs, out, options, spark_only=given.spark_only, on_stage=say)
        bytes_written = (out / "report.html").stat().st_size
    found = manifest["facts"]["evaluation"]
    print(
        f"{manifest['counts']}, topic-connected: {found['topic_connected']}, "
        f"average degree {found['average_degree']:.2f}, "
        f"lower bound {found['lower_bound_average_degree']:.2f}, "
        f"maximum topic diameter {found['maximum_topic_diameter']}, report of {bytes_written / 1e3:.0f} kB"
    )


def _taken(peak: Peak) -> float:
    """The peak since it was last asked for."""
    found = peak.total / 2**30
    peak.total = 0
    return found


if __name__ == "__main__":
    main()
