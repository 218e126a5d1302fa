"""Independent, obviously right answers about prices, lines and optimal overlays of small interests."""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import chain, combinations
from typing import Any

import networkx as nx
import numpy as np
from scipy.optimize import linprog

from tests.oracles import Edge, Topics, is_topic_connected


def shared_pairs(topics_of: Topics) -> list[Edge]:
    """All pairs of nodes that share a topic."""
    return [(u, v) for u, v in combinations(sorted(topics_of), 2) if topics_of[u] & topics_of[v]]


def fewest_edges(topics_of: Topics) -> int:
    """The edges of a smallest topic-connected overlay, by trying all."""
    pairs = shared_pairs(topics_of)
    for size in range(len(pairs) + 1):
        if any(is_topic_connected(topics_of, edges) for edges in combinations(pairs, size)):
            return size
    raise AssertionError


def partitions(items: list[int]) -> Iterator[list[list[int]]]:
    """All ways to divide items into parts."""
    if not items:
        yield []
        return
    first, *rest = items
    for parts in partitions(rest):
        yield [[first], *parts]
        for at in range(len(parts)):
            yield [*parts[:at], [first, *parts[at]], *parts[at + 1 :]]


def members(topics_of: Topics) -> dict[int, list[int]]:
    """The subscribers of each topic."""
    topics = set(chain.from_iterable(topics_of.values()))
    return {topic: sorted(u for u, own in topics_of.items() if topic in own) for topic in topics}


def linear_program(topics_of: Topics, costs: np.ndarray | None = None) -> float:
    """The optimum with a point of the spanning tree polytope for each topic, with all inequalities.

    A link costs 1, or what a matrix says.
    """
    pairs = shared_pairs(topics_of)
    columns = {("edge", pair): i for i, pair in enumerate(pairs)}
    for topic, nodes in members(topics_of).items():
        for pair in combinations(nodes, 2):
            columns[topic, pair] = len(columns)
    rows, limits, equal_rows, equals = [], [], [], []
    for topic, nodes in members(topics_of).items():
        for pair in combinations(nodes, 2):
            rows.append({columns[topic, pair]: 1.0, columns["edge", pair]: -1.0})
            limits.append(0.0)
        for size in range(2, len(nodes) + 1):
            for some in combinations(nodes, size):
                row = {columns[topic, pair]: 1.0 for pair in combinations(some, 2)}
                (equal_rows if size == len(nodes) else rows).append(row)
                (equals if size == len(nodes) else limits).append(size - 1.0)
    if not columns:
        return 0.0
    cost = [(1.0 if costs is None else costs[pair]) if key == "edge" else 0.0 for key, pair in columns]
    found = linprog(
        cost, _dense(rows, len(columns)), limits, _dense(equal_rows, len(columns)), equals, bounds=(0, None)
    )
    return float(found.fun)


def _dense(rows: Iterable[Mapping[int, float]], width: int) -> np.ndarray:
    return np.array([[row.get(i, 0.0) for i in range(width)] for row in rows]).reshape(-1, width)


def line_distance(nodes: list[int], gaps: list[int], u: int, v: int) -> int:
    """How far two nodes of a line are apart."""
    low, high = sorted((nodes.index(u), nodes.index(v)))
    return max(gaps[low + 1 : high + 1], default=0)


def proves(topics_of: Topics, certificate: Mapping[str, Any]) -> bool:
    """Whether the lines and demands of a certificate, as in a file, prove its number of edges."""
    lines = {topic: (line["nodes"], line["gaps"]) for topic, line in enumerate(certificate["lines"])}
    demands, scale = {demand["node"]: demand for demand in certificate["demands"]}, certificate["scale"]
    total = sum(sum(gaps[1:]) for _, gaps in lines.values())
    total += sum(demand["price"] + demand["nearest_price"] for demand in demands.values())

    def paid(u: int, v: int) -> int:
        """What a link to v pays for the demand of u."""
        if u not in demands or not topics_of[v] & set(demands[u]["topics"]):
            return 0
        return demands[u]["nearest_price" if demands[u]["nearest"] == v else "price"]

    def length(u: int, v: int) -> int:
        common = topics_of[u] & topics_of[v]
        return sum(line_distance(*lines[topic], u, v) for topic in common) + paid(u, v) + paid(v, u)

    far = max((length(u, v) for u, v in combinations(topics_of, 2)), default=0)
    begins = all(not gaps or gaps[0] == 0 for _, gaps in lines.values())
    forced = len(demands) == len(certificate["demands"]) and all(
        demand["nearest_price"] <= demand["price"] and is_demand(topics_of, u, set(demand["topics"]))
        for u, demand in demands.items()
    )
    return begins and forced and far <= scale and certificate["edges"] <= -(-total // scale)


def proves_cost(topics_of: Topics, part: Mapping[str, Any], costs: np.ndarray) -> bool:
    """Whether the lines of the part `cost` of a certificate prove its parts, for a matrix of costs."""
    lines = [(line["nodes"], line["gaps"]) for line in part["lines"]]
    begins = all(not gaps or gaps[0] == 0 for _, gaps in lines)
    short = all(
        sum(line_distance(*lines[topic], u, v) for topic in topics_of[u] & topics_of[v])
        <= Fraction(costs[u, v]) * Fraction(2) ** part["exponent"]
        for u, v in combinations(topics_of, 2)
    )
    return begins and short and part["parts"] <= sum(sum(gaps) for _, gaps in lines)


def is_demand(topics_of: Topics, node: int, wanted: set[int]) -> bool:
    """Whether a node has the topics, others have each of them, and no other has all."""
    others = [own for u, own in topics_of.items() if u != node]
    return (
        bool(wanted)
        and wanted <= topics_of[node] & set(chain.from_iterable(others))
        and not any(wanted <= own for own in others)
    )


def tree_cost(size: int, edges: Iterable[tuple[int, int, float]]) -> float:
    """What a minimum spanning tree of a multigraph costs."""
    graph = nx.MultiGraph()
    graph.add_nodes_from(range(size))
    graph.add_weighted_edges_from(edges)
    return float(nx.minimum_spanning_tree(graph).size(weight="weight"))
