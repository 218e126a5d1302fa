"""Greedy Merge, and the driver of its kernels for every algorithm that takes edges by contribution.

Algorithms that add to an overlay begin with what its edges connect already.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from meshwright.construct.by_weight import take_by_weight
from meshwright.construct.candidates import room_for
from meshwright.construct.options import LOAD, GmOptions
from meshwright.construct.parts.topic_lists import places
from meshwright.kernels.core.topic_components import (
    NONE,
    TopicComponents,
    start_components,
    take_all_edges,
    unite_labelled,
)
from meshwright.kernels.greedy import lazy as kernel
from meshwright.kernels.greedy.bounds import EXAMINED, Pairs, Scratch, bound_rows, start_rows
from meshwright.model.costs.costs import Costs
from meshwright.model.edges import Built
from meshwright.model.interests import Interests
from meshwright.model.rates import node_rates
from meshwright.runtime.arrays import Ids, Offsets, Ticks
from meshwright.runtime.errors import OptionError
from meshwright.runtime.machine import MOST_THREADS, cores, threads
from meshwright.runtime.memory import check_memory, needed
from meshwright.runtime.progress import CANCEL, Progress, run_with_ticks
from meshwright.runtime.seeds import generator
from meshwright.runtime.wording import count

_ORDERS: Mapping[str, Callable[[Offsets], Offsets]] = {
    "shuffled": lambda sizes: np.arange(len(sizes)),
    "small-first": lambda sizes: np.argsort(sizes, kind="stable"),
    "large-first": lambda sizes: np.argsort(-sizes, kind="stable"),
    "bulk-first": lambda sizes: np.arange(len(sizes)),  # of its own among bulk nodes, and among the others
}

HEAVY = 300_000
"""Pairs in the rows of a level from which on threads pay: under it a level takes a third of a millisecond."""

_BLOCK = 16_000_000
"""Pairs refreshed at once: with more, what is taken meanwhile is missed; with fewer, threads wait."""

_READY = 2**20
"""Ready pairs that threads have room for; rows that don't fit are looked at once more."""

_POPULAR = 32
"""A topic with a column has at least one node of so many."""


