"""How often two neighbours of a node are neighbours themselves."""

from collections.abc import Iterator

import numpy as np

from meshwright.evaluate.cores import Chunk, balanced_chunks, on_all_cores
from meshwright.kernels.arrays import Offsets
from meshwright.kernels.clustering import count_triangles, upward_links
from meshwright.kernels.subgraphs import Links
from meshwright.progress import Progress, Ticks, run_with_ticks


def clustering_coefficient(links: Links, progress: Progress | None = None) -> float:
    """The mean over all nodes of the local clustering coefficient, in the whole overlay.

    That of a node is the share of pairs of its neighbours that are linked, 0 with fewer than two neighbours
    (as networkx.average_clustering); without nodes it is 0. O(|E|^1.5).
    """
    degrees = np.diff(links.indptr)
    if not len(degrees):
        return 0.0
    upward = run_with_ticks(lambda ticks: upward_links(links), "directing links", 0, progress)

    def count(turns: Iterator[Chunk], ticks: Ticks) -> Offsets:
        triangles = np.zeros(len(degrees), np.int64)
        for nodes in turns:
            count_triangles(upward, nodes, triangles, ticks)
        return triangles

    chunks = balanced_chunks(np.diff(upward.indptr))
    triangles = np.sum(on_all_cores(count, chunks, "counting triangles", progress), axis=0)
    return mean_coefficient(degrees, triangles)


def mean_coefficient(degrees: Offsets, triangles: Offsets) -> float:
    """The same, of the links of each node and the triangles that it is a corner of."""
    if not len(degrees):
        return 0.0
    pairs = degrees * (degrees - 1) / 2
    return float(np.mean(triangles / np.maximum(pairs, 1)))
