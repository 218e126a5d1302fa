"""The gossip protocols themselves, in the simulator: with loss, delay and churn."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from meshwright.gossip.local_views import LocalViews
from meshwright.gossip.messages import NONE, Join, Message
from meshwright.gossip.options import SimulationOptions, StanOptions
from meshwright.gossip.peer import Peer, Settings, make_peers
from meshwright.gossip.rounds import Watch
from meshwright.gossip.snapshots import snapshot
from meshwright.gossip.traffic import Traffic, TrafficCounter
from meshwright.gossip.weights import Weights, node_keys
from meshwright.model.interests import Interests
from meshwright.model.views import Views
from meshwright.net import Node, Protocol, Simulator
from meshwright.progress import Progress, stage
from meshwright.seeds import generator


def settings_of(options: StanOptions, conditions: SimulationOptions) -> Settings:
    """How the protocols of a node run, with a round as the unit of time."""
    return Settings(
        ttl=options.ttl,
        learn=options.learn,
        slowest=options.slowest,
        copies=conditions.copies,
        patience=conditions.patience if conditions.churn or conditions.keep_alive else 0,
    )


def run_simulation(
    views: Views,
    options: StanOptions,
    conditions: SimulationOptions,
    seed: int,
    watch: Watch | None = None,
    progress: Progress | None = None,
) -> tuple[Views, Traffic]:
    """StaN on every node from `views` on, in the simulator: the views after the last round, and what it took.

    A node sends its walks out every unit of time, from a random time in the first unit on; so at time r all
    have done so r times, and that is when round r is watched. With churn, keep-alive messages find who is
    gone, and views are those of the nodes that are there, without links to others.

    Some 20 µs a message: (ttl + 2) messages for each round and interest.
    """
    weights = Weights(node_keys(views.interests, seed))
    settings = settings_of(options, conditions)
    counter = TrafficCounter()
    simulator: Simulator[Message] = Simulator(
        make_peers(views.by_node(), weights, settings),
        delay=lambda source, target, message, random: float(random.exponential(conditions.delay)),
        loss=options.loss,
        seed=seed,
        watch=counter.note,
    )
    crowd = _Crowd(simulator, views.interests, weights, settings, seed)
    if watch is not None:
        watch(0, views, Traffic())
    now, before = views, Traffic()
    with stage(progress, "simulating rounds", options.rounds) as advance:
        for at in range(options.rounds):
            crowd.live_through(at, conditions.churn)
            now = snapshot(views.interests, _peers(simulator.protocols))
            if watch is not None:
                watch(at + 1, now, difference(counter.traffic, before))
            before = counter.traffic
            advance(at + 1)
    return now, counter.traffic


def scamp_views(
    interests: Interests, conditions: SimulationOptions, seed: int, progress: Progress | None = None
) -> Views:
    """The views that Scamp makes where the subscribers of each topic join one after another, in random order.

    Each joins through a random one of those before it, when the messages of the last have come to rest. About
    k² messages an interest, k being the view size.
    """
    settings = Settings(walks=False, copies=conditions.copies)
    weights = Weights(node_keys(interests, seed))
    nobody: list[dict[int, tuple[Node, ...]]] = [{} for _ in range(interests.node_count)]
    simulator = Simulator(make_peers(nobody, weights, settings), seed=seed)
    random = generator(seed, "gossip.joins")
    with stage(progress, "joining topics", len(interests)) as advance:
        for topic in range(interests.topic_count):
            first, end = interests.topic_indptr[topic : topic + 2].tolist()
            order = interests.node_ids[first:end][random.permutation(end - first)].tolist()
            for at, node in enumerate(order):
                contact = order[int(random.integers(at))] if at else NONE
                simulator.inject(node, Join(topic, contact))
                simulator.run()
                advance(first + at + 1)
    return snapshot(interests, _peers(simulator.protocols))


def difference(after: Traffic, before: Traffic) -> Traffic:
    """What came between."""
    return replace(after, **{name: count - getattr(before, name) for name, count in vars(after).items()})


def _peers(protocols: Mapping[Node, Protocol[Message]]) -> dict[Node, Peer]:
    return {node: peer for node, peer in protocols.items() if isinstance(peer, Peer)}


class _Crowd:
    """Who comes and goes."""

    def __init__(
        self,
        simulator: Simulator[Message],
        interests: Interests,
        weights: Weights,
        settings: Settings,
        seed: int,
    ) -> None:
        self._simulator, self._interests = simulator, interests
        self._weights, self._settings = weights, settings
        self._random = generator(seed, "gossip.churn")
        self._away: dict[Node, float] = {}

    def live_through(self, at: int, churn: float) -> None:
        """Run a round: some crash in it at random times, and those of the last round come back."""
        back = [(time, node) for node, time in self._away.items()]
        for time, node in sorted([*back, *self._crashes(at, churn)]):
            self._simulator.run(time)
            if node in self._away:
                del self._away[node]
                self._return(node)
            else:
                self._away[node] = time + 1.0
                self._simulator.remove(node)
        self._simulator.run(at + 1.0)

    def _crashes(self, at: int, churn: float) -> list[tuple[float, Node]]:
        here = [node for node in range(self._interests.node_count) if node not in self._away]
        count = min(round(churn * self._interests.node_count), len(here))
        gone = self._random.choice(np.array(here, np.int64), count, replace=False).tolist() if count else []
        return [(at + float(self._random.random()), node) for node in gone]

    def _return(self, node: Node) -> None:
        start, end = self._interests.indptr[node : node + 2]
        joins = [Join(topic, self._contact(topic)) for topic in self._interests.topic_ids[start:end].tolist()]
        self._simulator.add(node, Peer(LocalViews(node, self._weights, {}), self._settings, joins))

    def _contact(self, topic: int) -> Node:
        """A random subscriber that is there."""
        start, end = self._interests.topic_indptr[topic : topic + 2]
        here = [
            node for node in self._interests.node_ids[start:end].tolist() if node in self._simulator.protocols
        ]
        return here[int(self._random.integers(len(here)))] if here else NONE
