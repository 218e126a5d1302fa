"""Whom a node of a small world sends to: its fingers, and perhaps those whose finger it is."""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.arrays import Ids, Offsets
from meshwright.model.fingers import Fingers


class Peers(NamedTuple):
    """By node, the nodes that it has a link to, by rising distance: `nodes[indptr[v] : indptr[v + 1]]`."""

    indptr: Offsets
    nodes: Ids
    distances: Offsets


def peers_of(fingers: Fingers, both_ways: bool) -> Peers:
    """The fingers of each node, each once; `both_ways`, also the nodes that have it as a finger.

    The more peers, the better nodes are found by them; all that NSMF needs are one for each phase.
    """
    pairs = fingers.edges()
    if both_ways:
        pairs = np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0)
    owners, others = pairs[:, 0], pairs[:, 1]
    distances = (fingers.positions[others] - fingers.positions[owners]) % max(1, fingers.space)
    order = np.lexsort((distances, owners))
    counts = np.bincount(owners, minlength=len(fingers.positions))
    return Peers(
        indptr=np.concatenate([[0], np.cumsum(counts)]),
        nodes=np.ascontiguousarray(others[order]),
        distances=distances[order],
    )
