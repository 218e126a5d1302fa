"""Which algorithm is suggested."""

import numpy as np
import pytest

import meshwright as mw
from meshwright.suggesting import OBJECTIVES, _sampled

INTERESTS = mw.workloads.unif(120, 30, subscriptions=6, seed=1)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_what_is_suggested_is_the_best_of_all_that_can_be_built(objective):
    found = mw.suggest(INTERESTS, objective=objective)
    values = {own.algorithm: own.value for own in found.candidates if own.value is not None}
    overlays = {name: mw.build(INTERESTS, name) for name in ("gm", "ring", "low-oda")}
    again = {name: OBJECTIVES[objective].value(overlay, 0) for name, overlay in overlays.items()}
    assert {name: values[name] for name in again} == pytest.approx(again)
    assert values[found.algorithm] <= 1.005 * min(values.values())
    assert found.candidates[0].algorithm == found.algorithm


def test_with_costs_the_cheapest_links_are_wanted():
    costs = mw.Costs.from_matrix(1 + np.abs(np.subtract.outer(np.arange(120.0), np.arange(120.0))))
    found = mw.suggest(INTERESTS, costs=costs)
    assert mw.algorithms()[found.algorithm].needs_costs
    assert "cost" in found.measure


def test_a_sample_keeps_the_topics_of_its_nodes():
    part = _sampled(INTERESTS, 50, seed=3)
    assert part.node_count == 50
    for node in part.nodes.to_pylist():
        assert part.topics_of(node) == INTERESTS.topics_of(node)


def test_algorithms_that_look_at_all_pairs_are_left_out_of_large_fleets():
    large = mw.workloads.unif(20_001, 40, subscriptions=2, seed=1)
    found = mw.suggest(large, sample=60)
    left_out = {own.algorithm: own.reason for own in found.candidates if own.value is None}
    assert "square of the nodes" in left_out["gm"]
    assert found.algorithm not in left_out


@pytest.mark.parametrize("wrong", [{"objective": "speed"}, {"sample": 1}, {"sample": 2.5}])
def test_wrong_calls_are_refused(wrong):
    with pytest.raises(mw.OptionError):
        mw.suggest(INTERESTS, **wrong)
    with pytest.raises(mw.InputError):
        mw.suggest([("a", "b")])
