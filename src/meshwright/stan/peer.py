"""What runs on a node of a gossip overlay: all protocols over the same views, keep-alive included.

Keep-alive asks one question for each physical link, however many views share it.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from meshwright.net import Action, Moment, Node, Protocol, Send, Wake
from meshwright.stan import messages
from meshwright.stan.dissemination import Dissemination
from meshwright.stan.local_views import LocalViews
from meshwright.stan.membership import LOOK, Leases, Scamp
from meshwright.stan.messages import Join, Message, Ping, Pong, Return
from meshwright.stan.walks import WALK, Stan
from meshwright.stan.weights import Weights

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


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How the protocols of a node run; times are in the unit of whoever keeps the clock.

    Attributes:
        period: the time between rounds of walks, and between keep-alive messages.
        ttl, learn, slowest, stagger: as `Stan` takes them.
        walks: whether walks go out at all.
        copies: as `Scamp` takes it.
        patience: as `KeepAlive` takes it; 0 sends no keep-alive messages, and looks after no lease.
    """

    period: float = 1.0
    ttl: int = 5
    learn: bool = False
    slowest: int = 1
    stagger: bool = True
    walks: bool = True
    copies: int = 4
    patience: int = 0


class Peer(Protocol[Message]):
    """A node: membership, keep-alive messages, leases, link management and dissemination.

    Args:
        views: what the node begins with.
        settings: of the protocols.
        joins: what it subscribes to when it starts, or again.
    """

    def __init__(self, views: LocalViews, settings: Settings, joins: Sequence[Join | Return] = ()) -> None:
        self.views = views
        self.dissemination = Dissemination(views)
        self._joins = joins
        alive = KeepAlive(views, period=settings.period, patience=settings.patience)
        leases = Leases(views, period=settings.period)
        stan = Stan(
            views,
            ttl=settings.ttl,
            period=settings.period,
            learn=settings.learn,
            slowest=settings.slowest,
            stagger=settings.stagger,
        )
        self._alive, self._scamp = alive, Scamp(views, copies=settings.copies)
        self._parts = [*([leases, alive] if settings.patience else []), *([stan] if settings.walks else [])]
        self._by_timer: Mapping[Hashable, Protocol[Message]] = {WALK: stan, PING: alive, LOOK: leases}
        self._by_message: Mapping[type, Protocol[Message]] = {
            messages.Ping: alive,
            messages.Pong: alive,
            messages.Return: leases,
            messages.AskPlaces: leases,
            messages.Places: leases,
            messages.Renewal: leases,
            messages.Kept: leases,
            messages.CollectWalk: stan,
            messages.CollectReply: stan,
            messages.Event: self.dissemination,
        }

    def start(self, moment: Moment) -> Iterable[Action[Message]]:
        """Start all protocols, and join."""
        joined = [action for join in self._joins for action in self.receive(join, None, moment)]
        return [*joined, *(action for part in self._parts for action in part.start(moment))]

    def receive(self, message: Message, sender: Node | None, moment: Moment) -> Iterable[Action[Message]]:
        """Hand a message to the protocol that it is for; whoever says it is there."""
        if sender is not None:
            self._alive.hear(sender)
        return self._by_message.get(type(message), self._scamp).receive(message, sender, moment)

    def wake(self, timer: Hashable, moment: Moment) -> Iterable[Action[Message]]:
        """Hand a timer to the protocol that asked for it."""
        return self._by_timer[timer].wake(timer, moment)


def make_peers(
    views: Sequence[Mapping[int, Sequence[Node]]], weights: Weights, settings: Settings
) -> dict[Node, Peer]:
    """A peer for each node, by the views that it begins with."""
    return {node: Peer(LocalViews(node, weights, own), settings) for node, own in enumerate(views)}
