"""Laws of exchanges."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from meshwright import build
from meshwright.construct.exchanging import Effort, exchanged, trees_of
from meshwright.kernels.exchanges.searching import make_room, search
from tests import oracles
from tests.helpers import interests_of, topics_by_node
from tests.strategies import topic_sets
from tests.unit.kernels.exchanges.test_topic_trees import assert_sound


@given(topic_sets(), st.integers(0, 9))
def test_every_topic_stays_connected_by_at_most_as_many_links_and_each_is_needed(topics, seed):
    interests = interests_of(topics)
    topics_of, before = topics_by_node(interests), build(interests, "gm", seed=seed).edges
    after = exchanged(interests, before, Effort(5), seed).tolist()
    assert len(after) <= len(before)
    assert oracles.is_topic_connected(topics_of, map(tuple, after))
    for edge in after:
        assert not oracles.is_topic_connected(topics_of, [other for other in after if other != edge])


@given(topic_sets(max_nodes=14, max_topics=14), st.integers(0, 9), st.sampled_from([0.0, 20.0, 2_000.0]))
def test_trees_stay_sound(topics, seed, warmth):
    interests = interests_of(topics)
    trees = trees_of(interests, build(interests, "ring").edges)
    room, order = make_room(trees), np.arange(interests.node_count, dtype=np.int32)
    for turn in range(3):
        search(trees, room, order, seed + turn, warmth, np.zeros(2, np.int64))
        assert_sound(trees)
