"""Connectivity and diameters of every topic's sub-overlay, and the clustering of the overlay."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from meshwright.kernels.core import subgraphs
from meshwright.kernels.core.subgraphs import Links, TopicGraphs, TopicLists
from meshwright.kernels.metrics.clustering import count_triangles, upward_links
from meshwright.kernels.metrics.diameters import EXACT, NO_BUDGET
from meshwright.kernels.metrics.diameters import measure_topics as measure_kernel
from meshwright.kernels.metrics.weighted_diameters import weighted_topic_diameters
from meshwright.metrics.condensed import CondensedMeasures, condense_overlay
from meshwright.metrics.resilience import Failures, add_failures
from meshwright.model.overlay import Overlay
from meshwright.runtime.arrays import Floats, Ids, Offsets, Ticks
from meshwright.runtime.parallel import Chunk, balanced_chunks, on_all_cores
from meshwright.runtime.progress import Progress, run_with_ticks

_EDGES_AT_ONCE = 1 << 25
"""Edges of sub-overlays held at the same time, at 8 bytes each, or 12 with costs."""

ByNodes = dict[Chunk, Offsets]
"""For each chunk of nodes, a number for each topic."""


@dataclass(frozen=True, kw_only=True)
class TopicMeasures:
    """By topic: subscribers, components, diameter, weighted diameter (-1: not connected, not asked for).

    `links` are those of its sub-overlay, and `costs` what they cost together, 0 where links have no cost.
    Where diameters are upper bounds, `least_diameters` and `least_weighted_diameters` are lower ones, and
    elsewhere the same. `failures` are what single failures would cut.
    """

    sizes: Offsets
    components: Ids
    diameters: Ids
    weighted_diameters: Floats
    links: Offsets
    costs: Floats
    least_diameters: Ids
    least_weighted_diameters: Floats
    failures: Failures


class Measured(NamedTuple):
    """The measures of all topics, and the clustering coefficient of the overlay."""

    topics: TopicMeasures
    clustering: float


DIAMETER_BUDGET = 1 << 24
"""The links that the searches for one topic's diameter look at, unless said otherwise: 0.1 s."""


def budget_of(diameters: bool, budget: int | None) -> int:
    """What kernels take as a budget: none where diameters are not asked for, without end where it is None."""
    if not diameters:
        return NO_BUDGET
    return EXACT if budget is None else max(budget, 1)


def prepare(overlay: Overlay, progress: Progress | None = None) -> tuple[Links, TopicLists]:
    """The neighbours of each node, and its topics with its rank in each: what the kernels read."""
    interests = overlay.interests

    def read(ticks: Ticks) -> tuple[Links, TopicLists]:
        del ticks
        ranks = subgraphs.interest_ranks(interests.topic_ids, interests.topic_count)
        links = subgraphs.links_of(overlay.edges, interests.node_count)
        return links, TopicLists(interests.indptr, interests.topic_ids, ranks)

    return run_with_ticks(read, "reading the overlay", 0, progress)


class _Subscribed(NamedTuple):
    """Topics to measure: those of each node with its rank in each, and the subscribers by topic."""

    lists: TopicLists
    starts: Offsets
    subscribers: Ids


def measure_topics(
    overlay: Overlay, links: Links, lists: TopicLists, *, budget: int, progress: Progress | None = None
) -> Measured:
    """Components of all topics, diameters, or bounds on them, within a budget (`budget_of`), and cuts.

    A large overlay around hubs is condensed (`metrics/condensed.py`); what that does not settle, and other
    overlays, are measured topic by topic.
    """
    interests = overlay.interests
    every = _Subscribed(lists, interests.topic_indptr, interests.node_ids)
    condensed = condense_overlay(overlay, links, lists, budget, progress)
    if condensed is None:
        topics = _measure_graphs(overlay, links, every, budget, progress)
        return Measured(topics, clustering_coefficient(links, progress))
    topics = settled(condensed, np.diff(interests.topic_indptr))
    left = np.flatnonzero(condensed.results.unsettled)
    if len(left):
        some = _measure_graphs(overlay, links, _only(every, left), budget, progress)
        write_some(topics, left, some)
    return Measured(topics, mean_coefficient(np.diff(links.indptr), condensed.triangles))


