"""Find out which subscribers of a topic are still connected, without looking at the whole topic.

A search begins at seeds: the subscribers that a change touched, and one for each group that no seed reaches.
The same search says whether a link can be removed without disconnecting a topic. An interest is a number
here, as in `core/interest_keys.py`.
"""

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.interest_keys import interest_key, node_of, topic_of
from meshwright.kernels.core.rows import Rows, holds, row_of
from meshwright.kernels.repair.mutable_overlay import Live, Marks, next_step, unlink
from meshwright.runtime.arrays import Flags, Ids, Offsets

NONE = -1


@kernel
def owner_of(parents: Ids, part: int) -> int:
    """The part that a part was united with."""
    while parents[part] != part:
        part = parents[part]
    return part


@inner
def _enqueue(heads: Ids, tails: Ids, following: Ids, part: int, node: int) -> None:
    """Put a node at the end of a part's queue."""
    following[node] = NONE
    if heads[part] == NONE:
        heads[part] = node
    else:
        following[tails[part]] = node
    tails[part] = node


@inner
def _swallow(parents: Ids, heads: Ids, tails: Ids, following: Ids, part: int, met: int) -> None:
    """Merge a part with another that it has met; the other's queue is appended to its own."""
    parents[met] = part
    if heads[part] == NONE:
        heads[part], tails[part] = heads[met], tails[met]
    elif heads[met] != NONE:
        following[tails[part]] = heads[met]
        tails[part] = tails[met]


@inner
def _retire(active: Ids, places: Ids, running: int, part: int) -> int:
    """Take a part out of those that take turns; return how many remain."""
    running -= 1
    last = active[running]
    active[places[part]] = last
    places[last] = places[part]
    return running


@kernel
def search_in_turns(
    topics: Rows,
    links: Rows,
    room: Marks,
    topic: int,
    seeds: Ids,
    parents: Ids,
    without_u: int,
    without_v: int,
) -> tuple[int, int, int]:
    """Find which seeds are connected in `topic`; return (how many components, the last one, the step).

    Each seed begins a search, and the searches take turns, a node at a time. Two that meet become one. One
    that has nothing left to look at is a component, and all of it was seen. When all but one have ended, what
    was not seen belongs to the last one, provided that every component of the topic has a seed. So the time
    is that of the smaller components, not that of the topic. The link between `without_u` and `without_v`
    counts as none; both are NONE where all links count.

    Afterwards `room.marks` of a node is the step if it was seen, then `owner_of(parents, room.owners[node])`
    is its component; the others are in the last one.
    """
    marks, owners, following = room.marks, room.owners, room.following
    step = next_step(room.steps)
    count = len(seeds)
    heads, tails = np.full(count, NONE, np.int32), np.empty(count, np.int32)
    active, places = np.empty(count, np.int32), np.empty(count, np.int32)
    for part in range(count):
        marks[seeds[part]], owners[seeds[part]] = step, part
        parents[part] = active[part] = places[part] = part
        _enqueue(heads, tails, following, part, seeds[part])
    components, running, turn = count, count, 0
    while running > 1:
        part = active[turn if turn < running else 0]
        node = heads[part]
        heads[part] = following[node]
        passed_over = without_v if node == without_u else (without_u if node == without_v else NONE)
        for at in range(links.starts[node], links.starts[node] + links.counts[node]):
            other = links.items[at]
            if other == passed_over:
                continue
            if marks[other] != step:
                if holds(topics.items, topics.starts[other], topics.counts[other], topic):
                    marks[other], owners[other] = step, part
                    _enqueue(heads, tails, following, part, other)
                continue
            met = owner_of(parents, owners[other])
            if met != part:
                _swallow(parents, heads, tails, following, part, met)
                running = _retire(active, places, running, met)
                components -= 1
        turn = places[part] + 1
        if heads[part] == NONE and running > 1:
            turn = places[part]
            running = _retire(active, places, running, part)
    return components, active[0], step


@kernel
def is_needed(topics: Rows, links: Rows, room: Marks, u: int, v: int) -> bool:
    """Whether some topic that two linked nodes share would fall apart without their link."""
    seeds, parents = np.array([u, v], np.int32), np.empty(2, np.int32)
    i, j = topics.starts[u], topics.starts[v]
    i_end, j_end = i + topics.counts[u], j + topics.counts[v]
    while i < i_end and j < j_end:
        a, b = topics.items[i], topics.items[j]
        if a == b and search_in_turns(topics, links, room, a, seeds, parents, u, v)[0] > 1:
            return True
        i += a <= b
        j += b <= a
    return False


@kernel
def unlink_unneeded(live: Live, room: Marks, edges: Ids, most: int) -> Flags:
    """Take away those `edges` that no topic needs, one after the other, at most so many; flag them."""
    gone = np.zeros(len(edges), np.bool_)
    count = 0
    for at in range(len(edges)):
        if count == most:
            break
        u, v = edges[at, 0], edges[at, 1]
        if not is_needed(live.topics, live.links, room, u, v):
            unlink(live.links, live.by_degree, live.sums, u, v)
            gone[at] = True
            count += 1
    return gone


"""The bits of an interest that are its node."""


@inner
def unique(numbers: Offsets) -> Offsets:
    """Sorted, and each once."""
    numbers = np.sort(numbers)
    count = 0
    for at in range(len(numbers)):
        if count == 0 or numbers[at] != numbers[count - 1]:
            numbers[count] = numbers[at]
            count += 1
    return numbers[:count]


@inner
def unique_nodes(nodes: Ids) -> Ids:
    """Nodes in order, each once."""
    return unique(nodes.astype(np.int64)).astype(np.int32)


@inner
def add_representatives(
    live: Live, room: Marks, seeds: Offsets, gained: Offsets, shadows: Ids
) -> tuple[Offsets, Ids]:
    """Seeds and shadows with somebody of each topic that none but new subscribers are seeds of.

    Those who had the topic before are connected, so one of them stands for all.
    """
    more, added = np.empty(len(gained), np.int64), np.empty(len(gained), np.int32)
    count, start = 0, 0
    while start < len(gained):
        topic = topic_of(gained[start])
        new = next_step(room.steps)
        end = start
        while end < len(gained) and topic_of(gained[end]) == topic:
            room.marks[node_of(gained[end])] = new
            end += 1
        others = np.searchsorted(seeds, interest_key(topic + 1, 0)) - np.searchsorted(
            seeds, interest_key(topic, 0)
        )
        if others == end - start:
            found = _representative(live, room, new, topic, gained[start:end], shadows)
            if found != NONE:
                more[count], added[count] = interest_key(topic, found), found
                count += 1
        start = end
    seeds = np.sort(np.concatenate((seeds, more[:count])))
    return seeds, unique_nodes(np.concatenate((shadows, added[:count])))


@inner
def _representative(live: Live, room: Marks, new: int, topic: int, gained: Offsets, shadows: Ids) -> int:
    """Somebody who had the topic before, not marked as `new`; NONE where there is nobody.

    A neighbour of a new subscriber comes first, since the search then ends at once; then shadows; then
    anybody.
    """
    topics = live.topics
    for interest in gained:
        for other in row_of(live.links, node_of(interest)):
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
