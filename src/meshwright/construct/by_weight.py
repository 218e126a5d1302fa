"""The driver of the greedy where topics have weights."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from meshwright.construct.candidates import join_candidates, start_candidates
from meshwright.kernels.core.topic_components import NONE, TopicComponents
from meshwright.kernels.core.weighed_bits import digits_of
from meshwright.kernels.greedy import by_weight as kernel
from meshwright.kernels.greedy import weight_bounds
from meshwright.kernels.greedy.bounds import CAP, EXAMINED, TAKEN
from meshwright.kernels.greedy.by_price import PricedPairs, clear_candidates
from meshwright.kernels.greedy.byte_rows import MOST_TOPICS
from meshwright.kernels.greedy.weight_rows import WeightRow, draw_sets
from meshwright.runtime.arrays import Ids, Offsets, Ticks
from meshwright.runtime.progress import CANCEL


def take_by_weight(
    state: TopicComponents,
    firsts: Offsets,
    starts: Offsets,
    to_unite: int,
    heavy: int,
    ticks: Ticks,
    threads: int,
) -> tuple[Ids, int]:
    """The edges that the greedy takes, in order, and how many pairs it looked at.

    Row u has the pairs of u with the nodes from `firsts[u]` on, and its levels from word `starts[u]` on. A
    level with `heavy` pairs in its rows is refreshed on all threads.
    """
    nodes = len(firsts)
    rooms = [_start_room(state) for _ in range(threads)]
    weights, scales = _start_weights(state), np.full(nodes, weight_bounds.UNSEEN, np.uint8)
    pairs = _start_pairs(state, firsts, starts, to_unite, _scale(state, weights, rooms[0]))
    chosen = [start_candidates(nodes) for _ in range(threads)]
    shared = (state, weights, pairs)
    with ThreadPoolExecutor(threads) as pool:
        while level := kernel.settle_light_levels_by_weight(
            *shared, scales, heavy, rooms[0], chosen[0], ticks
        ):
            if ticks[CANCEL]:
                break
            rows = np.flatnonzero(pairs.tops >= level)

            def share(k: int, rows: Offsets = rows, level: int = level) -> Any:
                clear_candidates(chosen[k])
                mine = np.ascontiguousarray(rows[k::threads])
                return kernel.refresh_rows_by_weight(*shared, scales, mine, level, rooms[k], chosen[k], ticks)

            pairs.counts[EXAMINED] += sum(pool.map(share, range(threads)))
            kernel.settle_by_weight(
                *shared, level, len(rows), rooms[0], join_candidates(pairs, chosen), ticks
            )
    return _in_order(pairs), int(pairs.counts[EXAMINED])


def _start_pairs(
    state: TopicComponents, firsts: Offsets, starts: Offsets, to_unite: int, scale: Offsets
) -> PricedPairs:
    pairs = PricedPairs(
        firsts=firsts,
        store=np.zeros(starts[-1], np.uint64),
        starts=starts,
        blocks=np.zeros(starts[-1] // 8, np.uint8),
        tops=np.zeros(len(firsts), np.int32),
        scale=scale,
        edges=np.empty((to_unite, 2), np.int32),
        prices=np.empty(to_unite),
        counts=np.array([0, 0, to_unite], np.int64),
        dual=np.zeros(2),
    )
    weight_bounds.start_levels_by_weight(state, pairs)
    return pairs


_SAMPLED = 32
"""The heaviest nodes, whose pairs show how great contributions are."""


def _scale(
    state: TopicComponents, weights: weight_bounds.TopicWeights, room: weight_bounds.WeightScratch
) -> Offsets:
    """The first levels: such that the highest are in use. What is beyond them counts as the highest."""
    heaviest = np.argsort(-state.loose, kind="stable")
    sampled = heaviest[np.diff(state.indptr)[heaviest] <= MOST_TOPICS][:_SAMPLED]
    most = weight_bounds.greatest_contribution(state, weights, sampled.astype(np.int32), room) or int(
        state.loose.max(initial=1)
    )
    shift = max(weights.fine, (-(-most // CAP) - 1).bit_length())
    return np.array([0, shift, 0], np.int64)


def _start_weights(state: TopicComponents) -> weight_bounds.TopicWeights:
    most_topics, fine = int(np.diff(state.indptr).max(initial=0)), 0
    reached = np.concatenate([[0], np.cumsum(state.weights[state.topic_ids], dtype=np.int64)])
    most_weight = int(np.diff(reached[state.indptr]).max(initial=0))
    while (most_weight >> fine) + min(most_topics, MOST_TOPICS) >= 2**16:
        fine += 1
    sets = np.zeros((8 * len(state.columns) + 1, state.columns.shape[1] // 64), np.uint64)
    draw_sets(state.columns, 0, sets)
    digits, shifts = digits_of(state.weights, state.bits.shape[1] >> 1)
    return weight_bounds.TopicWeights(
        counted=state.weights.astype(np.int64) + 2**32,
        rounded=np.minimum(-(-state.weights.astype(np.int64) >> fine), 2**16 - 1).astype(np.uint16),
        fine=fine,
        heaviest=np.argsort(-state.weights, kind="stable").astype(np.int32),
        sets=sets,
        digits=digits,
        shifts=shifts,
        pace=np.full(1, kernel.LEAST_SHARE),
        finished=np.zeros(1, np.int64),
    )


def _start_room(state: TopicComponents) -> weight_bounds.WeightScratch:
    nodes, topics = len(state.loose), len(state.counts)
    filled = -(-nodes // 64) * 64
    return weight_bounds.WeightScratch(
        found=np.zeros(max(nodes, 1), np.int32),
        gains=np.zeros(max(nodes, 1), np.int64),
        prices=np.zeros(nodes),
        own=np.full(topics, NONE, np.int32),
        rests=np.zeros(nodes, np.uint8),
        row=WeightRow(
            counts=np.zeros(filled, np.uint8),
            sums=np.zeros(filled, np.uint16),
            popular=np.zeros(MOST_TOPICS + 3, np.int32),
        ),
    )


def _in_order(pairs: PricedPairs) -> Ids:
    """The edges by falling contribution, then by their nodes; those that contribute 1, topic by topic.

    A topic is finished at once, in the midst of other edges that contribute as much.
    """
    taken = pairs.counts[TAKEN]
    edges, prices = pairs.edges[:taken], pairs.prices[:taken]
    above = int(np.searchsorted(prices, -1.0))
    order = np.lexsort((edges[:above, 1], edges[:above, 0], prices[:above]))
    return np.concatenate([edges[:above][order], edges[above:]])
