"""Bulk Clones: parts of nodes, each with a bulk set: a few nodes of many topics, which all others link to."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from meshwright.construct import greedy
from meshwright.construct.options import DcbcOptions
from meshwright.construct.parts.bulk_sets import (
    INSTEAD,
    BulkSet,
    bulk_by_threshold,
    bulk_facts,
    ordered_bulk,
    part_without_stars,
    put_together,
)
from meshwright.construct.parts.conquer import Part
from meshwright.construct.parts.dcbc_direct import join_bulk
from meshwright.construct.parts.interest_queries import InProcess, Source, choose_partitions
from meshwright.construct.parts.partitioning import random_parts
from meshwright.construct.parts.resilient_parts import take_resilient
from meshwright.construct.parts.topic_lists import Lists, lists_of, split_lists, take_lists
from meshwright.construct.parts.topic_prices import learn_weights, sampled
from meshwright.model.costs.costs import Costs
from meshwright.model.edges import Built
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Ids, Ticks
from meshwright.runtime.machine import cores
from meshwright.runtime.parallel import map_parts, threads_each
from meshwright.runtime.progress import Progress


def bulk_clones(
    interests: Interests, costs: Costs | None, options: DcbcOptions, seed: int, progress: Progress | None
) -> Built:
    """Divide-and-Conquer with Bulk Clones (DCBC).

    Guarantee: topic-connected; no edge joins two lightweight nodes of different parts. At most
    O(η log(|V||T|)) times the least possible number of edges ([1], Lemma 13), η being the threshold, if the
    bulk set is small enough for Greedy Merge (see `join_bulk`). With
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
        return conquer(part, parts[part], planned.known, options, seed, ticks, threads)

    every = range(planned.partitions)
    conquered = map_parts(one, every, "conquering parts", len(light.topic_ids), progress)
    edges = np.concatenate([planned.bulk_edges, *(part.edges for part in conquered)])
    return Built(edges=edges, facts=facts_of(planned, [part.facts for part in conquered]))


class Known(NamedTuple):
    """What every part must know of the whole."""

    bulk: Lists  # in the order in which Greedy Merge settles ties
    topic_count: int
    weights: Ids | None  # by topic, what a union counts; None: 1 each


@dataclass(frozen=True, kw_only=True)
class BulkPlan:
    """The bulk set, joined, and who belongs to which part.

    Attributes:
        chosen: the bulk set and the lightweight nodes.
        known: what every part must know.
        among_bulk: the edges between bulk nodes, as places in the bulk set.
        part_of: by node, its part; -1 for bulk nodes.
        partitions: how many parts there are.
    """

    chosen: BulkSet
    known: Known
    among_bulk: greedy.GreedyResult
    part_of: Ids
    partitions: int

    @property
    def bulk_edges(self) -> Ids:
        """The edges between bulk nodes, as node ids."""
        found: Ids = self.known.bulk.nodes[self.among_bulk.edges]
        return found


def plan(source: Source, options: DcbcOptions, seed: int, progress: Progress | None = None) -> BulkPlan:
    """Choose the bulk nodes, join them and divide the others ([1], Alg. 6, lines 1 to 8).

    Cost: linear in the interests, and Greedy Merge on the bulk set.
    """
    chosen = bulk_by_threshold(
        source,
        threshold=options.threshold,
        bulk_share=options.bulk_share,
        bulk_limit=options.bulk_limit,
        resilience=options.resilience,
    )
    bulk = ordered_bulk(chosen, source.node_count, seed, options.ties)
    among_bulk = join_bulk(
        chosen,
        bulk,
        source.topic_count,
        memory_limit=options.memory_limit,
        resilience=options.resilience,
        seed=seed,
        progress=progress,
    )
    partitions = _count_parts(source, len(chosen.light), options, seed, progress)
    part_of = np.full(source.node_count, -1, np.int32)
    part_of[chosen.light] = random_parts(len(chosen.light), partitions, seed)
    weights = _weights(source, chosen.light, bulk, partitions, options, seed, progress)
    return BulkPlan(
        chosen=chosen,
        known=Known(bulk, source.topic_count, weights),
        among_bulk=among_bulk,
        part_of=part_of,
        partitions=partitions,
    )


def _weights(
    source: Source,
    light: Ids,
    bulk: Lists,
    partitions: int,
    options: DcbcOptions,
    seed: int,
    progress: Progress | None,
) -> Ids | None:
    """By price, if guided, learned on as many random lightweight nodes as a part has."""
    if options.guide == "none" or not len(light):
        return None
    sample = source.lists(sampled(light, -(-len(light) // partitions), source.node_count, seed))
    order = greedy.tie_order(np.diff(sample.indptr), options.ties, seed)
    together = put_together(sample, bulk, order, options.ties)

    def build(weights: Ids, ticks: Ticks) -> Ids:
        problem = together.problem(source.topic_count, weights)
        greedy.check_fits(problem, INSTEAD, options.memory_limit)
        return greedy.run_greedy(problem, ticks, cores()).edges

    return learn_weights(build, together.lists, source.topic_count, progress, together.labels)


def facts_of(planned: BulkPlan, conquered: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """What the algorithm reports, of the plan and the facts of all parts."""
    facts = {"partitions": planned.partitions, **bulk_facts(planned.chosen, planned.among_bulk)}
    for counts in [dict.fromkeys(("light_edges", "outer_edges"), 0), *conquered]:
        for name, count in counts.items():
            facts[name] = facts.get(name, 0) + count
    return facts


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
    known: Known,
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
    order = greedy.tie_order(np.diff(lists.indptr), options.ties, seed, part)
    together = put_together(lists, known.bulk, order, options.ties)
    problem = together.problem(known.topic_count, known.weights)
    greedy.check_fits(problem, INSTEAD, options.memory_limit, threads)
    if options.resilience == 1:
        result = greedy.run_greedy(problem, ticks, threads)
    else:
        bulk = int(together.groups[~together.is_light].max(initial=-1))
        taken = take_resilient(problem, together.lists, together.groups, ticks, bulk)
        result = greedy.GreedyResult(edges=taken, pairs_examined=0)
    light_edges = int(together.is_light[result.edges].all(axis=1).sum())
    facts = {
        "light_edges": light_edges,
        "outer_edges": len(result.edges) - light_edges,
        "pairs_examined": result.pairs_examined,
    }
    return part_without_stars(together.lists.nodes[result.edges], facts)
