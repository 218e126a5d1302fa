"""Real processes that are killed while they apply events."""

import pytest

import meshwright as mw
from benchmarks.churn_crashes import crash
from meshwright.maintain.journal.recording import read_recorded
from tests.unit.maintain.journals import costs_for, events_for, filtered_overlay, small_overlay


@pytest.mark.parametrize(("policy", "kills"), [("shadow", 10)])
def test_a_killed_process_loses_nothing_and_does_nothing_twice(tmp_path, policy, kills):
    overlay = small_overlay()
    found = crash(tmp_path, overlay, events_for(overlay, 500), kills, seed=1, policy=policy)
    assert found.kills == kills
    assert (found.lost, found.doubled, found.different) == (0, 0, 0)


def test_a_killed_process_with_costs_goes_on_as_if_it_had_not_been_killed(tmp_path):
    overlay = small_overlay()
    events = events_for(overlay, 250)
    costs = costs_for(overlay, events)
    found = crash(tmp_path, overlay, events, 5, seed=1, costs=costs)
    assert (found.kills, found.lost, found.doubled, found.different) == (5, 0, 0, 0)
    changes = read_recorded(tmp_path / "recorded", "changes").to_pylist()
    live, expected = mw.Maintainer(overlay, costs=costs), []
    for event in events:
        repair = live.apply([event])
        expected += [*repair.added_costs, *repair.removed_costs]
    assert [row["cost"] for row in changes] == expected


def test_a_killed_process_on_filters_goes_on_as_if_it_had_not_been_killed(tmp_path):
    overlay = filtered_overlay()
    found = crash(tmp_path, overlay, events_for(overlay, 200), 5, seed=1)
    assert (found.kills, found.lost, found.doubled, found.different) == (5, 0, 0, 0)
