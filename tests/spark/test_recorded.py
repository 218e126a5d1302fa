"""Commands on Spark give what they gave when it was recorded; see `tests/contract/record.py`."""

import pytest

from tests.contract.record import recorded
from tests.contract.recording.spark import CASES, run_on


@pytest.fixture(scope="module")
def results(spark, tmp_path_factory):
    return run_on(spark, tmp_path_factory.mktemp("recorded").resolve())


@pytest.mark.parametrize("name", CASES)
def test_commands_on_spark_give_what_was_recorded(name, results):
    assert results[name] == recorded("spark")[name]
