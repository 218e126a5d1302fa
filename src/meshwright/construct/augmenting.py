"""Drivers of the greedy that adds links to an overlay until topics are connected, or without cut nodes."""

from typing import Protocol

import numpy as np

from meshwright.construct.options import UNLIMITED
from meshwright.kernels.core import subgraphs
from meshwright.kernels.core.cost_arrays import CostArrays
from meshwright.kernels.core.subgraphs import TopicGraphs, TopicLists
from meshwright.kernels.greedy.augmenting import LinkCosts, Row, bound_rows, take_levels
from meshwright.kernels.greedy.blocks import (
    BLOCKS,
    COMPONENTS,
    NONE,
    Blocks,
    fill_blocks,
    find_mains,
    list_all,
    number_slots,
    start_apart,
    take_given,
)
from meshwright.model.costs.forms import by_cluster
from meshwright.runtime.arrays import Ids, Longs, Offsets, Ticks


class InterestArrays(Protocol):
    """What is needed of interests: those of nodes, and those of topics."""

    @property
    def indptr(self) -> Offsets:
        """By node: where its interests begin."""

    @property
    def topic_ids(self) -> Ids:
        """By interest, in the order of nodes."""

    @property
    def topic_indptr(self) -> Offsets:
        """By topic: where its subscribers begin."""

    @property
    def node_ids(self) -> Ids:
        """By subscription, in the order of topics."""

    @property
    def node_count(self) -> int:
        """How many nodes there are."""

    @property
    def topic_count(self) -> int:
        """How many topics there are."""

    def __len__(self) -> int:
        """How many interests there are."""


class Augmentation:
    """An overlay that grows link by link; memory is linear in the interests and the links of topics.

    Attributes:
        edges: those that it has.
        caps: by node, how many links it may have.

    Rings, rows of a topic and two ranks in it, are links of this topic alone, which blocks have beside edges.
    Where links have `costs`, links are chosen by contribution per cost; `cost_ids` are the ids of nodes
    there, unless they are the same.
    """

    def __init__(
        self,
        interests: InterestArrays,
        order: Ids,
        caps: Longs | None = None,
        rings: Ids | None = None,
        costs: CostArrays | None = None,
        cost_ids: Ids | None = None,
    ) -> None:
        nodes = interests.node_count
        self.edges = np.empty((0, 2), np.int32)
        self.caps = np.full(nodes, UNLIMITED) if caps is None else caps
        self._interests, self._order, self._rings = interests, order, rings
        ids = np.arange(nodes, dtype=np.int32) if cost_ids is None else cost_ids
        self._costs = LinkCosts(costs is not None, _EQUAL if costs is None else costs, ids)
        self._joining: Blocks | None = None
        self._degrees = np.zeros(nodes, np.int64)
        self._arrays = interests.indptr.copy(), interests.topic_ids.copy()
        self._starts, self._subscribers = interests.topic_indptr.copy(), interests.node_ids.copy()

    def take_in_order(self, edges: Ids, first: Ids) -> None:
        """Begin with all of the first edges, and with others that join components, if the caps allow."""
        self._joining = self._apart()
        self._take(first)
        self._degrees = np.bincount(first.ravel(), minlength=self._interests.node_count)
        taken = take_given(self._joining, np.ascontiguousarray(edges, np.int32), self._degrees, self.caps)
        self.edges = np.concatenate([first, edges[taken]])

    def take_all(self, edges: Ids, degrees: Longs | None = None) -> None:
        """Begin with all of some edges, whatever the caps say; nodes may have more links than these."""
        self.edges = np.ascontiguousarray(edges, np.int32).reshape(-1, 2)
        own = np.bincount(self.edges.ravel(), minlength=self._interests.node_count)
        self._degrees = own if degrees is None else degrees
        self._joining = None

    def take_more(self, edges: Ids) -> None:
        """Add edges, whatever the caps say."""
        self.take_all(np.concatenate([self.edges, edges]))

    def connect(self, ticks: Ticks) -> Longs:
        """Add links until all topics are connected or the caps allow none; by topic, what is missing."""
        if self._joining is None:
            self._joining = self._apart()
            self._take(self.edges)
        list_all(self._joining)
        return self._add(self._joining, COMPONENTS, ticks)

    def _take(self, edges: Ids) -> None:
        """Unite the components that edges join, whatever the caps say."""
        assert self._joining is not None
        nodes = self._interests.node_count
        take_given(self._joining, edges, np.zeros(nodes, np.int64), np.full(nodes, UNLIMITED))

    def thicken(self, ticks: Ticks) -> Longs:
        """Add links until no topic has a cut node or the caps allow none; by topic, how many blocks too many.

        All topics must be connected.
        """
        blocks = self._blocks(ticks)
        find_mains(blocks)
        return self._add(blocks, BLOCKS, ticks)

    def _blocks(self, ticks: Ticks) -> Blocks:
        blocks = self._room()
        graphs = sub_overlays(self._interests, self.edges)
        if self._rings is not None:
            graphs = _with_rings(graphs, self._rings)
        fill_blocks(graphs, self._subscribers, (0, self._interests.topic_count), blocks, ticks)
        number_slots(blocks)
        return blocks

    def _apart(self) -> Blocks:
        blocks = self._room()
        start_apart(self._subscribers, blocks)
        number_slots(blocks)
        return blocks

    def _room(self) -> Blocks:
        interests = len(self._interests)
        slots, members, names = (np.empty(interests, np.int32) for _ in range(3))
        tops = np.full(interests, NONE, np.int32)
        left, counts = np.zeros((2, self._interests.topic_count), np.int64)
        mains = np.full(self._interests.topic_count, NONE, np.int32)
        outside = np.empty(interests, np.int32)
        return Blocks(*self._arrays, slots, self._starts, members, names, tops, left, mains, outside, counts)

    def _add(self, blocks: Blocks, kind: int, ticks: Ticks) -> Longs:
        nodes, interests = self._interests.node_count, len(self._interests)
        row = Row(
            np.zeros(nodes, np.int64),
            np.empty(nodes, np.int32),
            np.empty(interests, np.int32),
            np.zeros(interests, np.int32),
            np.empty(interests, np.int32),
        )
        bounds = np.zeros(nodes)
        found = np.empty((int(blocks.left.sum()), 2), np.int32)
        bound_rows(blocks, kind, row, self._costs, bounds, self._degrees, self.caps, ticks)
        taken = take_levels(
            blocks,
            kind,
            row,
            self._costs,
            bounds,
            self._degrees,
            self.caps,
            self._order,
            _SLACK,
            found,
            ticks,
        )
        self.edges = np.concatenate([self.edges, found[:taken]])
        left: Longs = blocks.left
        return left


