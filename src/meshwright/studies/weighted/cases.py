"""The systems with costs that the studies of [2] build overlays for.

Costs have a mean of one, as in [2], IX-A. [2] takes them from the King and Meridian measurements, which can't
be shipped: `placed_on` puts nodes on the sites of a measured matrix, and other underlays are drawn by rules,
so that a study runs anywhere. Overlays are kept by case, since several claims look at the same ones.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from statistics import fmean
from typing import NamedTuple

import numpy as np

from meshwright.building import build
from meshwright.metrics.evaluation import evaluate
from meshwright.model.costs.costs import Costs
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.runtime.arrays import Floats
from meshwright.runtime.seeds import generator
from meshwright.studies.catalogue import Curves, Point, Related
from meshwright.studies.claims import Claim, Scope, about
from meshwright.studies.laws import LAWS
from meshwright.studies.timing import timed
from meshwright.studies.tolerances import TIMES

Underlay = Callable[[Interests, int], Costs]
"""(interests, seed) -> the costs of links between their nodes; caches know an underlay by its identity."""

_STAGE = "studies.underlay"
_CONTINENTS = 5
_CITIES = 100
_SPREAD_OF_CITIES = 0.1
_SPREAD_OF_NODES = 0.005
_BASE = 0.005
_MEAN_DELAY = 0.05
_FLOOR = 0.5


def continents(interests: Interests, seed: int) -> Costs:
    """Nodes in cities on continents, as the Internet has them; a link costs its length.

    Five continents are at random in a unit square, the k-th with a share of the cities in proportion to 1/k.
    A hundred cities are scattered around them with a deviation of 0.1, and nodes around cities with one of
    0.005. A link costs 0.005 and the distance. The parameters are those of a first guess; costs so drawn are
    spread much as round-trip times between PlanetLab's nodes are: a tenth of the links costs under 0.25 of
    the mean (there 0.21), a tenth over 1.8 (there 2.0).
    """
    names = interests.nodes.to_pylist()
    places = dict(zip(names, _places(interests.node_count, seed).tolist(), strict=True))
    costs = Costs.coordinates(places, base=_BASE, metric="euclidean", columns=("x", "y"))
    return costs.of(interests).normalised()


def access_delays(interests: Interests, seed: int) -> Costs:
    """As `continents`; moreover each node adds a delay of its own to all its links.

    Delays are exponential with a mean of 0.05, about a tenth of the mean distance. So few links are cheap:
    none of a node with a long delay is, as with servers behind slow lines.
    """
    lengths = _lengths(_places(interests.node_count, seed))
    delays = generator(seed, _STAGE, 1).exponential(_MEAN_DELAY, len(lengths))
    return _by_matrix(interests, lengths + delays[:, None] + delays[None])


def detours(interests: Interests, seed: int) -> Costs:
    """As `continents`, with a factor for each link by itself: routes go around, measurements err.

    The logarithms of the factors are normal with a deviation of 1. So two nodes that are near to a third need
    not be near to each other.
    """
    lengths = _lengths(_places(interests.node_count, seed))
    factors = np.triu(generator(seed, _STAGE, 2).lognormal(0, 1, lengths.shape), 1)
    return _by_matrix(interests, lengths * (factors + factors.T))


def floors(interests: Interests, seed: int) -> Costs:
    """As `continents`, but no link costs less than half of their mean: near nodes are not cheap.

    A quarter and four fifths were tried too, with two seeds; the cost of trees rises steadily with none.
    """
    lengths = _lengths(_places(interests.node_count, seed))
    apart = ~np.eye(len(lengths), dtype=np.bool_)
    least = _FLOOR * lengths[apart].mean()
    return _by_matrix(interests, np.where(apart, np.maximum(lengths, least), 0.0))


def placed_on(between: Costs, *, local: float) -> Underlay:
    """Nodes on the sites that `between` has costs for, at random, equally many on each or one more.

    A link inside a site costs `local`, in the unit of the other costs.
    """
    sites = between.nodes.to_pylist()

    def place(interests: Interests, seed: int) -> Costs:
        order = generator(seed, _STAGE, 3).permutation(len(sites))
        names = interests.nodes.to_pylist()
        site_of = {name: sites[order[at % len(sites)]] for at, name in enumerate(names)}
        return Costs.sites(between, site_of, local=local).of(interests).normalised()

    return place


def clusters(size: int, *, inner: float, outer: float) -> Underlay:
    """Clusters of so many nodes ([2], IX-G), at random: one cost inside a cluster, another between two."""

    def place(interests: Interests, seed: int) -> Costs:
        cluster = generator(seed, _STAGE, 4).permutation(interests.node_count) // size
        names = interests.nodes.to_pylist()
        cluster_of = {name: f"c{at}" for name, at in zip(names, cluster.tolist(), strict=True)}
        return Costs.clusters(cluster_of, inner=inner, outer=outer).of(interests)

    return place


def _places(count: int, seed: int) -> Floats:
    """Points in the plane."""
    random = generator(seed, _STAGE)
    centres = random.random((_CONTINENTS, 2))
    shares = 1 / np.arange(1, _CONTINENTS + 1)
    home = random.choice(_CONTINENTS, _CITIES, p=shares / shares.sum())
    cities = centres[home] + random.normal(0, _SPREAD_OF_CITIES, (_CITIES, 2))
    places: Floats = cities[random.integers(0, _CITIES, count)] + random.normal(
        0, _SPREAD_OF_NODES, (count, 2)
    )
    return places


def _lengths(places: Floats) -> Floats:
    """By pair of points, what a link between them costs."""
    lengths: Floats = _BASE + np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    return lengths


def _by_matrix(interests: Interests, matrix: Floats) -> Costs:
    return Costs.from_matrix(matrix, interests.nodes).of(interests).normalised()


HOW_DRAWN = (
    "sizes between the bounds by a power law of exponent 2: [2] leaves the law open; [3], of authors of [2], "
    "draws sizes between bounds by a power law, and 2.0 is the only exponent that either states, that of Zipf"
)


@dataclass(frozen=True, kw_only=True)
class CostSetting:
    """The sizes of a study, those of [2], IX, unless given.

    Attributes:
        underlay: what links cost, but for IX-G, which has clusters of its own.
        nodes: of Fig. 4, 7 and 8.
        topics: of Fig. 5.
        middles: of Fig. 6, the middle between the least and the greatest size of a subscription.
        nodes_then: of Fig. 5 and 6.
        clustered_nodes: of Fig. 9, which does not state them.
        size_exponent: of the power law of sizes of subscriptions; with 0 all are equally likely.
    """

    underlay: Underlay = continents
    nodes: tuple[int, ...] = tuple(range(100, 1_001, 100))
    topics: tuple[int, ...] = tuple(range(100, 1_001, 100))
    middles: tuple[int, ...] = (50, 75, 100, 125, 150)
    nodes_then: int = 800
    clustered_nodes: tuple[int, ...] = (1_000, 2_000, 4_000, 7_000, 10_000)
    size_exponent: float = 2.0


SETTINGS = {
    "smoke": CostSetting(
        nodes=(30, 60), topics=(100, 120), middles=(60, 80), nodes_then=40, clustered_nodes=(200, 300)
    ),
    "quick": CostSetting(
        nodes=(100, 400, 700, 1_000), topics=(100, 400, 700, 1_000), clustered_nodes=(1_000, 2_000, 4_000)
    ),
    "paper": CostSetting(),
}
"""By scale; "quick" has fewer of the paper's systems, from its smallest to its largest but for Fig. 9."""

