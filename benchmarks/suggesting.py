"""Is what `suggest` says right? On workloads that were not used to make it, at every objective.

    python -m benchmarks.suggesting [--nodes 2000] [--objective links] [--only grid]

`suggest` tries 800 of the nodes. Then every algorithm is built on all of them. It is right if what it says is
the best, or within 5% of the best, by its objective. The workloads were settled before the first run on them.
Repairs are judged by all nodes, each of which leaves once and comes back, in an order of its own.
"""

import argparse
import json
from collections.abc import Callable, Iterator

import networkx as nx
import numpy as np

import meshwright as mw
from meshwright.suggesting import OBJECTIVES

_WITHIN = 0.05
_SEED = 100
"""Of the order in which nodes leave; `suggest` has seed 0."""


def value(objective: str, overlay: mw.Overlay) -> float:
    """What an overlay comes to by an objective."""
    return _repairs(overlay) if objective == "repairs" else OBJECTIVES[objective].value(overlay, _SEED)


def _repairs(overlay: mw.Overlay) -> float:
    """Links changed per event, if every node leaves and comes back."""
    interests, live = overlay.interests, mw.Maintainer(overlay, seed=_SEED)
    names = interests.nodes.to_pylist()
    np.random.default_rng(_SEED).shuffle(names)
    changes = 0
    for name in names:
        for repair in (live.leave(name), live.join(name, interests.topics_of(name))):
            changes += len(repair.added) + len(repair.removed)
    return changes / (2 * len(names))


def workloads(nodes: int) -> Iterator[tuple[str, mw.Interests, mw.Costs | None]]:
    """Twenty: three laws, few and many topics, the grid, groups, friends, and links that cost."""
    laws: dict[str, Callable[..., mw.Interests]] = {
        "unif": mw.workloads.unif,
        "zipf": mw.workloads.zipf,
        "expo": mw.workloads.expo,
    }
    for name, law in laws.items():
        for topics, sizes in (
            (60, {"subscriptions": 4}),
            (300, {"min_subscriptions": 5, "max_subscriptions": 50}),
            (500, {"subscriptions": 15}),
            (1_200, {"min_subscriptions": 8, "max_subscriptions": 120}),
        ):
            told = ", ".join(f"{key}={value}" for key, value in sizes.items())
            yield f"{name} x {topics}, {told}", law(nodes, topics, seed=31, **sizes), None
    yield "grid x 25", mw.workloads.grid(nodes, 25, seed=31), None
    yield "grid x 81, wide", mw.workloads.grid(nodes, 81, min_radius=1.2, seed=31), None
    yield "groups of 30 topics, 10 each and 4 of any", _groups(nodes, 8, 30, 10, 4), None
    yield "groups of 20 topics, 5 each and 6 of any", _groups(nodes, 12, 20, 5, 6), None
    yield "friends, 6 for each newcomer", _friends(nodes, 6), None
    for name, law in laws.items():
        interests = law(nodes, 120, min_subscriptions=3, max_subscriptions=25, seed=32)
        yield f"{name} x 120 on a plane, with costs", interests, plane(interests)


def _groups(nodes: int, groups: int, topics: int, own: int, others: int) -> mw.Interests:
    """Nodes in groups, each with topics of its own: most of a node's topics are its group's."""
    random = np.random.default_rng(31)
    pairs = []
    for node in range(nodes):
        of_group = node % groups * topics + random.choice(topics, own, replace=False)
        drawn = {*of_group.tolist(), *random.choice(groups * topics, others, replace=False).tolist()}
        pairs += [(f"n{node:05}", f"t{topic:04}") for topic in drawn]
    return mw.Interests.from_pairs(pairs)


def _friends(nodes: int, new: int) -> mw.Interests:
    """Friends by preferential attachment: each node is a topic, to which its friends subscribe."""
    graph = nx.barabasi_albert_graph(nodes, new, seed=31)
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
    parser.add_argument("--only", default="", help="the workloads that have this in their name")
    options = parser.parse_args()
    right: dict[str, list[bool]] = {objective: [] for objective in options.objective}
    for name, interests, costs in workloads(options.nodes):
        if options.only not in name:
            continue
        overlays: dict[str, mw.Overlay] = {}
        for objective in options.objective:
            said = mw.suggest(interests, objective=objective, costs=costs)
            tried = [own.algorithm for own in said.candidates if own.value is not None]
            for algorithm in tried:
                if algorithm not in overlays:
                    overlays[algorithm] = mw.build(interests, algorithm, costs=costs)
            values = {each: value(objective, overlays[each]) for each in tried}
            best = min(values, key=lambda each: values[each])
            right[objective].append(values[said.algorithm] <= (1 + _WITHIN) * values[best])
            more = values[said.algorithm] / values[best] - 1 if values[best] else 0.0
            verdict = "right" if right[objective][-1] else "WRONG"
            told = f"says {said.algorithm}, {100 * more:.1f}% above the best, {best}"
            print(f"{verdict} {name}, {objective}: {told}", flush=True)
    print(json.dumps({objective: f"{sum(own)} of {len(own)}" for objective, own in right.items()}))


if __name__ == "__main__":
    main()
