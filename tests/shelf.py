"""Awkward interests; every algorithm is tried on each."""

from meshwright import Interests
from meshwright.testing import AWKWARD

__all__ = ["AWKWARD", "awkward_together"]


def awkward_together():
    """All of the shelf but nothing: nodes without topics, topics without nodes, islands, strange names."""
    pairs, nodes, topics = [], [], []
    for shelf, interests in AWKWARD.items():
        prefix = "" if shelf == "strange names" else shelf
        pairs += [(prefix + node, prefix + topic) for node, topic in interests.to_pairs()]
        nodes += [prefix + node for node in interests.nodes.to_pylist()]
        topics += [prefix + topic for topic in interests.topics.to_pylist()]
    return Interests.from_pairs(pairs, nodes=nodes, topics=topics)
