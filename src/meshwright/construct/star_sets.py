"""Star sets: few nodes that speak for all topics of many."""

import numpy as np

from meshwright.kernels.arrays import Flags, Ids, Offsets
from meshwright.kernels.set_cover import cover


def star_set(indptr: Offsets, topic_ids: Ids, topic_count: int, nodes: Ids, wanted: Flags) -> Ids:
    """The nodes, in the order of choice, of a star set of `nodes` for the topics flagged in `wanted`.

    Guarantee: every wanted topic that one of `nodes` has, one of the stars has. Each star adds the most
    topics when it is chosen, and is the earliest in `nodes` of those that do; so there are at most
    1 + ln(topics) times as many as needed.

    Cost: linear in the interests of `nodes` and the number of topics.

    Source: [1], Alg. 3, getStarSet.

    [1] Chen, Jacobsen, Vitenberg: Algorithms Based on Divide and Conquer for Topic-Based Publish/Subscribe
    Overlay Design, IEEE/ACM Transactions on Networking, 2016.
    """
    order = np.ascontiguousarray(nodes, np.int32)
    return cover(indptr, topic_ids, topic_count, order, wanted)
