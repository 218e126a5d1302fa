"""Re-optimisation in the background: after each event, a few links are exchanged for fewer, within a budget.

Repairs add what is missing and leave the rest, so degrees rise with every event. Here nodes that a repair has
linked, and one node after the other, are linked with a node that shares many topics with them, and give up
the links that this makes superfluous. A node that has got too many links gives some to others
(`maintain/relief.py`). Everything depends only on the events: there is a budget of links that are changed,
and one of work, which is counted and not timed.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from meshwright.kernels.repair.detours import NONE
from meshwright.kernels.repair.exchanging import NO_ROOM, exchange, exchange_in_turn
from meshwright.maintain.options import MaintainOptions, RepairSettings
from meshwright.maintain.policies import BUSY, busy_degree
from meshwright.maintain.relief import MOST_UPROOTED, Exchange, exchanged, relieve, undo, work_in
from meshwright.maintain.repairs import Link
from meshwright.maintain.state import MaintainedOverlay, longer, row
from meshwright.model.events import Event
from meshwright.runtime.arrays import Ids

_MANY_TOPICS = 64
"""A node with more topics is not tried just because a repair has linked it. Measured at 2,000 nodes: a try of
it takes several times as long as one of others, and saves a third to a half as many links. With 40, the
average degree is 0.04 higher."""

_WORK = 300_000
"""The work for each event: subscribers, topics and links looked at, about 7 ns each at 2,000 nodes. There,
the average degree settles at 1.00 times that of a fresh overlay, and with 200,000 at 1.01 to 1.02 times."""

_WORK_OF_GAINS = 45_000
"""The most work for each event where nothing was lost, since a join has to be quick; the rest is saved."""

_PARTNERS = 64
"""How many nodes that share most topics with a node are considered for an exchange."""

_MOST_CLOSED = 6
"""The most links that are closed for a new one."""

_RELIEFS = 8
"""How many links of a node with very many are tried after an event."""

_LONGEST_REST = 32
"""The most events without a try to relieve a node, after tries that failed. Without a rest, one node that
can't be relieved takes most of the work of all events, and the average degree rises."""

_SAVED = 100
"""The most links of the budget that are saved for later events. Few exchanges change more."""

