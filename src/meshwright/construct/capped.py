"""max_links: overlays in which no node has more links than it can bear.

Whether there is one is hard to tell in general (with a cap of 2 and one topic it is a Hamiltonian path), so
there are three answers: an overlay; a proof that none exists, with nodes and topics at fault; or how near the
search came.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from meshwright.construct.augmenting import Augmentation
from meshwright.construct.caps import forced_links, not_found
from meshwright.construct.greedy import check_fits, make_problem, node_order
from meshwright.construct.low_oda import construct_cheap_edges, low_oda
from meshwright.construct.neighbours import estimated_bytes, run_wanted, wanted_by
from meshwright.construct.options import LowOdaOptions
from meshwright.construct.resilient import MOST_STORED, delete_spare, spare_deleted, tie_order
from meshwright.construct.reverse_delete import by_cost, cost_of, edge_keys, reverse_delete
from meshwright.model.costs.costs import Costs
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Flags, Ids, Longs, Ticks
from meshwright.runtime.machine import cores
from meshwright.runtime.progress import CANCEL, Progress, run_with_ticks
from meshwright.runtime.seeds import generator

_ROUNDS, _FEWEST_ROUNDS, _PAIRS = 2_000, 5, 6_000_000_000
"""How often some links are given up, and others taken, where the caps leave topics in parts: the more pairs
of nodes there are, the fewer rounds, so that all take about a minute."""

_WINDOWS, _PATIENCE, _LITTLE_PATIENCE = 15, 4.0, 1.0
"""Rounds are judged window by window. They end if the joins that are still missing could not be gained in the
rounds that are left, even at so many times the pace of the last window. There is little patience where
another overlay lacks nothing."""

_GIVEN_UP_OF_FULL, _GIVEN_UP_OF_ALL = 0.3, 0.05
_SHARES = (1.0, 0.3, 0.1, 0.03)
"""A round gives up these shares of the links, of full nodes and of all nodes, each times one of `_SHARES`,
drawn for the round. Large shares alone leave the last joins missing: for unif 1,000 x 100 within 8 links,
resilient, 6 after 120 rounds instead of 1 (measured)."""

_PRICED_ROUNDS, _CHEAPER_ROUNDS, _STEPS = 15, 30, 300_000_000
_GIVEN_UP = 0.5
"""How often links are given up where they are chosen by cost, before costs don't count; and then, how often
links are chosen anew by cost, fewer times where topics have more pairs of subscribers than `_STEPS` over
that; and which share of the dearest, fewer where that fails."""

_INSTEAD = "raise max_links, or give the process more memory"

_RHOS, _LOW_STARTS = (1.0, 1.05, 1.1, 1.2, 1.3, 1.5, 2.0, 3.0), 3
"""How Low-ODA weighs the maximum degree, and how many of its overlays count: for zipf 1,000 x 200 the maximum
is 46, 30, 25, 22, 21, 16, 13 and 11, with 2.41, 2.49, 2.58, 2.68, 2.77, 2.95, 3.31 and 3.86 links per node
(measured)."""

_RESERVES = (1.0, 0.75, 0.6, 0.5)
"""What share of its links a node may spend on connecting topics, if some must be left for spares."""


def capped_edges(
    interests: Interests,
    edges: Ids,
    caps: Longs,
    seed: int,
    *,
    resilience: int = 1,
    costs: Costs | None = None,
    memory_limit: int | None = None,
    progress: Progress | None = None,
) -> Ids:
    """An overlay in which no node has more links than `caps` say; it keeps what it can of `edges`.

    Guarantee: topic-connected, with `resilience` 2 also after the failure of any one node, and without an
    edge that could be left out. Deterministic for a seed. Otherwise an InfeasibleError says why not.

    How: the links come first that topics of two (or three) can't do without. Of the given edges, in their
    order, those that join components are taken as far as the caps allow, and others by contribution. The same
    begins with the edges of Low-ODA, with rho growing until they keep to the caps, and with none; the
    smallest overlay counts. With `costs`, links are chosen by contribution per cost, those of Low-ODA too,
    and the cheapest counts. Where all leave topics in parts, or those with fewest links do, nodes of these
    that have no link left give up some, at random, and it goes on.
    """
    search = _Search(interests, caps, resilience, seed, costs)
    found = _run(search, edges, seed, memory_limit, progress)
    by_price = not found[0].missing.any()
    if costs is not None and not by_price:  # then without regard to costs
        blind = _Search(interests, caps, resilience, seed, None)
        found = _run(blind, edges, seed, memory_limit, progress)
    if found[0].missing.any():
        raise not_found(interests, caps, resilience, found[0].missing, found[0].apart, len(edges), progress)

    def thinned(own: Ids) -> Ids:
        ordered = own if costs is None else by_cost(own, costs)
        thin = reverse_delete if resilience == 1 else delete_spare
        return thin(interests, ordered, memory_limit=memory_limit, progress=progress)

    every = [thinned(one.edges) for one in found]
    if costs is None:
        return min(every, key=len)
    best = min(every, key=lambda own: cost_of(own, costs))
    if by_price:
        return best
    message = "choosing cheaper links"
    return thinned(run_with_ticks(lambda ticks: search.cheapened(best, costs, ticks), message, 0, progress))


def _run(
    search: "_Search", edges: Ids, seed: int, memory_limit: int | None, progress: Progress | None
) -> list["_Found"]:
    """What a search finds that begins with some edges, and with those of Low-ODA."""
    interests, costs = search.interests, search.costs
    if costs is None:
        estimate = estimated_bytes(search.problem) if search.is_stored else None
        check_fits(search.problem, _INSTEAD, memory_limit, estimate=estimate)
    low = list[Ids]()
    for rho in _RHOS:
        low.append(_low_edges(interests, rho, seed, costs, memory_limit, progress))
        if not search.exceeds(low[-1]):
            break
    # Where few nodes have low caps, no rho may keep to these, and a low one may be the best for the others.
    is_even = bool((search.caps == search.caps[:1]).all()) or not search.exceeds(low[-1])
    starts = [edges, *(low[-_LOW_STARTS:] if is_even else low[::-_LOW_STARTS])]
    return run_with_ticks(lambda ticks: search.run(starts, ticks), "keeping to max_links", 0, progress)


def _low_edges(
    interests: Interests,
    rho: float,
    seed: int,
    costs: Costs | None,
    memory_limit: int | None,
    progress: Progress | None,
) -> Ids:
    """The edges of Low-ODA, in the order in which it takes them; with costs by contribution per cost."""
    if costs is not None:
        order = node_order(interests, "shuffled", seed)
        none = np.empty((0, 2), np.int32)
        return construct_cheap_edges(interests, none, order, rho, costs.arrays(), progress)
    options = LowOdaOptions(rho=rho, memory_limit=memory_limit)
    return np.asarray(low_oda(interests, None, options, seed, progress).edges, np.int32)


@dataclass(frozen=True)
class _Found:
    """An overlay, and by topic how many joins it lacks: of components, if it is apart, or else of blocks."""

    edges: Ids
    missing: Longs
    apart: bool

    @property
    def distance(self) -> tuple[bool, int]:
        """How far it is from lacking nothing."""
        return self.apart, int(self.missing.sum())


class _Search:
    """Looks for an overlay that keeps to the caps, round by round."""

    def __init__(
        self, interests: Interests, caps: Longs, resilience: int, seed: int, costs: Costs | None
    ) -> None:
        self.interests, self.caps, self._resilience, self.costs = interests, caps, resilience, costs
        arrays = None if costs is None else costs.arrays()
        self._grown = Augmentation(interests, tie_order(interests, seed), caps, costs=arrays)
        self._forced = forced_links(interests, resilience)
        self._random = generator(seed, "capped")
        order = node_order(interests, "shuffled", seed)
        self.problem = make_problem(interests.indptr, interests.topic_ids, interests.topic_count, order)
        self.is_stored = costs is None and interests.node_count <= MOST_STORED
        self._wanted = wanted_by(self.problem, resilience if resilience > 1 else 0)
        self._rounds = _rounds(interests, costs)

    def run(self, starts: Sequence[Ids], ticks: Ticks) -> list[_Found]:
        """All overlays found that lack nothing, or else the one that lacks least."""
        found = [self._from(edges, ticks) for edges in starts]
        found.append(self._filled(self._forced, ticks))
        whole = [one for one in found if not one.missing.any()]
        if not whole:
            return [self._mended(min(found, key=lambda one: one.distance), _PATIENCE, ticks)]
        fewest = min(len(one.edges) for one in whole)
        fewer = [one for one in found if len(one.edges) + one.distance[1] < fewest]
        if self.costs is None and fewer:
            again = self._mended(min(fewer, key=lambda one: one.distance), _LITTLE_PATIENCE, ticks)
            whole += [] if again.missing.any() else [again]
        return whole

    def exceeds(self, edges: Ids) -> bool:
        """Whether some node has more of these links than it may have, those aside that spares need."""
        degrees = np.bincount(edges.ravel(), minlength=self.interests.node_count)
        return bool((degrees > -(-self.caps // self._resilience)).any())

    def _mended(self, best: _Found, patience: float, ticks: Ticks) -> _Found:
        """What rounds make of an overlay that lacks joins: one that lacks no more."""
        rounds = self._rounds if self.costs is None else min(self._rounds, _PRICED_ROUNDS)
        window, (was_apart, before) = max(1, rounds // _WINDOWS), best.distance
        for turn in range(rounds):
            apart, missing = best.distance
            if not missing or ticks[CANCEL]:
                break
            if (
                apart != was_apart
            ):  # Blocks are missing now, not components: there is no pace to judge by yet.
                was_apart, before = apart, 2 * missing
            if turn and turn % window == 0:
                gained, before = max(1, before - missing) / window, missing
                if missing > patience * gained * (rounds - turn):
                    break
            if self._resilience > 1:
                best = replace(best, edges=spare_deleted(self.interests, best.edges, None, ticks))
                again = self._filled(self._ruined(best), ticks)
            else:
                again = self._attempt(self._ruined(best), 1.0, ticks)
            best = again if again.distance <= best.distance else best
        return best

    def cheapened(self, best: Ids, costs: Costs, ticks: Ticks) -> Ids:
        """Links that keep to the caps as these do, and cost no more; dear ones are given up most often."""
        share = _GIVEN_UP
        for _ in range(self._rounds):
            if ticks[CANCEL]:
                break
            edges = by_cost(best, costs)
            dearness = np.arange(len(edges)) / max(len(edges), 1)
            given_up = self._random.random(len(edges)) <= share * dearness
            kept = edges[~given_up | self._is_forced(edges)]
            again = self._filled(kept, ticks) if self._resilience > 1 else self._attempt(kept, 1.0, ticks)
            if not again.missing.any() and cost_of(again.edges, costs) < cost_of(best, costs):
                best, share = again.edges, min(_GIVEN_UP, 1.5 * share)
            else:
                share *= 0.7
        return best

    def _from(self, edges: Ids, ticks: Ticks) -> _Found:
        """The overlay that lacks least, of those that leave different shares of links for spares."""
        best = self._attempt(edges, _RESERVES[0], ticks)
        for share in _RESERVES[1:] if self._resilience > 1 else ():
            if not best.missing.any():
                break
            found = self._attempt(edges, share, ticks)
            best = found if found.distance < best.distance else best
        return best

    def _attempt(self, edges: Ids, share: float, ticks: Ticks) -> _Found:
        grown, caps = self._grown, self.caps
        grown.caps = caps if share == 1 else np.maximum(np.minimum(caps, 2), (caps * share).astype(np.int64))
        grown.take_in_order(edges, self._forced)
        missing = self._joined(ticks)
        grown.caps = caps
        if missing.any() and share < 1:
            missing = self._joined(ticks)
        if missing.any() or self._resilience == 1:
            return _Found(grown.edges, missing, bool(missing.any()))
        missing = self._thickened(ticks)
        return _Found(grown.edges, missing, False)

    def _joined(self, ticks: Ticks) -> Longs:
        """Connect topics by the links that contribute most; by topic, what is missing."""
        self._grow(np.zeros_like(self._wanted), ticks)
        return self._grown.connect(ticks)

    def _thickened(self, ticks: Ticks) -> Longs:
        """Make all topics survive; first subscribers get the neighbours that they want."""
        self._grow(self._wanted, ticks)
        return self._grown.thicken(ticks)

    def _grow(self, wanted: Ids, ticks: Ticks) -> None:
        """Add links as the caps allow by the greedy of wanted neighbours, which knows no costs.

        Beyond the nodes that it stores pairs of, what comes after adds all links: 100 times as slow (measured
        at 10,000 nodes).
        """
        problem, grown = self.problem, self._grown
        if self.is_stored:
            caps = grown.caps[problem.nodes]
            grown.take_more(run_wanted(problem, wanted, caps, grown.edges, ticks, cores()))

    def _filled(self, edges: Ids, ticks: Ticks) -> _Found:
        """Edges that keep to the caps, and others by which subscribers get the neighbours that they want."""
        grown = self._grown
        grown.take_all(edges)
        self._grow(self._wanted, ticks)
        missing = grown.connect(ticks)
        apart = bool(missing.any())
        if not apart and self._resilience > 1:
            missing = grown.thicken(ticks)
        return _Found(grown.edges, missing, apart)

    def _ruined(self, found: _Found) -> Ids:
        """The edges without some of those of full nodes in topics that lack joins; in a new order."""
        interests, edges = self.interests, found.edges
        at_fault = np.zeros(interests.node_count, np.bool_)
        for topic in np.flatnonzero(found.missing):
            at_fault[
                interests.node_ids[interests.topic_indptr[topic] : interests.topic_indptr[topic + 1]]
            ] = True
        degrees = np.bincount(edges.ravel(), minlength=interests.node_count)
        full = at_fault & (degrees >= self.caps)
        share = float(self._random.choice(_SHARES))
        chance = self._random.random(len(edges)) / share
        kept: Flags = ~(
            (full[edges].any(axis=1) & (chance < _GIVEN_UP_OF_FULL)) | (chance < _GIVEN_UP_OF_ALL)
        )
        left: Ids = edges[kept | self._is_forced(edges)]
        return left

    def _is_forced(self, edges: Ids) -> Flags:
        return np.isin(edge_keys(edges), edge_keys(self._forced))


def _rounds(interests: Interests, costs: Costs | None) -> int:
    """How often a search gives up links and takes others."""
    if costs is None:
        most, steps, pairs = _ROUNDS, _PAIRS, float(interests.node_count) ** 2
    else:
        sizes = np.diff(interests.topic_indptr).astype(np.float64)
        most, steps, pairs = _CHEAPER_ROUNDS, _STEPS, float(np.sum(sizes**2))
    return int(np.clip(steps / max(pairs, 1.0), _FEWEST_ROUNDS, most))
