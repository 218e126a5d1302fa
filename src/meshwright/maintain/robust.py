"""Resilience and caps through churn: what follows a repair so that topics survive the next failure.

A policy reconnects the topics that a change has cut. Then links that exceed a cap are given up for others,
and spares are added: in the topics that changed, and in those that lacked some before. Delivery goes before
the cap, and the cap before spares: where a topic would stay cut, a node gets a link too many, and the repair
hands links of it to other nodes, at the price of spares if need be.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from meshwright.construct.augmenting import Augmentation
from meshwright.construct.caps import caps_of
from meshwright.construct.options import COLUMN, UNLIMITED
from meshwright.construct.resilient import delete_spare
from meshwright.kernels.repair.inside import links_inside
from meshwright.kernels.repair.searching import unlink_unneeded
from meshwright.maintain.options import MaintainOptions
from meshwright.maintain.prices import Prices
from meshwright.maintain.state import Change, MaintainedOverlay, row
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Flags, Ids, Longs, Offsets
from meshwright.runtime.columns import arrow_of
from meshwright.runtime.errors import InputError
from meshwright.runtime.packing import first_of, pack
from meshwright.runtime.seeds import generator
from meshwright.runtime.wording import count

_MOST_TOPICS, _MOST_FULL = 4, 32
"""How many topics without spares, and full nodes in them, are looked at to make room after one repair."""

_MOST_OVER, _MOST_TRIED = 8, 32
"""How many nodes over their cap, and links of each, are looked at after one repair."""


_MOST_SEARCHED, _SEARCHES, _GIVEN_UP = 4_000, 6, 0.4
"""Up to how many interests of topics links of full nodes are chosen anew, how often, and which share."""


class Kept(NamedTuple):
    """Links that a repair has added and removed in the end, as sorted pairs of places."""

    added: Ids
    removed: Ids


class _Changes:
    """Links that come and go while a repair goes on."""

    def __init__(self, state: MaintainedOverlay, added: Ids) -> None:
        self._state = state
        self._before: dict[tuple[int, int], bool] = {}
        self._after: dict[tuple[int, int], bool] = {}
        self._note(added, True)

    def link(self, edges: Ids) -> None:
        """Add links."""
        self._state.link(edges)
        self._note(edges, True)

    def unlink(self, edges: Ids) -> None:
        """Remove links."""
        self._state.unlink(edges)
        self._note(edges, False)

    def _note(self, edges: Ids, there: bool) -> None:
        for u, v in edges.tolist():
            pair = (u, v) if u < v else (v, u)
            self._before.setdefault(pair, not there)
            self._after[pair] = there

    def kept(self) -> Kept:
        """What they come to."""
        came, went = (
            sorted(pair for pair, now in self._after.items() if now is there and self._before[pair] != there)
            for there in (True, False)
        )
        return Kept(*(np.array(own, np.int32).reshape(-1, 2) for own in (came, went)))

    def ends(self) -> Ids:
        """The nodes that got links."""
        return np.unique(self.kept().added)


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
    prices: Prices | None = None
    seed: int = 0
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
        changes = _Changes(state, added)
        given_up = self._give_up(state, added, changes)
        wanted = np.union1d(topics, np.array(sorted(self.unprotected), np.int64)).astype(np.int32)
        wanted = wanted[state.live.subscribers.counts[wanted] > 1]
        if len(wanted) and (self.options.resilience > 1 or given_up):
            some = _interests_in(state, wanted)
            self._mend(state, some, changes)
            if self.unprotected and self.options.max_links is not None:
                self._make_room(state, self._full_without_spares(state), changes)
                self._mend(state, some, changes)
        self.unprotected &= set(wanted.tolist())
        if self.options.max_links is not None:
            ends = changes.ends()
            full = state.live.links.counts[ends] >= self._limits(state)[ends]
            self._make_room(state, ends[full], changes)
            self._relieve(state, self._wanting(state), 1, changes)
            self._relieve(state, self._find_over(state), 0, changes)
            self._search(state, changes)
        self._note_full(state)
        return changes.kept()

    def look(self, state: MaintainedOverlay, topics: Ids) -> None:
        """Find out which of some topics lack spares, and who has too many links; changes no link.

        Cost: linear in the subscribers of these topics and their links, and in the number of nodes.
        """
        if self.options.resilience > 1:
            self.unprotected -= set(topics.tolist())
            topics = topics[state.live.subscribers.counts[topics] > 1]
            if len(topics):
                some = _interests_in(state, topics)
                grown = self._grown(state, some)
                grown.caps = np.zeros(len(some.nodes), np.int64)
                self.unprotected |= set(topics[grown.thicken(np.zeros(2, np.int64)) > 0].tolist())
        self._note_full(state)

    def check_room(self, state: MaintainedOverlay, added: Ids) -> None:
        """Refuse links by which a node would get more than it may have."""
        if self.options.max_links is None or not len(added):
            return
        limits, counts = self._limits(state), state.live.links.counts
        ends, new = np.unique(added, return_counts=True)
        for node in ends[counts[ends] + new > limits[ends]].tolist():
            raise InputError(
                f"{state.nodes.name(node)!r} may have {count(int(limits[node]), 'link')}, and has "
                f"{counts[node]:,} before any of the new ones; remove some first, or raise its max_links"
            )

    def relinked(self, state: MaintainedOverlay, added: Ids, doubtful: Ids, most: int) -> Flags:
        """Remove those of the `doubtful` links that no topic needs, in their order, at most so many.

        With resilience 2 a topic needs a link if the failure of some node would cut it without. Topics that
        got links are looked at again.

        Cost: linear in the subscribers and links of the topics that the links' ends share; for a link that
        may be needed, a walk over a topic.
        """
        if self.options.resilience == 1:
            gone = unlink_unneeded(state.live, state.room, doubtful, most)
        else:
            gone = self._unneeded(state, doubtful)
            gone &= np.cumsum(gone) <= most
            state.unlink(doubtful[gone])
        touched = shared_topics(state, added)
        self.look(state, touched[np.isin(touched, sorted(self.unprotected))])
        return gone

    def _unneeded(self, state: MaintainedOverlay, doubtful: Ids) -> Flags:
        """Which of some links can go, one after the other, without a topic that gets a cut node."""
        topics, gone = shared_topics(state, doubtful), np.ones(len(doubtful), np.bool_)
        if not len(topics):
            return gone
        some = _interests_in(state, topics)
        inside = np.isin(doubtful, some.nodes).all(axis=1)
        gone[inside] = _without_need(some, some.nodes[self._grown(state, some).edges], doubtful[inside])
        return gone

    def _grown(self, state: MaintainedOverlay, some: _SomeInterests) -> Augmentation:
        numbers = np.full(len(state.live.links.counts), -1, np.int32)
        numbers[some.nodes] = np.arange(len(some.nodes), dtype=np.int32)
        links = links_inside(state.live.links, some.nodes, numbers)
        caps = self._limits(state)[some.nodes]
        order, costs, ids = np.arange(len(some.nodes), dtype=np.int32), None, None
        if self.prices is not None:
            costs, places = self.prices.arrays()
            ids = places[some.nodes]
        grown = Augmentation(some, order, caps, costs=costs, cost_ids=ids)
        grown.take_all(links, state.live.links.counts[some.nodes].astype(np.int64))
        return grown

    def _limits(self, state: MaintainedOverlay) -> Longs:
        """By place, how many links a node may have."""
        cap, places = self.options.max_links, len(state.live.links.counts)
        if not isinstance(cap, Mapping):
            return np.full(places, UNLIMITED if cap is None else int(cap))
        limits = np.full(places, UNLIMITED)
        for name, own in cap.items():
            if (at := state.nodes.of.get(name)) is not None:
                limits[at] = own
        return limits

    def _find_over(self, state: MaintainedOverlay) -> Ids:
        """The nodes that have more links than they may."""
        found: Ids = np.flatnonzero(state.live.links.counts > self._limits(state)).astype(np.int32)
        return found

    def _give_up(self, state: MaintainedOverlay, added: Ids, changes: _Changes) -> bool:
        """Take back those of the new links, the last first, that exceed a cap; whether there are any."""
        if self.options.max_links is None or not len(added):
            return False
        over = state.live.links.counts.astype(np.int64) - self._limits(state)
        chosen = []
        for u, v in added[::-1].tolist():
            if over[u] > 0 or over[v] > 0:
                chosen.append((u, v))
                over[u] -= 1
                over[v] -= 1
        changes.unlink(np.array(chosen, np.int32).reshape(-1, 2))
        return bool(chosen)

    def _mend(self, state: MaintainedOverlay, some: _SomeInterests, changes: _Changes) -> None:
        """Connect topics again within the caps, or beyond them if need be, and add spares."""
        grown, ticks = self._grown(state, some), np.zeros(2, np.int64)
        before = len(grown.edges)
        caps = grown.caps
        if self.options.max_links is not None and grown.connect(ticks).any():
            grown.caps = np.full(len(some.nodes), UNLIMITED)  # delivery goes first
            grown.connect(ticks)
            grown.caps = caps
        if self.options.resilience > 1:
            missing = grown.thicken(ticks) > 0
            self.unprotected -= set(some.topics[~missing].tolist())
            self.unprotected |= set(some.topics[missing].tolist())
        changes.link(_new_links(some, grown, before))

    def _full_without_spares(self, state: MaintainedOverlay) -> Ids:
        """Full nodes in topics that lack spares."""
        live = state.live
        members = [row(live.subscribers, topic) for topic in sorted(self.unprotected)[:_MOST_TOPICS]]
        nodes = np.unique(np.concatenate(members))
        found: Ids = nodes[live.links.counts[nodes] >= self._limits(state)[nodes]]
        return found

    def _make_room(self, state: MaintainedOverlay, full: Ids, changes: _Changes) -> None:
        """Remove links of full nodes, if no topic misses them."""
        full, live = full[:_MOST_FULL], state.live
        if not len(full):
            return
        topics = np.unique(np.concatenate([row(live.topics, node) for node in full.tolist()]))
        some = _interests_in(state, topics.astype(np.int32))
        links = some.nodes[self._grown(state, some).edges]
        doubtful = links[np.isin(links, full).any(axis=1)]
        gone = _without_need(some, links, doubtful[::-1])[::-1]
        changes.unlink(np.sort(doubtful[gone], axis=1).astype(np.int32))

    def _wanting(self, state: MaintainedOverlay) -> Ids:
        """Full nodes with fewer than two neighbours in a topic that lacks spares."""
        live, limits, found = state.live, self._limits(state), set()
        for topic in sorted(self.unprotected)[:_MOST_TOPICS]:
            members = row(live.subscribers, topic)
            for node in members[live.links.counts[members] == limits[members]].tolist():
                if np.isin(row(live.links, node), members).sum() < 2:
                    found.add(node)
        return np.array(sorted(found), np.int32)

    def _relieve(self, state: MaintainedOverlay, nodes: Ids, room: int, changes: _Changes) -> None:
        """Hand links of nodes to others until they have `room` for as many; spares come second."""
        counts, limits = state.live.links.counts, self._limits(state)
        touched: set[int] = set()
        for node in nodes[:_MOST_OVER].tolist():
            own = set(row(state.live.topics, node).tolist())
            shared = {
                other: own & set(row(state.live.topics, other).tolist())
                for other in row(state.live.links, node).tolist()
            }
            for other in sorted(shared, key=lambda other: (len(shared[other]), other))[:_MOST_TRIED]:
                if counts[node] + room <= limits[node]:
                    break
                if self._replaced(state, node, other, shared[other], changes):
                    touched |= shared[other]
        if touched and self.options.resilience > 1:
            again = np.array(sorted(touched | self.unprotected), np.int32)
            self._mend(state, _interests_in(state, again), changes)

    def _replaced(
        self, state: MaintainedOverlay, node: int, other: int, topics: set[int], changes: _Changes
    ) -> bool:
        """Replace a link by links of other nodes within the caps; whether that can be."""
        link = np.array([(min(node, other), max(node, other))], np.int32)
        state.unlink(link)
        if topics:
            some = _interests_in(state, np.array(sorted(topics), np.int32))
            grown = self._grown(state, some)
            grown.caps[np.searchsorted(some.nodes, node)] = 0
            before = len(grown.edges)
            cut = bool(grown.connect(np.zeros(2, np.int64)).any())
            state.link(link)
            if cut:
                return False
            changes.link(_new_links(some, grown, before))
        else:
            state.link(link)
        changes.unlink(link)
        return True

    def _search(self, state: MaintainedOverlay, changes: _Changes) -> None:
        """Choose links of full nodes anew where some have too many, or spares are missing; as builds do.

        Of a few tries, each of which gives up some links at random, the best counts, if it is any better.
        Only where the topics of these nodes are small.
        """
        live, limits, over = state.live, self._limits(state), self._find_over(state)[:_MOST_OVER]
        at_fault = [row(live.topics, node) for node in over.tolist()]
        at_fault.append(np.array(sorted(self.unprotected)[:_MOST_TOPICS], np.int32))
        members = [row(live.subscribers, topic) for topic in np.concatenate(at_fault).tolist()]
        if not members:
            return
        nodes = np.unique(np.concatenate(members))
        full = nodes[live.links.counts[nodes] >= limits[nodes]]
        nodes = np.union1d(over, full[:_MOST_FULL])
        own = [np.empty(0, np.int32), *(row(live.topics, node) for node in nodes.tolist())]
        topics = np.unique(np.concatenate(own)).astype(np.int32)
        topics = topics[live.subscribers.counts[topics] > 1]
        if not 0 < int(live.subscribers.counts[topics].sum()) <= _MOST_SEARCHED:
            return
        some = _interests_in(state, topics)
        places = some.nodes[self._grown(state, some).edges]
        doubtful = np.isin(places, nodes).any(axis=1) & _is_within(state, places, topics)
        rng = generator(self.seed, "capped")
        best, least = None, self._lack(state, some, places)
        for _ in range(_SEARCHES):
            dropped = doubtful & (rng.random(len(places)) < _GIVEN_UP)
            found = self._chosen_anew(state, some, places, dropped)
            lack = self._lack(state, some, found)
            if lack < least:
                best, least = found, lack
        if best is not None:
            changes.unlink(places[~np.isin(_keys(places), _keys(best))])
            changes.link(best[~np.isin(_keys(best), _keys(places))])
            self.look(state, np.union1d(topics, sorted(self.unprotected)).astype(np.int32))

    def _chosen_anew(
        self, state: MaintainedOverlay, some: _SomeInterests, places: Ids, dropped: Flags
    ) -> Ids:
        """Links of some topics after some were dropped, and others taken within the caps."""
        gone = np.bincount(places[dropped].ravel(), minlength=len(state.live.links.counts))
        grown, ticks = self._grown(state, some), np.zeros(2, np.int64)
        numbers = np.searchsorted(some.nodes, places[~dropped]).astype(np.int32)
        grown.take_all(numbers, (state.live.links.counts - gone)[some.nodes].astype(np.int64))
        if not grown.connect(ticks).any() and self.options.resilience > 1:
            grown.thicken(ticks)
        return np.sort(some.nodes[grown.edges], axis=1).astype(np.int32)

    def _lack(self, state: MaintainedOverlay, some: _SomeInterests, places: Ids) -> tuple[int, int, int]:
        """How many joins of components some topics lack with these links, nodes too many, and blocks."""
        numbers, ticks = np.searchsorted(some.nodes, places).astype(np.int32), np.zeros(2, np.int64)
        grown = self._grown(state, some)
        was = np.bincount(grown.edges.ravel(), minlength=len(some.nodes))
        now = np.bincount(numbers.ravel(), minlength=len(some.nodes))
        degrees = state.live.links.counts[some.nodes] - was + now
        over = int(np.maximum(degrees - self._limits(state)[some.nodes], 0).sum())
        grown.caps = np.zeros(len(some.nodes), np.int64)
        grown.take_all(numbers)
        apart = int(grown.connect(ticks).sum())
        blocks = int(grown.thicken(ticks).sum()) if self.options.resilience > 1 and not apart else 0
        return apart, over, blocks

    def _note_full(self, state: MaintainedOverlay) -> None:
        if self.options.max_links is not None:
            self.over = set(self._find_over(state).tolist())


def with_caps(options: MaintainOptions, interests: Interests) -> MaintainOptions:
    """Options that name each node's cap, if caps are by node; unknown nodes are refused."""
    caps = caps_of(interests, options.max_links)
    if options.max_links != COLUMN and not isinstance(options.max_links, Mapping):
        return options
    limited = np.flatnonzero(caps < UNLIMITED)
    names = interests.nodes.take(arrow_of(limited)).to_pylist()
    return replace(options, max_links=dict(zip(names, caps[limited].tolist(), strict=True)))


