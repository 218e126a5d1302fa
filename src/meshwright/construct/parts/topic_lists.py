"""Some nodes with their topics: what a part of the work needs to know, whoever does it."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Flags, Ids, Offsets


class Lists(NamedTuple):
    """Node `nodes[i]` has the topics `topic_ids[indptr[i] : indptr[i + 1]]`, sorted."""

    nodes: Ids
    indptr: Offsets
    topic_ids: Ids


def lists_of(interests: Interests) -> Lists:
    """All nodes, in the order of their ids."""
    nodes = np.arange(interests.node_count, dtype=np.int32)
    return Lists(nodes, interests.indptr, interests.topic_ids)


def places(indptr: Offsets, rows: Ids) -> Offsets:
    """Where the entries of `rows` stand in a CSR array, one row after another."""
    sizes = np.diff(indptr)[rows]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    found: Offsets = np.arange(starts[-1]) + np.repeat(indptr[:-1][rows] - starts[:-1], sizes)
    return found


def take_lists(lists: Lists, rows: Ids) -> Lists:
    """Those of some rows, in their order."""
    sizes = np.diff(lists.indptr)[rows]
    return Lists(
        nodes=lists.nodes[rows],
        indptr=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        topic_ids=lists.topic_ids[places(lists.indptr, rows)],
    )


def keep_topics(lists: Lists, topics: Flags) -> Lists:
    """The flagged topics alone, and of the nodes those that have any."""
    kept = topics[lists.topic_ids]
    seen = np.concatenate([[0], np.cumsum(kept)])
    sizes = np.diff(seen[lists.indptr])
    return Lists(
        nodes=lists.nodes[sizes > 0],
        indptr=np.concatenate([[0], np.cumsum(sizes[sizes > 0])]).astype(np.int64),
        topic_ids=lists.topic_ids[kept],
    )


def split_lists(lists: Lists, part_of: Ids, partitions: int) -> list[Lists]:
    """Those of each part, in the order that they have; `part_of` has the part of each row."""
    whole = take_lists(lists, np.argsort(part_of, kind="stable").astype(np.int32))
    ends = np.concatenate([[0], np.cumsum(np.bincount(part_of, minlength=partitions))]).tolist()
    parts = []
    for start, end in pairwise(ends):
        indptr = whole.indptr[start : end + 1]
        topic_ids = whole.topic_ids[indptr[0] : indptr[-1]]
        parts.append(Lists(whole.nodes[start:end], indptr - indptr[0], topic_ids))
    return parts


def join_lists(several: Sequence[Lists]) -> Lists:
    """All of them, one after another."""
    sizes = [np.diff(lists.indptr) for lists in several]
    return Lists(
        nodes=np.concatenate([lists.nodes for lists in several]),
        indptr=np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64),
        topic_ids=np.concatenate([lists.topic_ids for lists in several]),
    )