_TOO_BUSY = 1.9
"""A node whose degree is over this multiple of the average gives links to others."""

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
    failed: int = 0  # how many tries in a row have relieved no node
    rest: int = 0  # events until the next such try, but for a busier node
    busiest: int = 0  # how many links the node had that the last such try did not relieve

    def after(self, events: tuple[Event, ...], options: MaintainOptions, nodes: int) -> "Budget":
        """The budget after events in a fleet of this size, before anything is spent."""
        earned = options.reoptimise * len(events)
        saved = min(self.saved + earned, max(_SAVED, earned))
        minute = max(self.minute, *(event.at // _MINUTE for event in events))
        own = work_in(nodes, _WORK)
        work = min(self.work + own * len(events), own * max(2, len(events)))
        spent = self.spent if minute == self.minute else 0
        rest = max(0, self.rest - len(events))
        return self._replace(saved=saved, minute=minute, spent=spent, work=work, rest=rest)

    def left(self, options: MaintainOptions) -> int:
        """The number of links that may be changed now."""
        limit = options.reoptimise_a_minute
        return self.saved if limit == 0 else min(self.saved, limit - self.spent)

    def less(self, changes: int, work: int) -> "Budget":
        """The budget after some changes and some work."""
        saved, spent = self.saved - changes, self.spent + changes
        return self._replace(saved=saved, spent=spent, work=self.work - work)

    def rested(self, failed: bool, links: int = 0) -> "Budget":
        """The budget after a try to relieve a node of that degree; each failure doubles the next rest."""
        if not failed:
            return self._replace(failed=0, rest=0, busiest=0)
        before = self.failed if links <= self.busiest else 0
        rest = min(_LONGEST_REST, 2 ** min(before, 30)) + 1
        return self._replace(failed=before + 1, rest=rest, busiest=links)


def tend(
    state: MaintainedOverlay,
    settings: RepairSettings,
    budget: Budget,
    events: tuple[Event, ...],
    linked: Sequence[Link],
) -> tuple[Budget, list[Exchange]]:
    """Improve the links of a few nodes after a repair that `linked` some; returns what is left of the budget.

    Guarantee: every topic stays connected; no exchange raises the sum of the squares of all degrees, but for
    one that takes links from a node with too many; where links cost, none raises the cost of all links; no
    more links change than the budget allows.

    Cost: the work that the budget allows, and at most one try more; and one look at all degrees where some
    node has too many links.
    """
    budget = budget.after(events, settings.options, len(state.nodes))
    gains_only = all(event.event in ("join", "subscribe") for event in events)
    least = max(0, budget.work - _WORK_OF_GAINS * len(events)) if gains_only else 0
    budget, exchanges, near = _relieve_any(state, settings, budget, least, 1 if gains_only else _RELIEFS)
    turns = min(len(state.nodes.names), settings.options.reoptimise * len(events))
    in_turn = (np.arange(turns) + budget.place) % max(1, len(state.nodes.names))
    nodes = np.concatenate([near, _ends(state, linked), in_turn]).astype(np.int32)
    start, first = 0, len(nodes) - turns
    while start < len(nodes) and budget.work > least and budget.left(settings.options) >= 2:
        start, budget, found = _improve(state, settings, nodes, start, budget, least)
        exchanges += found
    return budget._replace(place=budget.place + max(0, start - first)), exchanges


def _relieve_any(
    state: MaintainedOverlay, settings: RepairSettings, budget: Budget, least: int, most: int
) -> tuple[Budget, list[Exchange], Ids]:
    """Take links from a node that has too many; returns the nodes to try next, if it still has too many."""
    busy, nobody = busy_degree(state, _TOO_BUSY), np.empty(0, np.int32)
    hub = _busy_node(state, settings, busy)
    if hub == NONE:
        return budget.rested(failed=False), [], nobody
    links = int(state.live.links.counts[hub])
    if budget.rest and links <= budget.busiest:
        return budget, [], nobody
    left = budget.left(settings.options)
    room = budget.work if links <= MOST_UPROOTED else budget.work - least
    exchanges, work = relieve(state, settings, hub, busy, room, left, most)
    if not work:
        return budget, [], nobody
    budget = budget.less(sum(own.changes for own in exchanges), work).rested(not exchanges, links)
    if state.live.links.counts[hub] <= busy:
        return budget, exchanges, nobody
    near = settings.rng.permutation(row(state.live.links, hub))[:_NEAR]
    return budget, exchanges, np.append(near, np.int32(hub))


def _busy_node(state: MaintainedOverlay, settings: RepairSettings, busy: int) -> int:
    """One of the nodes of most links, if these are too many, or NONE; where links cost, none has too many.

    Any of these nodes, since there may be one that can't give any away.
    """
    if settings.prices is not None or state.maximum_degree <= busy:
        return NONE
    return int(settings.rng.choice(np.flatnonzero(state.live.links.counts == state.maximum_degree)))


def _ends(state: MaintainedOverlay, linked: Sequence[Link]) -> Ids:
    """The nodes that a repair has linked, but for those with many topics, which come only in turn.

    A node of a batch may have been linked, and have left since.
    """
    names = dict.fromkeys(name for link in linked for name in link)
    places = (state.nodes.of[name] for name in names if name in state.nodes.of)
    return np.array([at for at in places if state.live.topics.counts[at] <= _MANY_TOPICS], np.int32)


def _improve(
    state: MaintainedOverlay, settings: RepairSettings, nodes: Ids, start: int, budget: Budget, least: int
) -> tuple[int, Budget, list[Exchange]]:
    """Exchange links for fewer, or for cheaper ones; returns from where to go on, and what has changed."""
    if settings.prices is not None:
        return _improve_cost(state, settings, nodes, start, budget, least)
    changes = np.empty((budget.left(settings.options), 3), np.int32)
    limits = _PARTNERS, busy_degree(state, BUSY), budget.work - least
    task = state.live, state.room, settings.rng, nodes, start
    start, count, work, has_room = exchange_in_turn(*task, *limits, _MOST_CLOSED, changes)
    if not has_room:
        _lengthen(state)
    opened = changes[:count, 2] == 1
    found = exchanged(state, changes[:count][opened, :2], changes[:count][~opened, :2])
    return start, budget.less(count, work), [found] if count else []


def _improve_cost(
    state: MaintainedOverlay, settings: RepairSettings, nodes: Ids, start: int, budget: Budget, least: int
) -> tuple[int, Budget, list[Exchange]]:
    """Exchange links of one of some nodes for one new link, if that lowers the cost of all links."""
    closed = np.empty((min(budget.left(settings.options) - 1, _MOST_CLOSED), 2), np.int32)
    limits = _PARTNERS, busy_degree(state, BUSY), budget.work - least
    task = state.live, state.room, settings.rng, nodes, start
    start, other, count, work = exchange(*task, *limits, True, closed)
    if other == NO_ROOM:
        _lengthen(state)
    if not count:
        return start, budget.less(0, work), []
    opened = np.array([[closed[0, 0], other]][: other != NONE], np.int32).reshape(-1, 2)
    found = exchanged(state, opened, closed[:count])
    if not _is_cheaper(settings, found):
        undo(state, opened, closed[:count])
        return start, budget.less(0, work), []
    return start, budget.less(found.changes, work), [found]


def _lengthen(state: MaintainedOverlay) -> None:
    state.live = state.live._replace(links=longer(state.live.links, 64))


def _is_cheaper(settings: RepairSettings, found: Exchange) -> bool:
    prices = settings.prices
    return prices is not None and prices.sum_of(found.added) < prices.sum_of(found.removed)
