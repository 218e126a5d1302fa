"""Views of all nodes at once: drawn at random, chosen by global knowledge, counted, and measured.

A view belongs to a slot, an interest by topic and then by node, and its peers are slots of the same topic.
The peers of slot s stand at `indptr[s]:indptr[s + 1]`, lightest first. Diameters treat views as directed
links, and search breadth first from 64 slots at once, one bit each.
"""

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.hashing import pick, weight
from meshwright.runtime.arrays import Ids, Offsets, Ticks, Words
from meshwright.runtime.progress import CANCEL

Chunk = tuple[int, int]


@inner
def offer(own: np.uint64, keys: Words, slot: int, row: Ids, weights: Words, count: int, size: int) -> int:
    """Put a slot into a row of `count`, sorted by weight, of at most `size`; the new count.

    What is heavier than a full row, and what is in it already, changes nothing.
    """
    heavy = weight(own, keys[slot])
    if count == size and (size == 0 or heavy >= weights[count - 1]):
        return count
    place = count
    while place > 0 and weights[place - 1] > heavy:
        place -= 1
    if place > 0 and weights[place - 1] == heavy:
        return count
    last = min(count, size - 1)
    for at in range(last, place, -1):
        weights[at], row[at] = weights[at - 1], row[at - 1]
    weights[place], row[place] = heavy, slot
    return last + 1


@kernel
def draw_views(
    topic_indptr: Offsets,
    topics: Chunk,
    indptr: Offsets,
    keys: Words,
    key: np.uint64,
    slots: Ids,
    ticks: Ticks,
) -> None:
    """Give each view of some topics different others of its topic, all equally likely. Linear in the views.

    Floyd's way: the draw j of m - k to m - 1 is a number up to j, or j itself where that was drawn before.
    """
    largest = np.int64(0)
    for topic in range(topics[0], topics[1]):
        largest = max(largest, topic_indptr[topic + 1] - topic_indptr[topic])
    drawn_by = np.full(largest, np.int64(-1))
    weights = np.empty(largest, np.uint64)
    for topic in range(topics[0], topics[1]):
        first, others = topic_indptr[topic], topic_indptr[topic + 1] - topic_indptr[topic] - 1
        if ticks[CANCEL]:
            return
        for slot in range(first, first + others + 1):
            row = slots[indptr[slot] : indptr[slot + 1]]
            for at in range(row.size):
                limit = others - row.size + at
                drawn = pick(key, slot, at, limit + 1)
                drawn = limit if drawn_by[drawn] == slot else drawn
                drawn_by[drawn] = slot
                other = first + drawn + (first + drawn >= slot)
                offer(keys[slot], keys, other, row, weights, at, row.size)


@kernel
def choose_lightest(
    topic_indptr: Offsets, topics: Chunk, indptr: Offsets, keys: Words, slots: Ids, ticks: Ticks
) -> None:
    """Give each view of some topics the lightest of all others: O(n²) for a topic of n."""
    weights = np.empty(0, np.uint64)
    for topic in range(topics[0], topics[1]):
        for slot in range(topic_indptr[topic], topic_indptr[topic + 1]):
            if ticks[CANCEL]:
                return
            row = slots[indptr[slot] : indptr[slot + 1]]
            if row.size > weights.size:
                weights = np.empty(row.size, np.uint64)
            count = 0
            for other in range(topic_indptr[topic], topic_indptr[topic + 1]):
                if other != slot:
                    count = offer(keys[slot], keys, other, row, weights, count, row.size)


@kernel
def wrong_peer(topic_indptr: Offsets, indptr: Offsets, slots: Ids) -> int:
    """The index of the first peer that is repeated or no other slot of the view's topic; -1 if none is."""
    seen_by = np.full(indptr.size - 1, np.int32(-1))
    for topic in range(topic_indptr.size - 1):
        first, end = topic_indptr[topic], topic_indptr[topic + 1]
        for slot in range(first, end):
            for place in range(indptr[slot], indptr[slot + 1]):
                peer = slots[place]
                if peer < first or peer >= end or peer == slot or seen_by[peer] == slot:
                    return place
                seen_by[peer] = slot
    return -1


@kernel
def count_peers(
    node_indptr: Offsets, own_slots: Ids, indptr: Offsets, peers: Ids, sizes: Offsets, in_sizes: Offsets
) -> None:
    """Write how many different peers each node has over all of its views, and in how many nodes' views it is.

    O(logical links).
    """
    seen_by = np.full(sizes.size, np.int64(-1))
    for node in range(sizes.size):
        for place in range(node_indptr[node], node_indptr[node + 1]):
            slot = own_slots[place]
            for peer in peers[indptr[slot] : indptr[slot + 1]]:
                if seen_by[peer] != node:
                    seen_by[peer] = node
                    sizes[node] += 1
                    in_sizes[peer] += 1


@kernel
def count_links_among_peers(indptr: Offsets, slots: Ids, chunk: Chunk, counts: Offsets) -> None:
    """Write for each slot of a range how many of its peers have another of its peers in their view.

    A view of k peers has at most k (k - 1) of these links. O(k²) for a slot.
    """
    for slot in range(chunk[0], chunk[1]):
        row = np.sort(slots[indptr[slot] : indptr[slot + 1]])
        for peer in row:
            for other in slots[indptr[peer] : indptr[peer + 1]]:
                at = np.searchsorted(row, other)
                counts[slot] += at < row.size and row[at] == other


@kernel
def sort_views(indptr: Offsets, keys: Words, slots: Ids) -> None:
    """Put the lightest first in every view, in place; linear where they are so already."""
    for slot in range(indptr.size - 1):
        row = slots[indptr[slot] : indptr[slot + 1]]
        for at in range(1, row.size):
            peer = row[at]
            heavy = weight(keys[slot], keys[peer])
            place = at
            while place > 0 and weight(keys[slot], keys[row[place - 1]]) > heavy:
                row[place] = row[place - 1]
                place -= 1
            row[place] = peer


_WORD = 64


@inner
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


@kernel
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
