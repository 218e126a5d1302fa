"""What runs on a node of a gossip overlay: all protocols, over the same views.

StaN's walks find peers, and weights choose among them; events flood inside topics. Keep-alive asks one
question for each physical link, however many views share it.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from meshwright.net import Action, Deliver, Moment, Node, Protocol, Send, Wake
from meshwright.net.protocol import Seen
from meshwright.runtime.errors import InputError
from meshwright.stan import messages
from meshwright.stan.local_views import LocalViews, Weights, random_node
from meshwright.stan.membership import LOOK, Leases, Scamp
from meshwright.stan.messages import CollectReply, CollectWalk, Event, Join, Message, Ping, Pong, Return


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How the protocols of a node run; times are in the unit of whoever keeps the clock.

    Attributes:
        period: the time between rounds of walks, and between keep-alive messages.
        ttl: how many times a walk is passed on after the first step; near a topic's diameter.
        learn: take nodes from passing walks too ([5], 2.4).
        slowest: after a walk that finds nothing new, the topic waits twice as many rounds for the next one,
            up to this many ([5], 2.4); 1 never slows down.
        stagger: begin at a random time within the first period, and not at once.
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


class Dissemination(Protocol[Message]):
    """Events on one node: what is new is handed on to the views of all of the event's topics.

    Guarantee: a physical link carries an event once in each direction at most, however many of its topics
    share the link. Only subscribers of one of its topics get it, as only these are in views (accuracy). Each
    gets it once; all of them do where nothing is lost and the views of every topic lead from the publisher to
    all of its subscribers (completeness).

    The supplement of [5] that specifies it is not public; this is what [5], 2.1 and 2.2, ask of it.
    """

    def __init__(self, views: LocalViews) -> None:
        self._views = views
        self._seen = Seen()

    def publish(self, number: int, topics: Iterable[int], content: bytes = b"") -> Event:
        """The message that publishes an event, if the application hands it over.

        A publisher subscribes to what it publishes on ([5], 2.1): nobody else could tell the subscribers. The
        number is the event's own among those of all publishers: one that came before is taken for known.
        """
        own = tuple(sorted(set(topics)))
        foreign = [topic for topic in own if topic not in self._views]
        if foreign or not own:
            raise InputError(
                f"node {self._views.node} publishes on {foreign or 'no topic'}; "
                f"give one or more of its own topics"
            )
        return Event(number, own, content, 0)

    def receive(self, message: Message, sender: Node | None, moment: Moment) -> Iterable[Action[Message]]:
        """Hand on what is new, once over each link; drop what is not, or is not for this node."""
        del moment
        if not isinstance(message, Event) or message.number in self._seen:
            return []
        own = [topic for topic in message.topics if topic in self._views]
        if not own:
            return []
        self._seen.add(message.number)
        peers = dict.fromkeys(peer for topic in own for peer in self._views.view(topic) if peer != sender)
        onward: Message = Event(message.number, message.topics, message.content, message.hops + 1)
        delivered: list[Action[Message]] = [] if sender is None else [Deliver(message)]
        return [*delivered, *(Send(peer, onward) for peer in peers)]


WALK = "walk"
"""The timer of a round."""


class Stan(Protocol[Message]):
    """StaN on one node ([5], Alg. 2). Every period a walk goes out in each topic, and comes back with peers.

    Guarantee: no view changes its size, and the weights of a view only fall. A walk takes ttl + 2 messages,
    which carry at most (ttl + 1)(view size + 1) nodes. All nodes that it collects subscribe to the topic,
    so no node learns of a topic that is not its own.

    Line 8 of Alg. 2 is lost in print; it adds the view to the set. The node itself never enters its view.
    """

    def __init__(self, views: LocalViews, settings: Settings) -> None:
        self._views, self._settings = views, settings
        self._paces: dict[int, int] = {}
        self._waits: dict[int, int] = {}

    def start(self, moment: Moment) -> Iterable[Action[Message]]:
        """Ask for the first round."""
        period, stagger = self._settings.period, self._settings.stagger
        return [Wake(float(moment.random.random()) * period if stagger else 0.0, WALK)]

    def wake(self, timer: Hashable, moment: Moment) -> Iterable[Action[Message]]:
        """Lines 1 to 4: send a walk out in each topic that is due, and ask for the next round."""
        return [*self._walks(moment.random), Wake(self._settings.period, timer)]

    def _walks(self, random: np.random.Generator) -> list[Send[Message]]:
        sent: list[Send[Message]] = []
        for topic in self._views.topics:
            view, wait = self._views.view(topic), self._waits.get(topic, 0)
            if wait or not view:
                self._waits[topic] = max(0, wait - 1)
                continue
            self._waits[topic] = self._paces.get(topic, 1) - 1
            sent.append(
                Send(random_node(view, random), CollectWalk(self._views.node, topic, self._settings.ttl, ()))
            )
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
        if self._settings.learn:
            self._views.choose(walk.topic, (walk.source, *walk.nodes))
        view, ttl = self._views.view(walk.topic), min(walk.ttl, self._settings.ttl)
        met = tuple(dict.fromkeys((*walk.nodes, self._views.node, *view)))
        if ttl > 0 and view:
            onward = CollectWalk(walk.source, walk.topic, ttl - 1, met)
            return [Send(random_node(view, moment.random), onward)]
        return [Send(walk.source, CollectReply(walk.topic, met))]

    def _take(self, reply: CollectReply) -> None:
        """Lines 14 to 17."""
        changed = self._views.choose(reply.topic, reply.nodes)
        pace = 1 if changed else min(2 * self._paces.get(reply.topic, 1), self._settings.slowest)
        self._paces[reply.topic] = pace
        self._waits[reply.topic] = pace - 1


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
        stan = Stan(views, settings)
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
