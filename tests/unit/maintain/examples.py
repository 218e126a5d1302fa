"""Overlays, events, and what maintainers look like."""

import numpy as np

import meshwright as mw
from tests import oracles


def overlay_of(
    topics: dict[str, str], edges: list[str] | None = None, algorithm: str = "low-oda"
) -> mw.Overlay:
    interests = mw.Interests.from_pairs(
        [(node, topic) for node, own in topics.items() for topic in own], nodes=list(topics)
    )
    if edges is None:
        return mw.build(interests, algorithm)
    return mw.Overlay.from_edges(interests, [(edge[0], edge[1]) for edge in edges])


def links(live: mw.Maintainer) -> set[str]:
    names = live.overlay.interests.nodes.to_pylist()
    return {names[u] + names[v] for u, v in live.overlay.edges.tolist()}


def is_topic_connected(live: mw.Maintainer) -> bool:
    overlay = live.overlay
    topics_of = {
        at: set(overlay.interests.topics_of(name))
        for at, name in enumerate(overlay.interests.nodes.to_pylist())
    }
    return oracles.is_topic_connected(topics_of, overlay.edges.tolist())


def workload(nodes: int = 120, seed: int = 1) -> mw.Overlay:
    return mw.build(
        mw.workloads.unif(nodes, 20, min_subscriptions=2, max_subscriptions=9, seed=seed), "low-oda"
    )


def random_events(live: mw.Maintainer, count: int, seed: int) -> list[mw.Event]:
    """Events of all kinds, one after the other, for the nodes of `live`."""
    rng = np.random.default_rng(seed)
    names = live.overlay.interests.nodes.to_pylist()
    topics = [f"t{at:02}" for at in range(22)]
    events = []
    for at in range(count):
        own = rng.choice(topics, rng.integers(1, 6), replace=False).tolist()
        kind = ("join", "leave", "subscribe", "unsubscribe")[rng.integers(0, 4)]
        node = f"new{seed}-{at:03}" if kind == "join" else names[rng.integers(0, len(names))]
        if kind == "join":
            names.append(node)
        if kind == "leave":
            names.remove(node)
        events.append(mw.Event(at, kind, node, () if kind == "leave" else own, f"k{seed}-{at}"))
    return events
