import json

import meshwright as mw
from meshwright.comparing import Comparison
from meshwright.model.storage.manifest import read_manifest
from meshwright.pipeline.compare import compare_here, compare_on_spark

SPENT = ("seconds", "processor_seconds", "memory_bytes")


def test_comparing_on_spark_gives_the_numbers_of_this_process_and_leaves_no_overlay(spark, tmp_path):
    mw.workloads.unif(40, 8, subscriptions=3, seed=1).write(tmp_path / "data")
    wanted = Comparison(algorithms=["dcbc-direct", "ring"], options={"dcbc-direct": {"slack": 0.5}})
    here = compare_here(tmp_path / "data", tmp_path / "here", wanted)
    there = compare_on_spark(spark, tmp_path / "data", tmp_path / "there", wanted)
    assert there["engine"] == "spark"
    for one, other in zip(here["runs"], there["runs"], strict=True):
        assert other["error"] is None
        assert other["seconds"] > 0
        assert {key: one[key] for key in one if key not in SPENT} == {
            key: other[key] for key in other if key not in SPENT
        }
    files = {path.name for path in (tmp_path / "there").iterdir()}
    assert files == {"comparison.parquet", "comparison.json", "comparison.html", "manifest.json"}
    assert set(read_manifest(tmp_path / "there", "comparison")["files"]) == files - {"manifest.json"}


def test_one_that_fails_on_spark_is_reported_and_a_remote_folder_is_written(spark, lake, tmp_path):
    def work(interests, costs, options, seed, progress):
        raise ValueError("no luck")

    mw.workloads.unif(20, 4, subscriptions=2, seed=1).write(tmp_path / "data")
    mw.register("failing", mw.Algorithm(summary="fails", load=work))
    try:
        wanted = Comparison(algorithms=["failing", "ring"], options={})
        found = compare_on_spark(spark, tmp_path / "data", lake, wanted)
    finally:
        mw.unregister("failing")
    failed, ring = found["runs"]
    assert "ValueError: no luck" in failed["error"]
    assert ring["topic_connected"]
    assert json.loads((lake / "comparison.json").read_text())["runs"] == found["runs"]
