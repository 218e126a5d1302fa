"""max_links: overlays in which no node has more links than it can bear.

Whether there is one is hard to tell in general (with a cap of 2 and one topic it is a Hamiltonian path), so
there are three answers: an overlay; a proof that none exists, with nodes and topics at fault; or how near the
search came.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from meshwright.construct.augmenting import Augmentation
from meshwright.construct.dual.bound import find_certificate
from meshwright.construct.greedy import make_problem, node_order
from meshwright.construct.low_oda import construct_cheap_edges, low_oda
from meshwright.construct.neighbours import run_wanted, wanted_by
from meshwright.construct.options import COLUMN, UNLIMITED, LowOdaOptions
from meshwright.construct.resilient import delete_spare, neighbours_needed, spare_deleted, tie_order
from meshwright.construct.reverse_delete import by_cost, cost_of, edge_keys, reverse_delete
from meshwright.model.costs.costs import Costs
from meshwright.model.interests import Interests
from meshwright.model.names import lookup, meant_name, name_array
from meshwright.runtime.arrays import Flags, Ids, Longs, Ticks
from meshwright.runtime.columns import arrow_of
from meshwright.runtime.errors import InfeasibleError, InputError, OptionError
from meshwright.runtime.progress import CANCEL, Progress, run_with_ticks
from meshwright.runtime.seeds import generator
from meshwright.runtime.wording import count

_NAMED = 3
_ROUNDS, _FEWEST_ROUNDS, _STEPS = 60, 5, 300_000_000
"""How often some links are given up, and others taken, where the caps leave topics in parts.

