"""Membership: Scamp puts nodes into views as they join topics and leave them; leases keep the views alive.

With leases, nodes stay in views and views keep their size while nodes crash and messages get lost.
"""

from collections.abc import Hashable, Iterable, Sequence

from meshwright.net import Action, Moment, Node, Protocol, Send, Wake
from meshwright.stan import messages
from meshwright.stan.local_views import LocalViews, random_node
from meshwright.stan.messages import MOST_FORWARDS, NONE, Message


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
            case messages.Join(topic, contact) if sender is None:
                return self._join(topic, contact)
            case messages.Leave(topic) if sender is None:
                return self._leave(topic)
            case messages.Subscribe(topic) if sender is not None:
                return self._introduce(topic, sender, moment)
            case messages.Forward(topic, node, hops):
                return self._keep_or_pass_on(topic, node, hops, moment)
            case messages.Replace(topic, by) if sender is not None and sender in self._views.view(topic):
                return self._replace(topic, sender, by)
        return []

    def _join(self, topic: int, contact: Node) -> list[Action[Message]]:
        self._views.subscribe(topic)
        if contact == NONE:
            return []
        self._views.add(topic, contact)
        return [Send(contact, messages.Subscribe(topic))]

    def _introduce(self, topic: int, newcomer: Node, moment: Moment) -> list[Action[Message]]:
        view = [peer for peer in self._views.view(topic) if peer != newcomer]
        if not view:
            return self._keep(topic, newcomer)
        more = [random_node(view, moment.random) for _ in range(self._copies)]
        return [Send(peer, messages.Forward(topic, newcomer, 0)) for peer in (*view, *more)]

    def _keep_or_pass_on(self, topic: int, node: Node, hops: int, moment: Moment) -> list[Action[Message]]:
        view = self._views.view(topic)
        if keeps(view, moment) and self._views.is_legal(topic, node):
            return self._keep(topic, node)
        if not view or hops >= MOST_FORWARDS:
            return []
        return [Send(random_node(view, moment.random), messages.Forward(topic, node, hops + 1))]

    def _keep(self, topic: int, node: Node) -> list[Action[Message]]:
        if not self._views.is_legal(topic, node):
            return []
        self._views.add(topic, node)
        return [Send(node, messages.Kept(topic))]

    def _leave(self, topic: int) -> list[Action[Message]]:
        view, holders = self._views.view(topic), list(self._views.holders.get(topic, {}))
        replaced = max(0, len(holders) - self._copies - 1) if view else 0
        told: list[Action[Message]] = [
            Send(peer, messages.Replace(topic, view[at % len(view)] if at < replaced else NONE))
            for at, peer in enumerate(holders)
        ]
        self._views.unsubscribe(topic)
        return told

    def _replace(self, topic: int, node: Node, by: Node) -> list[Action[Message]]:
        self._views.remove(topic, node)
        return self._keep(topic, by)


LOOK = "look"
"""The timer of the look at who has this node in its view."""

_SILENCE = 8
"""Periods after which a node that has not said again to have this node in its view is taken not to."""

_FEW = 1 / 4
"""Who is in fewer views than this share of its own places subscribes again. A node in as many random views as
it has places, 9 of them, has a chance of 0.6% to be in fewer than 9 / 4, so most never do."""


