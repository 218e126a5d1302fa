"""A lower bound on what the links of any topic-connected overlay cost: the dual value of the primal-dual."""

import numpy as np

from meshwright.kernels.arrays import Ids, Offsets
from meshwright.kernels.cost_arrays import CostArrays
from meshwright.model.cost_forms import by_cluster
from meshwright.progress import Progress

_MOST_PAIRS = 12_500_000
"""Pairs of nodes: a byte each, and 40 to 104 ns of a core in `benchmarks/bounds.py`."""

_MOST_STEPS = 100_000_000
"""Sum over topics of half the square of their subscribers, which are looked at where topics are large."""


def dual_pays(sizes: Offsets, node_count: int) -> bool:
    """Whether the dual value takes few enough seconds, with topics of these sizes.

    It is asked of counts alone, so that the answer is the same on every machine and engine.
    """
    steps = np.sum(sizes.astype(np.float64) ** 2) / 2
    return bool(node_count**2 / 2 <= _MOST_PAIRS and steps <= _MOST_STEPS)


def least_cost(
    indptr: Offsets,
    topic_ids: Ids,
    topic_count: int,
    costs: CostArrays | None = None,
    progress: Progress | None = None,
) -> float:
    """A number under the cost of every topic-connected overlay, by proof; without `costs`, under its links.

    The overlays are the solutions of an integer program, eq. 17 of [2], and PdMAW raises a solution of the
    dual linear program, eq. 18: by weak duality its value is under the cost of all of them. Ties are settled
    by seed 0.

    [2] Chen, Tock, Jacobsen, Vitenberg: Weighted Overlay Design for Topic-based Publish/Subscribe Systems on
    Geo-Distributed Data Centers, ICDCS 2015.
    """
    from meshwright.construct.primal_dual import dual_value

    if costs is None:
        costs = by_cluster(1.0, 1.0, np.zeros(len(indptr) - 1, np.int32))
    return dual_value(indptr, topic_ids, topic_count, costs, progress)
