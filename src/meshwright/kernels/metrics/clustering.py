"""Triangles of the overlay."""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import kernel
from meshwright.kernels.core.subgraphs import Links
from meshwright.runtime.arrays import Ids, Offsets


class UpwardLinks(NamedTuple):
    """Each edge once, at its end of lower degree, or else of lower id."""

    indptr: Offsets
    nodes: Ids


@kernel
def upward_links(links: Links) -> UpwardLinks:
    """Give each edge to one of its ends; no node gets more than sqrt(2 |E|) of them. O(edges)."""
    indptr = np.zeros(links.indptr.size, np.int64)
    nodes = np.empty(links.nodes.size // 2, np.int32)
    count = 0
    for node in range(links.indptr.size - 1):
        degree = links.indptr[node + 1] - links.indptr[node]
        for other in links.nodes[links.indptr[node] : links.indptr[node + 1]]:
            other_degree = links.indptr[other + 1] - links.indptr[other]
            if degree < other_degree or (degree == other_degree and node < other):
                nodes[count] = other
                count += 1
        indptr[node + 1] = count
    return UpwardLinks(indptr, nodes)


@kernel
def count_triangles(upward: UpwardLinks, nodes: tuple[int, int], triangles: Offsets, ticks: Offsets) -> None:
    """Add to `triangles`, for all three nodes, each triangle whose lowest node lies in a range.

    All ranges together cost O(|E|^1.5), however large the hubs.
    """
    marked = np.zeros(triangles.size, np.bool_)
    for node in range(*nodes):
        if ticks[1]:
            break
        neighbours = upward.nodes[upward.indptr[node] : upward.indptr[node + 1]]
        for other in neighbours:
            marked[other] = True
        for other in neighbours:
            for third in upward.nodes[upward.indptr[other] : upward.indptr[other + 1]]:
                if marked[third]:
                    triangles[node] += 1
                    triangles[other] += 1
                    triangles[third] += 1
        for other in neighbours:
            marked[other] = False
