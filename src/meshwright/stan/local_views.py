"""What one node knows of others, and whom it prefers: its view of each topic, and the weights of StaN.

`snapshot` gathers the views of all nodes.
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from meshwright.model.dense import rows_of
from meshwright.model.interests import Interests
from meshwright.model.views import Views
from meshwright.net import Node
from meshwright.runtime.arrays import Words


def node_keys(interests: Interests, salt: int = 0) -> Words:
    """A 64-bit hash of the name of each node, by id; another salt gives others. O(nodes), 8 bytes each."""
    salted = (salt % 2**64).to_bytes(8, "little")
    digests = b"".join(
        blake2b(name.encode(), digest_size=8, salt=salted).digest() for name in interests.nodes.to_pylist()
    )
    return np.frombuffer(digests, np.dtype("<u8")).astype(np.uint64)


class Weights:
    """The order in which each node prefers all others, by ascending weight ([5], Alg. 1).

    Guarantee: the order of a node depends on names and the salt alone, whatever the topic, so that a node
    prefers the same others in all of its views; every order is equally likely; those of two nodes are
    independent.

    [5] hashes STR(p) + STR(q). Here both names are hashed apart, so that "a" + "bc" and "ab" + "c" differ,
    and the two hashes are mixed, which a kernel can do with 8 bytes per node. The salt lets runs be
    independent of each other.

    """

    def __init__(self, keys: Words) -> None:
        self.keys = keys

    def __len__(self) -> int:
        return len(self.keys)

    def lightest(self, node: int, others: Iterable[int], count: int) -> list[int]:
        """The `count` others that weigh least to `node`, lightest first."""
        from meshwright.kernels.core.hashing import weights_of

        ids = np.fromiter(others, np.int32)
        weights = np.empty(len(ids), np.uint64)
        weights_of(self.keys[node], self.keys, ids, weights)
        best: list[int] = ids[np.argsort(weights, kind="stable")[:count]].tolist()
        return best


def random_node(view: Sequence[Node], random: np.random.Generator) -> Node:
    """RANDOMNODE of [5], Alg. 2."""
    return view[int(random.integers(len(view)))]


class LocalViews:
    """The views of one node by topic: lists of others, which the protocols of that node share.

    A view has a number of *places*, which membership decides and link management keeps. It holds fewer peers
    only while one that was lost has not been replaced.
    """

    def __init__(self, node: Node, weights: Weights, views: Mapping[int, Sequence[Node]]) -> None:
        self.node = node
        self._weights = weights
        self._views = {topic: list(view) for topic, view in views.items()}
        self._places = {topic: len(view) for topic, view in views.items()}
        self.lost: dict[Node, float] = {}
        """Peers that are gone, and until when hearsay does not bring them back."""
        self.holders: dict[int, dict[Node, float]] = {}
        """By topic, who has said to have this node in its view, and when."""

    def __contains__(self, topic: int) -> bool:
        return topic in self._views

    @property
    def topics(self) -> Sequence[int]:
        """The topics of this node, rising."""
        return sorted(self._views)

    def view(self, topic: int) -> Sequence[Node]:
        """The view of a topic; empty where the node does not subscribe to it."""
        return self._views.get(topic, ())

    def places(self, topic: int) -> int:
        """How many peers the view of a topic has room for."""
        return self._places.get(topic, 0)

    def links(self) -> dict[Node, tuple[int, ...]]:
        """The physical links: each peer once, with the topics whose views share the link."""
        shared: dict[Node, list[int]] = {}
        for topic in self.topics:
            for peer in self._views[topic]:
                shared.setdefault(peer, []).append(topic)
        return {peer: tuple(topics) for peer, topics in shared.items()}

    def subscribe(self, topic: int) -> None:
        """Begin with an empty view of a topic."""
        self._views.setdefault(topic, [])
        self._places.setdefault(topic, 0)

    def unsubscribe(self, topic: int) -> None:
        """Forget a topic."""
        self._views.pop(topic, None)
        self._places.pop(topic, None)
        self.holders.pop(topic, None)

    def is_legal(self, topic: int, peer: Node) -> bool:
        """Whether a node could be a new peer in a topic."""
        known = topic in self._views and peer not in self._views[topic]
        return known and peer != self.node and 0 <= peer < len(self._weights)

    def add(self, topic: int, peer: Node) -> None:
        """Take a peer in: into a vacant place, or the view grows."""
        if self.is_legal(topic, peer):
            self._views[topic] = [*self._there(topic), peer]
            self.make_room(topic, len(self._views[topic]))

    def make_room(self, topic: int, places: int) -> None:
        """Let the view of a topic have so many places at least, but never more than there are others."""
        if topic in self._views:
            self._places[topic] = max(self._places[topic], min(places, len(self._weights) - 1))

    def fill(self, topic: int, peer: Node) -> None:
        """Take a peer into a vacant place, if there is one."""
        if len(self._there(topic)) < self.places(topic):
            self.add(topic, peer)

    def exchange(self, topic: int, peer: Node) -> None:
        """Take a peer into a vacant place, or into that of the heaviest other."""
        if self.places(topic) and self.is_legal(topic, peer):
            stay = self._weights.lightest(self.node, self._there(topic), self._places[topic] - 1)
            self._views[topic] = [*stay, peer]

    def remove(self, topic: int, peer: Node) -> None:
        """Take a peer out, and its place with it."""
        if peer in self.view(topic):
            self.vacate(topic, peer)
            self._places[topic] -= 1

    def lose(self, peer: Node, until: float) -> None:
        """A peer is gone: its places are vacant, and it is not taken back by hearsay before `until`.

        Where it is the only one of a view it stays until another comes: there is nobody else to turn to.
        """
        self.lost[peer] = until
        for topic, view in self._views.items():
            if len(view) > 1:
                self.vacate(topic, peer)

    def vacate(self, topic: int, peer: Node) -> None:
        """Take a peer out, and leave its place vacant."""
        if peer in self.view(topic):
            self._views[topic].remove(peer)

    def note_holder(self, topic: int, peer: Node, now: float) -> None:
        """A peer has this node in its view of a topic, unless it is none of its topics."""
        if topic in self._views:
            self.holders.setdefault(topic, {})[peer] = now

    def forget_holders(self, since: float) -> None:
        """Take those that have not said so for long not to have this node in a view any more."""
        for topic, holders in self.holders.items():
            self.holders[topic] = {peer: heard for peer, heard in holders.items() if heard >= since}

    def choose(self, topic: int, candidates: Iterable[Node]) -> bool:
        """Keep the lightest of the view and the candidates, at the same size; whether anything changed.

        [5], Alg. 2, lines 15 to 17. O(c log c) for c candidates.
        """
        if topic not in self._views:
            return False
        before = self._views[topic]
        new = {peer for peer in candidates if peer not in self.lost and self.is_legal(topic, peer)}
        known = [*self._there(topic), *sorted(new)]
        after = self._weights.lightest(self.node, known, self._places[topic]) if known else before
        self._views[topic] = after
        return set(after) != set(before)

    def _there(self, topic: int) -> list[Node]:
        """The view without a last peer that is lost."""
        return [peer for peer in self.view(topic) if peer not in self.lost]


def snapshot(interests: Interests, peers: Mapping[Node, Any]) -> Views:
    """The views of the nodes that are there, without links to those that are not, or have left the topic.

    Where all are there with all of their topics the views have `interests` themselves; otherwise interests of
    the same nodes and topics, in which those that are gone have none.
    """
    here = {node: peer.views for node, peer in peers.items()}
    lists = [list(here[node].topics) if node in here else [] for node in range(interests.node_count)]
    sizes = np.array([len(topics) for topics in lists], np.int64)
    if int(sizes.sum()) != len(interests):
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        flat = np.array([topic for topics in lists for topic in topics], np.int32)
        interests = Interests.from_arrays(indptr, flat, interests.nodes, interests.topics)
    topics, nodes = rows_of(interests.topic_indptr).tolist(), interests.node_ids.tolist()
    slot_of = {pair: slot for slot, pair in enumerate(zip(topics, nodes, strict=True))}
    rows = [
        [slot_of[topic, peer] for peer in here[node].view(topic) if (topic, peer) in slot_of]
        for topic, node in zip(topics, nodes, strict=True)
    ]
    bounds = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)])
    return Views(interests, bounds, np.array([slot for row in rows for slot in row], np.int32))