_EQUAL = by_cluster(1.0, 1.0, np.empty(0, np.int32))
_SLACK = 0.9
"""A link is taken if it contributes this share of the most. 1 takes twice as long for 0 to 1% fewer links."""


def _with_rings(graphs: TopicGraphs, rings: Ids) -> TopicGraphs:
    """Sub-overlays with other links of single topics."""
    topics = len(graphs.sizes)
    own = np.concatenate([np.repeat(np.arange(topics), np.diff(graphs.indptr)), rings[:, 0]])
    ends = np.concatenate([graphs.ends, rings[:, 1:]])[np.argsort(own, kind="stable")]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(own, minlength=topics))]).astype(np.int64)
    return graphs._replace(indptr=indptr, ends=np.ascontiguousarray(ends))


def sub_overlays(interests: InterestArrays, edges: Ids) -> TopicGraphs:
    """The sub-overlays of all topics, 8 bytes for each link of each topic."""
    topic_ids = interests.topic_ids.copy()
    ranks = subgraphs.interest_ranks(topic_ids, interests.topic_count)
    lists = TopicLists(interests.indptr.copy(), topic_ids, ranks)
    links = subgraphs.links_of(np.ascontiguousarray(edges, np.int32), interests.node_count)
    counts = np.zeros(interests.topic_count, np.int64)
    ticks, everyone = np.zeros(2, np.int64), (0, interests.node_count)
    subgraphs.count_topic_edges(lists, links, everyone, counts, ticks)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    ends = np.empty((indptr[-1], 2), np.int32)
    graphs = TopicGraphs(0, np.diff(interests.topic_indptr), indptr, ends, np.empty(0, np.int32))
    subgraphs.fill_topic_edges(lists, links, everyone, graphs, indptr[:-1].copy(), ticks)
    return graphs
