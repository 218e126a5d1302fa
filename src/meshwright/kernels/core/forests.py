"""Spanning forests of graphs with any vertex ids, and the renumbering that makes such graphs compact."""

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.subgraphs import links_of
from meshwright.runtime.arrays import Flags, Ids, Offsets

# 2^64 over the golden ratio: multiplied by it, ids in a row land far apart in a table.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)

Values = TypeVar("Values", bound=npt.NDArray[np.generic])


@kernel
def number_ends(ends: Ids, indptr: Offsets, sizes: Offsets) -> Ids:
    """Replace, in each graph of a row, the ids at the ends of edges by their ranks among those that occur.

    Graph i has the edges `ends[indptr[i] : indptr[i + 1]]`. Gives the ids that ranks stand for: `sizes[i]`
    for graph i, of which those of vertices without edges are not known, and -1. O(edges), and a sort of each
    graph's ids.
    """
    named = np.full(sizes.sum(), np.int32(-1))
    first = 0
    for graph in range(indptr.size - 1):
        ids = rank_ids(ends[indptr[graph] : indptr[graph + 1]])
        for rank in range(ids.size):
            named[first + rank] = ids[rank]
        first += sizes[graph]
    return named


@kernel
def rank_ids(ends: Ids) -> Ids:
    """Replace the ids, none negative, by their ranks; give the ids, rising, that these stand for.

    The ids go through a table with open addresses, so that memory follows the edges, not the greatest id.
    """
    bits = 2
    while (1 << bits) < 4 * ends.shape[0]:
        bits += 1
    keys = np.full(1 << bits, np.int32(-1))
    found = np.empty(2 * ends.shape[0], np.int32)
    count = 0
    for edge in range(ends.shape[0]):
        for end in range(2):
            slot = _slot(keys, bits, ends[edge, end])
            if keys[slot] < 0:
                keys[slot] = ends[edge, end]
                found[count] = ends[edge, end]
                count += 1
            ends[edge, end] = slot
    ids = np.sort(found[:count])
    for rank in range(count):
        keys[_slot(keys, bits, ids[rank])] = -2 - rank
    for edge in range(ends.shape[0]):
        for end in range(2):
            ends[edge, end] = -2 - keys[ends[edge, end]]
    return ids


@inner
def _slot(keys: Ids, bits: int, key: int) -> int:
    """Where a key stands in the table, or the free place for it."""
    slot = int(np.int64((np.uint64(key) * _SPREAD) >> np.uint64(64 - bits)))
    while keys[slot] != -1 and keys[slot] != key:
        slot = (slot + 1) & (keys.size - 1)
    return slot


@kernel
def spanning_forest(size: int, ends: Ids) -> Flags:
    """Which edges are in a forest that connects what the edges (m, 2) among `size` vertices connect.

    Breadth-first from the vertex with the most edges, then from the next that was not reached: trees around
    hubs are shallow, so that the diameter of the tree is a good bound on that of the graph. The forest
    depends on the edges and their order alone. O(edges + vertices log vertices).
    """
    links = links_of(ends, size)
    kept = np.zeros(ends.shape[0], np.bool_)
    reached = np.zeros(size, np.bool_)
    queue = np.empty(size, np.int32)
    for root in np.argsort(links.indptr[:-1] - links.indptr[1:], kind="mergesort"):
        if reached[root]:
            continue
        reached[root] = True
        queue[0] = root
        head, tail = 0, 1
        while head < tail:
            vertex = queue[head]
            head += 1
            for item in range(links.indptr[vertex], links.indptr[vertex + 1]):
                other = links.nodes[item]
                if not reached[other]:
                    reached[other] = kept[links.edge_ids[item]] = True
                    queue[tail] = other
                    tail += 1
    return kept


@kernel
def place_runs(places: Offsets, lengths: Ids, values: Values, placed: Values) -> None:
    """Copy runs of `values`, which stand one behind the other, to where each begins in `placed`. Linear."""
    item = 0
    for run in range(lengths.size):
        place = places[run]
        for step in range(lengths[run]):
            placed[place + step] = values[item + step]
        item += lengths[run]
