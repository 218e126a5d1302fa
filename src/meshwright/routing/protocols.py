"""The routing protocols, without I/O: flooding inside a topic, and NSMF on a small world.

Flooding: every subscriber hands what is new to it on to all its neighbours in the topic. NSMF (Nearest
Subscribers and Matched Fingers): a node sends to its fingers, and optionally to the nodes whose finger it is.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np

from meshwright.kernels.routing.arrays import TopicLinks
from meshwright.model.fingers import Fingers
from meshwright.model.interests import Interests
from meshwright.net import Action, Deliver, Moment, Node, Protocol, Send
from meshwright.net.protocol import Seen
from meshwright.runtime.arrays import Ids, Offsets
from meshwright.runtime.errors import InputError


@dataclass(frozen=True, slots=True)
class Publication:
    """What is published: a number that no other publication has, the topic's id, and the content."""

    number: int
    topic: int
    content: Any = None


@dataclass(frozen=True, slots=True)
class Message:
    """A copy of a publication under way, and how many hops from the issuer it has made on arrival."""

    publication: Publication
    hops: int


Carried = TypeVar("Carried", bound=Message)


class Router(Protocol[Carried]):
    """What one node does with publications; it hands each to its application that others issued."""

    @abstractmethod
    def publish(self, publication: Publication) -> Carried:
        """The message that makes this node the issuer, if its application hands it over."""


class Flood(Router[Message]):
    """Flooding on one node, with `neighbours` by topic.

    Guarantee: where the topic's links connect its subscribers and nothing is lost, each of them gets every
    publication once, over a shortest path if all links take equally long. A topic of n nodes and m links
    takes 2m - n + 1 messages; where the links are a tree, that is n - 1, and no copy comes twice.
    """

    def __init__(self, neighbours: Mapping[int, tuple[Node, ...]]) -> None:
        self.neighbours = neighbours
        self._seen = Seen()

    def publish(self, publication: Publication) -> Message:
        """A message that has made no hop yet."""
        return Message(publication, 0)

    def receive(self, message: Message, sender: Node | None, moment: Moment) -> Iterable[Action[Message]]:
        """Hand on what is new, but not to where it came from; drop what is not."""
        del moment
        if message.publication.number in self._seen:
            return []
        self._seen.add(message.publication.number)
        onward = Message(message.publication, message.hops + 1)
        delivered = [] if sender is None else [Deliver(message)]
        neighbours = self.neighbours.get(message.publication.topic, ())
        return [*delivered, *(Send(node, onward) for node in neighbours if node != sender)]


def flood_routers(links: TopicLinks, node_count: int) -> dict[Node, Flood]:
    """Flooding on every node, over the links of its topics."""
    neighbours: list[dict[int, tuple[Node, ...]]] = [{} for _ in range(node_count)]
    others = links.nodes[links.others]
    for topic, (first, end) in enumerate(pairwise(links.topic_indptr.tolist())):
        for slot in range(first, end):
            own = others[links.indptr[slot] : links.indptr[slot + 1]]
            neighbours[links.nodes[slot]][topic] = tuple(own.tolist())
    return {node: Flood(own) for node, own in enumerate(neighbours)}


class Peers(NamedTuple):
    """By node, the nodes that it has a link to, by rising distance: `nodes[indptr[v] : indptr[v + 1]]`."""

    indptr: Offsets
    nodes: Ids
    distances: Offsets


def peers_of(fingers: Fingers, both_ways: bool) -> Peers:
    """The fingers of each node, each once; `both_ways`, also the nodes that have it as a finger.

    The more peers, the better nodes are found by them; all that NSMF needs are one for each phase.
    """
    pairs = fingers.edges()
    if both_ways:
        pairs = np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0)
    owners, others = pairs[:, 0], pairs[:, 1]
    distances = (fingers.positions[others] - fingers.positions[owners]) % max(1, fingers.space)
    order = np.lexsort((distances, owners))
    counts = np.bincount(owners, minlength=len(fingers.positions))
    return Peers(
        indptr=np.concatenate([[0], np.cumsum(counts)]),
        nodes=np.ascontiguousarray(others[order]),
        distances=distances[order],
    )


class Peer(NamedTuple):
    """Another node, and where it stands on the ring."""

    position: int
    node: Node


@dataclass(frozen=True, slots=True)
class RangedMessage(Message):
    """A message that should reach all subscribers from `low` to before `high`, clockwise ([4], DS. 1).

    Both are positions on the ring; where they are the same, the range is the whole ring.
    """

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class RoutingTable:
    """What a node knows ([4], DS. 2): the ring, its fingers, and of its topics the nearest subscribers.

    `fingers` are all that the node has a link to; `matched` has those of them that subscribe to a topic. Both
    `nearest` and `matched` are kept for the node's own topics alone: only a subscriber is ever asked.
    """

    position: int
    space: int
    fingers: tuple[Peer, ...]
    nearest: Mapping[int, Peer]
    matched: Mapping[int, tuple[Peer, ...]]

    def distance(self, position: int) -> int:
        """Clockwise, from this node."""
        return (position - self.position) % self.space


