"""`route`: carry publications over an overlay and count what it takes.

Kernels carry many publications at once. The simulator runs the protocols themselves: it is slower, and its
counts are the same.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from meshwright.kernels.routing.arrays import Faults, RoutingTables, Tally, TopicLinks
from meshwright.model.fingers import Fingers
from meshwright.model.interests import Interests
from meshwright.model.names import find
from meshwright.model.overlay import Overlay
from meshwright.net import Node, Simulator
from meshwright.routing import protocols
from meshwright.routing.measures import Counter, Routing, empty_tally, measured
from meshwright.routing.publications import Publications, PublicationSource, publications_of
from meshwright.routing.trees import topic_links, topic_trees
from meshwright.runtime.arrays import Flags, Ids, Offsets, Ticks
from meshwright.runtime.checks import check_choice, check_flag, check_fraction
from meshwright.runtime.errors import InputError, OptionError
from meshwright.runtime.parallel import Chunk, balanced_chunks, on_all_cores
from meshwright.runtime.progress import Progress, stage
from meshwright.runtime.seeds import generator
from meshwright.runtime.wording import type_of


def simulate_protocols(
    routers: Mapping[Node, protocols.Router[Any]],
    interests: Interests,
    publications: Publications,
    faults: Faults,
    progress: Progress | None = None,
) -> Tally:
    """Issue the publications one after another, each when the one before has come to rest."""
    from meshwright.kernels.core.hashing import is_lost

    def loses(source: Node, target: Node, message: protocols.Message, random: object) -> bool:
        del random
        return is_lost(faults.key, faults.loss, message.publication.number, source, target)

    counter = Counter(interests, len(publications))
    alive = {node: router for node, router in routers.items() if faults.alive[node]}
    simulator: Simulator[Any] = Simulator(alive, loss=loses, watch=counter.note)
    issuers = publications.issuers(interests).tolist()
    with stage(progress, "carrying publications", len(publications)) as advance:
        for number, (topic, issuer) in enumerate(zip(publications.topics.tolist(), issuers, strict=True)):
            simulator.inject(issuer, routers[issuer].publish(protocols.Publication(number, topic)))
            simulator.run()
            advance(number + 1)
    return counter.tally


Kernel = Callable[[Tally, Chunk, Ticks], None]


def sweep_flood(
    links: TopicLinks,
    interests: Interests,
    publications: Publications,
    faults: Faults,
    progress: Progress | None = None,
) -> Tally:
    """Flood over the links of topics, on all cores; the counts don't depend on their number."""
    from meshwright.kernels.routing.flooding import route_flood

    issuers = publications.slots.astype(np.int32)

    def carry(tally: Tally, numbers: Chunk, ticks: Ticks) -> None:
        route_flood(links, faults, tally, issuers, numbers, ticks)

    work = np.diff(links.indptr[links.topic_indptr])[publications.topics]
    return _sweep(carry, work, interests.node_count, progress)


def sweep_nsmf(
    fingers: Fingers,
    peers: protocols.Peers,
    interests: Interests,
    publications: Publications,
    faults: Faults,
    progress: Progress | None = None,
) -> Tally:
    """Route by NSMF, on all cores; the counts don't depend on their number."""
    from meshwright.kernels.routing.nsmf import route_nsmf

    places = _places(interests, fingers)
    tables = _tables(interests, fingers, peers, places)
    issuers = places[publications.slots]

    def carry(tally: Tally, numbers: Chunk, ticks: Ticks) -> None:
        route_nsmf(tables, faults, tally, publications.topics, issuers, numbers, ticks)

    work = np.diff(interests.topic_indptr)[publications.topics]
    return _sweep(carry, work, interests.node_count, progress)


def _places(interests: Interests, fingers: Fingers) -> Ids:
    """Where each interest, sorted by topic and then by node, stands when sorted by topic and position."""
    topics = np.repeat(np.arange(interests.topic_count), np.diff(interests.topic_indptr))
    places = np.empty(len(interests), np.int32)
    around = np.lexsort((fingers.positions[interests.node_ids], topics))
    places[around] = np.arange(len(interests), dtype=np.int32)
    return places


def _tables(interests: Interests, fingers: Fingers, peers: protocols.Peers, places: Ids) -> RoutingTables:
    from meshwright.kernels.core.subgraphs import interest_ranks
    from meshwright.kernels.routing.nsmf import match_peers

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


_LOSS_UNITS = 2**53
PROTOCOLS = ("flood", "tree", "nsmf")


class Route(NamedTuple):
    """How a protocol carries publications over one overlay: counted by kernels, or by objects on nodes."""

    sweep: Callable[[Publications, Faults], Tally]
    routers: Callable[[], Mapping[Node, protocols.Router[Any]]]


