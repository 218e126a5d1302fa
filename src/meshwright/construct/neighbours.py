"""The driver of the greedy in which every subscriber wants neighbours in each of its topics."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from meshwright.construct.greedy import (
    HEAVY,
    GreedyProblem,
    check_fits,
    row_blocks,
    row_starts,
    start_ready,
    start_state,
)
from meshwright.construct.options import UNLIMITED
from meshwright.kernels.core.topic_components import NONE, TopicComponents
from meshwright.kernels.greedy import neighbours as kernel
from meshwright.kernels.greedy.bounds import TAKEN, Pairs
from meshwright.kernels.greedy.lazy import Ready
from meshwright.kernels.greedy.want_rows import WantScratch
from meshwright.kernels.greedy.wants import Own, Wants, start_wants, take_links
from meshwright.runtime.arrays import Ids, Longs, Offsets, Ticks
from meshwright.runtime.machine import MOST_THREADS, cores
from meshwright.runtime.memory import needed
from meshwright.runtime.progress import CANCEL, Progress, run_with_ticks


def wanted_by(problem: GreedyProblem, resilience: int) -> Ids:
    """By interest: as many neighbours as the resilience, or all others where these are fewer."""
    sizes = np.bincount(problem.topic_ids, minlength=problem.topic_count)
    found: Ids = np.minimum(resilience, sizes - 1)[problem.topic_ids].astype(np.int32)
    return found


def take_wanted(
    problem: GreedyProblem,
    wanted: Ids,
    *,
    instead: str,
    links: Ids | None = None,
    caps: Longs | None = None,
    memory_limit: int | None = None,
    progress: Progress | None = None,
) -> Ids:
    """The edges by which topics get connected and subscribers get the neighbours that they want, in order.

    `wanted` has a number for each interest of the problem. It begins with `links`, which the edges don't
    repeat. `caps` has for each node, by its id outside, the most links that it may have; what can't be had
    within them is left wanting. Every edge contributes as much as any other could when it is taken.

    Cost: three to four times that of `take_edges`, and its memory; besides, some 40 bytes for each interest,
    and two bits for each node and topic where these are few.
    `instead` is what a message recommends when the memory can't suffice.
    """
    check_fits(problem, instead, memory_limit, estimate=estimated_bytes(problem))
    allowed = np.full(len(problem.nodes), UNLIMITED) if caps is None else caps[problem.nodes]

    def work(ticks: Ticks) -> Ids:
        return run_wanted(problem, wanted, allowed, links, ticks, cores())

    return run_with_ticks(work, "taking edges", problem.to_unite + int(wanted.sum()), progress)


def estimated_bytes(problem: GreedyProblem) -> int:
    """How much memory `take_wanted` needs: that of `take_edges`, and what is noted of wants."""
    words = problem.words * len(problem.nodes)
    return problem.estimated_bytes() + needed("wanting", interests=len(problem.topic_ids), words=words)


def run_wanted(
    problem: GreedyProblem, wanted: Ids, caps: Longs, links: Ids | None, ticks: Ticks, thread_count: int = 1
) -> Ids:
    """`take_wanted` for a caller that has `ticks` and threads of its own; these don't change the result.

    `caps` are those of the problem's nodes.
    """
    if not problem.topic_count:
        return np.empty((0, 2), np.int32)
    thread_count = min(thread_count, MOST_THREADS)
    state = start_state(problem, with_columns=True)
    wants = _start_wants(problem, state, wanted, caps)
    state = state._replace(columns=wants.columns[: len(state.columns)])
    # Threads write common topics into `gaining`, so each has its own.
    states = [state._replace(gaining=np.empty_like(state.gaining)) for _ in range(thread_count)]
    pairs = _start_pairs(problem, int(wanted.sum()))
    rooms = [_start_room(problem, wants) for _ in range(thread_count)]
    given = np.empty((0, 2), np.int32) if links is None else _places(problem, links)
    take_links(state, wants, given, rooms[0].own, ticks)
    if links is not None:
        wants.degrees[:] = np.bincount(links.ravel(), minlength=int(problem.nodes.max()) + 1)[problem.nodes]
    ready = start_ready(problem)
    with ThreadPoolExecutor(thread_count) as pool:
        _start_rows(pool, rooms, states, wants, pairs, not len(given), ticks)
        kernel.rule_out(pairs, given)
        while level := kernel.take_light_levels(state, wants, pairs, HEAVY, rooms[0], ticks):
            for rows in row_blocks(pairs, level):
                _refresh(pool, rooms, states, wants, pairs, rows, level, ready, ticks)
                kernel.settle_wanting_rows(state, wants, pairs, rows, level, rooms[0], ready, ticks)
            if ticks[CANCEL]:
                break
    found: Ids = problem.nodes[pairs.edges[: pairs.counts[TAKEN]]]
    return found


def _start_rows(
    pool: ThreadPoolExecutor,
    rooms: list[WantScratch],
    states: list[TopicComponents],
    wants: Wants,
    pairs: Pairs,
    is_fresh: bool,
    ticks: Ticks,
) -> None:
    """Bound all pairs on all threads."""

    def share(k: int) -> None:
        rows = np.arange(k, len(pairs.tops), len(rooms))
        kernel.start_rows(states[k], wants, pairs, rows, is_fresh, rooms[k], ticks)

    list(pool.map(share, range(len(rooms))))


def _refresh(
    pool: ThreadPoolExecutor,
    rooms: list[WantScratch],
    states: list[TopicComponents],
    wants: Wants,
    pairs: Pairs,
    rows: Offsets,
    level: int,
    ready: Ready,
    ticks: Ticks,
) -> None:
    """Refresh a block of rows on all threads, as Greedy Merge does."""
    size = len(ready.places) // len(rooms)

    def share(k: int) -> None:
        mine, part = np.ascontiguousarray(rows[k :: len(rooms)]), np.array([k, k + 1]) * size
        kernel.refresh_wanting_rows(states[k], wants, pairs, mine, level, rooms[k], ready, part, ticks)

    list(pool.map(share, range(len(rooms))))


def _start_room(problem: GreedyProblem, wants: Wants) -> WantScratch:
    """Room for one thread."""
    nodes, topics = len(problem.nodes), problem.topic_count
    own = Own(np.full(topics, NONE, np.int32), np.zeros(topics, np.int32), np.zeros(topics, np.uint8))
    gains, found = (np.zeros(nodes, np.int32) for _ in range(2))
    sums, rests = (np.zeros(nodes, np.uint8) for _ in range(2))
    return WantScratch(own, gains, found, sums, rests, np.zeros(len(wants.columns) // 3 * 4 + 6, np.uint8))


def _places(problem: GreedyProblem, links: Ids) -> Ids:
    """Links as places of nodes in the problem, the lower first; those of other nodes are left out."""
    place = np.full(int(max(problem.nodes.max(), links.max(initial=0))) + 1, NONE, np.int32)
    place[problem.nodes] = np.arange(len(problem.nodes), dtype=np.int32)
    found = np.sort(place[links], axis=1)
    return np.ascontiguousarray(found[found[:, 0] != NONE])


def _start_wants(problem: GreedyProblem, state: TopicComponents, wanted: Ids, caps: Longs) -> Wants:
    nodes, interests = len(problem.nodes), len(problem.topic_ids)
    by_slot = np.empty(interests, np.uint8)
    by_slot[state.slots] = wanted
    listed, counts = (np.zeros(problem.topic_count, np.int32) for _ in range(2))
    bits = np.zeros((nodes, problem.words), np.uint64)
    slots = np.empty(interests, np.int32)
    wanting = np.zeros((len(state.columns) // 2, nodes), np.uint8)
    columns = np.concatenate([state.columns[:, :nodes], wanting])
    degrees = np.zeros(nodes, np.int64)
    wants = Wants(by_slot, bits, columns, slots, listed, counts, degrees, caps)
    start_wants(state, wants)
    return wants


def _start_pairs(problem: GreedyProblem, wanted: int) -> Pairs:
    starts = row_starts(problem)
    return Pairs(
        firsts=problem.firsts,
        store=np.zeros(starts[-1], np.uint64),
        starts=starts,
        blocks=np.zeros(starts[-1] // 8, np.uint8),
        tops=np.zeros(len(problem.nodes), np.int32),
        edges=np.empty((problem.to_unite + wanted, 2), np.int32),
        counts=np.zeros(2, np.int64),
    )
