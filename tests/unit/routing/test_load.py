"""The expected load against every publication sent one by one."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest

import meshwright as mw
from meshwright.routing.trees import topic_trees


@pytest.fixture
def overlay():
    return mw.build(mw.workloads.unif(25, 6, subscriptions=3, seed=2), "gm", resilience=2)


def with_rates(overlay, rates):
    interests = replace(overlay.interests, topic_attributes=pa.table({"rate": pa.array(rates, pa.float64())}))
    return mw.Overlay.from_arrays(interests, overlay.edges)


def test_load_is_the_mean_over_all_publishers_of_what_each_node_sends(overlay):
    rates = [0.0, 1.0, None, 2.5, 10.0, 0.5]
    rated = with_rates(overlay, rates)
    trees, expected = topic_trees(rated), np.zeros(rated.interests.node_count)
    for topic, rate in enumerate(rates):
        own = slice(*trees.topic_indptr[topic : topic + 2])
        links = [pair for pair in zip(trees.nodes[own], trees.parents[own], strict=True) if pair[1] >= 0]
        tree = nx.Graph(links)
        for publisher in tree:
            for sender, _ in nx.dfs_edges(tree, publisher):
                expected[sender] += (1.0 if rate is None else rate) / len(tree)
    found = mw.expected_load(rated)
    assert found.by_node == pytest.approx(expected)
    assert found.maximum == found.by_node.max() == max(found.busiest.values())
    assert (len(found.busiest), found.mean) == (10, pytest.approx(expected.mean()))


@pytest.mark.parametrize("size", [1, 20, 40])
def test_the_load_is_the_same_whatever_topics_are_looked_at_together(overlay, size, monkeypatch):
    rated = with_rates(overlay, [0.0, 1.0, None, 2.5, 10.0, 0.5])
    whole = mw.expected_load(rated).by_node
    monkeypatch.setattr("meshwright.routing.load._INTERESTS_A_BLOCK", size)
    assert mw.expected_load(rated).by_node == pytest.approx(whole)


def test_a_rate_below_zero_is_refused(overlay):
    with pytest.raises(mw.InputError, match="the rate of topic 't3' is -1"):
        mw.expected_load(with_rates(overlay, [1, 1, 1, -1, 1, 1]))


@pytest.mark.parametrize("options", [{}, {"resilience": 2}])
def test_ties_by_load_choose_the_overlay_whose_busiest_node_sends_least(options):
    interests = mw.workloads.zipf(40, 12, subscriptions=4, seed=3)
    rates = np.random.default_rng(1).integers(1, 50, interests.topic_count)
    interests = replace(interests, topic_attributes=pa.table({"rate": pa.array(rates, pa.float64())}))
    by_load = mw.build(interests, "gm", ties="load", **options)
    others = [mw.build(interests, "gm", ties=ties, **options) for ties in ("shuffled", "small-first")]
    loads = [mw.expected_load(other).maximum for other in others]
    assert mw.expected_load(by_load).maximum == by_load.facts["maximum_load"] <= min(loads)
    assert by_load.facts["ties_taken"] in ("load", "shuffled", "small-first")
    assert mw.build(interests, "dg", ties="load", budget=20, **options).facts["maximum_load"] > 0


def test_what_is_no_overlay_is_refused():
    with pytest.raises(mw.InputError, match="expected_load got an Interests; give an Overlay"):
        mw.expected_load(mw.Interests.from_pairs([("a", "t")]))
