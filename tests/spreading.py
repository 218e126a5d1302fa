"""Events over the views of a gossip overlay, in the simulator: how many messages, and whom they reach."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from meshwright.model.interests import Interests
from meshwright.model.views import Views
from meshwright.net import Happening, Node, Simulator, What
from meshwright.runtime.errors import InputError, OptionError
from meshwright.runtime.progress import Progress, stage
from meshwright.runtime.seeds import generator
from meshwright.stan.local_views import LocalViews, Weights
from meshwright.stan.messages import Event, Message
from meshwright.stan.peer import Dissemination


class Publishing(NamedTuple):
    """A publisher, and the topics of its event."""

    node: Node
    topics: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Spread:
    """What it took to spread events.

    Attributes:
        events: how many were published; apart, one for each topic.
        messages: that crossed a physical link, those that got lost included.
        deliveries: to applications, publishers left out.
        duplicates: messages with an event that the node had already.
        foreign: messages that came to who subscribes to none of the event's topics.
        reached_fraction: deliveries over the subscribers there are, publishers left out; 1 without any.
    """

    events: int
    messages: int
    deliveries: int
    duplicates: int
    foreign: int
    reached_fraction: float


def draw_publishings(interests: Interests, count: int, topics: int, seed: int) -> list[Publishing]:
    """Publishers with at least so many topics, all equally likely, and so many random ones of theirs each."""
    able = np.flatnonzero(np.diff(interests.indptr) >= topics)
    if not len(able):
        raise OptionError(f"no node has {topics} topics to publish on; give fewer")
    random = generator(seed, "gossip.events")
    found = []
    for node in able[random.integers(0, len(able), count)].tolist():
        own = interests.topic_ids[interests.indptr[node] : interests.indptr[node + 1]]
        found.append(Publishing(node, tuple(sorted(random.choice(own, topics, replace=False).tolist()))))
    return found


def spread(
    views: Views,
    publishings: Sequence[Publishing],
    *,
    apart: bool = False,
    loss: float = 0.0,
    seed: int = 0,
    progress: Progress | None = None,
) -> Spread:
    """Publish events one after another, each when the one before has come to rest, and count.

    With `apart` the event of several topics is published as several, one in each: what overlays that share
    nothing have to do. Some 20 µs per message.
    """
    if apart:
        publishings = [Publishing(node, (topic,)) for node, topics in publishings for topic in topics]
    weights = Weights(np.zeros(views.interests.node_count, np.uint64))  # nothing is chosen here
    nodes = {node: Dissemination(LocalViews(node, weights, own)) for node, own in enumerate(views.by_node())}
    counter = _Counter(views.interests)
    simulator: Simulator[Message] = Simulator(nodes, loss=loss, seed=seed, watch=counter.note)
    expected = 0
    with stage(progress, "spreading events", len(publishings)) as advance:
        for number, (node, topics) in enumerate(publishings):
            if node not in nodes:
                raise InputError(f"node {node} publishes; give one from 0 to {len(nodes) - 1}")
            simulator.inject(node, nodes[node].publish(number, topics))
            simulator.run()
            expected += len(counter.subscribers(topics)) - 1
            advance(number + 1)
    return Spread(
        events=len(publishings),
        messages=counter.messages,
        deliveries=counter.deliveries,
        duplicates=counter.received - counter.deliveries - counter.foreign,
        foreign=counter.foreign,
        reached_fraction=counter.deliveries / expected if expected else 1.0,
    )


class _Counter:
    def __init__(self, interests: Interests) -> None:
        self.messages = self.received = self.deliveries = self.foreign = 0
        bounds = interests.topic_indptr.tolist()
        nodes = interests.node_ids.tolist()
        self._subscribers = [
            frozenset(nodes[bounds[topic] : bounds[topic + 1]]) for topic in range(interests.topic_count)
        ]

    def subscribers(self, topics: tuple[int, ...]) -> frozenset[Node]:
        """Who subscribes to any of the topics."""
        return frozenset().union(*(self._subscribers[topic] for topic in topics))

    def note(self, happening: Happening) -> None:
        """Count one thing that happened."""
        event: Event = happening.message
        if happening.what is What.SENT:
            self.messages += 1
        elif happening.what is What.DELIVERED:
            self.deliveries += 1
        elif happening.what is What.RECEIVED and happening.source is not None:
            self.received += 1
            self.foreign += not any(happening.target in self._subscribers[topic] for topic in event.topics)
