"""The Lagrangian lower bound on the edges of every topic-connected overlay, with its certificate.

*The proof.* Put the subscribers of every topic t on a line, with a gap of at least 0 before each but the
first, and let D(t, u, v) be the greatest gap between u and v on it. Let D(t, u, v), summed over the topics
that u and v share, be at most S for every pair of nodes. Then every topic-connected overlay has at least as
many edges as all gaps together, divided by S.

Take a topic-connected overlay (V, E), a topic t and a height h > 0, and cut the line of t at all gaps of at
least h. The edges of E between subscribers of t connect them, so they connect the parts of the line as well:
at least as many of them as there are cuts join two parts, and those have D(t, u, v) >= h. Summed over all
heights (integrated over h from 0 on), the edges of E inside t have D(t, ·, ·) of at least the sum of all gaps
of t. Summed over all topics, the left side counts every edge (u, v) with the sum of D(t, u, v) over the
topics that u and v share: at most S. So S |E| is at least the sum of all gaps.

*Demands* (`kernels/dual/demands.py`) add to it. Some topics of a node v, each with another subscriber, that
no other node has all of, force v to have two links to nodes that have any of them. Let every such link pay
p(v), but the one to a certain node q(v) <= p(v): together they pay p(v) + q(v) at least. If, for every pair,
D and what a link between the two pays for the demands of both add up to at most S, then S |E| is at least the
sum of all gaps and of p(v) + q(v) over all nodes with a demand.

*How it is found.* Lines come from spanning trees. Let topics pay prices for some candidate edges, at most 1
for an edge in all (`kernels/dual/shares.py`). The minimum spanning tree of t, its edges taken from the
cheapest on, joins parts of a line, and the price of the edge is the gap. The prices are raised so that the
trees cost as much as possible (`ascent.py`). Pairs that are no candidates are looked at exactly: where their
distances exceed the scale, they become candidates, which pay for each topic in proportion to its distance,
and prices are raised further. Once no pair exceeds the scale, the lines prove the value over the candidates
for all pairs. This is the optimum of the linear program in which each topic has a point of its spanning tree
polytope and an edge costs as much as the topic that uses it most, if it is carried on for long enough.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from meshwright.construct.dual.ascent import Ascent, Climber
from meshwright.construct.dual.candidates import arrays_of, candidate_edges, pair_steps, unique_edges
from meshwright.kernels.core.subgraphs import interest_ranks
from meshwright.kernels.dual.demands import Asked, Demands, choose_demands, no_demands
from meshwright.kernels.dual.lines import (
    Exceeding,
    Lines,
    draw_demands,
    draw_lines,
    find_exceeding,
    slots_of,
    write_distances,
)
from meshwright.kernels.dual.shares import Shares, carry_over, divide_by_totals, make_shares_and_demands
from meshwright.kernels.greedy.sub_overlays import count_links
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Ids, Longs, Ticks
from meshwright.runtime.machine import threads
from meshwright.runtime.memory import check_memory, needed
from meshwright.runtime.parallel import Chunk, balanced_chunks, on_all_cores
from meshwright.runtime.progress import Progress, run_with_ticks

SCALE = 10**9
"""What an edge costs, in the whole numbers of a certificate."""

CANDIDATES_EACH = 8
"""Of each node, beside the best partner in each topic."""

MOST_EACH = 32
"""Exceeding pairs of a node that become candidates at once, while prices are raised further."""

_MOST_AT_LAST = 256
"""The same at the end, where none may be left."""

_STEPS = 20
"""Between two looks at all pairs, at least; later a third of the steps so far."""

_LAST_ROUNDS = 6

_SHORTEST = 1e-3
"""The length of a step, in relation to what the gap asks for, from which on there is no gain that counts."""


@dataclass(frozen=True, kw_only=True)
class LineCertificate:
    """A line for every topic: the proof that no topic-connected overlay has fewer than `edges`.

    Attributes:
        nodes: of topic 0 from one end of its line to the other, then of topic 1, and so on.
        gaps: before each of these nodes, in parts of `scale`; 0 before the first of a topic.
        demands: by node, topics that force two links.
        asked: what links pay for these.
        scale: no pair of nodes is further apart than this, over the topics that both have and with what a
            link pays for the demands of both.
    """

    nodes: Ids
    gaps: Longs
    demands: Demands
    asked: Asked
    scale: int = SCALE

    @property
    def total(self) -> int:
        """What all links pay together, at least."""
        return int(self.gaps.sum() + self.asked.prices.sum() + self.asked.nearest_prices.sum())

    @property
    def edges(self) -> int:
        """The total over the scale, rounded up."""
        return -(-self.total // self.scale)


class Proof(NamedTuple):
    """Lines, and what links pay for demands."""

    lines: Lines
    asked: Asked


def find_certificate(
    interests: Interests, *, steps: int, progress: Progress | None = None
) -> LineCertificate:
    """The best certificate that a number of steps finds; deterministic, whatever the number of threads.

    Cost: a step takes some 50 ns for each topic of each candidate edge, on all cores; each round of 30 steps
    one look at all pairs of subscribers of all topics. Memory is linear in the interests and candidates.
    """
    pricing = Pricing(interests, progress, with_demands=True)
    with ThreadPoolExecutor(threads()) as pool:
        climber = Climber(pool, threads())
        return pricing.certificate(climber, raised(pricing, climber, steps, progress))


def raised(pricing: "Pricing", climber: Climber, steps: int, progress: Progress | None = None) -> Ascent:
    """The prices after so many steps, or fewer: until steps are too short to gain and no pair exceeds.

    All pairs are looked at from time to time, but not at the end.
    """
    ascent = climber.start(pricing.shares(pricing.likely()))
    done = 0
    while done < steps:
        turn = min(max(_STEPS, done // 3), steps - done)
        _climb(climber, ascent, turn, progress)
        done += turn
        if done < steps:
            proof = pricing.proof(ascent)
            found = pricing.exceeding(proof, MOST_EACH)
            if ascent.length < _SHORTEST and not len(found.pairs):
                break
            ascent = pricing.extended(climber, ascent, proof, found)
    return ascent


def _climb(climber: Climber, ascent: Ascent, steps: int, progress: Progress | None) -> None:
    run_with_ticks(lambda ticks: climber.climb(ascent, steps, ticks), "raising prices", steps, progress)


class Pricing:
    """Looks at the pairs that are no candidates; `scale` is how many parts a price of 1 has."""

    scale = SCALE

    def __init__(
        self,
        interests: Interests,
        progress: Progress | None,
        memory_limit: int | None = None,
        *,
        with_demands: bool = False,
    ) -> None:
        self._interests, self._progress, self._limit = interests, progress, memory_limit
        self._arrays = arrays_of(interests)
        self._ranks = interest_ranks(self._arrays[1], interests.topic_count)
        self._steps = pair_steps(interests)
        nobody = no_demands(interests.node_count, interests.topic_count)
        self.demands = choose_demands(*self._arrays) if with_demands else nobody

    def shares(self, edges: Ids) -> Shares:
        """The shares of candidate edges, each subscriber a component of its own."""
        indptr, topic_ids, topic_indptr, _ = self._arrays
        shares = int(count_links(indptr, topic_ids, edges)[-1]) + 2 * len(edges)
        estimate = needed("raising prices", shares=shares, interests=len(topic_ids))
        what = f"raising prices of {len(edges):,} candidate links"
        check_memory(what, estimate, "use the quick bound, or gm instead of dg", self._limit)
        sizes = np.diff(topic_indptr).astype(np.int32)
        limits = np.ones(len(edges))
        found = make_shares_and_demands(indptr, topic_ids, self._ranks, sizes, edges, limits, self.demands)
        return Shares(*found)

    def likely(self) -> Ids:
        """The first candidate edges."""
        return candidate_edges(self._interests, CANDIDATES_EACH, self._progress)

    def certificate(self, climber: Climber, ascent: Ascent) -> LineCertificate:
        """What the prices prove for all pairs."""
        lines, asked = self.valid_proof(climber, ascent)
        return LineCertificate(nodes=lines.nodes, gaps=lines.gaps, demands=self.demands, asked=asked)

    def proof(self, ascent: Ascent) -> Proof:
        """The lines that the trees under the best prices make, and what links pay for demands."""
        indptr, _, topic_indptr, node_ids = self._arrays
        order, gaps = np.zeros(len(node_ids), np.int32), np.zeros(len(node_ids), np.int64)
        draw_lines(ascent.shares, ascent.prices, ascent.taken, float(self.scale), topic_indptr, order, gaps)
        nodes = node_ids[np.repeat(topic_indptr[:-1], np.diff(topic_indptr)) + order]
        lines = Lines(topic_indptr, nodes, gaps, slots_of(indptr, topic_indptr, nodes))
        topic_count, node_count = self._interests.topic_count, self._interests.node_count
        asked = draw_demands(ascent.shares, ascent.prices, float(self.scale), topic_count, node_count)
        return Proof(lines, Asked(*asked))

    def exceeding(self, proof: Proof, most: int) -> Exceeding:
        """The pairs further apart than the scale, the `most` worst of each node, and the greatest total."""

        def find(turns: Iterator[Chunk], ticks: Ticks) -> list[Exceeding]:
            return [self._exceeding_of(proof, nodes, most, ticks) for nodes in turns]

        by_thread = on_all_cores(find, balanced_chunks(self._steps), "looking at all pairs", self._progress)
        return joined([found for each in by_thread for found in each])

    def _exceeding_of(self, proof: Proof, nodes: Chunk, most: int, ticks: Ticks) -> Exceeding:
        room = (nodes[1] - nodes[0]) * most
        pairs, totals = np.empty((room, 2), np.int32), np.empty(room, np.int64)
        found = Exceeding(pairs, totals, np.zeros(3, np.int64))
        self.find(proof, nodes, most, found, ticks)
        listed = int(found.counts[0])
        return Exceeding(pairs[:listed].copy(), totals[:listed].copy(), found.counts)

    def find(self, proof: Proof, nodes: Chunk, most: int, found: Exceeding, ticks: Ticks) -> None:
        """Fill in the pairs of a range of nodes that are further apart than the scale."""
        lines, asked = proof
        find_exceeding(*self._arrays[:2], lines, self.demands, asked, self.scale, nodes, most, found, ticks)

    def extended(self, climber: Climber, ascent: Ascent, proof: Proof, found: Exceeding) -> Ascent:
        """The same prices, with pairs that exceed the scale as further candidates.

        They pay for each topic in proportion to the distance, and as much as an edge costs in all.
        """
        old = ascent.shares
        shares = self.shares(unique_edges(np.concatenate([old.edges, found.pairs])))
        indptr, topic_ids = self._arrays[:2]
        prices, mean = np.zeros(len(shares.by_topic)), np.zeros(len(shares.by_topic))
        carry_over(old, ascent.mean, shares, mean)
        new = np.flatnonzero(carry_over(old, ascent.prices, shares, prices))
        write_distances(indptr, topic_ids, proof.lines, self.demands, proof.asked, shares, new, prices)
        divide_by_totals(shares, new, prices)
        following = climber.start(shares, prices, mean)
        following.length, following.weight = ascent.length, ascent.weight
        return following

    def valid_proof(self, climber: Climber, ascent: Ascent) -> Proof:
        """A proof in which no pair exceeds the scale.

        Pairs that do become candidates, which shortens the distances of no others. Should some be left after
        a few rounds, all gaps and prices are lowered until the worst pair fits.
        """
        for _ in range(_LAST_ROUNDS):
            proof = self.proof(ascent)
            found = self.exceeding(proof, _MOST_AT_LAST)
            greatest = int(found.counts[2])
            if greatest <= self.scale:
                return proof
            ascent = self.extended(climber, ascent, proof, found)

        def lowered(values: Longs) -> Longs:
            return values * self.scale // greatest

        lines, asked = proof
        prices, nearest_prices = lowered(asked.prices), lowered(asked.nearest_prices)
        return Proof(
            lines._replace(gaps=lowered(lines.gaps)),
            asked._replace(prices=prices, nearest_prices=nearest_prices),
        )


def joined(parts: list[Exceeding]) -> Exceeding:
    """What was found for several ranges of nodes."""
    pairs = np.concatenate([np.empty((0, 2), np.int32), *(part.pairs for part in parts)])
    totals = np.concatenate([np.empty(0, np.int64), *(part.totals for part in parts)])
    counts = np.array([part.counts for part in parts], np.int64).reshape(-1, 3)
    return Exceeding(pairs, totals, np.array([len(pairs), counts[:, 1].sum(), counts[:, 2].max(initial=0)]))
