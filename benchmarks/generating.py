"""How long a million nodes take to generate, and how much memory: `python benchmarks/generating.py`.

Each workload runs in a process of its own, so that the peak is its own. Compiling the kernels is paid once
a machine and reported apart, as the seconds of a first tiny workload.
"""

import argparse
import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np

CASES: list[tuple[str, dict[str, Any]]] = [
    ("unif", {}),
    ("zipf", {}),
    ("expo", {}),
    ("unif", {"subscriptions": 28}),
    ("zipf", {"subscriptions": 150}),
    ("unif", {"subscriptions": 28, "independent": True}),
    ("expo", {"subscriptions": 28, "independent": True}),
    ("grid", {}),
]


def measure(name: str, nodes: int, topics: int, options: dict[str, Any]) -> dict[str, float]:
    """Generate one workload and return what it took and what it is like."""
    from meshwright import workloads

    make = getattr(workloads, name)
    start = time.perf_counter()
    make(10, 20, **{**options, **({"subscriptions": 5} if "subscriptions" in options else {})})
    warm = time.perf_counter()
    interests = make(nodes, topics, **options, seed=1)
    done = time.perf_counter()
    peak = _peak_mib()
    popularity = np.bincount(interests.topic_ids, minlength=topics)
    return {
        "first": warm - start,
        "seconds": done - warm,
        "peak": peak,
        "interests": len(interests),
        "greatest": popularity.max() / max(nodes, 1),
        "median": float(np.median(popularity)),
    }


def _peak_mib() -> float:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def main() -> None:
    """Print a line a workload."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--topics", type=int, default=10_000)
    arguments = parser.parse_args()
    print(f"{arguments.nodes:,} nodes, {arguments.topics:,} topics; sizes 10 to 150 unless stated")
    print(
        f"{'workload':<46}{'first s':>8}{'seconds':>9}{'peak MiB':>10}{'interests':>13}{'a node':>8}"
        f"{'top topic':>11}{'median':>8}"
    )
    for name, options in CASES:
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            row = pool.submit(measure, name, arguments.nodes, arguments.topics, options).result()
        label = " ".join([name, *(f"{key}={value}" for key, value in options.items())])
        print(
            f"{label:<46}{row['first']:>8.1f}{row['seconds']:>9.2f}{row['peak']:>10,.0f}"
            f"{row['interests']:>13,}{row['interests'] / max(arguments.nodes, 1):>8.1f}"
            f"{row['greatest']:>11.1%}{row['median']:>8,.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
