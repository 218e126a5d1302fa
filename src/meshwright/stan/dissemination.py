"""Events: flooding inside topics, over physical links that topics share."""

from collections.abc import Iterable

from meshwright.net import Action, Deliver, Moment, Node, Protocol, Send
from meshwright.net.protocol import Seen
from meshwright.runtime.errors import InputError
from meshwright.stan.local_views import LocalViews
from meshwright.stan.messages import Event, Message


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
