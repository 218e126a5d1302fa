"""StaN's link management: random walks find peers, and weights choose among them."""

from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from meshwright.net import Action, Moment, Node, Protocol, Send, Wake
from meshwright.stan.local_views import LocalViews
from meshwright.stan.messages import CollectReply, CollectWalk, Message

WALK = "walk"
"""The timer of a round."""


def random_node(view: Sequence[Node], random: np.random.Generator) -> Node:
    """RANDOMNODE of [5], Alg. 2."""
    return view[int(random.integers(len(view)))]


class Stan(Protocol[Message]):
    """StaN on one node ([5], Alg. 2). Every period a walk goes out in each topic, and comes back with peers.

    Guarantee: no view changes its size, and the weights of a view only fall. A walk takes ttl + 2 messages,
    which carry at most (ttl + 1)(view size + 1) nodes. All nodes that it collects subscribe to the topic,
    so no node learns of a topic that is not its own.

    Args:
        views: of this node.
        ttl: how many times a walk is passed on after the first step; near a topic's diameter.
        period: the time between rounds.
        learn: take nodes from passing walks too ([5], 2.4).
        slowest: after a walk that finds nothing new, the topic waits twice as many rounds for the next one,
            up to this many ([5], 2.4); 1 never slows down.
        stagger: begin at a random time within the first period, and not at once.

    Line 8 of Alg. 2 is lost in print; it adds the view to the set. The node itself never enters its view.
    """

    def __init__(
        self, views: LocalViews, *, ttl: int, period: float, learn: bool, slowest: int, stagger: bool
    ) -> None:
        self._views = views
        self._ttl, self._period = ttl, period
        self._learn, self._slowest, self._stagger = learn, slowest, stagger
        self._paces: dict[int, int] = {}
        self._waits: dict[int, int] = {}

    def start(self, moment: Moment) -> Iterable[Action[Message]]:
        """Ask for the first round."""
        return [Wake(float(moment.random.random()) * self._period if self._stagger else 0.0, WALK)]

    def wake(self, timer: Hashable, moment: Moment) -> Iterable[Action[Message]]:
        """Lines 1 to 4: send a walk out in each topic that is due, and ask for the next round."""
        return [*self._walks(moment.random), Wake(self._period, timer)]

    def _walks(self, random: np.random.Generator) -> list[Send[Message]]:
        sent: list[Send[Message]] = []
        for topic in self._views.topics:
            view, wait = self._views.view(topic), self._waits.get(topic, 0)
            if wait or not view:
                self._waits[topic] = max(0, wait - 1)
                continue
            self._waits[topic] = self._paces.get(topic, 1) - 1
            sent.append(Send(random_node(view, random), CollectWalk(self._views.node, topic, self._ttl, ())))
        return sent

    def receive(self, message: Message, sender: Node | None, moment: Moment) -> Iterable[Action[Message]]:
        """Pass a walk on or answer it; choose among the nodes of a reply."""
        del sender
        match message:
            case CollectWalk():
                return self._collect(message, moment)
            case CollectReply():
                self._take(message)
        return []

    def _collect(self, walk: CollectWalk, moment: Moment) -> list[Action[Message]]:
        """Lines 5 to 13. A walk in a topic that this node has left ends without a word.

        None goes on for longer than this node's own would: who asks for more does not get it.
        """
        if walk.topic not in self._views:
            return []
        if self._learn:
            self._views.choose(walk.topic, (walk.source, *walk.nodes))
        view, ttl = self._views.view(walk.topic), min(walk.ttl, self._ttl)
        met = tuple(dict.fromkeys((*walk.nodes, self._views.node, *view)))
        if ttl > 0 and view:
            onward = CollectWalk(walk.source, walk.topic, ttl - 1, met)
            return [Send(random_node(view, moment.random), onward)]
        return [Send(walk.source, CollectReply(walk.topic, met))]

    def _take(self, reply: CollectReply) -> None:
        """Lines 14 to 17."""
        changed = self._views.choose(reply.topic, reply.nodes)
        pace = 1 if changed else min(2 * self._paces.get(reply.topic, 1), self._slowest)
        self._paces[reply.topic] = pace
        self._waits[reply.topic] = pace - 1
