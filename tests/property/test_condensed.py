"""Overlays around hubs, condensed, against the same measured topic by topic, and against networkx."""

from unittest.mock import patch

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from meshwright import Interests, Overlay, build, evaluate, workloads
from meshwright.metrics import condensed

PER_TOPIC = ("components_per_topic", "links_per_topic", "cut_nodes_per_topic", "bridges_per_topic")


@st.composite
def overlays_around_hubs(draw):
    """Some hubs, any links between them, and of each other node some links to hubs."""
    nodes, topics = draw(st.integers(1, 16)), draw(st.integers(1, 4))
    hubs = draw(st.integers(1, min(nodes, 5)))
    wants = np.array(
        draw(
            st.lists(
                st.lists(st.booleans(), min_size=topics, max_size=topics), min_size=nodes, max_size=nodes
            )
        )
    )
    pairs = [(u, v) for u in range(hubs) for v in range(u + 1, nodes)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    overlay = Overlay.from_arrays(
        Interests.from_scipy(wants.astype(np.int32)), np.array(edges).reshape(-1, 2)
    )
    return overlay, np.arange(hubs, dtype=np.int32)


def by_hubs(overlay, hubs, **options):
    """The evaluation, and which topics the hubs left unsettled."""
    seen = []

    def measure(*arguments):
        seen.append(measured(*arguments))
        return seen[-1]

    measured = condensed.measure
    with (
        patch.object(condensed, "FEWEST_INTERESTS", 0),
        patch.object(condensed, "choose_hubs", lambda degrees: hubs),
        patch.object(condensed, "measure", measure),
    ):
        found = evaluate(overlay, **options)
    return found, seen[0].results.unsettled


@given(overlays_around_hubs())
def test_condensed_topics_measure_as_whole_ones(case):
    overlay, hubs = case
    found, _ = by_hubs(overlay, hubs)
    expected = evaluate(overlay)
    assert found.to_json() == expected.to_json()
    assert found.distributions() == expected.distributions()
    for name in (*PER_TOPIC, "diameter_per_topic"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist(), name


@given(overlays_around_hubs())
def test_topics_too_many_for_bitsets_measure_alike(case):
    with patch.object(condensed, "_MOST_BITSET_WORDS", 0):
        assert by_hubs(*case)[0].to_json() == evaluate(case[0]).to_json()


@given(overlays_around_hubs())
def test_what_hubs_settle_is_what_networkx_finds(case):
    overlay, hubs = case
    found, unsettled = by_hubs(overlay, hubs, bound=False)
    graph = overlay.to_networkx()
    for topic, name in enumerate(overlay.interests.topics.to_pylist()):
        own = graph.subgraph(overlay.interests.nodes_of(name))
        if len(own) == 0 or unsettled[topic]:
            continue
        assert found.components_per_topic[topic] == nx.number_connected_components(own)
        assert found.cut_nodes_per_topic[topic] == len(list(nx.articulation_points(own)))
        assert found.bridges_per_topic[topic] == len(list(nx.bridges(own)))
        if nx.is_connected(own):
            assert found.diameter_per_topic[topic] == nx.diameter(own)


@given(overlays_around_hubs(), st.integers(1, 40))
def test_a_budget_leaves_bounds_on_both_sides_of_the_diameter(case, budget):
    overlay, hubs = case
    found, _ = by_hubs(overlay, hubs, diameter_budget=budget)
    exact = evaluate(overlay, diameter_budget=None)
    if exact.maximum_topic_diameter is not None:
        assert found.maximum_topic_diameter_lower_bound <= exact.maximum_topic_diameter
        assert found.maximum_topic_diameter >= exact.maximum_topic_diameter


def test_bulk_nodes_are_found_as_hubs_and_settle_all_topics():
    interests = workloads.unif(6_000, 100, min_subscriptions=5, max_subscriptions=60, seed=1)
    overlay = build(interests, "dcbc-direct", bulk_size=60, seed=1)
    hubs = condensed.choose_hubs(overlay.degrees())
    at_hub = np.isin(overlay.edges, hubs)
    assert at_hub.any(axis=1).all()
    assert len(hubs) <= overlay.facts["bulk"]
    found, unsettled = by_hubs(overlay, hubs)
    assert not unsettled.any()
    assert found.to_json() == evaluate(overlay).to_json()


def test_an_overlay_without_few_hubs_has_none():
    ring = workloads.unif(300, 5, subscriptions=2, seed=1)
    assert len(condensed.choose_hubs(build(ring, "ring", seed=1).degrees())) == 0
    assert len(condensed.choose_hubs(np.zeros(4, np.int64))) == 0