The more pairs of subscribers topics have, the fewer rounds; `_STEPS` pairs are about half a minute.
"""

_FASTEST = 0.05, 50
"""What a round gains at most of the joins that are missing, as a share and as a number: where all rounds
could not gain them all so, there are none. (Measured at 10,000 nodes: 0 to 0.2%.)"""

_PRICED_ROUNDS = 15
_CHEAPER_ROUNDS, _GIVEN_UP = 30, 0.5
"""How often links are given up where they are chosen by cost, before costs don't count; and then, how often
links are chosen anew by cost, and which share of the dearest, fewer where that fails."""

_PROOF_STEPS = 100
_MOST_PROOF_PAIRS = 500_000_000
"""Pairs of subscribers, over all topics, up to which the tight bound is worth a try: about a minute."""

_RHOS = (1.0, 1.5, 3.0)
"""How Low-ODA weighs the maximum degree: for zipf 1,000 x 200 it is 46, 16 and 11, with 2.41, 2.95 and 3.86
links per node (measured)."""

_RESERVES = (1.0, 0.75, 0.6, 0.5)
"""What share of its links a node may spend on connecting topics, if some must be left for spares."""


def caps_of(interests: Interests, max_links: int | str | Mapping[str, int] | None) -> Longs:
    """By node, the most links that it may have."""
    caps = np.full(interests.node_count, UNLIMITED)
    if max_links is None:
        return caps
    if isinstance(max_links, Mapping):
        names = name_array(list(max_links), "node")
        ids = lookup(interests.nodes, names)
        unknown = names.filter(pa.array(ids < 0))
        if len(unknown):
            first = unknown[0].as_py()
            more = f" (and {len(unknown) - 1:,} more)" if len(unknown) > 1 else ""
            raise OptionError(
                f"there is no node {first!r}{more} to limit by max_links; "
                f"{meant_name(interests.nodes, first)}leave unknown nodes out",
                option="max_links",
            )
        caps[ids] = [UNLIMITED if cap is None else cap for cap in max_links.values()]
    elif max_links == COLUMN:
        caps = _column(interests)
    else:
        caps[:] = int(max_links)
    return caps


def _column(interests: Interests) -> Longs:
    table = interests.node_attributes
    if table is None or "max_links" not in table.column_names:
        raise OptionError(
            f"max_links is {COLUMN!r}, but nodes/ has no column max_links; add it, or give a number",
            option="max_links",
        )
    try:
        found: Longs = table["max_links"].cast(pa.int64()).fill_null(UNLIMITED).to_numpy()
    except pa.ArrowInvalid as error:
        raise InputError(f"the column max_links of nodes/ has numbers that are too large: {error}") from None
    wrong = np.flatnonzero(found < 0)
    if len(wrong):
        name = interests.nodes[int(wrong[0])].as_py()
        raise InputError(f"max_links of node {name!r} is {found[wrong[0]]}; give 0 or more, or nothing")
    return found.copy()


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
    order, those that join components are taken as far as the caps allow, and others by contribution; of nodes
    that contribute alike, one that can bear more comes first. The same begins with the edges of Low-ODA, for
    several rho, and with none; the smallest overlay counts. With `costs`, links are chosen by contribution
    per cost, those of Low-ODA too, and the cheapest counts. Where all leave topics in parts, nodes of these
    that have no link left give up some, at random, and it goes on.
    """
    search = _Search(interests, caps, resilience, seed, costs)
    found = _run(search, edges, seed, memory_limit, progress)
    by_price = not found[0].missing.any()
    if costs is not None and not by_price:  # then without regard to costs
        blind = _Search(interests, caps, resilience, seed, None)
        found = _run(blind, edges, seed, memory_limit, progress)
    if found[0].missing.any():
        raise _not_found(interests, caps, resilience, found[0], len(edges), progress)

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
    starts = [edges, *(_low_edges(interests, rho, seed, costs, memory_limit, progress) for rho in _RHOS)]
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
        self.interests, self._caps, self._resilience, self.costs = interests, caps, resilience, costs
        arrays = None if costs is None else costs.arrays()
        self._grown = Augmentation(interests, tie_order(interests, seed), caps, costs=arrays)
        self._forced = _forced_links(interests, resilience)
        self._random = generator(seed, "capped")
        order = node_order(interests, "shuffled", seed)
        self._problem = make_problem(interests.indptr, interests.topic_ids, interests.topic_count, order)
        self._wanted = wanted_by(self._problem, resilience if resilience > 1 else 0)
        pairs = float(np.sum(np.diff(interests.topic_indptr).astype(np.float64) ** 2))
        self.rounds = int(np.clip(_STEPS / max(pairs, 1.0), _FEWEST_ROUNDS, _ROUNDS))

    def run(self, starts: Sequence[Ids], ticks: Ticks) -> list[_Found]:
        """All overlays found that lack nothing, or else the one that lacks least."""
        found = [self._from(edges, ticks) for edges in starts]
        found.append(self._filled(self._forced, ticks))
        whole = [one for one in found if not one.missing.any()]
        best = min(found, key=lambda one: one.distance)
        turn = 0 if self.costs is None else max(0, self.rounds - _PRICED_ROUNDS)
        missing = int(best.missing.sum())
        if missing > self.rounds * max(_FASTEST[0] * missing, _FASTEST[1]):
            turn = self.rounds
        while best.missing.any() and turn < self.rounds and not ticks[CANCEL]:
            if self._resilience > 1:
                best = replace(best, edges=spare_deleted(self.interests, best.edges, None, ticks))
                again = self._filled(self._ruined(best), ticks)
            else:
                again = self._attempt(self._ruined(best), 1.0, ticks)
            best = again if again.distance <= best.distance else best
            turn += 1
        return whole or [best]

    def cheapened(self, best: Ids, costs: Costs, ticks: Ticks) -> Ids:
        """Links that keep to the caps as these do, and cost no more; dear ones are given up most often."""
        share = _GIVEN_UP
        for _ in range(min(self.rounds, _CHEAPER_ROUNDS)):
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
        grown, caps = self._grown, self._caps
        grown.caps = caps if share == 1 else np.maximum(np.minimum(caps, 2), (caps * share).astype(np.int64))
        grown.take_in_order(edges, self._forced)
        missing = grown.connect(ticks)
        grown.caps = caps
        if missing.any() and share < 1:
            missing = grown.connect(ticks)
        if missing.any() or self._resilience == 1:
            return _Found(grown.edges, missing, bool(missing.any()))
        missing = grown.thicken(ticks)
        return _Found(grown.edges, missing, False)

    def _filled(self, edges: Ids, ticks: Ticks) -> _Found:
        """Edges that keep to the caps, and others by which subscribers get the neighbours that they want."""
        problem, grown = self._problem, self._grown
        if self.costs is None:
            taken = run_wanted(problem, self._wanted, self._caps[problem.nodes], edges, ticks)
            edges = np.concatenate([edges, taken])
        grown.take_all(edges)
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
        full = at_fault & (degrees >= self._caps)
        chance = self._random.random(len(edges))
        kept = ~((full[edges].any(axis=1) & (chance < 0.3)) | (chance < 0.05))
        return edges[kept | self._is_forced(edges)]

    def _is_forced(self, edges: Ids) -> Flags:
        return np.isin(edge_keys(edges), edge_keys(self._forced))