def shared_topics(state: MaintainedOverlay, links: Ids) -> Ids:
    """The topics that both ends of some link have, in order."""
    topics = state.live.topics
    own = [np.intersect1d(row(topics, u), row(topics, v)) for u, v in links.tolist()]
    return np.unique(np.concatenate([np.empty(0, np.int32), *own])).astype(np.int32)


def _is_within(state: MaintainedOverlay, links: Ids, topics: Ids) -> Flags:
    """Which links no topic uses but some."""
    own, known = state.live.topics, set(topics.tolist())
    return np.array(
        [known.issuperset(np.intersect1d(row(own, u), row(own, v)).tolist()) for u, v in links.tolist()],
        np.bool_,
    )


def _without_need(some: _SomeInterests, links: Ids, doubtful: Ids) -> Flags:
    """Which of the `doubtful` links, which are among `links`, no topic needs to survive; the first go first.

    All are pairs of places, the smaller first.
    """
    others = links[~np.isin(_keys(links), _keys(doubtful))]
    numbers = np.searchsorted(some.nodes, np.concatenate([others, doubtful[::-1]])).astype(np.int32)
    kept = some.nodes[delete_spare(some, numbers, doubtful=len(doubtful))]
    return ~np.isin(_keys(doubtful), _keys(kept))


def _keys(links: Ids) -> Longs:
    return pack(links[:, 0], links[:, 1])


def _new_links(some: _SomeInterests, grown: Augmentation, before: int) -> Ids:
    """The links that were added to the first `before`, as sorted pairs of places."""
    edges: Ids = np.sort(some.nodes[grown.edges[before:]], axis=1).astype(np.int32)
    return edges


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
