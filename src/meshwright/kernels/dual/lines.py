"""Topics as lines: what makes the trees of all topics a proof for all pairs of nodes.

A *line* lists the subscribers of a topic one after the other, with a whole number, the *gap*, before each but
the first. Two subscribers are as far apart as the greatest gap between them. Where the distances of no pair
of nodes, over the topics that both have, add up to more than the scale, all gaps together are at most the
scale times the edges of any topic-connected overlay; `construct/dual/bound.py` has the proof.

Arrays *by slot* have one item for each interest, in the order of topics and then of their lines.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.heap import smallest
from meshwright.kernels.core.totals import greatest
from meshwright.kernels.dual.demands import Asked, Demands, meets, price_of
from meshwright.kernels.dual.shares import Shares
from meshwright.runtime.arrays import Flags, Floats, Ids, Longs, Offsets, Ticks
from meshwright.runtime.progress import CANCEL

_NONE = -1


class Lines(NamedTuple):
    """The lines of all topics."""

    indptr: Offsets  # by topic: its first slot
    nodes: Ids  # by slot
    gaps: Longs  # by slot: to the one before; 0 for the first of a line
    slots: Offsets  # by interest, in node order


class Exceeding(NamedTuple):
    """Pairs of nodes whose distances add up to more than the scale."""

    pairs: Ids  # (m, 2)
    totals: Longs  # by pair
    counts: Longs  # [how many are listed, how many there are, the greatest total of all pairs]


@kernel
def draw_lines(
    shares: Shares, prices: Floats, taken: Flags, scale: float, indptr: Offsets, order: Ids, gaps: Longs
) -> None:
    """Write the lines that the trees of all topics make: by slot the component, and the gap before it.

    The edges of a tree, from the cheapest on, join two lines at their ends, with the edge's price as the gap:
    the distance of two components is then the dearest edge between them in the tree. Prices are rounded down.
    """
    widest = greatest(shares.components)
    heads, tails = np.empty(widest, np.int32), np.empty(widest, np.int32)
    following, before = np.empty(widest, np.int32), np.empty(widest, np.int64)
    for topic in range(len(indptr) - 1):
        for component in range(shares.components[topic]):
            heads[component] = tails[component] = component
            following[component], before[component] = _NONE, 0
        start, end = shares.topic_indptr[topic], shares.topic_indptr[topic + 1]
        tree = start + np.flatnonzero(taken[shares.by_topic[start:end]])
        costs = prices[shares.by_topic[tree]]
        for at in np.argsort(costs, kind="mergesort"):
            left = _head(heads, shares.lefts[tree[at]])
            right = _head(heads, shares.rights[tree[at]])
            following[tails[left]], before[right] = right, np.int64(costs[at] * scale)
            tails[left], heads[right] = tails[right], left
        slot = indptr[topic]
        component = _head(heads, 0) if slot < indptr[topic + 1] else _NONE
        while component != _NONE:
            order[slot], gaps[slot] = component, before[component]
            slot += 1
            component = following[component]


@kernel
def draw_demands(shares: Shares, prices: Floats, scale: float, topic_count: int, node_count: int) -> Asked:
    """What links pay for the demand of each node: the second cheapest price, and the cheapest to the nearest.

    Prices are rounded down; 0 where a node has no demand, or only one candidate meets it.
    """
    asked = Asked(
        np.zeros(node_count, np.int64), np.full(node_count, np.int32(_NONE)), np.zeros(node_count, np.int64)
    )
    if len(shares.components) == topic_count:
        return asked
    edge_of = np.empty(len(prices), np.int32)
    for edge in range(len(shares.edges)):
        for share in range(shares.indptr[edge], shares.indptr[edge + 1]):
            edge_of[share] = edge
    for node in range(node_count):
        start, end = shares.topic_indptr[topic_count + node], shares.topic_indptr[topic_count + node + 1]
        if end - start < 2:
            continue
        first, second, nearest = np.inf, np.inf, _NONE
        for share in shares.by_topic[start:end]:
            price = prices[share]
            if price < first:
                ends = shares.edges[edge_of[share]]
                first, second, nearest = price, first, ends[0] + ends[1] - node
            elif price < second:
                second = price
        asked.prices[node], asked.nearest_prices[node] = np.int64(second * scale), np.int64(first * scale)
        asked.nearest[node] = nearest
    return asked


@inner
def _head(heads: Ids, component: int) -> int:
    """The first component of a line; the way to it gets half as long."""
    while heads[component] != component:
        heads[component] = heads[heads[component]]
        component = heads[component]
    return component


@kernel
def slots_of(indptr: Offsets, line_indptr: Offsets, nodes: Ids) -> Offsets:
    """The slot of each interest, in node order. O(interests)."""
    free = indptr[:-1].copy()
    slots = np.empty(len(nodes), np.int64)
    for slot in range(len(nodes)):
        node = nodes[slot]
        slots[free[node]] = slot
        free[node] += 1
    return slots


@inner
def add_distances(lines: Lines, slot: int, start: int, end: int, totals: Longs) -> None:
    """Add the distances of the node at a slot of the line from `start` to `end` to those of all others."""
    far = np.int64(0)
    for other in range(slot + 1, end):
        far = max(far, lines.gaps[other])
        totals[lines.nodes[other]] += far
    far = np.int64(0)
    for other in range(slot - 1, start - 1, -1):
        far = max(far, lines.gaps[other + 1])
        totals[lines.nodes[other]] += far


@inner
def _add_demands(
    indptr: Offsets, topic_ids: Ids, lines: Lines, demands: Demands, asked: Asked, node: int, totals: Longs,
    met: Ids, asking: Ids
) -> None:  # fmt: skip
    """Add what links of a node pay for its own demand and for those of others.

    `met` and `asking` hold, by node, the last node for which they were added, so that none is added twice.
    """
    if asked.prices[node]:
        for topic in demands.topics[demands.indptr[node] : demands.indptr[node + 1]]:
            for other in lines.nodes[lines.indptr[topic] : lines.indptr[topic + 1]]:
                if met[other] != node:
                    met[other] = node
                    totals[other] += price_of(asked, node, other)
    for topic in topic_ids[indptr[node] : indptr[node + 1]]:
        for other in demands.askers[demands.asker_indptr[topic] : demands.asker_indptr[topic + 1]]:
            if asking[other] != node:
                asking[other] = node
                totals[other] += price_of(asked, other, node)


@kernel
def find_exceeding(
    indptr: Offsets,
    topic_ids: Ids,
    lines: Lines,
    demands: Demands,
    asked: Asked,
    scale: int,
    nodes: tuple[int, int],
    most: int,
    found: Exceeding,
    ticks: Ticks,
) -> None:
    """Find the pairs of a range of nodes, with later ones, of more than the scale.

    What counts are their distances, and what a link between them pays for demands.
    At most the `most` greatest of each node are listed in `found`, which has room for so many. Exact.
    O(sum over the nodes' topics of their subscribers).
    """
    node_count = len(indptr) - 1
    totals = np.zeros(node_count, np.int64)
    row = np.empty(node_count, np.int32)
    met, asking = np.full(node_count, np.int32(_NONE)), np.full(node_count, np.int32(_NONE))
    for node in range(*nodes):
        if ticks[CANCEL]:
            return
        if indptr[node] == indptr[node + 1]:
            continue
        for i in range(indptr[node], indptr[node + 1]):
            topic = topic_ids[i]
            add_distances(lines, lines.slots[i], lines.indptr[topic], lines.indptr[topic + 1], totals)
        _add_demands(indptr, topic_ids, lines, demands, asked, node, totals, met, asking)
        count = 0
        for other in range(node + 1, node_count):
            if totals[other] > scale:
                row[count] = other
                count += 1
        list_greatest(node, row[:count], totals, most, found)
        for other in range(node_count):
            totals[other] = 0


@inner
def list_greatest(node: int, row: Ids, totals: Longs, most: int, found: Exceeding) -> None:
    """List the pairs of a row with the greatest totals, at most `most`."""
    least = np.int64(0)
    if len(row) > most:
        least = np.int64(-smallest((-totals[row]).astype(np.float64), most - 1))
    listed = found.counts[0]
    full = listed + most
    for above in (1, 0):
        for other in row:
            if listed < full and ((totals[other] > least) if above else (totals[other] == least)):
                found.pairs[listed, 0], found.pairs[listed, 1] = node, other
                found.totals[listed] = totals[other]
                listed += 1
    for other in row:
        found.counts[2] = max(found.counts[2], totals[other])
    found.counts[0] = listed
    found.counts[1] += len(row)


@kernel
def write_distances(
    indptr: Offsets,
    topic_ids: Ids,
    lines: Lines,
    demands: Demands,
    asked: Asked,
    shares: Shares,
    edges: Offsets,
    prices: Floats,
) -> None:
    """Write how far apart the ends of some edges are, and what they pay for demands.

    The ends are in different components of every topic.
    """
    for edge in edges:
        u, v = shares.edges[edge]
        i, j, share = indptr[u], indptr[v], shares.indptr[edge]
        while i < indptr[u + 1] and j < indptr[v + 1]:
            topic, other = topic_ids[i], topic_ids[j]
            if topic == other:
                prices[share] = _distance(lines, lines.slots[i], lines.slots[j])
                share += 1
            i += topic <= other
            j += other <= topic
        for node, other in ((u, v), (v, u)):
            if meets(indptr, topic_ids, demands, other, node):
                prices[share] = float(price_of(asked, node, other))
                share += 1


@inner
def _distance(lines: Lines, one: int, other: int) -> float:
    far = np.int64(0)
    for slot in range(min(one, other) + 1, max(one, other) + 1):
        far = max(far, lines.gaps[slot])
    return float(far)
