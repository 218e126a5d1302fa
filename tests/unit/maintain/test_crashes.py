"""Real processes that are killed while they apply events."""

import pytest

from benchmarks.churn_crashes import crash
from tests.unit.maintain.journals import events_for, small_overlay


@pytest.mark.parametrize(("policy", "kills"), [("shadow", 10)])
def test_a_killed_process_loses_nothing_and_does_nothing_twice(tmp_path, policy, kills):
    overlay = small_overlay()
    found = crash(tmp_path, overlay, events_for(overlay, 500), kills, seed=1, policy=policy)
    assert found.kills == kills
    assert (found.lost, found.doubled, found.different) == (0, 0, 0)
