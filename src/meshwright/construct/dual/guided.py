"""Dual-guided Greedy: overlays that the prices of topics lead to."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from meshwright.construct.dual.ascent import Ascent, Climber
from meshwright.construct.dual.bound import MOST_EACH, Pricing
from meshwright.construct.dual.candidates import unique_edges
from meshwright.construct.exchanging import Effort, exchanged
from meshwright.construct.greedy import greedy_merge
from meshwright.construct.options import LOAD, DcOptions, DgOptions, GmOptions
from meshwright.construct.parts.conquer import divide_and_conquer
from meshwright.construct.reduction import reduced
from meshwright.construct.reverse_delete import reverse_delete
from meshwright.kernels.dual.guiding import Ends, contracted, ends_of, greatest_of_edges, take_by_worth
from meshwright.kernels.dual.shares import Shares
from meshwright.model.costs.costs import Costs
from meshwright.model.edges import Built
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Ids, Offsets, Ticks
from meshwright.runtime.errors import CapacityError
from meshwright.runtime.machine import threads
from meshwright.runtime.progress import CANCEL, Progress, run_with_ticks
from meshwright.runtime.seeds import generator

_LOOKS = 3
"""How often all pairs are looked at for further candidates."""

_LOOKS_FOR_MANY, _ROUNDS_FOR_MANY = 1, 10
"""The same, and rounds, with many nodes: to make up in part for the time of exchanges. Measured at 10,000
nodes and 1,000 topics, with these: 0.6% fewer links at unif, 0.3% fewer at expo, and as many at zipf.
"""

_FIRST_SHARE = 0.3
"""Of the budget, for prices before the first edge is taken."""

_ROUNDS = 20
"""In which edges are taken for good, the same number in each."""

_OWN_WORTH = 0.05
"""What joining two components is worth by itself, beside the topic's price."""

_IN_TREES = 0.0005
"""How often a candidate must have been in trees lately to stay one: less than the latest trees count."""

_LEAST_STEPS = 150
_MOST_STEPS, _STEPS_TIMES_INTERESTS = 600, 100_000_000
"""The default budget: the more interests, the fewer steps."""

_MANY_NODES = 5_000
_MOST_FOR_MANY, _STEPS_TIMES_INTERESTS_FOR_MANY = 200, 25_000_000
"""The same with more nodes, so that it takes about twenty times as long as Greedy Merge, or less. Where nodes
have few topics, more steps give nothing (10,000 members of YouTube groups: 11,957 to 11,965 links by 150 to
600); on 4,039 users of Facebook, 150, 300 and 600 steps gave 7,149, 7,056 and 6,921 links.
"""

_LEAST_AFTER_PRICES = 100
"""The same at least, where topic prices have given a better overlay, and taken their share of the time."""

_MOST_PRICED_PAIRS = 150_000_000
"""Pairs of subscribers, summed over topics; with more, a greedy by topic prices takes too long."""

_STEPS_A_SWEEP, _STEPS_A_SWEEP_FOR_MANY = 20, 50
"""For so many steps of the budget, all nodes are searched for exchanges once; less often with many nodes."""

_SECONDS_FOR_STEPS = 0.6
"""The part of a budget in seconds that prices take; the rest is for exchanges."""

_FEW_STEPS = 5
"""Between two looks at the clock."""


@dataclass
class Budget:
    """How long prices may be raised: some steps, or until some seconds after the beginning."""

    steps: int | None
    seconds: float | None
    began: float
    spent: float = 0.0

    def raise_prices(self, climber: Climber, ascent: Ascent, share: float, ticks: Ticks) -> None:
        """Spend a share of the budget."""
        before, self.spent = self.spent, min(1.0, self.spent + share)
        if self.steps is not None:
            climber.climb(ascent, round(self.steps * self.spent) - round(self.steps * before), ticks)
            return
        while perf_counter() < self.began + (self.seconds or 0.0) * self.spent and not ticks[CANCEL]:
            climber.climb(ascent, _FEW_STEPS, ticks)


