"""Components, diameters, cut nodes and bridges of topics that are condensed around hubs."""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.bits import popcount, trailing_zeros
from meshwright.kernels.metrics.condensed import Condensed, HubTopics, Rows
from meshwright.runtime.arrays import Flags, Ids, Longs, Ticks, Words, int64
from meshwright.runtime.progress import CANCEL

_NONE = -1
_ONE = np.uint64(1)
_LEAST_SEARCHES = 4
"""However many hubs a topic has: these cost as much as reading its matrices a few times."""


class TopicResults(NamedTuple):
    """By topic, and of `lost` by interest of a hub; see `measure_condensed`."""

    components: Ids
    diameters: Ids
    least: Ids
    cut_nodes: Ids
    bridges: Ids
    lost: Longs
    unsettled: Flags


class _Topic(NamedTuple):
    """A topic: its hubs by rank, with matrices of those that are linked, and that joints link."""

    linked: Words
    joined: Words
    leaves: Longs


@kernel
def measure_condensed(
    hubs: HubTopics,
    by_topic: Rows,
    linked: Words,
    found: Condensed,
    topics: tuple[int, int],
    results: TopicResults,
    budget: int,
    ticks: Ticks,
) -> None:
    """Write the measures of a range of topics, as `measure_topics` and `measure_cuts` do of whole graphs.

    `by_topic` has the interests of hubs by topic; `linked` has matrices of the edges between hubs.
    A topic is `unsettled` where the condensed form does not tell: some joint may cut it, or a hub whose loss
    would part other hubs (then sizes of parts are needed), or the longest way may begin at a joint. Its
    number of components is right all the same. Diameters are bounds where the budget allows too few searches
    (`searches_within`).
    """
    for topic in range(*topics):
        if ticks[CANCEL]:
            return
        own = by_topic.ids[by_topic.indptr[topic] : by_topic.indptr[topic + 1]]
        width, start = hubs.row_words[topic], hubs.starts[topic]
        leaves = np.empty(own.size, np.int64)
        for rank in range(own.size):
            leaves[rank] = found.leaves[own[rank]]
        end = start + own.size * width
        shape = (own.size, width)
        parts = _Topic(linked[start:end].reshape(shape), found.joined[start:end].reshape(shape), leaves)
        _measure(parts, own, topic, found.alone[topic], results, budget)


@inner
def _measure(parts: _Topic, own: Ids, topic: int, alone: int, results: TopicResults, budget: int) -> None:
    """Write the measures of one topic."""
    size = own.size
    lost = np.zeros(size, np.int64)
    components, cuts, bridges, splits = _cuts(parts, lost)
    has_joints = False
    for word in parts.joined.ravel():
        has_joints |= word != 0
    results.components[topic] = components + alone
    results.cut_nodes[topic], results.bridges[topic] = cuts, bridges
    for rank in range(size):
        results.lost[own[rank]] = lost[rank]
    unsettled = has_joints and (splits > 0 or _pieces(parts.linked) != components)
    results.diameters[topic] = results.least[topic] = -1
    if components + alone <= 1 and budget > 0:
        least, most, told = _diameter(parts, budget)
        results.least[topic], results.diameters[topic] = least, most
        unsettled |= not told
    results.unsettled[topic] = unsettled


@inner
def _pieces(linked: Words) -> int:
    """How many components the edges between hubs leave."""
    size = linked.shape[0]
    reached, queue = np.zeros(size, np.bool_), np.empty(size, np.int32)
    count = 0
    for root in range(size):
        if reached[root]:
            continue
        count += 1
        reached[root], queue[0] = True, root
        head, tail = 0, 1
        while head < tail:
            for w in range(linked.shape[1]):
                word = linked[queue[head], w]
                while word:
                    other = (w << 6) + trailing_zeros(word)
                    word &= word - _ONE
                    if not reached[other]:
                        reached[other], queue[tail] = True, other
                        tail += 1
            head += 1
    return count


