"""What the routing kernels take and write: plain arrays.

Apart from the kernels, so that naming them does not import Numba.
"""

from typing import NamedTuple

import numpy as np

from meshwright.runtime.arrays import Flags, Ids, Offsets


class Tally(NamedTuple):
    """Counts, as arrays to write to."""

    messages: Offsets  # by publication: sent, whether they arrive or not
    pure_forwards: Offsets  # received by nodes that are not interested
    deliveries: Offsets  # first copies received by subscribers other than the issuer
    duplicates: Offsets  # further copies received by subscribers, and any by the issuer
    hops: Offsets  # of all deliveries together, each from the issuer on
    longest: Offsets  # the greatest of these
    received: Offsets  # by node
    sent: Offsets


class Faults(NamedTuple):
    """What goes wrong: who has failed before the first publication, and which messages are lost.

    A message is lost by a function of `key`, the publication and the link (`kernels/core/hashing.py`), so
    that it does not matter who carries it, and when.
    """

    alive: Flags  # by node: one that has failed receives nothing
    loss: int  # the probability, in units of 2^-53
    key: np.uint64


class TopicLinks(NamedTuple):
    """The links of every topic by slot, both directions of each, neighbours rising.

    An interest has a slot: its place when interests are sorted by topic and then by node.
    """

    topic_indptr: Offsets
    nodes: Ids  # by slot
    indptr: Offsets  # by slot
    others: Ids  # the slots that it is linked to
    edge_ids: Ids  # by the edges of the overlay that link them


class RoutingTables(NamedTuple):
    """Data Structure 2 of [4] for all nodes: whom they have a link to, and who of these match.

    An interest has a place: interests sorted by topic, and within a topic clockwise around the ring. The
    nearest subscriber after a place is the next one.
    """

    space: int
    positions: Offsets  # by node
    peer_indptr: Offsets  # by node
    peers: Ids  # the nodes that it may send to, by rising distance
    peer_distances: Offsets
    topic_indptr: Offsets
    nodes: Ids  # by place
    matched_indptr: Offsets  # by place
    matched: Ids  # the places of the peers that subscribe to the topic, by rising distance
