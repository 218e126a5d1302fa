"""What divide and conquer takes at 100,000 nodes, against Greedy Merge at 20,000.

    python -m benchmarks.large [--nodes 20000 100000]

Interests: unif, 1,000 topics, 10 to 150 subscriptions by a power law. Every build runs in a process of its
own; times are the best of three, memory is the peak that building adds to what the process had before. How
time grows is told in seconds of the processors, since those of the clock depend on what else runs.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import meshwright as mw

_TIMES = 3
_OPTIONS: dict[str, dict[str, int]] = {
    "dc": {"part_size": 2_000},
    "dcbc": {"bulk_limit": 2_000, "part_size": 2_000},
    "dcbc-direct": {},
}


def make(nodes: int) -> mw.Interests:
    """The workload of one size."""
    return mw.workloads.unif(nodes, 1_000, min_subscriptions=10, max_subscriptions=150, seed=1)


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure(name: str, nodes: int) -> dict[str, Any]:
    """Seconds, bytes and degrees of one build, in this process; the seconds of the stages are the last's."""
    mw.build(mw.workloads.unif(50, 10, subscriptions=3), name)
    interests = make(nodes)
    before = _peak_bytes()
    seconds, busy = [], []
    for _ in range(_TIMES):
        begin, begin_busy = perf_counter(), process_time()
        overlay = mw.build(interests, name, **_OPTIONS.get(name, {}))
        seconds.append(perf_counter() - begin)
        busy.append(process_time() - begin_busy)
    return {
        "seconds": min(seconds),
        "busy": min(busy),
        "stages": overlay.facts["seconds"],
        "grown_bytes": _peak_bytes() - before,
        "average_degree": 2 * len(overlay) / nodes,
        "maximum_degree": int(overlay.degrees().max()),
    }


def measure_reading(nodes: int) -> dict[str, float]:
    """Seconds of reading the interests from a dataset that was just written."""
    with tempfile.TemporaryDirectory() as folder:
        make(nodes).write(Path(folder) / "interests")
        seconds = []
        for _ in range(_TIMES):
            begin = perf_counter()
            mw.Interests.read(Path(folder) / "interests")
            seconds.append(perf_counter() - begin)
    return {"seconds": min(seconds)}


def in_own_process(name: str, nodes: int) -> dict[str, Any]:
    """What `measure` says when nothing ran before it."""
    words = [sys.executable, "-m", "benchmarks.large", "--one", name, "--nodes", str(nodes)]
    row: dict[str, Any] = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return row


def show(name: str, nodes: int) -> dict[str, Any]:
    """Measure a build and print its line."""
    row = in_own_process(name, nodes)
    print(
        f"{name:12} {nodes:8,} {row['seconds']:8.2f} {row['busy']:8.2f} {1e6 * row['busy'] / nodes:10.1f} "
        f"{row['grown_bytes'] / 1e6:7,.0f} {row['average_degree']:8.2f} {row['maximum_degree']:8,}",
        flush=True,
    )
    return row


def main() -> None:
    """Print a line for each build, and the ratios."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, nargs="+", default=[20_000, 100_000])
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    small, large = options.nodes[0], options.nodes[-1]
    if options.one:
        run = measure_reading(small) if options.one == "reading" else measure(options.one, small)
        print(json.dumps(run))
        return
    heads = (
        ("nodes", 8),
        ("seconds", 8),
        ("busy", 8),
        ("us a node", 10),
        ("MB", 7),
        ("degree", 8),
        ("maximum", 8),
    )
    print(" ".join([f"{'algorithm':12}", *(f"{head:>{width}}" for head, width in heads)]))
    gm = show("gm", small)
    rows = {(name, nodes): show(name, nodes) for name in _OPTIONS for nodes in options.nodes}
    for name in _OPTIONS:
        growth = rows[name, large]["busy"] / rows[name, small]["busy"] / (large / small)
        times = rows[name, large]["seconds"] / gm["seconds"]
        print(
            f"{name}: time per node grows {growth:.2f} times from {small:,} to {large:,} nodes; "
            f"{large:,} nodes take {times:.2f} times as long as gm with {small:,}"
        )
    reading = in_own_process("reading", large)["seconds"]
    direct = rows["dcbc-direct", large]["seconds"]
    print(
        f"dcbc-direct takes {direct / reading:.1f} times as long as reading the interests ({reading:.2f} s):"
    )
    for stage, seconds in rows["dcbc-direct", large]["stages"].items():
        print(f"  {stage}: {seconds:.2f} s")


if __name__ == "__main__":
    main()
