"""Covers of a node's topics by few bulk nodes, found by a beam search.

A greedy cover takes the bulk node that covers most. A beam search keeps many beginnings of covers at once:
those whose topics that are left have the lowest price together, where the price of a topic tells how much of
a link it takes to cover it. The first beginning that one more bulk node completes is the cover.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.hashing import mixed
from meshwright.kernels.greedy.covering import BLOCK, NONE, BulkTopics, Gains, has_topic
from meshwright.runtime.arrays import Ids, Offsets, Ticks, int64
from meshwright.runtime.progress import CANCEL, DONE

_BRANCHES = 8
"""How many bulk nodes are tried after each beginning."""


class Beam(NamedTuple):
    """Beginnings of covers, by their number in the beam."""

    topics: Ids  # by beginning: the topics that are left, in the first of its places
    counts: Offsets  # by beginning: how many these are
    prices: Offsets  # by beginning: their price together
    chosen: Ids  # by beginning: the bulk nodes that it has


class Proposals(NamedTuple):
    """Longer beginnings, by the one that they begin with."""

    prices: Offsets  # of what would be left
    owners: Ids  # the beginning
    places: Ids  # the bulk node that would be added


class SearchRoom(NamedTuple):
    """Room that one search works in."""

    now: Beam
    following: Beam
    proposals: Proposals
    gains: Gains  # by place in the bulk set
    tops: Gains  # by block of places
    hashes: npt.NDArray[np.uint64]  # of what is left, by beginning


def _beam(width: int, most_topics: int) -> Beam:
    topics, chosen = np.zeros((width, most_topics), np.int32), np.zeros((width, most_topics), np.int32)
    return Beam(topics, np.zeros(width, np.int64), np.zeros(width, np.int64), chosen)


def search_room(width: int, most_topics: int, places: int) -> SearchRoom:
    """Room for a beam of a width, nodes of so many topics at most and so many bulk nodes."""
    size = width * _BRANCHES
    proposals = Proposals(np.zeros(size, np.int64), np.zeros(size, np.int32), np.zeros(size, np.int32))
    gains, tops = np.zeros(places, np.uint16), np.zeros(-(-places // BLOCK), np.uint16)
    hashes = np.zeros(width, np.uint64)
    now, following = _beam(width, most_topics), _beam(width, most_topics)
    return SearchRoom(now, following, proposals, gains, tops, hashes)


@inner
def _count_gains(table: BulkTopics, prices: Gains, topics: Ids, gains: Gains, tops: Gains) -> int:
    """What every bulk node would cover of the topics, by price; return the most."""
    for place in range(len(gains)):
        gains[place] = 0
    for topic in topics:
        price = prices[topic]
        if table.row_of[topic] != NONE:
            row = table.rows[table.row_of[topic]]
            for place in range(len(row)):
                gains[place] += np.uint16(row[place]) * price
        else:
            for place in table.members[table.indptr[topic] : table.indptr[topic + 1]]:
                gains[place] += price
    best = np.uint16(0)
    for block in range(len(tops)):
        top = np.uint16(0)
        part = gains[block * BLOCK : (block + 1) * BLOCK]
        for at in range(len(part)):
            top = max(top, part[at])
        tops[block] = top
        best = max(best, top)
    return int(best)


@inner
def _propose(room: SearchRoom, owner: int, size: int, first_block: int) -> int:
    """Propose the bulk nodes that cover most after one beginning, from a block on; count all proposals."""
    prices, owners, places = room.proposals
    start, left = size, room.now.prices[owner]
    for ahead in range(len(room.tops)):
        block = (first_block + ahead) % len(room.tops)
        if size - start == _BRANCHES and left - room.tops[block] >= prices[size - 1]:
            continue
        for place in range(block * BLOCK, min((block + 1) * BLOCK, len(room.gains))):
            rest = left - room.gains[place]
            if size - start == _BRANCHES:
                if rest >= prices[size - 1]:
                    continue
                size -= 1
            at = size
            while at > start and prices[at - 1] > rest:
                prices[at], places[at] = prices[at - 1], places[at - 1]
                at -= 1
            prices[at], places[at], owners[size] = rest, place, owner
            size += 1
    return size


@inner
def _follow(table: BulkTopics, prices: Gains, room: SearchRoom, size: int, depth: int) -> int:
    """Make the cheapest proposals the beginnings of the next step; those that leave the same count once."""
    now, following, proposals = room.now, room.following, room.proposals
    width, made = len(room.hashes), 0
    for at in np.argsort(proposals.prices[:size], kind="mergesort"):
        if made == width:
            break
        owner, place = proposals.owners[at], proposals.places[at]
        kept, code, price = 0, np.uint64(0), 0
        for topic in now.topics[owner, : now.counts[owner]]:
            if not has_topic(table, topic, place):
                following.topics[made, kept] = topic
                code ^= mixed(np.uint64(topic + 1))
                price += prices[topic]
                kept += 1
        twin = False
        for other in range(made):
            twin = twin or room.hashes[other] == code
        if twin:
            continue
        following.counts[made], following.prices[made], room.hashes[made] = kept, price, code
        for step in range(depth):
            following.chosen[made, step] = now.chosen[owner, step]
        following.chosen[made, depth] = place
        made += 1
    return made


@inner
def _search(
    table: BulkTopics, prices: Gains, room: SearchRoom, most: int, first_block: int, found: Ids
) -> int:
    """A cover of at most `most` places of the only beginning in the room, in `found`; 0 if there is none."""
    beginnings = 1
    for depth in range(most):
        now, size = room.now, 0
        for owner in range(beginnings):
            topics = now.topics[owner, : now.counts[owner]]
            best = _count_gains(table, prices, topics, room.gains, room.tops)
            if best == now.prices[owner]:
                block = first_block
                while room.tops[block] != best:
                    block = (block + 1) % len(room.tops)
                place = block * BLOCK
                while room.gains[place] != best:
                    place += 1
                for step in range(depth):
                    found[step] = now.chosen[owner, step]
                found[depth] = place
                return depth + 1
            # A last step that no bulk node can complete is no use.
            if depth + 1 < most:
                size = _propose(room, owner, size, first_block)
        if depth + 1 == most:
            break
        beginnings = _follow(table, prices, room, size, depth)
        room = SearchRoom(room.following, room.now, room.proposals, room.gains, room.tops, room.hashes)
    return 0


@kernel
def shorten_covers(
    indptr: Offsets,
    topic_ids: Ids,
    nodes: Ids,
    table: BulkTopics,
    prices: Gains,
    edges: Ids,
    room: SearchRoom,
    ticks: Ticks,
) -> Ids:
    """Replace covers by shorter ones where a beam search finds any; `edges` come by node, as `nodes` do.

    `prices` are by topic, above 0, and such that those of a node's topics add up to less than 2^16. A cover
    of one or two, which greedy ones always find where they exist, stays.
    """
    found = np.empty_like(edges)
    places = np.empty(room.now.topics.shape[1], np.int32)
    at, size = 0, 0
    for node in nodes:
        start = at
        while at < len(edges) and edges[at, 0] == node:
            at += 1
        length = 0
        if at - start > 2 and not ticks[CANCEL]:
            _begin(indptr, topic_ids, node, table, prices, room)
            first = int64(mixed(np.uint64(node)) % np.uint64(len(room.tops)))
            length = _search(table, prices, room, at - start - 1, first, places)
        for step in range(length or at - start):
            found[size, 0] = node
            found[size, 1] = places[step] if length else edges[start + step, 1]
            size += 1
        ticks[DONE] += 1
    return found[:size].copy()


@inner
def _begin(
    indptr: Offsets, topic_ids: Ids, node: int, table: BulkTopics, prices: Gains, room: SearchRoom
) -> None:
    """Make all topics of a node that a bulk node has the only beginning."""
    kept, price = 0, 0
    for topic in topic_ids[indptr[node] : indptr[node + 1]]:
        if table.indptr[topic] < table.indptr[topic + 1]:
            room.now.topics[0, kept] = topic
            price += prices[topic]
            kept += 1
    room.now.counts[0], room.now.prices[0] = kept, price
