"""Relief: a node with too many links gives some to others.

A node may have links that it can't give away one by one, since each is its only way in some topic; no other
link of others replaces that. So all of its links are closed at once, and it is linked anew, as if it left and
joined again, with nodes that share many topics with it. Only where it has very many links, they are taken one
by one.
"""

from collections import Counter
from typing import NamedTuple

import numpy as np

from meshwright.maintain.options import RepairSettings
from meshwright.maintain.policies import BUSY, PARTNERS, Uprooted, busy_degree, connect, partners_of
from meshwright.maintain.repairs import Link, named
from meshwright.maintain.state import Change, MaintainedOverlay, row
from meshwright.runtime.arrays import Ids
from meshwright.runtime.packing import pack

_WORK, _WORK_A_TOPIC, _MOST_WORK = 5_000, 3_000, 200_000
"""What linking a node anew counts as work, more for each of its topics, and the most, so that an event always
has enough. Measured at 500 nodes: a node of 15 links and 78 topics takes 1.4 ms."""

_WORK_OF_LINK, _WORK_OF_TOPIC = 10_000, 7_000
"""What taking a link from a node counts as work, and more for each topic of the link. Measured at 20,000
nodes: 0.6 ms, as long as 37,000 looks at nodes."""

MOST_UPROOTED = 64
"""The most links that are closed at once, since the time grows with their square."""

_MOST_MORE, _MOST_MORE_AGAIN = 6, 14
"""How many links more than before there may be, and at a second try. Measured at 500 nodes: of 120 nodes that
were linked anew, most took 0 to 4 more."""

_PARTNERS_AGAIN, _BUSY_AGAIN = 192, 1.6
"""At a second try, how many nodes that share most topics with it a node may be linked with, and how many
times the average degree they have at most, if others would do. Measured at 2,000 nodes: of 15 nodes that had
14 links after all other tries, 14 had 12 or 13 then."""

_LARGE, _LEAST_SHARE = 10_000, 2
"""In a fleet of more nodes each look takes longer (16 ns at 20,000, 7 ns at 2,000), so there are fewer: in
proportion, and down to half."""


