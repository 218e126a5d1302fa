"""Bulk clones without parts: every lightweight node, on its own, links to a few bulk nodes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from meshwright.construct import greedy
from meshwright.construct.options import DcbcDirectOptions
from meshwright.construct.parts.bulk_sets import (
    BulkSet,
    bulk_by_size,
    bulk_facts,
    merge_bulk,
    ordered_bulk,
    part_without_stars,
    put_together,
    too_many_to_merge,
)
from meshwright.construct.parts.conquer import Part
from meshwright.construct.parts.interest_queries import InLists, ListSource
from meshwright.construct.parts.topic_lists import Lists, lists_of, take_lists
from meshwright.construct.parts.topic_prices import SAMPLE, learn_weights, sampled
from meshwright.kernels.greedy.cover_search import search_room, shorten_covers
from meshwright.kernels.greedy.covering import (
    MOST_TOPICS,
    BulkTopics,
    Gains,
    cover_again,
    cover_nodes,
    list_bulk_topics,
)
from meshwright.model.costs.costs import Costs
from meshwright.model.edges import Built
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Flags, Ids, Offsets, Ticks
from meshwright.runtime.parallel import map_parts
from meshwright.runtime.progress import Progress, stage
from meshwright.runtime.seeds import generator

NODES_A_PART = 8192
"""By node id. Each part balances the load of the bulk nodes by itself, so this settles the overlay."""

_SHARE = 0.2
_MOST_BULK = {"none": 2_000, "dual": 8_000}
"""By guide. With prices, a node takes several times as long already, and more bulk nodes cover better."""

_WIDTH = 16
"""How many beginnings of covers are kept. At a million nodes with 8,000 bulk nodes, measured on a sample: a
width of 8 saves 3.9% of the links, 32 saves 4.3% and takes twice as long, and 128 saves 4.3%."""


class Shared(NamedTuple):
    """What every part must know of the bulk set; a place is a position in `bulk`."""

    bulk: Ids
    topics: BulkTopics
    links: Offsets  # by place: the links to other bulk nodes that a part has to reckon with
    prices: Gains  # by topic, if covers are to be searched for; none if the greedy ones are taken
    resilience: int = 1  # how many bulk nodes cover a topic, if it has as many


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
    `dcbc`). `DcbcDirectOptions` tells how the bulk set is chosen, `join_bulk` how it is joined.

    """
    del costs
    return _linked(lists_of(interests), interests.topic_count, options, seed, progress)


def _linked(
    lists: Lists, topic_count: int, options: DcbcDirectOptions, seed: int, progress: Progress | None
) -> Built:
    """`bulk_clones_direct` of lists; the edges are pairs of rows."""
    planned = plan(InLists(lists, topic_count), options, seed, progress)

    def one(part: int, ticks: Ticks) -> Part:
        some = _range(lists, slice(part * NODES_A_PART, (part + 1) * NODES_A_PART))
        rows = np.flatnonzero(planned.is_light[some.nodes]).astype(np.int32)
        return cover(part, some, rows, planned.shared, options.slack, seed, ticks)

    rounds = 2 if len(planned.shared.prices) else 1
    light = len(planned.chosen.light) * rounds
    conquered = map_parts(one, range(planned.partitions), "covering topics", light, progress)
    edges = np.concatenate([planned.bulk_edges, *(part.edges for part in conquered)])
    return Built(edges=edges, facts=facts_of(planned, [part.facts for part in conquered]))


def join_bulk(
    chosen: BulkSet,
    bulk: Lists,
    topic_count: int,
    *,
    memory_limit: int | None,
    resilience: int,
    seed: int,
    progress: Progress | None,
) -> greedy.GreedyResult:
    """Make the bulk nodes topic-connected; the edges are pairs of places in `bulk`.

    By Greedy Merge, or, where rare topics have added very many nodes to those that were asked for, as
    `bulk_clones_direct` links any nodes: by a bulk set of their own. That is much smaller, since most rare
    topics have a single bulk subscriber, which needs no link.
    """
    if not too_many_to_merge(chosen):
        return merge_bulk(bulk, topic_count, memory_limit, progress, resilience)
    options = DcbcDirectOptions(memory_limit=memory_limit, resilience=resilience)
    found = _linked(bulk, topic_count, options, seed, progress)
    edges = np.asarray(found.edges, np.int32)
    return greedy.GreedyResult(edges=edges, pairs_examined=found.facts["pairs_examined"])


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
    among_bulk: greedy.GreedyResult
    is_light: Flags
    partitions: int

    @property
    def bulk_edges(self) -> Ids:
        """The edges between bulk nodes, as node ids."""
        found: Ids = self.shared.bulk[self.among_bulk.edges]
        return found


