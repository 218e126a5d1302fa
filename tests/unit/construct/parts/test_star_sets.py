import numpy as np
import pytest

import meshwright as mw
from meshwright.construct.parts.star_sets import star_set
from meshwright.model.interests import Interests
from tests import oracles
from tests.helpers import arrays, interests_of, topics_by_node


def test_stars_are_chosen_as_by_the_plain_greedy_set_cover():
    rng = np.random.default_rng(3)
    for _ in range(100):
        interests = Interests.from_scipy(rng.random((rng.integers(1, 30), rng.integers(1, 40))) < 0.2)
        nodes = rng.permutation(interests.node_count)[: rng.integers(0, 30)].astype(np.int32)
        wanted = rng.random(interests.topic_count) < 0.7
        expected = oracles.greedy_cover(
            topics_by_node(interests), nodes.tolist(), set(np.flatnonzero(wanted).tolist())
        )
        assert star_set(*arrays(interests), nodes, wanted).tolist() == expected


def test_of_equals_the_earliest_is_chosen_also_when_it_fell_into_the_bucket_last():
    """Node 1 gains 4, then 0 and 3 gain 2 each: 3 from the start, 0 only after 1 took two of its topics."""
    interests = interests_of([{0, 1, 4, 5}, {0, 1, 2, 3}, {9}, {6, 7}])
    nodes = np.array([1, 0, 2, 3], np.int32)
    stars = star_set(*arrays(interests), nodes, np.ones(interests.topic_count, bool))
    assert stars.tolist() == [1, 0, 3, 2]


def test_topics_that_none_of_the_nodes_has_are_passed_over():
    interests = interests_of([{0, 1}, {2}])
    nodes, wanted = np.array([0], np.int32), np.ones(3, bool)
    assert star_set(*arrays(interests), nodes, wanted).tolist() == [0]
    assert star_set(*arrays(interests), nodes, ~wanted).tolist() == []
    assert star_set(*arrays(interests), nodes[:0], wanted).tolist() == []


def test_what_is_wanted_is_not_changed():
    interests = interests_of([{0, 1}, {1, 2}])
    wanted = np.array([True, False, True])
    star_set(*arrays(interests), np.array([0, 1], np.int32), wanted)
    assert wanted.tolist() == [True, False, True]


def test_a_star_set_by_name_has_every_topic_asked_for():
    interests = mw.Interests.from_pairs(
        [("a", "x"), ("b", "x"), ("b", "y"), ("c", "z"), ("d", "y"), ("d", "z")]
    )
    assert mw.star_set(interests) == ["b", "c"]
    assert mw.star_set(interests, ["x"]) == ["a"]
    assert mw.star_set(interests, []) == []
    with pytest.raises(mw.InputError, match="nothing"):
        mw.star_set(interests, ["nothing"])
