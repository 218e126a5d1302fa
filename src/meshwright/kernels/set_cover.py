"""Greedy set cover: few nodes that have all of some topics between them."""

import numpy as np
from numba import njit

from meshwright.kernels.arrays import Flags, Ids, Offsets

_NONE = -1


@njit(cache=True, nogil=True)
def cover(indptr: Offsets, topic_ids: Ids, topic_count: int, nodes: Ids, wanted: Flags) -> Ids:
    """A greedy cover of the `wanted` topics by `nodes`, in the order of choice.

    Each choice has the most topics that none before it has, and is the earliest in `nodes` of those that do.
    Wanted topics that none of the nodes has are passed over.

    A *gain* is how many topics a node would add. Nodes lie in buckets by a gain that they had; what a node
    gains now is kept up to date, and looked at when its bucket is on top. An interest lowers one gain once,
    and a node changes its bucket only after its gain fell: O(interests of the nodes + topics) time, beside
    sorting the nodes of a bucket, which settles ties.
    """
    rest = wanted.copy()
    starts, members, gains = _by_topic(indptr, topic_ids, topic_count, nodes, rest)
    level = gains.max() if len(gains) else 0
    first = np.full(level + 1, _NONE, np.int32)
    following = np.full(len(nodes), _NONE, np.int32)
    for i in range(len(nodes)):
        _put(first, following, gains[i], i)
    chosen = np.empty(len(nodes), np.int32)
    found = np.empty(len(nodes), np.int32)
    count = 0
    while level > 0:
        for i in _sorted_bucket(first, following, level, found):
            if gains[i] < level:
                _put(first, following, gains[i], i)
                continue
            chosen[count] = nodes[i]
            count += 1
            for topic in topic_ids[indptr[nodes[i]] : indptr[nodes[i] + 1]]:
                if rest[topic]:
                    rest[topic] = False
                    for j in members[starts[topic] : starts[topic + 1]]:
                        gains[j] -= 1
        level -= 1
    return chosen[:count].copy()


@njit(cache=True, nogil=True)
def _by_topic(
    indptr: Offsets, topic_ids: Ids, topic_count: int, nodes: Ids, wanted: Flags
) -> tuple[Offsets, Ids, Ids]:
    """Of each wanted topic the places in `nodes` of those who have it, and of each node how many it has."""
    starts = np.zeros(topic_count + 1, np.int64)
    gains = np.zeros(len(nodes), np.int32)
    for i in range(len(nodes)):
        for topic in topic_ids[indptr[nodes[i]] : indptr[nodes[i] + 1]]:
            starts[topic + 1] += wanted[topic]
            gains[i] += wanted[topic]
    starts = np.cumsum(starts)
    free = starts[:-1].copy()
    members = np.empty(starts[-1], np.int32)
    for i in range(len(nodes)):
        for topic in topic_ids[indptr[nodes[i]] : indptr[nodes[i] + 1]]:
            if wanted[topic]:
                members[free[topic]] = i
                free[topic] += 1
    return starts, members, gains


@njit(cache=True, nogil=True)
def _put(first: Ids, following: Ids, gain: int, i: int) -> None:
    following[i] = first[gain]
    first[gain] = i


@njit(cache=True, nogil=True)
def _sorted_bucket(first: Ids, following: Ids, gain: int, found: Ids) -> Ids:
    """What lies in a bucket, the earliest first."""
    count = 0
    i = first[gain]
    while i != _NONE:
        found[count] = i
        count += 1
        i = following[i]
    return np.sort(found[:count])
