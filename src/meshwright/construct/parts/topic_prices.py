"""Prices of topics, learned on a sample: what a divided job knows of all nodes when it works on a part.

An edge costs 1, which the topics that it connects share. What a topic pays for a union on average is its unit
price. Unit prices divided by a harmonic number are a solution of the dual of the linear program: that is how
the greedy's ratio is proved ([1], Lemma 3; Wolsey, 1982). A topic that few nodes have, or that seldom goes
together with others, pays more, and an edge that serves it should be taken earlier.
"""

from collections.abc import Callable
from math import inf

import numpy as np

from meshwright.construct.parts.topic_lists import Lists
from meshwright.kernels.core.topic_components import start_components, unite_labelled
from meshwright.kernels.dual import unit_prices as kernel
from meshwright.runtime.arrays import Flags, Floats, Ids, Offsets, Ticks
from meshwright.runtime.progress import CANCEL, Progress, run_with_ticks
from meshwright.runtime.seeds import generator

SAMPLE = 2_000
"""How many nodes prices are learned on, at most."""

_PASSES = 4
_ONE = 8
"""The weight of the mean price: weights are whole numbers."""

_MOST = 200


def sampled(nodes: Ids, size: int, node_count: int, seed: int) -> Flags:
    """By node, whether it is one of so many random ones of `nodes`, or of all of them."""
    chosen = np.zeros(node_count, np.bool_)
    chosen[generator(seed, "prices").permutation(nodes)[: min(size, SAMPLE)]] = True
    return chosen


def learn_weights(
    build: Callable[[Ids, Ticks], Ids],
    lists: Lists,
    topic_count: int,
    progress: Progress | None,
    labels: Ids | None = None,
    *,
    least_gain: float = 0.02,
) -> Ids:
    """By topic, the weight of a union, such that `build` gives few edges with it; 1 each if none is better.

    `build` makes edges, as pairs of rows of `lists`, from weights. In each pass, a topic's weight is
    multiplied by the square root of its unit price in relation to the mean one, and the weights of the pass
    with the fewest edges are given, if these are fewer by `least_gain`: a weighted greedy takes several times
    as long. Interests of a topic with the same label are connected beforehand.

    Cost: four times that of `build`.
    """

    def learn(ticks: Ticks) -> Ids:
        weights = best = np.ones(topic_count, np.int32)
        prices, fewest = np.ones(topic_count), inf
        for _ in range(_PASSES):
            edges = build(weights, ticks)
            if ticks[CANCEL]:
                break
            if len(edges) < fewest:
                # What comes after the first pass must be worth it.
                best, fewest = weights, len(edges) * (1 - least_gain if fewest == inf else 1)
            prices = prices * np.sqrt(_unit_prices(lists, topic_count, labels, edges))
            prices /= _mean(prices, lists.topic_ids)
            weights = np.clip(np.round(_ONE * prices), 1, _MOST).astype(np.int32)
        return best

    return run_with_ticks(learn, "learning prices", 0, progress)


def _unit_prices(lists: Lists, topic_count: int, labels: Ids | None, edges: Ids) -> Floats:
    # Copies, since Numba would compile everything once more for read-only arrays.
    indptr: Offsets = lists.indptr.copy()
    ones = np.ones(topic_count, np.int32)
    state = start_components(indptr, lists.topic_ids.copy(), topic_count, ones, 0)
    if labels is not None:
        unite_labelled(state, labels)
    found = kernel.unit_prices(state, np.ascontiguousarray(edges, np.int32))
    return found / _mean(found, lists.topic_ids)


def _mean(prices: Floats, topic_ids: Ids) -> float:
    """The mean over all interests."""
    return float(prices[topic_ids].mean()) if len(topic_ids) else 1.0