def dual_guided(
    interests: Interests, costs: Costs | None, options: DgOptions, seed: int, progress: Progress | None
) -> Built:
    """Dual-guided Greedy (DG).

    Guarantee: topic-connected, without an edge that no topic needs, and never more edges than Greedy Merge at
    the same seed. Deterministic for a seed, whatever the number of cores, where the budget is in steps. Costs
    change nothing.

    How: nodes of one or two topics, all of which another has, are linked to one that has them, and topics
    with the same nodes count once; `construct/reduction.py` proves that this costs no link. For the rest, it
    begins with the smaller of two overlays: that of Greedy Merge, and one by a greedy that counts
    what topics pay for their edges in a sample (`parts/topic_prices.py`). Then topics pay prices for
    candidate edges, which are raised as for the tight bound (`bound.py`). The mean of the trees is nearly the
    solution of the linear program. A greedy takes the edge of the greatest worth: what the topics that it
    joins pay for it, and a little for each, times one more than how often the edge was in a tree. Only the
    first of these edges are kept; their components become one, the prices for what is left are raised
    further, and the greedy begins again, until nothing is left. Of all overlays on the way the smallest is
    given, after reverse delete, and then links are exchanged for fewer (`construct/exchanging.py`).

    Cost: beside Greedy Merge, a step takes some 50 ns for each topic of each candidate edge, on all cores.
    """
    del costs
    began = perf_counter()
    plain, merged = _merged(interests, options, seed, progress)
    small = reduced(interests, link_nodes=True)
    linked = small.edges
    start = plain if not len(linked) else _merged(small.interests, options, seed, progress)[0]
    best, candidates = _searched(small.interests, start, options, seed, began, progress)
    if len(linked):
        best = min(np.concatenate([linked, best]), plain, key=len)
    facts = {"gm_edges": merged, "linked_nodes": len(linked), "candidates": candidates}
    return Built(edges=best, facts=facts, in_order=True)


def _searched(
    interests: Interests, start: Ids, options: DgOptions, seed: int, began: float, progress: Progress | None
) -> tuple[Ids, int]:
    """The best overlay that the search finds from a first one, and the number of candidates."""
    least = _LEAST_STEPS
    if (
        len(start)
        and _prices_pay(interests)
        and (options.seconds is None or perf_counter() < began + options.seconds)
    ):
        # Without the memory for it, the search below may still have enough, or says what it needs.
        with suppress(CapacityError):
            other = _by_topic_prices(interests, options, seed, progress)
            start, least = (other, _LEAST_AFTER_PRICES) if len(other) < len(start) else (start, least)
    if not len(start):
        return start, 0
    counts = len(interests), interests.node_count
    steps = default_steps(*counts, least) if options.budget is None else options.steps
    seconds = None if options.seconds is None else options.seconds * _SECONDS_FOR_STEPS
    dive = Dive(interests, start, seed, options.memory_limit, progress)
    if interests.node_count > _MANY_NODES:
        dive.looks, dive.rounds = _LOOKS_FOR_MANY, _ROUNDS_FOR_MANY
    with ThreadPoolExecutor(threads()) as pool:
        dive.run(Climber(pool, threads()), Budget(steps, seconds, began))
    until = None if options.seconds is None else began + options.seconds
    each = _STEPS_A_SWEEP_FOR_MANY if interests.node_count > _MANY_NODES else _STEPS_A_SWEEP
    effort, limit = Effort((steps or 0) / each, until), options.memory_limit
    found = exchanged(interests, dive.best, effort, seed, memory_limit=limit, progress=progress)
    return found, dive.candidates


def _merged(
    interests: Interests, options: DgOptions, seed: int, progress: Progress | None
) -> tuple[Ids, int]:
    """Greedy Merge after reverse delete, and the number of its edges before."""
    given = GmOptions(ties=options.ties, memory_limit=options.memory_limit)
    edges = np.asarray(greedy_merge(interests, None, given, seed, progress).edges, np.int32)
    kept = reverse_delete(interests, edges, memory_limit=options.memory_limit, progress=progress)
    return kept, len(edges)


