"""Workloads by topic popularity: unif, zipf and expo of [1], VIII-A.

[1] says that each topic t has a probability q(t), that these sum to one, and that a node subscribes to t
with probability q(t). That would make one subscription a node. We draw the number of subscriptions first
(`Sizes`), then that many distinct topics, one after another in proportion to q among those left; or, as
`independent`, each topic by itself with probability min(1, k * q(t)).

The interests depend on the options and the seed, not on the number of cores. A million nodes with 28
million interests in ten thousand topics take seconds. Memory is that of the interests, for `independent`
ones twice that.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar, Unpack, cast

import numpy as np

from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Ids, Offsets, Ticks
from meshwright.runtime.checks import MOST_NAMES, whole
from meshwright.runtime.parallel import Chunk, on_all_cores
from meshwright.runtime.progress import Progress
from meshwright.runtime.seeds import generator
from meshwright.workloads import laws
from meshwright.workloads.laws import Probability, SizeOptions, Sizes, named_interests, waiting_times

Drawn = TypeVar("Drawn")

_STAGE = "workloads"
_SIZES_STAGE = "workloads.sizes"
# Room for this many deviations above the expected number of interests: a second try is one in 10^9.
_SPARE_DEVIATIONS = 6.0
# Nodes that share a random stream. Part of what a seed means: another length gives other interests. At this
# one a million nodes are 245 runs of about ten milliseconds, which is how long Ctrl-C waits.
NODES_PER_STREAM = 4096
_ALPHA, _DECAY = 2.0, 5.0


def unif(
    nodes: int = 10_000,
    topics: int = 1_000,
    *,
    seed: int = 0,
    progress: Progress | None = None,
    **sizes: Unpack[SizeOptions],
) -> Interests:
    """Interests in topics that are all equally popular.

    How many topics a node takes is said by `subscriptions`, `min_subscriptions`, `max_subscriptions`,
    `size_exponent` and `independent`, see `Sizes`; by default a power law between 10 and 150.

    Example:
        >>> import meshwright as mw
        >>> mw.workloads.unif(100, 20, subscriptions=3, seed=1)
        Interests(100 nodes, 20 topics, 300 interests)
    """
    own = Sizes(topics=topics, **sizes)
    return _interests(Law(nodes=nodes, sizes=own, probability=laws.uniform(topics), seed=seed), progress)


def zipf(
    nodes: int = 10_000,
    topics: int = 1_000,
    *,
    alpha: float = _ALPHA,
    seed: int = 0,
    progress: Progress | None = None,
    **sizes: Unpack[SizeOptions],
) -> Interests:
    """Interests in topics whose popularity is proportional to rank^-alpha; the first name has rank 1.

    Sizes are as in `unif`. With alpha = 2, the value of [1], the first topic has 61% of the draws: everybody
    takes the first few topics, and the last ones may have no subscriber.

    Example:
        >>> import meshwright as mw
        >>> interests = mw.workloads.zipf(100, 20, alpha=1.0, subscriptions=3, seed=1)
        >>> len(interests.nodes_of("t00")) > len(interests.nodes_of("t19"))
        True
    """
    own = Sizes(topics=topics, **sizes)
    return _interests(Law(nodes=nodes, sizes=own, probability=laws.zipf(topics, alpha), seed=seed), progress)


def expo(
    nodes: int = 10_000,
    topics: int = 1_000,
    *,
    decay: float = _DECAY,
    seed: int = 0,
    progress: Progress | None = None,
    **sizes: Unpack[SizeOptions],
) -> Interests:
    """Interests in topics whose popularity is proportional to exp(-decay * rank / topics).

    Sizes are as in `unif`. No paper states the rate. 5 is the steepest whole number that leaves no topic
    without a link to make: by default, in [1], Table I (1,000 nodes, 100 topics, 20 each) and in [3], VI
    (2,000 nodes, 200 topics, 10 to 90), the last topic has about 10 subscribers and all have two or more in
    every seed tried; with 6, 15% of the seeds or more have topics of one. The first fifth of the topics gets
    64% of the draws.

    Example:
        >>> import meshwright as mw
        >>> mw.workloads.expo(100, 20, subscriptions=3, seed=1)
        Interests(100 nodes, 20 topics, 300 interests)
    """
    own = Sizes(topics=topics, **sizes)
    return _interests(
        Law(nodes=nodes, sizes=own, probability=laws.exponential(topics, decay), seed=seed), progress
    )


@dataclass(frozen=True, kw_only=True)
class Law:
    """What interests are drawn by: how many nodes, the popularity of each topic, sizes and a seed.

    The lists of nodes in a row can be drawn by themselves, and are then those that all nodes together have.
    """

    nodes: int
    probability: Probability
    sizes: Sizes
    seed: int

    def __post_init__(self) -> None:
        whole("nodes", self.nodes, 0, MOST_NAMES)

    def lists(self, first: int, last: int) -> tuple[Offsets, Ids]:
        """The lists of nodes from `first` to below `last`, as a CSR; `first` is the first of a stream.

        Cost: that of their interests, in memory for them.
        """
        streams = range(first, last, NODES_PER_STREAM)
        if self.sizes.independent:
            counts = np.zeros(last - first, np.int64)
            pieces = [
                self._toss(at, counts[at - first : at - first + NODES_PER_STREAM], self._hazard)
                for at in streams
            ]
            return _offsets(counts), np.concatenate([np.empty(0, np.int32), *pieces])
        indptr = _offsets(self._drawn_sizes(first, last))
        topic_ids = np.empty(indptr[-1], np.int32)
        for at in streams:
            offsets = indptr[at - first : min(at + NODES_PER_STREAM, last) - first + 1]
            self._take(at, offsets, topic_ids, self._spans)
        return indptr, topic_ids

    def expected_interests(self) -> int:
        """About how many interests all nodes have together."""
        return int(self.nodes * self.sizes.mean(self.probability))

    def _drawn_sizes(self, first: int, last: int) -> Offsets:
        """How many topics each node takes; a size takes one number of the stream, so others are skipped."""
        rng = generator(self.seed, _SIZES_STAGE)
        cast(np.random.PCG64, rng.bit_generator).advance(first)
        return self.sizes.draw(rng, last - first)

    @cached_property
    def _spans(self) -> Probability:
        fixed = self.sizes.subscriptions
        return waiting_times(self.probability, self.sizes.bounds[1] if fixed is None else fixed)

    @cached_property
    def _hazard(self) -> Probability:
        with np.errstate(divide="ignore"):
            return np.asarray(-np.log1p(-self.sizes.chances(self.probability)))

    def _take(self, first: int, offsets: Offsets, topic_ids: Ids, spans: Probability) -> None:
        """Write distinct topics for the nodes of a stream, by the law of Gumbel top-k."""
        from meshwright.kernels.core.sampling import draw_distinct

        rng = generator(self.seed, _STAGE, first // NODES_PER_STREAM)
        own = topic_ids[offsets[0] : offsets[-1]]
        draw_distinct(rng, self.probability, spans, offsets - offsets[0], own)

    def _toss(self, first: int, counts: Offsets, hazard: Probability) -> Ids:
        """The topics of the nodes of a stream, each by a coin of its own; `counts` get their numbers."""
        from meshwright.kernels.core.sampling import draw_independent

        rng = generator(self.seed, _STAGE, first // NODES_PER_STREAM)
        expected = len(counts) * self.sizes.chances(self.probability).sum()
        room = int(expected + _SPARE_DEVIATIONS * np.sqrt(expected))
        start = rng.bit_generator.state
        while True:
            topic_ids = np.empty(room, np.int32)
            rng.bit_generator.state = start
            needed = draw_independent(rng, hazard, counts, topic_ids)
            if needed <= room:
                return topic_ids[:needed]
            room = needed


def _interests(law: Law, progress: Progress | None) -> Interests:
    """All interests of a law, drawn on all cores."""
    if law.sizes.independent:
        counts, hazard = np.zeros(law.nodes, np.int64), law._hazard
        pieces = _draw_all(law, lambda run: law._toss(run.start, counts[run], hazard), progress)
        indptr, topic_ids = _offsets(counts), np.concatenate([np.empty(0, np.int32), *pieces])
    else:
        indptr, spans = _offsets(law._drawn_sizes(0, law.nodes)), law._spans
        topic_ids = np.empty(indptr[-1], np.int32)
        _draw_all(
            law,
            lambda run: law._take(run.start, indptr[run.start : run.stop + 1], topic_ids, spans),
            progress,
        )
    return named_interests(indptr, topic_ids, law.sizes.topics)


def _draw_all(law: Law, draw: Callable[[slice], Drawn], progress: Progress | None) -> list[Drawn]:
    """What is drawn for each run of nodes that shares a random stream, in order; on all cores."""
    runs = [
        (first, min(first + NODES_PER_STREAM, law.nodes)) for first in range(0, law.nodes, NODES_PER_STREAM)
    ]
    drawn: dict[int, Drawn] = {}

    def work(turns: Iterator[Chunk], ticks: Ticks) -> None:
        del ticks
        for first, last in turns:
            drawn[first] = draw(slice(first, last))

    on_all_cores(work, runs, "generate", progress)
    return [drawn[first] for first, _ in runs]


def _offsets(sizes: Offsets) -> Offsets:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])


def law_of(name: str, nodes: int, topics: int, seed: int, options: Mapping[str, Any]) -> Law:
    """The law behind `unif`, `zipf` or `expo`, with the options of these."""
    given = dict(options)
    alpha, decay = given.pop("alpha", _ALPHA), given.pop("decay", _DECAY)
    sizes = Sizes(topics=topics, **given)
    probability = {
        "unif": lambda: laws.uniform(topics),
        "zipf": lambda: laws.zipf(topics, alpha),
        "expo": lambda: laws.exponential(topics, decay),
    }[name]()
    return Law(nodes=nodes, sizes=sizes, probability=probability, seed=seed)
