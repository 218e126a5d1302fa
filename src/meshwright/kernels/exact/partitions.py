"""Partitions of topics: the inequalities that describe what connects a topic.

Let values x(e) >= 0 of pairs of nodes be given, and let P divide the subscribers of a topic into parts. What
connects the topic connects the parts, so x of the pairs between parts is at least |P| - 1: a *partition
inequality*. All of them together describe the spanning trees of the topic and what is above them. Here the
one is found that a given x violates most, exactly.

*Parts as tight sets.* With f(S) = x(pairs that leave S) / 2 - 1, the sum of f over the parts of P is x(pairs
between parts) - |P|. The least such sum is that of the greatest vector y with y(S) <= f(S) for all S, since f
is submodular on sets that meet (Dilworth truncation). A greedy finds y: it takes one subscriber after the
other and gives it as much as the sets among those taken allow, which a minimum cut tells; sets that are then
tight and meet become one part.

Sources: W. H. Cunningham, Optimal attack and reinforcement of a network, Journal of the ACM 32 (1985);
F. Barahona, Separating from the dominant of the spanning tree polytope, Operations Research Letters 12
(1992).
"""

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.runtime.arrays import Flags, Floats, Ids, Offsets, Ticks
from meshwright.runtime.progress import CANCEL

_WHOLE = 1 - 1e-9
"""Nodes with so great a value between them are in one part: to divide them gains nothing."""

_NOTHING = 1e-12


@kernel
def find_partitions(
    topic_indptr: Offsets, node_ids: Ids, values: Floats, labels: Ids, violations: Floats, ticks: Ticks
) -> None:
    """For each topic: the part of each subscriber, and by how much |P| - 1 is above the values between parts.

    `values` (n, n) is symmetric, and 0 where there is no pair. A violation is never negative: one part has 0.
    O(k) minimum cuts of dense graphs with k vertices, where k counts the parts that pairs of value 1 leave.
    """
    for topic in range(len(topic_indptr) - 1):
        if ticks[CANCEL]:
            return
        start, end = topic_indptr[topic], topic_indptr[topic + 1]
        nodes, own = node_ids[start:end], labels[start:end]
        count = _unite_whole(nodes, values, own)
        if count > 1:
            between = _between(nodes, values, own, count)
            parts = _best_partition(between)
            for at in range(len(own)):
                own[at] = parts[own[at]]
            violations[topic] = _violation(between, parts)
        else:
            violations[topic] = 0.0


@inner
def _unite_whole(nodes: Ids, values: Floats, labels: Ids) -> int:
    """Number the components that pairs of value 1 leave; return how many there are."""
    count, size = 0, len(nodes)
    stack = np.empty(size, np.int64)
    for at in range(size):
        labels[at] = -1
    for first in range(size):
        if labels[first] >= 0:
            continue
        labels[first], stack[0], depth = count, first, 1
        while depth:
            depth -= 1
            node = nodes[stack[depth]]
            for at in range(size):
                if labels[at] < 0 and values[node, nodes[at]] >= _WHOLE:
                    labels[at], stack[depth] = count, at
                    depth += 1
        count += 1
    return count


@inner
def _between(nodes: Ids, values: Floats, labels: Ids, count: int) -> Floats:
    """The sums of values between components."""
    between = np.zeros((count, count))
    for i in range(len(nodes)):
        for j in range(len(nodes)):
            if labels[i] != labels[j]:
                between[labels[i], labels[j]] += values[nodes[i], nodes[j]]
    return between


@inner
def _violation(between: Floats, parts: Ids) -> float:
    count, total = len(between), 0.0
    for i in range(count):
        total += parts[i] == i
        for j in range(i):
            if parts[i] != parts[j]:
                total -= between[i, j]
    return total - 1


@inner
def _best_partition(between: Floats) -> Ids:
    """The part of each vertex, named by its last one, in a partition of least value between parts, less |P|.

    Vertex i is the source; those from i + 1 on are the sink.
    """
    count = len(between)
    room, most = np.empty((count + 1, count + 1)), np.empty(count)
    parts, inside = np.arange(count).astype(np.int32), np.zeros(count + 1, np.bool_)
    previous, queue = np.empty(count + 1, np.int64), np.empty(count + 1, np.int64)
    for source in range(count):
        sink, given = source + 1, 0.0
        for u in range(sink):
            room[sink, u] = room[u, sink] = 0.0
            for v in range(count):
                if v <= source:
                    room[u, v] = between[u, v] / 2
                else:
                    room[u, sink] += between[u, v] / 2
        for u in range(source):
            if most[u] > 0:
                room[source, u] += most[u]
                given += most[u]
            else:
                room[u, sink] -= most[u]
        most[source] = _minimum_cut(room, source, sink, previous, queue, inside) - given - 1
        _unite_tight(parts, inside, source)
    return parts


@inner
def _unite_tight(parts: Ids, inside: Flags, source: int) -> None:
    """Make one part of all that meet the tight set."""
    for u in range(source):
        if inside[u] and parts[u] != source:
            part = parts[u]
            for v in range(source):
                if parts[v] == part:
                    parts[v] = source


@inner
def _minimum_cut(
    room: Floats, source: int, sink: int, previous: Offsets, queue: Offsets, inside: Flags
) -> float:
    """The value of a minimum cut, by shortest augmenting paths; `inside` are the vertices before it.

    `room` is what still fits between the vertices from 0 to the sink, the last one.
    """
    total = 0.0
    while _reach(room, source, sink, previous, queue):
        flow, v = np.inf, sink
        while v != source:
            flow = min(flow, room[previous[v], v])
            v = previous[v]
        v = sink
        while v != source:
            room[previous[v], v] -= flow
            room[v, previous[v]] += flow
            v = previous[v]
        total += flow
    for v in range(sink + 1):
        inside[v] = previous[v] >= 0
    return total


@inner
def _reach(room: Floats, source: int, sink: int, previous: Offsets, queue: Offsets) -> bool:
    """Whether a path leads to the sink; from each vertex reached, the one before it."""
    for v in range(sink + 1):
        previous[v] = -1
    previous[source], queue[0] = source, source
    at, end = 0, 1
    while at < end and previous[sink] < 0:
        u = queue[at]
        at += 1
        for v in range(sink + 1):
            if previous[v] < 0 and room[u, v] > _NOTHING:
                previous[v], queue[end] = u, v
                end += 1
    return bool(previous[sink] >= 0)
