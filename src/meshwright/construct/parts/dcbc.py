"""Divide-and-Conquer with Bulk Clones: parts of lightweight nodes, each with all the bulk nodes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from meshwright.construct.greedy_driver import (
    GreedyResult,
    check_fits,
    make_problem,
    run_greedy,
    take_edges,
    tie_order,
)
from meshwright.construct.options import DcbcOptions
from meshwright.construct.parts.bulk import BulkSet, bulk_by_threshold
from meshwright.construct.parts.choosing_p import choose_partitions
from meshwright.construct.parts.conquer import Part
from meshwright.construct.parts.interest_queries import InProcess, Source
from meshwright.construct.parts.partitioning import random_parts
from meshwright.construct.parts.topic_lists import Lists, join_lists, lists_of, split_lists, take_lists
from meshwright.model.costs.costs import Costs
from meshwright.model.edges import Built
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Ids, Ticks
from meshwright.runtime.parallel import map_parts, threads_each
from meshwright.runtime.progress import Progress

_INSTEAD = "set a smaller bulk_limit or part_size, or use dcbc-direct (linear)"


def bulk_clones(
    interests: Interests, costs: Costs | None, options: DcbcOptions, seed: int, progress: Progress | None
) -> Built:
    """Divide-and-Conquer with Bulk Clones (DCBC).

    Guarantee: topic-connected; no edge joins two lightweight nodes of different parts. At most
    O(η log(|V||T|)) times the least possible number of edges ([1], Lemma 13), η being the threshold. With
    `threshold` 0 it is Greedy Merge, edge for edge. Costs change nothing.

    Cost: O(|B|² + |L||B| + |L|²/p) pairs of nodes for |B| bulk nodes and p parts of |L| lightweight ones;
    a byte for each pair of the parts that are at work at once, one on each core.

    Source: [1], Alg. 6, as written: edges between two lightweight nodes of one part are allowed. Ours are the
    limit on the bulk set and the choice of p by part size, without which |L||B| grows with the square.
    """
    del costs
    planned = plan(InProcess(interests), options, seed, progress)
    light = take_lists(lists_of(interests), planned.chosen.light)
    parts = split_lists(light, planned.part_of[light.nodes], planned.partitions)

    threads = threads_each(planned.partitions)

    def one(part: int, ticks: Ticks) -> Part:
        lists = parts[part]
        return conquer(part, lists, planned.bulk, interests.topic_count, options, seed, ticks, threads)

    every = range(planned.partitions)
    conquered = map_parts(one, every, "conquering parts", len(light.topic_ids), progress)
    edges = np.concatenate([planned.bulk_edges, *(part.edges for part in conquered)])
    return Built(edges=edges, facts=facts_of(planned, [part.facts for part in conquered]))


@dataclass(frozen=True, kw_only=True)
class BulkPlan:
    """The bulk set, joined, and who belongs to which part.

    Attributes:
        chosen: the bulk set and the lightweight nodes.
        bulk: the bulk nodes with their topics, in the order in which Greedy Merge settles ties.
        among_bulk: the edges between bulk nodes, as places in `bulk`.
        part_of: by node, its part; -1 for bulk nodes.
        partitions: how many parts there are.
    """

    chosen: BulkSet
    bulk: Lists
    among_bulk: GreedyResult
    part_of: Ids
    partitions: int

    @property
    def bulk_edges(self) -> Ids:
        """The edges between bulk nodes, as node ids."""
        found: Ids = self.bulk.nodes[self.among_bulk.edges]
        return found


def plan(source: Source, options: DcbcOptions, seed: int, progress: Progress | None = None) -> BulkPlan:
    """Choose the bulk nodes, join them and divide the others ([1], Alg. 6, lines 1 to 8).

    Cost: linear in the interests, and Greedy Merge on the bulk set.
    """
    chosen = bulk_by_threshold(
        source, threshold=options.threshold, bulk_share=options.bulk_share, bulk_limit=options.bulk_limit
    )
    bulk = ordered_bulk(chosen, source.node_count, seed)
    among_bulk = join_bulk(bulk, source.topic_count, options.memory_limit, progress)
    partitions = _count_parts(source, len(chosen.light), options, seed, progress)
    part_of = np.full(source.node_count, -1, np.int32)
    part_of[chosen.light] = random_parts(len(chosen.light), partitions, seed)
    return BulkPlan(chosen=chosen, bulk=bulk, among_bulk=among_bulk, part_of=part_of, partitions=partitions)


def facts_of(planned: BulkPlan, conquered: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """What the algorithm reports, of the plan and the facts of all parts."""
    facts = {"partitions": planned.partitions, **bulk_facts(planned.chosen, planned.among_bulk)}
    for counts in [dict.fromkeys(("light_edges", "outer_edges"), 0), *conquered]:
        for name, count in counts.items():
            facts[name] = facts.get(name, 0) + count
    return facts


def ordered_bulk(chosen: BulkSet, node_count: int, seed: int) -> Lists:
    """The bulk nodes with their topics, in the order in which Greedy Merge settles ties among all nodes."""
    place = np.full(node_count, -1, np.int32)
    place[chosen.bulk] = np.arange(len(chosen.bulk), dtype=np.int32)
    # Shuffled, the order does not depend on the sizes.
    ranked = place[tie_order(np.zeros(node_count, np.int64), "shuffled", seed)]
    return take_lists(chosen.lists, ranked[ranked >= 0])


def join_bulk(
    bulk: Lists, topic_count: int, memory_limit: int | None, progress: Progress | None
) -> GreedyResult:
    """Greedy Merge of the bulk nodes; the edges are pairs of places in `bulk` ([1], Alg. 6, line 6)."""
    every = np.arange(len(bulk.nodes), dtype=np.int32)
    problem = make_problem(bulk.indptr, bulk.topic_ids, topic_count, every)
    return take_edges(problem, instead=_INSTEAD, memory_limit=memory_limit, progress=progress)


def bulk_facts(chosen: BulkSet, among_bulk: GreedyResult) -> dict[str, int]:
    """What both forms of the algorithm report of the bulk set."""
    return {
        "threshold": chosen.threshold,
        "bulk": len(chosen.bulk),
        "bulk_added": chosen.added,
        "bulk_edges": len(among_bulk.edges),
        "pairs_examined": among_bulk.pairs_examined,
    }


def _count_parts(
    source: Source, light: int, options: DcbcOptions, seed: int, progress: Progress | None
) -> int:
    """As many parts as wanted, and at most one for each lightweight node; none where there are none."""
    if options.part_size is not None:
        return -(-light // options.part_size)
    chosen = choose_partitions(
        source,
        partitions=options.partitions,
        part_size=None,
        criterion="pn-size",
        seed=seed,
        progress=progress,
    )
    return min(chosen, light)


def conquer(
    part: int,
    lists: Lists,
    bulk: Lists,
    topic_count: int,
    options: DcbcOptions,
    seed: int,
    ticks: Ticks,
    threads: int = 1,
) -> Part:
    """Connect the nodes of one part, which come in the order of their ids, to the bulk nodes or each other.

    [1], Alg. 6, lines 10 to 14: the bulk nodes are one topic-connected group, every other node is one of its
    own. The facts count `light_edges`, those between two lightweight nodes, `outer_edges`, those between a
    lightweight and a bulk node, and `pairs_examined`.
    """
    order = tie_order(np.diff(lists.indptr), "shuffled", seed, part)
    # Lightweight nodes first: the greedy keeps a row of pairs for each node that has later ones to pair with.
    both = join_lists([take_lists(lists, order), bulk])
    groups = np.minimum(np.arange(len(both.nodes)), len(order)).astype(np.int32)
    problem = make_problem(
        both.indptr,
        both.topic_ids,
        topic_count,
        np.arange(len(groups), dtype=np.int32),
        groups=groups,
        labels=np.repeat(groups, np.diff(both.indptr)),
    )
    check_fits(problem, _INSTEAD, options.memory_limit, threads)
    result = run_greedy(problem, ticks, threads)
    light_edges = int((result.edges < len(order)).all(axis=1).sum())
    facts = {
        "light_edges": light_edges,
        "outer_edges": len(result.edges) - light_edges,
        "pairs_examined": result.pairs_examined,
    }
    return part_without_stars(both.nodes[result.edges], facts)


def part_without_stars(edges: Ids, facts: dict[str, int]) -> Part:
    """A part that needs no links to other parts, since it is connected to the bulk set."""
    nobody = Lists(np.empty(0, np.int32), np.zeros(1, np.int64), np.empty(0, np.int32))
    return Part(edges=edges, stars=nobody, met=np.empty(0, np.int64), facts=facts)
