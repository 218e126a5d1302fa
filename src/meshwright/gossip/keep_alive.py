"""Who is still there: one question for each physical link, however many views share it."""

from collections.abc import Hashable, Iterable

from meshwright.gossip.local_views import LocalViews
from meshwright.gossip.messages import Message, Ping, Pong
from meshwright.net import Action, Moment, Node, Protocol, Send, Wake

PING = "ping"
"""The timer of the questions."""

_LOST_FOR = 32
"""Periods for which a lost peer is not taken back by hearsay: until views that named it have dropped it."""


class KeepAlive(Protocol[Message]):
    """Keep-alive messages on one node ([5], 2.4, names them as what physical links cost).

    Guarantee: a peer that is gone is out of all views after `patience` + 1 periods, or, where a view has
    nobody else, once it has; one that has left a topic is out of that view after an answer. A peer that is
    there is lost only if all questions of `patience` periods, or the answers to them, and whatever else it
    says, are lost; it may come back when it is heard of again. Who asks is taken into a vacant place.

    Args:
        views: of this node.
        period: the time between questions.
        patience: how many in a row may go unanswered.
    """

    def __init__(self, views: LocalViews, *, period: float, patience: int) -> None:
        self._views = views
        self._period, self._patience = period, patience
        self._unanswered: dict[Node, int] = {}

    def start(self, moment: Moment) -> Iterable[Action[Message]]:
        """Ask for the first time within the first period."""
        return [Wake(float(moment.random.random()) * self._period, PING)]

    def wake(self, timer: Hashable, moment: Moment) -> Iterable[Action[Message]]:
        """Give up peers that have not answered for too long; ask all others."""
        lost = self._views.lost
        for node in [node for node, until in lost.items() if until <= moment.now]:
            del lost[node]
        asked: list[Action[Message]] = []
        for peer, topics in self._views.links().items():
            waited = self._unanswered.get(peer, 0)
            if waited >= self._patience:
                self._views.lose(peer, moment.now + _LOST_FOR * self._period)
                self._unanswered.pop(peer)
            else:
                self._unanswered[peer] = waited + 1
                asked.append(Send(peer, Ping(topics)))
        return [*asked, Wake(self._period, timer)]

    def hear(self, sender: Node) -> None:
        """Whatever a node says, it is there."""
        self._unanswered.pop(sender, None)
        self._views.lost.pop(sender, None)

    def receive(self, message: Message, sender: Node | None, moment: Moment) -> Iterable[Action[Message]]:
        """Answer a question, and fill vacant places with who asks; learn from an answer who left a topic."""
        if sender is None:
            return []
        match message:
            case Ping(topics):
                for topic in topics:
                    self._views.note_holder(topic, sender, moment.now)
                    self._views.fill(topic, sender)
                return [Send(sender, Pong(tuple(topic for topic in topics if topic not in self._views)))]
            case Pong(left):
                for topic in left:
                    self._views.vacate(topic, sender)
        return []
