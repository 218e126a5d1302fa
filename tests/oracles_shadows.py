"""The pseudo-code of the paper on churn, transcribed naively: obviously right, and slow."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import combinations

import numpy as np

from tests.oracles import Edge, Topics, contributions


def construct_low_edges(
    topics_of: Topics,
    order: list[int],
    current: list[Edge],
    potential: Iterable[Edge] | None,
    rho: float,
    minded: Iterable[int] | None = None,
) -> list[Edge]:
    """Algorithm 2, minding the maximum degree of some nodes, or of all; ties by the order of the nodes."""
    minded = topics_of if minded is None else minded
    ordered = {node: topics_of[node] for node in order}
    left = list(combinations(order, 2)) if potential is None else in_order(potential, order)
    new: list[Edge] = []
    while True:
        gains = dict(contributions(ordered, [*current, *new]))
        if not any(gains[edge] for edge in left):
            return new
        degree = degrees(topics_of, [*current, *new])
        edge = find_low_edge(gains, left, {node: degree[node] for node in minded}, rho)
        new.append(edge)
        left.remove(edge)


def construct_cheap_edges(
    topics_of: Topics,
    order: list[int],
    current: list[Edge],
    potential: Iterable[Edge] | None,
    rho: float,
    minded: Iterable[int] | None,
    cost: Mapping[Edge, int],
) -> list[Edge]:
    """Algorithm 2 with contributions per cost in place of contributions; `cost` is by sorted pair."""
    minded = topics_of if minded is None else minded
    ordered = {node: topics_of[node] for node in order}
    left = list(combinations(order, 2)) if potential is None else in_order(potential, order)
    new: list[Edge] = []
    while True:
        gains = dict(contributions(ordered, [*current, *new]))
        if not any(gains[edge] for edge in left):
            return new
        worth = {edge: Fraction(gains[edge], cost[min(edge), max(edge)]) for edge in left}
        degree = degrees(topics_of, [*current, *new])
        edge = find_low_edge(worth, left, {node: degree[node] for node in minded}, Fraction(rho))
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


def find_low_edge(
    gains: Mapping[Edge, int | Fraction],
    potential: list[Edge],
    degree: dict[int, int],
    rho: float | Fraction,
) -> Edge:
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


class Backups:
    """The backups and primaries of all nodes, built by Algorithm 11 or 12 one node after the other.

    `subscribers` has those of each topic in the order that settles ties; topics are visited in their order.
    """

    def __init__(
        self, topics_of: Topics, subscribers: Mapping[int, list[int]], neighbours: Mapping[int, set[int]]
    ):
        self.topics_of, self.subscribers, self.neighbours = topics_of, subscribers, neighbours
        self.backups: dict[int, list[int]] = {node: [] for node in topics_of}
        self.primaries: dict[int, set[int]] = {node: set() for node in topics_of}

    def weight(self, node: int) -> int:
        return len(self.neighbours[node]) + len(self.primaries[node])

    def _choose(self, node: int, backup: int) -> None:
        self.backups[node].append(backup)
        self.primaries[backup].add(node)

    def _start(self, node: int) -> None:
        for backup in self.backups[node]:
            self.primaries[backup].discard(node)
        self.backups[node] = []

    def greedily(self, node: int, coverage: int) -> None:
        """Algorithm 11."""
        self._start(node)
        for _ in range(coverage):
            rest = set(self.topics_of[node])
            seen = [u for topic in sorted(rest) for u in self.subscribers[topic]]
            candidates = [u for u in dict.fromkeys(seen) if u != node and u not in self.backups[node]]
            while rest:
                candidates = [u for u in candidates if self.topics_of[u] & rest]
                if not candidates:
                    break
                ratios = [Fraction(self.weight(u), len(self.topics_of[u] & rest)) for u in candidates]
                backup = candidates.pop(ratios.index(min(ratios)))
                self._choose(node, backup)
                rest -= self.topics_of[backup]

    def by_primal_dual(self, node: int, coverage: int, rng: np.random.Generator) -> None:
        """Algorithm 12; topics are picked from a list in which the last takes the place of one covered.

        A cover that finds nobody is the last: another one would find nobody either, and only draw numbers.
        """
        self._start(node)
        for _ in range(coverage):
            before = len(self.backups[node])
            rest = sorted(self.topics_of[node])
            weight = {u: self.weight(u) for u in self.topics_of if u != node and u not in self.backups[node]}
            while rest:
                topic = rest[rng.integers(0, len(rest))]
                having = [u for u in self.subscribers[topic] if u in weight and u not in self.backups[node]]
                candidates = [u for u in having if weight[u] > 0]
                if not having:
                    cover(rest, {topic})
                    continue
                backup = min(candidates or having, key=lambda u: weight[u])
                self._choose(node, backup)
                cover(rest, self.topics_of[backup])
                paid = weight[backup]
                for u in candidates:
                    weight[u] -= paid
            if len(self.backups[node]) == before:
                break


def cover(rest: list[int], topics: set[int]) -> None:
    """Take topics out of a list, one after the other; the last of the list takes the place of each."""
    for topic in sorted(topics & set(rest)):
        at = rest.index(topic)
        rest[at] = rest[-1]
        rest.pop()
