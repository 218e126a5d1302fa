"""How much cheaper is dg-maw than the better of gr-maw and pdrd-maw, on round-trip times between cities?

    python -m benchmarks.weighted_dual CITIES.csv[.gz] [--workload NAME …] [--seeds 3]

CITIES is a matrix of round-trip times; missing ones are filled by the cheapest path. Nodes are in cities at
random, and a link inside a city costs 1. Costs are those of all links, divided by half the nodes, as means
over the seeds of the algorithms; `saved` is how much less dg-maw costs than the cheaper of the other two, at
each seed. Bounds are those of pd-maw and dg-maw, and `tight`, which `evaluate --bound tight` proves; `above`
is how far dg-maw is above the last. Seconds are the processor's.
"""

import argparse
from collections.abc import Callable
from time import process_time

import numpy as np

import meshwright as mw

_LOCAL = 1.0
_WORKLOADS: dict[str, Callable[[], mw.Interests]] = {
    "unif 400 x 60": lambda: mw.workloads.unif(400, 60, subscriptions=12, seed=1),
    "zipf 400 x 200": lambda: mw.workloads.zipf(400, 200, subscriptions=15, seed=1),
    "expo 400 x 200": lambda: mw.workloads.expo(400, 200, subscriptions=15, seed=1),
    "unif 1,000 x 100": lambda: mw.workloads.unif(1_000, 100, subscriptions=20, seed=1),
    "unif 1,000 x 200": lambda: mw.workloads.unif(1_000, 200, seed=1),
    "zipf 1,000 x 200": lambda: mw.workloads.zipf(1_000, 200, seed=1),
    "expo 1,000 x 200": lambda: mw.workloads.expo(1_000, 200, seed=1),
}


def in_cities(interests: mw.Interests, path: str) -> mw.Costs:
    """Nodes at random in cities."""
    cities = mw.Costs.from_csv(path, missing="path")
    names = cities.nodes.to_pylist()
    where = np.random.default_rng(7).integers(0, len(names), interests.node_count)
    site_of = {node: names[city] for node, city in zip(interests.nodes.to_pylist(), where, strict=True)}
    return mw.Costs.sites(cities, site_of, local=_LOCAL)


def measured(interests: mw.Interests, costs: mw.Costs, name: str, seed: int) -> tuple[float, float, float]:
    """Cost, seconds and lower bound of one build."""
    begin = process_time()
    built = mw.build(interests, name, costs=costs, seed=seed)
    seconds = process_time() - begin
    assert built.costs is not None
    each = 2 / interests.node_count
    return each * float(built.costs.sum()), seconds, each * float(built.facts.get("lower_bound_cost", 0.0))


def show(name: str, path: str, seeds: int) -> None:
    """One line of the table."""
    interests = _WORKLOADS[name]()
    costs = in_cities(interests, path)
    gr, pdrd, dg = (
        np.array([measured(interests, costs, algorithm, seed) for seed in range(seeds)])
        for algorithm in ("gr-maw", "pdrd-maw", "dg-maw")
    )
    saved = 1 - dg[:, 0] / np.minimum(gr[:, 0], pdrd[:, 0])
    overlay = mw.build(interests, "dg-maw", costs=costs, budget=1)
    begin = process_time()
    tight = mw.evaluate(overlay, diameters=False, bound="tight").lower_bound_weighted_average_degree or 0.0
    seconds = process_time() - begin
    above = dg[:, 0] / tight - 1
    print(
        f"| {name} | {gr[:, 0].mean():.1f} | {pdrd[:, 0].mean():.1f} | {dg[:, 0].mean():.1f} | "
        f"{saved.mean():.1%} | {saved.min():.1%} | {pdrd[:, 2].mean():.1f} | {dg[:, 2].mean():.1f} | "
        f"{tight:.1f} | {above.mean():.1%} | {gr[:, 1].mean():.1f} | {dg[:, 1].mean():.1f} | {seconds:.1f} |",
        flush=True,
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cities")
    parser.add_argument("--workload", action="append", choices=_WORKLOADS)
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    tiny = mw.workloads.unif(50, 10, subscriptions=4, seed=1)
    measured(tiny, in_cities(tiny, given.cities), "dg-maw", 0)
    mw.evaluate(mw.build(tiny, "pdrd-maw", costs=in_cities(tiny, given.cities)), bound="tight")
    print("| workload | gr-maw | pdrd-maw | dg-maw | saved | least | bound of pd-maw | of dg-maw | tight "
          "| above | gr s | dg s | tight s |")  # fmt: skip
    print("|" + " --- |" * 13)
    for name in given.workload or list(_WORKLOADS):
        show(name, given.cities, given.seeds)


if __name__ == "__main__":
    main()
