"""Is what `suggest` says right? On workloads that were not used to make it, at every objective.

    python -m benchmarks.suggesting [--nodes 2000] [--objective links]

`suggest` tries 800 of the nodes. Then every algorithm is built on all of them. It is right if what it says is
the best, or within 5% of the best, by its objective. The workloads were settled before the first run on them.
"""

import argparse
import json
from collections.abc import Callable, Iterator

import networkx as nx
import numpy as np

import meshwright as mw
from meshwright.suggesting import OBJECTIVES

_WITHIN = 0.05


def workloads(nodes: int) -> Iterator[tuple[str, mw.Interests, mw.Costs | None]]:
    """Twenty: three laws, few and many topics, the grid, groups, friends, and links that cost."""
    laws: dict[str, Callable[..., mw.Interests]] = {
        "unif": mw.workloads.unif,
        "zipf": mw.workloads.zipf,
        "expo": mw.workloads.expo,
    }
    for name, law in laws.items():
        for topics, sizes in (
            (80, {"subscriptions": 5}),
            (250, {"min_subscriptions": 4, "max_subscriptions": 60}),
            (700, {"subscriptions": 20}),
            (1_500, {"min_subscriptions": 10, "max_subscriptions": 90}),
        ):
            told = ", ".join(f"{key}={value}" for key, value in sizes.items())
            yield f"{name} x {topics}, {told}", law(nodes, topics, seed=21, **sizes), None
    yield "grid x 36", mw.workloads.grid(nodes, 36, seed=21), None
    yield "grid x 100, wide", mw.workloads.grid(nodes, 100, min_radius=1.2, seed=21), None
    yield "groups of 40 topics, 12 each and 3 of any", _groups(nodes, 10, 40, 12, 3), None
    yield "groups of 25 topics, 4 each and 8 of any", _groups(nodes, 6, 25, 4, 8), None
    yield "friends, 8 for each newcomer", _friends(nodes, 8), None
    for name, law in laws.items():
        interests = law(nodes, 150, min_subscriptions=4, max_subscriptions=30, seed=22)
        yield f"{name} x 150 on a plane, with costs", interests, plane(interests)


def _groups(nodes: int, groups: int, topics: int, own: int, others: int) -> mw.Interests:
    """Nodes in groups, each with topics of its own: most of a node's topics are its group's."""
    random = np.random.default_rng(21)
    pairs = []
    for node in range(nodes):
        of_group = node % groups * topics + random.choice(topics, own, replace=False)
        drawn = {*of_group.tolist(), *random.choice(groups * topics, others, replace=False).tolist()}
        pairs += [(f"n{node:05}", f"t{topic:04}") for topic in drawn]
    return mw.Interests.from_pairs(pairs)


def _friends(nodes: int, new: int) -> mw.Interests:
    """Friends by preferential attachment: each node is a topic, to which its friends subscribe."""
    graph = nx.barabasi_albert_graph(nodes, new, seed=21)
    both = [*graph.edges, *((v, u) for u, v in graph.edges)]
    return mw.Interests.from_pairs([(f"n{u:05}", f"t{v:05}") for u, v in both])


def plane(interests: mw.Interests) -> mw.Costs:
    """Nodes at random places; a link costs the distance, and a little for itself."""
    places = np.random.default_rng(22).random((interests.node_count, 2))
    distances = np.linalg.norm(places[:, None] - places[None], axis=2)
    matrix = 100 * distances + np.where(np.eye(len(places)), 0, 1)
    return mw.Costs.from_matrix(matrix, interests.nodes.to_pylist())


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
