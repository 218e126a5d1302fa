"""Scamp: who is in whose view, while nodes come to a topic and leave it."""

from collections.abc import Iterable, Sequence

from meshwright.gossip.local_views import LocalViews
from meshwright.gossip.messages import (
    MOST_FORWARDS,
    NONE,
    Forward,
    Join,
    Kept,
    Leave,
    Message,
    Replace,
    Subscribe,
)
from meshwright.gossip.stan import random_node
from meshwright.net import Action, Moment, Node, Protocol, Send


def keeps(view: Sequence[Node], moment: Moment) -> bool:
    """Whether to keep a subscription: with probability 1 / (1 + view size)."""
    return bool(moment.random.random() < 1 / (1 + len(view)))


class Scamp(Protocol[Message]):
    """Scamp on one node: subscriptions wander until somebody keeps them.

    Guarantee, in expectation: views of a topic of n nodes have (c + 1) ln n peers, without anybody knowing n.
    A subscription takes about that number of copies, each of which is passed on about as often.

    - A newcomer's view is its contact. The contact passes the subscription on to its whole view and `copies`
      times more to random ones of it; alone in the topic, it keeps it.
    - Whoever gets a subscription keeps it with probability 1 / (1 + view size), if it is new to it, and
      passes it on to a random peer otherwise.
    - Who leaves tells those that have it in their view to put one of its own peers there instead, and
      copies + 1 of them nobody.

    Args:
        views: of this node.
        copies: c; how many failed links views stand is in proportion to it.

    Source: Ganesh, Kermarrec, Massoulié: Scamp, NGC 2001, which [5] names as its overlay management. There a
    node drops a subscription that it sees for the tenth time; here one that has made too many hops is
    dropped, which needs no memory. Who has a node in its view is known from keep-alive messages, since StaN
    exchanges links without a word to either end. Crashes and lost subscriptions are left to `Leases`.
    """

    def __init__(self, views: LocalViews, *, copies: int) -> None:
        self._views, self._copies = views, copies

    def receive(self, message: Message, sender: Node | None, moment: Moment) -> Iterable[Action[Message]]:
        """Do as the application says; keep subscriptions or pass them on; let go who leaves."""
        match message:
            case Join(topic, contact) if sender is None:
                return self._join(topic, contact)
            case Leave(topic) if sender is None:
                return self._leave(topic)
            case Subscribe(topic) if sender is not None:
                return self._introduce(topic, sender, moment)
            case Forward(topic, node, hops):
                return self._keep_or_pass_on(topic, node, hops, moment)
            case Replace(topic, by) if sender is not None and sender in self._views.view(topic):
                return self._replace(topic, sender, by)
        return []

    def _join(self, topic: int, contact: Node) -> list[Action[Message]]:
        self._views.subscribe(topic)
        if contact == NONE:
            return []
        self._views.add(topic, contact)
        return [Send(contact, Subscribe(topic))]

    def _introduce(self, topic: int, newcomer: Node, moment: Moment) -> list[Action[Message]]:
        view = [peer for peer in self._views.view(topic) if peer != newcomer]
        if not view:
            return self._keep(topic, newcomer)
        more = [random_node(view, moment.random) for _ in range(self._copies)]
        return [Send(peer, Forward(topic, newcomer, 0)) for peer in (*view, *more)]

    def _keep_or_pass_on(self, topic: int, node: Node, hops: int, moment: Moment) -> list[Action[Message]]:
        view = self._views.view(topic)
        if keeps(view, moment) and self._views.is_legal(topic, node):
            return self._keep(topic, node)
        if not view or hops >= MOST_FORWARDS:
            return []
        return [Send(random_node(view, moment.random), Forward(topic, node, hops + 1))]

    def _keep(self, topic: int, node: Node) -> list[Action[Message]]:
        if not self._views.is_legal(topic, node):
            return []
        self._views.add(topic, node)
        return [Send(node, Kept(topic))]

    def _leave(self, topic: int) -> list[Action[Message]]:
        view, holders = self._views.view(topic), list(self._views.holders.get(topic, {}))
        replaced = max(0, len(holders) - self._copies - 1) if view else 0
        told: list[Action[Message]] = [
            Send(peer, Replace(topic, view[at % len(view)] if at < replaced else NONE))
            for at, peer in enumerate(holders)
        ]
        self._views.unsubscribe(topic)
        return told

    def _replace(self, topic: int, node: Node, by: Node) -> list[Action[Message]]:
        self._views.remove(topic, node)
        return self._keep(topic, by)
