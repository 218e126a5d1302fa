"""Divide and Conquer on whatever small interests hypothesis finds."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

import meshwright as mw
from meshwright.construct.parts.partitioning import random_parts
from tests import oracles
from tests.helpers import interests_of
from tests.strategies import topic_sets

OPTIONS = st.fixed_dictionaries(
    {"ties": st.sampled_from(["shuffled", "small-first", "large-first"])},
    optional={"most_stars": st.sampled_from([2, 3, 20_000])},
)


@given(topic_sets(), st.integers(1, 9), OPTIONS, st.integers(0, 3))
def test_any_number_of_parts_gives_a_topic_connected_overlay(topics, partitions, options, seed):
    assume(partitions <= max(1, len(topics)))
    overlay = mw.build(interests_of(topics), "dc", partitions=partitions, seed=seed, **options)
    assert oracles.is_topic_connected(dict(enumerate(topics)), overlay.edges.tolist())
    assert overlay.facts["inner_edges"] + overlay.facts["outer_edges"] == len(overlay)


@given(topic_sets(), st.integers(0, 3))
def test_one_part_is_greedy_merge(topics, seed):
    interests = interests_of(topics)
    divided = mw.build(interests, "dc", partitions=1, seed=seed)
    assert np.array_equal(divided.edges, mw.build(interests, "gm", seed=seed).edges)


@given(topic_sets(), st.integers(0, 3))
def test_a_part_for_each_node_is_the_oracles_greedy_in_the_order_of_the_parts(topics, seed):
    """Only star sets leave nodes out: none that shares a topic, since each has its part to itself."""
    interests = interests_of(topics)
    nodes = len(topics)
    overlay = mw.build(interests, "dc", partitions=max(1, nodes), seed=seed)
    order = np.argsort(random_parts(nodes, max(1, nodes), seed)).tolist()
    expected = oracles.greedy_merge(dict(enumerate(topics)), order)
    assert sorted(map(tuple, overlay.edges.tolist())) == sorted(tuple(sorted(edge)) for edge in expected)


@given(topic_sets(), st.integers(2, 5), st.integers(0, 3))
def test_no_node_has_more_links_than_the_pn_size(topics, partitions, seed):
    assume(partitions <= len(topics))
    overlay = mw.build(interests_of(topics), "dc", partitions=partitions, seed=seed)
    assert overlay.degrees().max(initial=0) <= overlay.facts["pn_size"]
