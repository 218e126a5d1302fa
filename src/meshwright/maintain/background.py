"""Re-optimisation in the background: after each event, a few nodes get better links, within a budget.

Repairs add what is missing and leave the rest, so degrees rise with every event. Here one node after the
other gives up all of its links and joins again, as in a repair, among the nodes that share most topics with
it. The new links are kept if that lowers the degrees, or the cost. Everything depends only on the events.
"""

from typing import NamedTuple

import numpy as np

from meshwright.maintain.options import MaintainOptions, RepairSettings
from meshwright.maintain.policies import busy_degree, connect, partners_of, uproot_losers
from meshwright.maintain.repairs import Link, named
from meshwright.maintain.state import Change, MaintainedOverlay, row
from meshwright.model.events import Event
from meshwright.runtime.arrays import Ids
from meshwright.runtime.packing import pack

_TRIES = 2
"""Links of the budget for each node that is tried. Most tries change nothing, which costs only time."""

_SAVED = 100
"""The most links of the budget that are saved for later events. Few exchanges change more."""

_BUSY = 1.75
"""A node with so many times the average degree gets a link here only if no other link would do."""

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

    Guarantee: every topic stays connected; no exchange raises the sum of the squares of all degrees or, where
    links cost, the cost of all links; no more links change than the budget allows.

    Cost: for each node, a repair, and the subscribers of its topics, up to a limit for each topic.
    """
    options = settings.options
    budget = budget.after(events, options)
    exchanges = []
    for _ in range(-(-options.reoptimise * len(events) // _TRIES)):
        left = budget.left(options)
        if left < 2 or not len(state.nodes):
            break
        place = budget.place % len(state.nodes.names)
        budget = budget._replace(place=place + 1)
        exchange = _improve(state, settings, place, left)
        if exchange is not None:
            exchanges.append(exchange)
            changed = exchange.changes
            budget = budget._replace(saved=budget.saved - changed, spent=budget.spent + changed)
    return budget, exchanges


def _improve(
    state: MaintainedOverlay, settings: RepairSettings, place: int, most_changes: int
) -> Exchange | None:
    """Choose the links of a node again; None where that makes nothing better, and nothing has changed."""
    topics = row(state.live.topics, place).copy()
    if not state.live.links.counts[place]:
        return None
    node, indptr = np.array([place], np.int32), np.array([0, len(topics)], np.int64)
    gained = pack(topics, np.full(len(topics), place))
    change = Change(node, np.ones(1, np.bool_), indptr, topics, gained, indptr, node)
    busy = busy_degree(state, _BUSY)
    similar = partners_of(state, place, topics, settings)
    uprooted = uproot_losers(state, change)
    shadows = np.concatenate([uprooted.shadows, node, similar])
    new = connect(state, change, uprooted, shadows, False, settings, busy).added
    names = state.nodes.names
    before, after = set(named(uprooted.removed, names)), set(named(new, names))
    exchange = Exchange(tuple(sorted(after - before)), tuple(sorted(before - after)))
    if 0 < exchange.changes <= most_changes and _is_better(state, settings, uprooted.removed, new, exchange):
        return exchange
    state.unlink(new)
    state.link(uprooted.removed)
    return None


def _is_better(
    state: MaintainedOverlay, settings: RepairSettings, old: Ids, new: Ids, exchange: Exchange
) -> bool:
    """Whether new links, which are there already, cost less than the old ones, or lower the degrees."""
    if settings.prices is not None:
        return settings.prices.sum_of(exchange.added) < settings.prices.sum_of(exchange.removed)
    ends, counts = np.unique(np.concatenate([old, new]).ravel(), return_inverse=True)
    change = np.zeros(len(ends), np.int64)
    np.add.at(change, counts, np.repeat([-1, 1], [old.size, new.size]))
    now = state.live.links.counts[ends].astype(np.int64)
    return bool((now * now).sum() < ((now - change) ** 2).sum())