class _Search(NamedTuple):
    """What a depth-first search knows of each hub, and where in its row it is."""

    orders: Ids
    lows: Ids
    parents: Ids
    sizes: Longs  # hubs and leaves below it, and itself
    parts: Longs  # of those, how many its loss would part from the rest
    largest: Longs  # the most of them that stay together
    split: Flags  # whether its loss parts other hubs
    words: Words  # the rest of the word of the row
    at: Ids  # the word of the row


@inner
def _cuts(parts: _Topic, lost: Longs) -> tuple[int, int, int, int]:
    """Components, cut hubs, bridges, and the hubs whose loss parts other hubs; writes what each cuts off.

    As `measure_cuts`, on hubs that are linked by edges or joints. Where there are joints, sizes leave these
    out, and are right where no hub's loss parts other hubs. Two hubs that both an edge and a joint link are
    linked twice.
    """
    size = lost.size
    search = _Search(
        np.full(size, np.int32(_NONE)), np.zeros(size, np.int32), np.full(size, np.int32(_NONE)),
        parts.leaves + 1, parts.leaves.copy(), np.minimum(parts.leaves, 1), np.zeros(size, np.bool_),
        np.zeros(size, np.uint64), np.full(size, np.int32(_NONE)),
    )  # fmt: skip
    reached = np.empty(size, np.int32)
    components, cuts, bridges, splits = 0, 0, 0, 0
    for root in range(size):
        if search.orders[root] != _NONE:
            continue
        components += 1
        count = _search_from(parts, search, root, reached)
        children = 0
        for hub in reached[1:count]:
            children += search.parents[hub] == root
        search.split[root] = children > 1
        total = search.sizes[root]
        for hub in reached[:count]:
            rest = total - 1 - search.parts[hub]
            left = max(rest, search.largest[hub])
            lost[hub] = total - 1 - left
            cuts += lost[hub] > 0
            splits += search.split[hub]
            bridges += parts.leaves[hub]
            if hub != root and search.lows[hub] == search.orders[hub]:
                bridges += 1
    return components, cuts, bridges, splits


@inner
def _search_from(parts: _Topic, search: _Search, root: int, reached: Ids) -> int:
    """Depth-first from a root: how many hubs it reaches, listed in `reached`."""
    width = parts.linked.shape[1]
    search.orders[root] = 0
    reached[0] = root
    count, hub = 1, root
    while True:
        while not search.words[hub] and search.at[hub] + 1 < width:
            search.at[hub] += 1
            search.words[hub] = parts.linked[hub, search.at[hub]] | parts.joined[hub, search.at[hub]]
        word = search.words[hub]
        if word:
            other = (int64(search.at[hub]) << 6) + trailing_zeros(word)
            search.words[hub] = word & (word - _ONE)
            if search.orders[other] == _NONE:
                search.parents[other] = hub
                search.orders[other] = search.lows[other] = count
                reached[count] = other
                count += 1
                hub = other
            elif other != search.parents[hub] or _twice(parts, hub, other):
                search.lows[hub] = min(search.lows[hub], search.orders[other])
        elif hub == root:
            return count
        else:
            _leave(search, hub, root)
            hub = int64(search.parents[hub])


@inner
def _twice(parts: _Topic, hub: int, other: int) -> bool:
    """Whether both an edge and a joint link two hubs."""
    both = parts.linked[hub, other >> 6] & parts.joined[hub, other >> 6]
    return bool((both >> np.uint64(other & 63)) & _ONE)


@inner
def _leave(search: _Search, hub: int, root: int) -> None:
    """Tell the parent of a hub that everything below is known."""
    parent = search.parents[hub]
    size = search.sizes[hub]
    search.sizes[parent] += size
    search.lows[parent] = min(search.lows[parent], search.lows[hub])
    if search.lows[hub] >= search.orders[parent]:
        search.parts[parent] += size
        search.largest[parent] = max(search.largest[parent], size)
        search.split[parent] |= parent != root


