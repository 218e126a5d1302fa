"""Interests, costs and overlays that recordings are made of; small, and of several kinds."""

from functools import cache
from random import Random
from typing import Any

import numpy as np

import meshwright as mw


def _social(nodes: int, friends: int) -> mw.Interests:
    """A friendship graph that grows by preferential attachment: friends subscribe to each other."""
    chance = Random(7)
    ends = list(range(friends))
    pairs = set()
    for node in range(friends, nodes):
        for _ in range(friends):
            other = ends[int(chance.random() * len(ends))]
            pairs |= {(node, other), (other, node)}
            ends += [node, other]
    return mw.Interests.from_pairs([(f"u{u:03d}", f"u{v:03d}") for u, v in sorted(pairs) if u != v])


def _awkward() -> mw.Interests:
    """A hub, islands, clones, a topic of one, a topic and a node without the other, strange names."""
    topics_of = {
        "hub": "stuvwxyz",
        "alone": "",
        "ключ, 1": "ab",
        'say "hi"': "abc",
        "two\nlines": "b",
        "007": "q",
    }
    topics_of |= {f"leaf {topic}": topic for topic in "stuvwxyz"}
    topics_of |= {f"clone {at}": "klmno" for at in range(6)}
    pairs = [(node, topic) for node, own in topics_of.items() for topic in own]
    return mw.Interests.from_pairs(pairs, nodes=list(topics_of), topics=["nobody"])


_INTERESTS = {
    "unif": lambda: mw.workloads.unif(60, 12, subscriptions=4, seed=1),
    "zipf": lambda: mw.workloads.zipf(80, 30, min_subscriptions=2, max_subscriptions=12, seed=2),
    "expo": lambda: mw.workloads.expo(50, 20, min_subscriptions=3, max_subscriptions=9, seed=3),
    "social": lambda: _social(70, 3),
    "awkward": _awkward,
    "identical": lambda: mw.Interests.from_pairs([(f"n{at}", t) for at in range(9) for t in "uvwxyz"]),
}
NAMES = tuple(_INTERESTS)


@cache
def interests(name: str) -> mw.Interests:
    """The interests of that name."""
    return _INTERESTS[name]()


def matrix_costs(who: mw.Interests) -> mw.Costs:
    """A cost of its own for nearly every pair, in whole numbers."""
    ids = np.arange(who.node_count)
    u, v = np.minimum.outer(ids, ids), np.maximum.outer(ids, ids)
    return mw.Costs.from_matrix(1.0 + (u * v * 7 + u * 13 + v * 5) % 97, who.nodes.to_pylist())


def site_costs(who: mw.Interests) -> mw.Costs:
    """Three sites, with many equal costs."""
    between = mw.Costs.from_matrix([[0, 30, 80], [30, 0, 50], [80, 50, 0]], ["ams", "nyc", "syd"])
    site_of = {node: ("ams", "nyc", "syd")[at % 3] for at, node in enumerate(who.nodes.to_pylist())}
    return mw.Costs.sites(between, site_of, local={"ams": 1, "nyc": 2, "syd": 3})


def cluster_costs(who: mw.Interests) -> mw.Costs:
    """Four clusters."""
    names = who.nodes.to_pylist()
    return mw.Costs.clusters({node: str(at % 4) for at, node in enumerate(names)}, inner=1, outer=9)


def plane_costs(who: mw.Interests) -> mw.Costs:
    """Distances on a plane."""
    places = {node: (at % 8, at // 8) for at, node in enumerate(who.nodes.to_pylist())}
    return mw.Costs.coordinates(places, base=1, factor=2, metric="euclidean")


def build(who: mw.Interests, algorithm: str, **given: Any) -> mw.Overlay:
    """An overlay, with costs where the algorithm needs them."""
    if mw.algorithms()[algorithm].needs_costs and "costs" not in given:
        given["costs"] = matrix_costs(who)
    return mw.build(who, algorithm, **given)


def islands(count: int) -> list[mw.Interests]:
    """Interests without a common node and with common topics."""
    whole = list(mw.workloads.unif(60, 10, subscriptions=3, seed=4).to_pairs())
    return [
        mw.Interests.from_pairs([(f"{at}-{node}", topic) for node, topic in whole[at::count]])
        for at in range(count)
    ]
