import networkx as nx
import numpy as np
from hypothesis import given

import meshwright as mw
from tests.strategies import topic_sets


@given(topic_sets())
def test_every_topic_has_a_ring_through_all_its_subscribers(topics):
    pairs = [(f"n{u}", f"t{t}") for u, own in enumerate(topics) for t in own]
    interests = mw.Interests.from_pairs(pairs)
    graph = mw.build(interests, "ring").to_networkx()
    for topic in interests.topics.to_pylist():
        members = interests.nodes_of(topic)
        sub = graph.subgraph(members)
        assert nx.is_connected(sub)
        if len(members) > 2:
            assert nx.is_biconnected(sub)


def test_a_topic_of_two_gets_one_edge_and_of_one_none():
    interests = mw.Interests.from_pairs([("a", "x"), ("b", "x"), ("c", "y")])
    assert mw.build(interests, "ring").edges.tolist() == [[0, 1]]


def test_one_topic_is_a_single_cycle():
    interests = mw.Interests.from_pairs([(f"n{u:03}", "x") for u in range(100)])
    graph = mw.build(interests, "ring").to_networkx()
    assert {degree for _, degree in graph.degree} == {2}
    assert nx.is_connected(graph)


def test_rings_of_different_topics_have_independent_orders():
    pairs = [(f"n{u:03}", topic) for u in range(100) for topic in "xy"]
    overlay = mw.build(mw.Interests.from_pairs(pairs), "ring")
    assert len(overlay) > 190  # two equal rings would have 100 edges; two random ones share about two


def test_the_degree_is_at_most_twice_the_number_of_topics():
    interests = mw.workloads.zipf(200, 50, subscriptions=6, seed=4)
    assert np.all(mw.build(interests, "ring").degrees() <= 12)
