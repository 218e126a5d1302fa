"""Small things that several tests need."""

from typing import Any

from meshwright import Interests


def arrays(interests: Interests) -> tuple[Any, Any, int]:
    """The interests as the greedy takes them."""
    return interests.indptr, interests.topic_ids, interests.topic_count


def topics_by_node(interests: Interests) -> dict[int, set[int]]:
    """The topics of each node, by id."""
    bounds = zip(interests.indptr[:-1], interests.indptr[1:], strict=True)
    return {u: set(interests.topic_ids[a:b].tolist()) for u, (a, b) in enumerate(bounds)}


def interests_of(topics: list[set[int]]) -> Interests:
    """Of the topics of each node, by number: node 3 is "n3", topic 4 is "t4"."""
    names = [f"n{u}" for u in range(len(topics))]
    return Interests.from_pairs(
        [(f"n{u}", f"t{t}") for u, own in enumerate(topics) for t in own], nodes=names
    )
