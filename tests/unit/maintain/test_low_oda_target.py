import pytest

import meshwright as mw
from tests.unit.maintain.examples import random_events, workload


def test_at_the_start_of_low_oda_there_is_no_drift_and_nothing_to_measure():
    drift = mw.Maintainer(workload()).drift()
    assert (drift.average, drift.maximum, drift.measured_at) == (0, 0, 0)


@pytest.mark.parametrize("start", ["another algorithm", "another rho"])
def test_another_start_is_measured_first(start):
    interests = workload().interests
    overlay = (
        mw.build(interests, "ring") if start == "another algorithm" else mw.build(interests, "low-oda", rho=9)
    )
    live = mw.Maintainer(overlay)
    fresh = mw.Maintainer(overlay, "rebuild")
    fresh.join("nobody")
    fresh.leave("nobody")
    drift = live.drift()
    assert drift.average_degree == live.average_degree > drift.fresh_average_degree
    assert drift.fresh_average_degree == pytest.approx(fresh.average_degree)
    assert drift.fresh_maximum_degree == fresh.maximum_degree


def test_the_estimate_is_near_what_is_measured_after_churn():
    live = mw.Maintainer(workload(300))
    for event in random_events(live, 200, seed=3):
        live.apply([event])
    estimated, measured = live.drift(), live.drift(measure=True)
    assert (estimated.measured_at, measured.measured_at) == (0, live.revision)
    assert estimated.fresh_average_degree == pytest.approx(measured.fresh_average_degree, rel=0.05)
    assert measured.average > 0
    assert live.drift() == measured


def test_looking_at_the_drift_changes_nothing():
    live = mw.Maintainer(workload())
    before = live.snapshot()
    live.drift(measure=True)
    assert live.snapshot() == before


def test_there_is_a_drift_of_nothing():
    live = mw.Maintainer(mw.build(mw.Interests.from_pairs([]), "gm"))
    assert live.drift().average == 0


@pytest.mark.parametrize("options", [None, [], "rho", 3])
def test_an_overlay_whose_options_are_no_object_is_refused(options):
    overlay = mw.build(mw.workloads.unif(10, 4, min_subscriptions=1, max_subscriptions=3), "low-oda")
    wrong = mw.Overlay(overlay.interests, overlay.edges, facts={**overlay.facts, "options": options})
    with pytest.raises(
        mw.DatasetError, match=r"the overlay states 'options' as .*; 'options' must be an object"
    ):
        mw.Maintainer(wrong)
