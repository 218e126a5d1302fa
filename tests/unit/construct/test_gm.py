import numpy as np
import pytest

import meshwright as mw
from meshwright.construct.options import TIES


@pytest.fixture(scope="module")
def interests() -> mw.Interests:
    return mw.workloads.unif(300, 40, min_subscriptions=2, max_subscriptions=20, seed=2)


@pytest.mark.parametrize("ties", TIES)
def test_every_rule_for_ties_gives_a_topic_connected_overlay(interests, ties):
    assert mw.evaluate(mw.build(interests, "gm", ties=ties)).topic_connected


def test_small_first_has_the_lowest_maximum_degree(interests):
    degrees = {ties: mw.build(interests, "gm", ties=ties).degrees().max() for ties in TIES}
    assert degrees["small-first"] < degrees["shuffled"] < degrees["large-first"]


def test_without_bounds_the_overlay_is_the_same(interests):
    kept, dropped = (mw.build(interests, "gm", keep_bounds=keep) for keep in (True, False))
    assert np.array_equal(kept.edges, dropped.edges)


def test_a_topic_of_weight_zero_gets_no_edges_of_its_own():
    interests = mw.Interests.from_pairs([(node, "idle") for node in "abc"] + [("a", "x"), ("b", "x")])
    overlay = mw.build(interests, "gm", weights={"idle": 0})
    assert overlay.edges.tolist() == [[0, 1]]


def test_a_heavy_topic_is_connected_first():
    """Two pairs share two topics each; the one whose topics weigh more comes first."""
    interests = mw.Interests.from_pairs(
        [(n, t) for n, own in {"a": "xy", "b": "xyz", "c": "z", "d": "xz"}.items() for t in own]
    )
    plain = mw.build(interests, "gm")
    heavy = mw.build(interests, "gm", weights={"z": 50})
    assert mw.evaluate(plain).topic_connected
    assert mw.evaluate(heavy).topic_connected
    assert [1, 3] in heavy.edges.tolist()  # b-d gains x and z: 51, more than any other pair


@pytest.mark.parametrize("weight", [-1, 0.5, True, 2**20])
def test_weights_that_are_no_small_whole_numbers_are_refused(interests, weight):
    with pytest.raises(mw.OptionError, match="whole number from 0"):
        mw.build(interests, "gm", weights={"t01": weight})


def test_weights_that_would_overflow_are_refused():
    interests = mw.Interests.from_pairs([(f"n{u}", f"t{t}") for u in range(3) for t in range(1200)])
    heavy = {f"t{t}": 2**20 - 1 for t in range(1200)}
    with pytest.raises(mw.OptionError, match=r"weigh 1,258,290,000 together.*divide all weights by 2"):
        mw.build(interests, "gm", weights=heavy)
    assert mw.evaluate(mw.build(interests, "gm", weights=dict.fromkeys(heavy, 2**19))).topic_connected


def test_weights_of_unknown_topics_are_refused(interests):
    with pytest.raises(mw.OptionError, match="there is no topic 'nothing'; leave unknown topics out"):
        mw.build(interests, "gm", weights={"nothing": 2})


def test_a_rule_for_ties_that_does_not_exist_is_refused(interests):
    with pytest.raises(mw.OptionError, match="ties is 'best'; choose among shuffled"):
        mw.build(interests, "gm", ties="best")


def test_too_little_memory_is_refused_with_what_to_do_instead(interests):
    with pytest.raises(mw.CapacityError, match=r"dcbc-direct.*keep_bounds=no"):
        mw.build(interests, "gm", memory_limit=10_000)