class Leases(Protocol[Message]):
    """Leases on one node: who is in too few views subscribes again, and no view grows or shrinks by it.

    Guarantee: crashes, returns and losses change the number of places of nobody else, and who returns has as
    many as somebody else of the topic. So where all views of a topic had equally many places, they still do,
    however long it goes on; and where they did not, the mean stays in expectation. Not so where nobody is
    left who knows: a topic whose nodes are all away at once begins anew, with one place each.

    - Every period a node counts, topic by topic, who has said to have it in a view. Where these are fewer
      than a quarter of its own places, it sends a renewal for each that is missing.
    - A renewal wanders as a subscription does, but who keeps it puts it into a vacant place, or into that
      of the peer it likes least. Who has the node already tells it so.
    - Who returns after a crash knows a contact, and asks how many places its view has, and for whom: first
      the contact, then every period another that it knows, until one answers who knows. Walks, and those
      who still have it in their views, fill what is vacant.

    Args:
        views: of this node.
        period: the time between looks.

    Source: the leases and the recovery from isolation of Scamp (Ganesh, Kermarrec, Massoulié, NGC 2001; IEEE
    Transactions on Computers, 2003), by which nodes subscribe again from time to time, their views as they
    are. There all do so, and ids run out; here keep-alive messages tell who has to. Nodes also join in
    exchange for a peer, and not in addition, in Cyclon (Voulgaris, Gavidia, van Steen, JNSM 2005).
    """

    def __init__(self, views: LocalViews, *, period: float) -> None:
        self._views, self._period = views, period
        self._asking: set[int] = set()

    def start(self, moment: Moment) -> Iterable[Action[Message]]:
        """Ask to look, once all who have this node in a view had time to say so."""
        del moment
        return [Wake(self._period, LOOK)]

    def wake(self, timer: Hashable, moment: Moment) -> Iterable[Action[Message]]:
        """Ask again for places; subscribe again to topics in which too few have this node in a view."""
        self._views.forget_holders(moment.now - _SILENCE * self._period)
        again: list[Action[Message]] = []
        for topic in self._views.topics:
            if topic in self._asking:
                again.extend(self._ask(topic, moment))
            again.extend(self._renew(topic, moment))
        return [*again, Wake(self._period, timer)]

    def _ask(self, topic: int, moment: Moment) -> list[Action[Message]]:
        known = [*self._views.view(topic), *self._views.holders.get(topic, ())]
        return [Send(random_node(known, moment.random), messages.AskPlaces(topic))] if known else []

    def _renew(self, topic: int, moment: Moment) -> list[Action[Message]]:
        view, renewal = self._views.view(topic), messages.Renewal(topic, self._views.node, 0)
        missing = self._missing(topic) if view else 0
        return [Send(random_node(view, moment.random), renewal) for _ in range(missing)]

    def _missing(self, topic: int) -> int:
        places, holders = self._views.places(topic), len(self._views.holders.get(topic, ()))
        return places - holders if holders < _FEW * places else 0

    def receive(self, message: Message, sender: Node | None, moment: Moment) -> Iterable[Action[Message]]:
        """Return to a topic; ask for places and tell of them; keep renewals or pass them on."""
        match message:
            case messages.Return(topic, contact) if sender is None:
                return self._return(topic, contact)
            case messages.AskPlaces(topic) if sender is not None and topic in self._views:
                return self._tell(topic, sender)
            case messages.Places(topic, count, nodes) if topic in self._asking:
                self._asking.discard(topic)
                self._views.make_room(topic, count)
                self._views.choose(topic, nodes)
            case messages.Renewal(topic, node, hops) if topic in self._views:
                return self._keep_or_pass_on(topic, node, hops, moment)
            case messages.Kept(topic) if sender is not None:
                self._views.note_holder(topic, sender, moment.now)
        return []

    def _return(self, topic: int, contact: Node) -> list[Action[Message]]:
        self._views.subscribe(topic)
        if contact == NONE:
            return []
        self._views.add(topic, contact)
        self._asking.add(topic)
        return [Send(contact, messages.AskPlaces(topic))]

    def _tell(self, topic: int, sender: Node) -> list[Action[Message]]:
        """Who has forgotten itself does not answer; who is alone in the topic takes the other in."""
        if topic in self._asking:
            return []
        if not self._views.view(topic):
            self._views.add(topic, sender)
        return [
            Send(sender, messages.Places(topic, self._views.places(topic), tuple(self._views.view(topic))))
        ]

    def _keep_or_pass_on(self, topic: int, node: Node, hops: int, moment: Moment) -> list[Action[Message]]:
        view = self._views.view(topic)
        if keeps(view, moment) and self._views.is_legal(topic, node):
            self._views.exchange(topic, node)
        if node in self._views.view(topic):
            return [Send(node, messages.Kept(topic))]
        if not view or hops >= MOST_FORWARDS:
            return []
        return [Send(random_node(view, moment.random), messages.Renewal(topic, node, hops + 1))]