@inner
def _diameter(parts: _Topic, budget: int) -> tuple[int, int, bool]:
    """Bounds on the diameter of a connected topic, and whether they are all that the budget allows to say.

    A joint is at most as far from others as a leaf of any of its hubs would be. So if ways between leaves
    and hubs, which are exact, are as long as those are where every hub of a joint has a leaf, that is the
    diameter. Otherwise the longest way may begin at a joint, and its distances have to be known.
    """
    size, width = parts.linked.shape
    with_leaf, with_light = np.zeros(size, np.int32), np.zeros(size, np.int32)
    shortest, longest = 0, 0
    for hub in range(size):
        joint = False
        for word in parts.joined[hub]:
            joint |= word != 0
        with_leaf[hub] = parts.leaves[hub] > 0
        with_light[hub] = with_leaf[hub] or joint
        pair = parts.leaves[hub] > 1 or (parts.leaves[hub] > 0 and joint)
        shortest = max(shortest, 2 if pair else with_leaf[hub])
        longest = max(longest, 2 if pair or joint else with_leaf[hub])
    if size < 2:
        return shortest, longest, True
    searches = max(_LEAST_SEARCHES, budget // (2 * size * width))
    return _longest_ways(parts, (with_leaf, with_light), (shortest, longest), searches)


@inner
def _longest_ways(
    parts: _Topic, heights: tuple[Ids, Ids], found: tuple[int, int], searches: int
) -> tuple[int, int, bool]:
    """Extend the longest ways found: least(u) + distance(u, v) + least(v), and the same with most.

    With the reach of a hub its distance to the first search's source plus its greater height, no way between
    u and v is longer than reach(u) + reach(v). Hubs are searched by falling reach; once the two next add up
    to no more than the longest way found, nothing is left to find.
    """
    least, most = heights
    shortest, longest = found
    size = least.size
    distances = np.empty(size, np.int32)
    frontiers = np.empty((4, parts.linked.shape[1]), np.uint64)
    _distances(parts, _most_linked(parts), distances, frontiers)
    reaches = distances + most
    order = np.argsort(-reaches, kind="mergesort")
    done = 0
    while done + 1 < size and reaches[order[done]] + reaches[order[done + 1]] > shortest and done < searches:
        source = order[done]
        _distances(parts, source, distances, frontiers)
        for other in range(size):
            if other != source:
                shortest = max(shortest, least[source] + distances[other] + least[other])
                longest = max(longest, most[source] + distances[other] + most[other])
        done += 1
    most_left = 0
    if done + 1 < size:
        most_left = reaches[order[done]] + reaches[order[done + 1]]
    if most_left > shortest:
        return shortest, max(longest, most_left), True
    return shortest, max(longest, shortest), longest <= shortest


@inner
def _most_linked(parts: _Topic) -> int:
    """The hub with the most edges to hubs, the first of several."""
    best, most = 0, -1
    for hub in range(parts.linked.shape[0]):
        count = 0
        for word in parts.linked[hub]:
            count += popcount(word)
        if count > most:
            best, most = hub, count
    return best


@inner
def _distances(parts: _Topic, source: int, distances: Ids, frontiers: Words) -> None:
    """Write the distance of every hub from one of them; edges count one step, joints two."""
    width = parts.linked.shape[1]
    before, now, then, unseen = frontiers[0], frontiers[1], frontiers[2], frontiers[3]
    for w in range(width):
        before[w] = now[w] = np.uint64(0)
        unseen[w] = ~np.uint64(0)
    for hub in range(distances.size):
        distances[hub] = _NONE
    now[source >> 6] = _ONE << np.uint64(source & 63)
    unseen[source >> 6] &= ~now[source >> 6]
    distances[source] = 0
    level, left = 0, distances.size - 1
    while left > 0:
        for w in range(width):
            then[w] = np.uint64(0)
        _spread(parts.linked, now, then)
        _spread(parts.joined, before, then)
        level += 1
        for w in range(width):
            then[w] &= unseen[w]
            unseen[w] &= ~then[w]
            word = then[w]
            while word:
                distances[(w << 6) + trailing_zeros(word)] = level
                word &= word - _ONE
                left -= 1
            before[w], now[w] = now[w], then[w]


@inner
def _spread(matrix: Words, sources: Words, reached: Words) -> None:
    """Add the rows of some hubs to those reached."""
    for w in range(sources.size):
        word = sources[w]
        while word:
            row = matrix[(w << 6) + trailing_zeros(word)]
            word &= word - _ONE
            for k in range(reached.size):
                reached[k] |= row[k]
