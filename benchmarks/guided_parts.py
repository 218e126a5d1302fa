"""What do prices of topics, learned on a sample, save in algorithms that divide the nodes?

    python -m benchmarks.guided_parts [--nodes 20000] [--workload unif …] [--algorithm dcbc-direct …]

Interests: 1,000 topics, 10 to 150 subscriptions by a power law. Each build runs in a process of its own, with
`guide` none and dual, and, for dcbc-direct, with none and the bulk set that dual takes by default, which
tells the share of the larger bulk set from that of the search. Degrees are averages; `most` is the maximum
degree. Seconds are those of the processors, for building and for the proof that every topic is connected; GiB
is the peak of the process.
"""

import argparse
import json
import resource
import subprocess
import sys
from time import perf_counter, process_time
from typing import Any

import meshwright as mw

_OPTIONS: dict[str, dict[str, Any]] = {
    "dc": {"part_size": 2_000},
    "dcbc": {"bulk_limit": 2_000, "part_size": 2_000},
    "dcbc-direct": {},
}
_LARGER_BULK = {"bulk_size": 8_000}


def measure(workload: str, nodes: int, algorithm: str, options: dict[str, Any]) -> dict[str, Any]:
    """One build, in this process."""
    mw.build(mw.workloads.unif(50, 10, subscriptions=3), algorithm, guide=options["guide"])
    interests = getattr(mw.workloads, workload)(nodes, 1_000, seed=1)
    clock, begin = perf_counter(), process_time()
    overlay = mw.build(interests, algorithm, **options)
    built = process_time()
    connected = mw.evaluate(overlay, diameters=False).topic_connected
    if not connected:
        raise SystemExit(f"{algorithm} with {options}: not topic-connected")
    return {
        "edges": len(overlay),
        "most": int(overlay.degrees().max()),
        "build": built - begin,
        "proof": process_time() - built,
        "clock": perf_counter() - clock,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def show(workload: str, nodes: int, algorithm: str) -> None:
    """A line for each guide."""
    settings = [{"guide": "none"}, {"guide": "dual"}]
    if algorithm == "dcbc-direct":
        settings.insert(1, {"guide": "none"} | _LARGER_BULK)
    plain = 0
    for own in settings:
        options = _OPTIONS[algorithm] | own
        words = ["--one", json.dumps([workload, nodes, algorithm, options])]
        command = [sys.executable, "-m", "benchmarks.guided_parts", *words]
        row = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        plain = plain or row["edges"]
        told = ", ".join(f"{name}={value}" for name, value in own.items())
        print(
            f"| {workload} {nodes:,} | {algorithm} {told} | {2 * row['edges'] / nodes:.3f} | "
            f"{1 - row['edges'] / plain:.1%} | {row['most']:,} | {row['build']:.1f} | {row['proof']:.1f} | "
            f"{row['clock']:.0f} | {row['peak'] / 2**30:.1f} |",
            flush=True,
        )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--workload", action="append", choices=["unif", "zipf", "expo"])
    parser.add_argument("--algorithm", action="append", choices=list(_OPTIONS))
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(*json.loads(given.one))))
        return
    print("| workload | algorithm | degree | saved | most | build s | proof s | clock s | GiB |")
    print("|" + " --- |" * 9)
    for workload in given.workload or ["unif", "zipf", "expo"]:
        for algorithm in given.algorithm or list(_OPTIONS):
            show(workload, given.nodes, algorithm)


if __name__ == "__main__":
    main()
