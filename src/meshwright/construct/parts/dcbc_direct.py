"""Bulk clones without parts: every lightweight node, on its own, links to a few bulk nodes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from meshwright.construct.greedy_driver import GreedyResult, tie_order
from meshwright.construct.options import DcbcDirectOptions
from meshwright.construct.parts.bulk import BulkSet, bulk_by_size
from meshwright.construct.parts.conquer import Part
from meshwright.construct.parts.dcbc import bulk_facts, join_bulk, ordered_bulk, part_without_stars
from meshwright.construct.parts.interest_queries import InProcess, Source
from meshwright.construct.parts.topic_lists import Lists
from meshwright.kernels.greedy.covering import MOST_TOPICS, BulkTopics, cover_nodes, list_bulk_topics
from meshwright.model.costs.costs import Costs
from meshwright.model.edges import Built
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Flags, Ids, Offsets, Ticks
from meshwright.runtime.parallel import map_parts
from meshwright.runtime.progress import Progress
from meshwright.runtime.seeds import generator

NODES_A_PART = 8192
"""By node id. Each part balances the load of the bulk nodes by itself, so this settles the overlay."""

_SHARE = 0.2
_MOST_BULK = 2000


class Shared(NamedTuple):
    """What every part must know of the bulk set; a place is a position in `bulk`."""

    bulk: Ids
    topics: BulkTopics
    links: Offsets  # by place: the links to other bulk nodes that a part has to reckon with


def bulk_clones_direct(
    interests: Interests,
    costs: Costs | None,
    options: DcbcDirectOptions,
    seed: int,
    progress: Progress | None,
) -> Built:
    """Greedy Merge on a bulk set, and for every other node a greedy cover of its topics by bulk nodes.

    Guarantee: topic-connected; every edge has an end in the bulk set, so a topic's diameter is at most that
    of its bulk subscribers plus two. A lightweight node has at most 1 + ln(its topics) times the
    links to bulk nodes that it needs, with no `slack`. With all nodes bulk it is Greedy Merge, edge for edge.
    Costs change nothing.

    Cost: that of Greedy Merge on the bulk set, whose size is bounded, and a pass over the other nodes in
    which an interest costs at most two additions for each bulk node that has the topic, or a sixteenth of
    that for each bulk node at all. Nodes need to know the bulk set alone, not each other.

    Source: ours, after [1], Alg. 6, which also allows links between lightweight nodes of one part (see
    `dcbc`). `DcbcDirectOptions` tells how the bulk set is chosen.
    """
    del costs
    planned = plan(InProcess(interests), options, seed, progress)

    def one(part: int, ticks: Ticks) -> Part:
        lists = _lists(interests, slice(part * NODES_A_PART, (part + 1) * NODES_A_PART))
        rows = np.flatnonzero(planned.is_light[lists.nodes]).astype(np.int32)
        return conquer(part, lists, rows, planned.shared, options.slack, seed, ticks)

    light = len(planned.chosen.light)
    conquered = map_parts(one, range(planned.partitions), "covering topics", light, progress)
    edges = np.concatenate([planned.bulk_edges, *(part.edges for part in conquered)])
    return Built(edges=edges, facts=facts_of(planned, [part.facts for part in conquered]))


@dataclass(frozen=True, kw_only=True)
class CoverPlan:
    """The bulk set, joined, and what every part must know of it.

    Attributes:
        chosen: the bulk set and the lightweight nodes.
        shared: what a part must know.
        among_bulk: the edges between bulk nodes, as places in the bulk set.
        is_light: by node, whether it is lightweight.
        partitions: how many parts there are.
    """

    chosen: BulkSet
    shared: Shared
    among_bulk: GreedyResult
    is_light: Flags
    partitions: int

    @property
    def bulk_edges(self) -> Ids:
        """The edges between bulk nodes, as node ids."""
        found: Ids = self.shared.bulk[self.among_bulk.edges]
        return found


def plan(
    source: Source, options: DcbcDirectOptions, seed: int, progress: Progress | None = None
) -> CoverPlan:
    """Choose the bulk nodes and join them; linear in the interests, and Greedy Merge on the bulk set."""
    chosen = _choose_bulk(source, options, seed)
    bulk = ordered_bulk(chosen, source.node_count, seed)
    among_bulk = join_bulk(bulk, source.topic_count, options.memory_limit, progress)
    partitions = -(-source.node_count // NODES_A_PART)
    is_light = np.zeros(source.node_count, np.bool_)
    is_light[chosen.light] = True
    return CoverPlan(
        chosen=chosen,
        shared=_share(bulk, source.topic_count, among_bulk, partitions),
        among_bulk=among_bulk,
        is_light=is_light,
        partitions=partitions,
    )


def facts_of(planned: CoverPlan, conquered: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """What the algorithm reports, of the plan and the facts of all parts."""
    outer_edges = sum(counts["outer_edges"] for counts in conquered)
    return bulk_facts(planned.chosen, planned.among_bulk) | {"outer_edges": outer_edges}


def _choose_bulk(source: Source, options: DcbcDirectOptions, seed: int) -> BulkSet:
    bulk_size = options.bulk_size
    if bulk_size is None:
        bulk_size = min(int(_SHARE * source.node_count), _MOST_BULK)
    order = tie_order(np.zeros(source.node_count, np.int64), "shuffled", seed)
    return bulk_by_size(source, order, bulk_size=bulk_size, most_topics=MOST_TOPICS, crowd=options.crowd)


def _share(bulk: Lists, topic_count: int, among_bulk: GreedyResult, parts: int) -> Shared:
    every = np.arange(len(bulk.nodes), dtype=np.int32)
    topics = list_bulk_topics(bulk.indptr, bulk.topic_ids, topic_count, every)
    links = np.bincount(among_bulk.edges.ravel(), minlength=len(every)) // max(1, parts)
    return Shared(bulk=bulk.nodes, topics=topics, links=links)


def _lists(interests: Interests, span: slice) -> Lists:
    """Those of a range of nodes, without copying them."""
    nodes = np.arange(span.start, min(span.stop, interests.node_count), dtype=np.int32)
    return Lists(nodes, interests.indptr[span.start : span.start + len(nodes) + 1], interests.topic_ids)


def conquer(
    part: int, lists: Lists, rows: Ids, shared: Shared, slack: float, seed: int, ticks: Ticks
) -> Part:
    """Link the lightweight nodes of one part, which stand in `rows` of `lists`, to bulk nodes.

    Among bulk nodes that cover equally many topics, or fewer by a fraction of at most `slack`, those with
    fewer links come first; the links counted are those of this part and its share of those among bulk nodes,
    so that parts don't depend on each other. The facts count `outer_edges`.
    """
    places = len(shared.bulk)
    turns = generator(seed, "dcbc-direct", part).permutation(places) + places * shared.links
    found = cover_nodes(lists.indptr, lists.topic_ids, rows, shared.topics, turns, slack, ticks)
    edges = np.column_stack([lists.nodes[found[:, 0]], shared.bulk[found[:, 1]]])
    return part_without_stars(edges, {"outer_edges": len(edges)})
