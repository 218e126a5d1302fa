"""Backup sets ([3], V-G): for each node, others that together have all of its topics, several times over."""

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.rows import Rows, append, has_room, holds, remove, replace_row, row_of
from meshwright.kernels.repair.mutable_overlay import Live, Marks, next_step
from meshwright.runtime.arrays import Flags, Ids, Offsets, int64

PRIMAL_DUAL = 0
GREEDY = 1
COVER = 2

_NONE = -1
_WEIGHT = 0xFFFFFFFF
_EXCLUDED = np.int64(0x7FFFFFFF)


@kernel
def build_backups(
    live: Live,
    room: Marks,
    nodes: Ids,
    start: int,
    method: int,
    coverage: int,
    candidates: int,
    by_primaries: bool,
    rng: np.random.Generator,
) -> int:
    """Build the backups of `nodes` anew from place `start` on; return the place at which room ran out.

    Step I of [3], Alg. 6 and 9, and Step III, Alg. 8. A node is first taken out of the primaries of its old
    backups.
    """
    backups, primaries = live.backups, live.primaries
    for at in range(start, len(nodes)):
        node = nodes[at]
        most = min(coverage * live.topics.counts[node], len(room.found))
        if not has_room(primaries, most) or backups.used[0] + most > len(backups.items):
            return at
        for other in row_of(backups, node):
            remove(primaries, other, node)
        chosen = np.empty(most, np.int32)
        own = row_of(live.topics, node)
        count = _choose(live, room, node, own, method, coverage, candidates, by_primaries, rng, chosen)
        replace_row(backups, node, chosen[:count])
        for other in chosen[:count]:
            append(primaries, other, node)
    return len(nodes)


@kernel
def choose_backups(
    live: Live,
    room: Marks,
    nodes: Ids,
    indptr: Offsets,
    topics: Ids,
    method: int,
    coverage: int,
    candidates: int,
    rng: np.random.Generator,
) -> Ids:
    """Backups of node k for the topics `topics[indptr[k] : indptr[k + 1]]`, for all k in a row; not kept.

    The topics need not be the node's own any more. Who backs up two nodes comes twice.
    """
    bounds = np.empty(len(nodes), np.int64)
    total = 0
    for k in range(len(nodes)):
        bounds[k] = min(coverage * (indptr[k + 1] - indptr[k]), len(room.found))
        total += bounds[k]
    found = np.empty(total, np.int32)
    count = 0
    for k in range(len(nodes)):
        own, chosen = topics[indptr[k] : indptr[k + 1]], found[count : count + bounds[k]]
        count += _choose(live, room, nodes[k], own, method, coverage, candidates, False, rng, chosen)
    return found[:count]


@inner
def _choose(
    live: Live,
    room: Marks,
    node: int,
    own: Ids,
    method: int,
    coverage: int,
    candidates: int,
    by_primaries: bool,
    rng: np.random.Generator,
    chosen: Ids,
) -> int:
    """Fill in the backups of a node for these topics; return how many they are."""
    if method == PRIMAL_DUAL:
        return _primal_dual(live, room, node, own, coverage, candidates, by_primaries, rng, chosen)
    return _greedy(live, room, node, own, coverage, method == COVER, by_primaries, chosen)


@inner
def _start_round(own: Ids, room: Marks, left: Ids) -> int:
    """All own topics are uncovered; return the step that marks them."""
    step = next_step(room.steps)
    for k in range(len(own)):
        left[k] = own[k]
        room.topic_marks[own[k]] = step
        room.topic_numbers[own[k]] = k
    return step


@inner
def _cover(room: Marks, step: int, topic: int, left: Ids, count: int) -> int:
    """Take a topic from those left, if it is one; return how many remain."""
    if room.topic_marks[topic] != step:
        return count
    room.topic_marks[topic] = 0
    at, last = room.topic_numbers[topic], left[count - 1]
    left[at] = last
    room.topic_numbers[last] = at
    return count - 1


