"""What gossip views are like: how many links nodes have, and how fit the topics are for gossip."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from meshwright.metrics.statistics import distribution
from meshwright.model.dense import as_scipy
from meshwright.model.interests import Interests
from meshwright.model.views import Views
from meshwright.runtime.arrays import Floats, Ids, Offsets, Ticks
from meshwright.runtime.parallel import Chunk, balanced_chunks, on_all_cores
from meshwright.runtime.progress import Progress, run_with_ticks

MOST_SOURCES = 16_384
"""Subscribers from which paths are measured in one topic; diameters of larger topics are lower bounds."""


@dataclass(frozen=True, kw_only=True)
class LinkCounts:
    """By node: logical links (LVS of [5]), physical links (PVS), and in how many nodes' views it is."""

    logical: Offsets
    physical: Offsets
    held_by: Offsets

    def distributions(self) -> dict[str, dict[str, Any]]:
        """The distributions of the three over the nodes; see `distribution`."""
        own = {
            "logical_view_size": self.logical,
            "physical_view_size": self.physical,
            "in_views": self.held_by,
        }
        return {name: distribution(values) for name, values in own.items()}

    def to_json(self) -> dict[str, Any]:
        """The means over the nodes of LVS and PVS, and how unequally nodes are in the views of others."""
        nodes = max(1, len(self.logical))
        return {
            "logical_view_size": float(self.logical.sum()) / nodes,
            "physical_view_size": float(self.physical.sum()) / nodes,
            "in_view_deviation": float(self.held_by.std()) if len(self.held_by) else 0.0,
            "maximum_in_view": int(self.held_by.max(initial=0)),
        }


@dataclass(frozen=True, kw_only=True)
class Fitness:
    """By topic, over directed links: components, clustering coefficient, diameter.

    Within a strongly connected component everybody can reach everybody; a weakly connected one holds together
    if links are used in both directions. `unreached` counts the subscribers that are in no view, if
    there is anybody else. The clustering coefficient is the mean over the subscribers of the share of pairs
    of peers, in order, of which the first has the second in its view; 0 with fewer than two peers. The
    diameter is -1 where the topic is not strongly connected, or was not asked for.
    """

    components: Ids
    weak_components: Ids
    unreached: Offsets
    clustering: Floats
    diameters: Ids


def count_links(views: Views, progress: Progress | None = None) -> LinkCounts:
    """The link counts of all nodes, in O(logical links)."""
    from meshwright.kernels.gossip.views import count_peers

    interests, count = views.interests, views.interests.node_count
    own_slots = _slots_by_node(interests)
    sizes = np.diff(views.indptr)
    logical = np.bincount(interests.node_ids, weights=sizes, minlength=count).astype(np.int64)
    physical, held_by = np.zeros(count, np.int64), np.zeros(count, np.int64)

    arrays = interests.indptr, own_slots, views.indptr, views.peers, physical, held_by
    run_with_ticks(lambda ticks: count_peers(*arrays), "counting links", 0, progress)
    return LinkCounts(logical=logical, physical=physical, held_by=held_by)


def measure_fitness(views: Views, *, diameters: bool = True, progress: Progress | None = None) -> Fitness:
    """Components, clustering and diameters of all topics.

    Linear for components, O(k²) for the clustering of a view of k peers, and about n / 12 sweeps over the
    views of a topic of n subscribers for its diameter.
    """
    interests = views.interests
    found = np.full(interests.topic_count, -1, np.int32)
    strong, weak = run_with_ticks(
        lambda ticks: [_components(views, strong=strong) for strong in (True, False)],
        "finding components",
        0,
        progress,
    )
    if diameters:
        _measure_diameters(views, found, progress)
    return Fitness(
        components=strong,
        weak_components=weak,
        unreached=_unreached(views),
        clustering=_clustering(views, progress),
        diameters=found,
    )


def _slots_by_node(interests: Interests) -> Ids:
    """The slot of each interest, interests sorted by node."""
    slots = np.empty(len(interests), np.int32)
    slots[np.argsort(interests.topic_ids, kind="stable")] = np.arange(len(interests), dtype=np.int32)
    return slots


def _components(views: Views, *, strong: bool) -> Ids:
    from scipy.sparse.csgraph import connected_components

    interests, size = views.interests, len(views.indptr) - 1
    if not size:
        return np.zeros(interests.topic_count, np.int32)
    links = as_scipy(np.ones(len(views.slots), np.int8), views.indptr, views.slots, size)
    _, labels = connected_components(links, directed=True, connection="strong" if strong else "weak")
    # A component lies within one topic: count those that are first seen there.
    firsts = np.unique(labels, return_index=True)[1]
    topics = np.searchsorted(interests.topic_indptr, firsts, side="right") - 1
    return np.bincount(topics, minlength=interests.topic_count).astype(np.int32)


def _unreached(views: Views) -> Offsets:
    interests, subscribers = views.interests, np.diff(views.interests.topic_indptr)
    alone = np.bincount(views.slots, minlength=len(interests)) == 0
    topics = np.repeat(np.arange(interests.topic_count), subscribers)
    return np.bincount(topics[alone & (subscribers[topics] > 1)], minlength=interests.topic_count)


def _clustering(views: Views, progress: Progress | None) -> Floats:
    from meshwright.kernels.gossip.views import count_links_among_peers

    interests, sizes = views.interests, np.diff(views.indptr)
    counts = np.zeros(len(sizes), np.int64)

    def work(turns: Iterator[Chunk], ticks: Ticks) -> None:
        del ticks
        for chunk in turns:
            count_links_among_peers(views.indptr, views.slots, chunk, counts)

    on_all_cores(work, balanced_chunks(sizes**2), "measuring clustering", progress)
    shares = counts / np.maximum(sizes * (sizes - 1), 1)
    subscribers = np.diff(interests.topic_indptr)
    topics = np.repeat(np.arange(interests.topic_count), subscribers)
    sums = np.bincount(topics, weights=shares, minlength=interests.topic_count)
    return np.asarray(sums / np.maximum(subscribers, 1))


def _measure_diameters(views: Views, diameters: Ids, progress: Progress | None) -> None:
    from meshwright.kernels.gossip.views import topic_diameters

    interests = views.interests

    def work(turns: Iterator[Chunk], ticks: Ticks) -> None:
        for topics in turns:
            topic_diameters(
                interests.topic_indptr, topics, views.indptr, views.slots, MOST_SOURCES, diameters, ticks
            )

    subscribers = np.diff(interests.topic_indptr)
    work_of = subscribers * np.minimum(subscribers, MOST_SOURCES)
    on_all_cores(work, balanced_chunks(work_of), "measuring diameters", progress)
