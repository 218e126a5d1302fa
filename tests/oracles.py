"""Independent, obviously right answers for small cases."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

import networkx as nx

Topics = Mapping[int, set[int]]
"""Of each node, its topics."""

Edge = tuple[int, int]


def topic_graph(topics_of: Topics, edges: Iterable[Edge], topic: int) -> nx.Graph:
    """The sub-overlay that a topic induces."""
    graph = nx.Graph()
    graph.add_nodes_from(node for node, topics in topics_of.items() if topic in topics)
    graph.add_edges_from((u, v) for u, v in edges if u in graph and v in graph)
    return graph


def components_by_topic(topics_of: Topics, edges: Iterable[Edge]) -> dict[int, int]:
    """Of each topic, how many components its sub-overlay has."""
    edges = list(edges)
    return {t: nx.number_connected_components(topic_graph(topics_of, edges, t)) for t in _every(topics_of)}


def is_topic_connected(topics_of: Topics, edges: Iterable[Edge]) -> bool:
    """Whether every topic's sub-overlay is connected."""
    return all(count <= 1 for count in components_by_topic(topics_of, edges).values())


def contributions(
    topics_of: Topics, edges: list[Edge], weights: Mapping[int, int] | None = None
) -> Iterator[tuple[Edge, int]]:
    """Of each pair of nodes, the weight of the components that its edge would remove.

    That is one in each topic which both have and in which they are in different components.
    """
    weights = weights or {}
    component_of = {t: _component_of(topic_graph(topics_of, edges, t)) for t in _every(topics_of)}
    for u, v in combinations(topics_of, 2):
        both = topics_of[u] & topics_of[v]
        yield (u, v), sum(weights.get(t, 1) for t in both if component_of[t][u] != component_of[t][v])


def _component_of(graph: nx.Graph) -> dict[int, int]:
    """Of each node, the number of its component."""
    return {node: k for k, nodes in enumerate(nx.connected_components(graph)) for node in nodes}


def _every(topics_of: Topics) -> set[int]:
    return set().union(*topics_of.values()) if topics_of else set()


def greedy_merge(topics_of: Topics, order: list[int], weights: Mapping[int, int] | None = None) -> list[Edge]:
    """Greedy Merge with ties settled by the order of the nodes: first by the one end, then by the other."""
    ordered = {node: topics_of[node] for node in order}
    edges: list[Edge] = []
    while True:
        pairs = list(contributions(ordered, edges, weights))
        best = max((gain for _, gain in pairs), default=0)
        if best == 0:
            return edges
        edges.append(next(pair for pair, gain in pairs if gain == best))


def greedy_cover(topics_of: Topics, nodes: Iterable[int], wanted: set[int]) -> list[int]:
    """Greedy set cover of the wanted topics; of equals, the first of `nodes`."""
    nodes, rest, chosen = list(nodes), set(wanted), []
    while any(topics_of[node] & rest for node in nodes):
        best = max(nodes, key=lambda node: len(topics_of[node] & rest))
        chosen.append(best)
        rest -= topics_of[best]
    return chosen