def settled(condensed: CondensedMeasures, sizes: Offsets) -> TopicMeasures:
    """The measures of condensed topics; those of unsettled ones are to be overwritten."""
    results, hubs = condensed.results, condensed.hubs
    weighted = np.full((2, len(sizes)), -1.0)
    failures = Failures.none(len(sizes), hubs.node_count)
    failures.cut_nodes[:], failures.bridges[:] = results.cut_nodes, results.bridges
    owners = np.repeat(hubs.nodes, np.diff(hubs.topics.indptr))
    lost = np.where(results.unsettled[hubs.topics.topic_ids], 0, results.lost)
    failures.add(owners, lost)
    return TopicMeasures(
        sizes=sizes,
        components=results.components,
        diameters=results.diameters,
        weighted_diameters=weighted[0],
        links=condensed.links,
        costs=np.zeros(len(sizes)),
        least_diameters=results.least,
        least_weighted_diameters=weighted[1],
        failures=failures,
    )


def write_some(topics: TopicMeasures, left: Offsets, some: TopicMeasures) -> None:
    """Write the measures of the topics `left`, which are numbered from 0 on in `some`."""
    for name in ("components", "diameters", "least_diameters"):
        getattr(topics, name)[left] = getattr(some, name)
    for name in ("cut_nodes", "bridges"):
        getattr(topics.failures, name)[left] = getattr(some.failures, name)
    for name in ("topics_cut", "cut_off"):
        getattr(topics.failures, name)[:] += getattr(some.failures, name)


def _only(every: _Subscribed, topics: Offsets) -> _Subscribed:
    """Some topics, numbered from 0 on."""
    numbers = np.full(len(every.starts) - 1, -1, np.int32)
    numbers[topics] = np.arange(len(topics), dtype=np.int32)
    own = numbers[every.lists.topic_ids]
    keep = own >= 0
    indptr = np.concatenate([[0], np.cumsum(keep)])[every.lists.indptr]
    parts = [every.subscribers[every.starts[topic] : every.starts[topic + 1]] for topic in topics]
    starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    return _Subscribed(
        TopicLists(indptr, own[keep], every.lists.ranks[keep]), starts, np.concatenate([NO_IDS, *parts])
    )


NO_IDS: Ids = np.empty(0, np.int32)


def _measure_graphs(
    overlay: Overlay, links: Links, some: _Subscribed, budget: int, progress: Progress | None
) -> TopicMeasures:
    """Measure topics by their sub-overlays.

    The sub-overlays of all topics are made at once, by looking at each edge's common topics; those together
    are about as many as the interests where the overlay is a good one. Above 2^25 the topics are taken in
    several rows, so working memory is bounded by that, 4 bytes per interest, 16 per edge, and, for each
    thread, 32 a topic.
    """
    lists, topic_count = some.lists, len(some.starts) - 1
    counts = _count_edges(links, lists, topic_count, progress)
    measures = TopicMeasures(
        sizes=np.diff(some.starts),
        components=np.zeros(topic_count, np.int32),
        diameters=np.full(topic_count, -1, np.int32),
        weighted_diameters=np.full(topic_count, -1.0),
        links=_total(counts, (0, topic_count)),
        costs=np.zeros(topic_count),
        least_diameters=np.full(topic_count, -1, np.int32),
        least_weighted_diameters=np.full(topic_count, -1.0),
        failures=Failures.none(topic_count, overlay.interests.node_count),
    )
    for row in topic_rows(measures.links, _EDGES_AT_ONCE):
        graphs, places = _room(measures.sizes, counts, row, with_edge_ids=overlay.costs is not None)
        _fill(graphs, links, lists, places, progress)
        _measure(graphs, measures, budget, overlay.costs, progress)
        add_failures(graphs, some.subscribers, some.starts, measures.failures, progress)
        if overlay.costs is not None:
            _add_costs(graphs, measures, overlay.costs)
    return measures


def _count_edges(links: Links, lists: TopicLists, topic_count: int, progress: Progress | None) -> ByNodes:
    """How many of the edges that belong to a chunk of nodes each topic's sub-overlay has."""
    chunks = balanced_chunks(np.diff(links.indptr), chunks_a_thread=2)
    counts = {nodes: np.zeros(topic_count, np.int64) for nodes in chunks}

    def count(turns: Iterator[Chunk], ticks: Ticks) -> None:
        for nodes in turns:
            subgraphs.count_topic_edges(lists, links, nodes, counts[nodes], ticks)

    on_all_cores(count, chunks, "counting edges by topic", progress)
    return counts


def _total(counts: ByNodes, topics: Chunk) -> Offsets:
    """The edges of each of the topics, of all nodes."""
    first, last = topics
    return sum((found[first:last] for found in counts.values()), np.zeros(last - first, np.int64))


