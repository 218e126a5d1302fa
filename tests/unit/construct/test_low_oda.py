import numpy as np
import pytest

import meshwright as mw
from meshwright.construct.greedy import GreedyProblem
from meshwright.construct.low_oda import construct_low_edges
from meshwright.construct.options import TIES
from meshwright.model.interests import Interests
from tests import oracles, oracles_shadows
from tests.helpers import topics_by_node


@pytest.fixture(scope="module")
def interests() -> mw.Interests:
    return mw.workloads.unif(300, 40, min_subscriptions=2, max_subscriptions=20, seed=2)


@pytest.mark.parametrize("ties", TIES)
def test_every_rule_for_ties_gives_a_topic_connected_overlay(interests, ties):
    assert mw.evaluate(mw.build(interests, "low-oda", ties=ties)).topic_connected


def test_the_maximum_degree_is_far_below_that_of_gm_for_some_more_links(interests):
    low, gm = mw.build(interests, "low-oda"), mw.build(interests, "gm")
    assert low.degrees().max() < gm.degrees().max() / 3
    assert len(gm) < len(low) < 1.5 * len(gm)


def test_more_rho_gives_a_lower_maximum_and_a_higher_average_degree(interests):
    overlays = [mw.build(interests, "low-oda", rho=rho) for rho in (1, 3, 20)]
    assert overlays[0].degrees().max() > overlays[1].degrees().max() >= overlays[2].degrees().max()
    assert len(overlays[0]) < len(overlays[1]) < len(overlays[2])


@pytest.mark.parametrize("dense", [True, False], ids=["bitsets", "lists"])
def test_bitsets_and_lists_take_the_same_edges_in_the_same_order(monkeypatch, dense):
    """Larger than hypothesis tries, with hubs whose contributions a byte of the store can't hold."""
    rng = np.random.default_rng(3)
    popular = rng.random((30, 180)) < rng.random(180) ** 3
    popular[:6] |= rng.random((6, 180)) < 0.9
    interests = Interests.from_scipy(popular)
    order = rng.permutation(30).astype(np.int32)
    monkeypatch.setattr(GreedyProblem, "words", 3 if dense else 0)
    edges = construct_low_edges(interests, np.empty((0, 2), np.int32), order, 3.0).tolist()
    topics_of = topics_by_node(interests)
    expected = oracles_shadows.construct_low_edges_by_labels(topics_of, order.tolist(), 3.0)
    assert [tuple(edge) for edge in edges] == expected
    assert oracles.is_topic_connected(topics_of, edges)
    assert len(topics_of[edges[0][0]] & topics_of[edges[0][1]]) > 127


def test_a_connected_overlay_gets_no_edges(interests):
    overlay = mw.build(interests, "ring")
    order = np.arange(interests.node_count, dtype=np.int32)
    assert len(construct_low_edges(interests, overlay.edges, order, 3.0)) == 0


@pytest.mark.parametrize("rho", [0.9, -1, float("inf"), float("nan"), "3", None, True])
def test_a_rho_that_is_no_number_from_one_on_is_refused(interests, rho):
    with pytest.raises(mw.OptionError, match=r"rho is .* finite number of at least 1"):
        mw.build(interests, "low-oda", rho=rho)


def test_too_little_memory_is_refused_with_what_to_do_instead(interests):
    with pytest.raises(mw.CapacityError, match=r"small-first.*dcbc-direct"):
        mw.build(interests, "low-oda", memory_limit=10_000)