@inner
def _primal_dual(
    live: Live,
    room: Marks,
    node: int,
    own: Ids,
    coverage: int,
    candidates: int,
    by_primaries: bool,
    rng: np.random.Generator,
    chosen: Ids,
) -> int:
    """[3], Alg. 12: `coverage` covers, each by topics picked at random and the backup of least weight.

    The weight of a backup is paid by all who could have been chosen with it. Where none has a weight over
    0, one of weight 0 is taken; where there is none, nobody else has the topic, and it is dropped.
    Of a topic with more subscribers than `candidates`, as many are looked at, in a row from a random place
    on; all of them if these are chosen already. O(candidates) for each topic picked.
    """
    topics = live.topics
    items, starts, counts = live.subscribers.items, live.subscribers.starts, live.subscribers.counts
    degrees, burdens, weights = live.links.counts, live.primaries.counts, room.weights
    left = np.empty(len(own), np.int32)
    window = np.empty(min(candidates, len(room.found)), np.int32)
    count = 0
    for _ in range(coverage):
        before = count
        step = _start_round(own, room, left)
        stamp = int64(step) << 32
        weights[node] = stamp | _EXCLUDED
        for k in range(count):
            weights[chosen[k]] = stamp | _EXCLUDED
        uncovered = len(own)
        while uncovered:
            topic = left[rng.integers(0, uncovered)]
            others = items[starts[topic] : starts[topic] + counts[topic]]
            if counts[topic] > candidates:
                some = _in_a_row(others, rng.integers(0, counts[topic]), window)
                best = _lightest(some, degrees, burdens, by_primaries, weights, stamp)
                if best != _NONE:
                    others = some
            if counts[topic] <= candidates or best == _NONE:
                best = _lightest(others, degrees, burdens, by_primaries, weights, stamp)
            if best == _NONE:
                uncovered = _cover(room, step, topic, left, uncovered)
                continue
            _pay(others, weights, weights[best] & _WEIGHT)
            weights[best] = stamp | _EXCLUDED
            chosen[count] = best
            count += 1
            for covered in row_of(topics, best):
                uncovered = _cover(room, step, covered, left, uncovered)
        if count == before:
            break  # nobody is left
    return count


@inner
def _in_a_row(others: Ids, first: int, window: Ids) -> Ids:
    """Fill the window with those from the first on, which begin again after the last."""
    at = first
    for k in range(len(window)):
        window[k] = others[at]
        at = at + 1 if at + 1 < len(others) else 0
    return window


# The loops are over plain arrays: a call with a tuple of arrays counts the references of all of them.


@inner
def _lightest(
    others: Ids, degrees: Ids, burdens: Ids, by_primaries: bool, weights: Offsets, stamp: int
) -> int:
    """The first of least weight over 0; else the first of weight 0; else _NONE. Weights are set if new.

    A weight stands in the low half of its number, behind the step in which it holds.
    """
    best, least, free = _NONE, _EXCLUDED, _NONE
    for other in others:
        weight = weights[other] - stamp
        if weight < 0:
            weight = degrees[other] + (burdens[other] if by_primaries else 0)
            weights[other] = stamp | weight
        if weight < least:
            if weight:
                best, least = other, weight
            elif free == _NONE:
                free = other
    return free if best == _NONE else best


@inner
def _pay(others: Ids, weights: Offsets, price: int) -> None:
    """Lower the weights of all candidates by that of the chosen one."""
    for other in others:
        weight = weights[other] & _WEIGHT
        if 0 < weight < _EXCLUDED:
            weights[other] -= price