ABSOLUTE = (
    "The paper's absolute costs can't be: it divides costs by their mean, so a link that is chosen without a "
    "look at costs costs 1 on average, and ω_GM is d_GM. But by 0.4 ω_GM and a gap of 30 ω_GM is 50, and no "
    "d_GM is near that."
)


class Case(NamedTuple):
    """A system: so many nodes take from `least` to `most` of so many topics, of popularity by `law`."""

    underlay: Underlay
    law: str
    nodes: int
    topics: int
    least: int
    most: int
    seed: int
    size_exponent: float


@cache
def system(case: Case) -> tuple[Interests, Costs]:
    """The interests and the costs of a case."""
    interests = LAWS[case.law](
        case.nodes,
        case.topics,
        min_subscriptions=case.least,
        max_subscriptions=case.most,
        size_exponent=case.size_exponent,
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


@cache
def seconds(case: Case, algorithm: str, times: int = 3) -> float:
    """The processor time of a build, the best of some, compiling not counted."""
    interests, costs = system(case)
    return min(
        timed(lambda: build(interests, algorithm, costs=costs, seed=case.seed))[1] for _ in range(times)
    )


def _once(case: Case, algorithm: str) -> float:
    return seconds(case, algorithm, 1)


MEASURES: Mapping[str, tuple[str, Callable[[Case, str], float]]] = {
    "cost": ("average cost of a node's links", cost),
    "degree": ("average degree", degree),
    "diameter": ("mean topic diameter, in links", lambda case, name: diameters(case, name)[0]),
    "weighted diameter": ("mean topic diameter, in costs", lambda case, name: diameters(case, name)[1]),
    "time": ("processor seconds", _once),
}
"""What the figures of [2] show, in words."""


class Axis(NamedTuple):
    """What grows in a figure, in words and of a case, and the cases with a seed."""

    words: str
    place: Callable[[Case], float]
    cases: Callable[[CostSetting, int], Iterable[Case]]


def curves(
    axis: Axis,
    names: Sequence[str],
    measure: str,
    law: str = "",
    stated: tuple[Point, ...] = (),
    related: tuple[Related, ...] = (),
) -> Curves:
    """A panel: what algorithms come to by one of `MEASURES`; the law is told where a figure has several."""
    words, value = MEASURES[measure]

    def points(seed: int, scope: Scope) -> Iterator[Point]:
        for case in axis.cases(SETTINGS[scope.scale], seed):
            for name in names:
                yield Point(name, axis.place(case), value(case, name))

    return Curves(
        measure=points,
        x=axis.words,
        y=f"{words} ({law})" if law else words,
        stated=stated,
        related=related,
    )


THREE = ("tr-maw", "pd-maw", "gr-maw")
"""The algorithms of Fig. 4 to 6."""


def by_law(
    axis: Callable[[str], Axis],
    shares: Mapping[str, float],
    *,
    related: tuple[Related, ...] = (),
    unif_related: tuple[Related, ...] = (),
    unif_stated: tuple[Point, ...] = (),
) -> tuple[Curves, ...]:
    """Costs and times by law, as in Fig. 4 to 6.

    Args:
        axis: what grows, by law.
        shares: those of the time of PdMAW that GrMAW takes, by law.
        related: of costs, under all laws.
        unif_related: of costs, under unif alone.
        unif_stated: costs under unif.
    """
    costs = (
        curves(axis(law), THREE, "cost", law, unif_stated, (*related, *unif_related))
        if law == "unif"
        else curves(axis(law), THREE, "cost", law, related=related)
        for law in shares
    )
    times = (
        curves(axis(law), THREE, "time", law, related=(Related("gr-maw", "pd-maw", share),))
        for law, share in shares.items()
    )
    return (*costs, *times)


def time_ratio(case: Case) -> float:
    """The processor time of GrMAW over that of PdMAW."""
    return seconds(case, "gr-maw", 1) / seconds(case, "pd-maw", 1)


def _pairs_ratio(case: Case) -> float:
    return examined(case, "gr-maw") / examined(case, "pd-maw")


def _eager_ratio(case: Case) -> float:
    """Pairs of all nodes once, and those of a link's ends after each link, over all pairs for each link."""
    pairs = case.nodes * (case.nodes - 1) / 2
    updates = 2 * case.nodes * len(built(case, "gr-maw"))
    return (pairs + updates) / (pairs * len(built(case, "pd-maw")))


OTHER_TIMES: Mapping[str, tuple[str, Callable[[Case], float]]] = {
    "pairs": ("The time is as the pairs that are examined.", _pairs_ratio),
    "eager": (
        "PdMAW adds up the duals of all pairs for every link, as in Alg. 4, and GrMAW changes only those of "
        "its ends.",
        _eager_ratio,
    ),
}
"""Ways to measure work other than by processor time: GrMAW over PdMAW."""


def times(
    claim: Callable[..., Claim],
    figure: str,
    law: str,
    share: float,
    cases: Callable[[int], list[Case]],
    how: str,
    reason: str = "",
) -> Iterator[Claim]:
    """What a figure says of the times of GrMAW and PdMAW under a law, with variants."""

    def mean(work: Callable[[Case], float], seed: int) -> float:
        return fmean(map(work, cases(seed)))

    stated = claim(
        name=f"weighted-figure-{figure}-time-{law}",
        statement=f"GrMAW takes {share:.1%} of the time of PdMAW under {law}.",
        expected=about(share, TIMES),
        how=f"Processor time, mean over the systems; {how}",
        measure=partial(mean, time_ratio),
        reason=reason,
    )
    yield stated
    for suffix, (words, work) in OTHER_TIMES.items():
        yield stated.variant(suffix, words, partial(mean, work))
