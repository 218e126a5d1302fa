"""Choosing p, the number of parts, before any edge is computed."""

from collections.abc import Callable, Mapping
from functools import cache

from meshwright.construct.parts.interest_queries import Source
from meshwright.construct.parts.partitioning import elbow_partitions
from meshwright.runtime.errors import OptionError
from meshwright.runtime.progress import Progress, stage

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
                f"partitions is {partitions} and there are {nodes} nodes; give 1 to {max(1, nodes)}",
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
