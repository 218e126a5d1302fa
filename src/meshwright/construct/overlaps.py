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
    sizes = np.diff(subscribers.indptr).astype(np.float64)
    nodes, words = len(lists.indptr) - 1, -(-len(sizes) // 64)
    fits = np.diff(lists.indptr).max(initial=0) <= _MOST_TOPICS
    if fits and np.sum(sizes**2) > nodes**2 * (_A_PAIR + _A_WORD * words):
        return _by_bits(lists, subscribers, words, progress)
    return _by_walks(lists, subscribers, progress)


_A_PAIR, _A_WORD = 2.0, 0.25
"""What a pair of nodes, and a word of its bitsets, cost in steps of `_by_walks` (measured)."""


_MOST_TOPICS = 2**16 - 1
"""The most topics of a node that the counters of `_by_bits` can hold."""


def _by_bits(lists: TopicLists, subscribers: Subscribers, words: int, progress: Progress | None) -> Counts:
    nodes = len(lists.indptr) - 1
    columns = np.zeros((words, nodes), np.uint64)
    owners = np.repeat(np.arange(nodes), np.diff(lists.indptr))
    bits = np.uint64(1) << (lists.topic_ids & 63).astype(np.uint64)
    np.bitwise_or.at(columns, (lists.topic_ids >> 6, owners), bits)
    unsigned = TopicLists(lists.indptr, lists.topic_ids.view(np.uint32), lists.ranks.view(np.uint32))
    overlaps = np.zeros(len(lists.topic_ids), np.uint16)

    def write(turns: Iterator[Chunk], ticks: Ticks) -> None:
        for some in turns:
            kernel.overlaps_by_bits(unsigned, subscribers, columns, some, overlaps, ticks)

    on_all_cores(write, balanced_chunks(np.ones(nodes, np.int64)), "bounding the degree", progress)
    return overlaps


def _by_walks(lists: TopicLists, subscribers: Subscribers, progress: Progress | None) -> Counts:
    """The same where topics are small, at sum over t of |V(t)|² / 2 steps."""
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