@dataclass(frozen=True, kw_only=True)
class GreedyProblem:
    """Which edges the greedy may take, and how it counts: node i here is `nodes[i]` outside.

    Nodes and topics that can't gain from any edge are left out. Node i may be paired with the nodes from
    `firsts[i]` on. The order of the nodes settles ties: of the edges with the greatest contribution the
    greedy takes the first, by its first and then its second node. Interests of one topic that have the same
    label are connected from the start; without labels, none are. `components` counts those of all topics.
    """

    indptr: Offsets
    topic_ids: Ids
    topic_count: int
    weights: Ids
    nodes: Ids
    firsts: Offsets
    labels: Ids | None
    components: int
    keep_bounds: bool

    @property
    def words(self) -> int:
        """The words of a bitset over the topics; 0 where lists are shorter (measured: half of it)."""
        words = -(-self.topic_count // 64)
        few_topics = words * len(self.nodes) <= 2 * len(self.topic_ids)
        return words if few_topics and (self.is_plain or self.keep_bounds) else 0

    @property
    def is_plain(self) -> bool:
        """Whether every topic counts one."""
        return bool(np.all(self.weights == 1))

    @property
    def to_unite(self) -> int:
        """How many unions connect every topic: no more edges are taken."""
        return self.components - self.topic_count

    def estimated_bytes(self) -> int:
        """How much memory `take_edges` needs: one byte per pair, and what grows with the interests."""
        nodes = len(self.nodes)
        pairs = int((nodes - self.firsts + 63).sum()) if self.keep_bounds else 0
        room = 0 if self.is_plain or not self.keep_bounds else threads() * room_for(nodes)
        return needed(
            "greedy", pairs=pairs, interests=len(self.topic_ids), words=self.words * nodes, candidates=room
        )


def tie_order(sizes: Offsets, ties: str, seed: int, part: int = 0) -> Ids:
    """Nodes with `sizes` topics in the order that settles ties; each part of a divided job has its own."""
    shuffle = generator(seed, "gm", part).permutation(len(sizes))
    return shuffle[_ORDERS[ties](sizes[shuffle])].astype(np.int32)


def node_order(interests: Interests, ties: str, seed: int) -> Ids:
    """All nodes in the order that settles ties; for `load`, from those of few messages on."""
    if ties == LOAD:
        shuffle = tie_order(np.diff(interests.indptr), "shuffled", seed)
        return shuffle[np.argsort(node_rates(interests)[shuffle], kind="stable")]
    return tie_order(np.diff(interests.indptr), ties, seed)


def make_problem(
    indptr: Offsets,
    topic_ids: Ids,
    topic_count: int,
    order: Ids,
    *,
    groups: Ids | None = None,
    labels: Ids | None = None,
    weights: Ids | None = None,
    keep_bounds: bool = True,
) -> GreedyProblem:
    """The problem of the nodes in `order`, which may leave some out.

    `groups`, by node, forbids edges inside a group; the nodes of a group must follow each other in `order`.
    `labels` has one for each interest of `topic_ids`, `weights` one for each topic; without them, nothing is
    connected yet, and every topic counts one.
    """
    found = places(indptr, order)
    owners = np.repeat(np.arange(len(order)), np.diff(indptr)[order])
    topics = topic_ids[found]
    own_labels = None if labels is None else labels[found]
    if weights is None:
        weights = np.ones(topic_count, np.int32)
    components = _components(topics, topic_count, own_labels)
    keep_topic = (components > 1) & (weights > 0)
    keep = keep_topic[topics]
    sizes = np.bincount(owners[keep], minlength=len(order))
    nodes = order[sizes > 0].astype(np.int32)
    kept_weights = weights[keep_topic].astype(np.int32)
    return GreedyProblem(
        indptr=np.concatenate([[0], np.cumsum(sizes[sizes > 0])]).astype(np.int64),
        topic_ids=(np.cumsum(keep_topic) - 1).astype(np.int32)[topics[keep]],
        topic_count=int(keep_topic.sum()),
        weights=kept_weights,
        nodes=nodes,
        firsts=_firsts(len(nodes), None if groups is None else groups[nodes]),
        labels=None if own_labels is None else own_labels[keep].astype(np.int32),
        components=int(components[keep_topic].sum()),
        keep_bounds=keep_bounds,
    )


def _components(topics: Ids, topic_count: int, labels: Ids | None) -> Offsets:
    """How many components each topic begins with."""
    if labels is not None:
        span = int(labels.max(initial=0)) + 1
        topics = np.unique(topics.astype(np.int64) * span + labels) // span
    return np.bincount(topics, minlength=topic_count)


def _firsts(nodes: int, groups: Ids | None) -> Offsets:
    """By node: the first later one that is not of its group."""
    if groups is None:
        return np.arange(1, nodes + 1)
    ends = np.append(np.flatnonzero(np.diff(groups)) + 1, nodes)
    firsts: Offsets = ends[np.searchsorted(ends, np.arange(nodes), side="right")]
    return firsts


@dataclass(frozen=True, kw_only=True)
class GreedyResult:
    """The edges as ids of the interests, in the order in which they were taken."""

    edges: Ids
    pairs_examined: int


def take_edges(
    problem: GreedyProblem, *, instead: str, memory_limit: int | None = None, progress: Progress | None = None
) -> GreedyResult:
    """Take the edge of greatest contribution until none contributes.

    Every edge has the greatest contribution of all pairs when it is taken. The time is at worst that of
    looking at every pair at every level, and in practice that of computing each pair's overlap once or
    twice; `instead` is what a message recommends when the memory can't suffice.
    """
    check_fits(problem, instead, memory_limit)

    def work(ticks: Ticks) -> GreedyResult:
        return run_greedy(problem, ticks, cores())

    return run_with_ticks(work, "taking edges", problem.to_unite, progress)


def check_fits(
    problem: GreedyProblem,
    instead: str,
    memory_limit: int | None = None,
    threads: int | None = None,
    estimate: int | None = None,
) -> None:
    """Refuse a problem that does not fit into memory, and recommend what to do `instead`.

    Where it gets only some `threads`, others like it are taken to run at the same time on the other cores.
    Those that need more bytes than `take_edges` give the `estimate`.
    """
    at_once = 1 if threads is None else max(1, cores() // threads)
    together = f", {at_once} at once," if at_once > 1 else ""
    what = f"the greedy over {count(len(problem.nodes), 'node')}{together}"
    each = problem.estimated_bytes() if estimate is None else estimate
    check_memory(what, at_once * each, instead, memory_limit)


def run_greedy(problem: GreedyProblem, ticks: Ticks, thread_count: int) -> GreedyResult:
    """`take_edges` for a caller that has `ticks` and threads of its own; these don't change the result."""
    if not problem.topic_count:
        return GreedyResult(edges=np.empty((0, 2), np.int32), pairs_examined=0)
    thread_count = min(thread_count, MOST_THREADS)
    if problem.keep_bounds and not problem.is_plain:
        state = start_state(problem, with_columns=True)
        starts = row_starts(problem)
        edges, examined = take_by_weight(
            state, problem.firsts, starts, problem.to_unite, HEAVY, ticks, thread_count
        )
        return GreedyResult(edges=problem.nodes[edges], pairs_examined=examined)
    pairs = _run(problem, ticks, thread_count)
    taken, examined = (int(count) for count in pairs.counts)
    return GreedyResult(edges=problem.nodes[pairs.edges[:taken]], pairs_examined=examined)


def _run(problem: GreedyProblem, ticks: Ticks, thread_count: int) -> Pairs:
    state = start_state(problem, with_columns=problem.keep_bounds)
    floor = int(problem.weights.min(initial=1))
    rooms = [start_room(problem, state) for _ in range(thread_count)]
    ready = start_ready(problem)
    pairs = start_pairs(problem, state, rooms, ticks)
    with ThreadPoolExecutor(thread_count) as pool:
        while (level := kernel.settle_light_levels(state, pairs, floor, HEAVY, rooms[0], ticks)) > floor:
            if ticks[CANCEL]:
                break
            for rows in row_blocks(pairs, level):
                _refresh(pool, rooms, state, pairs, rows, level, ready, ticks)
                kernel.settle_rows(state, pairs, rows, level, rooms[0], ready, ticks)
    if not ticks[CANCEL]:
        kernel.settle_last_level(state, pairs, floor, ticks)
    return pairs


def start_state(problem: GreedyProblem, with_columns: bool = False) -> TopicComponents:
    """The components of the topics before the first edge is taken."""
    state = start_components(
        problem.indptr, problem.topic_ids, problem.topic_count, problem.weights, problem.words
    )
    if with_columns:
        state = _add_columns(state)
    if problem.labels is not None:
        unite_labelled(state, problem.labels)
    return state


def _add_columns(state: TopicComponents) -> TopicComponents:
    """Give the popular topics columns: a topic of fewer subscribers is walked faster (measured)."""
    nodes, sizes = len(state.loose), np.diff(state.topic_indptr)
    popular = np.flatnonzero(sizes * _POPULAR >= nodes)
    popular = popular[np.argsort(-sizes[popular], kind="stable")]
    columns = np.zeros((-(-len(popular) // 8), -(-nodes // 64) * 64), np.uint8)
    for column, topic in enumerate(popular):
        owners = state.slot_nodes[state.topic_indptr[topic] : state.topic_indptr[topic + 1]]
        columns[column >> 3, owners] |= np.uint8(1 << (column & 7))
    state.column_of[popular] = np.arange(len(popular), dtype=np.int32)
    return state._replace(columns=np.concatenate([columns, columns]))


def row_starts(problem: GreedyProblem) -> Offsets:
    """Where each row of the store begins, in words; a row is padded to 64 bytes."""
    return np.concatenate([[0], np.cumsum((len(problem.nodes) - problem.firsts + 63) // 64 * 8)])


def start_pairs(problem: GreedyProblem, state: TopicComponents, rooms: list[Scratch], ticks: Ticks) -> Pairs:
    """What is known of the pairs before the first edge is taken; a thread for each room looks at them."""
    nodes, starts = len(problem.nodes), row_starts(problem)
    pairs = Pairs(
        firsts=problem.firsts,
        store=np.zeros(starts[-1] if problem.keep_bounds else 0, np.uint64),
        starts=starts,
        blocks=np.zeros(starts[-1] // 8 if problem.keep_bounds else 0, np.uint8),
        tops=np.zeros(nodes, np.int32),
        edges=np.empty((problem.to_unite, 2), np.int32),
        counts=np.zeros(2, np.int64),
    )
    if not problem.keep_bounds:
        start_rows(state, pairs)
        return pairs

    def share(k: int) -> Any:
        return bound_rows(state, pairs, np.arange(k, nodes, len(rooms)), rooms[k], ticks)

    with ThreadPoolExecutor(len(rooms)) as pool:
        pairs.counts[EXAMINED] += sum(pool.map(share, range(len(rooms))))
    return pairs


def start_room(problem: GreedyProblem, state: TopicComponents) -> Scratch:
    """Room for one thread."""
    nodes = len(problem.nodes)
    return Scratch(
        gains=np.zeros(max(nodes, 1), np.int32),
        found=np.zeros(nodes, np.int32),
        own=np.full(problem.topic_count, NONE, np.int32),
        sums=np.zeros(nodes, np.uint8),
        rests=np.zeros(nodes, np.uint8),
        own_columns=np.zeros(len(state.columns) + 3, np.uint8),
    )


def start_ready(problem: GreedyProblem) -> kernel.Ready:
    """Room for the ready pairs of all threads."""
    nodes = len(problem.nodes)
    return kernel.Ready(
        places=np.empty(_READY, np.int32), starts=np.zeros(nodes, np.int64), counts=np.zeros(nodes, np.int32)
    )


def row_blocks(pairs: Pairs, level: int) -> Iterator[Offsets]:
    """The rows that reach the level, in blocks of about `_BLOCK` pairs."""
    rows = np.flatnonzero(pairs.tops >= level)
    seen = np.cumsum(len(pairs.tops) - pairs.firsts[rows])
    yield from np.split(rows, np.searchsorted(seen, np.arange(_BLOCK, seen[-1], _BLOCK)))


def _refresh(
    pool: ThreadPoolExecutor,
    rooms: list[Scratch],
    state: TopicComponents,
    pairs: Pairs,
    rows: Offsets,
    level: int,
    ready: kernel.Ready,
    ticks: Ticks,
) -> None:
    """Refresh a block on all threads; neighbouring rows go to different ones, since they cost alike."""
    size = len(ready.places) // len(rooms)

    def share(k: int) -> Any:
        mine, part = np.ascontiguousarray(rows[k :: len(rooms)]), np.array([k, k + 1]) * size
        return kernel.refresh_rows(state, pairs, mine, level, rooms[k], ready, part, ticks)

    pairs.counts[EXAMINED] += sum(pool.map(share, range(len(rooms))))


def linked_components(interests: Interests, edges: Ids, progress: Progress | None) -> TopicComponents:
    """The components of every topic in an overlay. O(interests of the edges' ends), beside the unions."""
    # Copies, since Numba would compile everything once more for read-only arrays.
    indptr, topic_ids, edges = interests.indptr.copy(), interests.topic_ids.copy(), edges.copy()
    weights = np.ones(interests.topic_count, np.int32)

    def unite(ticks: Ticks) -> TopicComponents:
        state = start_components(indptr, topic_ids, interests.topic_count, weights, 0)
        take_all_edges(state, edges, ticks)
        return state

    return run_with_ticks(unite, "finding components", len(edges), progress)


def component_labels(interests: Interests, edges: Ids, progress: Progress | None) -> Ids:
    """For each interest the component that it belongs to, numbered over all topics from 0 on."""
    state = linked_components(interests, edges, progress)
    names = state.names[state.slots]
    used = np.zeros(len(names), np.bool_)
    used[names] = True
    return (np.cumsum(used) - 1).astype(np.int32)[names]


_INSTEAD = {
    True: "use dcbc-direct or dc (few more links), or set keep_bounds=no (the same overlay, memory linear in "
    "the interests, several times slower)",
    False: "use dcbc-direct or dc (few more links)",
}
_MOST_WEIGHT = 2**30
"""The most that a node's topics may weigh together: the sum of two nodes still fits the kernels' int32."""


def greedy_merge(
    interests: Interests, costs: Costs | None, options: GmOptions, seed: int, progress: Progress | None
) -> Built:
    """Greedy Merge (GM).

    Guarantee: topic-connected; every edge had the greatest contribution of all pairs when it was taken, which
    makes the number of edges at most O(log(|V||T|)) times the least possible. Deterministic for a seed.
    Costs change nothing: with them it is what [2] compares with.

    Cost: at most O(|V|²|T|) time as in the paper, in practice near one or two looks at each pair that
    shares two topics; one byte per pair of nodes and about 60 bytes per interest. With weights up to 100,
    up to three times that (`kernels/greedy/by_weight.py`), and 16 MB for each thread.

    Source: [1], Alg. 1, and Chockler et al., PODC 2007. The paper updates every pair whose contribution
    falls; this one is lazy (`kernels/greedy/lazy.py`). Where the paper takes "some edge", ours is settled by
    `GmOptions.ties`.

    """
    del costs
    problem = make_problem(
        interests.indptr,
        interests.topic_ids,
        interests.topic_count,
        node_order(interests, options.ties, seed),
        weights=_weights_by_id(interests, options.weights),
        keep_bounds=options.keep_bounds,
    )
    result = take_edges(
        problem, instead=_INSTEAD[problem.keep_bounds], memory_limit=options.memory_limit, progress=progress
    )
    facts = {"pairs_examined": result.pairs_examined, "estimated_bytes": problem.estimated_bytes()}
    return Built(edges=result.edges, facts=facts, in_order=True)


def _weights_by_id(interests: Interests, weights: Mapping[str, int] | None) -> Ids | None:
    if not weights:
        return None
    names = pa.array(weights.keys(), pa.string())
    ids = pc.index_in(names, interests.topics)
    if ids.null_count:
        unknown = names.filter(pc.is_null(ids))
        more = f" (and {len(unknown) - 1:,} more)" if len(unknown) > 1 else ""
        raise OptionError(
            f"there is no topic {unknown[0].as_py()!r}{more}; leave unknown topics out of the weights"
        )
    by_id = np.ones(interests.topic_count, np.int32)
    by_id[ids.to_numpy()] = list(weights.values())
    totals = np.concatenate([[0], np.cumsum(by_id[interests.topic_ids], dtype=np.int64)])[interests.indptr]
    heaviest = int(np.diff(totals).max(initial=0))
    if heaviest > _MOST_WEIGHT:
        raise OptionError(
            f"the topics of one node weigh {heaviest:,} together, but at most {_MOST_WEIGHT:,} is allowed; "
            f"divide all weights by {heaviest // _MOST_WEIGHT + 1}"
        )
    return by_id
