"""Re-optimisation in the background: after each event, a few links are exchanged for fewer, within a budget.

Repairs add what is missing and leave the rest, so degrees rise with every event. Here one node after the
other is linked with a node that shares many topics with it, and gives up the links that this makes
superfluous. A node that has got too many links gives some to others. Everything depends only on the events.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.repair.exchanging import NO_ROOM, NONE, exchange
from meshwright.maintain.options import MaintainOptions, RepairSettings
from meshwright.maintain.policies import PARTNERS, Uprooted, busy_degree, connect, partners_of
from meshwright.maintain.repairs import Link, named
from meshwright.maintain.state import Change, MaintainedOverlay, longer, row
from meshwright.model.events import Event
from meshwright.runtime.arrays import Ids
from meshwright.runtime.packing import pack

_LINKS_A_TRY = 2
"""Links of the budget for each node that is tried. Most tries change nothing, which costs only time."""

_PARTNERS = 32
"""How many nodes that share most topics with a node are considered for an exchange."""

_MOST_CLOSED = 6
"""The most links that are closed for a new one."""

_HUBS, _RELIEFS = 4, 8
"""How many nodes with too many links give some away after an event, and how many links of each are tried."""

_SAVED = 100
"""The most links of the budget that are saved for later events. Few exchanges change more."""

_BUSY = 1.9
"""A node with more than so many times the average degree gives links to others."""

_MINUTE = 60


class Budget(NamedTuple):
    """How many links may still be changed, and which place is next, in JSON's types."""

    saved: int = 0
    minute: int = -(2**63)  # the latest of the events' times
    spent: int = 0  # in this minute
    place: int = 0

    def after(self, events: tuple[Event, ...], options: MaintainOptions) -> "Budget":
        """The budget that events leave behind, before anything is spent."""
        earned = options.reoptimise * len(events)
        saved = min(self.saved + earned, max(_SAVED, earned))
        minute = max(self.minute, *(event.at // _MINUTE for event in events))
        return self._replace(saved=saved, minute=minute, spent=self.spent if minute == self.minute else 0)

    def left(self, options: MaintainOptions) -> int:
        """The number of links that may be changed now."""
        limit = options.reoptimise_a_minute
        return self.saved if limit == 0 else min(self.saved, limit - self.spent)

    def less(self, changes: int) -> "Budget":
        """The budget after some changes."""
        return self._replace(saved=self.saved - changes, spent=self.spent + changes)


class Exchange(NamedTuple):
    """Links that were opened and closed, as sorted pairs of names, in order."""

    added: tuple[Link, ...]
    removed: tuple[Link, ...]

    @property
    def changes(self) -> int:
        """The number of links that have changed."""
        return len(self.added) + len(self.removed)


def tend(
    state: MaintainedOverlay, settings: RepairSettings, budget: Budget, events: tuple[Event, ...]
) -> tuple[Budget, list[Exchange]]:
    """Improve the links of the next few nodes after a repair; returns what is left of the budget.

    Guarantee: every topic stays connected; no exchange raises the sum of the squares of all degrees, but for
    one that takes a link from a node with too many; where links cost, none raises the cost of all links; no
    more links change than the budget allows.

    Cost: for each node that is tried, searches in its topics and the subscribers of these, both up to a
    limit; and one look at all degrees where some node has too many links.
    """
    budget = budget.after(events, settings.options)
    exchanges = list[Exchange]()
    if settings.prices is None:
        budget, exchanges = _relieve_busiest(state, settings, budget)
    for _ in range(-(-settings.options.reoptimise * len(events) // _LINKS_A_TRY)):
        left = budget.left(settings.options)
        if left < 2 or not len(state.nodes):
            break
        place = budget.place % len(state.nodes.names)
        budget = budget._replace(place=place + 1)
        found = _improve(state, settings, place, left)
        if found is not None:
            exchanges.append(found)
            budget = budget.less(found.changes)
    return budget, exchanges


def _improve(
    state: MaintainedOverlay, settings: RepairSettings, place: int, most_changes: int
) -> Exchange | None:
    """Exchange links of a node for one new link; None where that makes nothing better."""
    if state.live.links.counts[place] < 2:
        return None
    topics = row(state.live.topics, place).copy()
    others = partners_of(state, place, topics, settings, _PARTNERS, busy_degree(state, _BUSY))
    closed = np.empty((min(most_changes - 1, _MOST_CLOSED), 2), np.int32)
    by_cost = settings.prices is not None
    task = place, others, by_cost, closed
    at, count = exchange(state.live, state.room, *task)
    if at == NO_ROOM:
        state.live = state.live._replace(links=longer(state.live.links, 64))
        at, count = exchange(state.live, state.room, *task)
    if not count:
        return None
    opened = np.array([[place, others[at]]][: at != NONE], np.int32).reshape(-1, 2)
    names = state.nodes.names
    found = Exchange(named(opened, names), named(closed[:count], names))
    if settings.prices is None or _is_cheaper(settings, found):
        return found
    _undo(state, opened, closed[:count])
    return None


def _is_cheaper(settings: RepairSettings, found: Exchange) -> bool:
    prices = settings.prices
    return prices is not None and prices.sum_of(found.added) < prices.sum_of(found.removed)


def _undo(state: MaintainedOverlay, opened: Ids, closed: Ids) -> None:
    state.unlink(opened)
    state.link(closed)


def _relieve_busiest(
    state: MaintainedOverlay, settings: RepairSettings, budget: Budget
) -> tuple[Budget, list[Exchange]]:
    """Take links from the nodes that have most of all, if they have too many."""
    busy, exchanges = busy_degree(state, _BUSY), list[Exchange]()
    if state.maximum_degree <= busy:
        return budget, exchanges
    hubs = np.flatnonzero(state.live.links.counts > busy)
    hubs = hubs[np.argsort(-state.live.links.counts[hubs], kind="stable")][:_HUBS]
    for hub in hubs.tolist():
        for node in settings.rng.permutation(row(state.live.links, hub))[:_RELIEFS].tolist():
            if state.live.links.counts[hub] <= busy or budget.left(settings.options) < 3:
                break
            found = _relieve(state, settings, hub, node, busy)
            if found is not None:
                exchanges.append(found)
                budget = budget.less(found.changes)
    return budget, exchanges


def _relieve(
    state: MaintainedOverlay, settings: RepairSettings, hub: int, node: int, busy: int
) -> Exchange | None:
    """Close a link of a busy node, and open one or two between others, if these connect all topics."""
    common = np.intersect1d(row(state.live.topics, hub), row(state.live.topics, node))
    partners = partners_of(state, node, common, settings, PARTNERS, busy)
    ends, edge = np.array([node, hub], np.int32), np.array([[node, hub]], np.int32)
    seeds = np.concatenate([pack(common, np.full(len(common), end)) for end in (node, hub)])
    state.unlink(edge)
    shadows = np.concatenate([ends, partners])
    new = connect(state, _NO_CHANGE, Uprooted(seeds, ends, edge), shadows, False, settings, busy).added
    if len(new) <= 2 and (state.live.links.counts[new] <= busy).all() and not (new == hub).any():
        return Exchange(named(new, state.nodes.names), named(edge, state.nodes.names))
    _undo(state, new, edge)
    return None


_NO_CHANGE = Change(
    movers=np.empty(0, np.int32),
    leaving=np.empty(0, np.bool_),
    lost_indptr=np.zeros(1, np.int64),
    lost=np.empty(0, np.int32),
    gained=np.empty(0, np.int64),
    gained_indptr=np.zeros(1, np.int64),
    gainers=np.empty(0, np.int32),
)
