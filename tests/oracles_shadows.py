"""The pseudo-code of the paper on churn, transcribed naively: obviously right, and slow."""

from collections.abc import Iterable
from itertools import combinations

from tests.oracles import Edge, Topics, contributions


def construct_low_edges(
    topics_of: Topics, order: list[int], current: list[Edge], potential: Iterable[Edge] | None, rho: float
) -> list[Edge]:
    """Algorithm 2, with the maximum degree of all nodes; ties by the order of the nodes of a pair."""
    ordered = {node: topics_of[node] for node in order}
    left = list(combinations(order, 2)) if potential is None else in_order(potential, order)
    new: list[Edge] = []
    while True:
        gains = dict(contributions(ordered, [*current, *new]))
        if not any(gains[edge] for edge in left):
            return new
        edge = find_low_edge(gains, left, degrees(topics_of, [*current, *new]), rho)
        new.append(edge)
        left.remove(edge)


def construct_low_edges_by_labels(topics_of: Topics, order: list[int], rho: float) -> list[Edge]:
    """Algorithm 2 from nothing, with a label for each node in each topic in place of graphs: less slow."""
    label = {node: {topic: node for topic in topics_of[node]} for node in order}
    left = list(combinations(order, 2))
    new: list[Edge] = []
    while True:
        gains = {
            (u, v): sum(label[u][topic] != label[v][topic] for topic in topics_of[u] & topics_of[v])
            for u, v in left
        }
        if not any(gains.values()):
            return new
        u, v = find_low_edge(gains, left, degrees(topics_of, new), rho)
        new.append((u, v))
        left.remove((u, v))
        for topic in topics_of[u] & topics_of[v]:
            old, kept = label[u][topic], label[v][topic]
            for node in order:
                if label[node].get(topic) == old:
                    label[node][topic] = kept


def find_low_edge(gains: dict[Edge, int], potential: list[Edge], degree: dict[int, int], rho: float) -> Edge:
    """The rule of section III, by definition: e1, and e2 among those that raise the maximum least."""

    most = max(degree.values())
    rise = {edge: max(most, *(degree[end] + 1 for end in edge)) - most for edge in potential}
    least = min(rise.values())
    e1 = max(potential, key=lambda edge: gains[edge])
    e2 = max((edge for edge in potential if rise[edge] == least), key=lambda edge: gains[edge])
    return e1 if gains[e1] > rho * gains[e2] else e2


def in_order(edges: Iterable[Edge], order: list[int]) -> list[Edge]:
    """Edges with their ends in the order of the nodes, and sorted by it."""
    place = {node: at for at, node in enumerate(order)}
    turned = {tuple(sorted(edge, key=place.__getitem__)) for edge in edges}
    return sorted(turned, key=lambda edge: (place[edge[0]], place[edge[1]]))


def degrees(nodes: Iterable[int], edges: Iterable[Edge]) -> dict[int, int]:
    """How many edges each node has."""
    found = dict.fromkeys(nodes, 0)
    for edge in edges:
        for end in edge:
            found[end] += 1
    return found
