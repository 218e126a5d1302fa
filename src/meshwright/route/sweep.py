"""Many publications at once, by kernels that count what the protocols would do."""

from collections.abc import Callable, Iterator

import numpy as np

from meshwright.evaluate.cores import Chunk, balanced_chunks, on_all_cores
from meshwright.kernels.arrays import Ids, Offsets
from meshwright.kernels.routing_arrays import RoutingTables, Tally, TopicLinks, Weather
from meshwright.model.fingers import Fingers
from meshwright.model.interests import Interests
from meshwright.progress import Progress, Ticks
from meshwright.route.counts import empty_tally
from meshwright.route.peers import Peers
from meshwright.route.publications import Publications

Kernel = Callable[[Tally, Chunk, Ticks], None]


def sweep_flood(
    links: TopicLinks,
    interests: Interests,
    publications: Publications,
    weather: Weather,
    progress: Progress | None = None,
) -> Tally:
    """Flood over the links of topics, on all cores; the counts don't depend on their number."""
    from meshwright.kernels.flooding import route_flood

    issuers = publications.slots.astype(np.int32)

    def carry(tally: Tally, numbers: Chunk, ticks: Ticks) -> None:
        route_flood(links, weather, tally, issuers, numbers, ticks)

    work = np.diff(links.indptr[links.topic_indptr])[publications.topics]
    return _sweep(carry, work, interests.node_count, progress)


def sweep_nsmf(
    fingers: Fingers,
    peers: Peers,
    interests: Interests,
    publications: Publications,
    weather: Weather,
    progress: Progress | None = None,
) -> Tally:
    """Route by NSMF, on all cores; the counts don't depend on their number."""
    from meshwright.kernels.nsmf import route_nsmf

    places = _places(interests, fingers)
    tables = _tables(interests, fingers, peers, places)
    issuers = places[publications.slots]

    def carry(tally: Tally, numbers: Chunk, ticks: Ticks) -> None:
        route_nsmf(tables, weather, tally, publications.topics, issuers, numbers, ticks)

    work = np.diff(interests.topic_indptr)[publications.topics]
    return _sweep(carry, work, interests.node_count, progress)


def _places(interests: Interests, fingers: Fingers) -> Ids:
    """Where each interest, sorted by topic and then by node, stands when sorted by topic and position."""
    topics = np.repeat(np.arange(interests.topic_count), np.diff(interests.topic_indptr))
    places = np.empty(len(interests), np.int32)
    around = np.lexsort((fingers.positions[interests.node_ids], topics))
    places[around] = np.arange(len(interests), dtype=np.int32)
    return places


def _tables(interests: Interests, fingers: Fingers, peers: Peers, places: Ids) -> RoutingTables:
    from meshwright.kernels.nsmf import match_peers
    from meshwright.kernels.subgraphs import interest_ranks

    nodes = np.empty(len(interests), np.int32)
    nodes[places] = interests.node_ids
    ranks = interest_ranks(interests.topic_ids, interests.topic_count)
    by_node = places[interests.topic_indptr[interests.topic_ids] + ranks]
    indptr, matched = match_peers(
        interests.indptr, interests.topic_ids, by_node, nodes, peers.indptr, peers.nodes
    )
    return RoutingTables(
        space=fingers.space,
        positions=fingers.positions,
        peer_indptr=peers.indptr,
        peers=peers.nodes,
        peer_distances=peers.distances,
        topic_indptr=interests.topic_indptr,
        nodes=nodes,
        matched_indptr=indptr,
        matched=matched,
    )


def _sweep(carry: Kernel, work: Offsets, nodes: int, progress: Progress | None) -> Tally:
    """Share publications of so much `work` each among the cores; every thread has its counts by node."""
    whole = empty_tally(len(work), nodes)

    def run(turns: Iterator[Chunk], ticks: Ticks) -> Tally:
        own = whole._replace(received=np.zeros(nodes, np.int64), sent=np.zeros(nodes, np.int64))
        for numbers in turns:
            carry(own, numbers, ticks)
        return own

    for own in on_all_cores(run, balanced_chunks(work), "carrying publications", progress):
        np.add(whole.received, own.received, out=whole.received)
        np.add(whole.sent, own.sent, out=whole.sent)
    return whole
