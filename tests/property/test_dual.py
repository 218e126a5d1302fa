"""Laws of the Lagrangian bound."""

from hypothesis import given
from hypothesis import strategies as st

from meshwright import Overlay, build, evaluate
from meshwright.construct.dual.bound import SCALE, find_certificate
from meshwright.construct.dual.bound_by_cost import find_cost_certificate
from meshwright.construct.dual.candidates import arrays_of
from meshwright.kernels.dual.demands import choose_demands
from tests import oracles, oracles_dual
from tests.helpers import interests_of, topics_by_node
from tests.strategies import topic_sets
from tests.unit.construct.dual.test_bound import proves
from tests.unit.construct.dual.test_bound_by_cost import proves as proves_cost
from tests.unit.construct.dual.test_bound_by_cost import random_costs


@given(topic_sets())
def test_a_certificate_is_valid_and_nearly_reaches_the_linear_program(topics):
    interests = interests_of(topics)
    found, optimum = (
        find_certificate(interests, steps=200),
        oracles_dual.linear_program(topics_by_node(interests)),
    )
    assert proves(interests, found)
    assert found.total / SCALE >= 0.97 * optimum - 1e-6


@given(topic_sets(), st.integers(0, 9))
def test_a_certificate_of_cost_is_valid_and_nearly_reaches_the_linear_program(topics, seed):
    interests = interests_of(topics)
    if not interests.node_count:
        return
    costs = random_costs(interests, seed, spread=1.0)
    found = find_cost_certificate(interests, costs, steps=200)
    optimum = oracles_dual.linear_program(topics_by_node(interests), costs.to_matrix())
    assert proves_cost(interests, found, costs)
    assert 0.97 * optimum - 1e-6 <= found.cost <= optimum + 1e-6


@given(topic_sets())
def test_every_node_whose_topics_no_other_has_has_a_demand(topics):
    interests = interests_of(topics)
    demands, topics_of = choose_demands(*arrays_of(interests)), topics_by_node(interests)
    for node, own in topics_of.items():
        wanted = set(demands.topics[demands.indptr[node] : demands.indptr[node + 1]].tolist())
        shared = {t for t in own if any(t in other for u, other in topics_of.items() if u != node)}
        assert oracles_dual.is_demand(topics_of, node, wanted or shared) == bool(wanted)


@given(topic_sets(max_nodes=5, max_topics=5))
def test_no_overlay_has_fewer_edges_than_the_tight_bound(topics):
    interests = interests_of(topics)
    found = evaluate(Overlay.from_edges(interests, []), bound="tight")
    fewest = oracles_dual.fewest_edges(topics_by_node(interests))
    assert found.lower_bound_average_degree * len(topics) / 2 <= fewest + 1e-9 if topics else fewest == 0


@given(topic_sets())
def test_dg_connects_every_topic_with_no_more_links_than_gm_at_the_same_seed(topics):
    interests = interests_of(topics)
    found = build(interests, "dg", seed=3, budget=30)
    assert oracles.is_topic_connected(topics_by_node(interests), map(tuple, found.edges.tolist()))
    assert len(found) <= len(build(interests, "gm", seed=3))


@given(topic_sets(max_nodes=5, max_topics=5))
def test_dg_is_at_most_one_link_above_the_optimum_of_tiny_interests(topics):
    interests = interests_of(topics)
    assert len(build(interests, "dg")) <= oracles_dual.fewest_edges(topics_by_node(interests)) + 1
