"""Resilience in parts: topics that the failure of no node cuts, made of parts of which that holds.

In each part, a topic of three or more has no cut node. What others must know of a part are two stars of each
topic, or all its subscribers if these are fewer. A part stands for a *ring* of its stars: if links between
stars of different parts, together with the rings, leave no topic a cut node, then neither do they together
with the parts themselves. For without any one node, a part still connects its other stars as the ring does.
"""

from dataclasses import dataclass

import numpy as np

from meshwright.construct.augmenting import Augmentation
from meshwright.construct.greedy import GreedyProblem
from meshwright.construct.neighbours import run_wanted
from meshwright.construct.options import UNLIMITED
from meshwright.construct.parts.star_sets import star_set
from meshwright.construct.parts.topic_lists import Lists, take_lists
from meshwright.construct.resilient import spare_deleted
from meshwright.kernels.core.subgraphs import interest_ranks
from meshwright.runtime.arrays import Flags, Ids, Offsets, Ticks


@dataclass(frozen=True)
class _ListedInterests:
    """Lists in both directions, as the greedy of blocks reads them; nodes are rows."""

    indptr: Offsets
    topic_ids: Ids
    topic_indptr: Offsets
    node_ids: Ids

    @property
    def node_count(self) -> int:
        """How many rows there are."""
        return len(self.indptr) - 1

    @property
    def topic_count(self) -> int:
        """How many topics there are."""
        return len(self.topic_indptr) - 1

    def __len__(self) -> int:
        """How many interests there are."""
        return len(self.topic_ids)


def star_pairs(lists: Lists, topic_count: int, order: Ids, wanted: Flags) -> Ids:
    """Rows, in the order of choice, of which two have each wanted topic, or all that have it."""
    first = star_set(lists.indptr, lists.topic_ids, topic_count, order, wanted)
    counts = np.bincount(take_lists(lists, first).topic_ids, minlength=topic_count)
    others = order[~np.isin(order, first)]
    second = star_set(lists.indptr, lists.topic_ids, topic_count, others, wanted & (counts < 2))
    return np.concatenate([first, second])


def take_resilient(
    problem: GreedyProblem, lists: Lists, groups: Ids | None, ticks: Ticks, bulk: int = -1
) -> Ids:
    """Links between rows of `lists` that leave no topic a cut node, given that groups have none.

    `groups` has one for each row; without, each row is one of its own, and no link that could be left out
    stays. `problem` is that of the same rows, groups and topics. Topics that only one group has get none. To
    the group `bulk` others are linked; it wants no links itself.
    """
    if not problem.topic_count:
        return np.empty((0, 2), np.int32)
    wanted = _wanted_outside(problem, groups, bulk)
    taken = run_wanted(problem, wanted, np.full(len(problem.nodes), UNLIMITED), None, ticks)
    some = _both_ways(lists)
    rings = _rings(some, groups) if groups is not None else None
    grown = Augmentation(some, np.arange(some.node_count, dtype=np.int32), rings=rings)
    grown.take_all(taken)
    grown.thicken(ticks)
    return spare_deleted(some, grown.edges, None, ticks) if groups is None else grown.edges


def _both_ways(lists: Lists) -> _ListedInterests:
    topic_count = int(lists.topic_ids.max(initial=-1)) + 1
    order = np.argsort(lists.topic_ids, kind="stable")
    rows = np.repeat(np.arange(len(lists.nodes), dtype=np.int32), np.diff(lists.indptr))
    counts = np.bincount(lists.topic_ids, minlength=topic_count)
    return _ListedInterests(
        indptr=lists.indptr - lists.indptr[0],
        topic_ids=lists.topic_ids,
        topic_indptr=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        node_ids=np.ascontiguousarray(rows[order]),
    )


def _wanted_outside(problem: GreedyProblem, groups: Ids | None, bulk: int) -> Ids:
    """By interest of the problem: the neighbours that it wants in other groups.

    A group of one wants two, as far as there are others; of a larger one, the first two want one each, unless
    it is `bulk`.
    """
    topics = problem.topic_ids
    sizes = np.bincount(topics, minlength=problem.topic_count)
    if groups is None:
        alone: Ids = np.minimum(2, sizes - 1)[topics].astype(np.int32)
        return alone
    own = np.repeat(groups[problem.nodes], np.diff(problem.indptr)).astype(np.int64)
    ranks, counts = _ranks(topics.astype(np.int64) * (int(own.max(initial=0)) + 1) + own)
    single = np.minimum(2, sizes[topics] - 1)
    found: Ids = np.where(counts == 1, single, ranks < 2).astype(np.int32)
    found[own == bulk] = 0
    return found


def _ranks(keys: Offsets) -> tuple[Offsets, Offsets]:
    """By item: how many before it have the same key, and how many there are with it."""
    order = np.argsort(keys, kind="stable")
    _, first, inverse, counts = np.unique(
        keys[order], return_index=True, return_inverse=True, return_counts=True
    )
    ranks, each = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
    ranks[order] = np.arange(len(keys)) - first[inverse]
    each[order] = counts[inverse]
    return ranks, each


def _rings(some: _ListedInterests, groups: Ids) -> Ids:
    """Rows of (topic, rank, rank): in each topic, a ring of the subscribers of each group."""
    rows = np.repeat(np.arange(some.node_count), np.diff(some.indptr))
    ranks = interest_ranks(some.topic_ids.copy(), some.topic_count)
    order = np.lexsort((rows, groups[rows], some.topic_ids))
    topics, own, places = some.topic_ids[order], groups[rows][order], ranks[order]
    starts = np.flatnonzero(np.r_[True, (np.diff(topics) != 0) | (np.diff(own) != 0)])
    sizes = np.diff(np.append(starts, len(order)))
    following = np.arange(1, len(order) + 1)
    following[starts + sizes - 1] = starts  # the last is linked to the first
    of_size = np.repeat(sizes, sizes)
    last = np.zeros(len(order), np.bool_)
    last[starts + sizes - 1] = True
    linked = (of_size > 2) | ((of_size == 2) & ~last)
    found: Ids = np.column_stack([topics, places, places[following]])[linked]
    return np.ascontiguousarray(found, np.int32)
