"""A lower bound on the average degree that is likely, where the one by overlaps would take too long.

The bound by trees (`meshwright.metrics.bounds`) says: with o(v, t) the most topics that v shares with another
node of t, every topic-connected overlay has at least the sum over all nodes v of s(v) edges, less the number
of topics, s(v) being the sum of 1 / o(v, t) over the topics t of v that somebody else has. So its average
degree is at least twice the mean of s, less twice the topics per node. The mean is estimated from some nodes
v, drawn at random; for each of these, s(v) is exact, by one pass over all interests.

An estimate can be too high by bad luck. What is stated is so much below it that this happens once in a
million samples: by Maurer and Pontil, "Empirical Bernstein bounds and sample variance penalization" (2009),
Theorem 4, which holds for any values in a range. To make the range small, s is cut off at 4, which can only
lower the bound.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from meshwright.kernels.metrics.bounds import Sampled, raise_sampled_overlaps
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Floats, Ids, Offsets, Ticks
from meshwright.runtime.parallel import Chunk, balanced_chunks, on_all_cores
from meshwright.runtime.progress import Progress
from meshwright.runtime.seeds import generator

DOUBT = 1e-6
"""How likely the bound is wrong."""

_MOST_SAMPLES = 2048
_FEWEST_SAMPLES = 256
_STEPS_AN_INTEREST = 100
_CUT = 4.0


@dataclass(frozen=True, kw_only=True)
class LikelyBound:
    """No topic-connected overlay has a lower average degree, but for a chance of `doubt`."""

    average_degree: float
    doubt: float


def choose_samples(sizes: Offsets, node_count: int) -> Ids:
    """The nodes to look at, rising, any of them several times; none where too few would take too long.

    All of them take a hundred steps for each interest at most, so the time is linear. They depend on the
    sizes of topics and the number of nodes alone, so the bound is the same on every engine.
    """
    squares = float(np.sum(sizes.astype(np.float64) ** 2))
    if not node_count or not squares:
        return np.empty(0, np.int32)
    enough = _STEPS_AN_INTEREST * float(sizes.sum()) * node_count / squares
    count = min(_MOST_SAMPLES, int(enough))
    if count < _FEWEST_SAMPLES:
        return np.empty(0, np.int32)
    drawn = generator(0, "metrics.sampled_bound").integers(0, node_count, count)
    return np.sort(drawn).astype(np.int32)


def sampled(nodes: Ids, indptr: Offsets, topic_ids: Ids, topic_count: int) -> Sampled:
    """Samples, which rise, with their topics as a CSR, by topic."""
    starts = np.concatenate([[0], np.cumsum(np.bincount(topic_ids, minlength=topic_count))])
    sample_of = np.repeat(np.arange(len(nodes), dtype=np.int32), np.diff(indptr))
    return Sampled(nodes, starts, sample_of[np.argsort(topic_ids, kind="stable")])


def bound_by_samples(found: Sampled, overlaps: Ids, topic_count: int, node_count: int) -> LikelyBound:
    """The bound that the overlaps give; a topic that nobody else has is worth nothing."""
    shares = np.zeros(len(overlaps))
    np.divide(1.0, overlaps, out=shares, where=overlaps > 0)
    sums = np.minimum(np.bincount(found.samples, shares, minlength=len(found.nodes)), _CUT)
    least = _likely_mean(sums, _CUT) - topic_count / node_count
    return LikelyBound(average_degree=max(0.0, 2 * least), doubt=DOUBT)


def _likely_mean(values: Floats, range_of_values: float) -> float:
    """What the mean of all is not below, but for a chance of `DOUBT`, by a sample of independent values."""
    count, word = len(values), np.log(2 / DOUBT)
    spread = np.sqrt(2 * values.var(ddof=1) * word / count)
    return float(values.mean() - spread - 7 * range_of_values * word / (3 * (count - 1)))


def likely_bound(interests: Interests, progress: Progress | None = None) -> LikelyBound | None:
    """The bound of interests in memory, on all cores; None where there are too few samples."""
    sizes = np.diff(interests.topic_indptr)
    nodes = choose_samples(sizes, interests.node_count)
    if not len(nodes):
        return None
    lists = [interests.topic_ids[interests.indptr[v] : interests.indptr[v + 1]] for v in nodes]
    indptr = np.concatenate([[0], np.cumsum([len(own) for own in lists])])
    chosen = sampled(nodes, indptr, np.concatenate(lists), interests.topic_count)

    def look(turns: Iterator[Chunk], ticks: Ticks) -> Ids:
        overlaps = np.zeros(len(chosen.samples), np.int32)
        for first, last in turns:
            ids = np.arange(first, last, dtype=np.int32)
            own = interests.indptr[first : last + 1].copy()
            raise_sampled_overlaps(ids, own, interests.topic_ids, chosen, overlaps, ticks)
        return overlaps

    chunks = balanced_chunks(np.diff(interests.indptr))
    overlaps = np.maximum.reduce(on_all_cores(look, chunks, "bounding the degree", progress))
    return bound_by_samples(chosen, overlaps, interests.topic_count, interests.node_count)
