"""Flooding inside a topic: every subscriber hands on what is new to it to all its neighbours in the topic."""

from collections.abc import Iterable, Mapping
from itertools import pairwise

from meshwright.kernels.routing_arrays import TopicLinks
from meshwright.net import Action, Deliver, Moment, Node, Send
from meshwright.net.seen import Seen
from meshwright.route.router import Message, Publication, Router


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
