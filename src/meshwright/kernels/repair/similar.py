"""The nodes that share most topics with a node: the best partners for its links."""

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.interest_keys import interest_key, node_of
from meshwright.kernels.core.rows import row_of
from meshwright.kernels.repair.mutable_overlay import Live, Marks, next_step
from meshwright.runtime.arrays import Ids, int64

LOOKED_AT = 16_384
"""How many subscribers of all topics are looked at for nodes that share many of them."""


@kernel
def similar_nodes(live: Live, room: Marks, node: int, topics: Ids, share: float, most: int, busy: int) -> Ids:
    """Up to `most` nodes other than `node` that have the most of these topics; of equals, those of few links.

    Nodes with `busy` links or more are left out.

    Of each topic as many subscribers are looked at in a row, up to `LOOKED_AT` in all, from the same share of
    the row on in all topics. Rows are about in the order of places, so they hold about the same nodes.
    """
    window = LOOKED_AT // max(1, len(topics)) + 1
    shared, found, count = room.numbers, room.found, 0
    step = next_step(room.steps)
    room.marks[node] = step
    shared[node] = 0
    for topic in topics:
        others = row_of(live.subscribers, topic)
        at = int64(share * len(others))
        for _ in range(min(window, len(others))):
            other = others[at]
            at = at + 1 if at + 1 < len(others) else 0
            if room.marks[other] != step:
                room.marks[other] = step
                shared[other] = 0
                found[count] = other
                count += live.links.counts[other] < busy
            shared[other] += other != node
    return best_of(found[:count], shared, live.links.counts, len(topics), most)


@inner
def best_of(found: Ids, shared: Ids, degrees: Ids, topics: int, most: int) -> Ids:
    """Those that share most; sorts only those that share as much as the last of them."""
    sizes = np.zeros(topics + 1, np.int64)
    for other in found:
        sizes[shared[other]] += 1
    least, enough = int64(topics), sizes[topics]
    while least > 1 and enough < most:
        least -= 1
        enough += sizes[least]
    keys, count = np.empty(enough, np.int64), 0
    for other in found:
        if shared[other] >= least:
            keys[count] = (int64(topics - shared[other]) << 56) | interest_key(degrees[other], other)
            count += 1
    keys = np.sort(keys[:count])[:most]
    best = np.empty(len(keys), np.int32)
    for at in range(len(keys)):
        best[at] = node_of(keys[at])
    return best
