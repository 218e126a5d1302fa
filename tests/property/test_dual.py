"""Laws of the Lagrangian bound."""

from hypothesis import given

from meshwright import Overlay, evaluate
from meshwright.construct.dual.bound import SCALE, find_certificate
from tests import oracles_dual
from tests.helpers import interests_of, topics_by_node
from tests.strategies import topic_sets
from tests.unit.construct.dual.test_bound import proves


@given(topic_sets())
def test_a_certificate_is_valid_and_nearly_reaches_the_linear_program(topics):
    interests = interests_of(topics)
    found, optimum = (
        find_certificate(interests, steps=200),
        oracles_dual.linear_program(topics_by_node(interests)),
    )
    assert proves(interests, found)
    assert 0.97 * optimum - 1e-6 <= found.gaps.sum() / SCALE <= optimum + 1e-6


@given(topic_sets(max_nodes=5, max_topics=5))
def test_no_overlay_has_fewer_edges_than_the_tight_bound(topics):
    interests = interests_of(topics)
    found = evaluate(Overlay.from_edges(interests, []), bound="tight")
    fewest = oracles_dual.fewest_edges(topics_by_node(interests))
    assert found.lower_bound_average_degree * len(topics) / 2 <= fewest + 1e-9 if topics else fewest == 0
