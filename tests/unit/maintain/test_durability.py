"""A journal after a loss of power at any moment."""

from pathlib import Path

import pytest

from tests import power_loss
from tests.unit.maintain.journals import events_for, small_overlay


@pytest.mark.parametrize("sync", ["always", 5, "never"])
def test_a_journal_comes_back_to_all_that_its_policy_promised(tmp_path: Path, sync: str | int) -> None:
    overlay = small_overlay()
    (tmp_path / "disk").mkdir()
    given = power_loss.steps(overlay, events_for(overlay, 4))
    scenario = power_loss.journal(tmp_path / "disk", given, sync, compact_after=2)
    cuts = power_loss.between_writes(scenario.trace)
    tally = power_loss.replay(scenario, tmp_path, 2, cuts=cuts)
    assert tally.cuts > 20
    assert tally.wrong == []
