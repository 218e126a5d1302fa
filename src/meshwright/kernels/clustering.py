"""Triangles of the overlay."""

import numpy as np
from numba import njit

from meshwright.kernels.arrays import Ids, Offsets
from meshwright.kernels.subgraphs import Links


@njit(cache=True, nogil=True)
def count_triangles(links: Links, ticks: Offsets) -> Offsets:
    """How many triangles each node is in.

    Every edge points to its end of higher degree, so no node has more than sqrt(2 |E|) of them and the whole
    costs O(|E|^1.5), however large the hubs.
    """
    node_count = links.indptr.size - 1
    indptr, targets = _upward_links(links)
    triangles = np.zeros(node_count, np.int64)
    marked = np.zeros(node_count, np.bool_)
    for node in range(node_count):
        if ticks[1]:
            break
        upward = targets[indptr[node] : indptr[node + 1]]
        for other in upward:
            marked[other] = True
        for other in upward:
            for third in targets[indptr[other] : indptr[other + 1]]:
                if marked[third]:
                    triangles[node] += 1
                    triangles[other] += 1
                    triangles[third] += 1
        for other in upward:
            marked[other] = False
    return triangles


@njit(cache=True, nogil=True)
def _upward_links(links: Links) -> tuple[Offsets, Ids]:
    """CSR of each edge once, from its end of lower degree (of lower id where both have the same)."""
    indptr = np.zeros(links.indptr.size, np.int64)
    targets = np.empty(links.nodes.size // 2, np.int32)
    count = 0
    for node in range(links.indptr.size - 1):
        degree = links.indptr[node + 1] - links.indptr[node]
        for other in links.nodes[links.indptr[node] : links.indptr[node + 1]]:
            other_degree = links.indptr[other + 1] - links.indptr[other]
            if degree < other_degree or (degree == other_degree and node < other):
                targets[count] = other
                count += 1
        indptr[node + 1] = count
    return indptr, targets
