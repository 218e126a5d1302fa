"""The bounds of the pairs of a lazy greedy: where they are kept, and how they are brought down.

Pairs stand in rows: row u holds the pairs (u, v) from v = `firsts[u]` > u on. Two numbers bound a pair: the
one kept in the *store* (one byte per pair; it may be left out), and the weight of both nodes' topics outside
the marked components. `tops` bounds all pairs of a row. Bringing bounds down only reads the component state,
so several threads may do it. Where there is a store, every topic weighs one.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from meshwright.kernels.compiling import inlined, kernel, lean, lean_kernel
from meshwright.kernels.core.bits import add_bytes, popcount, reaching_bits, trailing_zeros
from meshwright.kernels.core.topic_components import (
    NONE,
    TopicComponents,
    clear_own_names,
    prefetch_interests,
    write_own_names,
)
from meshwright.kernels.core.totals import greatest
from meshwright.kernels.greedy.byte_rows import MOST_TOPICS, count_byte_row, is_byte_row_cheaper
from meshwright.runtime.arrays import Bytes, Ids, Longs, Offsets, Ticks, Words, int64
from meshwright.runtime.progress import CANCEL

TAKEN, EXAMINED = 0, 1
"""Where `counts` of pairs has the edges taken and the pairs examined."""

CAP = 127
"""The greatest bound in the store, which stands for this much or more."""


class Pairs(NamedTuple):
    """What is known of the pairs, and the edges taken so far."""

    firsts: Offsets  # by row: the first node to pair with
    store: Words  # one byte per pair, each row padded with zeros to 64; empty when left out
    starts: Offsets  # by row: its first word in the store
    blocks: Bytes  # by 64 pairs of the store: their greatest bound, but for ready pairs; lazy greedy only
    tops: Ids  # by row: no pair of the row contributes more
    edges: npt.NDArray[np.int32]  # (m, 2), in the order in which they were taken
    counts: Offsets  # by TAKEN and EXAMINED


class Scratch(NamedTuple):
    """Room that one thread works in."""

    gains: Ids  # by node
    found: Ids  # by node
    own: Ids  # by topic
    sums: Bytes  # by node
    rests: Bytes  # by node
    own_columns: Bytes  # by column, and three more: all zero


@kernel
def start_rows(state: TopicComponents, pairs: Pairs) -> None:
    """Bound every pair by the weight of all topics of its row's own node."""
    nodes = len(state.indptr) - 1
    totals = np.zeros(nodes, np.int32)
    most = np.zeros(nodes + 1, np.int32)
    for u in range(nodes - 1, -1, -1):
        for i in range(state.indptr[u], state.indptr[u + 1]):
            totals[u] += state.weights[state.topic_ids[i]]
        most[u] = max(totals[u], most[u + 1])
    for u in range(nodes):
        pairs.tops[u] = min(totals[u], most[pairs.firsts[u]])
        if len(pairs.store):
            row = row_words(pairs.store, pairs.starts, u).view(np.uint8)
            # Read before the loop, which otherwise reads it again for each byte, since arrays may overlap.
            bound, count = min(totals[u], CAP), nodes - pairs.firsts[u]
            for i in range(count):
                row[i] = bound


@inlined
def row_words(store: Words, starts: Offsets, u: int) -> Words:
    """The bounds of a row, eight a word, as a view."""
    return store[starts[u] : starts[u + 1]]


@lean
def row_top(words: Words | Bytes, known: int) -> int:
    """The bound of a row, from its pairs or blocks; `known` is the greatest gain of its pairs at the cap.

    The loop is such that it compiles to vector instructions.
    """
    row = words.view(np.uint8)
    top = np.uint8(0)
    for i in range(len(row)):
        top = max(top, row[i])
    if top < CAP:
        known = int64(top)
    return known


@inlined
def row_blocks(blocks: Bytes, starts: Offsets, u: int) -> Bytes:
    """The tops of a row's blocks, as a view."""
    return blocks[starts[u] >> 3 : starts[u + 1] >> 3]


@lean
def find_pairs(words: Words, loose: Ids, own_loose: int, threshold: int, found: Ids) -> int:
    """Write the places of the bounds that reach the threshold into `found`; return how many there are.

    A bound that the loose weight of both nodes already puts under the threshold is brought down here.
    """
    row, count = words.view(np.uint8), 0
    for start in range(0, len(words), 8):
        reaching = reaching_bits(words, start, threshold)
        while reaching:
            i = (start << 3) + trailing_zeros(reaching)
            reaching &= reaching - np.uint64(1)
            rest = own_loose + loose[i]
            row[i] = min(row[i], rest)
            found[count] = i
            count += rest >= threshold
    return count


