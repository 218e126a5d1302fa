"""Load: how many messages each node is expected to send on while topics are published on."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from meshwright.metrics.statistics import greatest
from meshwright.model.overlay import Overlay
from meshwright.model.rates import rates_of
from meshwright.routing.trees import topic_trees
from meshwright.runtime.arrays import Floats
from meshwright.runtime.columns import arrow_of
from meshwright.runtime.progress import Progress

_MOST_NAMED = 10


@dataclass(frozen=True, kw_only=True)
class Load:
    """The messages that nodes send on, in the unit of time that rates are in.

    Attributes:
        maximum: of the node that sends most.
        mean: over all nodes.
        busiest: up to ten nodes that send most, by name, falling.
        by_node: of each node, by id.
    """

    maximum: float
    mean: float
    busiest: dict[str, float]
    by_node: Floats

    def to_json(self) -> dict[str, Any]:
        """All but the numbers of all nodes, in JSON's types."""
        return {"maximum_load": self.maximum, "mean_load": self.mean, "busiest": self.busiest}


def expected_load(overlay: Overlay, tree: str = "shortest", progress: Progress | None = None) -> Load:
    """How many messages each node is expected to send, if each topic uses its tree inside the overlay.

    A topic is published on as often as the column `rate` of its topic says, once where there is none, and by
    each of its subscribers alike. A node sends a message on to all its neighbours in the tree but the one
    that it came from. The trees are those of `export --tree`: of shortest paths, or of lowest cost. Linear,
    beside the trees.

    Example:
        >>> import meshwright as mw
        >>> star = mw.Interests.from_pairs([(node, "news") for node in "abcd"])
        >>> overlay = mw.Overlay.from_edges(star, [("a", "b"), ("a", "c"), ("a", "d")])
        >>> mw.expected_load(overlay).busiest
        {'a': 2.25, 'b': 0.25, 'c': 0.25, 'd': 0.25}
    """
    interests = overlay.interests
    trees = topic_trees(overlay, tree, progress)
    sizes = np.diff(trees.topic_indptr)
    topics = np.repeat(np.arange(len(sizes)), sizes)
    neighbours = np.diff(trees.links.indptr)
    sent = rates_of(interests)[topics] * (neighbours - 1 + 1 / np.maximum(sizes, 1)[topics])
    counted = np.where(sizes[topics] > 1, sent, 0.0)
    by_node: Floats = np.bincount(trees.nodes, counted, interests.node_count).astype(np.float64)
    busiest = greatest(by_node, _MOST_NAMED)
    names = interests.nodes.take(arrow_of(busiest)).to_pylist()
    return Load(
        maximum=float(by_node.max(initial=0.0)),
        mean=float(by_node.mean()) if len(by_node) else 0.0,
        busiest=dict(zip(names, by_node[busiest].tolist(), strict=True)),
        by_node=by_node,
    )
