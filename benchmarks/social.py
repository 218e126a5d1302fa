"""Workloads from social graphs, sampled as [1], VIII-A, does."""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import coo_array

from meshwright import Interests
from meshwright.runtime.seeds import generator

_SEEDS = 5


def follows_sample(path: Path, nodes: int, seed: int) -> Interests:
    """A breadth-first sample of `nodes` users of a file of `follower followee` lines.

    The search ignores direction and starts from a few random users; all relations among those visited are
    kept, and a follower subscribes to the followee. A user is no subscriber of the own topic.
    """
    table = pd.read_csv(path, sep=r"\s+", header=None, comment="#", dtype=str)
    names, ids = np.unique(table.to_numpy(), return_inverse=True)
    follower, followee = ids.reshape(table.shape).T
    ones = np.ones(len(follower), np.int8)
    links = coo_array((ones, (follower, followee)), shape=(len(names), len(names))).tocsr()
    visited = np.zeros(len(names), bool)
    visited[_breadth_first((links + links.T).tocsr(), nodes, seed)] = True
    keep = visited[follower] & visited[followee] & (follower != followee)
    pairs = zip(names[follower[keep]].tolist(), names[followee[keep]].tolist(), strict=True)
    return Interests.from_pairs(pairs, nodes=names[visited].tolist())


def friendships(path: Path) -> Interests:
    """All users of a file of `u v` lines: friends subscribe to each other, and nobody to the own topic."""
    table = pd.read_csv(path, sep=r"\s+", header=None, comment="#", dtype=str)
    table = table[table[0] != table[1]]
    return Interests.from_pairs(
        [*zip(table[0], table[1], strict=True), *zip(table[1], table[0], strict=True)]
    )


def _breadth_first(links, wanted: int, seed: int) -> list[int]:
    queue = generator(seed, "bfs").choice(links.shape[0], _SEEDS, replace=False).tolist()
    seen = set(queue)
    for u in queue:
        for v in links.indices[links.indptr[u] : links.indptr[u + 1]].tolist():
            if len(queue) == wanted:
                return queue
            if v not in seen:
                seen.add(v)
                queue.append(v)
    return queue
