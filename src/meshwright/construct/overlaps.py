"""How many topics nodes share at most: what lower bounds on their links count with."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from meshwright.kernels.core.subgraphs import TopicLists
from meshwright.kernels.metrics import bounds as kernel
from meshwright.kernels.metrics.bounds import Counts, Subscribers
from meshwright.runtime.arrays import Offsets, Ticks
from meshwright.runtime.parallel import Chunk, balanced_chunks, on_all_cores
from meshwright.runtime.progress import Progress

_MOST_STEPS = 5_000_000_000
"""Steps that overlaps may take, so that a bound is a matter of seconds."""


def overlaps_pay(sizes: Offsets) -> bool:
    """Whether overlaps take few enough steps, with topics of these sizes."""
    return bool(np.sum(sizes.astype(np.float64) ** 2) / 2 <= _MOST_STEPS)


def most_shared(lists: TopicLists, subscribers: Subscribers, progress: Progress | None) -> Counts:
    """By subscription (t, v), the most topics that v shares with another node of t."""
    unsigned = TopicLists(lists.indptr, lists.topic_ids.view(np.uint32), lists.ranks.view(np.uint32))
    later = np.diff(subscribers.indptr)[lists.topic_ids] - lists.ranks
    steps = np.diff(np.concatenate([[0], np.cumsum(later)])[lists.indptr])
    most = int(np.diff(lists.indptr).max(initial=0))
    kind: type[np.unsignedinteger[Any]] = np.uint16 if most <= np.iinfo(np.uint16).max else np.uint32

    def raise_overlaps(turns: Iterator[Chunk], ticks: Ticks) -> Counts:
        overlaps = np.zeros(len(lists.topic_ids), kind)
        for nodes in turns:
            kernel.raise_overlaps(unsigned, subscribers, nodes, overlaps, ticks)
        return overlaps

    by_thread = on_all_cores(raise_overlaps, balanced_chunks(steps), "bounding the degree", progress)
    found: Counts = np.maximum.reduce(by_thread)
    return found
