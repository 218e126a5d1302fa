"""Cases: systems with costs that the studies of [2] build overlays for, and what these come to.

Everything is kept by case, since several claims look at the same overlays.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from time import process_time
from typing import NamedTuple

from meshwright import workloads
from meshwright.evaluate import evaluate
from meshwright.model.costs import Costs
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.registry import build
from meshwright.studies.weighted_costs import Underlay, continents

LAWS: Mapping[str, Callable[..., Interests]] = {
    "unif": workloads.unif,
    "zipf": workloads.zipf,
    "expo": workloads.expo,
}
HOW_DRAWN = (
    "all sizes of subscriptions between the bounds equally likely: [2] leaves the law open, and of those "
    "tried this one fits Fig. 4 best"
)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The sizes of a study, those of [2], IX, unless given.

    Attributes:
        underlay: what links cost, but for IX-G, which has clusters of its own.
        nodes: of Fig. 4, 7 and 8.
        topics: of Fig. 5.
        middles: of Fig. 6, the middle between the least and the greatest size of a subscription.
        nodes_then: of Fig. 5 and 6.
        clustered_nodes: of Fig. 9, which does not state them.
    """

    underlay: Underlay = continents
    nodes: tuple[int, ...] = tuple(range(100, 1_001, 100))
    topics: tuple[int, ...] = tuple(range(100, 1_001, 100))
    middles: tuple[int, ...] = (50, 75, 100, 125, 150)
    nodes_then: int = 800
    clustered_nodes: tuple[int, ...] = (1_000, 2_000, 4_000, 7_000, 10_000)


class Case(NamedTuple):
    """A system: so many nodes take from `least` to `most` of so many topics, of popularity by `law`."""

    underlay: Underlay
    law: str
    nodes: int
    topics: int
    least: int
    most: int
    seed: int


@cache
def system(case: Case) -> tuple[Interests, Costs]:
    """The interests and the costs of a case."""
    interests = LAWS[case.law](
        case.nodes,
        case.topics,
        min_subscriptions=case.least,
        max_subscriptions=case.most,
        size_exponent=0,
        seed=case.seed,
    )
    return interests, case.underlay(interests, case.seed)


@cache
def built(case: Case, algorithm: str) -> Overlay:
    """What an algorithm builds for a case; gm, which knows no costs, pays them too."""
    interests, costs = system(case)
    return build(interests, algorithm, costs=costs, seed=case.seed)


def cost(case: Case, algorithm: str) -> float:
    """The weighted average degree."""
    prices = built(case, algorithm).costs
    return 0.0 if prices is None else 2 * float(prices.sum()) / case.nodes


def degree(case: Case, algorithm: str) -> float:
    """The average degree."""
    return 2 * len(built(case, algorithm)) / case.nodes


def examined(case: Case, algorithm: str) -> float:
    """How many pairs the algorithm looked at."""
    return float(built(case, algorithm).facts["pairs_examined"])


@cache
def diameters(case: Case, algorithm: str) -> tuple[float, float]:
    """The mean topic diameter, in links and in costs."""
    found = evaluate(built(case, algorithm), bound=False)
    return found.mean_topic_diameter or 0.0, found.mean_weighted_topic_diameter or 0.0


def seconds(case: Case, algorithm: str, times: int = 3) -> float:
    """The processor time of a build, the best of some, compiling not counted."""
    interests, costs = system(case)
    built(case, algorithm)
    found = []
    for _ in range(times):
        begin = process_time()
        build(interests, algorithm, costs=costs, seed=case.seed)
        found.append(process_time() - begin)
    return min(found)
