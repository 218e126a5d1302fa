"""Counting what happens to publications, by publication and by node."""

from itertools import pairwise

import numpy as np

from meshwright.kernels.routing_arrays import Tally
from meshwright.model.interests import Interests
from meshwright.net import Happening, Node, What
from meshwright.route.router import Publication


def empty_tally(publications: int, nodes: int) -> Tally:
    """All counts at 0."""
    by_publication = (np.zeros(publications, np.int64) for _ in range(6))
    by_node = (np.zeros(nodes, np.int64) for _ in range(2))
    return Tally(*by_publication, *by_node)


class Counter:
    """Counts what a simulator says of messages that carry publications."""

    def __init__(self, interests: Interests, publications: int) -> None:
        self.tally = empty_tally(publications, interests.node_count)
        self._subscribers = [
            frozenset(interests.node_ids[start:end].tolist())
            for start, end in pairwise(interests.topic_indptr.tolist())
        ]
        self._have: dict[int, set[Node]] = {}

    def note(self, happening: Happening) -> None:
        """Count one thing that happened."""
        number, tally = happening.message.publication.number, self.tally
        if happening.what is What.SENT:
            tally.messages[number] += 1
            tally.sent[happening.source] += 1
        elif happening.what is What.RECEIVED:
            self._count_received(happening)
        elif happening.what is What.DELIVERED:
            tally.deliveries[number] += 1
            tally.hops[number] += happening.message.hops
            tally.longest[number] = max(tally.longest[number], happening.message.hops)

    def _count_received(self, happening: Happening) -> None:
        publication: Publication = happening.message.publication
        have = self._have.setdefault(publication.number, set())
        if happening.source is not None:
            self.tally.received[happening.target] += 1
            if happening.target not in self._subscribers[publication.topic]:
                self.tally.pure_forwards[publication.number] += 1
            elif happening.target in have:
                self.tally.duplicates[publication.number] += 1
        have.add(happening.target)
