"""What costs themselves cost, and what becomes of measured matrices.

    python -m benchmarks.costs [--nodes 4000] [--matrix FILE …] [--places FILE]

For every form the nanoseconds of processor time that a kernel pays a pair, over pairs in order of their ids
and over random ones, and the bytes held. Then, for each matrix of round-trip times given, how long it takes
to read, what was done to it, and the mean by which it is normalised; with a table of places
(`city, Lat, Long`), how well distances on the globe explain the times of the last matrix.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
from numba import njit

from meshwright.kernels.core.costs import CostArrays, cost_between
from meshwright.model.costs.costs import Costs
from meshwright.model.names import numbered
from meshwright.runtime.arrays import Floats, Ids
from meshwright.runtime.errors import InputError

SITES = 242
REPEATS = 3


@njit(cache=True, nogil=True)
def in_order(costs: CostArrays, nodes: int) -> float:
    """The greatest cost of all pairs, as a kernel that goes through candidates meets them."""
    greatest = 0.0
    for u in range(nodes):
        for v in range(u + 1, nodes):
            cost = cost_between(costs, u, v)
            greatest = max(greatest, cost)
    return greatest


@njit(cache=True, nogil=True)
def at_random(costs: CostArrays, sources: Ids, targets: Ids) -> float:
    """The greatest cost of some pairs."""
    greatest = 0.0
    for at in range(len(sources)):
        cost = cost_between(costs, sources[at], targets[at])
        greatest = max(greatest, cost)
    return greatest


def forms(nodes: int) -> dict[str, Costs]:
    """Costs of each form for the same nodes."""
    rng = np.random.default_rng(0)
    names = numbered("n", nodes).to_pylist()
    lat, lon = np.degrees(np.arcsin(rng.uniform(-1, 1, nodes))), rng.uniform(-180, 180, nodes)
    places = dict(zip(names, zip(lat, lon, strict=True), strict=True))
    where = dict(zip(names, (f"s{site}" for site in rng.integers(0, SITES, nodes)), strict=True))
    between = Costs.from_matrix(rng.uniform(1, 300, (SITES, SITES)), [f"s{site}" for site in range(SITES)])
    return {
        "clusters": Costs.clusters(where, inner=1, outer=10),
        f"{SITES} sites": Costs.sites(between, where, local=0.5),
        "matrix": Costs.from_matrix(rng.uniform(1, 300, (nodes, nodes)), names),
        "euclidean": Costs.coordinates(places, base=1, metric="euclidean"),
        "great-circle": Costs.coordinates(places, base=1),
    }


def best(work: Callable[[], object]) -> float:
    """The seconds of the quickest of some runs, after one that compiles."""
    work()
    seconds = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


def print_form(name: str, costs: Costs) -> None:
    """Print a line for one form."""
    arrays, nodes = costs.arrays(), costs.node_count
    rng = np.random.default_rng(1)
    sources = rng.integers(0, nodes, 2_000_000, np.int32)
    targets = (sources + rng.integers(1, nodes, len(sources), np.int32)) % nodes
    steady = best(lambda: in_order(arrays, nodes)) / (nodes * (nodes - 1) / 2)
    jumping = best(lambda: at_random(arrays, sources, targets)) / len(sources)
    held = sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))
    print(f"{name:<14}{steady * 1e9:>9.2f}{jumping * 1e9:>9.2f}{held / 1e6:>12.3f}")


def print_matrix(path: str) -> Costs:
    """Print what becomes of a file of measurements."""
    try:
        Costs.from_file(path)
    except InputError as error:
        print(f"\nas it stands: {error}")
    start = time.perf_counter()
    costs = Costs.from_file(path, missing="path")
    print(f"\n{path}: {costs}, read in {time.perf_counter() - start:.2f} s")
    for fact, value in costs.normalised().facts.items():
        print(f"  {fact}: {value}")
    return costs


def print_places(path: str, measured: Costs) -> None:
    """Print a least-squares line of times over distances, by which coordinates can stand in for times."""
    globe = Costs.coordinates(path, base=1e-9, node="city", columns=("Lat", "Long"))
    names = measured.nodes.to_pylist()
    known = globe.nodes.to_pylist()
    lost = sorted(set(names) - set(known))
    ids = {name: node for node, name in enumerate(known)}
    kept = [node for node, name in enumerate(names) if name in ids]
    u, v = (np.array(kept)[side] for side in np.triu_indices(len(kept), 1))
    there = np.array([ids.get(name, -1) for name in names])
    kilometres: Floats = globe.between(there[u], there[v])
    times: Floats = measured.between(u, v)
    factor, base = np.polyfit(kilometres, times, 1)
    share = np.corrcoef(kilometres, times)[0, 1] ** 2
    print(f"\n{path}: no place for {', '.join(lost) or 'none'}")
    print(f"  cost = {base:.1f} + {factor:.4f} a km explains {share:.0%} of the variance of {len(u):,} pairs")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--nodes", type=int, default=4_000)
    parser.add_argument("--matrix", nargs="*", default=[])
    parser.add_argument("--places")
    options = parser.parse_args()
    print(f"{options.nodes:,} nodes   ns per pair, in order and at random; megabytes")
    for name, costs in forms(options.nodes).items():
        print_form(name, costs)
    measured = [print_matrix(path) for path in options.matrix]
    if options.places and measured:
        print_places(options.places, measured[-1])


if __name__ == "__main__":
    main()
