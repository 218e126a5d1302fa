"""Search for exchanges: open a link, let it carry what weak links carried, and close what carries nothing.

A slot pays for the link to its parent an equal share: one part in as many as the link has slots. So all
shares add up to the number of links. A new link between two nodes could take over, in each topic that both
have, what one of the two pays. Where that is more than 1 in all, the new link may be worth more than itself.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import kernel, lean
from meshwright.kernels.core.hashing import GOLDEN, mixed
from meshwright.kernels.exchanges.topic_trees import (
    ENERGY,
    FREE,
    HEAVIEST,
    LOGGED,
    NONE,
    TopicTrees,
    add_link,
    drop_link,
    is_above,
    rewire,
    slot_of,
    undo,
    weakest,
)
from meshwright.runtime.arrays import Flags, Ids, Offsets, Singles, Ticks, int64
from meshwright.runtime.progress import CANCEL, DONE

ENERGY_OF_LINK = 1_000

_NOISE = 0.2
"""Within which part of the greatest score the order of nodes is random."""

_TRIES = 3
"""With how many other nodes an exchange is tried at once."""

_MOST_LINKS = 32
"""How many links of a node are looked at to replace one."""

_BELOW = 8
"""How many slots are looked at that hang on a link to be replaced."""

_LEAST_PROMISE = 0.6
"""What a new link must take over, in links, by the shares that are paid for them. It may close more later."""

_HEAVY = 8
"""Links of a greater load are not closed at once."""


class Room(NamedTuple):
    """Room for one search."""

    scores: Singles  # by node: 0
    found: Ids  # nodes
    found_scores: Singles
    queue: Ids  # slots
    shared: Ids  # (topics, 3): the slot of one end, of the other, and the slot to cut above
    near: Flags  # by these topics: whether that is on the side of the first
    levels: Offsets  # by load: how many of these topics
    tried: Offsets  # by link: the turn in which closing it was tried
    counts: Offsets  # [how many exchanges were tried]


def make_room(trees: TopicTrees) -> Room:
    """Room for the search over some trees."""
    nodes, most = len(trees.heads), int(np.diff(trees.indptr).max(initial=0))
    return Room(
        np.zeros(nodes, np.float32),
        np.zeros(nodes, np.int32),
        np.zeros(nodes, np.float32),
        np.zeros(_BELOW, np.int32),
        np.zeros((most, 3), np.int32),
        np.zeros(most, np.bool_),
        np.zeros(HEAVIEST + 1, np.int64),
        np.zeros(len(trees.loads), np.int64),
        np.zeros(1, np.int64),
    )


@lean
def _score(trees: TopicTrees, room: Room, node: int) -> None:
    """Add up for each other node what a link to it could take over, as the shares of the two ends tell."""
    scores, prices = room.scores, trees.prices
    for i in range(trees.indptr[node], trees.indptr[node + 1]):
        topic, own = trees.topic_ids[i], trees.slots[i]
        price = prices[np.uint32(trees.via[own])]
        begin, end = trees.topic_indptr[topic], trees.topic_indptr[topic + 1]
        nodes, via = trees.nodes[begin:end], trees.via[begin:end]
        for at in range(len(nodes)):
            scores[np.uint32(nodes[at])] += max(price, prices[np.uint32(via[at])])


@lean
def _list_likely(trees: TopicTrees, room: Room, node: int, key: np.uint64) -> int:
    """List the nodes with the greatest scores above 1, a little at random; all scores become 0.

    Those that are linked with the node are left out.
    """
    scores = room.scores
    scores[node] = 0
    half = trees.heads[node]
    while half != NONE:
        scores[trees.ends[half >> 1, 1 - (half & 1)]] = 0
        half = trees.after[half]
    best = np.float32(0)
    for other in range(len(scores)):
        best = max(best, scores[other])
    noise = best * np.float32(_NOISE)
    least, count = max(np.float32(1.001), best - noise), 0
    for other in range(len(scores)):
        if scores[other] >= least:
            chance = np.float32(mixed(key ^ np.uint64(other)) >> np.uint64(40)) / np.float32(1 << 24)
            room.found[count], room.found_scores[count] = other, scores[other] - noise * chance
            count += 1
        scores[other] = 0
    return count


@lean
def _next_likely(room: Room, count: int) -> int:
    """The node with the greatest score of those listed, which is left out from then on."""
    best = 0
    for at in range(1, count):
        if room.found_scores[at] > room.found_scores[best]:
            best = at
    other = int64(room.found[best])
    room.found[best], room.found_scores[best] = room.found[count - 1], room.found_scores[count - 1]
    return other


@lean
def _list_shared(trees: TopicTrees, room: Room, u: int, v: int) -> int:
    """List the topics of two nodes, with the weakest link between them; count them, also by its load."""
    i, i_end, j, j_end = trees.indptr[u], trees.indptr[u + 1], trees.indptr[v], trees.indptr[v + 1]
    count = 0
    for load in range(len(room.levels)):
        room.levels[load] = 0
    while i < i_end and j < j_end:
        topic, other = trees.topic_ids[i], trees.topic_ids[j]
        if topic == other:
            a, b = int64(trees.slots[i]), int64(trees.slots[j])
            slot, near = weakest(trees, a, b)
            if slot != NONE:
                room.shared[count, 0], room.shared[count, 1], room.shared[count, 2] = a, b, slot
                room.near[count] = near
                room.levels[min(trees.loads[trees.via[slot]], HEAVIEST)] += 1
                count += 1
        i += topic <= other
        j += other <= topic
    return count


@lean
def _threshold(room: Room) -> int:
    """The greatest load such that at least as many of the topics listed have a link of that load or less."""
    threshold, total = int64(0), 0
    for load in range(HEAVIEST):
        total += room.levels[load]
        if room.levels[load] and total >= load:
            threshold = load
    return threshold


@lean
def _promises(trees: TopicTrees, room: Room, threshold: int) -> bool:
    """Whether what a new link takes over nearly pays for it."""
    paid = np.float32(0)
    for load in range(1, threshold + 1):
        paid += np.float32(room.levels[load]) * trees.shares[load]
    return bool(paid >= np.float32(_LEAST_PROMISE))


@lean
def _take_over(trees: TopicTrees, room: Room, link: int, count: int, threshold: int) -> None:
    """Let a link carry what links of at most a load carried, in the topics listed."""
    for at in range(count):
        a, b, slot = int64(room.shared[at, 0]), int64(room.shared[at, 1]), int64(room.shared[at, 2])
        if trees.loads[trees.via[slot]] <= threshold and _log_has_room(trees):
            if room.near[at]:
                rewire(trees, a, slot, b, link)
            else:
                rewire(trees, b, slot, a, link)


@lean
def _log_has_room(trees: TopicTrees) -> bool:
    """Whether the log has room for any way up a tree that was found short enough."""
    return 2 * trees.counts[LOGGED] < len(trees.log)


@lean
def _replace(trees: TopicTrees, room: Room, high: int, topic: int, closing: int) -> bool:
    """Hang what is below a slot on another one, by the link of the greatest load, without `closing`.

    A few slots near the upper end are looked at, the nearest first. Returns whether there was a link.
    """
    queue = room.queue
    queue[0], at, count = high, 0, 1
    while at < count:
        low = int64(queue[at])
        at += 1
        half, looked = trees.heads[trees.nodes[low]], 0
        best, most, through = int64(NONE), 0, int64(NONE)
        while half != NONE and looked < _MOST_LINKS:
            link = int64(half >> 1)
            looked += 1
            if link != closing and trees.loads[link] > most:
                other = slot_of(trees, int64(trees.ends[link, 1 - (half & 1)]), topic)
                if other != NONE and trees.parents[other] == low:
                    if count < _BELOW:
                        queue[count] = other
                        count += 1
                elif other != NONE and not is_above(trees, high, other):
                    best, most, through = other, trees.loads[link], link
            half = trees.after[half]
        if best != NONE and _log_has_room(trees):
            rewire(trees, low, high, best, through)
            return True
    return False


@lean
def _try_to_close(trees: TopicTrees, room: Room, link: int) -> bool:
    """Let other links carry what a link carries; if they can't, all stays as it is."""
    before = trees.counts[LOGGED]
    u, v = trees.ends[link, 0], trees.ends[link, 1]
    i, i_end, j, j_end = trees.indptr[u], trees.indptr[u + 1], trees.indptr[v], trees.indptr[v + 1]
    while i < i_end and j < j_end and trees.loads[link]:
        topic, other = int64(trees.topic_ids[i]), int64(trees.topic_ids[j])
        if topic == other:
            a, b = int64(trees.slots[i]), int64(trees.slots[j])
            slot = a if trees.via[a] == link else b
            if trees.via[slot] == link and not _replace(trees, room, slot, topic, link):
                undo(trees, before)
                return False
        i += topic <= other
        j += other <= topic
    return True


