"""Large overlays around hubs: components, diameters and cuts of all topics in one pass over lists and edges.

Where every edge has one of few hubs at an end, as in the overlays of `dcbc-direct`, all other nodes condense
to a few numbers for each topic of each hub (`kernels/metrics/condensed.py`). The time is linear in interests
and links, and memory beyond them grows with the hubs alone. Whether an overlay is measured so depends on its
numbers alone, never on the engine.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from meshwright.kernels.core.subgraphs import Links, TopicLists, links_of
from meshwright.kernels.metrics.clustering import count_triangles, upward_links
from meshwright.kernels.metrics.condensed import Condensed, HubTopics, Rows, condense, link_hubs
from meshwright.kernels.metrics.condensed_topics import TopicResults, measure_condensed
from meshwright.metrics.statistics import greatest
from meshwright.model.overlay import Overlay
from meshwright.runtime.arrays import Ids, Longs, Offsets, Ticks, Words
from meshwright.runtime.parallel import Chunk, balanced_chunks, on_all_cores
from meshwright.runtime.progress import Progress, run_with_ticks

FEWEST_INTERESTS = 1 << 22
"""With fewer, whole graphs of topics are measured in seconds."""

_MOST_HUBS = 1 << 14
_NODES_A_HUB = 8
"""With fewer, little is left to condense."""
_MOST_HUB_INTERESTS = 1 << 24
"""Interests of all hubs together: 64 MB in every task."""
_MOST_WORDS = 1 << 24
"""Words of the matrices of all topics: 128 MB in every task."""
_MOST_BITSET_WORDS = 1 << 22
"""Words of the bitsets of all hubs: 48 MB in every task, with the counts beside them."""
_MOST_SQUARES = 64
"""Steps for each link, on average: a light node takes the square of its links."""


def choose_hubs(degrees: Offsets) -> Ids:
    """Nodes that may have an end of every edge, rising; none where there are no such few.

    The ends of hubs are at least as many as the edges. From the fewest nodes for which that holds, in the
    order of links, to twice as many, the cut is where the number of links falls most.
    """
    edges = int(degrees.sum()) // 2
    most = greatest(degrees, 2 * _MOST_HUBS + 1)
    links = degrees[most]
    fewest = int(np.searchsorted(np.cumsum(links), edges)) + 1
    counts = np.arange(fewest, min(2 * fewest, _MOST_HUBS, len(links)) + 1)
    if not edges or not len(counts):
        return np.empty(0, np.int32)
    after = np.append(links, 0)[counts]
    falls = links[counts - 1] / np.maximum(after, 1)
    cut = int(counts[np.argmax(falls)])
    others = float(np.sum(degrees.astype(np.float64) ** 2) - np.sum(links[:cut].astype(np.float64) ** 2))
    if falls.max() <= 1 or _NODES_A_HUB * cut > len(degrees) or others > _MOST_SQUARES * edges:
        return np.empty(0, np.int32)
    return np.sort(most[:cut]).astype(np.int32)


class Hubs(NamedTuple):
    """Hubs, rising, with their topics in both directions, and the edges between them."""

    nodes: Ids
    topics: HubTopics
    by_topic: Rows  # interests of hubs
    edges: Ids  # (m, 2), numbers of hubs
    adjacent: Words  # (hubs, words): a bit for each two that are linked
    node_count: int

    @property
    def topic_count(self) -> int:
        """How many topics there are."""
        return len(self.topics.starts)

    def numbers(self) -> Ids:
        """By node: its number among the hubs, or -1."""
        found = np.full(self.node_count, -1, np.int32)
        found[self.nodes] = np.arange(len(self.nodes), dtype=np.int32)
        return found

    def nothing(self) -> Condensed:
        """No light node yet."""
        return Condensed(
            alone=np.zeros(self.topic_count, np.int64),
            links=np.zeros(self.topic_count, np.int64),
            leaves=np.zeros(len(self.topics.topic_ids), np.int64),
            joined=np.zeros(_words(self.topics, self.by_topic), np.uint64),
            hub_triangles=np.zeros(len(self.nodes), np.int64),
        )


def _words(topics: HubTopics, by_topic: Rows) -> int:
    return int(np.sum(np.diff(by_topic.indptr) * topics.row_words))


def hubs_of(
    nodes: Ids, indptr: Offsets, topic_ids: Ids, edges: Ids, topic_count: int, node_count: int
) -> Hubs | None:
    """The hubs `nodes`, with their topics as a CSR and the edges between them.

    None where there are none, or their matrices would take too much memory.
    """
    if not len(nodes) or len(topic_ids) > _MOST_HUB_INTERESTS:
        return None
    counts = np.bincount(topic_ids, minlength=topic_count)
    starts = np.concatenate([[0], np.cumsum(counts)])
    order = np.argsort(topic_ids, kind="stable")
    ranks = np.empty(len(order), np.int32)
    ranks[order] = np.arange(len(order)) - np.repeat(starts[:-1], counts)
    row_words = -(-counts // 64)
    words = np.concatenate([[0], np.cumsum(counts * row_words)])
    if words[-1] > _MOST_WORDS:
        return None
    bits, before = _bitsets(indptr, topic_ids, topic_count)
    topics = HubTopics(indptr, np.array(topic_ids), bits, before, ranks, row_words, words[:-1].copy())
    own = np.searchsorted(nodes, edges).astype(np.int32)
    adjacent = np.zeros((len(nodes), -(-len(nodes) // 64)), np.uint64)
    for u, v in (own.T, own.T[::-1]):
        np.bitwise_or.at(adjacent, (u, v >> 6), np.uint64(1) << (v & 63).astype(np.uint64))
    return Hubs(nodes, topics, Rows(starts, order.astype(np.int32)), own, adjacent, node_count)


def _bitsets(indptr: Offsets, topic_ids: Ids, topic_count: int) -> tuple[Words, Ids]:
    """The topics of each hub as bits, and how many are in the words before each; none if these are many."""
    hubs, words = len(indptr) - 1, -(-topic_count // 64)
    if hubs * words > _MOST_BITSET_WORDS:
        words = 0
    bits, before = np.zeros((hubs, words), np.uint64), np.zeros((hubs, words), np.int32)
    if words:
        owners = np.repeat(np.arange(hubs), np.diff(indptr))
        values = np.uint64(1) << (topic_ids & 63).astype(np.uint64)
        np.bitwise_or.at(bits, (owners, topic_ids >> 6), values)
        np.add.at(before, (owners, topic_ids >> 6), 1)
        before[:, 1:] = np.cumsum(before, axis=1)[:, :-1]
        before[:, 0] = 0
    return bits, before


@dataclass(frozen=True, kw_only=True)
class CondensedMeasures:
    """By topic as `TopicResults`, and the links of its sub-overlay; by node, its triangles."""

    hubs: Hubs
    results: TopicResults
    links: Offsets
    triangles: Offsets


def measure(
    hubs: Hubs, found: Condensed, triangles: Offsets, budget: int, progress: Progress | None = None
) -> CondensedMeasures:
    """Measure all topics, on all cores, once every light node is in `found`.

    `triangles` has those of light nodes, and gets those of the hubs.
    """
    linked, links = np.zeros_like(found.joined), found.links.copy()
    inner = run_with_ticks(lambda ticks: _link(hubs, linked, links, ticks), "linking hubs", 0, progress)
    topics = hubs.topics
    components, diameters, least, cut_nodes, bridges = np.zeros((5, hubs.topic_count), np.int32)
    lost, unsettled = np.zeros(len(topics.topic_ids), np.int64), np.zeros(hubs.topic_count, np.bool_)
    results = TopicResults(components, diameters, least, cut_nodes, bridges, lost, unsettled)

    def work(turns: Iterator[Chunk], ticks: Ticks) -> None:
        for chunk in turns:
            measure_condensed(topics, hubs.by_topic, linked, found, chunk, results, budget, ticks)

    chunks = balanced_chunks(np.diff(hubs.by_topic.indptr) * topics.row_words)
    on_all_cores(work, chunks, "measuring topics", progress)
    triangles[hubs.nodes] = inner + found.hub_triangles
    return CondensedMeasures(hubs=hubs, results=results, links=links, triangles=triangles)


def _link(hubs: Hubs, linked: Words, links: Longs, ticks: Ticks) -> Longs:
    """Write the edges between hubs by topic; the triangles of hubs alone."""
    link_hubs(hubs.topics, hubs.edges, linked, links)
    triangles = np.zeros(len(hubs.nodes), np.int64)
    upward = upward_links(links_of(hubs.edges, len(hubs.nodes)))
    count_triangles(upward, (0, len(hubs.nodes)), triangles, ticks)
    return triangles


def condense_overlay(
    overlay: Overlay, links: Links, lists: TopicLists, budget: int, progress: Progress | None
) -> CondensedMeasures | None:
    """Measure an overlay in memory by its hubs; None where it is small, has costs, or is not around hubs."""
    hubs = _hubs_in(overlay, np.diff(links.indptr))
    if hubs is None:
        return None
    numbers = hubs.numbers()
    is_hub, neighbours = numbers >= 0, numbers[links.nodes]
    triangles = np.zeros(hubs.node_count, np.int64)

    def work(turns: Iterator[Chunk], ticks: Ticks) -> Condensed:
        own = hubs.nothing()
        for first, last in turns:
            here = slice(first, last)
            topics = Rows(lists.indptr[first : last + 1].copy(), lists.topic_ids)
            own_links = Rows(links.indptr[first : last + 1], neighbours)
            condense(topics, own_links, is_hub[here], hubs.topics, hubs.adjacent, own, triangles[here], ticks)
        return own

    chunks = balanced_chunks(np.diff(lists.indptr))
    found = merged(hubs, on_all_cores(work, chunks, "condensing topics", progress))
    return measure(hubs, found, triangles, budget, progress)


def merged(hubs: Hubs, parts: Iterable[Condensed]) -> Condensed:
    """What several pieces contribute together."""
    found = hubs.nothing()
    for part in parts:
        for name, total in found._asdict().items():
            (np.bitwise_or if name == "joined" else np.add)(total, getattr(part, name), out=total)
    return found


def _hubs_in(overlay: Overlay, degrees: Offsets) -> Hubs | None:
    interests = overlay.interests
    if overlay.costs is not None or len(interests) < FEWEST_INTERESTS:
        return None
    nodes = choose_hubs(degrees)
    is_hub = np.zeros(interests.node_count, np.bool_)
    is_hub[nodes] = True
    ends = is_hub[overlay.edges]
    if not ends.any(axis=1).all():
        return None
    between = overlay.edges[ends.all(axis=1)]
    indptr, topic_ids = _lists_of(interests.indptr, interests.topic_ids, nodes)
    return hubs_of(nodes, indptr, topic_ids, between, interests.topic_count, interests.node_count)


def _lists_of(indptr: Offsets, topic_ids: Ids, nodes: Ids) -> tuple[Offsets, Ids]:
    """The topics of some nodes, as a CSR."""
    chosen: list[Ids] = [topic_ids[indptr[node] : indptr[node + 1]] for node in nodes]
    starts = np.concatenate([[0], np.cumsum([len(own) for own in chosen])]).astype(np.int64)
    return starts, np.concatenate([np.empty(0, np.int32), *chosen])
