"""What do the algorithms for links that cost take, beside Greedy Merge, and what do their links cost?

    python -m benchmarks.weighted [--workload 1000x200 …] [--costs sites] [--algorithm gm …] [--times 3]
    python -m benchmarks.weighted --growth [--nodes 1000 …] [--topics 100 …]

A workload is nodes x topics, unif: 20 to 100 subscriptions a node by a power law as in the paper's IX-B, and
10 to 150 from 1,000 topics on. `sites` are 242 random places in a square with nodes at random among them: a
link costs 1 and up to 283 more by distance. In `clusters` of 100 nodes it costs 1, between them 10; `equal`
are all 1. Every algorithm runs in a process of its own on the same interests and costs. Seconds are the best
of some runs, and so are the processor's, which other work on the machine disturbs less; MB is the peak of the
process and, before it, what building adds to what it had. `cost` and `bound` are those of all links, divided
by half the nodes. At the end come the ratios that were promised. With `growth`, the same for rising numbers
of nodes with 1,000 topics and of topics with 5,000 nodes, and a line for how time grows.
"""

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from math import log
from time import perf_counter, process_time
from typing import Any

import numpy as np

import meshwright as mw
from meshwright.construct.greedy import greedy_merge
from meshwright.construct.options import DcMawOptions, GmOptions, GrMawOptions, PdMawOptions, TrMawOptions
from meshwright.construct.weighted.by_price import primal_dual, primal_dual_reverse_delete, weighted_greedy
from meshwright.construct.weighted.dc_maw import weighted_divide_and_conquer
from meshwright.construct.weighted.tr_maw import tree_per_topic
from meshwright.model.costs.costs import Costs
from meshwright.model.edges import Built

_SITES = 242
_MANY_TOPICS = 1_000
_NODES_OF_TOPICS = 5_000
_WORKLOADS = ("1000x200", "10000x1000")
_PROMISES = (
    ("1000x200", "pd-maw", "gr-maw", 3),
    ("1000x200", "pdrd-maw", "pd-maw", 2),
    ("10000x1000", "gr-maw", "gm", 10),
)
"""(workload, algorithm, beside which other, at most how many times its time)."""
_GROWING = ("gm", "gr-maw", "pd-maw", "pdrd-maw", "dc-maw")

Row = dict[str, Any]

_ALGORITHMS: dict[str, Callable[[mw.Interests, Costs], Built]] = {
    "gm": lambda interests, costs: greedy_merge(interests, None, GmOptions(), 0, None),
    "tr-maw": lambda interests, costs: tree_per_topic(interests, costs, TrMawOptions(), 0, None),
    "gr-maw": lambda interests, costs: weighted_greedy(interests, costs, GrMawOptions(), 0, None),
    "pd-maw": lambda interests, costs: primal_dual(interests, costs, PdMawOptions(), 0, None),
    "pdrd-maw": lambda interests, costs: primal_dual_reverse_delete(
        interests, costs, PdMawOptions(), 0, None
    ),
    "dc-maw": lambda interests, costs: weighted_divide_and_conquer(interests, costs, DcMawOptions(), 0, None),
}


def on_sites(interests: mw.Interests) -> Costs:
    """Nodes at random on random places."""
    random = np.random.default_rng(7)
    points = random.random((_SITES, 2))
    distances = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    names = [f"s{site}" for site in range(_SITES)]
    where = random.integers(0, _SITES, interests.node_count)
    site_of = {node: names[site] for node, site in zip(interests.nodes.to_pylist(), where, strict=True)}
    return Costs.sites(Costs.from_matrix(1 + 200 * distances, names), site_of, local=1.0)


def in_clusters(interests: mw.Interests, size: int = 100, outer: float = 10.0) -> Costs:
    """Clusters of so many nodes, at random ([2], IX-G)."""
    order = np.random.default_rng(7).permutation(interests.node_count) // size
    cluster_of = {node: f"c{at}" for node, at in zip(interests.nodes.to_pylist(), order, strict=True)}
    return Costs.clusters(cluster_of, inner=1.0, outer=outer)


_COSTS: dict[str, Callable[[mw.Interests], Costs]] = {
    "sites": on_sites,
    "clusters": in_clusters,
    "equal": lambda interests: in_clusters(interests, outer=1.0),
}


