"""What is on disk after a loss of power at any moment: the old thing, the new one, or none."""

from pathlib import Path

import pytest

from tests import power_loss
from tests.power_loss import WRITERS, Scenario, between_writes, replay


def assert_survives(scenario: Scenario, work: Path, states: int) -> None:
    tally = replay(scenario, work, states, cuts=between_writes(scenario.trace))
    assert tally.cuts > 1
    assert tally.wrong == []


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    (tmp_path / "recorded").mkdir()
    return tmp_path / "recorded"


def test_a_new_dataset_is_whole_or_not_there_and_there_once_written(tmp_path: Path, disk: Path) -> None:
    assert_survives(power_loss.dataset(disk, force=False), tmp_path, 4)


def test_an_overwritten_dataset_is_the_old_or_the_new_one_or_none(tmp_path: Path, disk: Path) -> None:
    assert_survives(power_loss.dataset(disk, force=True), tmp_path, 4)


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("force", [False, True])
def test_a_written_file_is_the_old_or_the_new_one(tmp_path: Path, disk: Path, name: str, force: bool) -> None:
    assert_survives(power_loss.file(disk, name, force), tmp_path, 8)
