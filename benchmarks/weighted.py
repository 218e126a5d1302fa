"""What do the algorithms for links that cost take, beside Greedy Merge, and what do their links cost?

    python -m benchmarks.weighted [--workload 1000x200 …] [--costs sites] [--algorithm gm …] [--times 3]

A workload is nodes x topics, unif: with 200 topics 20 to 100 subscriptions a node as in the paper's IX-B,
with 1,000 topics 10 to 150. `sites` are 242 random places in a square with nodes at random among them: a link
costs 1 and up to 283 more by distance. In `clusters` of 100 nodes it costs 1, between them 10; `equal` are
all 1. Every algorithm runs in a process of its own on the same interests and costs. Seconds are the best of
some runs, the processor's beside them; MB is the peak that building adds. `cost` and `bound` are those of
all links, divided by half the nodes.
"""

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

import numpy as np

import meshwright as mw
from meshwright.construct.gm import greedy_merge
from meshwright.construct.options import GmOptions
from meshwright.construct.primal_dual import primal_dual, primal_dual_reverse_delete
from meshwright.construct.spanning_trees import tree_per_topic
from meshwright.construct.weighted_dc import weighted_divide_and_conquer
from meshwright.construct.weighted_greedy import weighted_greedy
from meshwright.construct.weighted_options import DcMawOptions, GrMawOptions, PdMawOptions, TrMawOptions
from meshwright.model.built import Built
from meshwright.model.costs import Costs

_SITES = 242
_SUBSCRIPTIONS = {200: (20, 100), 1000: (10, 150)}
_WORKLOADS = ("1000x200", "2000x200", "5000x1000", "10000x1000")
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


def measure(workload: str, kind: str, algorithm: str, times: int) -> dict[str, Any]:
    """Seconds, bytes and costs of one algorithm, in this process."""
    build = _ALGORITHMS[algorithm]
    tiny = mw.workloads.unif(50, 10, subscriptions=3)
    begin = perf_counter()
    build(tiny, _COSTS[kind](tiny))
    ready = perf_counter() - begin
    nodes, topics = map(int, workload.split("x"))
    least, most = _SUBSCRIPTIONS[topics]
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
        "ready": ready,
        "seconds": min(clocks),
        "processor": min(processors),
        "bytes": _peak_bytes() - before,
        "edges": len(edges),
        "cost": float(costs.between(edges[:, 0], edges[:, 1]).sum()) * 2 / nodes,
        "degree": len(edges) * 2 / nodes,
        "bound": built.facts.get("lower_bound_cost", 0.0) * 2 / nodes,
    }


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    """Print a table with a line for each workload and algorithm."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workload", nargs="+", default=list(_WORKLOADS))
    parser.add_argument("--costs", choices=_COSTS, default="sites")
    parser.add_argument("--algorithm", nargs="+", choices=_ALGORITHMS, default=list(_ALGORITHMS))
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.workload[0], options.costs, options.algorithm[0], options.times)))
        return
    heads = ("s", 7), ("cpu s", 7), ("MB", 6), ("degree", 7), ("cost", 8), ("bound", 7)
    print(f"{'workload':<11} {'algorithm':<9}", *(f"{head:>{width}}" for head, width in heads))
    for workload in options.workload:
        for algorithm in options.algorithm:
            words = ["--one", "--workload", workload, "--costs", options.costs, "--algorithm", algorithm]
            words += ["--times", str(options.times)]
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.weighted", *words], check=True, stdout=subprocess.PIPE
            )
            row = json.loads(done.stdout)
            print(
                f"{workload:<11} {algorithm:<9} {row['seconds']:7.3f} {row['processor']:7.3f} "
                f"{row['bytes'] / 1e6:6.0f} {row['degree']:7.2f} {row['cost']:8.2f} {row['bound']:7.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
