"""Ring-per-Topic: what is commonly done, a separate overlay for each topic."""

import numpy as np

from meshwright.model.costs.costs import Costs
from meshwright.model.edges import Built
from meshwright.model.interests import Interests
from meshwright.runtime.progress import Progress, stage
from meshwright.runtime.seeds import generator


def ring_per_topic(
    interests: Interests, costs: Costs | None, options: object, seed: int, progress: Progress | None
) -> Built:
    """Ring-per-Topic (RingPT).

    Guarantee: topic-connected; a topic of n > 2 subscribers is a ring of n edges, so the degree is at most
    twice the number of a node's topics. Two subscribers get one edge. Costs change nothing.

    Cost: O(k log k) time for k interests, which is that of shuffling every topic at once, and some 50 bytes
    an interest.

    Source: [1], VIII-D.2. The order of a ring is an independent random one for each topic; a pair that
    several rings use is one edge (the paper says neither).
    """
    del costs, options
    starts, sizes = interests.topic_indptr[:-1], np.diff(interests.topic_indptr)
    with stage(progress, "drawing rings"):
        topics = np.repeat(np.arange(interests.topic_count), sizes)
        shuffled = np.argsort(topics + generator(seed, "ring").random(len(interests)))
        members = interests.node_ids[shuffled]
        following = np.roll(members, -1)
        filled = sizes > 0
        following[(starts + sizes - 1)[filled]] = members[starts[filled]]
        edges = np.column_stack([members, following])[np.repeat(sizes > 1, sizes)]
    return Built(edges=edges)
