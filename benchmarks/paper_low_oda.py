"""Algorithms 1 and 2 of the paper on churn as they are written, compiled by Numba: the rival of a benchmark.

Every pair of nodes has its contribution, which is updated when two components that it joins become one, and
every edge is found by looking at all pairs: O(|V|²) time for each edge, and O(|V|²|T|) for the updates.
"""

import numpy as np
from numba import njit

from benchmarks.paper_gm import _pair, _slots


@njit(cache=True)
def _find_low_edge(contribution, degrees, most, rho):
    """The first pair of e1 or e2, by the rule of section III, or (-1, -1) where no pair contributes."""
    nodes = len(degrees)
    first, second = 0, 0
    e1, e2 = (-1, -1), (-1, -1)
    for u in range(nodes):
        start = _pair(u, u + 1, nodes) - (u + 1)
        under = degrees[u] < most
        for v in range(u + 1, nodes):
            gain = contribution[start + v]
            if gain > first:
                first, e1 = gain, (u, v)
            if gain > second and under and degrees[v] < most:
                second, e2 = gain, (u, v)
    return e1 if first > rho * second else e2


@njit(cache=True)
def low_oda(indptr, topic_ids, topics, rho):
    """The edges (m, 2) that Algorithm 1 takes; ties by the order of the pairs."""
    nodes = len(indptr) - 1
    slots = _slots(indptr, topic_ids, nodes, topics)
    owner = np.empty(len(topic_ids), np.int32)
    contribution = np.zeros(nodes * (nodes - 1) // 2, np.int16)
    for u in range(nodes):
        for i in range(indptr[u], indptr[u + 1]):
            owner[i] = u
        for v in range(u + 1, nodes):
            for i in range(indptr[u], indptr[u + 1]):
                contribution[_pair(u, v, nodes)] += slots[v, topic_ids[i]] >= 0
    name = np.arange(len(topic_ids)).astype(np.int32)
    following = np.full(len(topic_ids), -1, np.int32)
    last = name.copy()
    degrees = np.zeros(nodes, np.int32)
    edges = np.empty((len(topic_ids), 2), np.int32)
    taken = 0
    while True:
        u, v = _find_low_edge(contribution, degrees, degrees.max(), rho)
        if u < 0:
            return edges[:taken]
        edges[taken] = u, v
        taken += 1
        degrees[u] += 1
        degrees[v] += 1
        for i in range(indptr[u], indptr[u + 1]):
            j = slots[v, topic_ids[i]]
            if j >= 0 and name[i] != name[j]:
                _unite(name[i], name[j], owner, name, following, last, contribution, nodes)


@njit(cache=True)
def _unite(a, b, owner, name, following, last, contribution, nodes):
    """Make one component of two: every pair across them contributes one less."""
    x = a
    while x >= 0:
        y = b
        while y >= 0:
            contribution[_pair(owner[x], owner[y], nodes)] -= 1
            y = following[y]
        x = following[x]
    y = b
    while y >= 0:
        name[y] = a
        y = following[y]
    following[last[a]] = b
    last[a] = last[b]
