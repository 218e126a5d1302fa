"""Which algorithm is suggested."""

import numpy as np
import pytest

import meshwright as mw
from meshwright import suggesting
from meshwright.suggesting import OBJECTIVES, SQUARE, _sampled

INTERESTS = mw.workloads.unif(50, 12, subscriptions=4, seed=1)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_what_is_suggested_is_the_best_of_all_that_can_be_built(objective, monkeypatch):
    monkeypatch.setattr(suggesting, "_RESTARTS", 20)
    found = mw.suggest(INTERESTS, objective=objective)
    values = {own.algorithm: own.value for own in found.candidates if own.value is not None}
    overlays = {name: mw.build(INTERESTS, name) for name in ("gm", "ring", "low-oda")}
    again = {name: OBJECTIVES[objective].value(overlay, 0) for name, overlay in overlays.items()}
    assert {name: values[name] for name in again} == pytest.approx(again)
    assert values[found.algorithm] <= 1.005 * min(values.values())
    assert found.candidates[0].algorithm == found.algorithm


def test_with_costs_the_cheapest_links_are_wanted():
    costs = mw.Costs.from_matrix(1 + np.abs(np.subtract.outer(np.arange(50.0), np.arange(50.0))))
    found = mw.suggest(INTERESTS, costs=costs)
    assert mw.algorithms()[found.algorithm].needs_costs
    assert "cost" in found.measure
    assert found.unit is None


@pytest.mark.parametrize(("objective", "in_costs"), [("links", True), ("load", False)])
def test_the_unit_of_costs_stands_behind_the_price_and_behind_what_is_counted_in_costs(objective, in_costs):
    costs = mw.Costs.from_matrix(1 + np.abs(np.subtract.outer(np.arange(50.0), np.arange(50.0))))
    found = mw.suggest(INTERESTS, objective=objective, costs=costs.with_unit("EUR"))
    assert found.unit == "EUR"
    assert f"a cost of {found.price.cost:,.0f} EUR" in " ".join(found.reasons)
    assert found.measure.endswith(", in EUR") == in_costs
    assert found.reasons[0].endswith(" EUR.") == in_costs


def test_repairs_are_those_of_all_nodes_that_leave_and_come_back_hubs_among_them(monkeypatch):
    overlay = mw.build(INTERESTS, "gm")
    live, changes = mw.Maintainer(overlay), []
    for node in INTERESTS.nodes.to_pylist():
        repairs = live.leave(node), live.join(node, INTERESTS.topics_of(node))
        changes.append(sum(len(repair.added) + len(repair.removed) for repair in repairs))
    found = OBJECTIVES["repairs"].counted(overlay, 0)
    assert found.mean == pytest.approx(np.mean(changes) / 2, rel=0.15)
    assert found.uncertainty == suggesting._BY_ORDER
    monkeypatch.setattr(suggesting, "_RESTARTS", 20)
    drawn, is_hub = suggesting._to_restart(overlay.degrees(), 0)
    assert (len(set(drawn.tolist())), is_hub.sum()) == (20, 10)
    assert overlay.degrees()[drawn[is_hub]].min() >= np.sort(overlay.degrees())[-10]
    few = OBJECTIVES["repairs"].counted(overlay, 0)
    assert few.mean == pytest.approx(found.mean, rel=0.3)
    assert found.uncertainty < few.uncertainty < 0.3


def test_a_sample_keeps_the_topics_of_its_nodes():
    part = _sampled(INTERESTS, 20, seed=3)
    assert part.node_count == 20
    for node in part.nodes.to_pylist():
        assert part.topics_of(node) == INTERESTS.topics_of(node)


@pytest.mark.parametrize(("most", "nodes"), [(1_000_000, 300), (2_000, 200)])
def test_those_of_linear_time_are_tried_again_on_more_nodes_if_they_are_the_best(monkeypatch, most, nodes):
    monkeypatch.setattr(suggesting, "_MOST_INTERESTS", most)
    interests = mw.workloads.unif(300, 100, subscriptions=10, seed=3)
    found = mw.suggest(interests, objective="latency", sample=120)
    again = {own.algorithm: own.value for own in found.candidates if own.nodes == nodes}
    assert again.keys() == {"ring", "dcbc-direct", "dcbc", "dc"}
    part = _sampled(interests, nodes, 0)
    alone = {name: mw.evaluate(mw.build(part, name)).mean_topic_diameter for name in again}
    assert again == pytest.approx(alone)
    assert alone[found.algorithm] <= 1.005 * min(alone.values())
    assert all(own.nodes == 120 for own in found.candidates if own.algorithm in SQUARE and not own.reason)


def test_the_price_of_the_choice_is_measured_on_all_nodes_where_that_is_short(monkeypatch):
    monkeypatch.setattr(suggesting, "_MOST_SECONDS", 1e9)
    interests = mw.workloads.unif(200, 30, subscriptions=5, seed=1)
    found = mw.suggest(interests, sample=40)
    overlay = mw.build(interests, found.algorithm)
    assert found.candidates[0].nodes == 40
    assert (found.price.measured_on, found.price.links) == ((200,), len(overlay))
    assert found.price.maximum_degree == overlay.degrees().max()
    assert f"on all 200 nodes, measured: {len(overlay):,} links" in " ".join(found.reasons)


def test_a_price_that_takes_long_to_measure_is_estimated_by_how_it_grows(monkeypatch):
    monkeypatch.setattr(suggesting, "_MOST_SECONDS", 0.0)
    interests = mw.workloads.unif(600, 40, subscriptions=6, seed=1)
    found = mw.suggest(interests, sample=150)
    assert found.price.measured_on == (50, 150)
    assert found.price.links == pytest.approx(len(mw.build(interests, found.algorithm)), rel=0.25)
    assert "estimated from 50 and 150 of them" in " ".join(found.reasons)


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