def topic_rows(edges: Offsets, most: int) -> list[Chunk]:
    """Ranges of topics that together have at most `most` edges, or that are a single topic."""
    cuts, reached = [0], np.cumsum(edges)
    while cuts[-1] < len(edges):
        before = reached[cuts[-1] - 1] if cuts[-1] else 0
        end = int(np.searchsorted(reached, before + most, side="right"))
        cuts.append(max(end, cuts[-1] + 1))
    return list(pairwise(cuts))


def _room(
    sizes: Offsets, counts: ByNodes, topics: Chunk, *, with_edge_ids: bool
) -> tuple[TopicGraphs, ByNodes]:
    """Room for the sub-overlays of a row of topics, and where each chunk of nodes begins to write in it."""
    first, last = topics
    indptr = np.concatenate([[0], np.cumsum(_total(counts, topics))])
    places = {}
    free = indptr[:-1]
    for nodes, found in counts.items():
        places[nodes] = free.copy()
        free = free + found[first:last]
    ends = np.empty((indptr[-1], 2), np.int32)
    edge_ids = np.empty(indptr[-1] if with_edge_ids else 0, np.int32)
    return TopicGraphs(first, sizes[first:last], indptr, ends, edge_ids), places


def _fill(
    graphs: TopicGraphs, links: Links, lists: TopicLists, places: ByNodes, progress: Progress | None
) -> None:
    """Write the sub-overlays; the chunks of nodes stand side by side in each, in their order."""

    def fill(turns: Iterator[Chunk], ticks: Ticks) -> None:
        for nodes in turns:
            subgraphs.fill_topic_edges(lists, links, nodes, graphs, places[nodes], ticks)

    on_all_cores(fill, list(places), "sorting edges by topic", progress)


def _measure(
    graphs: TopicGraphs,
    measures: TopicMeasures,
    budget: int,
    costs: Floats | None,
    progress: Progress | None,
) -> None:
    """Write the measures of the topics whose sub-overlays these are."""

    def measure(turns: Iterator[Chunk], ticks: Ticks) -> None:
        for first, last in turns:
            here = slice(graphs.first_topic + first, graphs.first_topic + last)
            some = graphs._replace(sizes=measures.sizes[here], indptr=graphs.indptr[first : last + 1])
            found = measures.components[here], measures.diameters[here], measures.least_diameters[here]
            measure_kernel(some, *found, budget, ticks)
            if costs is not None and budget:
                weighted = measures.weighted_diameters[here], measures.least_weighted_diameters[here]
                weighted_topic_diameters(some, costs, found[0], *weighted, budget, ticks)

    on_all_cores(
        measure, balanced_chunks(graphs.sizes + np.diff(graphs.indptr)), "measuring topics", progress
    )


def _add_costs(graphs: TopicGraphs, measures: TopicMeasures, costs: Floats) -> None:
    """Write what the links of the topics whose sub-overlays these are cost."""
    topics = np.repeat(np.arange(len(graphs.sizes)), np.diff(graphs.indptr))
    found = np.bincount(topics, costs[graphs.edge_ids], minlength=len(graphs.sizes))
    measures.costs[graphs.first_topic : graphs.first_topic + len(found)] = found


def clustering_coefficient(links: Links, progress: Progress | None = None) -> float:
    """The mean over all nodes of the local clustering coefficient, in the whole overlay.

    That of a node is the share of pairs of its neighbours that are linked, 0 with fewer than two neighbours
    (as networkx.average_clustering); without nodes it is 0. O(|E|^1.5).
    """
    degrees = np.diff(links.indptr)
    if not len(degrees):
        return 0.0
    upward = run_with_ticks(lambda ticks: upward_links(links), "directing links", 0, progress)

    def count(turns: Iterator[Chunk], ticks: Ticks) -> Offsets:
        triangles = np.zeros(len(degrees), np.int64)
        for nodes in turns:
            count_triangles(upward, nodes, triangles, ticks)
        return triangles

    chunks = balanced_chunks(np.diff(upward.indptr))
    triangles = np.sum(on_all_cores(count, chunks, "counting triangles", progress), axis=0)
    return mean_coefficient(degrees, triangles)


def mean_coefficient(degrees: Offsets, triangles: Offsets) -> float:
    """The same, of the links of each node and the triangles that it is a corner of."""
    if not len(degrees):
        return 0.0
    pairs = degrees * (degrees - 1) / 2
    return float(np.mean(triangles / np.maximum(pairs, 1)))
