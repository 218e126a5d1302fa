import json

import pytest

import meshwright as mw
from meshwright.comparing import Comparison
from meshwright.model.storage.manifest import read_manifest
from meshwright.pipeline.compare import compare_here, compare_on_spark

SPENT = ("seconds", "processor_seconds", "memory_bytes")


@pytest.fixture
def failing():
    """An algorithm that fails."""

    def work(interests, costs, options, seed, progress):
        raise ValueError("no luck")

    mw.register("failing", mw.Algorithm(summary="fails", load=work))
    yield "failing"
    mw.unregister("failing")


def test_comparing_on_spark_in_a_remote_folder_gives_the_numbers_of_this_process_and_leaves_no_overlay(
    spark, lake, tmp_path, failing
):
    mw.workloads.unif(40, 8, subscriptions=3, seed=1).write(tmp_path / "data")
    names = [failing, "dcbc-direct", "ring"]
    wanted = Comparison(algorithms=names, options={"dcbc-direct": {"slack": 0.5}})
    here = compare_here(tmp_path / "data", tmp_path / "here", wanted)
    there = compare_on_spark(spark, tmp_path / "data", lake, wanted)
    assert there["engine"] == "spark"
    for one, other in zip(here["runs"], there["runs"], strict=True):
        if other["algorithm"] == failing:
            assert "ValueError: no luck" in other["error"]
            continue
        assert other["error"] is None
        assert other["seconds"] > 0
        assert {key: one[key] for key in one if key not in SPENT} == {
            key: other[key] for key in other if key not in SPENT
        }
    assert json.loads((lake / "comparison.json").read_text())["runs"] == there["runs"]
    written = tmp_path / lake.name
    files = {path.name for path in written.iterdir() if path.suffix != ".crc"}
    assert files == {"comparison.parquet", "comparison.json", "comparison.html", "manifest.json"}
    assert set(read_manifest(written, "comparison")["files"]) == files - {"manifest.json"}
