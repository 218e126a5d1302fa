"""The views of all nodes, taken at one moment."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from meshwright.model.dense import rows_of
from meshwright.model.interests import Interests
from meshwright.model.views import Views
from meshwright.net import Node


def snapshot(interests: Interests, peers: Mapping[Node, Any]) -> Views:
    """The views of the nodes that are there, without links to those that are not, or have left the topic.

    Where all are there with all of their topics the views have `interests` themselves; otherwise interests of
    the same nodes and topics, in which those that are gone have none.
    """
    here = {node: peer.views for node, peer in peers.items()}
    lists = [list(here[node].topics) if node in here else [] for node in range(interests.node_count)]
    sizes = np.array([len(topics) for topics in lists], np.int64)
    if int(sizes.sum()) != len(interests):
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        flat = np.array([topic for topics in lists for topic in topics], np.int32)
        interests = Interests.from_arrays(indptr, flat, interests.nodes, interests.topics)
    topics, nodes = rows_of(interests.topic_indptr).tolist(), interests.node_ids.tolist()
    slot_of = {pair: slot for slot, pair in enumerate(zip(topics, nodes, strict=True))}
    rows = [
        [slot_of[topic, peer] for peer in here[node].view(topic) if (topic, peer) in slot_of]
        for topic, node in zip(topics, nodes, strict=True)
    ]
    bounds = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)])
    return Views(interests, bounds, np.array([slot for row in rows for slot in row], np.int32))
