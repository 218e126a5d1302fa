"""What a link costs: the one function that every kernel with costs calls, and loops over it.

Nothing but additions, multiplications, divisions and square roots, which are rounded alike everywhere: a cost
has the same bits in whatever loop, on whatever machine it is computed. A library's arcsine promises no such
thing.
"""

import math

import numpy as np

from meshwright.kernels.compiling import inlined, kernel
from meshwright.kernels.core.cost_arrays import (
    CLUSTERS,
    EUCLIDEAN,
    GREAT_CIRCLE,
    MANHATTAN,
    SITES,
    CostArrays,
)
from meshwright.runtime.arrays import Floats, Ids

__all__ = ["CLUSTERS", "EUCLIDEAN", "GREAT_CIRCLE", "MANHATTAN", "SITES", "CostArrays", "cost_between"]


# Inlined by Numba itself: a call counts references to all arrays, which makes 16 ns of 1 (measured).
@inlined
def cost_between(costs: CostArrays, u: int, v: int) -> float:
    """What the link between two different nodes costs; the same in both directions."""
    if costs.kind == SITES:
        by_site: float = costs.matrix[np.uint32(costs.site_of[u]), np.uint32(costs.site_of[v])]
        return by_site
    if costs.kind == CLUSTERS:
        by_cluster: float = costs.matrix[0, int(costs.site_of[u] != costs.site_of[v])]
        return by_cluster
    x = costs.points[u, 0] - costs.points[v, 0]
    y = costs.points[u, 1] - costs.points[v, 1]
    z = costs.points[u, 2] - costs.points[v, 2]
    if costs.kind == MANHATTAN:
        return max(costs.least, costs.base + costs.factor * (abs(x) + abs(y) + abs(z)))
    square = x * x + y * y + z * z
    distance = math.sqrt(square) if costs.kind == EUCLIDEAN else _angle(0.25 * square)
    return max(costs.least, costs.base + costs.factor * distance)


@inlined
def _angle(square: float) -> float:
    """The angle between two places on a sphere of radius 1, `square` a quarter of their distance squared.

    That is 2 arcsin(sqrt(square)), by the rational function of Sun's fdlibm, with a relative error of 5e-16;
    towards the opposite side of the sphere rounding in `square` comes to 3e-8 radians, 20 cm on Earth.
    """
    is_near = square <= 0.25
    s = square if is_near else 0.5 * (1.0 - math.sqrt(min(square, 1.0)))
    p = 3.47933107596021167570e-05
    p = s * p + 7.91534994289814532176e-04
    p = s * p - 4.00555345006794114027e-02
    p = s * p + 2.01212532134862925881e-01
    p = s * p - 3.25565818622400915405e-01
    p = s * p + 1.66666666666666657415e-01
    q = 7.70381505559019352791e-02
    q = s * q - 6.88283971605453293030e-01
    q = s * q + 2.02094576023350569471e00
    q = s * q - 2.40339491173441421878e00
    q = s * q + 1.0
    sine = math.sqrt(s)
    arcsine = sine + sine * (s * p / q)
    return 2.0 * arcsine if is_near else math.pi - 4.0 * arcsine


@kernel
def fill_costs(costs: CostArrays, sources: Ids, targets: Ids, out: Floats) -> None:
    """The cost of each pair of a source and the target at the same place."""
    for at in range(out.size):
        out[at] = cost_between(costs, sources[at], targets[at])


@kernel
def fill_matrix(costs: CostArrays, out: Floats) -> None:
    """The cost of every pair of nodes; the diagonal is left as it is."""
    for u in range(len(out)):
        for v in range(u):
            out[u, v] = out[v, u] = cost_between(costs, u, v)


@kernel
def total_cost(costs: CostArrays, nodes: int) -> float:
    """The cost of all links among the first `nodes` nodes together: time grows with their square."""
    total = 0.0
    for u in range(nodes):
        row = 0.0
        for v in range(u + 1, nodes):
            row += cost_between(costs, u, v)
        total += row
    return total
