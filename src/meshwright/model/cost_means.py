"""The mean cost of a link over all pairs of distinct nodes."""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.arrays import Floats, Offsets
from meshwright.kernels.cost_arrays import CLUSTERS, CostArrays
from meshwright.model.cost_forms import count_nodes, has_sites
from meshwright.seeds import generator

MOST_NODES_EXACT = 5_000
"""With coordinates: 12 million pairs, a quarter of a second."""

SAMPLED_PAIRS = 1_000_000

_BLOCK = 256


class Mean(NamedTuple):
    """The mean cost; of all pairs, or of so many sampled ones, with its standard error."""

    value: float
    sampled_pairs: int | None = None
    standard_error: float = 0.0


def mean_cost(form: CostArrays, seed: int) -> Mean:
    """The mean over pairs of distinct nodes, of which there must be one.

    With sites exact, by how many nodes each has: linear in nodes and quadratic in sites. With coordinates
    exact up to 5,000 nodes, of a million random pairs beyond.
    """
    nodes = count_nodes(form)
    pairs = nodes * (nodes - 1) // 2
    if not has_sites(form):
        return _all_pairs(form, pairs) if nodes <= MOST_NODES_EXACT else _some_pairs(form, nodes, seed)
    held = np.bincount(form.site_of)
    inside = held * (held - 1) // 2
    if form.kind == CLUSTERS:
        inner, outer = form.matrix[0]
        within = int(inside.sum())
        return Mean(float(inner * within + outer * (pairs - within)) / pairs)
    return Mean(_sum_by_site(form.matrix[: len(held), : len(held)], held, inside) / pairs)


def _sum_by_site(matrix: Floats, held: Offsets, inside: Offsets) -> float:
    """The sum over all pairs of nodes: each pair of sites counts as often as nodes are on them."""
    across = 0.0
    for start in range(0, len(matrix), _BLOCK):
        rows = matrix[start : start + _BLOCK] * held[start : start + _BLOCK, None]
        own = np.arange(len(rows))
        rows[own, start + own] = 0.0
        across += float((rows * held).sum())
    return across / 2 + float((np.diagonal(matrix) * inside).sum())


def _all_pairs(form: CostArrays, pairs: int) -> Mean:
    from meshwright.kernels.costs import total_cost

    return Mean(total_cost(form, count_nodes(form)) / pairs)


def _some_pairs(form: CostArrays, nodes: int, seed: int) -> Mean:
    from meshwright.kernels.costs import fill_costs

    rng = generator(seed, "mean-cost")
    sources = rng.integers(0, nodes, SAMPLED_PAIRS, np.int32)
    # A shift by 1 to n-1 makes every other node as likely as any.
    targets = ((sources + rng.integers(1, nodes, SAMPLED_PAIRS)) % nodes).astype(np.int32)
    costs = np.empty(SAMPLED_PAIRS)
    fill_costs(form, sources, targets, costs)
    error = float(costs.std() / np.sqrt(SAMPLED_PAIRS))
    return Mean(float(costs.mean()), SAMPLED_PAIRS, error)