def plan(
    source: ListSource, options: DcbcDirectOptions, seed: int, progress: Progress | None = None
) -> CoverPlan:
    """Choose the bulk nodes and join them; linear in the interests, and `join_bulk`."""
    with stage(progress, "choosing bulk nodes"):
        chosen = _choose_bulk(source, options, seed)
        bulk = ordered_bulk(chosen, source.node_count, seed)
    among_bulk = join_bulk(
        chosen,
        bulk,
        source.topic_count,
        memory_limit=options.memory_limit,
        resilience=options.resilience,
        seed=seed,
        progress=progress,
    )
    partitions = -(-source.node_count // NODES_A_PART)
    shared = _share(bulk, source.topic_count, among_bulk, partitions)
    shared = shared._replace(resilience=options.resilience)
    if options.guide == "dual":
        shared = shared._replace(prices=_cover_prices(source, chosen, bulk, shared, seed, progress))
    is_light = np.zeros(source.node_count, np.bool_)
    is_light[chosen.light] = True
    return CoverPlan(
        chosen=chosen,
        shared=shared,
        among_bulk=among_bulk,
        is_light=is_light,
        partitions=partitions,
    )


def facts_of(planned: CoverPlan, conquered: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """What the algorithm reports, of the plan and the facts of all parts."""
    outer_edges = sum(counts["outer_edges"] for counts in conquered)
    return bulk_facts(planned.chosen, planned.among_bulk) | {"outer_edges": outer_edges}


def _choose_bulk(source: ListSource, options: DcbcDirectOptions, seed: int) -> BulkSet:
    bulk_size = options.bulk_size
    if bulk_size is None:
        bulk_size = min(int(_SHARE * source.node_count), _MOST_BULK[options.guide])
    order = greedy.tie_order(np.zeros(source.node_count, np.int64), "shuffled", seed)
    return bulk_by_size(
        source,
        order,
        bulk_size=bulk_size,
        most_topics=MOST_TOPICS,
        crowd=options.crowd,
        resilience=options.resilience,
    )


def _share(bulk: Lists, topic_count: int, among_bulk: greedy.GreedyResult, parts: int) -> Shared:
    every = np.arange(len(bulk.nodes), dtype=np.int32)
    topics = list_bulk_topics(bulk.indptr, bulk.topic_ids, topic_count, every)
    links = np.bincount(among_bulk.edges.ravel(), minlength=len(every)) // max(1, parts)
    return Shared(bulk=bulk.nodes, topics=topics, links=links, prices=np.empty(0, np.uint16))


def _cover_prices(
    source: ListSource, chosen: BulkSet, bulk: Lists, shared: Shared, seed: int, progress: Progress | None
) -> Gains:
    """What it takes to cover each topic, learned on the covers of random lightweight nodes."""
    sample = source.lists(sampled(chosen.light, SAMPLE, source.node_count, seed))
    rows = np.arange(len(sample.nodes), dtype=np.int32)
    together = put_together(sample, bulk, rows)
    most = max(1, MOST_TOPICS // max(1, chosen.threshold))

    def priced(weights: Ids) -> Gains:
        return np.minimum(weights, most).astype(np.uint16)

    def build(weights: Ids, ticks: Ticks) -> Ids:
        once = shared._replace(prices=priced(weights), resilience=1)
        found = _covers(sample, once, 0.0, seed, 0, ticks)
        return found + np.array([0, len(rows)], np.int32)

    found = learn_weights(
        build, together.lists, source.topic_count, progress, together.labels, least_gain=0.0
    )
    return priced(found)


def _range(lists: Lists, span: slice) -> Lists:
    """The rows of a range, numbered by their places, without copying their topics."""
    nodes = np.arange(span.start, min(span.stop, len(lists.nodes)), dtype=np.int32)
    return Lists(nodes, lists.indptr[span.start : span.start + len(nodes) + 1], lists.topic_ids)


def cover(part: int, lists: Lists, rows: Ids, shared: Shared, slack: float, seed: int, ticks: Ticks) -> Part:
    """Link the lightweight nodes of one part, which stand in `rows` of `lists`, to bulk nodes.

    Among bulk nodes that cover equally many topics, or fewer by a fraction of at most `slack`, those with
    fewer links come first; the links counted are those of this part and its share of those among bulk nodes,
    so that parts don't depend on each other. With prices, a beam search replaces covers by shorter ones where
    it finds any. The facts count `outer_edges`.
    """
    light = take_lists(lists, rows)
    found = _covers(light, shared, slack, seed, part, ticks)
    edges = np.column_stack([light.nodes[found[:, 0]], shared.bulk[found[:, 1]]])
    return part_without_stars(edges, {"outer_edges": len(edges)})


def _covers(light: Lists, shared: Shared, slack: float, seed: int, part: int, ticks: Ticks) -> Ids:
    """Links from rows of `light` to places in the bulk set: greedy covers, or shorter ones where found."""
    _, indptr, topic_ids = light
    rows, places = np.arange(len(light.nodes), dtype=np.int32), len(shared.bulk)
    turns = generator(seed, "dcbc-direct", part).permutation(places) + places * shared.links
    found = cover_nodes(indptr, topic_ids, rows, shared.topics, turns, slack, ticks)
    if len(shared.prices) and len(found):
        room = search_room(_WIDTH, int(np.diff(indptr).max()), places)
        found = shorten_covers(indptr, topic_ids, rows, shared.topics, shared.prices, found, room, ticks)
    if shared.resilience > 1:
        found = cover_again(indptr, topic_ids, rows, shared.topics, found, turns, slack, ticks)
    return found
