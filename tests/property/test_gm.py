"""Greedy Merge on whatever small interests hypothesis finds."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from meshwright.construct.greedy import make_problem, take_edges
from tests import oracles
from tests.helpers import arrays, interests_of
from tests.strategies import topic_sets


@given(topic_sets(), st.randoms(use_true_random=False))
def test_every_choice_of_greedy_merge_is_the_oracles(topics, random):
    interests = interests_of(topics)
    order = list(range(len(topics)))
    random.shuffle(order)
    problem = make_problem(*arrays(interests), np.array(order, np.int32))
    edges = [tuple(edge) for edge in take_edges(problem, instead="").edges.tolist()]
    assert sorted(edges) == sorted(oracles.greedy_merge(dict(enumerate(topics)), order))


@given(topic_sets(), st.lists(st.integers(0, 300), min_size=8, max_size=8))
def test_weighted_greedy_merge_connects_every_topic_that_weighs(topics, weights):
    interests = interests_of(topics)
    numbers = [int(name[1:]) for name in interests.topics.to_pylist()]
    by_id = np.array([weights[t] for t in numbers], np.int32)
    order = np.arange(len(topics), dtype=np.int32)
    edges = take_edges(make_problem(*arrays(interests), order, weights=by_id), instead="").edges.tolist()
    counts = oracles.components_by_topic(dict(enumerate(topics)), [tuple(edge) for edge in edges])
    assert all(count == 1 for topic, count in counts.items() if weights[topic])
    assert sorted(map(tuple, edges)) == sorted(
        oracles.greedy_merge(dict(enumerate(topics)), order.tolist(), dict(enumerate(weights)))
    )
