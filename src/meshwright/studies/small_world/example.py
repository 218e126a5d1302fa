"""The running example of [4], Fig. 1: sixteen nodes on a ring, and what Protocol 3 sends among them."""

from typing import NamedTuple

import numpy as np

from meshwright.model.fingers import Fingers
from meshwright.model.interests import Interests
from meshwright.net import Happening, Simulator
from meshwright.routing.protocols import Nsmf, Publication, RangedMessage, nsmf_routers, peers_of

SUBSCRIBERS = (1, 5, 7, 9, 11, 14)
PUBLICATION = Publication(number=0, topic=0)


class Example(NamedTuple):
    """What Fig. 1 shows."""

    fingers: Fingers
    routers: dict[int, Nsmf]


def figure_1() -> Example:
    """Node 1 has the fingers 2, 4, 7 and 11; those of the others, which [4] does not state, are Chord's."""
    targets = ((np.arange(16)[:, None] + np.array([1, 2, 4, 8])) % 16).astype(np.int32)
    targets[1] = [2, 4, 7, 11]
    names = [f"n{node:02}" for node in range(16)]
    interests = Interests.from_pairs([(names[node], "t") for node in SUBSCRIBERS], nodes=names)
    fingers = Fingers(np.arange(16), 16, targets)
    return Example(fingers, nsmf_routers(interests, fingers, peers_of(fingers, both_ways=False)))


def course(low: int = 1, high: int = 10) -> list[Happening]:
    """All that happens when node `low` gets a message for the range from there to before `high`."""
    seen: list[Happening] = []
    simulator = Simulator(figure_1().routers, watch=seen.append)
    simulator.inject(low, RangedMessage(PUBLICATION, 0, low, high))
    simulator.run()
    return seen
