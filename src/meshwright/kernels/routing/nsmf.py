"""NSMF without messages: what Protocol 3 of [4] would send, publication by publication.

An interest has a *place*: interests sorted by topic, and within a topic clockwise around the ring. So the
nearest subscriber after a place is the next one. Every place has its matched peers, worked out once.
"""

import numpy as np

from meshwright.kernels.compiling import inlined, inner, kernel
from meshwright.kernels.core.hashing import is_lost
from meshwright.kernels.routing.arrays import Faults, RoutingTables, Tally
from meshwright.runtime.arrays import Ids, Offsets, Ticks
from meshwright.runtime.progress import CANCEL

_NONE = -1


@inlined
def _distance(positions: Offsets, space: int, source: int, target: int) -> int:
    away = positions[target] - positions[source]
    return away if away >= 0 else away + space


@kernel
def match_peers(
    indptr: Offsets, topic_ids: Ids, places: Ids, nodes: Ids, peer_indptr: Offsets, peers: Ids
) -> tuple[Offsets, Ids]:
    """For each place, the places of those peers of its node that subscribe to its topic too.

    `places` has the place of each interest in node order. O(log) for each interest and peer of its node.
    """
    topics = np.empty(len(places), np.int32)
    room = 0
    for i in range(len(places)):
        topics[places[i]] = topic_ids[i]
        room += peer_indptr[nodes[places[i]] + 1] - peer_indptr[nodes[places[i]]]
    starts = np.zeros(len(places) + 1, np.int64)
    found = np.empty(room, np.int32)
    count = 0
    for place in range(len(places)):
        for peer in peers[peer_indptr[nodes[place]] : peer_indptr[nodes[place] + 1]]:
            first, end = indptr[peer], indptr[peer + 1]
            at = first + np.searchsorted(topic_ids[first:end], topics[place])
            if at < end and topic_ids[at] == topics[place]:
                found[count] = places[at]
                count += 1
        starts[place + 1] = count
    return starts, found[:count].copy()


@inlined
def _next_hop(tables: RoutingTables, node: int, target: int) -> int:
    """The peer of `node` that is nearest to `target` without passing it; the next node at least is one."""
    goal = _distance(tables.positions, tables.space, node, target)
    low, high = tables.peer_indptr[node], tables.peer_indptr[node + 1] - 1
    while low < high:
        middle = (low + high + 1) >> 1
        if tables.peer_distances[middle] <= goal:
            low = middle
        else:
            high = middle - 1
    return tables.peers[low]


@inlined
def _send(
    tables: RoutingTables,
    faults: Faults,
    tally: Tally,
    publication: int,
    hops: int,
    source: int,
    target: int,
) -> int:
    """Carry a message to `target`; how many hops from the issuer it has made then, or NONE if it is gone."""
    while source != target:
        step = _next_hop(tables, source, target)
        tally.messages[publication] += 1
        tally.sent[source] += 1
        if is_lost(faults.key, faults.loss, publication, source, step) or not faults.alive[step]:
            return _NONE
        tally.received[step] += 1
        tally.pure_forwards[publication] += step != target
        hops += 1
        source = step
    return hops


@inlined
def _next_places(tables: RoutingTables, topic: int, place: int, span: int, found: Ids) -> int:
    """Lines 4 and 5 of Protocol 3: find the next hops in the target range, which ends after `span`.

    Returns how many there are.
    """
    nodes = tables.nodes
    first, end = tables.topic_indptr[topic], tables.topic_indptr[topic + 1]
    nearest = place + 1 if place + 1 < end else first
    if nearest == place or _distance(tables.positions, tables.space, nodes[place], nodes[nearest]) >= span:
        return 0
    found[0] = nearest
    count = 1
    for i in range(tables.matched_indptr[place], tables.matched_indptr[place + 1]):
        other = tables.matched[i]
        if other != nearest:
            if _distance(tables.positions, tables.space, nodes[place], nodes[other]) >= span:
                break
            found[count] = other
            count += 1
    return count


@inner
def _route_one(
    tables: RoutingTables,
    faults: Faults,
    tally: Tally,
    publication: int,
    topic: int,
    issuer: int,
    room: tuple[Ids, Offsets, Offsets, Offsets, Ids],
) -> None:
    """Carry one publication from the place of its issuer to all that it reaches."""
    waiting, spans, depths, seen, found = room
    waiting[0], spans[0], depths[0] = issuer, tables.space, 0
    seen[tables.nodes[issuer]] = publication
    left = 1
    while left:
        left -= 1
        place, span, depth = waiting[left], spans[left], depths[left]
        node = tables.nodes[place]
        count = _next_places(tables, topic, place, span, found)
        for j in range(count):
            target = tables.nodes[found[j]]
            hops = _send(tables, faults, tally, publication, depth, node, target)
            if hops == _NONE:
                continue
            if seen[target] == publication:
                tally.duplicates[publication] += 1
                continue
            seen[target] = publication
            tally.deliveries[publication] += 1
            tally.hops[publication] += hops
            tally.longest[publication] = max(tally.longest[publication], hops)
            away = _distance(tables.positions, tables.space, node, target)
            if j + 1 < count:
                end = _distance(tables.positions, tables.space, node, tables.nodes[found[j + 1]])
            else:
                end = span
            waiting[left], spans[left], depths[left] = found[j], end - away, hops
            left += 1


@kernel
def route_nsmf(
    tables: RoutingTables,
    faults: Faults,
    tally: Tally,
    topics: Ids,
    issuers: Ids,
    numbers: tuple[int, int],
    ticks: Ticks,
) -> None:
    """Carry a range of publications, each on its topic from the place of its issuer.

    O(log peers) a hop, and O(matched peers) for each subscriber reached.
    """
    longest, most = 1, 0
    for topic in range(len(tables.topic_indptr) - 1):
        longest = max(longest, tables.topic_indptr[topic + 1] - tables.topic_indptr[topic])
    for place in range(len(tables.nodes)):
        most = max(most, tables.matched_indptr[place + 1] - tables.matched_indptr[place])
    room = (
        np.empty(longest, np.int32),
        np.empty(longest, np.int64),
        np.empty(longest, np.int64),
        np.full(len(tables.positions), _NONE, np.int64),
        np.empty(most + 1, np.int32),
    )
    for publication in range(*numbers):
        if ticks[CANCEL]:
            return
        _route_one(tables, faults, tally, publication, topics[publication], issuers[publication], room)