@inner
def _greedy(
    live: Live, room: Marks, node: int, own: Ids, coverage: int, alike: bool, by_primaries: bool, chosen: Ids
) -> int:
    """[3], Alg. 11: `coverage` greedy covers, each choice of least weight for each topic that it adds.

    Where all weigh `alike`, each choice adds the most topics.
    O(coverage * (subscribers of the node's topics + candidates * choices)).
    """
    topics, subscribers = live.topics, live.subscribers
    degrees, burdens = live.links.counts, live.primaries.counts
    marks, gains, found = room.marks, room.numbers, room.found
    left = np.empty(len(own), np.int32)
    build = next_step(room.steps)
    room.chosen[node] = build
    count = 0
    for _ in range(coverage):
        step = _start_round(own, room, left)
        uncovered = len(own)
        candidates = _find_candidates(subscribers, own, room, build, step)
        if not candidates:
            break
        while uncovered:
            candidates, best = _least_ratio(found, candidates, gains, degrees, burdens, alike, by_primaries)
            if best == _NONE:
                break
            room.chosen[best] = build
            chosen[count] = best
            count += 1
            for covered in row_of(topics, best):
                if room.topic_marks[covered] == step:
                    uncovered = _cover(room, step, covered, left, uncovered)
                    for other in row_of(subscribers, covered):
                        gains[other] -= marks[other] == step
    return count


@inner
def _find_candidates(subscribers: Rows, own: Ids, room: Marks, build: int, step: int) -> int:
    """List who has some of the topics and was not chosen, with how many; return how many they are."""
    marks, gains, count = room.marks, room.numbers, 0
    for topic in own:
        for other in row_of(subscribers, topic):
            if room.chosen[other] == build:
                continue
            if marks[other] != step:
                marks[other] = step
                gains[other] = 0
                room.found[count] = other
                count += 1
            gains[other] += 1
    return count


@inner
def _least_ratio(
    found: Ids, count: int, gains: Ids, degrees: Ids, burdens: Ids, alike: bool, by_primaries: bool
) -> tuple[int, int]:
    """Drop candidates that would add nothing; return how many remain, and the best of them."""
    best, least, kept = _NONE, np.int64(0), 0
    for k in range(count):
        other = found[k]
        if not gains[other]:
            continue
        found[kept] = other
        kept += 1
        weight = np.int64(1) if alike else np.int64(degrees[other] + (burdens[other] if by_primaries else 0))
        if best == _NONE or weight * gains[best] < least * gains[other]:
            best, least = other, weight
    return kept, best


@kernel
def forget(live: Live, nodes: Ids) -> None:
    """Take nodes out of the backups and primaries of all others."""
    for node in nodes:
        for other in row_of(live.backups, node):
            remove(live.primaries, other, node)
        for other in row_of(live.primaries, node):
            remove(live.backups, other, node)
        live.backups.counts[node] = 0
        live.primaries.counts[node] = 0


@kernel
def find_affected(
    live: Live,
    room: Marks,
    movers: Ids,
    leaving: Flags,
    lost_indptr: Offsets,
    lost: Ids,
    gainers: Ids,
) -> Ids:
    """Whose backups have to be built anew after a repair, but for `gainers`, who have new ones.

    Those whose backup left, or lost a topic that both had, and those who lost a topic themselves.
    """
    step = next_step(room.steps)
    bound = 0
    for k in range(len(movers)):
        bound += 1 + live.primaries.counts[movers[k]]
        if leaving[k]:
            room.marks[movers[k]] = step
    for node in gainers:
        room.marks[node] = step
    affected = np.empty(bound, np.int32)
    count = 0
    for k in range(len(movers)):
        node = movers[k]
        own = lost[lost_indptr[k] : lost_indptr[k + 1]]
        if len(own) and room.marks[node] != step:
            room.marks[node] = step
            affected[count] = node
            count += 1
        for primary in row_of(live.primaries, node):
            if room.marks[primary] != step and (leaving[k] or _has_any(live.topics, primary, own)):
                room.marks[primary] = step
                affected[count] = primary
                count += 1
    return affected[:count]


@inner
def _has_any(topics: Rows, node: int, wanted: Ids) -> bool:
    found = False
    for topic in wanted:
        found |= holds(topics.items, topics.starts[node], topics.counts[node], topic)
    return found