@lean
def fill_rests(loose: Ids, rests: Bytes) -> None:
    """The loose weights of the nodes, at most 255. It compiles to vector instructions."""
    for v in range(len(loose)):
        rests[v] = min(loose[v], np.int32(255))


@lean
def find_in_blocks(
    words: Words, blocks: Bytes, rests: Bytes, own_rest: int, threshold: int, found: Ids
) -> int:
    """As `find_pairs`, of the blocks alone that reach the threshold; 64 pairs are brought down together.

    Many reach the threshold, and few are found. `rests` begins with the first node of the row.
    """
    count, own = 0, np.uint8(own_rest)
    for block in range(len(blocks)):
        if blocks[block] < threshold:
            continue
        first = block << 6
        row, others = words[block << 3 : (block + 1) << 3].view(np.uint8), rests[first : first + 64]
        if len(others) == 64:
            for i in range(64):
                row[i] = min(row[i], add_bytes(others[i], own))
        else:
            for i in range(len(others)):
                row[i] = min(row[i], add_bytes(others[i], own))
        reaching = reaching_bits(words, block << 3, threshold)
        while reaching:
            found[np.uint32(count)] = first + trailing_zeros(reaching)
            reaching &= reaching - np.uint64(1)
            count += 1
    return count


@lean
def lower_blocks(row: Bytes, blocks: Bytes, threshold: int, limit: int) -> None:
    """Bring down the tops of the blocks that reach the threshold, to their greatest bounds under the limit.

    The inner loop is such that it compiles to vector instructions.
    """
    under = np.uint8(limit)
    for block in range(len(blocks)):
        if blocks[block] >= threshold:
            bounds, top = row[block << 6 : (block + 1) << 6], np.uint8(0)
            for i in range(64):
                top = max(top, bounds[i] if bounds[i] < under else np.uint8(0))
            blocks[block] = top


@lean
def row_work(state: TopicComponents, u: int) -> int:
    """How many slots `row_contributions` would read."""
    work = 0
    for i in range(state.indptr[u], state.indptr[u + 1]):
        topic = state.topic_ids[i]
        if state.counts[topic] > 1:
            if state.names[state.slots[i]] == state.marked[topic]:
                work += state.listed[topic]
            else:
                work += state.topic_indptr[topic + 1] - state.slots[i]
    return work


@lean
def row_contributions(state: TopicComponents, weights: Ids | Longs, u: int, gains: Ids | Longs) -> None:
    """The exact contributions of the pairs of `u` with all later nodes, by walking the topics of `u`."""
    # Slices here and below: loops over indices, which might be negative, take a tenth of a build longer.
    gains[u + 1 :] = 0
    for i in range(state.indptr[u], state.indptr[u + 1]):
        topic = state.topic_ids[i]
        if state.counts[topic] < 2:
            continue
        slot = state.slots[i]
        name, weight = state.names[slot], weights[topic]
        if name == state.marked[topic]:
            start = state.topic_indptr[topic]
            for other in state.loose_slots[start : start + state.listed[topic]]:
                gains[state.slot_nodes[other]] += weight * (state.names[other] != name)
        else:
            for other in range(slot + 1, state.topic_indptr[topic + 1]):
                gains[state.slot_nodes[other]] += weight * (state.names[other] != name)


@lean
def lower_bounds(row: Bytes, gains: Ids) -> None:
    """Bring down all bounds of a row to its gains; one that was set to zero stays, so it is never taken."""
    for i in range(len(gains)):
        bound = np.int32(row[i])
        row[i] = bound if bound < gains[i] else gains[i]


@lean
def refresh_by_bits(bits: Words, u: int, first: int, found: Ids, row: Bytes) -> int:
    """Bound each pair found by its common topics in which not both nodes are marked; return the greatest."""
    words = bits.shape[1] >> 1
    topics_u, loose_u = bits[u, :words], bits[u, words:]
    known = 0
    for i in found:
        topics_v, loose_v = bits[first + i, :words], bits[first + i, words:]
        bound = 0
        for w in range(words):
            bound += popcount((topics_u[w] & loose_v[w]) | (loose_u[w] & topics_v[w]))
        row[i] = min(bound, CAP)
        known = max(known, bound)
    return known


