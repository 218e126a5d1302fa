"""Rounds of gossip by the protocols themselves, in the simulator or on real sockets.

The simulator adds loss, delay and churn.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from meshwright.model.interests import Interests
from meshwright.model.views import Views
from meshwright.net import Node, Simulator
from meshwright.runtime.progress import Progress, stage
from meshwright.runtime.seeds import generator
from meshwright.stan.local_views import LocalViews, Weights, node_keys, snapshot
from meshwright.stan.lock_step import Watch
from meshwright.stan.messages import NONE, Join, Message, Return, Traffic, TrafficCounter
from meshwright.stan.options import SimulationOptions, StanOptions
from meshwright.stan.peer import Peer, Settings, make_peers


class Carrier(Protocol):
    """What carries messages among protocols, and keeps their time."""

    @property
    def protocols(self) -> Mapping[Node, Any]:
        """What runs on the nodes that are there now."""

    def add(self, node: Node, protocol: Any) -> None:
        """Let a node join now."""

    def remove(self, node: Node) -> None:
        """Let a node go now, without a word to anybody."""

    def run(self, until: float) -> None:
        """Let everything happen that happens before a time."""


@dataclass(frozen=True)
class Scene:
    """What a run begins with; a round is the unit of time."""

    views: Views
    options: StanOptions
    conditions: SimulationOptions
    seed: int

    @property
    def settings(self) -> Settings:
        """How the protocols of a node run."""
        conditions = self.conditions
        return Settings(
            ttl=self.options.ttl,
            learn=self.options.learn,
            slowest=self.options.slowest,
            copies=conditions.copies,
            patience=conditions.patience if conditions.churn or conditions.keep_alive else 0,
        )

    @property
    def weights(self) -> Weights:
        """By which nodes prefer others."""
        return Weights(node_keys(self.views.interests, self.seed))

    def peers(self) -> dict[Node, Peer]:
        """What runs on the nodes at first."""
        return make_peers(self.views.by_node(), self.weights, self.settings)


def carry_rounds(
    carrier: Carrier,
    counter: TrafficCounter,
    scene: Scene,
    watch: Watch | None = None,
    progress: Progress | None = None,
) -> tuple[Views, Traffic]:
    """Let all rounds pass on a carrier of `scene.peers()`: the views after the last, and what they took.

    A node sends its walks out every unit of time, from a random time in the first unit on; so at time r all
    have done so r times, and that is when round r is watched. What is sent after that counts for the next
    round, or, after the last, for none. With churn, keep-alive messages find who is gone, and views are
    those of the nodes that are there, without links to others.
    """
    interests, rounds = scene.views.interests, scene.options.rounds
    crowd = _Crowd(carrier, scene)
    if watch is not None:
        watch(0, scene.views, Traffic())
    now = scene.views
    with stage(progress, "running rounds", rounds) as advance:
        for at in range(rounds):
            crowd.live_through(at, scene.conditions.churn)
            now = snapshot(interests, carrier.protocols)
            if watch is not None:
                watch(at + 1, now, difference(counter.before(at + 1), counter.before(at)))
            advance(at + 1)
    return now, counter.before(rounds)


def difference(after: Traffic, before: Traffic) -> Traffic:
    """What came between."""
    return replace(after, **{name: count - getattr(before, name) for name, count in vars(after).items()})


class _Crowd:
    """Who comes and goes."""

    def __init__(self, carrier: Carrier, scene: Scene) -> None:
        self._carrier, self._interests = carrier, scene.views.interests
        self._weights, self._settings = scene.weights, scene.settings
        self._random = generator(scene.seed, "gossip.churn")
        self._away: dict[Node, float] = {}

    def live_through(self, at: int, churn: float) -> None:
        """Run a round: some crash in it at random times, and those of the last round come back."""
        back = [(time, node) for node, time in self._away.items()]
        for time, node in sorted([*back, *self._crashes(at, churn)]):
            self._carrier.run(time)
            if node in self._away:
                del self._away[node]
                self._return(node)
            else:
                self._away[node] = time + 1.0
                self._carrier.remove(node)
        self._carrier.run(at + 1.0)

    def _crashes(self, at: int, churn: float) -> list[tuple[float, Node]]:
        here = [node for node in range(self._interests.node_count) if node not in self._away]
        count = min(round(churn * self._interests.node_count), len(here))
        gone = self._random.choice(np.array(here, np.int64), count, replace=False).tolist() if count else []
        return [(at + float(self._random.random()), node) for node in gone]

    def _return(self, node: Node) -> None:
        start, end = self._interests.indptr[node : node + 2]
        topics = self._interests.topic_ids[start:end].tolist()
        joins = [Return(topic, self._contact(topic, node)) for topic in topics]
        self._carrier.add(node, Peer(LocalViews(node, self._weights, {}), self._settings, joins))

    def _contact(self, topic: int, node: Node) -> Node:
        """A random other subscriber that is there."""
        start, end = self._interests.topic_indptr[topic : topic + 2]
        subscribers = self._interests.node_ids[start:end].tolist()
        here = [other for other in subscribers if other != node and other not in self._away]
        return here[int(self._random.integers(len(here)))] if here else NONE


def run_simulation(
    views: Views,
    options: StanOptions,
    conditions: SimulationOptions,
    seed: int,
    watch: Watch | None = None,
    progress: Progress | None = None,
) -> tuple[Views, Traffic]:
    """StaN on every node from `views` on, in the simulator: see `carry_rounds`.

    Some 20 µs per message: (ttl + 2) messages for each round and interest.
    """
    scene, counter = Scene(views, options, conditions, seed), TrafficCounter()
    simulator: Simulator[Message] = Simulator(
        scene.peers(),
        delay=lambda source, target, message, random: float(random.exponential(conditions.delay)),
        loss=options.loss,
        seed=seed,
        watch=counter.note,
    )
    return carry_rounds(simulator, counter, scene, watch, progress)


def scamp_views(
    interests: Interests, conditions: SimulationOptions, seed: int, progress: Progress | None = None
) -> Views:
    """The views that Scamp makes where the subscribers of each topic join one after another, in random order.

    Each joins through a random one of those before it, when the messages of the last have come to rest. About
    k² messages per interest, k being the view size.
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
    return snapshot(interests, simulator.protocols)
