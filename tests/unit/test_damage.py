"""Damaged files of ours are refused, or read as what they were; never as something else."""

import random
from pathlib import Path

import pytest

from tests import damage
from tests.damage import BAD, CHANGES, REFUSED, Patient, Victim


def outcomes(victim: Victim, work: Path, rounds: int) -> list[damage.Outcome]:
    rng, patient = random.Random(0), Patient(victim, work / "patient")
    planned = [found for what in [*CHANGES] * rounds for found in damage.damages(victim, what, rng)]
    return [outcome for found in (*planned, *damage.exchanges(victim)) for outcome in patient.suffer(found)]


def assert_noticed(found: list[damage.Outcome]) -> None:
    assert [outcome for outcome in found if outcome.result in BAD] == []
    assert sum(outcome.result == REFUSED for outcome in found) > len(found) / 4


@pytest.mark.parametrize("name", ["overlay with fingers", "costs, clusters"])
def test_a_damaged_dataset_is_never_read_as_another(tmp_path: Path, name: str) -> None:
    assert_noticed(outcomes(damage.dataset(name, tmp_path), tmp_path, 2))


def test_a_damaged_journal_is_never_read_as_another(tmp_path: Path) -> None:
    assert_noticed(outcomes(damage.journal(tmp_path), tmp_path, 1))
