"""Low-ODA on whatever small interests hypothesis finds."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from meshwright.construct.greedy import tie_order
from meshwright.construct.low_oda import construct_low_edges, low_oda
from meshwright.construct.options import LowOdaOptions
from tests import oracles, oracles_shadows
from tests.helpers import interests_of, topics_by_node
from tests.strategies import topic_sets

RHOS = st.sampled_from([1, 1.5, 2, 3, 7])


def pairs(edges):
    return [tuple(edge) for edge in np.asarray(edges).reshape(-1, 2).tolist()]


@given(topic_sets(), st.integers(0, 3), RHOS)
def test_every_choice_of_low_oda_is_the_transcriptions(topics, seed, rho):
    interests = interests_of(topics)
    order = tie_order(np.diff(interests.indptr), "shuffled", seed).tolist()
    built = low_oda(interests, None, LowOdaOptions(rho=rho), seed, None)
    expected = oracles_shadows.construct_low_edges(topics_by_node(interests), order, [], None, rho)
    assert pairs(built.edges) == expected


@st.composite
def partial_overlays(draw):
    """Interests, current edges, potential edges (or none: all pairs), and an order of the nodes."""
    topics = draw(topic_sets())
    every = list(combinations(range(len(topics)), 2))
    some = st.lists(st.sampled_from(every), unique=True) if every else st.just([])
    potential = draw(st.one_of(st.none(), some))
    return interests_of(topics), draw(some), potential, draw(st.permutations(range(len(topics))))


def as_edges(edges):
    return None if edges is None else np.array(edges, np.int32).reshape(-1, 2)


@given(partial_overlays(), RHOS)
def test_every_choice_on_a_partial_overlay_is_the_transcriptions(system, rho):
    interests, current, potential, order = system
    new = construct_low_edges(
        interests, as_edges(current), np.array(order, np.int32), rho, as_edges(potential)
    )
    topics_of = topics_by_node(interests)
    assert pairs(new) == oracles_shadows.construct_low_edges(topics_of, order, current, potential, rho)
    if potential is None:
        assert oracles.is_topic_connected(topics_of, [*current, *pairs(new)])