class Nsmf(Router[RangedMessage]):
    """NSMF on one node.

    Guarantee: without loss, every subscriber in the target range receives a publication exactly once, over
    at most two hops per phase from the one before (one on Chord, where no finger leads beyond the target), if
    every identifier has a node. Relays stand strictly between a subscriber and the nearest one after it, so
    none of them is interested, and no node is passed twice.

    Source: [4], Protocol 3. Where it is silent: `nearestSub` is strictly after the node, and a next hop
    only inside the target range; `send` takes the finger that is nearest to the target and not beyond it.
    """

    def __init__(self, table: RoutingTable) -> None:
        self.table = table

    def publish(self, publication: Publication) -> RangedMessage:
        """A message to the whole ring, on a topic of this node: of others it knows no subscriber."""
        if publication.topic not in self.table.matched:
            topic = publication.topic
            raise InputError(f"the node does not subscribe to topic {topic}; let a subscriber publish")
        return RangedMessage(publication, 0, self.table.position, self.table.position)

    def receive(
        self, message: RangedMessage, sender: Node | None, moment: Moment
    ) -> Iterable[Action[RangedMessage]]:
        """Spread a message that is for this node over its range; send any other one on."""
        del moment
        if message.low != self.table.position:
            return [self._send(message)]
        delivered = [] if sender is None else [Deliver(message)]
        return [*delivered, *(self._send(copy) for copy in self._spread(message))]

    def _spread(self, message: RangedMessage) -> Iterator[RangedMessage]:
        """Protocol 3, lines 3 to 13: a copy for each next hop, with the range up to the one after it."""
        hops = self._next_hops(message.publication.topic, message.low, message.high)
        ends = [*(peer.position for peer in hops), message.high]
        for low, high in pairwise(ends):
            yield RangedMessage(message.publication, message.hops, low, high)

    def _next_hops(self, topic: int, low: int, high: int) -> list[Peer]:
        table = self.table
        span = table.distance(high) if low != high else table.space
        nearest = table.nearest.get(topic)
        found = {*table.matched.get(topic, ()), *([nearest] if nearest else [])}
        reached = [peer for peer in found if table.distance(peer.position) < span]
        return sorted(reached, key=lambda peer: table.distance(peer.position))

    def _send(self, message: RangedMessage) -> Send[RangedMessage]:
        """Forward to the finger that is nearest to the target and not beyond it."""
        table = self.table
        goal = table.distance(message.low)
        best = max(
            (peer for peer in table.fingers if table.distance(peer.position) <= goal),
            key=lambda peer: table.distance(peer.position),
        )
        onward = RangedMessage(message.publication, message.hops + 1, message.low, message.high)
        return Send(best.node, onward)


def nsmf_routers(interests: Interests, fingers: Fingers, peers: Peers) -> dict[Node, Nsmf]:
    """NSMF on every node, with tables as a membership service would fill them."""
    topics_of = np.split(interests.topic_ids, interests.indptr[1:-1])
    subscribed = [frozenset(topics.tolist()) for topics in topics_of]
    after = _nearest(interests, fingers)
    known = [Peer(position, node) for node, position in enumerate(fingers.positions.tolist())]
    routers = {}
    for node in range(interests.node_count):
        linked = peers.nodes[peers.indptr[node] : peers.indptr[node + 1]]
        own = tuple(known[other] for other in linked.tolist())
        matched = {
            topic: tuple(peer for peer in own if topic in subscribed[peer.node]) for topic in subscribed[node]
        }
        nearest = {topic: known[other] for topic, other in after[node].items()}
        table = RoutingTable(known[node].position, fingers.space, own, nearest, matched)
        routers[node] = Nsmf(table)
    return routers


def _nearest(interests: Interests, fingers: Fingers) -> list[dict[int, Node]]:
    """By node and topic of its, the next subscriber clockwise; none where there is no other."""
    found: list[dict[int, Node]] = [{} for _ in range(interests.node_count)]
    for topic, (start, end) in enumerate(pairwise(interests.topic_indptr.tolist())):
        members = interests.node_ids[start:end]
        around = members[np.argsort(fingers.positions[members])].tolist()
        if len(around) > 1:
            for node, other in zip(around, [*around[1:], around[0]], strict=True):
                found[node][topic] = other
    return found
