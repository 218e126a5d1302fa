from itertools import combinations, permutations

import numpy as np
import pytest
from scipy import stats

from meshwright.kernels.core.sampling import draw_distinct, draw_independent

SKEWED = np.array([0.5, 0.2, 0.15, 0.1, 0.03, 0.02])
# Far too short, so that a node waits many times; about right; and so long that all topics arrive.
spans = pytest.mark.parametrize("span", [0.01, 3.0, 1e6])


def draw(rate, size, nodes, span):
    topic_ids = np.empty(size * nodes, np.int32)
    indptr = np.arange(0, size * nodes + 1, size)
    draw_distinct(np.random.default_rng(0), rate, np.full(size + 1, span), indptr, topic_ids)
    return topic_ids.reshape(nodes, size)


def chance_of_set(probability, chosen):
    """The chance that drawing one after another without replacement ends in this set, by all orders."""
    total = 0.0
    for order in permutations(chosen):
        chance, left = 1.0, 1.0
        for topic in order:
            chance *= probability[topic] / left
            left -= probability[topic]
        total += chance
    return total


@spans
def test_sets_have_the_chance_of_draws_without_replacement(span):
    nodes, size = 20_000, 3
    rows = draw(SKEWED, size, nodes, span)
    sets = list(combinations(range(SKEWED.size), size))
    expected = np.array([chance_of_set(SKEWED, chosen) for chosen in sets]) * nodes
    observed = np.array([(rows == chosen).all(axis=1).sum() for chosen in sets])
    assert expected.min() > 5
    assert observed.sum() == nodes
    assert stats.chisquare(observed, expected).pvalue > 1e-3


@spans
def test_a_node_that_takes_all_topics_has_each_once(span):
    np.testing.assert_array_equal(draw(SKEWED, SKEWED.size, 5, span), np.tile(np.arange(SKEWED.size), (5, 1)))


@spans
def test_hopeless_topics_come_only_after_all_others(span):
    rows = draw(np.array([0.4, 0.3, 0.3, 1e-150, 1e-200]), 4, 50, span)
    np.testing.assert_array_equal(rows, np.tile(np.arange(4), (50, 1)))


def independent(chances, nodes, room):
    sizes, topic_ids = np.empty(nodes, np.int64), np.full(room, -1, np.int32)
    with np.errstate(divide="ignore"):
        hazard = -np.log1p(-chances)
    needed = draw_independent(np.random.default_rng(3), hazard, sizes, topic_ids)
    return needed, sizes, topic_ids


def test_independent_draws_throw_one_coin_a_topic():
    nodes, chances = 5_000, np.array([1.0, 1.0, 0.97, 0.4, 0.4, 0.05, 1e-300, 0.0])
    needed, sizes, topic_ids = independent(chances, nodes, 5 * 5_000)
    assert needed == sizes.sum()
    assert (topic_ids[needed:] == -1).all()
    for row in np.split(topic_ids[:needed], np.cumsum(sizes)[:-1]):
        assert (np.diff(row) > 0).all()
    counts = np.bincount(topic_ids[:needed], minlength=chances.size)
    for count, chance in zip(counts, chances, strict=True):
        assert stats.binomtest(int(count), nodes, chance).pvalue > 1e-3


def test_independent_draws_without_room_say_how_much_they_need():
    chances = np.array([0.9, 0.5, 0.1])
    needed, sizes, all_ids = independent(chances, 100, 300)
    short_needed, short_sizes, some_ids = independent(chances, 100, 50)
    assert short_needed == needed > 50
    np.testing.assert_array_equal(short_sizes, sizes)
    whole_nodes = np.cumsum(sizes)[np.cumsum(sizes) <= 50][-1]
    np.testing.assert_array_equal(some_ids[:whole_nodes], all_ids[:whole_nodes])
