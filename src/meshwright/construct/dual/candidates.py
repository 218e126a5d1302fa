"""The candidate edges over which prices are found: few, and enough to connect every topic."""

from collections.abc import Iterator

import numpy as np

from meshwright.construct.greedy import linked_components
from meshwright.kernels.dual import candidates as kernel
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Ids, Offsets, Ticks
from meshwright.runtime.parallel import Chunk, balanced_chunks, on_all_cores
from meshwright.runtime.progress import Progress


def candidate_edges(interests: Interests, most: int, progress: Progress | None = None) -> Ids:
    """Edges (m, 2), each once and sorted, that connect every topic.

    They are, for each node, its best partner in each topic, the one with which it shares most topics, and up
    to `most` partners in all that share most; where these leave a topic in components, each is linked to
    the next. The result does not depend on the number of threads.

    Cost: as many steps as all topics have pairs of subscribers.
    """
    found = _likeliest(arrays_of(interests), most, progress)
    return connected(interests, np.concatenate([np.empty((0, 2), np.int32), *found]), progress)


def connected(interests: Interests, edges: Ids, progress: Progress | None = None) -> Ids:
    """Each edge once, sorted, with further ones that link each component of a topic to the next."""
    once = unique_edges(edges)
    names = linked_components(interests, once, progress).names
    joining = kernel.connecting_edges(interests.topic_indptr.copy(), interests.node_ids.copy(), names)
    return unique_edges(np.concatenate([once, joining]))


Arrays = tuple[Offsets, Ids, Offsets, Ids]


def arrays_of(interests: Interests) -> Arrays:
    """The interests in both directions, as kernels take them: copies, since theirs can't be written."""
    return (
        interests.indptr.copy(),
        interests.topic_ids.copy(),
        interests.topic_indptr.copy(),
        interests.node_ids.copy(),
    )


def pair_steps(interests: Interests) -> Offsets:
    """By node: the subscribers of its topics, which is what a look at all its pairs takes."""
    sizes = np.diff(interests.topic_indptr)[interests.topic_ids]
    found: Offsets = np.diff(np.concatenate([[0], np.cumsum(sizes)])[interests.indptr])
    return found


def unique_edges(edges: Ids) -> Ids:
    """Each edge once, with its lower end first, sorted."""
    if not len(edges):
        return np.empty((0, 2), np.int32)
    low, high = edges.min(axis=1).astype(np.int64), edges.max(axis=1).astype(np.int64)
    codes = np.unique((low << 32) | high)
    return np.column_stack([codes >> 32, codes & 0xFFFFFFFF]).astype(np.int32)


def _likeliest(arrays: Arrays, most: int, progress: Progress | None) -> list[Ids]:
    indptr, topic_ids, topic_indptr, _ = arrays
    steps = np.diff(np.concatenate([[0], np.cumsum(np.diff(topic_indptr)[topic_ids])])[indptr])

    def choose(turns: Iterator[Chunk], ticks: Ticks) -> list[Ids]:
        return [kernel.likeliest_edges(*arrays, nodes, most, ticks) for nodes in turns]

    found = on_all_cores(choose, balanced_chunks(steps), "choosing candidate links", progress)
    return [edges for by_thread in found for edges in by_thread]
