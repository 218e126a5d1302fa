"""Topics around hubs, condensed: what matters of all other nodes, in memory that grows with the hubs alone.

Where every edge has a hub at an end, a node that is no hub, a *light* one, is linked to hubs only. In the
sub-overlay of a topic it is then alone, a *leaf* (linked to one hub), or a *joint*: linked to several hubs,
which are two steps apart by it. So a topic is known by its hubs, the edges between these, how many leaves
each hub has, and which two hubs some joint links, one bit each. That is the same size for any number of
nodes, and it is found in one pass over lists and edges, in any order and in pieces.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.bits import popcount
from meshwright.runtime.arrays import Flags, Ids, Longs, Offsets, Ticks, Words, int64
from meshwright.runtime.progress import CANCEL

_NONE = -1
_ONE = np.uint64(1)


class Rows(NamedTuple):
    """Rows of ids of any length: those of row i are `ids[indptr[i] : indptr[i + 1]]`."""

    indptr: Offsets
    ids: Ids


class HubTopics(NamedTuple):
    """The topics of the hubs, and where the bits of each topic stand.

    The matrix of a topic has a row and a column for each of its hubs, by rank; a row begins at a word.
    """

    indptr: Offsets  # by hub
    topic_ids: Ids  # rising for each hub
    bits: Words  # by hub and word: its topics as a bitset; no words where there are too many topics
    before: Ids  # by hub and word: its topics in the words before
    ranks: Ids  # by interest of a hub: its place among the hubs of the topic
    row_words: Offsets  # by topic: the words of a row of its matrix
    starts: Offsets  # by topic: the first word of its matrix


class Condensed(NamedTuple):
    """What light nodes contribute; what pieces contribute is added up, and the bits are united."""

    alone: Longs  # by topic: light subscribers that no hub of the topic is linked to
    links: Longs  # by topic: links of light subscribers
    leaves: Longs  # by interest of a hub: the light subscribers that are linked to this hub alone
    joined: Words  # the matrices: whether a joint links two hubs
    hub_triangles: Longs  # by hub: triangles with a light node


@kernel
def condense(
    lists: Rows,
    links: Rows,
    is_hub: Flags,
    hubs: HubTopics,
    adjacent: Words,
    found: Condensed,
    triangles: Longs,
    ticks: Ticks,
) -> None:
    """Add what some nodes contribute that are no hubs.

    `lists` has the topics of each node, and `links` the numbers of the hubs that it is linked to. `adjacent`
    has a bit for each two hubs that are linked. The triangles of each light node are written to `triangles`,
    and counted at its hubs, too; -1 is written where a node is linked to a hub twice.

    Cost: O(1) for each link and topic of its light end, or, without bitsets, O(log topics of the hub); and
    the square of a node's links.
    """
    most = 0
    for node in range(is_hub.size):
        most = max(most, links.indptr[node + 1] - links.indptr[node])
    interests = np.empty(most, np.int64)
    for node in range(is_hub.size):
        if ticks[CANCEL]:
            return
        if is_hub[node]:
            continue
        own = links.ids[links.indptr[node] : links.indptr[node + 1]]
        for topic in lists.ids[lists.indptr[node] : lists.indptr[node + 1]]:
            count = _find_interests(hubs, topic, own, interests)
            _add_topic(hubs, topic, interests[:count], found)
        triangles[node] = _add_triangles(own, adjacent, found.hub_triangles)


@inner
def _find_interests(hubs: HubTopics, topic: int, own: Ids, interests: Longs) -> int:
    """Write the interests in a topic of those of some hubs that have it; return how many have."""
    count = 0
    if not hubs.bits.shape[1]:
        for hub in own:
            interests[count] = _search(hubs.topic_ids, hubs.indptr[hub], hubs.indptr[hub + 1], topic)
            count += interests[count] != _NONE
        return count
    word, bit = topic >> 6, np.uint64(topic & 63)
    # Collected without a branch first: no processor guesses which hubs have a topic.
    for hub in own:
        interests[count] = hub
        count += int64((hubs.bits[hub, word] >> bit) & _ONE)
    for item in range(count):
        hub = interests[item]
        lower = hubs.bits[hub, word] & ((_ONE << bit) - _ONE)
        interests[item] = hubs.indptr[hub] + hubs.before[hub, word] + popcount(lower)
    return count


@inner
def _search(topic_ids: Ids, low: int, end: int, topic: int) -> int:
    """Where a topic is between two places of a rising list, or _NONE."""
    high = end
    while low < high:
        middle = (low + high) >> 1
        if topic_ids[middle] < topic:
            low = middle + 1
        else:
            high = middle
    return low if low < end and topic_ids[low] == topic else _NONE


@inner
def _add_topic(hubs: HubTopics, topic: int, interests: Longs, found: Condensed) -> None:
    """Count a node in one of its topics: alone, as a leaf, or as a joint, whose hubs it joins."""
    found.links[topic] += interests.size
    if interests.size == 0:
        found.alone[topic] += 1
    elif interests.size == 1:
        found.leaves[interests[0]] += 1
    else:
        for one in range(interests.size):
            for other in range(one):
                _set_bits(hubs, topic, interests[one], interests[other], found.joined)


@inner
def _set_bits(hubs: HubTopics, topic: int, one: int, other: int, matrices: Words) -> None:
    """Set both bits of two hubs, given by their interests in a topic."""
    start, width = hubs.starts[topic], hubs.row_words[topic]
    a, b = hubs.ranks[one], hubs.ranks[other]
    matrices[start + a * width + (b >> 6)] |= _ONE << np.uint64(b & 63)
    matrices[start + b * width + (a >> 6)] |= _ONE << np.uint64(a & 63)


@inner
def _add_triangles(own: Ids, adjacent: Words, hub_triangles: Longs) -> int:
    """How many two of a node's hubs are linked, each a triangle of these, too; -1 if a hub comes twice."""
    count = 0
    for i in range(own.size):
        for j in range(i):
            if own[i] == own[j]:
                return _NONE
            if (adjacent[own[i], own[j] >> 6] >> np.uint64(own[j] & 63)) & _ONE:
                hub_triangles[own[i]] += 1
                hub_triangles[own[j]] += 1
                count += 1
    return count


@kernel
def link_hubs(hubs: HubTopics, edges: Ids, linked: Words, links: Longs) -> None:
    """Write the edges between hubs into the matrices of their common topics, and count them by topic."""
    for edge in range(edges.shape[0]):
        u, v = edges[edge, 0], edges[edge, 1]
        i, j = hubs.indptr[u], hubs.indptr[v]
        while i < hubs.indptr[u + 1] and j < hubs.indptr[v + 1]:
            topic, other = hubs.topic_ids[i], hubs.topic_ids[j]
            if topic == other:
                _set_bits(hubs, topic, i, j, linked)
                links[topic] += 1
            i += topic <= other
            j += other <= topic


@kernel
def rows_by_owner(owners: Ids, ids: Ids, count: int) -> Rows:
    """The ids of each of `count` owners, in the order in which they come. O(ids + owners)."""
    indptr = np.zeros(count + 1, np.int64)
    for owner in owners:
        indptr[owner + 1] += 1
    for owner in range(count):
        indptr[owner + 1] += indptr[owner]
    free = indptr[:-1].copy()
    found = np.empty(ids.size, np.int32)
    for item in range(ids.size):
        found[free[owners[item]]] = ids[item]
        free[owners[item]] += 1
    return Rows(indptr, found)
