"""Try out a failure on a copy of a maintainer."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from meshwright.maintain.maintainer import Maintainer
from meshwright.maintain.repairs import Link
from meshwright.metrics.evaluation import evaluate
from meshwright.model.costs.costs import Costs
from meshwright.model.events import Event
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay


class Failure(NamedTuple):
    """What a failure of nodes would do.

    Attributes:
        revision: of the overlay that it was tried on.
        cut: the topics whose remaining subscribers would be parted until the repair, and into how many parts.
        opened, closed: the links that the repair would open, and those that would be gone.
        maximum_degree: after the repair.
    """

    revision: int
    cut: dict[str, int]
    opened: tuple[Link, ...]
    closed: tuple[Link, ...]
    maximum_degree: int


def fail_nodes(snapshot: bytes, costs: Costs | None, nodes: Sequence[str]) -> Failure:
    """What would happen if nodes failed at the same time. Linear in the overlay."""
    live = Maintainer.restore(snapshot, costs)
    revision = live.revision
    without = evaluate(_without(live.overlay, nodes), diameters=False, bound=False)
    cut = without.disconnected_topic_components()
    repair = live.apply([Event(0, "leave", node) for node in dict.fromkeys(nodes)])
    return Failure(revision, cut, repair.added, repair.removed, repair.maximum_degree)


def _without(overlay: Overlay, nodes: Sequence[str]) -> Overlay:
    """The overlay with these nodes there, but without topics and links."""
    interests = overlay.interests
    names = interests.nodes.to_pylist()
    gone = np.isin(np.array(names, dtype=object), list(nodes))
    owners = np.repeat(np.arange(len(names)), np.diff(interests.indptr))
    sizes = np.where(gone, 0, np.diff(interests.indptr))
    left = Interests(
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        interests.topic_ids[~gone[owners]],
        interests.nodes,
        interests.topics,
    )
    return Overlay.from_arrays(left, overlay.edges[~gone[overlay.edges].any(axis=1)])
