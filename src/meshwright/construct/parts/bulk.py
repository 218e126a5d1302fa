"""Bulk sets: a few nodes of many topics, chosen such that every other node can do with links to them."""

from dataclasses import dataclass

import numpy as np

from meshwright.construct.parts.interest_queries import Source
from meshwright.construct.parts.star_sets import star_set
from meshwright.construct.parts.topic_lists import Lists, join_lists, take_lists
from meshwright.runtime.arrays import Flags, Ids, Offsets
from meshwright.runtime.errors import OptionError


@dataclass(frozen=True, kw_only=True)
class BulkSet:
    """The bulk nodes, and the others, which are the lightweight ones; both sorted by id.

    `lists` has the topics of the bulk nodes. `threshold` is such that nodes of more topics are bulk; `added`
    counts the nodes that are bulk for the sake of topics that would otherwise have too few bulk subscribers.
    """

    bulk: Ids
    light: Ids
    lists: Lists
    threshold: int
    added: int


def choose_threshold(sizes: Offsets, at_most: int) -> int:
    """The smallest number of topics that at most `at_most` nodes exceed; linear ([1], VII, chooseEta)."""
    if at_most >= len(sizes):
        return 0
    place = len(sizes) - 1 - at_most
    return int(np.partition(sizes, place)[place])


def bulk_by_threshold(
    source: Source, *, threshold: int | None, bulk_share: float, bulk_limit: int
) -> BulkSet:
    """The nodes of more than `threshold` topics, and as many more as it takes to cover every topic.

    Without a threshold it is the smallest that leaves at most `bulk_share` of the nodes, and no more than
    `bulk_limit`, above it. Every topic of two subscribers has one in the bulk set; a topic of one needs no
    cover. Linear in the interests. Source: [1], Alg. 6, lines 1 to 5; the limit is ours, since time grows
    with the bulk set times the nodes.
    """
    sizes = source.sizes()
    if threshold is None:
        threshold = choose_threshold(sizes, min(int(bulk_share * len(sizes)), bulk_limit))
    elif threshold > source.topic_count:
        raise OptionError(
            f"threshold is {threshold} and there are {source.topic_count} topics; give a number up to that",
            option="threshold",
        )
    chosen = sizes > threshold
    demand = np.where(source.subscribers() > 1, 1, 0)
    return _bulk_set(source, chosen, threshold, demand)


def bulk_by_size(source: Source, order: Ids, *, bulk_size: int, most_topics: int, crowd: int) -> BulkSet:
    """The `bulk_size` nodes with the most topics, and more where a topic would crowd the few that have it.

    Ties go to the earlier node in `order`. Every topic of two subscribers has a bulk subscriber for each
    `crowd` of its subscribers, so that none has to take all links of a popular topic; nodes of more than
    `most_topics` are always bulk. Linear in the interests, for each of a few rounds.
    """
    sizes = source.sizes()
    largest = order[np.argsort(-sizes[order], kind="stable")[:bulk_size]]
    chosen = sizes > most_topics
    chosen[largest] = True
    chosen &= sizes > 0
    subscribers = source.subscribers()
    demand = np.where(subscribers > 1, -(-subscribers // crowd), 0)
    threshold = int(sizes[~chosen].max(initial=0))
    return _bulk_set(source, chosen, threshold, demand)


def _bulk_set(source: Source, chosen: Flags, threshold: int, demand: Offsets) -> BulkSet:
    """The chosen nodes, and those that it takes to give each topic as many bulk subscribers as demanded."""
    lists = source.lists(chosen)
    lack = demand - np.bincount(lists.topic_ids, minlength=len(demand))
    added = np.zeros(len(chosen), np.bool_)
    if (lack > 0).any():
        added[meet_demand(source.lists(~chosen, lack > 0), lack)] = True
        both = join_lists([lists, source.lists(added)])
        lists = take_lists(both, np.argsort(both.nodes).astype(np.int32))
    return BulkSet(
        bulk=lists.nodes,
        light=np.flatnonzero(~(chosen | added)).astype(np.int32),
        lists=lists,
        threshold=threshold,
        added=int(added.sum()),
    )


def meet_demand(candidates: Lists, lack: Offsets) -> Ids:
    """Nodes among `candidates` such that each topic has as many of them as it lacks bulk subscribers.

    The candidates come by id, with the topics that lack any, and no others need be among their topics. Star
    sets of them are taken until nothing is lacking: a round gives each topic that lacks any at least one
    more, so there are as many rounds as the greatest lack. Each is linear in the candidates' topics.
    """
    lack = lack.copy()
    left = np.ones(len(candidates.nodes), np.bool_)
    while (lack > 0).any():
        rows = np.flatnonzero(left).astype(np.int32)
        stars = star_set(candidates.indptr, candidates.topic_ids, len(lack), rows, lack > 0)
        left[stars] = False
        lack -= np.bincount(take_lists(candidates, stars).topic_ids, minlength=len(lack))
    return candidates.nodes[~left]