def check_possible(
    interests: Interests,
    max_links: int | str | Mapping[str, int] | None,
    resilience: int,
    progress: Progress | None = None,
) -> None:
    """Refuse caps that are wrong, or proved to be too low, with nodes and topics at fault.

    Three arguments, each in linear time or that of overlaps: topics of two (of three, if they must survive a
    failure) force their links; a node needs as many neighbours as `neighbours_needed` says; and the nodes of
    a topic have enough links together for a tree that spans it, or for two links each.
    """
    caps = caps_of(interests, max_links)
    if not (caps < UNLIMITED).any():
        return
    _check_forced(interests, caps, resilience)
    needed = neighbours_needed(interests, resilience, progress)
    if needed is not None and (needed > caps).any():
        node = int(np.argmax(needed - caps))
        own = interests.topic_ids[interests.indptr[node] : interests.indptr[node + 1]]
        raise _proof(
            interests,
            int(np.count_nonzero(needed > caps)),
            node,
            f"needs at least {int(needed[node]):,} links for its {count(len(own), 'topic')}",
            caps,
            own,
        )
    _check_topics(interests, caps, resilience)


def _small_topics(interests: Interests, resilience: int) -> Longs:
    """Topics of two, and of three if they must survive a failure: all of their subscribers are linked."""
    sizes = np.diff(interests.topic_indptr)
    found: Longs = np.flatnonzero((sizes == 2) | ((sizes == 3) & (resilience > 1)))
    return found


def _forced_links(interests: Interests, resilience: int) -> Ids:
    """The links that every overlay has, each once."""
    small, sizes = _small_topics(interests, resilience), np.diff(interests.topic_indptr)
    pairs = [np.empty((0, 2), np.int32)]
    for size in (2, 3):
        first = interests.topic_indptr[small[sizes[small] == size]]
        for a, b in ((0, 1),) if size == 2 else ((0, 1), (0, 2), (1, 2)):
            pairs.append(np.column_stack([interests.node_ids[first + a], interests.node_ids[first + b]]))
    return np.unique(np.concatenate(pairs), axis=0).astype(np.int32)


def _check_forced(interests: Interests, caps: Longs, resilience: int) -> None:
    small = _small_topics(interests, resilience)
    forced = np.bincount(_forced_links(interests, resilience).ravel(), minlength=interests.node_count)
    if (forced > caps).any():
        node = int(np.argmax(forced - caps))
        own = interests.topic_ids[interests.indptr[node] : interests.indptr[node + 1]]
        others = (
            f"{forced[node]:,} different nodes, which all need" if forced[node] > 1 else "one, which needs"
        )
        raise _proof(
            interests,
            int(np.count_nonzero(forced > caps)),
            node,
            f"is in topics of {'two' if resilience == 1 else 'two or three'} with {others} a link to it",
            caps,
            own[np.isin(own, small)],
        )


