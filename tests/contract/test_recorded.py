"""The code gives what it gave when `recorded/` was written; see `record.py` for how to write it again.

What commands on Spark give is compared in `tests/spark`, on the session of the tests there.
"""

import json

import pytest

from tests.contract.record import ONE_BY_ONE, TOGETHER, recorded

ALONE = [(group, name) for group, cases in ONE_BY_ONE.items() for name in cases]
COMMANDS = TOGETHER["commands"][0]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """What commands give, by name."""
    return TOGETHER["commands"][1](tmp_path_factory.mktemp("commands").resolve())


@pytest.mark.parametrize("group", [*ONE_BY_ONE, *TOGETHER])
def test_every_case_is_recorded_and_no_other(group):
    cases = ONE_BY_ONE[group] if group in ONE_BY_ONE else TOGETHER[group][0]
    assert sorted(recorded(group)) == sorted(cases)


@pytest.mark.parametrize(("group", "name"), ALONE)
def test_the_library_gives_what_was_recorded(group, name):
    assert json.loads(json.dumps(ONE_BY_ONE[group][name]())) == recorded(group)[name]


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_give_what_was_recorded(name, results):
    assert results[name] == recorded("commands")[name]
