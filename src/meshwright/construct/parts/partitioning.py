"""Dividing nodes into parts: at random, or by likeness of interests."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Floats, Ids
from meshwright.runtime.seeds import generator

_MOST_ROUNDS = 100


def random_parts(node_count: int, partitions: int, seed: int) -> Ids:
    """By node, its part: random, with sizes that differ by one at most ([1], Alg. 4, line 4)."""
    return parts_at(random_places(node_count, seed), node_count, partitions)


def random_places(node_count: int, seed: int) -> Ids:
    """By node, its place in the shuffle that random parts are cut from, whatever their number."""
    places = np.empty(node_count, np.int32)
    places[generator(seed, "parts").permutation(node_count)] = np.arange(node_count, dtype=np.int32)
    return places


def parts_at(places: Ids, node_count: int, partitions: int) -> Ids:
    """The random parts of nodes that have these places in the shuffle of all.

    Where one number of parts divides another, the more numerous parts lie within the fewer.
    """
    return (places.astype(np.int64) * partitions // max(1, node_count)).astype(np.int32)


def k_means_parts(interests: Interests, partitions: int, seed: int) -> Ids:
    """By node, its cluster among `partitions` by k-means; clusters that end up empty are left out.

    Cost: O(interests * partitions) a round, at most 100 rounds; 8 bytes for each node and cluster.

    Source: [1], VIII-C: Hamming distance, random initialisation. A centre is the mean of its nodes'
    interests, as k-means has it: between nodes, the square of the Euclidean distance is the Hamming
    distance. (The topics that most nodes of a cluster have, the other reading, are none at all where
    interests are sparse.)
    """
    return _k_means(_matrix(interests), partitions, seed).part_of


def elbow_partitions(interests: Interests, seed: int) -> int:
    """The number of clusters at the elbow: where the distances lie deepest under the line between the ends.

    Source: [1], VIII-C names the elbow method and nothing else. Ours tries about two numbers an octave from
    1 to the square root of the number of nodes.
    """
    matrix = _matrix(interests)
    most = max(1, int(np.sqrt(interests.node_count)))
    tried = np.unique(np.round(2.0 ** np.arange(0, np.log2(most) + 0.25, 0.5)).astype(np.int64))
    distances = np.array([_k_means(matrix, int(count), seed).distance for count in tried])
    line = np.interp(tried, tried[[0, -1]], distances[[0, -1]])
    return int(tried[np.argmax(line - distances)])


class _Clusters(NamedTuple):
    part_of: Ids
    distance: float  # of all nodes to their centres, in sum


def _matrix(interests: Interests) -> sparse.csr_array:
    ones = np.ones(len(interests))
    shape = (interests.node_count, interests.topic_count)
    return sparse.csr_array((ones, interests.topic_ids, interests.indptr), shape=shape)


def _k_means(matrix: sparse.csr_array, count: int, seed: int) -> _Clusters:
    nodes = matrix.shape[0]
    if nodes == 0:
        return _Clusters(np.empty(0, np.int32), 0.0)
    first = generator(seed, "k-means", count).choice(nodes, count, replace=False)
    centres = matrix[first].toarray()
    part_of, centres = k_means(matrix, np.ones(nodes), centres, _distances)
    dense = np.unique(part_of, return_inverse=True)[1].astype(np.int32)
    return _Clusters(dense, float(_distances(matrix, centres)[np.arange(nodes), part_of].sum()))


def _distances(matrix: sparse.csr_array, centres: Floats) -> Floats:
    """Squared distances by node and centre, from products, so that nothing of nodes x topics is dense."""
    found: Floats = matrix.sum(axis=1)[:, None] - 2 * (matrix @ centres.T) + (centres**2).sum(axis=1)
    return found


def k_means(
    rows: Any, weights: Floats, centres: Floats, squares: Callable[[Any, Floats], Floats]
) -> tuple[Ids, Floats]:
    """The nearest of the centres for each row, after moving them to the mean of theirs until nothing changes.

    At most 100 rounds; `squares` are the distances of all rows to all centres.
    """
    part_of = np.full(rows.shape[0], -1)
    for _ in range(_MOST_ROUNDS):
        nearest = squares(rows, centres).argmin(axis=1)
        if np.array_equal(nearest, part_of):
            break
        part_of = nearest
        centres = _means(rows, weights, part_of, centres)
    return part_of.astype(np.int32), centres


def _means(rows: Any, weights: Floats, part_of: Ids, centres: Floats) -> Floats:
    """The mean row of each cluster; an empty one keeps its centre."""
    shape = (len(part_of), len(centres))
    members = sparse.csr_array((weights, part_of, np.arange(shape[0] + 1)), shape=shape)
    sizes = np.bincount(part_of, weights, minlength=len(centres))[:, None]
    sums: Any = members.T @ rows
    sums = sums.toarray() if hasattr(sums, "toarray") else sums
    return np.where(sizes > 0, sums / np.maximum(sizes, 1), centres)
