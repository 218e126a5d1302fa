"""The laws that workloads are drawn by: how popular topics are, and how many of them each node takes.

Popularity q(t) sums to one and falls with the id: topic 0 is the most popular. Workloads of several seeds
therefore agree on which topics are popular, as those who join an overlay later do in [3]. Names are
zero-padded, so that the rank of a name is its number.
"""

from dataclasses import dataclass
from typing import TypedDict

import numpy as np
import numpy.typing as npt

from meshwright.model.interests import Interests
from meshwright.model.names import numbered
from meshwright.runtime.checks import MOST_NAMES, STEEPEST, number, positive, whole
from meshwright.runtime.errors import OptionError


def named_interests(
    indptr: npt.NDArray[np.int64], topic_ids: npt.NDArray[np.int32], topics: int
) -> Interests:
    """Interests of the nodes n000... and the topics t000...; takes the arrays over, without a copy."""
    indptr.setflags(write=False)
    topic_ids.setflags(write=False)
    return Interests.from_arrays(indptr, topic_ids, numbered("n", indptr.size - 1), numbered("t", topics))


Probability = npt.NDArray[np.float64]

# With these the least q of the most topics is above 1e-220, so that nothing underflows.
_GREATEST_ALPHA = 20.0
_GREATEST_DECAY = 500.0


def uniform(topics: int) -> Probability:
    """All topics have the same q."""
    return np.full(topics, 1.0 / topics)


def zipf(topics: int, alpha: float) -> Probability:
    """A q proportional to rank^-alpha, ranks from 1 on."""
    alpha = positive("alpha", alpha, _GREATEST_ALPHA, "; for equally popular topics, use unif")
    weight = np.arange(1.0, topics + 1) ** -alpha
    return np.asarray(weight / weight.sum())


def exponential(topics: int, decay: float) -> Probability:
    """A q proportional to exp(-decay * rank / topics)."""
    decay = positive("decay", decay, _GREATEST_DECAY, "; for equally popular topics, use unif")
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


_MORE_TOPICS = ", which is the number of topics; or give more topics"


class SizeOptions(TypedDict, total=False):
    """The options of `Sizes` that a workload passes on."""

    subscriptions: int | None
    min_subscriptions: int | None
    max_subscriptions: int | None
    size_exponent: float | None
    independent: bool


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """The law of subscription sizes over `topics` topics; one of three.

    A power law, as in [3], VI, where `subscriptions` is not given: p(k) is proportional to k^-size_exponent
    on the whole numbers from `min_subscriptions` to `max_subscriptions`. Unless given, the exponent is 2 and
    the bounds are 10 and 150, or less if there are fewer topics. With exponent 0 all sizes between
    the bounds are equally likely.

    Fixed, as in [1], Table I: each node takes `subscriptions` topics.

    Independent: each node takes topic t with probability min(1, subscriptions * q(t)), whatever else it
    takes. The mean size is `subscriptions`, less what the minimum cuts off.
    """

    topics: int
    subscriptions: int | None = None
    min_subscriptions: int | None = None
    max_subscriptions: int | None = None
    size_exponent: float | None = None
    independent: bool = False

    def __post_init__(self) -> None:
        whole("topics", self.topics, 1, MOST_NAMES)
        if self.subscriptions is not None:
            whole("subscriptions", self.subscriptions, 0, self.topics, _MORE_TOPICS)
            self._refuse_power_law()
        elif self.independent:
            raise OptionError(
                "independent is set without subscriptions; "
                "give subscriptions=K, the average number of topics",
                option="independent",
            )
        else:
            self._check_power_law()

    def _refuse_power_law(self) -> None:
        for name in ("min_subscriptions", "max_subscriptions", "size_exponent"):
            value = getattr(self, name)
            if value is not None:
                raise OptionError(
                    f"subscriptions and {name} can't be combined; give subscriptions for the same number on "
                    "every node, or min_subscriptions and max_subscriptions for a power law",
                    option=name,
                )

    def _check_power_law(self) -> None:
        if self.max_subscriptions is not None:
            whole("max_subscriptions", self.max_subscriptions, 1, self.topics, _MORE_TOPICS)
        low, high = self.bounds
        whole("min_subscriptions", low, 1, high, ", which is max_subscriptions; or give subscriptions=0")
        number("size_exponent", self.exponent, 0, STEEPEST)

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the greatest size of the power law."""
        high = min(150, self.topics) if self.max_subscriptions is None else self.max_subscriptions
        low = min(10, high) if self.min_subscriptions is None else self.min_subscriptions
        return low, high

    @property
    def exponent(self) -> float:
        """The exponent of the power law."""
        return 2.0 if self.size_exponent is None else self.size_exponent

    def draw(self, rng: np.random.Generator, nodes: int) -> npt.NDArray[np.int64]:
        """A size for each of `nodes` nodes, by the fixed law or the power law."""
        if self.subscriptions is not None:
            return np.full(nodes, self.subscriptions, np.int64)
        return power_law(rng, nodes, *self.bounds, self.exponent)

    def mean(self, probability: npt.NDArray[np.float64]) -> float:
        """How many topics a node takes on average."""
        if self.independent:
            return float(self.chances(probability).sum())
        if self.subscriptions is not None:
            return float(self.subscriptions)
        low, high = self.bounds
        values = np.arange(low, high + 1)
        weight = (values / low) ** -self.exponent
        return float((values * weight).sum() / weight.sum())

    def chances(self, probability: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """How likely a node takes each topic, where draws are independent."""
        return np.minimum(1.0, (self.subscriptions or 0) * probability)


def power_law(
    rng: np.random.Generator, count: int, low: int, high: int, exponent: float
) -> npt.NDArray[np.int64]:
    """`count` whole numbers k from `low` to `high` with probability proportional to k^-exponent."""
    weight = (np.arange(low, high + 1) / low) ** -exponent
    cumulative = np.cumsum(weight)
    above_low: npt.NDArray[np.int64] = cumulative.searchsorted(rng.random(count) * cumulative[-1], "right")
    return above_low + low
