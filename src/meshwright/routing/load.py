"""Load: how many messages each node is expected to send on while topics are published on."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from meshwright.metrics.statistics import greatest
from meshwright.model.dense import transposed
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.model.rates import rates_of
from meshwright.routing.trees import grown_trees
from meshwright.runtime.arrays import Floats, Ticks
from meshwright.runtime.columns import arrow_of
from meshwright.runtime.errors import InputError
from meshwright.runtime.machine import cores
from meshwright.runtime.parallel import Chunk, map_parts
from meshwright.runtime.progress import DONE, Progress
from meshwright.runtime.wording import type_of

_MOST_NAMED = 10
_INTERESTS_A_BLOCK = 1 << 23


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
    that it came from. The trees are those of `export --tree`: of shortest paths, or of lowest cost. Linear
    where links don't cost. Each core has the trees of some 8 million interests in memory at a time.

    Example:
        >>> import meshwright as mw
        >>> star = mw.Interests.from_pairs([(node, "news") for node in "abcd"])
        >>> overlay = mw.Overlay.from_edges(star, [("a", "b"), ("a", "c"), ("a", "d")])
        >>> mw.expected_load(overlay).busiest
        {'a': 2.25, 'b': 0.25, 'c': 0.25, 'd': 0.25}
    """
    if not isinstance(overlay, Overlay):
        raise InputError(f"expected_load got {type_of(overlay)}; give an Overlay, such as build(…) makes")
    interests = overlay.interests
    by_node: Floats = np.zeros(interests.node_count)
    blocks = _blocks(interests)
    for first in range(0, len(blocks), cores()):
        for load in _loads(overlay, blocks[first : first + cores()], tree, progress):
            by_node += load
    busiest = greatest(by_node, _MOST_NAMED)
    names = interests.nodes.take(arrow_of(busiest)).to_pylist()
    return Load(
        maximum=float(by_node.max(initial=0.0)),
        mean=float(by_node.mean()) if len(by_node) else 0.0,
        busiest=dict(zip(names, by_node[busiest].tolist(), strict=True)),
        by_node=by_node,
    )


def _loads(overlay: Overlay, blocks: list[Chunk], tree: str, progress: Progress | None) -> list[Floats]:
    """The load of each block of topics alone, in order: sums of it are the same on any number of cores."""
    interests = overlay.interests
    if blocks == [(0, interests.topic_count)]:
        return [_load(overlay, tree, progress)]

    def load(block: Chunk, ticks: Ticks) -> Floats:
        own = replace(overlay, interests=_with_topics(interests, *block), tables={})
        found = _load(own, tree)
        ticks[DONE] += block[1] - block[0]
        return found

    topics = sum(last - first for first, last in blocks)
    return map_parts(load, blocks, "growing trees", topics, progress)


def _load(overlay: Overlay, tree: str, progress: Progress | None = None) -> Floats:
    grown = grown_trees(overlay, tree, progress)
    inner, sizes = grown.parents >= 0, np.diff(grown.links.topic_indptr)
    topics = np.repeat(np.arange(len(sizes)), sizes)
    neighbours = np.bincount(grown.parents[inner], minlength=len(topics)) + inner
    sent = rates_of(overlay.interests)[topics] * (neighbours - 1 + 1 / np.maximum(sizes, 1)[topics])
    counted = np.where(sizes[topics] > 1, sent, 0.0)
    found: Floats = np.bincount(grown.links.nodes, counted, overlay.interests.node_count).astype(np.float64)
    return found


def _blocks(interests: Interests) -> list[Chunk]:
    """Ranges of topics whose interests are not too many; a topic that has more is alone."""
    ends = interests.topic_indptr
    blocks = list[Chunk]()
    first = 0
    while first < interests.topic_count:
        fits = int(np.searchsorted(ends, ends[first] + _INTERESTS_A_BLOCK, side="right")) - 1
        blocks.append((first, max(fits, first + 1)))
        first = blocks[-1][1]
    return blocks


def _with_topics(interests: Interests, first: int, last: int) -> Interests:
    """The same nodes, and the topics from `first` up to, not with, `last`."""
    ends = interests.topic_indptr[first : last + 1]
    lists = transposed(ends - ends[0], interests.node_ids[ends[0] : ends[-1]], interests.node_count)
    known = interests.topic_attributes
    return replace(
        interests,
        indptr=lists[0],
        topic_ids=lists[1],
        topics=interests.topics.slice(first, last - first),
        topic_attributes=None if known is None else known.slice(first, last - first),
    )
