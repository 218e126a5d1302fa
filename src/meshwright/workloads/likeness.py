"""More nodes like those that are there."""

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from meshwright.model.interests import Interests
from meshwright.seeds import generator
from meshwright.workloads.popularity import waiting_times

_SIZES, _TOPICS = 1, 2
"""Parts of a stage that have random streams of their own."""


def draw_like(interests: Interests, count: int, seed: int, stage: str) -> list[tuple[str, ...]]:
    """The topics of `count` further nodes, drawn as those of `interests` might have been.

    Each takes as many topics as a random node has, and these without replacement in proportion to their
    subscribers. Which topics go together is not kept: a copy of a node would need one link only. The first
    of more nodes are the same as of fewer.
    """
    subscribers = np.diff(interests.topic_indptr)
    order = np.argsort(-subscribers, kind="stable")[: np.count_nonzero(subscribers)]
    sizes = np.diff(interests.indptr)
    drawn = generator(seed, stage, _SIZES).choice(sizes, count) if len(sizes) else np.zeros(count, np.int64)
    indptr = np.concatenate([[0], np.cumsum(drawn, dtype=np.int64)])
    ranks = _ranks(subscribers[order], indptr, generator(seed, stage, _TOPICS))
    names = interests.topics.take(order[ranks]).to_pylist()
    return [tuple(names[start:end]) for start, end in pairwise(indptr.tolist())]


def _ranks(
    subscribers: npt.NDArray[np.int64], indptr: npt.NDArray[np.int64], rng: np.random.Generator
) -> npt.NDArray[np.int32]:
    from meshwright.kernels.sampling import draw_distinct

    ranks = np.empty(indptr[-1], np.int32)
    if len(ranks):
        chances = subscribers / subscribers.sum()
        spans = waiting_times(chances, int(np.diff(indptr).max()))
        draw_distinct(rng, chances, spans, indptr, ranks)
    return ranks