def route(
    overlay: Overlay,
    protocol: str,
    publications: PublicationSource = 1_000,
    *,
    tree: str | None = None,
    both_ways: bool = False,
    loss: float = 0.0,
    failed: float | Iterable[str] = 0.0,
    simulate: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
) -> Routing:
    """Carry publications over an overlay by a protocol, and count messages, forwards, hops and load.

    Args:
        overlay: for `flood` and `tree` one that connects every topic, for `nsmf` one that has fingers.
        protocol: `flood`, inside a topic from neighbour to neighbour; `tree`, the same along a tree for each
            topic; or `nsmf`, by the fingers of a small world.
        publications: how many to draw, topic and issuer at random as in [4], 5.1; or (topic, publisher)
            pairs, or a CSV or Parquet file with these two columns.
        tree: which one `tree` takes, `shortest` (unless given) or `cheapest`, where links cost.
        both_ways: let `nsmf` use a link at both of its ends, not at that alone whose finger it is.
        loss: the probability that a message is lost.
        failed: the share of nodes that have failed before, drawn at random, or their names. Nobody knows of
            it: their neighbours' tables stay as they were.
        simulate: run the protocols themselves in the simulator: the same counts, some 200 times slower.
        seed: the same seed draws the same publications, failures and losses.
        progress: shows how far it is.

    O(messages), on all cores; memory for a few counts for each publication, node and interest.

    Example:
        >>> import meshwright as mw
        >>> pairs = [("b1", "news"), ("b2", "news"), ("b2", "sport"), ("b3", "sport")]
        >>> interests = mw.Interests.from_pairs(pairs)
        >>> overlay = mw.build(interests, "gm")
        >>> carried = mw.route(overlay, "flood", [("news", "b1"), ("sport", "b3")])
        >>> carried.messages, carried.delivered_fraction
        (2, 1.0)
    """
    if not isinstance(overlay, Overlay):
        raise InputError(f"route got {type_of(overlay)}; give an Overlay")
    check_choice("protocol", protocol, PROTOCOLS)
    _check_options(protocol, tree, both_ways)
    check_fraction("loss", loss)
    check_flag("simulate", simulate)
    interests = overlay.interests
    alive = _alive(interests, failed, seed)
    issued = publications_of(interests, publications, alive, seed)
    chosen = _route(overlay, protocol, tree, both_ways, progress)
    key = generator(seed, "route.loss").integers(2**64, dtype=np.uint64)
    faults = Faults(alive, round(loss * _LOSS_UNITS), key)
    if simulate:
        tally = simulate_protocols(chosen.routers(), interests, issued, faults, progress)
    else:
        tally = chosen.sweep(issued, faults)
    return measured(protocol, interests, issued, alive, tally)


def _check_options(protocol: str, tree: str | None, both_ways: bool) -> None:
    check_flag("both_ways", both_ways)
    if tree is not None and protocol != "tree":
        raise OptionError(
            f"tree is {tree!r}, but the protocol {protocol} uses no tree; leave it out", option="tree"
        )
    if both_ways and protocol != "nsmf":
        raise OptionError(
            f"both_ways applies only to the protocol nsmf, whose links have a direction, not to {protocol}; "
            f"leave it out",
            option="both_ways",
        )


def _alive(interests: Interests, failed: float | Iterable[str], seed: int) -> Flags:
    alive = np.ones(interests.node_count, np.bool_)
    if isinstance(failed, Iterable) and not isinstance(failed, str):
        gone = np.array([find(interests.nodes, name, "node") for name in failed], np.int64)
    else:
        check_fraction("failed", failed)
        count = round(float(failed) * interests.node_count)
        gone = generator(seed, "route.failures").choice(interests.node_count, count, replace=False)
    alive[gone] = False
    return alive


def _route(
    overlay: Overlay, protocol: str, tree: str | None, both_ways: bool, progress: Progress | None
) -> Route:
    interests = overlay.interests
    if protocol == "nsmf":
        fingers = Fingers.of(overlay)
        peers = protocols.peers_of(fingers, both_ways)
        return Route(
            lambda issued, faults: sweep_nsmf(fingers, peers, interests, issued, faults, progress),
            lambda: protocols.nsmf_routers(interests, fingers, peers),
        )
    if protocol == "flood":
        links = topic_links(overlay, progress)
    else:
        links = topic_trees(overlay, "shortest" if tree is None else tree, progress).links
    return Route(
        lambda issued, faults: sweep_flood(links, interests, issued, faults, progress),
        lambda: protocols.flood_routers(links, interests.node_count),
    )