def work_in(nodes: int, work: int) -> int:
    """How much of an amount of work is done after an event: less in a large fleet."""
    return max(work // _LEAST_SHARE, work * _LARGE // max(_LARGE, nodes))


class Exchange(NamedTuple):
    """Links that were opened and closed, as sorted pairs of names, in order."""

    added: tuple[Link, ...]
    removed: tuple[Link, ...]

    @property
    def changes(self) -> int:
        """The number of links that have changed."""
        return len(self.added) + len(self.removed)


class Relieved(NamedTuple):
    """The exchanges that relieved a node, and the work; without work, nothing was tried."""

    exchanges: list[Exchange]
    work: int


def relieve(
    state: MaintainedOverlay, settings: RepairSettings, hub: int, busy: int, work: int, left: int, most: int
) -> Relieved:
    """Take links from a node that has more than `busy`; `work` and `left` limit the work and the changes.

    Guarantee: every topic stays connected; where anything was changed, the node has fewer links, and no other
    that was linked has both more than `busy` and as many as the node had; there are at most
    `_MOST_MORE_AGAIN` links more.

    Cost: O(|S|² |topics|) for S, the ends of its links and 64 others. Of a node with very many links, up to
    `most` are tried, at about the cost of a repair each.
    """
    own = row(state.live.links, hub).copy()
    if len(own) > MOST_UPROOTED or 2 * len(own) + _MOST_MORE_AGAIN > left:
        return _relieve_by_link(state, settings, hub, busy, work, left, most)
    most_work = work_in(len(state.nodes), _MOST_WORK)
    cost = min(most_work, _WORK + _WORK_A_TOPIC * int(state.live.topics.counts[hub]))
    if cost > work:
        return Relieved([], 0)
    found = _link_anew(state, settings, hub, own, busy, (PARTNERS, BUSY, _MOST_MORE))
    again = _PARTNERS_AGAIN, _BUSY_AGAIN, _MOST_MORE_AGAIN
    return Relieved(found or _link_anew(state, settings, hub, own, busy, again), cost)


def _link_anew(
    state: MaintainedOverlay,
    settings: RepairSettings,
    hub: int,
    own: Ids,
    busy: int,
    limits: tuple[int, float, int],
) -> list[Exchange]:
    """Close all links of a node, and connect what that cut with links that make no node too busy.

    The limits are how many similar nodes may be linked, from how many times the average degree on nodes are
    linked only if no others would do, and how many links more there may be.
    """
    most, times, more = limits
    topics, ends = row(state.live.topics, hub), np.append(own, np.int32(hub))
    partners = partners_of(state, hub, topics, settings, most, busy)
    edges = np.column_stack([np.full(len(own), hub, np.int32), own])
    common = [np.intersect1d(topics, row(state.live.topics, end)) for end in ends.tolist()]
    keys = [pack(shared, np.full(len(shared), end)) for end, shared in zip(ends, common, strict=True)]
    fewer = busy_degree(state, times)
    state.unlink(edges)
    uprooted, shadows = Uprooted(np.concatenate(keys), ends, edges), np.concatenate([ends, partners])
    new = connect(state, _NO_CHANGE, uprooted, shadows, False, settings, fewer).added
    counts = state.live.links.counts
    highest = int(counts[new[new != hub]].max(initial=0))
    if counts[hub] < len(own) and len(new) <= len(own) + more and highest <= max(busy, len(own) - 1):
        return [exchanged(state, new, edges)]
    undo(state, new, edges)
    return []


def _relieve_by_link(
    state: MaintainedOverlay, settings: RepairSettings, hub: int, busy: int, work: int, left: int, most: int
) -> Relieved:
    """Take links from a node one by one, and leave three quarters of the work to others."""
    exchanges, spent = list[Exchange](), 0
    for node in settings.rng.permutation(row(state.live.links, hub))[:most].tolist():
        if 4 * spent >= work or left < 3 or state.live.links.counts[hub] <= busy:
            break
        common = np.intersect1d(row(state.live.topics, hub), row(state.live.topics, node))
        found = _take_link(state, settings, hub, node, common, busy)
        left -= sum(own.changes for own in found)
        spent += _WORK_OF_LINK + _WORK_OF_TOPIC * len(common)
        exchanges += found
    return Relieved(exchanges, spent)


def _take_link(
    state: MaintainedOverlay, settings: RepairSettings, hub: int, node: int, common: Ids, busy: int
) -> list[Exchange]:
    """Close a link of a busy node, and open one or two between others, if these connect all topics."""
    partners = partners_of(state, node, common, settings, PARTNERS, busy)
    ends, edge = np.array([node, hub], np.int32), np.array([[node, hub]], np.int32)
    seeds = np.concatenate([pack(common, np.full(len(common), end)) for end in (node, hub)])
    state.unlink(edge)
    shadows = np.concatenate([ends, partners])
    new = connect(state, _NO_CHANGE, Uprooted(seeds, ends, edge), shadows, False, settings, busy).added
    if len(new) <= 2 and (state.live.links.counts[new] <= busy).all() and not (new == hub).any():
        return [exchanged(state, new, edge)]
    undo(state, new, edge)
    return []


def exchanged(state: MaintainedOverlay, opened: Ids, closed: Ids) -> Exchange:
    """Links that were opened and closed, pairs of places; those that are again as before have not changed."""
    names = state.nodes.names
    change = Counter(named(opened, names))
    change.subtract(named(closed, names))
    added, removed = (tuple(link for link in change if change[link] == sign) for sign in (1, -1))
    return Exchange(added, removed)


def undo(state: MaintainedOverlay, opened: Ids, closed: Ids) -> None:
    """Close links that were opened, and open those that were closed."""
    state.unlink(opened)
    state.link(closed)


_NO_CHANGE = Change(
    movers=np.empty(0, np.int32),
    leaving=np.empty(0, np.bool_),
    lost_indptr=np.zeros(1, np.int64),
    lost=np.empty(0, np.int32),
    gained=np.empty(0, np.int64),
    gained_indptr=np.zeros(1, np.int64),
    gainers=np.empty(0, np.int32),
)