def measure(workload: str, kind: str, algorithm: str, times: int) -> Row:
    """Seconds, bytes and costs of one algorithm, in this process."""
    build = _ALGORITHMS[algorithm]
    tiny = mw.workloads.unif(50, 10, subscriptions=3)
    build(tiny, _COSTS[kind](tiny))
    nodes, topics = map(int, workload.split("x"))
    least, most = (10, 150) if topics >= _MANY_TOPICS else (20, 100)
    interests = mw.workloads.unif(nodes, topics, min_subscriptions=least, max_subscriptions=most, seed=1)
    costs = _COSTS[kind](interests).of(interests)
    before = _peak_bytes()
    clocks, processors = [], []
    for _ in range(times):
        clock, processor = perf_counter(), process_time()
        built = build(interests, costs)
        clocks.append(perf_counter() - clock)
        processors.append(process_time() - processor)
    edges = np.asarray(built.edges)
    return {
        "workload": workload,
        "algorithm": algorithm,
        "seconds": min(clocks),
        "processor": min(processors),
        "added": _peak_bytes() - before,
        "peak": _peak_bytes(),
        "cost": float(costs.between(edges[:, 0], edges[:, 1]).sum()) * 2 / nodes,
        "degree": len(edges) * 2 / nodes,
        "bound": built.facts.get("lower_bound_cost", 0.0) * 2 / nodes,
    }


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def run(workload: str, kind: str, algorithm: str, times: int) -> Row:
    """`measure` in a process of its own."""
    words = ["--one", "--workload", workload, "--costs", kind, "--algorithm", algorithm]
    words += ["--times", str(times)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.weighted", *words], check=True, stdout=subprocess.PIPE
    )
    row: Row = json.loads(done.stdout)
    return row


def table(workloads: Iterable[str], algorithms: Iterable[str], kind: str, times: int) -> Iterator[Row]:
    """Print a line for each workload and algorithm, and give what was measured."""
    heads = ("s", 8), ("cpu s", 8), ("MB", 6), ("peak", 6), ("degree", 7), ("cost", 8), ("bound", 7)
    print(f"{'workload':<11} {'algorithm':<9}", *(f"{head:>{width}}" for head, width in heads))
    names = list(algorithms)
    for workload in workloads:
        for algorithm in names:
            row = run(workload, kind, algorithm, times)
            print(
                f"{workload:<11} {algorithm:<9} {row['seconds']:8.3f} {row['processor']:8.3f} "
                f"{row['added'] / 1e6:6.0f} {row['peak'] / 1e6:6.0f} {row['degree']:7.2f} "
                f"{row['cost']:8.2f} {row['bound']:7.2f}",
                flush=True,
            )
            yield row


def print_promises(rows: list[Row]) -> None:
    """Print the ratios that were promised, of what was measured."""
    found = {(row["workload"], row["algorithm"]): row for row in rows}
    for workload, algorithm, other, most in _PROMISES:
        ours, theirs = found.get((workload, algorithm)), found.get((workload, other))
        if ours and theirs:
            clock, processor = (ours[key] / theirs[key] for key in ("seconds", "processor"))
            print(
                f"{algorithm} / {other} at {workload}: {clock:.2f}, of processor time {processor:.2f} "
                f"(at most {most})"
            )


def print_growth(rows: list[Row], axis: int, name: str) -> None:
    """Print by which power of the number of nodes (axis 0) or topics (1) processor time grows."""
    for algorithm in dict.fromkeys(row["algorithm"] for row in rows):
        own = [row for row in rows if row["algorithm"] == algorithm]
        sizes = [int(row["workload"].split("x")[axis]) for row in own]
        rises = [log(after["processor"] / before["processor"]) for before, after in pairwise(own)]
        powers = [rise / log(more / less) for rise, (less, more) in zip(rises, pairwise(sizes), strict=True)]
        print(f"{algorithm}: time as {name} to the power of", ", ".join(f"{power:.2f}" for power in powers))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workload", nargs="+", default=list(_WORKLOADS))
    parser.add_argument("--costs", choices=_COSTS, default="sites")
    parser.add_argument("--algorithm", nargs="+", choices=_ALGORITHMS)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--nodes", type=int, nargs="*", default=[1_000, 2_000, 5_000, 10_000, 20_000])
    parser.add_argument("--topics", type=int, nargs="*", default=[100, 200, 400, 800])
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    kind, times = options.costs, options.times
    if options.one:
        print(json.dumps(measure(options.workload[0], kind, options.algorithm[0], times)))
    elif options.growth:
        names = options.algorithm or _GROWING
        by_nodes = [f"{nodes}x{_MANY_TOPICS}" for nodes in options.nodes]
        print_growth(list(table(by_nodes, names, kind, times)), 0, "nodes")
        by_topics = [f"{_NODES_OF_TOPICS}x{topics}" for topics in options.topics]
        print_growth(list(table(by_topics, names, kind, times)), 1, "topics")
    else:
        print_promises(list(table(options.workload, options.algorithm or _ALGORITHMS, kind, times)))


if __name__ == "__main__":
    main()
