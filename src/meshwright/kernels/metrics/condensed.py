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
from meshwright.runtime.arrays import Flags, Ids, Longs, Offsets, Ticks, Words, int64
from meshwright.runtime.progress import CANCEL

_NONE = -1
_ONE = np.uint64(1)
_MUCH_LONGER = 8
"""A hub's list this many times as long as the other is searched, not read."""


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


class _Common(NamedTuple):
    """The hubs that a light node is linked to, by its own topics, as linked lists of interests of hubs."""

    places: Ids  # by topic: its place in the node's list, or _NONE
    heads: Ids  # by place: the first item, or _NONE
    counts: Ids  # by place
    interests: Offsets  # by item: the interest of a hub
    following: Ids  # by item: the next one of the same topic


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

    Cost: for each link O(topics of both ends), or O(topics of the light one log topics of the hub) where that
    is far less, and the square of a node's links.
    """
    most_topics, most_items = _room_for(lists.indptr, links.indptr)
    common = _Common(
        np.full(found.alone.size, np.int32(_NONE)),
        np.empty(most_topics, np.int32),
        np.empty(most_topics, np.int32),
        np.empty(most_items, np.int64),
        np.empty(most_items, np.int32),
    )
    for node in range(is_hub.size):
        if ticks[CANCEL]:
            return
        if is_hub[node]:
            continue
        topics = lists.ids[lists.indptr[node] : lists.indptr[node + 1]]
        own = links.ids[links.indptr[node] : links.indptr[node + 1]]
        _find_common(topics, own, hubs, common)
        _add_topics(topics, hubs, common, found)
        triangles[node] = _add_triangles(own, adjacent, found.hub_triangles)


@inner
def _room_for(indptr: Offsets, starts: Offsets) -> tuple[int, int]:
    """The most topics of a node, and the most interests that a node and its hubs can have in common."""
    most_topics, most_items = 0, 0
    for node in range(indptr.size - 1):
        topics, links = indptr[node + 1] - indptr[node], starts[node + 1] - starts[node]
        most_topics, most_items = max(most_topics, topics), max(most_items, topics * links)
    return most_topics, most_items


@inner
def _find_common(topics: Ids, own: Ids, hubs: HubTopics, common: _Common) -> None:
    """Write for each topic of a node the interests in it of the hubs that the node is linked to."""
    for place in range(topics.size):
        common.places[topics[place]] = place
        common.heads[place], common.counts[place] = _NONE, 0
    items = int64(0)
    for hub in own:
        first, last = hubs.indptr[hub], hubs.indptr[hub + 1]
        if last - first > _MUCH_LONGER * topics.size:
            items = _search_list(topics, first, last, hubs.topic_ids, common, items)
        else:
            items = _read_list(first, last, hubs.topic_ids, common, items)
    for topic in topics:
        common.places[topic] = _NONE


@inner
def _read_list(first: int, last: int, topic_ids: Ids, common: _Common, items: int) -> int:
    """Read all topics of a hub. Collected without a branch first: no processor guesses what is common."""
    begin = items
    for interest in range(first, last):
        if items < common.interests.size:
            common.interests[items] = interest
        items += common.places[topic_ids[interest]] != _NONE
    for item in range(begin, items):
        _append(common, common.places[topic_ids[common.interests[item]]], item)
    return items


@inner
def _search_list(topics: Ids, first: int, last: int, topic_ids: Ids, common: _Common, items: int) -> int:
    """Look up each topic of a node among those of a hub, which has many more."""
    for place in range(topics.size):
        low, high = first, last
        while low < high:
            middle = (low + high) >> 1
            if topic_ids[middle] < topics[place]:
                low = middle + 1
            else:
                high = middle
        if low < last and topic_ids[low] == topics[place]:
            common.interests[items] = low
            _append(common, place, items)
            items += 1
        first = low
    return items


@inner
def _append(common: _Common, place: int, item: int) -> None:
    common.following[item] = common.heads[place]
    common.heads[place] = item
    common.counts[place] += 1


@inner
def _add_topics(topics: Ids, hubs: HubTopics, common: _Common, found: Condensed) -> None:
    """Count a node in each of its topics: alone, as a leaf, or as a joint, whose hubs it joins."""
    for place in range(topics.size):
        topic, count = topics[place], common.counts[place]
        found.links[topic] += count
        if count == 0:
            found.alone[topic] += 1
        elif count == 1:
            found.leaves[common.interests[common.heads[place]]] += 1
        else:
            one = common.heads[place]
            while one != _NONE:
                other = common.following[one]
                while other != _NONE:
                    _set_bits(hubs, topic, common.interests[one], common.interests[other], found.joined)
                    other = common.following[other]
                one = common.following[one]


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
