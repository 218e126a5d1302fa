"""Resilience and caps through churn: what follows a repair so that topics survive the next failure.

A policy reconnects the topics that a change has cut. Then links that exceed a cap are given up for others,
and spares are added: in the topics that changed, and in those that lacked some before.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from meshwright.construct.augmenting import Augmentation
from meshwright.construct.options import UNLIMITED
from meshwright.construct.resilient import delete_spare
from meshwright.kernels.repair.inside import links_inside
from meshwright.maintain.options import MaintainOptions
from meshwright.maintain.state import Change, MaintainedOverlay, row
from meshwright.runtime.arrays import Ids, Longs, Offsets
from meshwright.runtime.packing import first_of, pack

_NO_LINKS: Ids = np.empty((0, 2), np.int32)

_MOST_TOPICS, _MOST_FULL = 4, 32
"""How many topics without spares, and full nodes in them, are looked at to make room after one repair."""


class Kept(NamedTuple):
    """Links that were added and removed beside those of a repair, as pairs of places."""

    added: Ids
    removed: Ids


@dataclass(frozen=True)
class _SomeInterests:
    """The interests in a few topics of the nodes that have any of them, numbered from 0 on."""

    nodes: Ids  # by number: the place
    topics: Ids  # by number: the place
    indptr: Offsets
    topic_ids: Ids
    topic_indptr: Offsets
    node_ids: Ids

    @property
    def node_count(self) -> int:
        """How many nodes there are."""
        return len(self.nodes)

    @property
    def topic_count(self) -> int:
        """How many topics there are."""
        return len(self.topics)

    def __len__(self) -> int:
        """How many interests there are."""
        return len(self.node_ids)


@dataclass
class Robustness:
    """What a maintainer knows of spares and caps.

    Attributes:
        unprotected: places of topics of three or more that the failure of some node would cut.
        over: places of nodes that have more links than they may.
    """

    options: MaintainOptions
    unprotected: set[int] = field(default_factory=set)
    over: set[int] = field(default_factory=set)

    @property
    def is_asked_for(self) -> bool:
        """Whether there is anything to keep."""
        return self.options.resilience > 1 or self.options.max_links is not None

    def follow(self, state: MaintainedOverlay, change: Change, added: Ids) -> Kept:
        """Keep what the options ask for after a repair that has `added` links."""
        changed = np.concatenate([change.lost, first_of(change.gained).astype(np.int32)])
        return self.keep(state, changed, added)

    def keep(self, state: MaintainedOverlay, topics: Ids, added: Ids) -> Kept:
        """Keep what the options ask for in some topics, and in those that lacked it before.

        Cost: linear in the subscribers of these topics and their links, and a walk over the subscribers of a
        topic for each that is outside of its largest block.
        """
        given_up = self._give_up(state, added)
        removed = [given_up]
        wanted = np.union1d(topics, np.array(sorted(self.unprotected), np.int64)).astype(np.int32)
        wanted = wanted[state.live.subscribers.counts[wanted] > 1]
        spares = _NO_LINKS
        if len(wanted) and (self.options.resilience > 1 or len(given_up)):
            some = _interests_in(state, wanted)
            spares = self._mend(state, some)
            if self.unprotected and self.options.max_links is not None:
                removed.append(self._make_room(state))
                spares = np.concatenate([spares, self._mend(state, some)])
        self.unprotected &= set(wanted.tolist())
        self._note_full(state)
        return Kept(spares, np.concatenate(removed))

    def look(self, state: MaintainedOverlay) -> None:
        """Find out which topics lack spares, and who has too many links; changes no link."""
        topics = np.array(sorted(state.topics.of.values()), np.int32)
        topics = topics[state.live.subscribers.counts[topics] > 1]
        if self.options.resilience > 1 and len(topics):
            some = _interests_in(state, topics)
            grown = self._grown(state, some)
            grown.caps = np.zeros(len(some.nodes), np.int64)
            self.unprotected = set(topics[grown.thicken(np.zeros(2, np.int64)) > 0].tolist())
        self._note_full(state)

    def _grown(self, state: MaintainedOverlay, some: _SomeInterests) -> Augmentation:
        numbers = np.full(len(state.live.links.counts), -1, np.int32)
        numbers[some.nodes] = np.arange(len(some.nodes), dtype=np.int32)
        links = links_inside(state.live.links, some.nodes, numbers)
        grown = Augmentation(some, np.arange(len(some.nodes), dtype=np.int32), self._caps(len(some.nodes)))
        grown.take_all(links, state.live.links.counts[some.nodes].astype(np.int64))
        return grown

    def _caps(self, count: int) -> Longs:
        cap = self.options.max_links
        return np.full(count, UNLIMITED if cap is None else cap)

    def _give_up(self, state: MaintainedOverlay, added: Ids) -> Ids:
        """Take back those of the new links, the last first, that exceed a cap."""
        if self.options.max_links is None or not len(added):
            return _NO_LINKS
        over = state.live.links.counts.astype(np.int64) - self.options.max_links
        chosen = []
        for u, v in added[::-1].tolist():
            if over[u] > 0 or over[v] > 0:
                chosen.append((u, v))
                over[u] -= 1
                over[v] -= 1
        given_up = np.array(chosen, np.int32).reshape(-1, 2)
        state.unlink(given_up)
        return given_up

    def _mend(self, state: MaintainedOverlay, some: _SomeInterests) -> Ids:
        """Connect topics again within the caps, or beyond them if need be, and add spares; the new links."""
        grown, ticks = self._grown(state, some), np.zeros(2, np.int64)
        before = len(grown.edges)
        if self.options.max_links is not None and grown.connect(ticks).any():
            grown.caps = np.full(len(some.nodes), UNLIMITED)  # delivery goes first
            grown.connect(ticks)
            grown.caps = self._caps(len(some.nodes))
        if self.options.resilience > 1:
            missing = grown.thicken(ticks) > 0
            self.unprotected -= set(some.topics[~missing].tolist())
            self.unprotected |= set(some.topics[missing].tolist())
        new = some.nodes[grown.edges[before:]]
        edges: Ids = np.sort(new, axis=1).astype(np.int32)
        state.link(edges)
        return edges

    def _make_room(self, state: MaintainedOverlay) -> Ids:
        """Remove links of full nodes in topics without spares, if no topic misses them; which these are."""
        live = state.live
        members = [row(live.subscribers, topic) for topic in sorted(self.unprotected)[:_MOST_TOPICS]]
        nodes = np.unique(np.concatenate(members))
        full = nodes[live.links.counts[nodes] >= (self.options.max_links or 0)][:_MOST_FULL]
        if not len(full):
            return _NO_LINKS
        topics = np.unique(np.concatenate([row(live.topics, node) for node in full.tolist()]))
        some = _interests_in(state, topics.astype(np.int32))
        links = some.nodes[self._grown(state, some).edges]
        doubtful = np.isin(links, full).any(axis=1)
        ordered = np.concatenate([links[~doubtful], links[doubtful]])
        numbers = np.searchsorted(some.nodes, ordered).astype(np.int32)
        kept = delete_spare(some, numbers, doubtful=int(doubtful.sum()))
        stays = np.isin(pack(numbers[:, 0], numbers[:, 1]), pack(kept[:, 0], kept[:, 1]))
        gone: Ids = np.sort(ordered[~stays], axis=1).astype(np.int32)
        state.unlink(gone)
        return gone

    def _note_full(self, state: MaintainedOverlay) -> None:
        if self.options.max_links is not None:
            self.over = set(np.flatnonzero(state.live.links.counts > self.options.max_links).tolist())


def _interests_in(state: MaintainedOverlay, topics: Ids) -> _SomeInterests:
    """The interests in some topics."""
    members = [np.sort(row(state.live.subscribers, topic)) for topic in topics.tolist()]
    sizes = np.array([len(own) for own in members], np.int64)
    every = np.concatenate(members)
    nodes, numbers = np.unique(every, return_inverse=True)
    topic_of = np.repeat(np.arange(len(topics), dtype=np.int32), sizes)
    order = np.argsort(numbers, kind="stable")
    counts = np.bincount(numbers, minlength=len(nodes))
    return _SomeInterests(
        nodes.astype(np.int32),
        topics,
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.ascontiguousarray(topic_of[order]),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        numbers.astype(np.int32),
    )
