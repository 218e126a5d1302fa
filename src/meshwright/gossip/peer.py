"""What runs on a node of a gossip overlay: all protocols over the same views."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from meshwright.gossip import messages
from meshwright.gossip.dissemination import Dissemination
from meshwright.gossip.keep_alive import PING, KeepAlive
from meshwright.gossip.leases import LOOK, Leases
from meshwright.gossip.local_views import LocalViews
from meshwright.gossip.membership import Scamp
from meshwright.gossip.messages import Join, Message, Return
from meshwright.gossip.stan import WALK, Stan
from meshwright.gossip.weights import Weights
from meshwright.net import Action, Moment, Node, Protocol


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
