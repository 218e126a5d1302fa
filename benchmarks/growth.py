"""How time and memory of Greedy Merge grow with the nodes, and what evaluating takes beside it.

    python -m benchmarks.growth [--out docs/images/gm-growth.svg] [--nodes 1000 2000 5000 10000 20000 50000]

Interests: unif, 1,000 topics, 10 to 150 subscriptions by a power law. Every size runs in a process of its
own; times are the best of three, memory is the peak that building adds to what the process had before.
"""

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import meshwright as mw

_TIMES = 3
_SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000)


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure(nodes: int) -> dict[str, float]:
    """Seconds and bytes at one size, in this process."""
    mw.evaluate(mw.build(mw.workloads.unif(50, 10, subscriptions=3), "gm"))
    interests = mw.workloads.unif(nodes, 1_000, min_subscriptions=10, max_subscriptions=150, seed=1)
    before = _peak_bytes()
    builds, evaluations = [], []
    for _ in range(_TIMES):
        begin = perf_counter()
        overlay = mw.build(interests, "gm")
        builds.append(perf_counter() - begin)
    grown = _peak_bytes() - before
    for _ in range(_TIMES):
        begin = perf_counter()
        found = mw.evaluate(overlay)
        evaluations.append(perf_counter() - begin)
    return {
        "nodes": nodes,
        "interests": len(interests),
        "build_seconds": min(builds),
        "evaluate_seconds": min(evaluations),
        "grown_bytes": grown,
        "estimated_bytes": overlay.facts["estimated_bytes"],
        "average_degree": found.average_degree,
        "lower_bound": found.lower_bound_average_degree or 0.0,
    }


def draw(rows: list[dict[str, float]], path: Path) -> None:
    """Plot the rows on double logarithmic axes, with what a square would be."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "meshwright"
    from matplotlib import pyplot as plt

    nodes = [row["nodes"] for row in rows]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    left.loglog(nodes, [row["build_seconds"] for row in rows], "o-", label="build, gm")
    left.loglog(nodes, [row["evaluate_seconds"] for row in rows], "s-", label="evaluate, exact diameters")
    last = rows[-1]
    square = [last["build_seconds"] * (n / last["nodes"]) ** 2 for n in nodes]
    left.loglog(nodes, square, ":", color="grey", label="the square of the nodes")
    left.set(title="seconds", xlabel="nodes")
    right.loglog(nodes, [row["grown_bytes"] / 1e6 for row in rows], "o-", label="measured")
    right.loglog(nodes, [row["estimated_bytes"] / 1e6 for row in rows], ":", color="grey", label="estimated")
    right.set(title="megabytes", xlabel="nodes")
    for axes in (left, right):
        axes.legend(frameon=False)
        axes.grid(alpha=0.3)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Print a line for each size and draw the plot."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, nargs="+", default=list(_SIZES))
    parser.add_argument("--out", type=Path, help="where to draw the plot, by its suffix")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one)))
        return
    heads = ("nodes", 7), ("build s", 8), ("evaluate s", 10), ("ratio", 6), ("MB", 6), ("estimate", 8)
    print(" ".join(f"{head:>{width}}" for head, width in (*heads, ("degree", 7), ("bound", 6))))
    rows = []
    for nodes in options.nodes:
        words = [sys.executable, "-m", "benchmarks.growth", "--one", str(nodes)]
        row = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
        rows.append(row)
        print(
            f"{nodes:7,} {row['build_seconds']:8.3f} {row['evaluate_seconds']:10.3f} "
            f"{row['evaluate_seconds'] / row['build_seconds']:6.2f} {row['grown_bytes'] / 1e6:6.0f} "
            f"{row['estimated_bytes'] / 1e6:8.0f} {row['average_degree']:7.2f} {row['lower_bound']:6.2f}",
            flush=True,
        )
    if options.out:
        draw(rows, options.out)


if __name__ == "__main__":
    main()
