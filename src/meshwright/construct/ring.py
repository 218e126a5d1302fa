"""Ring-per-Topic: what is commonly done, a separate overlay for each topic."""

import numpy as np

from meshwright.construct.options import RingOptions
from meshwright.model.built import Built
from meshwright.model.interests import Interests
from meshwright.progress import Progress
from meshwright.seeds import generator


def ring_per_topic(interests: Interests, options: RingOptions, seed: int, progress: Progress | None) -> Built:
    """Ring-per-Topic (RingPT).

    Guarantee: topic-connected; a topic of n > 2 subscribers is a ring of n edges, so the degree is at most
    twice the number of a node's topics. Two subscribers get one edge.

    Cost: O(k log k) time for k interests, which is that of shuffling every topic at once, and some 50 bytes
    an interest.

    Source: [1], VIII-D.2. The order of a ring is an independent random one for each topic; a pair that
    several rings use is one edge (the paper says neither).
    """
    del options, progress
    topics = np.repeat(np.arange(interests.topic_count), np.diff(interests.topic_indptr))
    keys = generator(seed, "ring").random(len(interests))
    members = interests.node_ids[np.lexsort((keys, topics))]
    following = np.roll(members, -1)
    ends = interests.topic_indptr[1:]
    sizes = np.diff(interests.topic_indptr)
    filled = sizes > 0
    following[ends[filled] - 1] = members[interests.topic_indptr[:-1][filled]]
    edges = np.column_stack([members, following])
    return Built(edges=edges[np.repeat(sizes > 1, sizes)])
