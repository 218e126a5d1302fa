"""How popular topics are: q(t), which sums to one and falls with the id. Topic 0 is the most popular one.

That ids are ranks makes plots and tests plain, and makes workloads of several seeds agree on which topics are
popular, as those who join an overlay later do in [3].
"""

import numpy as np
import numpy.typing as npt

from meshwright.workloads.checks import positive

Probability = npt.NDArray[np.float64]

# With these the least q of the most topics is above 1e-220, so that nothing underflows.
_GREATEST_ALPHA = 20.0
_GREATEST_DECAY = 500.0


def uniform(topics: int) -> Probability:
    """All topics have the same q."""
    return np.full(topics, 1.0 / topics)


def zipf(topics: int, alpha: float) -> Probability:
    """A q proportional to rank^-alpha, ranks from 1 on."""
    alpha = positive("alpha", alpha, _GREATEST_ALPHA, "; unif is the law without a slope")
    weight = np.arange(1.0, topics + 1) ** -alpha
    return np.asarray(weight / weight.sum())


def exponential(topics: int, decay: float) -> Probability:
    """A q proportional to exp(-decay * rank / topics)."""
    decay = positive("decay", decay, _GREATEST_DECAY, "; unif is the law without a slope")
    weight = np.exp(-decay / topics * np.arange(topics))
    return np.asarray(weight / weight.sum())


def waiting_times(probability: Probability, largest: int) -> npt.NDArray[np.float64]:
    """For each size k from 0 to `largest`, how long until about k + 2 sqrt(k) topics arrive at rates q.

    Two deviations above k, so that one wait in fifty is too short. Interpolated on a sample of the ranks:
    the draws are correct with any times, only slower where these are off. O(1), but for the result.
    """
    topics = probability.size
    starts = np.unique(np.geomspace(1, topics, 500).astype(np.int64)) - 1
    widths = np.diff(starts, append=topics)
    longest = 2.0 * np.log(2.0 * topics + 2.0) / probability[-1]
    times = np.geomspace(0.1, longest, 1_000)
    arrived = -np.expm1(-np.outer(times, probability[starts])) @ widths
    size = np.arange(largest + 1)
    wanted = np.minimum(size + 2.0 * np.sqrt(size), topics - 0.1)
    return np.exp(np.interp(wanted, arrived, np.log(times)))
