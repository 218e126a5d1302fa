"""Divide and conquer in three pure functions: plan, conquer a part, combine parts.

Whoever runs them, in whatever order, gets the same overlay; in process, `map_parts` runs them in threads.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from meshwright.construct.choosing_p import choose_partitions
from meshwright.construct.gm import tie_order
from meshwright.construct.greedy import check_fits, make_problem, run_greedy
from meshwright.construct.lists import Lists, join_lists, take_lists
from meshwright.construct.options import DcOptions
from meshwright.construct.partitioning import k_means_parts, random_parts
from meshwright.construct.source import Source
from meshwright.construct.star_sets import star_set
from meshwright.kernels.arrays import Flags, Ids, Offsets
from meshwright.machine import cores
from meshwright.progress import CANCEL, Progress, Ticks

Item = TypeVar("Item")
Result = TypeVar("Result")

_INSTEAD = "give more partitions, a smaller part_size or a smaller most_stars"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Who belongs to which part, by node, and the topics that more than one part has, by topic."""

    part_of: Ids
    partitions: int
    shared: Flags


@dataclass(frozen=True, kw_only=True)
class Part:
    """A topic-connected overlay of some nodes, and what the others must know of it.

    Attributes:
        edges: (m, 2) node ids.
        stars: nodes that together have all its topics that others have too, with their topics; through them
            alone is the part linked to others.
        met: by star, how many nodes were candidates to become its neighbours so far.
        facts: counts; see `conquer` for their names.
    """

    edges: Ids
    stars: Lists
    met: Offsets
    facts: Mapping[str, int]


def plan(source: Source, options: DcOptions, seed: int, progress: Progress | None = None) -> Plan:
    """Divide the nodes ([1], Alg. 4, lines 2 to 4); linear in the interests for each p that is tried."""
    partitions = choose_partitions(
        source,
        partitions=options.partitions,
        part_size=options.part_size,
        criterion=options.criterion,
        seed=seed,
        progress=progress,
    )
    if options.partition_by == "random":
        part_of = random_parts(source.node_count, partitions, seed)
    else:
        part_of = k_means_parts(source.interests(), partitions, seed)
        partitions = int(part_of.max(initial=0)) + 1
    return Plan(part_of=part_of, partitions=partitions, shared=source.shared(part_of))


def conquer(
    part: int, lists: Lists, shared: Flags, options: DcOptions, seed: int, ticks: Ticks, threads: int = 1
) -> Part:
    """Greedy Merge on one part, whose nodes come in the order of their ids, and its star set.

    [1], Alg. 4, line 7, and Alg. 3, lines 3 to 6. The facts count `parts`, `stars` (those of the parts
    themselves), `inner_edges`, `outer_edges`, `pairs_examined`, and `pn_size`, the most candidates that a
    node had.
    """
    order = tie_order(np.diff(lists.indptr), options.ties, seed, part)
    problem = make_problem(lists.indptr, lists.topic_ids, len(shared), order)
    check_fits(problem, _INSTEAD, options.memory_limit, threads)
    result = run_greedy(problem, ticks, threads)
    stars = star_set(lists.indptr, lists.topic_ids, len(shared), order, shared)
    others = max(0, len(order) - 1)
    facts = {
        "parts": 1,
        "stars": len(stars),
        "inner_edges": len(result.edges),
        "outer_edges": 0,
        "pairs_examined": result.pairs_examined,
        "pn_size": others,
    }
    return Part(
        edges=lists.nodes[result.edges],
        stars=take_lists(lists, stars),
        met=np.full(len(stars), others, np.int64),
        facts=facts,
    )


def combine(parts: Sequence[Part], shared: Flags, options: DcOptions, ticks: Ticks, threads: int = 1) -> Part:
    """Star Merge of two or more parts: the greedy over pairs of stars of different parts ([1], Alg. 3).

    `shared` are the topics that nodes outside of all these `parts` have too. What comes out is a part again:
    its stars are a star set of those of the parts, so combines may be stacked. Ties go to the first part,
    and in it to the star that was chosen first.
    """
    stars = join_lists([part.stars for part in parts])
    sizes = np.array([len(part.stars.nodes) for part in parts])
    groups = np.repeat(np.arange(len(parts), dtype=np.int32), sizes)
    every = np.arange(len(groups), dtype=np.int32)
    labels = np.repeat(groups, np.diff(stars.indptr))
    problem = make_problem(stars.indptr, stars.topic_ids, len(shared), every, groups=groups, labels=labels)
    check_fits(problem, _INSTEAD, options.memory_limit, threads)
    result = run_greedy(problem, ticks, threads)
    met = np.concatenate([part.met for part in parts]) + sizes.sum() - sizes[groups]
    chosen = star_set(stars.indptr, stars.topic_ids, len(shared), every, shared)
    facts = {name: sum(part.facts[name] for part in parts) for name in parts[0].facts}
    facts["outer_edges"] += len(result.edges)
    facts["pairs_examined"] += result.pairs_examined
    facts["pn_size"] = max(*(part.facts["pn_size"] for part in parts), met.max(initial=0).item())
    return Part(
        edges=np.concatenate([*(part.edges for part in parts), stars.nodes[result.edges]]),
        stars=take_lists(stars, chosen),
        met=met[chosen],
        facts=facts,
    )


def group_parts(stars: Sequence[int], most: int) -> list[range]:
    """Runs of parts to combine next: of two parts or more, and as long as they have `most` stars at most.

    One run of all means that the next combine is the last. The last run may be a single part.
    """
    runs = []
    start, total = 0, 0
    for at, count in enumerate(stars):
        if at - start >= 2 and total + count > most:
            runs.append(range(start, at))
            start, total = at, 0
        total += count
    return [*runs, range(start, len(stars))]


def map_parts(work: Callable[[Item], Result], items: Sequence[Item], ticks: Ticks) -> list[Result]:
    """`work` of each item, on as many threads as there are cores; it stops when `ticks` say so."""

    def unless_cancelled(item: Item) -> Result:
        if ticks[CANCEL]:
            raise CancelledError
        return work(item)

    with ThreadPoolExecutor(max(1, min(cores(), len(items)))) as pool:
        return list(pool.map(unless_cancelled, items))


def threads_each(items: int) -> int:
    """How many threads each of some items gets when `map_parts` runs them."""
    return max(1, cores() // max(1, items))
