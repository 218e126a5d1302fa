"""Star sets: few nodes that speak for all topics of many."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from meshwright.model.interests import Interests
from meshwright.model.names import find
from meshwright.runtime.arrays import Flags, Ids, Offsets


def star_set(indptr: Offsets, topic_ids: Ids, topic_count: int, nodes: Ids, wanted: Flags) -> Ids:
    """The nodes, in the order of choice, of a star set of `nodes` for the topics flagged in `wanted`.

    Guarantee: every wanted topic that one of `nodes` has, one of the stars has. Each star adds the most
    topics when it is chosen, and is the earliest in `nodes` of those that do; so there are at most
    1 + ln(topics) times as many as needed.

    Cost: linear in the interests of `nodes` and the number of topics.

    Source: [1], Alg. 3, getStarSet.
    """
    from meshwright.kernels.greedy.covering import cover

    order = np.ascontiguousarray(nodes, np.int32)
    return cover(indptr, topic_ids, topic_count, order, wanted)


def named_star_set(interests: Interests, topics: Iterable[str] | None = None) -> list[str]:
    """The names of few nodes that together have all of `topics`, or of all topics, in the order of choice.

    As `star_set`, over all nodes; ties go to the first by name.
    """
    wanted = np.full(interests.topic_count, topics is None)
    for topic in topics or ():
        wanted[find(interests.topics, topic, "topic")] = True
    every = np.arange(interests.node_count, dtype=np.int32)
    stars = star_set(interests.indptr, interests.topic_ids, interests.topic_count, every, wanted)
    names: list[str] = interests.nodes.take(pa.array(stars)).to_pylist()
    return names
