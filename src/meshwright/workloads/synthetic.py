"""Workloads by topic popularity: unif, zipf and expo of [1], VIII-A.

[1] says that each topic t has a probability q(t), that these sum to one, and that a node subscribes to t
with probability q(t). That would make one subscription a node. We draw the number of subscriptions first
(`Sizes`), then that many distinct topics, one after another in proportion to q among those left; or, as
`independent`, each topic by itself with probability min(1, k * q(t)).

The interests depend on the options and the seed, not on the number of cores. A million nodes with 28
million interests in ten thousand topics take seconds. Memory is that of the interests, for `independent`
ones twice that.
"""

from collections.abc import Callable, Iterator
from typing import TypeVar, Unpack

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
    law = Sizes(topics=topics, **sizes)
    return _interests(nodes, laws.uniform(topics), law, seed, progress)


def zipf(
    nodes: int = 10_000,
    topics: int = 1_000,
    *,
    alpha: float = 2.0,
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
    law = Sizes(topics=topics, **sizes)
    return _interests(nodes, laws.zipf(topics, alpha), law, seed, progress)


def expo(
    nodes: int = 10_000,
    topics: int = 1_000,
    *,
    decay: float = 5.0,
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
    law = Sizes(topics=topics, **sizes)
    return _interests(nodes, laws.exponential(topics, decay), law, seed, progress)


def _interests(
    nodes: int, probability: Probability, sizes: Sizes, seed: int, progress: Progress | None
) -> Interests:
    whole("nodes", nodes, 0, MOST_NAMES)
    if sizes.independent:
        indptr, topic_ids = _independent(nodes, sizes.chances(probability), seed, progress)
    else:
        indptr, topic_ids = _distinct(nodes, probability, sizes, seed, progress)
    return named_interests(indptr, topic_ids, sizes.topics)


def _distinct(
    nodes: int, probability: Probability, sizes: Sizes, seed: int, progress: Progress | None
) -> tuple[Offsets, Ids]:
    """Sizes first, then that many distinct topics per node: the law of Gumbel top-k."""
    from meshwright.kernels.core.sampling import draw_distinct

    drawn = sizes.draw(generator(seed, _SIZES_STAGE), nodes)
    indptr = _offsets(drawn)
    topic_ids = np.empty(indptr[-1], np.int32)
    spans = waiting_times(probability, drawn.max(initial=0))

    def draw(rng: np.random.Generator, run: slice) -> None:
        offsets = indptr[run.start : run.stop + 1]
        own = topic_ids[offsets[0] : offsets[-1]]
        draw_distinct(rng, probability, spans, offsets - offsets[0], own)

    _draw_all(nodes, draw, seed, progress)
    return indptr, topic_ids


def _independent(
    nodes: int, chances: Probability, seed: int, progress: Progress | None
) -> tuple[Offsets, Ids]:
    """Each topic by a coin of its own."""
    from meshwright.kernels.core.sampling import draw_independent

    with np.errstate(divide="ignore"):
        hazard = -np.log1p(-chances)
    counts = np.zeros(nodes, np.int64)

    def draw(rng: np.random.Generator, run: slice) -> Ids:
        expected = (run.stop - run.start) * chances.sum()
        room = int(expected + _SPARE_DEVIATIONS * np.sqrt(expected))
        start = rng.bit_generator.state
        while True:
            topic_ids = np.empty(room, np.int32)
            rng.bit_generator.state = start
            needed = draw_independent(rng, hazard, counts[run], topic_ids)
            if needed <= room:
                return topic_ids[:needed]
            room = needed

    pieces = _draw_all(nodes, draw, seed, progress)
    return _offsets(counts), np.concatenate([np.empty(0, np.int32), *pieces])


def _draw_all(
    nodes: int,
    draw: Callable[[np.random.Generator, slice], Drawn],
    seed: int,
    progress: Progress | None,
) -> list[Drawn]:
    """What is drawn for each run of nodes that shares a random stream, in order; on all cores."""
    runs = [(first, min(first + NODES_PER_STREAM, nodes)) for first in range(0, nodes, NODES_PER_STREAM)]
    drawn: dict[int, Drawn] = {}

    def work(turns: Iterator[Chunk], ticks: Ticks) -> None:
        del ticks
        for first, last in turns:
            rng = generator(seed, _STAGE, first // NODES_PER_STREAM)
            drawn[first] = draw(rng, slice(first, last))

    on_all_cores(work, runs, "generate", progress)
    return [drawn[first] for first, _ in runs]


def _offsets(sizes: Offsets) -> Offsets:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
