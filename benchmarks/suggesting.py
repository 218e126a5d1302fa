"""Is what `suggest` says right? On workloads that were not used to make it, at every objective.

    python -m benchmarks.suggesting [--nodes 2000] [--objective links]

`suggest` tries 800 of the nodes. Then every algorithm is built on all of them. It is right if what it says is
the best, or within 5% of the best, by its objective. The workloads were settled before the first run.
"""

import argparse
import json
from collections.abc import Callable, Iterator

import numpy as np

import meshwright as mw
from meshwright.suggesting import OBJECTIVES

_WITHIN = 0.05


def workloads(nodes: int) -> Iterator[tuple[str, mw.Interests, mw.Costs | None]]:
    """Twenty: three laws, few and many topics, equal and unequal sizes, the grid, and links that cost."""
    laws: dict[str, Callable[..., mw.Interests]] = {
        "unif": mw.workloads.unif,
        "zipf": mw.workloads.zipf,
        "expo": mw.workloads.expo,
    }
    for name, law in laws.items():
        for topics, sizes in (
            (100, {"subscriptions": 8}),
            (300, {"subscriptions": 25}),
            (300, {"min_subscriptions": 5, "max_subscriptions": 100}),
            (1_000, {"min_subscriptions": 10, "max_subscriptions": 60}),
            (1_000, {"subscriptions": 40, "independent": True}),
        ):
            told = ", ".join(f"{key}={value}" for key, value in sizes.items())
            yield f"{name} x {topics}, {told}", law(nodes, topics, seed=11, **sizes), None
    yield "grid x 64", mw.workloads.grid(nodes, 64, seed=11), None
    yield "grid x 64, wide", mw.workloads.grid(nodes, 64, min_radius=1.2, seed=11), None
    for name, law in laws.items():
        interests = law(nodes, 200, subscriptions=12, seed=12)
        yield f"{name} x 200 on a plane, with costs", interests, plane(interests)


def plane(interests: mw.Interests) -> mw.Costs:
    """Nodes at random places; a link costs the distance, and a little for itself."""
    places = np.random.default_rng(12).random((interests.node_count, 2))
    distances = np.linalg.norm(places[:, None] - places[None], axis=2)
    return mw.Costs.from_matrix(100 * distances + np.where(np.eye(len(places)), 0, 1))


def main() -> None:
    """Print a line for each workload and objective, and how many are right."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=2_000)
    parser.add_argument("--objective", choices=OBJECTIVES, nargs="+", default=list(OBJECTIVES))
    options = parser.parse_args()
    right: dict[str, list[bool]] = {objective: [] for objective in options.objective}
    for name, interests, costs in workloads(options.nodes):
        overlays: dict[str, mw.Overlay] = {}
        for objective in options.objective:
            said = mw.suggest(interests, objective=objective, costs=costs)
            tried = [own.algorithm for own in said.candidates if own.value is not None]
            for algorithm in tried:
                if algorithm not in overlays:
                    overlays[algorithm] = mw.build(interests, algorithm, costs=costs)
            values = {each: OBJECTIVES[objective].value(overlays[each], 0) for each in tried}
            best = min(values, key=lambda each: values[each])
            right[objective].append(values[said.algorithm] <= (1 + _WITHIN) * values[best])
            more = values[said.algorithm] / values[best] - 1 if values[best] else 0.0
            verdict = "right" if right[objective][-1] else "WRONG"
            told = f"says {said.algorithm}, {100 * more:.1f}% above the best, {best}"
            print(f"{verdict} {name}, {objective}: {told}", flush=True)
    print(json.dumps({objective: f"{sum(own)} of {len(own)}" for objective, own in right.items()}))


if __name__ == "__main__":
    main()
