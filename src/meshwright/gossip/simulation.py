"""The gossip protocols themselves, in the simulator: with loss, delay and churn."""

from meshwright.gossip.carrying import Scene, carry_rounds
from meshwright.gossip.messages import NONE, Join, Message
from meshwright.gossip.options import SimulationOptions, StanOptions
from meshwright.gossip.peer import Settings, make_peers
from meshwright.gossip.rounds import Watch
from meshwright.gossip.snapshots import snapshot
from meshwright.gossip.traffic import Traffic, TrafficCounter
from meshwright.gossip.weights import Weights, node_keys
from meshwright.model.interests import Interests
from meshwright.model.views import Views
from meshwright.net import Node, Simulator
from meshwright.progress import Progress, stage
from meshwright.seeds import generator


def run_simulation(
    views: Views,
    options: StanOptions,
    conditions: SimulationOptions,
    seed: int,
    watch: Watch | None = None,
    progress: Progress | None = None,
) -> tuple[Views, Traffic]:
    """StaN on every node from `views` on, in the simulator: see `carry_rounds`.

    Some 20 µs a message: (ttl + 2) messages for each round and interest.
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
    return snapshot(interests, simulator.protocols)