@lean
def _close_weak(trees: TopicTrees, room: Room, opened: int) -> None:
    """Try to close the weak links that the log names: they carried something that they no longer do."""
    entry, last, turn = 0, len(trees.loads) - 1, room.counts[0]
    while entry < trees.counts[LOGGED]:
        link = int64(trees.log[entry, 2])
        entry += 1
        if link in (opened, last) or room.tried[link] == turn or not 0 < trees.loads[link] <= _HEAVY:
            continue
        room.tried[link] = turn
        _try_to_close(trees, room, link)


@lean
def _drop_idle(trees: TopicTrees) -> None:
    """Close the links that the log names and no slot uses."""
    last = len(trees.loads) - 1
    for entry in range(trees.counts[LOGGED]):
        link = int64(trees.log[entry, 2])
        if link != last and trees.loads[link] == 0:
            trees.loads[link] = NONE
            drop_link(trees, link)


@lean
def _exchange(trees: TopicTrees, room: Room, u: int, v: int, most: float) -> bool:
    """Link two nodes and close what can go then; undo it where the energy would rise by more than `most`."""
    energy = trees.counts[ENERGY]
    trees.counts[LOGGED] = 0
    room.counts[0] += 1
    shared = _list_shared(trees, room, u, v)
    threshold = _threshold(room)
    if not _promises(trees, room, threshold):
        return False
    link = add_link(trees, u, v)
    _take_over(trees, room, link, shared, threshold)
    _close_weak(trees, room, link)
    if not trees.loads[link] or trees.counts[ENERGY] - energy > most:
        undo(trees, int64(0))
        drop_link(trees, link)
        return False
    _drop_idle(trees)
    return True


@kernel
def search(trees: TopicTrees, room: Room, order: Ids, key: int, warmth: float, ticks: Ticks) -> None:
    """Try exchanges for some nodes, one after the other.

    The *energy* counts each link, those that carry little a little less: so links come to carry either much
    or little, and those that carry little are closed most easily. An exchange is made where the energy falls,
    or, as in simulated annealing, rises by a random number with the mean `warmth` at most.

    Guarantee: a topic that was connected is.

    Cost: for each node the subscribers of its topics, and a glance at all nodes.

    Source: none.
    """
    for at in range(len(order)):
        if ticks[CANCEL]:
            break
        ticks[DONE] += 1
        node, left = int64(order[at]), _TRIES
        if trees.heads[node] == NONE:
            continue
        word = mixed(np.uint64(key) + np.uint64(at) * GOLDEN)
        _score(trees, room, node)
        count = _list_likely(trees, room, node, word)
        while count and left and trees.counts[FREE]:
            other = _next_likely(room, count)
            count, left = count - 1, left - 1
            word = mixed(word + GOLDEN)
            chance = (np.float64(word >> np.uint64(11)) + 1.0) / 2.0**53
            if _exchange(trees, room, node, other, -warmth * np.log(chance)):
                break
