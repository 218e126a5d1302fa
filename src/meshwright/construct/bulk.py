"""Bulk sets: a few nodes of many topics, chosen such that every other node can do with links to them."""

from dataclasses import dataclass

import numpy as np

from meshwright.construct.star_sets import star_set
from meshwright.errors import OptionError
from meshwright.kernels.arrays import Flags, Ids, Offsets
from meshwright.model.interests import Interests


@dataclass(frozen=True, kw_only=True)
class BulkSet:
    """The bulk nodes, and the others, which are the lightweight ones; both sorted by id.

    `threshold` is such that nodes of more topics are bulk; `added` counts the nodes that are bulk for the
    sake of topics that would otherwise have too few bulk subscribers.
    """

    bulk: Ids
    light: Ids
    threshold: int
    added: int


def choose_threshold(sizes: Offsets, at_most: int) -> int:
    """The smallest number of topics that at most `at_most` nodes exceed; linear ([1], VII, chooseEta)."""
    if at_most >= len(sizes):
        return 0
    place = len(sizes) - 1 - at_most
    return int(np.partition(sizes, place)[place])


def bulk_by_threshold(
    interests: Interests, *, threshold: int | None, bulk_share: float, bulk_limit: int
) -> BulkSet:
    """The nodes of more than `threshold` topics, and as many more as it takes to cover every topic.

    Without a threshold it is the smallest that leaves at most `bulk_share` of the nodes, and no more than
    `bulk_limit`, above it. Every topic of two subscribers has one in the bulk set; a topic of one needs no
    cover. Linear in the interests. Source: [1], Alg. 6, lines 1 to 5; the limit is ours, since time grows
    with the bulk set times the nodes.
    """
    sizes = np.diff(interests.indptr)
    if threshold is None:
        threshold = choose_threshold(sizes, min(int(bulk_share * len(sizes)), bulk_limit))
    elif threshold > interests.topic_count:
        raise OptionError(
            f"threshold is {threshold} and there are {interests.topic_count} topics; give a number up to that"
        )
    chosen = sizes > threshold
    demand = np.where(_subscribers(interests) > 1, 1, 0)
    return _bulk_set(interests, chosen, threshold, demand)


def bulk_by_size(
    interests: Interests, order: Ids, *, bulk_size: int, most_topics: int, crowd: int
) -> BulkSet:
    """The `bulk_size` nodes of most topics, and more where a topic would crowd the few that have it.

    Ties go to the earlier node in `order`. Every topic of two subscribers has a bulk subscriber for each
    `crowd` of its subscribers, so that none has to take all links of a popular topic; nodes of more than
    `most_topics` are always bulk. Linear in the interests, for each of a few rounds.
    """
    sizes = np.diff(interests.indptr)
    largest = order[np.argsort(-sizes[order], kind="stable")[:bulk_size]]
    chosen = sizes > most_topics
    chosen[largest] = True
    chosen &= sizes > 0
    subscribers = _subscribers(interests)
    demand = np.where(subscribers > 1, -(-subscribers // crowd), 0)
    threshold = int(sizes[~chosen].max(initial=0))
    return _bulk_set(interests, chosen, threshold, demand)


def _subscribers(interests: Interests) -> Offsets:
    return np.bincount(interests.topic_ids, minlength=interests.topic_count)


def _bulk_set(interests: Interests, chosen: Flags, threshold: int, demand: Offsets) -> BulkSet:
    complete = _meet_demand(interests, chosen, demand)
    return BulkSet(
        bulk=np.flatnonzero(complete).astype(np.int32),
        light=np.flatnonzero(~complete).astype(np.int32),
        threshold=threshold,
        added=int(complete.sum() - chosen.sum()),
    )


def _meet_demand(interests: Interests, chosen: Flags, demand: Offsets) -> Flags:
    """Add star sets of the other nodes until each topic has as many bulk subscribers as demanded.

    A round gives each topic that lacks any at least one more, so there are as many rounds as the greatest
    lack.
    """
    sizes = np.diff(interests.indptr)
    chosen = chosen.copy()
    while True:
        of_bulk = interests.topic_ids[np.repeat(chosen, sizes)]
        lacking = np.bincount(of_bulk, minlength=interests.topic_count) < demand
        if not lacking.any():
            return chosen
        others = np.flatnonzero(~chosen).astype(np.int32)
        stars = star_set(interests.indptr, interests.topic_ids, interests.topic_count, others, lacking)
        chosen[stars] = True
