"""Both forms of bulk clones on whatever small interests hypothesis finds."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import meshwright as mw
from meshwright.construct.greedy import tie_order
from meshwright.construct.options import BULK_TIES
from meshwright.construct.parts.bulk_sets import bulk_by_size, bulk_by_threshold
from meshwright.construct.parts.interest_queries import InProcess
from meshwright.construct.parts.partitioning import random_parts
from tests import oracles
from tests.helpers import interests_of
from tests.strategies import topic_sets

SEEDS = st.integers(0, 3)
TIES = st.sampled_from(BULK_TIES)


@given(topic_sets(), st.integers(1, 4), st.integers(0, 3), SEEDS, TIES)
def test_dcbc_connects_every_topic_and_never_links_two_parts(topics, part_size, threshold, seed, ties):
    interests = interests_of(topics)
    threshold = min(threshold, interests.topic_count)
    overlay = mw.build(interests, "dcbc", seed=seed, threshold=threshold, part_size=part_size, ties=ties)
    edges = [tuple(edge) for edge in overlay.edges.tolist()]
    assert oracles.is_topic_connected(dict(enumerate(topics)), edges)
    light = bulk_by_threshold(InProcess(interests), threshold=threshold, bulk_share=0.2, bulk_limit=100).light
    parts = random_parts(len(light), -(-len(light) // part_size), seed)
    part_of = dict(zip(light.tolist(), parts.tolist(), strict=True))
    assert all(u not in part_of or v not in part_of or part_of[u] == part_of[v] for u, v in edges)


@given(topic_sets(), SEEDS, TIES)
def test_dcbc_with_every_node_bulk_is_gm_with_the_same_ties(topics, seed, ties):
    interests = interests_of(topics)
    overlay = mw.build(interests, "dcbc", seed=seed, threshold=0, ties=ties)
    of_gm = "shuffled" if ties == "bulk-first" else ties
    assert np.array_equal(overlay.edges, mw.build(interests, "gm", seed=seed, ties=of_gm).edges)


@given(topic_sets(), st.integers(0, 3), TIES)
def test_every_edge_of_a_part_has_the_greatest_contribution_of_those_allowed(topics, threshold, ties):
    """One part: a greedy over all pairs with at most one bulk node, after the bulk nodes are connected.

    Of equals, those that go to bulk nodes first do so; the others link lightweight nodes first.
    """
    interests = interests_of(topics)
    threshold = min(threshold, interests.topic_count)
    bulk = set(
        bulk_by_threshold(
            InProcess(interests), threshold=threshold, bulk_share=0.2, bulk_limit=100
        ).bulk.tolist()
    )
    overlay = mw.build(interests, "dcbc", threshold=threshold, partitions=1, ties=ties)
    topics_of = dict(enumerate(topics))
    edges = [tuple(edge) for edge in overlay.edges.tolist()]
    taken = [edge for edge in edges if set(edge) <= bulk]
    rest = [edge for edge in edges if edge not in taken]
    while rest:
        gains = dict(oracles.contributions(topics_of, taken))
        best = max(gain for pair, gain in gains.items() if not set(pair) <= bulk)
        to_bulk_first = ties in ("large-first", "bulk-first")
        equals = [pair for pair, gain in gains.items() if gain == best and not set(pair) <= bulk]
        preferred = [pair for pair in equals if (not bulk.isdisjoint(pair)) == to_bulk_first] or equals
        chosen = [edge for edge in rest if edge in preferred]
        assert best > 0
        assert chosen
        taken.append(chosen[0])
        rest.remove(chosen[0])


@given(topic_sets(), st.integers(1, 4), st.integers(1, 3), st.sampled_from([0.0, 0.5]), SEEDS)
def test_dcbc_direct_connects_every_topic_by_edges_with_a_bulk_end(topics, bulk_size, crowd, slack, seed):
    interests = interests_of(topics)
    overlay = mw.build(interests, "dcbc-direct", seed=seed, bulk_size=bulk_size, crowd=crowd, slack=slack)
    edges = [tuple(edge) for edge in overlay.edges.tolist()]
    topics_of = dict(enumerate(topics))
    assert oracles.is_topic_connected(topics_of, edges)
    order = tie_order(np.diff(interests.indptr), "shuffled", seed)
    bulk = bulk_by_size(
        InProcess(interests), order, bulk_size=bulk_size, most_topics=100, crowd=crowd
    ).bulk.tolist()
    assert all(u in bulk or v in bulk for u, v in edges)


@given(topic_sets(), SEEDS)
def test_dcbc_direct_with_every_node_bulk_is_gm(topics, seed):
    interests = interests_of(topics)
    overlay = mw.build(interests, "dcbc-direct", seed=seed, bulk_size=len(topics) + 1)
    assert np.array_equal(overlay.edges, mw.build(interests, "gm", seed=seed).edges)
