"""What planning asks about interests, so that one plan serves them in this process and on a cluster."""

from typing import Protocol

import numpy as np

from meshwright.construct.parts.partitioning import random_parts
from meshwright.construct.parts.star_sets import star_set
from meshwright.construct.parts.topic_lists import Lists, keep_topics, lists_of, split_lists, take_lists
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Flags, Ids, Offsets


class Source(Protocol):
    """Interests, wherever they are; what is asked for is small beside them, but for `interests`."""

    @property
    def node_count(self) -> int:
        """How many nodes there are, those without topics included."""

    @property
    def topic_count(self) -> int:
        """How many topics there are, those without nodes included."""

    def sizes(self) -> Offsets:
        """By node, the number of its topics."""

    def subscribers(self) -> Offsets:
        """By topic, the number of its nodes."""

    def lists(self, nodes: Flags, topics: Flags | None = None) -> Lists:
        """The flagged nodes with their topics, by id; with `topics`, these alone and nodes that have any."""

    def shared(self, owner_of: Ids) -> Flags:
        """By topic, whether nodes of more than one owner have it; `owner_of` has one for each node."""

    def count_stars(self, partitions: int, seed: int) -> int:
        """The stars of all random parts, if each covers all its topics of two subscribers or more."""

    def interests(self) -> Interests:
        """All of them, in this process."""


class InProcess:
    """The source that is an `Interests`; every answer is linear in it."""

    def __init__(self, interests: Interests) -> None:
        self._interests = interests

    @property
    def node_count(self) -> int:
        """See `Source`."""
        return self._interests.node_count

    @property
    def topic_count(self) -> int:
        """See `Source`."""
        return self._interests.topic_count

    def sizes(self) -> Offsets:
        """See `Source`."""
        return np.diff(self._interests.indptr)

    def subscribers(self) -> Offsets:
        """See `Source`."""
        return np.bincount(self._interests.topic_ids, minlength=self.topic_count)

    def lists(self, nodes: Flags, topics: Flags | None = None) -> Lists:
        """See `Source`."""
        every = lists_of(self._interests)
        found = every if topics is None else keep_topics(every, topics)
        return take_lists(found, np.flatnonzero(nodes[found.nodes]).astype(np.int32))

    def shared(self, owner_of: Ids) -> Flags:
        """See `Source`."""
        owners = np.repeat(owner_of, self.sizes())
        return shared_topics(self._interests.topic_ids, owners, self.topic_count)

    def count_stars(self, partitions: int, seed: int) -> int:
        """See `Source`."""
        part_of = random_parts(self.node_count, partitions, seed)
        wanted = self.subscribers() > 1
        parts = split_lists(lists_of(self._interests), part_of, partitions)
        return sum(stars_of_part(part, wanted) for part in parts)

    def interests(self) -> Interests:
        """See `Source`."""
        return self._interests


def stars_of_part(part: Lists, wanted: Flags) -> int:
    """How many stars a part has that cover its `wanted` topics; ties by the order of its nodes."""
    every = np.arange(len(part.nodes), dtype=np.int32)
    return len(star_set(part.indptr, part.topic_ids, len(wanted), every, wanted))


def shared_topics(topic_ids: Ids, owners: Ids, topic_count: int) -> Flags:
    """By topic, whether interests in it have more than one owner; `owners` has one for each interest."""
    first = np.full(topic_count, -1, np.int32)
    first[topic_ids] = owners
    shared = np.zeros(topic_count, np.bool_)
    shared[topic_ids[first[topic_ids] != owners]] = True
    return shared
