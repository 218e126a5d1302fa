"""The algorithms for links that cost, written down from their pseudo-code, in fractions and slow."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations

import networkx as nx
import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from tests.oracles import (
    Edge,
    Topics,
    components_by_topic,
    contributions,
    greedy_cover,
    is_topic_connected,
)

Cost = Callable[[int, int], float]


def total(edges: Iterable[Edge], cost: Cost) -> Fraction:
    """What all edges cost together."""
    return sum((Fraction(cost(u, v)) for u, v in edges), Fraction(0))


def trees(topics_of: Topics, order: Sequence[int], cost: Cost) -> set[Edge]:
    """TrMAW by Kruskal's algorithm; of equal costs, the first pair by the order of the nodes."""
    place = {node: at for at, node in enumerate(order)}
    found = set()
    for topic in set().union(*topics_of.values()) if topics_of else set():
        members = sorted((u for u in topics_of if topic in topics_of[u]), key=place.get)
        grown = nx.utils.UnionFind(members)
        for u, v in sorted(
            combinations(members, 2), key=lambda pair: (cost(*pair), place[pair[0]], place[pair[1]])
        ):
            if grown[u] != grown[v]:
                grown.union(u, v)
                found.add((min(u, v), max(u, v)))
    return found


def weighted_greedy(
    topics_of: Topics,
    order: Sequence[int],
    cost: Cost,
    *,
    edges: Sequence[Edge] = (),
    allowed: Callable[[int, int], bool] = lambda u, v: True,
) -> list[Edge]:
    """GrMAW, from some edges on; of equal ratios, the first pair by the order of the nodes."""
    ordered = {node: topics_of[node] for node in order}
    have, taken = list(edges), []
    while True:
        ratios = [
            (Fraction(cost(u, v)) / gain, (u, v))
            for (u, v), gain in contributions(ordered, have)
            if gain and allowed(u, v)
        ]
        if not ratios:
            return taken
        least = min(ratio for ratio, _ in ratios)
        taken.append(next(pair for ratio, pair in ratios if ratio == least))
        have.append(taken[-1])


class PrimalDual:
    """PdMAW step by step, so that another's choices can be followed: all dual sums, exactly."""

    def __init__(self, topics_of: Topics, cost: Cost) -> None:
        self.topics_of, self.cost = topics_of, cost
        self.edges: list[Edge] = []
        self.raised = Fraction(0)
        self.value = Fraction(0)
        self.paid = {pair: Fraction(0) for pair in combinations(sorted(topics_of), 2)}

    def gains(self) -> dict[Edge, int]:
        """The contribution of every pair of nodes, now."""
        ordered = {node: self.topics_of[node] for node in sorted(self.topics_of)}
        return dict(contributions(ordered, self.edges))

    def raises(self) -> dict[Edge, Fraction]:
        """By how much the present dual variable must be raised until each pair is tight (Alg. 4, line 3)."""
        return {
            pair: (Fraction(self.cost(*pair)) - self.paid[pair]) / gain
            for pair, gain in self.gains().items()
            if gain
        }

    def take(self, edge: Edge, by: Fraction) -> None:
        """Raise the dual variable of the present edges, and add one (Alg. 4, lines 4 to 6)."""
        gains = self.gains()
        for pair, gain in gains.items():
            self.paid[pair] += gain * by
        self.value += self._components_to_unite() * by
        self.raised += by
        self.edges.append(edge)

    def _components_to_unite(self) -> int:
        return sum(count - 1 for count in components_by_topic(self.topics_of, self.edges).values())

    def is_feasible(self) -> bool:
        """Whether no pair has paid more than it costs."""
        return all(paid <= Fraction(self.cost(*pair)) for pair, paid in self.paid.items())


def dual_sums(
    topics_of: Topics, edges: Sequence[Edge], raises: Sequence[float]
) -> tuple[dict[Edge, float], float]:
    """Of a dual solution, the left side of every constraint and the objective (eq. 18), by definition.

    `raises` are the dual variables of the sets of the first 0, 1, 2, ... edges; those of all others are 0.
    """
    sums = dict.fromkeys(combinations(sorted(topics_of), 2), 0.0)
    value = 0.0
    for count, raised in enumerate(raises):
        components = components_by_topic(topics_of, edges[:count])
        value += raised * sum(left - 1 for left in components.values())
        for pair in sums.keys() - set(edges[:count]):
            with_it = components_by_topic(topics_of, [*edges[:count], pair])
            sums[pair] += raised * sum(components[topic] - with_it[topic] for topic in components)
    return sums, value


def reverse_delete(topics_of: Topics, edges: Sequence[Edge]) -> list[Edge]:
    """Alg. 5, lines 2 to 4."""
    kept = list(edges)
    for edge in reversed(edges):
        rest = [other for other in kept if other != edge]
        if is_topic_connected(topics_of, rest):
            kept = rest
    return kept


def divide_and_conquer(
    topics_of: Topics, parts: Sequence[Sequence[int]], cost: Cost
) -> tuple[list[Edge], list[Edge]]:
    """DcMAW over given parts, each in the order that settles its ties: inner and outer edges."""
    inner, stars, part_of = [], [], {}
    for number, part in enumerate(parts):
        inner += weighted_greedy({u: topics_of[u] for u in part}, part, cost)
        others = set().union(*(topics_of[u] for other in parts if other is not part for u in other))
        stars += greedy_cover(topics_of, part, others & set().union(*(topics_of[u] for u in part)))
        part_of |= dict.fromkeys(part, number)
    rest = [u for u in topics_of if u not in stars]
    outer = weighted_greedy(
        topics_of,
        stars + rest,
        cost,
        edges=inner,
        allowed=lambda u, v: u in stars and v in stars and part_of[u] != part_of[v],
    )
    return inner, outer


def least_cost(topics_of: Topics, cost: Cost) -> float:
    """The optimum as an integer program: every cut of every topic is crossed. For a handful of nodes."""
    pairs = list(combinations(sorted(topics_of), 2))
    rows = []
    for topic in set().union(*topics_of.values()) if topics_of else set():
        first, *members = sorted(u for u in topics_of if topic in topics_of[u])
        for size in range(len(members)):
            for side in combinations(members, size):
                inside = {first, *side}
                outside = set(members) - inside
                rows.append(
                    [(u in inside and v in outside) or (v in inside and u in outside) for u, v in pairs]
                )
    if not rows:
        return 0.0
    weights = np.array([cost(u, v) for u, v in pairs])
    crossed = LinearConstraint(np.array(rows, float), lb=1)
    found = milp(weights, constraints=crossed, integrality=np.ones(len(pairs)), bounds=Bounds(0, 1))
    assert found.success
    return float(found.fun)