def default_steps(interest_count: int, node_count: int, least: int = _LEAST_STEPS) -> int:
    """How many steps are taken where no budget is given, at least so many."""
    most, product = _MOST_STEPS, _STEPS_TIMES_INTERESTS
    if node_count > _MANY_NODES:
        most, product = _MOST_FOR_MANY, _STEPS_TIMES_INTERESTS_FOR_MANY
    return max(least, min(most, product // max(1, interest_count)))


def _prices_pay(interests: Interests) -> bool:
    sizes = np.diff(interests.topic_indptr).astype(np.float64)
    return float(np.sum(sizes**2) / 2) <= _MOST_PRICED_PAIRS


def _by_topic_prices(interests: Interests, options: DgOptions, seed: int, progress: Progress | None) -> Ids:
    """Greedy Merge that counts what topics pay for their edges in a sample, after reverse delete."""
    ties = "small-first" if options.ties == LOAD else options.ties
    guided = DcOptions(partitions=1, guide="dual", ties=ties, memory_limit=options.memory_limit)
    edges = np.asarray(divide_and_conquer(interests, None, guided, seed, progress).edges, np.int32)
    return reverse_delete(interests, edges, memory_limit=options.memory_limit, progress=progress)


class Dive:
    """Takes edges round by round, and keeps the best overlay on the way."""

    def __init__(
        self, interests: Interests, start: Ids, seed: int, memory_limit: int | None, progress: Progress | None
    ) -> None:
        self.best, self.candidates = start, 0
        self.looks, self.rounds = _LOOKS, _ROUNDS
        self._interests, self._progress, self._limit = interests, progress, memory_limit
        self._taken = np.empty((0, 2), np.int32)
        self._random = generator(seed, "dg")

    def run(self, climber: Climber, budget: Budget) -> None:
        """All rounds; the last takes all edges that are left."""
        ascent = self._begin(climber, budget)
        self.candidates = len(ascent.shares.edges)
        for left in range(self.rounds, 0, -1):
            if not len(ascent.shares.edges):
                break
            ends, whole = ends_of(ascent.shares), left in (self.rounds, 1)
            expected = max(1, len(self.best) - len(self._taken))
            most = -(-expected // left)
            order = self._in_order(ascent, ends, len(ascent.shares.edges) if whole else most)
            if whole:
                self._keep_best(ascent.shares.edges[order])
            ascent = self._after(climber, ascent, ends, order[:most])
            self._raise(climber, ascent, budget, (1 - _FIRST_SHARE) / self.rounds)

    def _begin(self, climber: Climber, budget: Budget) -> Ascent:
        """Prices for the candidates, with those that a look at all pairs adds."""
        pricing = self._priced()
        ascent = climber.start(pricing.shares(unique_edges(np.concatenate([pricing.likely(), self.best]))))
        for look in range(self.looks):
            self._raise(climber, ascent, budget, _FIRST_SHARE / (self.looks + 1))
            proof = pricing.proof(ascent)
            ascent = pricing.extended(climber, ascent, proof, pricing.exceeding(proof, MOST_EACH >> look))
        self._raise(climber, ascent, budget, _FIRST_SHARE / (self.looks + 1))
        return ascent

    def _priced(self) -> Pricing:
        """What knows the first candidates, and looks at all other pairs."""
        return Pricing(self._interests, self._progress, self._limit)

    def _size(self, edges: Ids) -> float:
        """What is to be as small as can be."""
        return len(edges)

    def _raise(self, climber: Climber, ascent: Ascent, budget: Budget, share: float) -> None:
        def work(ticks: Ticks) -> None:
            budget.raise_prices(climber, ascent, share, ticks)

        run_with_ticks(work, "raising prices", 0, self._progress)

    def _in_order(self, ascent: Ascent, ends: Ends, most: int) -> Offsets:
        """The first edges that the greedy takes."""
        shares = ascent.shares
        factors = (1 + greatest_of_edges(shares, ascent.mean)) / shares.limits
        worth = ascent.prices + _OWN_WORTH * float(np.median(shares.limits))
        ties = self._random.permutation(len(shares.edges))

        def work(ticks: Ticks) -> Offsets:
            return take_by_worth(shares.indptr, ends, worth, factors, ties, most, ticks)

        return run_with_ticks(work, "taking edges", 0, self._progress)

    def _keep_best(self, following: Ids) -> None:
        """Keep the overlay of the edges taken for good and those that follow, if it is the smallest."""
        edges = np.concatenate([self._taken, following])
        kept = reverse_delete(self._interests, edges, memory_limit=self._limit, progress=self._progress)
        if self._size(kept) < self._size(self.best):
            self.best = kept

    def _after(self, climber: Climber, ascent: Ascent, ends: Ends, edges: Offsets) -> Ascent:
        """Take edges for good, and leave out candidates that were in no tree lately.

        Those that are kept connect every topic, since the latest trees count more.
        """
        keep = greatest_of_edges(ascent.shares, ascent.mean) >= _IN_TREES
        self._taken = np.concatenate([self._taken, ascent.shares.edges[edges]])
        shares, prices, mean = contracted(ascent.shares, ends, edges, keep, ascent.prices, ascent.mean)
        return climber.start(Shares(*shares), prices, mean)
