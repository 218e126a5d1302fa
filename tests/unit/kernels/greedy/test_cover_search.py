from itertools import combinations

import numpy as np
import pytest

from meshwright.kernels.greedy.cover_search import search_room, shorten_covers
from meshwright.kernels.greedy.covering import cover_nodes, list_bulk_topics
from meshwright.model.interests import Interests
from tests.helpers import topics_by_node


def covers(interests: Interests, light: list[int], bulk: list[int], prices: np.ndarray, width: int):
    """The greedy covers and the shortened ones: by node, the bulk nodes."""
    indptr, topic_ids = interests.indptr.copy(), interests.topic_ids.copy()
    table = list_bulk_topics(indptr, topic_ids, interests.topic_count, np.array(bulk, np.int32))
    rows, ticks = np.array(light, np.int32), np.zeros(2, np.int64)
    greedy = cover_nodes(indptr, topic_ids, rows, table, np.arange(len(bulk)), 0.0, ticks)
    room = search_room(width, int(np.diff(indptr).max()), len(bulk))
    short = shorten_covers(indptr, topic_ids, rows, table, prices.astype(np.uint16), greedy, room, ticks)
    return (
        {u: [bulk[place] for node, place in edges.tolist() if node == u] for u in light}
        for edges in (greedy, short)
    )


def least(topics: set[int], bulk: list[set[int]]) -> int:
    """The size of the smallest cover, by trying all."""
    wanted = topics & set().union(*bulk)
    sizes = range(len(bulk) + 1)
    return next(k for k in sizes if any(wanted <= set().union(*some) for some in combinations(bulk, k)))


@pytest.mark.parametrize("topic_count", [24, 150], ids=["rows", "lists"])
def test_a_beam_that_is_wide_enough_finds_the_smallest_cover(topic_count):
    rng = np.random.default_rng(5)
    shorter = 0
    for _ in range(30):
        interests = Interests.from_scipy(rng.random((14, topic_count)) < rng.uniform(0.2, 0.6))
        topics_of, bulk, light = topics_by_node(interests), list(range(8)), list(range(8, 14))
        prices = rng.integers(1, 9, topic_count)
        greedy, short = covers(interests, light, bulk, prices, width=70)
        for u in light:
            known = set().union(*(topics_of[b] for b in bulk)) & topics_of[u]
            assert known <= set().union(*(topics_of[b] for b in short[u]))
            assert len(short[u]) == least(topics_of[u], [topics_of[b] for b in bulk])
            shorter += len(short[u]) < len(greedy[u])
    assert shorter > 5


def test_a_narrow_beam_finds_covers_no_longer_than_the_greedy_ones():
    rng = np.random.default_rng(6)
    interests = Interests.from_scipy(rng.random((160, 60)) < 0.25)
    topics_of = topics_by_node(interests)
    greedy, short = covers(interests, list(range(100, 160)), list(range(100)), np.ones(60), width=3)
    for u, chosen in short.items():
        assert topics_of[u] <= set().union(*(topics_of[b] for b in chosen))
        assert len(chosen) <= len(greedy[u])
    assert sum(map(len, short.values())) < sum(map(len, greedy.values()))
