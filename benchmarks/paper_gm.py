"""Greedy Merge as [1], Alg. 1, states it, compiled: the yardstick of `benchmarks/gm.py`.

Every pair of nodes stands in the bucket of its contribution and is moved by one, in constant time, whenever
components of a topic merge. 10 bytes per pair.
"""

import numpy as np
from numba import njit


@njit(cache=True)
def _pair(u, v, nodes):
    if u > v:
        u, v = v, u
    return u * (2 * nodes - u - 1) // 2 + v - u - 1


@njit(cache=True)
def _ends(pair, nodes):
    u = int((2 * nodes - 1 - np.sqrt((2.0 * nodes - 1) ** 2 - 8.0 * pair)) / 2)
    while _pair(u, u + 1, nodes) > pair:
        u -= 1
    while u + 2 < nodes and _pair(u + 1, u + 2, nodes) <= pair:
        u += 1
    return u, pair - _pair(u, u + 1, nodes) + u + 1


@njit(cache=True)
def _unlink(pair, contribution, before, after, heads):
    if before[pair] >= 0:
        after[before[pair]] = after[pair]
    else:
        heads[contribution[pair]] = after[pair]
    if after[pair] >= 0:
        before[after[pair]] = before[pair]


@njit(cache=True)
def _link(pair, contribution, before, after, heads):
    head = heads[contribution[pair]]
    after[pair] = head
    before[pair] = -1
    if head >= 0:
        before[head] = pair
    heads[contribution[pair]] = pair


@njit(cache=True)
def _slots(indptr, topic_ids, nodes, topics):
    """The slot of (node, topic), by node and topic, -1 where there is no interest."""
    slots = np.full((nodes, topics), -1, np.int32)
    for u in range(nodes):
        for i in range(indptr[u], indptr[u + 1]):
            slots[u, topic_ids[i]] = i
    return slots


@njit(cache=True)
def greedy_merge(indptr, topic_ids, topics):
    """The edges (m, 2) that Algorithm 1 takes."""
    nodes = len(indptr) - 1
    slots = _slots(indptr, topic_ids, nodes, topics)
    owner = np.empty(len(topic_ids), np.int32)
    pairs = nodes * (nodes - 1) // 2
    contribution = np.zeros(pairs, np.int16)
    before, after = np.empty(pairs, np.int32), np.empty(pairs, np.int32)
    heads = np.full(topics + 1, -1, np.int32)
    for u in range(nodes):
        for i in range(indptr[u], indptr[u + 1]):
            owner[i] = u
        for v in range(u + 1, nodes):
            pair = _pair(u, v, nodes)
            for i in range(indptr[u], indptr[u + 1]):
                contribution[pair] += slots[v, topic_ids[i]] >= 0
            _link(pair, contribution, before, after, heads)
    name = np.arange(len(topic_ids)).astype(np.int32)
    following = np.full(len(topic_ids), -1, np.int32)
    last = name.copy()
    edges = np.empty((len(topic_ids), 2), np.int32)
    taken = 0
    level = topics
    while True:
        while level > 0 and heads[level] < 0:
            level -= 1
        if level == 0:
            return edges[:taken]
        u, v = _ends(heads[level], nodes)
        edges[taken] = u, v
        taken += 1
        for i in range(indptr[u], indptr[u + 1]):
            j = slots[v, topic_ids[i]]
            if j < 0 or name[i] == name[j]:
                continue
            a, b = name[i], name[j]
            x = a
            while x >= 0:
                y = b
                while y >= 0:
                    pair = _pair(owner[x], owner[y], nodes)
                    _unlink(pair, contribution, before, after, heads)
                    contribution[pair] -= 1
                    _link(pair, contribution, before, after, heads)
                    y = following[y]
                x = following[x]
            y = b
            while y >= 0:
                name[y] = a
                y = following[y]
            following[last[a]] = b
            last[a] = last[b]
