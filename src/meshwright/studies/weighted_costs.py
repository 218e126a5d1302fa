"""Underlays: what links cost in the studies of [2], with a mean of one as in its IX-A.

[2] takes its costs from the King and Meridian measurements, which can't be shipped. `placed_on` puts nodes on
the sites of a measured matrix; the other underlays are drawn by rules, so that a study runs anywhere.
"""

from collections.abc import Callable

import numpy as np

from meshwright.kernels.arrays import Floats
from meshwright.model.costs import Costs
from meshwright.model.interests import Interests
from meshwright.seeds import generator

Underlay = Callable[[Interests, int], Costs]
"""(interests, seed) -> the costs of links between their nodes; caches know an underlay by its identity."""

_STAGE = "studies.underlay"
_CONTINENTS = 5
_CITIES = 100
_SPREAD_OF_CITIES = 0.1
_SPREAD_OF_NODES = 0.005
_BASE = 0.005
_MEAN_DELAY = 0.05


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
