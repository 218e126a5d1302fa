"""What planning asks about interests, so that one plan serves them in this process and on a cluster."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Protocol

import numpy as np

from meshwright.construct.parts.partitioning import elbow_partitions, random_parts
from meshwright.construct.parts.star_sets import star_set
from meshwright.construct.parts.topic_lists import Lists, keep_topics, lists_of, split_lists, take_lists
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Flags, Ids, Offsets
from meshwright.runtime.errors import OptionError
from meshwright.runtime.progress import Progress, stage


class ListSource(Protocol):
    """Nodes with their topics, wherever they are."""

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


class Source(ListSource, Protocol):
    """Interests, wherever they are; what is asked for is small beside them, but for `interests`."""

    def shared(self, owner_of: Ids) -> Flags:
        """By topic, whether nodes of more than one owner have it; `owner_of` has one for each node."""

    def count_stars(self, partitions: int, seed: int) -> int:
        """The stars of all random parts, if each covers all its topics of two subscribers or more."""

    def interests(self) -> Interests:
        """All of them, in this process."""


class InLists:
    """The source that is lists in this process, whose rows are its nodes; every answer is linear in it."""

    def __init__(self, lists: Lists, topic_count: int) -> None:
        self._rows = lists._replace(nodes=np.arange(len(lists.nodes), dtype=np.int32))
        self._topic_count = topic_count

    @property
    def node_count(self) -> int:
        """See `ListSource`."""
        return len(self._rows.nodes)

    @property
    def topic_count(self) -> int:
        """See `ListSource`."""
        return self._topic_count

    def sizes(self) -> Offsets:
        """See `ListSource`."""
        return np.diff(self._rows.indptr)

    def subscribers(self) -> Offsets:
        """See `ListSource`."""
        return np.bincount(self._rows.topic_ids, minlength=self.topic_count)

    def lists(self, nodes: Flags, topics: Flags | None = None) -> Lists:
        """See `ListSource`."""
        found = self._rows if topics is None else keep_topics(self._rows, topics)
        return take_lists(found, np.flatnonzero(nodes[found.nodes]).astype(np.int32))


class InProcess(InLists):
    """The source that is an `Interests`; every answer is linear in it."""

    def __init__(self, interests: Interests) -> None:
        super().__init__(lists_of(interests), interests.topic_count)
        self._interests = interests

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


_CRITERIA: Mapping[str, Callable[[int, int, int], float]] = {
    "pn-size": lambda nodes, p, stars: nodes / p + stars,
    "time": lambda nodes, p, stars: 1 / p + (stars / nodes) ** 2,
    "parallel-time": lambda nodes, p, stars: 1 / p**2 + (stars / nodes) ** 2,
}
"""What is to be least, of the nodes, p and the stars of all parts: k̃/k of [1] is stars / nodes."""


def choose_partitions(
    source: Source,
    *,
    partitions: int | None,
    part_size: int | None,
    criterion: str,
    seed: int,
    progress: Progress | None = None,
) -> int:
    """The number of parts: as given, by the size of a part, or by a criterion; at most one for each node."""
    nodes = source.node_count
    if partitions is not None:
        if partitions > max(1, nodes):
            raise OptionError(
                f"partitions is {partitions}, but there are {nodes} nodes; give 1 to {max(1, nodes)}",
                option="partitions",
            )
        return partitions
    if part_size is not None:
        return max(1, -(-nodes // part_size))
    with stage(progress, "choosing the number of parts"):
        if criterion == "elbow":
            return elbow_partitions(source.interests(), seed)
        return partitions_by(source, criterion, seed)


def partitions_by(source: Source, criterion: str, seed: int) -> int:
    """The p from 2 to |V| that makes a criterion least, as far as a one-sided binary search finds it.

    Cost: a random partition with its star sets, which is linear in the interests, for each of about
    2 log p values of p.

    Source: [1], Alg. 5; VI for the criteria by time, which it leaves to "fast numerical methods": here the
    same search. We depart where Alg. 5 may run for ever (high = low + 1), returns the last value that it
    tried instead of the best, or passes |V|. As in its estimatePNSize, star sets cover all topics of
    a part, and pn-size counts p star sets, not p - 1; but topics of one subscriber, which no other part can
    have, are left out: with a private topic for each node, all nodes would be stars, and p would be |V|.

    All p are tried on one shuffle of the nodes, which is also that of the overlay: the values differ by p
    alone, and the one chosen holds.
    """
    nodes = source.node_count

    @cache
    def value(p: int) -> float:
        return _CRITERIA[criterion](nodes, p, source.count_stars(p, seed))

    return search(value, nodes)


def search(value: Callable[[int], float], most: int) -> int:
    """The best p that a one-sided binary search sees from 2 to `most`, not always the least of all.

    1 if `most` is under 2.
    """
    if most <= 2:
        return max(1, most)
    high = 2
    while True:
        low, high = high, min(2 * high, most)
        if value(high) >= value(low) or high == most:
            break
    best = min(low, high, key=value)
    while high - low > 1:
        middle = (low + high) // 2
        if value(middle) < value(best):
            low = best = middle
        else:
            high = middle
    return best
