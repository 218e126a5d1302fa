"""How often two neighbours of a node are neighbours themselves."""

import numpy as np

from meshwright.kernels.clustering import count_triangles
from meshwright.kernels.subgraphs import Links
from meshwright.progress import Progress, run_with_ticks


def clustering_coefficient(links: Links, progress: Progress | None = None) -> float:
    """The mean over all nodes of the local clustering coefficient, in the whole overlay.

    That of a node is the share of pairs of its neighbours that are linked, 0 with fewer than two neighbours
    (as networkx.average_clustering); without nodes it is 0. O(|E|^1.5).
    """
    degrees = np.diff(links.indptr)
    if not len(degrees):
        return 0.0
    triangles = run_with_ticks(lambda ticks: count_triangles(links, ticks), "counting triangles", 0, progress)
    pairs = degrees * (degrees - 1) / 2
    return float(np.mean(triangles / np.maximum(pairs, 1)))
