"""The links and interests of a few nodes and topics, out of an overlay that changes."""

import numpy as np

from meshwright.kernels.compiling import kernel
from meshwright.kernels.core.rows import Rows
from meshwright.runtime.arrays import Ids


@kernel
def links_inside(links: Rows, nodes: Ids, numbers: Ids) -> Ids:
    """The links between two of some nodes, each once, as pairs of their `numbers`; NONE (-1) for all others.

    O(links of the nodes).
    """
    room = 0
    for node in nodes:
        room += links.counts[node]
    found = np.empty((room, 2), np.int32)
    count = 0
    for node in nodes:
        for at in range(links.starts[node], links.starts[node] + links.counts[node]):
            other = links.items[at]
            if other > node and numbers[other] >= 0:
                found[count, 0], found[count, 1] = numbers[node], numbers[other]
                count += 1
    return found[:count].copy()
