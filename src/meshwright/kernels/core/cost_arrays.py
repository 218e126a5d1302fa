"""The costs of links as kernels take them: plain arrays and a number that says how to read them.

Apart from `kernels/core/costs.py`, so that making costs does not import Numba.
"""

from typing import NamedTuple

from meshwright.runtime.arrays import Floats, Ids

SITES = 0
CLUSTERS = 1
EUCLIDEAN = 2
GREAT_CIRCLE = 3
MANHATTAN = 4

EARTH_RADIUS = 6371.0088
"""In kilometres: the mean radius of the WGS 84 ellipsoid."""


class CostArrays(NamedTuple):
    """What a link between any two nodes costs; all arrays read-only and contiguous, n the number of nodes.

    Always these seven, whatever the kind, so that a kernel is compiled once; what a kind does not use has no
    rows. Memory: 8 bytes for each pair of sites, 4 a node on a site or in a cluster, 24 a node with
    coordinates.
    """

    kind: int  # SITES, CLUSTERS, EUCLIDEAN, GREAT_CIRCLE or MANHATTAN
    matrix: Floats  # (s, s) by site, the diagonal the cost inside a site; CLUSTERS: (1, 2), inner and outer
    site_of: Ids  # (n,) the site or cluster of a node; SITES and CLUSTERS
    points: Floats  # (n, 3) x, y, z; GREAT_CIRCLE: the place on a sphere of radius 1
    base: float  # of every link; where there are points
    factor: float  # what a unit of distance adds (GREAT_CIRCLE: a radian)
    least: float  # what a link costs that would cost less; where there are points