def _check_topics(interests: Interests, caps: Longs, resilience: int) -> None:
    sizes = np.diff(interests.topic_indptr)
    usable = np.minimum(caps[interests.node_ids], np.repeat(np.maximum(sizes - 1, 0), sizes))
    links = np.concatenate([[0], np.cumsum(usable)])
    held = links[interests.topic_indptr[1:]] - links[interests.topic_indptr[:-1]]
    wanted = np.where((sizes > 2) & (resilience > 1), 2 * sizes, 2 * np.maximum(sizes - 1, 0))
    if (held < wanted).any():
        topic = int(np.argmax(wanted - held))
        name = interests.topics[topic].as_py()
        own = interests.node_ids[interests.topic_indptr[topic] : interests.topic_indptr[topic + 1]]
        lowest = own[np.argsort(caps[own], kind="stable")][:_NAMED]
        nodes = interests.nodes.take(arrow_of(lowest)).to_pylist()
        raise InfeasibleError(
            f"max_links can't be met: topic {name!r} needs {wanted[topic] // 2:,} links among its "
            f"{int(sizes[topic]):,} subscribers, and max_links leaves them {held[topic] // 2:,}; raise "
            f"max_links of its subscribers, first of {_listed(nodes)}",
            proved=True,
            nodes=nodes,
            topics=[name],
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))


def _proof(
    interests: Interests, how_many: int, node: int, why: str, caps: Longs, topics: Ids
) -> InfeasibleError:
    """The error about the node that is worst off."""
    name = interests.nodes[node].as_py()
    named = interests.topics.take(arrow_of(topics[:_NAMED])).to_pylist()
    more = f" (and {how_many - 1:,} more nodes need more than they may have)" if how_many > 1 else ""
    return InfeasibleError(
        f"max_links can't be met: node {name!r} {why}, and may have {int(caps[node]):,}{more}; its topics: "
        f"{', '.join(map(repr, named))}{' …' if len(topics) > _NAMED else ''}; raise its max_links, or "
        f"give it fewer topics",
        proved=True,
        nodes=[name],
        topics=named,
    )


def _not_found(
    interests: Interests,
    caps: Longs,
    resilience: int,
    best: _Found,
    uncapped: int,
    progress: Progress | None,
) -> InfeasibleError:
    """The error after the search: a proof by the tight bound on all links, or how near it came.

    `uncapped` is how many links an overlay without caps has; if they allow as many, no bound proves anything.
    """
    sizes = np.diff(interests.topic_indptr).astype(np.float64)
    allowed = int(np.minimum(caps, interests.node_count).sum()) // 2
    if uncapped > allowed and np.sum(sizes**2) / 2 <= _MOST_PROOF_PAIRS:
        least = find_certificate(interests, steps=_PROOF_STEPS, progress=progress).edges
        if least > allowed:
            limited = np.flatnonzero(caps < interests.node_count)
            own = np.diff(interests.indptr)[limited]
            nodes = interests.nodes.take(
                arrow_of(limited[np.argsort(-own, kind="stable")[:_NAMED]])
            ).to_pylist()
            large = interests.topics.take(arrow_of(np.argsort(-sizes, kind="stable")[:_NAMED])).to_pylist()
            return InfeasibleError(
                f"max_links can't be met: every overlay has at least {least:,} links, and max_links allows "
                f"{allowed:,} in all; most links are needed by the nodes with most topics, {_listed(nodes)}, "
                f"and by the topics with most subscribers, {_listed(large)}; raise max_links",
                proved=True,
                nodes=nodes,
                topics=large,
            )
    topics = np.flatnonzero(best.missing)
    worst = topics[np.argsort(-best.missing[topics], kind="stable")][:_NAMED]
    named = interests.topics.take(arrow_of(worst)).to_pylist()
    whole = interests.topic_count - len(topics)
    how = "are connected" if resilience == 1 or best.apart else "survive the failure of any one node"
    return InfeasibleError(
        f"no overlay within max_links was found, and it is not proved that none exists; "
        f"in the nearest, {whole:,} of {count(interests.topic_count, 'topic')} {how}, and not "
        f"{', '.join(map(repr, named))}{' …' if len(topics) > _NAMED else ''}; raise max_links",
        proved=False,
        topics=named,
        missing=int(best.missing.sum()),
    )
