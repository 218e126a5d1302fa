"""Diameters of topics whose views are directed links: breadth first from 64 slots at once, one a bit."""

import numpy as np
from numba import njit

from meshwright.kernels.arrays import Ids, Offsets, Words
from meshwright.kernels.views import Chunk
from meshwright.progress import CANCEL, Ticks

_WORD = 64


@njit(cache=True, nogil=True)
def _farthest(first: int, sources: Offsets, indptr: Offsets, slots: Ids, words: Words) -> int:
    """The most hops from one of up to 64 sources to any other of the topic; -1 where one is out of reach."""
    seen, now, then = words[0], words[1], words[2]
    words[:] = 0
    for bit in range(sources.size):
        seen[sources[bit] - first] = now[sources[bit] - first] = np.uint64(1) << np.uint64(bit)
    everyone = np.uint64(0xFFFF_FFFF_FFFF_FFFF) >> np.uint64(_WORD - sources.size)
    hops, spreads = 0, True
    while spreads:
        for place in range(seen.size):
            if now[place]:
                for peer in slots[indptr[first + place] : indptr[first + place + 1]]:
                    then[peer - first] |= now[place]
        spreads, complete = False, True
        for place in range(seen.size):
            now[place] = then[place] & ~seen[place]
            then[place] = 0
            seen[place] |= now[place]
            spreads |= now[place] != 0
            complete &= seen[place] == everyone
        hops += spreads
        if complete:
            return hops
    return -1


@njit(cache=True, nogil=True)
def topic_diameters(
    topic_indptr: Offsets,
    topics: Chunk,
    indptr: Offsets,
    slots: Ids,
    most_sources: int,
    diameters: Ids,
    ticks: Ticks,
) -> None:
    """Write the diameter of each topic of a range, -1 where some slot can't reach another.

    Of topics of more than `most_sources` slots as many, spread evenly, are sources: then it is a lower bound.
    O(n / 64) sweeps over the views of a topic of n, each as often as the diameter.
    """
    for topic in range(topics[0], topics[1]):
        first, size = topic_indptr[topic], topic_indptr[topic + 1] - topic_indptr[topic]
        words = np.zeros((3, size), np.uint64)
        count = min(size, most_sources)
        diameters[topic] = 0
        for batch in range(0, count, _WORD):
            if ticks[CANCEL]:
                return
            sources = np.empty(min(_WORD, count - batch), np.int64)
            for bit in range(sources.size):
                sources[bit] = first + (batch + bit) * size // count
            found = _farthest(first, sources, indptr, slots, words)
            if found < 0:
                diameters[topic] = -1
                break
            diameters[topic] = max(diameters[topic], found)
