"""Taking links away without disconnecting a topic."""

import numpy as np
from numba import njit

from meshwright.kernels.arrays import Flags, Ids
from meshwright.kernels.live import Live, Room, unlink
from meshwright.kernels.searching import is_needed


@njit(cache=True, nogil=True)
def unlink_unneeded(live: Live, room: Room, edges: Ids, most: int) -> Flags:
    """Take away those `edges` that no topic needs, one after the other, at most so many; flag them."""
    gone = np.zeros(len(edges), np.bool_)
    count = 0
    for at in range(len(edges)):
        if count == most:
            break
        u, v = edges[at, 0], edges[at, 1]
        if not is_needed(live.topics, live.links, room, u, v):
            unlink(live.links, live.by_degree, live.sums, u, v)
            gone[at] = True
            count += 1
    return gone
