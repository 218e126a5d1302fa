"""A build on a standalone cluster; `benchmarks.lost_executors` does the same with whole runs."""

import meshwright as mw
from tests.spark.cluster import standalone_cluster
from tests.spark.lost_executor import run_with_a_lost_executor


def test_an_executor_lost_in_the_middle_of_a_build_does_not_change_the_overlay(tmp_path):
    interests = mw.workloads.unif(40, 8, min_subscriptions=2, max_subscriptions=4, seed=3)
    interests.write(tmp_path / "interests")
    expected = mw.build(interests, "dc", seed=3, partitions=4)
    words = ["build", tmp_path / "interests", "--engine", "spark", "--algorithm", "dc", "--seed", 3]
    words += ["--set", "partitions=4", "--out", tmp_path / "out"]
    with standalone_cluster(tmp_path, executors=1) as master:
        assert run_with_a_lost_executor(master, tmp_path, *words) == (0, "", True)
    assert mw.Overlay.read(tmp_path / "out") == expected
