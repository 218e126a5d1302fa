"""How a number is spread over nodes: a few figures that say most of it, and a histogram that says all."""

from typing import Any

import numpy as np
import numpy.typing as npt

PERCENTILES = {"p25": 25, "median": 50, "p75": 75, "p90": 90, "p99": 99}
SUMMARY = ("mean", *PERCENTILES, "maximum")
"""What is said about a distribution beside its histogram, in the order to show."""


def distribution(values: npt.NDArray[Any], bins: npt.NDArray[np.int64] | None = None) -> dict[str, Any]:
    """Mean, percentiles, maximum, and `histogram`: pairs of a value and how many have it, values rising.

    The p-th percentile is the least of the values that at least p% of them don't exceed, so it is one of
    them. Of what is not whole, `bins` says where each counts in the histogram. Without values all are None.
    O(n log n) for n values.
    """
    own = np.sort(values)
    kinds, counts = np.unique(values if bins is None else bins, return_counts=True)
    histogram = [list(pair) for pair in zip(kinds.tolist(), counts.tolist(), strict=True)]
    if not len(own):
        return {**dict.fromkeys(SUMMARY), "histogram": histogram}
    ranks = {name: -(-percent * len(own) // 100) for name, percent in PERCENTILES.items()}
    return {
        "mean": float(own.sum()) / len(own),
        **{name: own[rank - 1].item() for name, rank in ranks.items()},
        "maximum": own[-1].item(),
        "histogram": histogram,
    }


def summary(found: dict[str, Any]) -> dict[str, Any]:
    """A distribution without its histogram."""
    return {name: found[name] for name in SUMMARY}
