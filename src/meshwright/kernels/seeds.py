"""Where the search of a topic begins: the seeds, and those who stand for whom nobody sees.

An interest is a number here, topic << 32 | node.
"""

from typing import Any

import numpy as np
from numba import njit

from meshwright.kernels.arrays import Ids, Offsets
from meshwright.kernels.live import next_step
from meshwright.kernels.rows import holds, row_of

NODE = 0xFFFFFFFF
"""The bits of an interest that are its node."""

NONE = -1


@njit(cache=True, nogil=True)
def unique(numbers: Offsets) -> Offsets:
    """Sorted, and each once."""
    numbers = np.sort(numbers)
    count = 0
    for at in range(len(numbers)):
        if count == 0 or numbers[at] != numbers[count - 1]:
            numbers[count] = numbers[at]
            count += 1
    return numbers[:count]


@njit(cache=True, nogil=True)
def unique_nodes(nodes: Ids) -> Ids:
    """Nodes in order, each once."""
    return unique(nodes.astype(np.int64)).astype(np.int32)


@njit(cache=True, nogil=True)
def add_representatives(live: Any, room: Any, seeds: Offsets, gained: Offsets, shadows: Ids) -> Any:
    """Seeds and shadows with somebody of each topic that none but new subscribers are seeds of.

    Those who had the topic before are connected, so one of them stands for all.
    """
    more, added = np.empty(len(gained), np.int64), np.empty(len(gained), np.int32)
    count, start = 0, 0
    while start < len(gained):
        topic = gained[start] >> 32
        new = next_step(room.steps)
        end = start
        while end < len(gained) and gained[end] >> 32 == topic:
            room.marks[gained[end] & NODE] = new
            end += 1
        others = np.searchsorted(seeds, (topic + 1) << 32) - np.searchsorted(seeds, topic << 32)
        if others == end - start:
            found = _representative(live, room, new, topic, gained[start:end], shadows)
            if found != NONE:
                more[count], added[count] = (topic << 32) | found, found
                count += 1
        start = end
    seeds = np.sort(np.concatenate((seeds, more[:count])))
    return seeds, unique_nodes(np.concatenate((shadows, added[:count])))


@njit(cache=True, nogil=True)
def _representative(live: Any, room: Any, new: int, topic: int, gained: Offsets, shadows: Ids) -> Any:
    """Somebody who had the topic before, not marked as `new`; NONE where there is nobody.

    A neighbour of a new subscriber comes first, since the search then ends at once; then shadows; then
    anybody.
    """
    topics = live.topics
    for interest in gained:
        for other in row_of(live.links, interest & NODE):
            if room.marks[other] != new and holds(
                topics.items, topics.starts[other], topics.counts[other], topic
            ):
                return other
    for other in shadows:
        if room.marks[other] != new and holds(
            topics.items, topics.starts[other], topics.counts[other], topic
        ):
            return other
    for other in row_of(live.subscribers, topic):
        if room.marks[other] != new:
            return other
    return NONE
