"""The protocols themselves, carried by the simulator: slower than the kernels, with the same counts."""

from collections.abc import Mapping
from typing import Any

from meshwright.kernels.routing_arrays import Tally, Weather
from meshwright.model.interests import Interests
from meshwright.net import Node, Simulator
from meshwright.progress import Progress, stage
from meshwright.route.counts import Counter
from meshwright.route.publications import Publications
from meshwright.route.router import Message, Publication, Router


def simulate(
    routers: Mapping[Node, Router[Any]],
    interests: Interests,
    publications: Publications,
    weather: Weather,
    progress: Progress | None = None,
) -> Tally:
    """Issue the publications one after another, each when the one before has come to rest."""
    from meshwright.kernels.chance import is_lost

    def loses(source: Node, target: Node, message: Message, random: object) -> bool:
        del random
        return is_lost(weather.key, weather.loss, message.publication.number, source, target)

    counter = Counter(interests, len(publications))
    alive = {node: router for node, router in routers.items() if weather.alive[node]}
    simulator: Simulator[Any] = Simulator(alive, loss=loses, watch=counter.note)
    issuers = publications.issuers(interests).tolist()
    with stage(progress, "carrying publications", len(publications)) as advance:
        for number, (topic, issuer) in enumerate(zip(publications.topics.tolist(), issuers, strict=True)):
            simulator.inject(issuer, routers[issuer].publish(Publication(number, topic)))
            simulator.run()
            advance(number + 1)
    return counter.tally
