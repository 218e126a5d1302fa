"""Re-optimisation in the background: after each event, a few links are exchanged for fewer, within a budget.

Repairs add what is missing and leave the rest, so degrees rise with every event. Here nodes that a repair has
linked, and one node after the other, are linked with a node that shares many topics with them, and give up
the links that this makes superfluous. A node that has got too many links gives some to others. Everything
depends only on the events: there is a budget of links that are changed, and one of work, which is counted and
not timed.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from meshwright.kernels.repair.detours import NONE
from meshwright.kernels.repair.exchanging import NO_ROOM, exchange
from meshwright.maintain.options import MaintainOptions, RepairSettings
from meshwright.maintain.policies import BUSY, PARTNERS, Uprooted, busy_degree, connect, partners_of
from meshwright.maintain.repairs import Link, named
from meshwright.maintain.state import Change, MaintainedOverlay, longer, row
from meshwright.model.events import Event
from meshwright.runtime.arrays import Ids
from meshwright.runtime.packing import pack

_MANY_TOPICS = 64
"""A node with more topics is not tried just because a repair has linked it. Measured at 2,000 nodes: a try of
it takes several times as long as one of others, and saves a third to a half as many links."""

_WORK = 200_000
"""The work for each event: subscribers, topics and links looked at, about 7 ns each at 2,000 nodes."""

_WORK_OF_GAINS = 45_000
"""The most work for each event where nothing was lost, since a join has to be quick; the rest is saved."""

_SAVED_WORK = 400_000
"""The most work that is saved for later events."""

_RELIEF, _RELIEF_A_TOPIC = 5_000, 3_000
"""What taking a link from a busy node counts as work, and more for each topic of the link."""

_PARTNERS = 64
"""How many nodes that share most topics with a node are considered for an exchange."""

_MOST_CLOSED = 6
"""The most links that are closed for a new one."""

_RELIEFS = 8
"""How many links of a node with too many are tried after an event."""

_SAVED = 100
"""The most links of the budget that are saved for later events. Few exchanges change more."""

_TOO_BUSY = 1.9
"""A node with more than so many times the average degree gives links to others."""

_NEAR = 4
"""How many nodes that are linked with such a node are tried after an event."""

_MINUTE = 60


class Budget(NamedTuple):
    """How many links may still be changed, which place is next, and what work is left, in JSON's types."""

    saved: int = 0
    minute: int = -(2**63)  # the latest of the events' times
    spent: int = 0  # in this minute
    place: int = 0
    work: int = 0

    def after(self, events: tuple[Event, ...], options: MaintainOptions) -> "Budget":
        """The budget that events leave behind, before anything is spent."""
        earned = options.reoptimise * len(events)
        saved = min(self.saved + earned, max(_SAVED, earned))
        minute = max(self.minute, *(event.at // _MINUTE for event in events))
        work = min(self.work + _WORK * len(events), max(_SAVED_WORK, _WORK * len(events)))
        spent = self.spent if minute == self.minute else 0
        return self._replace(saved=saved, minute=minute, spent=spent, work=work)

    def left(self, options: MaintainOptions) -> int:
        """The number of links that may be changed now."""
        limit = options.reoptimise_a_minute
        return self.saved if limit == 0 else min(self.saved, limit - self.spent)

    def less(self, changes: int, work: int) -> "Budget":
        """The budget after some changes and some work."""
        saved, spent = self.saved - changes, self.spent + changes
        return self._replace(saved=saved, spent=spent, work=self.work - work)


class Exchange(NamedTuple):
    """Links that were opened and closed, as sorted pairs of names, in order."""

    added: tuple[Link, ...]
    removed: tuple[Link, ...]

    @property
    def changes(self) -> int:
        """The number of links that have changed."""
        return len(self.added) + len(self.removed)


def tend(
    state: MaintainedOverlay,
    settings: RepairSettings,
    budget: Budget,
    events: tuple[Event, ...],
    linked: Sequence[Link],
) -> tuple[Budget, list[Exchange]]:
    """Improve the links of a few nodes after a repair that `linked` some; returns what is left of the budget.

    Guarantee: every topic stays connected; no exchange raises the sum of the squares of all degrees, but for
    one that takes a link from a node with too many; where links cost, none raises the cost of all links; no
    more links change than the budget allows.

    Cost: the work that the budget allows, and at most one try more; and one look at all degrees where some
    node has too many links.
    """
    budget = budget.after(events, settings.options)
    gains_only = all(event.event in ("join", "subscribe") for event in events)
    least = max(0, budget.work - _WORK_OF_GAINS * len(events)) if gains_only else 0
    most = 1 if gains_only else _RELIEFS
    budget, exchanges = _relieve_any(state, settings, budget, least + (budget.work - least) // 4, most)
    turns = min(len(state.nodes.names), settings.options.reoptimise * len(events))
    nodes = _next_nodes(state, settings, budget.place, linked, turns)
    start, first = 0, len(nodes) - turns
    while start < len(nodes) and budget.work > least and budget.left(settings.options) >= 2:
        start, budget, found = _improve(state, settings, nodes, start, budget, least)
        exchanges += found
    return budget._replace(place=budget.place + max(0, start - first)), exchanges


def _next_nodes(
    state: MaintainedOverlay, settings: RepairSettings, place: int, linked: Sequence[Link], turns: int
) -> Ids:
    """A node with too many links and some next to it, those that a repair has linked, and some in turn.

    The last are so many places, some of which may be free. Those that a repair has linked and that have many
    topics come only in turn. A node of a batch may have been linked, and have left since.
    """
    hub, near = _busy_node(state, settings), np.empty(0, np.int32)
    if hub != NONE:
        near = np.append(settings.rng.permutation(row(state.live.links, hub))[:_NEAR], np.int32(hub))
    names = dict.fromkeys(name for link in linked for name in link)
    places = (state.nodes.of[name] for name in names if name in state.nodes.of)
    ends = [place for place in places if state.live.topics.counts[place] <= _MANY_TOPICS]
    in_turn = (np.arange(turns) + place) % max(1, len(state.nodes.names))
    return np.concatenate([near, np.array(ends, np.int32), in_turn.astype(np.int32)])


def _busy_node(state: MaintainedOverlay, settings: RepairSettings) -> int:
    """One of the nodes that have too many links, or NONE; where links cost, none has too many.

    Any of these nodes, since there may be one that can't give any away.
    """
    busy = busy_degree(state, _TOO_BUSY)
    if settings.prices is not None or state.maximum_degree <= busy:
        return NONE
    return int(settings.rng.choice(np.flatnonzero(state.live.links.counts > busy)))


def _improve(
    state: MaintainedOverlay, settings: RepairSettings, nodes: Ids, start: int, budget: Budget, least: int
) -> tuple[int, Budget, list[Exchange]]:
    """Exchange links of one of some nodes for one new link; returns from where to go on, and the exchange."""
    most_changes = budget.left(settings.options)
    closed = np.empty((min(most_changes - 1, _MOST_CLOSED), 2), np.int32)
    limits = _PARTNERS, busy_degree(state, BUSY), budget.work - least
    by_cost = settings.prices is not None
    start, other, count, work = exchange(
        state.live, state.room, settings.rng, nodes, start, *limits, by_cost, closed
    )
    if other == NO_ROOM:
        state.live = state.live._replace(links=longer(state.live.links, 64))
    if not count:
        return start, budget.less(0, work), []
    opened = np.array([[closed[0, 0], other]][: other != NONE], np.int32).reshape(-1, 2)
    names = state.nodes.names
    found = Exchange(named(opened, names), named(closed[:count], names))
    if by_cost and not _is_cheaper(settings, found):
        _undo(state, opened, closed[:count])
        return start, budget.less(0, work), []
    return start, budget.less(found.changes, work), [found]


def _is_cheaper(settings: RepairSettings, found: Exchange) -> bool:
    prices = settings.prices
    return prices is not None and prices.sum_of(found.added) < prices.sum_of(found.removed)


def _undo(state: MaintainedOverlay, opened: Ids, closed: Ids) -> None:
    state.unlink(opened)
    state.link(closed)


def _relieve_any(
    state: MaintainedOverlay, settings: RepairSettings, budget: Budget, least: int, most: int
) -> tuple[Budget, list[Exchange]]:
    """Take links from a node that has too many, up to so many and until so much work is left."""
    busy, exchanges, hub = busy_degree(state, _TOO_BUSY), list[Exchange](), _busy_node(state, settings)
    if hub == NONE:
        return budget, exchanges
    for node in settings.rng.permutation(row(state.live.links, hub))[:most].tolist():
        spent = budget.work <= least or budget.left(settings.options) < 3
        if spent or state.live.links.counts[hub] <= busy:
            break
        common = np.intersect1d(row(state.live.topics, hub), row(state.live.topics, node))
        found = _relieve(state, settings, hub, node, common, busy)
        changes = sum(own.changes for own in found)
        budget = budget.less(changes, _RELIEF + _RELIEF_A_TOPIC * len(common))
        exchanges += found
    return budget, exchanges


def _relieve(
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
        return [Exchange(named(new, state.nodes.names), named(edge, state.nodes.names))]
    _undo(state, new, edge)
    return []


_NO_CHANGE = Change(
    movers=np.empty(0, np.int32),
    leaving=np.empty(0, np.bool_),
    lost_indptr=np.zeros(1, np.int64),
    lost=np.empty(0, np.int32),
    gained=np.empty(0, np.int64),
    gained_indptr=np.zeros(1, np.int64),
    gainers=np.empty(0, np.int32),
)
