"""What single failures would cut: cut nodes and bridges of topics, and the nodes that are worst to lose."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from meshwright.kernels.core.subgraphs import TopicGraphs
from meshwright.kernels.metrics.cut_nodes import measure_cuts
from meshwright.metrics.statistics import greatest
from meshwright.runtime.arrays import Ids, Offsets, Ticks
from meshwright.runtime.parallel import Chunk, balanced_chunks, on_all_cores
from meshwright.runtime.progress import Progress

MOST_NAMED = 10
"""How many of the nodes that are worst to lose are named."""


@dataclass(frozen=True, kw_only=True)
class Failures:
    """What is lost where one node fails, or one link.

    Attributes:
        cut_nodes: by topic, the subscribers whose loss parts the others.
        bridges: by topic, the links whose loss parts its subscribers.
        topics_cut: by node, how many topics its loss would cut.
        cut_off: by node, the subscriptions that its loss would cut off: in each topic, the subscribers that
            are then not in the largest part of those that were connected before.
    """

    cut_nodes: Ids
    bridges: Ids
    topics_cut: Offsets
    cut_off: Offsets

    @classmethod
    def none(cls, topics: int, nodes: int) -> "Failures":
        """Nothing that could fail: no topic has a link."""
        by_topic = np.zeros((2, topics), np.int32)
        by_node = np.zeros((2, nodes), np.int64)
        return cls(cut_nodes=by_topic[0], bridges=by_topic[1], topics_cut=by_node[0], cut_off=by_node[1])

    def add(self, nodes: Ids, lost: Offsets | Ids) -> None:
        """Count what the loss of nodes cuts off, each in one topic; those without a loss don't count."""
        chosen = np.flatnonzero(lost)
        np.add.at(self.topics_cut, nodes[chosen], 1)
        np.add.at(self.cut_off, nodes[chosen], lost[chosen])

    def to_json(self) -> dict[str, Any]:
        """The numbers by name."""
        return {
            "cut_nodes_topics": int(np.count_nonzero(self.cut_nodes > 0)),
            "bridge_topics": int(np.count_nonzero(self.bridges > 0)),
            "cut_nodes": int(np.count_nonzero(self.topics_cut)),
        }

    def worst(self, names_of: Callable[[Offsets], Sequence[str]]) -> "list[DangerousNode]":
        """The nodes that are worst to lose, the worst first; of equal ones, the lower id comes first."""
        ids = greatest(self.cut_off, MOST_NAMED)
        numbers = zip(names_of(ids), self.topics_cut[ids].tolist(), self.cut_off[ids].tolist(), strict=True)
        return [DangerousNode(name=name, topics=topics, cut_off=lost) for name, topics, lost in numbers]


@dataclass(frozen=True, kw_only=True)
class DangerousNode:
    """A node, how many topics its loss would cut, and how many subscriptions in them it would cut off."""

    name: str
    topics: int
    cut_off: int


def add_failures(
    graphs: TopicGraphs, subscribers: Ids, starts: Offsets, found: Failures, progress: Progress | None
) -> None:
    """Write what failures would cut in some topics, whose sub-overlays these are.

    `subscribers` are those of all topics, and `starts` say where those of each begin. Linear in the
    subscribers and links of the topics.
    """

    def measure(turns: Iterator[Chunk], ticks: Ticks) -> list[tuple[Ids, Ids]]:
        own = []
        for first, last in turns:
            here = slice(graphs.first_topic + first, graphs.first_topic + last)
            some = graphs._replace(sizes=graphs.sizes[first:last], indptr=graphs.indptr[first : last + 1])
            members = subscribers[starts[here.start] : starts[here.stop]]
            lost = np.zeros(len(members), np.int32)
            measure_cuts(some, found.cut_nodes[here], found.bridges[here], lost, ticks)
            chosen = np.flatnonzero(lost)
            own.append((members[chosen], lost[chosen]))
        return own

    chunks = balanced_chunks(graphs.sizes + np.diff(graphs.indptr))
    for by_thread in on_all_cores(measure, chunks, "finding cut nodes", progress):
        for nodes, lost in by_thread:
            found.add(nodes, lost)
