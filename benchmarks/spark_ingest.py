"""What ingest takes: seconds by stage, of the clock and of the processors, and the peak memory.

    python -m benchmarks.spark_ingest [--nodes 1000000] [--topics 1000]
    python -m benchmarks.spark_ingest twitter.txt.gz --as follows

Without files, interests are made up (unif, 10 to 150 subscriptions by a power law) and written as Parquet
pairs beforehand. Memory is that of Java and of all Pythons: the sum of proportional set sizes, at its peak.
"""

import argparse
import shutil
import tempfile
from pathlib import Path
from time import perf_counter

import meshwright as mw
from benchmarks.processes import Stopwatch, watched_memory
from meshwright.model.reading.columns import split
from meshwright.pipeline.ingest.job import ingest
from meshwright.pipeline.ingest.options import IngestOptions
from meshwright.pipeline.spark.session import spark_session


def measure(inputs: list[str], options: IngestOptions, folder: Path, memory: str) -> None:
    """Ingest and print the table."""
    begin = perf_counter()
    with spark_session(None, {"spark.driver.memory": memory}) as session:
        session.range(10).count()
        print(f"{'starting Spark':16} {perf_counter() - begin:8.1f}")
        watch = Stopwatch()
        with watched_memory() as peak:
            manifest = ingest(session, inputs, folder / "out", options, progress=watch)
    stages = [*watch.stages, ("together", *(sum(stage[at] for stage in watch.stages) for at in (1, 2)))]
    print(f"{'stage':16} {'seconds':>8} {'busy':>8}")
    for label, clock, busy in stages:
        print(f"{label:16} {clock:8.1f} {busy:8.1f}")
    print(f"peak memory {peak.total / 2**30:.2f} GiB, of Java {peak.java / 2**30:.2f} GiB")
    rows = manifest["facts"]["rows"]
    print(f"{rows:,} rows, {manifest['counts']}, {rows / stages[-1][1] / 1e6:.2f} million rows per second")


def main() -> None:
    """Measure the files given, or a workload that is made up."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*")
    parser.add_argument("--as", dest="relation", default="pairs")
    parser.add_argument("--columns")
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--topics", type=int, default=1_000)
    parser.add_argument("--memory", default="2g", help="of Java")
    parser.add_argument("--scratch", type=Path, help="a folder to work in")
    given = parser.parse_args()
    columns = tuple(split(given.columns)) if given.columns else None
    folder = Path(tempfile.mkdtemp(prefix="ingest-", dir=given.scratch))
    try:
        inputs = given.files or [_made_up(given.nodes, given.topics, folder)]
        measure(inputs, IngestOptions(relation=given.relation, columns=columns), folder, given.memory)
    finally:
        shutil.rmtree(folder)


def _made_up(nodes: int, topics: int, folder: Path) -> str:
    interests = mw.workloads.unif(nodes, topics, min_subscriptions=10, max_subscriptions=150, seed=1)
    interests.write(folder / "made-up")
    return str(folder / "made-up" / "interests")


if __name__ == "__main__":
    main()
