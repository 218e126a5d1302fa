"""`route`: carry publications over an overlay, and count what it takes."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from meshwright.construct.option_checks import check_choice, check_flag, check_fraction
from meshwright.errors import InputError, OptionError
from meshwright.kernels.arrays import Flags
from meshwright.kernels.routing_arrays import Tally, TopicLinks, Weather
from meshwright.model.fingers import Fingers
from meshwright.model.interests import Interests
from meshwright.model.names import find
from meshwright.model.overlay import Overlay
from meshwright.net import Node
from meshwright.progress import Progress
from meshwright.route.flood import flood_routers
from meshwright.route.measures import Routing, measured
from meshwright.route.nsmf import nsmf_routers
from meshwright.route.peers import peers_of
from meshwright.route.publications import Publications, PublicationSource, publications_of
from meshwright.route.router import Router
from meshwright.route.simulation import simulate as run_protocols
from meshwright.route.sweep import sweep_flood, sweep_nsmf
from meshwright.route.topic_links import topic_links
from meshwright.route.trees import topic_trees
from meshwright.seeds import generator

_LOSS_UNITS = 2**53


class Way(NamedTuple):
    """How a protocol carries publications over one overlay: counted by kernels, or by objects on nodes."""

    sweep: Callable[[Publications, Weather, Progress | None], Tally]
    routers: Callable[[], Mapping[Node, Router[Any]]]


class _Options(NamedTuple):
    """What a protocol of its own may be told."""

    tree: str
    both_ways: bool


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
    """
    if not isinstance(overlay, Overlay):
        raise InputError(f"route got a {type(overlay).__name__}; give an Overlay")
    check_choice("protocol", protocol, tuple(_WAYS))
    options = _checked_options(protocol, tree, both_ways)
    check_fraction("loss", loss)
    check_flag("simulate", simulate)
    interests = overlay.interests
    alive = _alive(interests, failed, seed)
    issued = publications_of(interests, publications, alive, seed)
    way = _WAYS[protocol](overlay, options, progress)
    key = generator(seed, "route.loss").integers(2**64, dtype=np.uint64)
    weather = Weather(alive, round(loss * _LOSS_UNITS), key)
    if simulate:
        tally = run_protocols(way.routers(), interests, issued, weather, progress)
    else:
        tally = way.sweep(issued, weather, progress)
    return measured(protocol, interests, issued, alive, tally)


def _checked_options(protocol: str, tree: str | None, both_ways: bool) -> _Options:
    check_flag("both_ways", both_ways)
    if tree is not None and protocol != "tree":
        raise OptionError(f"tree is {tree!r}, and the protocol {protocol} has none; leave it out")
    if both_ways and protocol != "nsmf":
        raise OptionError(f"both_ways is for nsmf, whose fingers have a direction, not for {protocol}")
    return _Options("shortest" if tree is None else tree, both_ways)


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


def _over_links(overlay: Overlay, links: TopicLinks) -> Way:
    interests = overlay.interests
    return Way(
        lambda issued, weather, progress: sweep_flood(links, interests, issued, weather, progress),
        lambda: flood_routers(links, interests.node_count),
    )


def _flood(overlay: Overlay, options: _Options, progress: Progress | None) -> Way:
    del options
    return _over_links(overlay, topic_links(overlay, progress))


def _tree(overlay: Overlay, options: _Options, progress: Progress | None) -> Way:
    return _over_links(overlay, topic_trees(overlay, options.tree, progress).links)


def _nsmf(overlay: Overlay, options: _Options, progress: Progress | None) -> Way:
    del progress
    interests, fingers = overlay.interests, Fingers.of(overlay)
    peers = peers_of(fingers, options.both_ways)
    return Way(
        lambda issued, weather, progress: sweep_nsmf(fingers, peers, interests, issued, weather, progress),
        lambda: nsmf_routers(interests, fingers, peers),
    )


_WAYS: Mapping[str, Callable[[Overlay, _Options, Progress | None], Way]] = {
    "flood": _flood,
    "tree": _tree,
    "nsmf": _nsmf,
}
