"""A tree for each topic inside its sub-overlay: of shortest paths from a root, or of least total cost."""

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.heap import drop_top, push
from meshwright.kernels.routing.arrays import TopicLinks
from meshwright.runtime.arrays import Floats, Ids, Ticks
from meshwright.runtime.progress import CANCEL, DONE

SHORTEST, CHEAPEST = 0, 1
_NONE = -1


@inner
def _hub(links: TopicLinks, first: int, end: int) -> int:
    """The slot with the most links in its topic, the first of equals."""
    hub = first
    for slot in range(first, end):
        if links.indptr[slot + 1] - links.indptr[slot] > links.indptr[hub + 1] - links.indptr[hub]:
            hub = slot
    return hub


@kernel
def grow_by_hops(links: TopicLinks, ticks: Ticks) -> tuple[Ids, Ids]:
    """The trees of shortest paths that `grow_trees` makes if every link costs the same, in linear time.

    There, of the links that lead one hop further the first is taken, and they stand in the order of the slots
    that they start at: so a slot's parent is the first slot that is a hop nearer to the root.
    """
    parents = np.full(len(links.nodes), _NONE, np.int32)
    taken = np.full(len(links.nodes), _NONE, np.int32)
    hops = np.full(len(links.nodes), _NONE, np.int32)
    queue = np.empty(len(links.nodes), np.int32)
    for topic in range(len(links.topic_indptr) - 1):
        first, end = links.topic_indptr[topic], links.topic_indptr[topic + 1]
        if ticks[CANCEL] or first == end:
            continue
        root = _hub(links, first, end)
        hops[root], queue[0], count, at = 0, root, 1, 0
        while at < count:
            slot = queue[at]
            at += 1
            for other in links.others[links.indptr[slot] : links.indptr[slot + 1]]:
                if hops[other] == _NONE:
                    hops[other] = hops[slot] + 1
                    queue[count] = other
                    count += 1
        for slot in range(first, end):
            if hops[slot] != _NONE:
                for link in range(links.indptr[slot], links.indptr[slot + 1]):
                    other = links.others[link]
                    if parents[other] == _NONE and hops[other] == hops[slot] + 1:
                        parents[other], taken[other] = slot, link
        ticks[DONE] += 1
    return parents, taken


@kernel
def grow_trees(links: TopicLinks, costs: Floats, kind: int, ticks: Ticks) -> tuple[Ids, Ids]:
    """By slot, its parent and the link that leads to it; NONE at the root, which is the topic's hub.

    From the root on the link of least price is taken again and again: its own cost for the tree of least
    cost (Prim), that of the whole path for shortest paths (Dijkstra); of equals the first. `costs` has a
    price for each edge of the overlay. O(m log m) for a topic of m links. A slot that no path reaches has no
    parent either.
    """
    parents = np.full(len(links.nodes), _NONE, np.int32)
    taken = np.full(len(links.nodes), _NONE, np.int32)
    done = np.zeros(len(links.nodes), np.bool_)
    owners = np.empty(len(links.others), np.int32)
    for slot in range(len(links.nodes)):
        owners[links.indptr[slot] : links.indptr[slot + 1]] = slot
    prices, codes = np.empty(len(links.others)), np.empty(len(links.others), np.int64)
    for topic in range(len(links.topic_indptr) - 1):
        first, end = links.topic_indptr[topic], links.topic_indptr[topic + 1]
        if ticks[CANCEL] or first == end:
            continue
        slot, price, count = _hub(links, first, end), 0.0, 0
        while slot != _NONE:
            done[slot] = True
            for link in range(links.indptr[slot], links.indptr[slot + 1]):
                if not done[links.others[link]]:
                    dearer = costs[links.edge_ids[link]] + (price if kind == SHORTEST else 0.0)
                    count = push(prices, codes, count, dearer, link)
            slot = _NONE
            while count and slot == _NONE:
                price, link = prices[0], codes[0]
                count = drop_top(prices, codes, count)
                if not done[links.others[link]]:
                    slot = links.others[link]
                    parents[slot], taken[slot] = owners[link], link
        ticks[DONE] += 1
    return parents, taken
