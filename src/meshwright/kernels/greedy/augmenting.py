"""Links that make blocks of topics grow together, or components: a greedy that may be told of caps.

A link contributes as many blocks, or components, as it takes away, over all topics. Contributions only fall
while links are taken, as those of Greedy Merge do: what lies between two vertices in a tree of blocks never
gets longer. So the greatest contribution that a node once had with any other bounds what it can have. Levels
fall, and at each a node is looked at only if its bound reaches the level: one walk over the members of its
topics finds the contributions with all others at once.

Where links cost, a link is *worth* its contribution divided by its cost, which only falls as well; else it is
worth its contribution.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inner, kernel, lean, lean_kernel
from meshwright.kernels.core.cost_arrays import CostArrays
from meshwright.kernels.core.costs import cost_between
from meshwright.kernels.greedy.blocks import (
    BLOCKS,
    COMPONENTS,
    NONE,
    Blocks,
    is_inside,
    joined_by,
    link_gain,
    own_block,
)
from meshwright.runtime.arrays import Floats, Ids, Longs, Ticks
from meshwright.runtime.progress import CANCEL, DONE

_ALMOST_ONE = 1 - 2.0**-40


class LinkCosts(NamedTuple):
    """What links cost."""

    has_costs: bool  # whether that counts
    arrays: CostArrays
    ids: Ids  # by node: where `arrays` have it


class Row(NamedTuple):
    """Room for the contributions of one node with all others."""

    gains: Longs  # by node; 0 between calls
    touched: Ids  # the nodes that share a topic with it
    distances: Ids  # by slot: blocks on the path to it
    ways: Ids  # by slot that names a block: blocks to its far side, on the way up; 0 between calls
    entries: Ids  # by slot that names a block on the way up: where the way enters it


@kernel
def take_levels(
    blocks: Blocks,
    kind: int,
    row: Row,
    costs: LinkCosts,
    bounds: Floats,
    degrees: Longs,
    caps: Longs,
    order: Ids,
    slack: float,
    edges: Ids,
    ticks: Ticks,
) -> int:
    """Take links until none contributes, and write them to `edges`; how many there are, at most its length.

    `bounds` are by node what a link of it can be worth at most. A link is taken if it is worth at least
    `slack` times the most of all. Nodes are looked at in `order`; of those that a node could be linked to,
    one that can bear more links comes first. A node that has as many as `caps` allow gets no more.
    """
    count = 0
    chosen = np.empty(len(bounds), np.int32)
    while count < len(edges) and not ticks[CANCEL]:
        level = 0.0
        for node in range(len(bounds)):
            if degrees[node] < caps[node]:
                level = max(level, bounds[node])
        if level <= 0:
            break
        least = level * slack if costs.has_costs else max(1.0, np.ceil(level * slack))
        for node in order:
            if bounds[node] < least or degrees[node] >= caps[node] or ticks[CANCEL]:
                continue
            count = _take_row(
                blocks, kind, row, costs, node, least, bounds, degrees, caps, chosen, edges, count, ticks
            )
            if count == len(edges):
                break
    return count


@lean
def _worth(costs: LinkCosts, gain: int, u: int, v: int) -> float:
    """What a link is worth that contributes so much."""
    if not costs.has_costs:
        return float(gain)
    return gain / cost_between(costs.arrays, costs.ids[u], costs.ids[v])


@inner
def _take_row(
    blocks: Blocks,
    kind: int,
    row: Row,
    costs: LinkCosts,
    node: int,
    least: float,
    bounds: Floats,
    degrees: Longs,
    caps: Longs,
    chosen: Ids,
    edges: Ids,
    count: int,
    ticks: Ticks,
) -> int:
    """Take the links of one node that are worth `least`; how many are taken then. Lowers its bound."""
    found = _contributions(blocks, kind, row, node, degrees, caps)
    picked, rest = 0, 0.0
    for place in range(found):
        other = row.touched[place]
        gain = row.gains[other]
        row.gains[other] = 0
        if other == node or degrees[other] >= caps[other]:
            continue
        worth = _worth(costs, gain, node, other)
        if worth >= least:
            chosen[picked] = other
            picked += 1
        else:
            rest = max(rest, worth)
    some = chosen[:picked]
    for place in np.argsort(degrees[some] - caps[some], kind="mergesort"):  # those that can bear most first
        other = chosen[place]
        if degrees[other] >= caps[other]:
            continue
        worth = _worth(costs, link_gain(blocks, kind, node, other, False), node, other)
        if worth < least or degrees[node] >= caps[node] or count == len(edges):
            rest = max(rest, worth)
            continue
        ticks[DONE] += link_gain(blocks, kind, node, other, True)
        edges[count, 0], edges[count, 1] = node, other
        degrees[node] += 1
        degrees[other] += 1
        count += 1
    bounds[node] = min(rest, least * _ALMOST_ONE if costs.has_costs else least - 1)
    return count


@lean
def _contributions(blocks: Blocks, kind: int, row: Row, node: int, degrees: Longs, caps: Longs) -> int:
    """Write what links of a node to all others would contribute; how many nodes are listed as touched."""
    found = 0
    for interest in range(blocks.indptr[node], blocks.indptr[node + 1]):
        topic = blocks.topic_ids[interest]
        if blocks.left[topic] <= 0:
            continue
        own = blocks.slots[interest]
        if kind == BLOCKS and _few_outside(blocks, topic) and is_inside(blocks, topic, own):
            found = _add_outside(blocks, row, topic, own, found)
            continue
        if kind == COMPONENTS:
            found = _add_apart(blocks, row, topic, own, degrees, caps, found)
            continue
        _measure_ways(blocks, row, own, topic)
        for slot in range(blocks.starts[topic], blocks.starts[topic + 1]):
            if row.distances[slot] > 1:
                other = blocks.members[slot]
                if row.gains[other] == 0:
                    row.touched[found] = other
                    found += 1
                row.gains[other] += row.distances[slot] - 1
    return found


@lean
def _few_outside(blocks: Blocks, topic: int) -> bool:
    """Whether to look at the slots outside the main block one by one, and not at all slots in a row."""
    return blocks.outside_counts[topic] * 4 < blocks.starts[topic + 1] - blocks.starts[topic]


@lean
def _add_outside(blocks: Blocks, row: Row, topic: int, own: int, found: int) -> int:
    """Add the contributions of a slot of a main block, which only links to slots outside of it have."""
    first, kept = blocks.starts[topic], 0
    for place in range(first, first + blocks.outside_counts[topic]):
        slot = blocks.outside[place]
        if is_inside(blocks, topic, slot):
            continue
        blocks.outside[first + kept] = slot
        kept += 1
        gain = joined_by(blocks, own, slot, False)
        if gain:
            other = blocks.members[slot]
            if row.gains[other] == 0:
                row.touched[found] = other
                found += 1
            row.gains[other] += gain
    blocks.outside_counts[topic] = kept
    return found


@lean
def _add_apart(
    blocks: Blocks, row: Row, topic: int, own: int, degrees: Longs, caps: Longs, found: int
) -> int:
    """Add the contributions of a slot, which links to slots of other components have.

    Of `outside`, which lists all slots before the first link, those of nodes go that can have no more links.
    """
    first, kept = blocks.starts[topic], 0
    name = own_block(blocks.names, own)
    for place in range(first, first + blocks.outside_counts[topic]):
        slot = blocks.outside[place]
        other = blocks.members[slot]
        if degrees[other] >= caps[other]:
            continue
        blocks.outside[first + kept] = slot
        kept += 1
        other_name = own_block(blocks.names, slot)
        blocks.names[slot] = other_name
        if other_name != name:
            if row.gains[other] == 0:
                row.touched[found] = other
                found += 1
            row.gains[other] += 1
    blocks.outside_counts[topic] = kept
    return found


@lean
def _measure_ways(blocks: Blocks, row: Row, start: int, topic: int) -> None:
    """Write how many blocks the paths from one slot of a topic to all others lead through. O(slots)."""
    names, tops = blocks.names, blocks.tops
    slot, steps = start, 0
    while True:  # up to the root
        name = own_block(names, slot)
        if tops[name] == NONE:
            break
        row.ways[name], row.entries[name] = steps + 1, slot
        slot, steps = tops[name], steps + 1
    first = blocks.starts[topic]
    row.distances[first] = steps
    for slot in range(first + 1, blocks.starts[topic + 1]):
        name = own_block(names, slot)
        names[slot] = name
        way = row.ways[name]
        if way:
            row.distances[slot] = way - (row.entries[name] == slot)
        else:
            row.distances[slot] = row.distances[tops[name]] + 1
    slot = start
    while True:
        name = own_block(names, slot)
        if tops[name] == NONE:
            return
        row.ways[name] = 0
        slot = tops[name]


@lean_kernel
def bound_rows(
    blocks: Blocks,
    kind: int,
    row: Row,
    costs: LinkCosts,
    bounds: Floats,
    degrees: Longs,
    caps: Longs,
    ticks: Ticks,
) -> None:
    """Write what a link of each node with any other is worth at most; 0 for nodes that can have no more."""
    for node in range(len(bounds)):
        if ticks[CANCEL]:
            return
        if degrees[node] >= caps[node]:
            continue
        found = _contributions(blocks, kind, row, node, degrees, caps)
        bounds[node] = 0
        for place in range(found):
            other = row.touched[place]
            if other != node:
                bounds[node] = max(bounds[node], _worth(costs, row.gains[other], node, other))
            row.gains[other] = 0
