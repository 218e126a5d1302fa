"""Links that are asked for by name."""

from collections.abc import Iterable

import numpy as np

from meshwright.errors import InputError
from meshwright.kernels.arrays import Ids
from meshwright.kernels.live import share_topic
from meshwright.maintain.repairs import Link
from meshwright.maintain.state import State


def link_places(state: State, links: Iterable[Link], *, linked: bool) -> Ids:
    """Pairs of names as pairs of places, each once: links, or else pairs of nodes that share a topic."""
    pairs: dict[tuple[int, int], None] = {}
    for a, b in links:
        u, v = sorted((state.find(a), state.find(b)))
        if (v in state.row("links", u)) != linked:
            fault = "is no link" if linked else "is a link already"
            raise InputError(f"{a!r} - {b!r} {fault}; leave it out")
        if not linked and (u == v or not share_topic(state.live.topics, u, v)):
            raise InputError(f"{a!r} and {b!r} have no topic to share over a link; leave it out")
        pairs[u, v] = None
    return np.array(list(pairs), np.int32).reshape(-1, 2)
