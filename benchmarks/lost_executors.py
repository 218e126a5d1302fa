"""Lose an executor in the middle of `meshwright run` on a standalone cluster, again and again.

    python -m benchmarks.lost_executors [--runs N] [--nodes N] [--executors N] [--seed N]

The cluster is real: a master, a worker and executors of one core each on this machine. Each run has another
seed. The first task that has finished a part kills its executor, so the part is lost. The overlay must be
that of a build in this process, edge for edge, and the report must be there.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import meshwright as mw
from tests.spark.cluster import standalone_cluster
from tests.spark.lost_executor import run_with_a_lost_executor


def one_run(master: str, folder: Path, nodes: int, seed: int) -> str:
    """Run once; what is wrong with it, or nothing."""
    interests = mw.workloads.unif(nodes, 40, min_subscriptions=5, max_subscriptions=15, seed=seed)
    table, out = folder / "subscriptions.csv", folder / "out"
    interests.to_pandas().to_csv(table, index=False)
    words = ["run", table, "--as", "pairs", "--algorithm", "dc", "--seed", seed, "--set", "partitions=4"]
    code, said, lost = run_with_a_lost_executor(master, folder, *words, "--out", out)
    if code or said or not lost:
        return f"exit code {code}, an executor lost: {lost}, {said}"
    expected = mw.build(interests, "dc", seed=seed, partitions=4)
    if not np.array_equal(mw.Overlay.read(out / "overlay").edges, expected.edges):
        return "another overlay"
    return "" if (out / "report.html").is_file() else "no report"


def main() -> None:
    """Run, lose, compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, default in {"runs": 3, "nodes": 300, "executors": 2, "seed": 3}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as name, standalone_cluster(Path(name), asked.executors) as master:
        for seed in range(asked.seed, asked.seed + asked.runs):
            folder = Path(name) / str(seed)
            folder.mkdir()
            begin = time.perf_counter()
            found = one_run(master, folder, asked.nodes, seed)
            wrong += bool(found)
            print(
                f"seed {seed}: {time.perf_counter() - begin:.0f} s, {found or 'the same overlay'}", flush=True
            )
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