@lean
def contributions(
    state: TopicComponents, weights: Ids | Longs, own: Ids, first: int, found: Ids, gains: Ids | Longs
) -> None:
    """For each pair found, the weight of the topics in which its edge would join two components.

    `own` holds the components of the one end; the other is `first` + what was found.
    """
    names = state.names
    for k in range(len(found)):
        if k + 1 < len(found):
            prefetch_interests(state, first + found[k + 1])
        begin, end = state.indptr[first + found[k]], state.indptr[first + found[k] + 1]
        topics, slots = state.topic_ids[begin:end], state.slots[begin:end]
        gain = 0
        for i in range(len(topics)):
            name = own[np.uint32(topics[i])]
            if name != NONE and name != names[np.uint32(slots[i])]:
                gain += weights[np.uint32(topics[i])]
        gains[k] = gain


@lean
def _refresh_by_lists(
    state: TopicComponents, u: int, first: int, found: Ids, row: Bytes, scratch: Scratch
) -> int:
    """Give each pair found its exact contribution; return the greatest."""
    write_own_names(state, u, scratch.own)
    contributions(state, state.weights, scratch.own, first, found, scratch.gains)
    clear_own_names(state, u, scratch.own)
    known = 0
    for k in range(len(found)):
        row[found[k]] = min(scratch.gains[k], CAP)
        known = max(known, scratch.gains[k])
    return known


@lean
def refresh_found(
    state: TopicComponents, words: Words, u: int, first: int, count: int, scratch: Scratch
) -> int:
    """Bring down the bounds of the pairs found, by the cheaper of two ways; return the greatest gain seen."""
    row, gains = words.view(np.uint8), scratch.gains
    own_topics, words_each = state.indptr[u + 1] - state.indptr[u], state.bits.shape[1] >> 1
    # In slots read by the other way (measured): a pair by its bitsets, or by the list of its interests.
    pair_work = count * (4 + (words_each >> 2) if words_each else 300)
    known = int64(0)
    if pair_work > own_topics and is_byte_row_cheaper(state, u, pair_work):
        count_byte_row(state, u, scratch.own_columns, scratch.sums)
        known = _lower_by_bytes(row, scratch.sums[first:])
        known = known if own_topics <= MOST_TOPICS or known < CAP else own_topics
    elif pair_work > own_topics > MOST_TOPICS and row_work(state, u) < pair_work:
        row_contributions(state, state.weights, u, gains)
        lower_bounds(row, gains[first:])
        known = int64(greatest(gains[first:]))
    elif words_each:
        known = int64(refresh_by_bits(state.bits, u, first, scratch.found[:count], row))
    else:
        known = int64(_refresh_by_lists(state, u, first, scratch.found[:count], row, scratch))
    return known


@lean
def _lower_by_bytes(row: Bytes, sums: Bytes) -> int:
    """Bring down all bounds of a row to its sums; return the greatest sum.

    The loop is such that it compiles to vector instructions.
    """
    known = np.uint8(0)
    for i in range(len(sums)):
        known = max(known, sums[i])
        row[i] = min(row[i], sums[i])
    return int64(known)


@lean_kernel
def bound_rows(state: TopicComponents, pairs: Pairs, rows: Offsets, scratch: Scratch, ticks: Ticks) -> int:
    """Look at all pairs of `rows` for the first time; count them."""
    nodes, examined = len(pairs.tops), 0
    for u in rows:
        if ticks[CANCEL]:
            break
        first, own_topics = pairs.firsts[u], state.indptr[u + 1] - state.indptr[u]
        words = row_words(pairs.store, pairs.starts, u)
        row = words.view(np.uint8)
        bound, count = np.uint8(min(own_topics, CAP)), nodes - first
        for i in range(count):
            row[i] = bound
        count_byte_row(state, u, scratch.own_columns, scratch.sums)
        known = _lower_by_bytes(row, scratch.sums[first:])
        known = known if own_topics <= MOST_TOPICS else own_topics
        blocks = row_blocks(pairs.blocks, pairs.starts, u)
        lower_blocks(row, blocks, 0, CAP + 1)
        pairs.tops[u] = row_top(blocks, known)
        examined += count
    return examined


@lean
def rest_top(blocks: Bytes, limit: int) -> int:
    """The greatest bound of a row under the limit. The loop is such that it compiles to vector code."""
    top, under = np.uint8(0), np.uint8(limit)
    for block in range(len(blocks)):
        top = max(top, blocks[block] if blocks[block] < under else np.uint8(0))
    return int64(top)
