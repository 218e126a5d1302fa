"""Flooding inside topics: what a node sends on to all its neighbours in a topic but the one it came from.

An interest has a *slot*, its place when interests are sorted by topic and then by node. Links of a topic lead
from slot to slot, so a search never leaves the topic.
"""

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.hashing import is_lost
from meshwright.kernels.routing.arrays import Faults, Tally, TopicLinks
from meshwright.runtime.arrays import Ids, Offsets, Ticks
from meshwright.runtime.progress import CANCEL

_NONE = -1


@kernel
def link_slots(indptr: Offsets, topic_ids: Ids, slots: Ids, edges: Ids, starts: Offsets) -> Ids:
    """The pairs of slots that each edge links, one for each topic that its ends share.

    Those of an edge begin at its `starts`; `slots` has the slot of each interest in node order.
    """
    pairs = np.empty((starts[-1], 2), np.int32)
    for e in range(len(edges)):
        i, i_end = indptr[edges[e, 0]], indptr[edges[e, 0] + 1]
        j, j_end = indptr[edges[e, 1]], indptr[edges[e, 1] + 1]
        at = starts[e]
        while i < i_end and j < j_end:
            topic, other = topic_ids[i], topic_ids[j]
            if topic == other:
                pairs[at, 0], pairs[at, 1] = slots[i], slots[j]
                at += 1
            i += topic <= other
            j += other <= topic
    return pairs


@kernel
def count_unreached(links: TopicLinks) -> Offsets:
    """By topic, how many subscribers no path inside the topic connects with the first one."""
    unreached = np.zeros(len(links.topic_indptr) - 1, np.int64)
    seen = np.zeros(len(links.nodes), np.bool_)
    queue = np.empty(len(links.nodes), np.int32)
    for topic in range(len(unreached)):
        first, end = links.topic_indptr[topic], links.topic_indptr[topic + 1]
        head, tail = 0, 0
        if first < end:
            seen[first] = True
            queue[0], tail = first, 1
        while head < tail:
            slot = queue[head]
            head += 1
            for other in links.others[links.indptr[slot] : links.indptr[slot + 1]]:
                if not seen[other]:
                    seen[other] = True
                    queue[tail] = other
                    tail += 1
        unreached[topic] = end - first - tail
    return unreached


@inner
def _flood_one(
    links: TopicLinks,
    faults: Faults,
    tally: Tally,
    publication: int,
    issuer: int,
    room: tuple[Ids, Ids, Ids, Offsets],
) -> None:
    """Carry one publication from the slot of its issuer.

    All links take equally long, so messages arrive in the order in which they were sent, and a slot's first
    copy is that of the first neighbour in the queue whose message gets through.
    """
    queue, parents, depths, seen = room
    queue[0], parents[issuer], depths[issuer], seen[issuer] = issuer, _NONE, 0, publication
    head, tail = 0, 1
    while head < tail:
        slot = queue[head]
        head += 1
        node = links.nodes[slot]
        for other in links.others[links.indptr[slot] : links.indptr[slot + 1]]:
            if other == parents[slot]:
                continue
            target = links.nodes[other]
            tally.messages[publication] += 1
            tally.sent[node] += 1
            if is_lost(faults.key, faults.loss, publication, node, target) or not faults.alive[target]:
                continue
            tally.received[target] += 1
            if seen[other] == publication:
                tally.duplicates[publication] += 1
                continue
            seen[other], parents[other], depths[other] = publication, slot, depths[slot] + 1
            tally.deliveries[publication] += 1
            tally.hops[publication] += depths[other]
            tally.longest[publication] = depths[other]
            queue[tail] = other
            tail += 1


@kernel
def route_flood(
    links: TopicLinks, faults: Faults, tally: Tally, issuers: Ids, numbers: tuple[int, int], ticks: Ticks
) -> None:
    """Carry a range of publications, each from the slot of its issuer. O(links of the topic) each."""
    slots = len(links.nodes)
    room = (
        np.empty(slots, np.int32),
        np.empty(slots, np.int32),
        np.empty(slots, np.int32),
        np.full(slots, _NONE, np.int64),
    )
    for publication in range(*numbers):
        if ticks[CANCEL]:
            return
        _flood_one(links, faults, tally, publication, issuers[publication], room)
