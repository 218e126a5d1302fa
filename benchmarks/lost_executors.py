"""Lose an executor in the middle of `meshwright run` on a standalone cluster, again and again.

    python -m benchmarks.lost_executors [--runs N] [--nodes N] [--executors N] [--seed N]
    python -m benchmarks.lost_executors --large 1000000

The cluster is real: a master, a worker and executors of one core each on this machine. Each run has another
seed. The first task that has finished a part kills its executor, so the part is lost. The overlay must be
that of a build in this process, edge for edge, and the report must be there.

With `--large`, interests of that many nodes (unif, 1,000 topics, 10 to 150 subscriptions by a power law) are
built by `dcbc-direct` in this process, by Spark in local mode, and on the cluster, which loses an executor:
all three overlays must be the same, and so must all that evaluating them says.
"""

import argparse
import subprocess
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


def large_run(master: str, folder: Path, nodes: int, seed: int) -> str:
    """Build in three ways, once each; what differs, or nothing."""
    interests = mw.workloads.unif(nodes, 1_000, min_subscriptions=10, max_subscriptions=150, seed=seed)
    dataset, local, spread = (folder / name for name in ("interests", "local", "spread"))
    interests.write(dataset, names=False)
    words = ["build", dataset, "--algorithm", "dcbc-direct", "--seed", seed, "--engine", "spark"]
    command = [sys.executable, "-m", "meshwright", *map(str, words), "--out", str(local)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    code, said, lost = run_with_a_lost_executor(master, folder, *words, "--out", spread)
    if code or said or not lost:
        return f"exit code {code}, an executor lost: {lost}, {said}"
    here = mw.build(interests, "dcbc-direct", seed=seed)
    others = [mw.Overlay.read(place) for place in (local, spread)]
    if not all(np.array_equal(here.edges, other.edges) for other in others):
        return "another overlay"
    found = mw.evaluate(here).to_json()
    return "" if all(mw.evaluate(other).to_json() == found for other in others) else "other numbers"


def main() -> None:
    """Run, lose, compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, default in {"runs": 3, "nodes": 300, "executors": 2, "seed": 3}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument(
        "--large", type=int, metavar="NODES", help="build this many nodes in three ways, once"
    )
    asked = parser.parse_args()
    run, nodes, runs = one_run, asked.nodes, asked.runs
    if asked.large is not None:
        run, nodes, runs = large_run, asked.large, 1
    wrong = 0
    with tempfile.TemporaryDirectory() as name, standalone_cluster(Path(name), asked.executors) as master:
        for seed in range(asked.seed, asked.seed + runs):
            folder = Path(name) / str(seed)
            folder.mkdir()
            begin = time.perf_counter()
            found = run(master, folder, nodes, seed)
            wrong += bool(found)
            print(
                f"seed {seed}: {time.perf_counter() - begin:.0f} s, {found or 'the same overlay'}", flush=True
            )
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
