"""Laws of the optimum."""

from hypothesis import given
from hypothesis import strategies as st

from meshwright import Costs, build
from meshwright.construct.reduction import reduced
from tests import oracles, oracles_dual, oracles_weighted
from tests.helpers import interests_of, topics_by_node
from tests.strategies import topic_sets


def drawn_costs(interests, drawn):
    """Costs of all pairs of up to five nodes, and the function of two nodes."""
    size, left = interests.node_count, list(drawn)
    matrix = [[0.0] * size for _ in range(size)]
    for u in range(size):
        for v in range(u + 1, size):
            matrix[u][v] = matrix[v][u] = float(left.pop())
    return Costs.from_matrix(matrix, interests.nodes.to_pylist()), lambda u, v: matrix[u][v]


@given(topic_sets(max_nodes=5, max_topics=6))
def test_exact_has_as_few_links_as_the_best_of_all_overlays(topics):
    interests = interests_of(topics)
    found, topics_of = build(interests, "exact"), topics_by_node(interests)
    assert oracles.is_topic_connected(topics_of, map(tuple, found.edges.tolist()))
    assert found.facts["optimal"] is True
    assert len(found) == found.facts["lower_bound"] == oracles_dual.fewest_edges(topics_of)


@given(topic_sets(max_nodes=5, max_topics=5), st.lists(st.integers(1, 9), min_size=10, max_size=10))
def test_exact_by_cost_is_as_cheap_as_the_best_of_all_overlays(topics, drawn):
    interests, topics_of = interests_of(topics), dict(enumerate(topics))
    costs, cost = drawn_costs(interests, drawn)
    found = build(interests, "exact", costs=costs, objective="cost")
    assert oracles.is_topic_connected(topics_of, map(tuple, found.edges.tolist()))
    least = oracles_weighted.least_cost(topics_of, cost)
    assert abs(found.costs.sum() - least) < 1e-6
    assert abs(found.facts["lower_bound"] - least) < 1e-6


@given(topic_sets(max_nodes=5, max_topics=6))
def test_what_is_linked_at_once_is_in_a_least_overlay(topics):
    interests = interests_of(topics)
    left = reduced(interests, link_nodes=True)
    fewest = oracles_dual.fewest_edges(topics_by_node(left.interests)) + len(left.edges)
    assert fewest == oracles_dual.fewest_edges(topics_by_node(interests))


@given(topic_sets(max_nodes=5, max_topics=5), st.lists(st.integers(1, 9), min_size=10, max_size=10))
def test_dg_maw_is_between_its_bound_and_the_cheaper_of_its_starts(topics, drawn):
    interests, topics_of = interests_of(topics), dict(enumerate(topics))
    costs, cost = drawn_costs(interests, drawn)
    gr, pdrd, dg = (build(interests, name, costs=costs, seed=2) for name in ("gr-maw", "pdrd-maw", "dg-maw"))
    least = oracles_weighted.least_cost(topics_of, cost)
    assert oracles.is_topic_connected(topics_of, map(tuple, dg.edges.tolist()))
    assert dg.facts["lower_bound_cost"] <= least + 1e-6
    assert least - 1e-6 <= dg.costs.sum() <= min(gr.costs.sum(), pdrd.costs.sum())
