"""The whole on a cluster that loses an executor in the middle."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import meshwright as mw
from tests.spark.cluster import PATIENCE, standalone_cluster, wait_for

SEED = 3
BUILDING = "building the parts"
SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.default.parallelism": "4",
    "spark.sql.shuffle.partitions": "4",
    # The log of events is how the test sees what Spark does at the moment, and what it did.
    "spark.eventLog.enabled": "true",
    "spark.eventLog.rolling.enabled": "false",
    "spark.eventLog.compress": "false",
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with standalone_cluster(tmp_path_factory.mktemp("cluster"), workers=2) as found:
        yield found


@pytest.fixture
def meshwright(cluster, tmp_path):
    """Starts a command on the cluster."""
    settings = SETTINGS | {"spark.eventLog.dir": (tmp_path / "events").as_uri()}
    (tmp_path / "events").mkdir()
    started = []

    def start(*words, **more):
        conf = [word for name, value in (settings | more).items() for word in ("--conf", f"{name}={value}")]
        command = [sys.executable, "-m", "meshwright", *map(str, words), "--master", cluster.master, *conf]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def events(folder: Path) -> list[dict]:
    """What happened so far; the last line may be half written."""
    lines = [line for file in folder.iterdir() for line in file.read_text("utf-8").split("\n")[:-1]]
    return [json.loads(line) for line in lines]


def stages_of(happened: list[dict], label: str) -> set[int]:
    """The stages of the jobs that Spark was told to run under a label."""
    jobs = [event for event in happened if event["Event"] == "SparkListenerJobStart"]
    named = [job for job in jobs if job["Properties"].get("spark.job.description") == label]
    return {stage for job in named for stage in job["Stage IDs"]}


def lost_tasks(happened: list[dict], stages: set[int]) -> list[dict]:
    """The tasks of some stages that ended because their executor did."""
    ends = [event for event in happened if event["Event"] == "SparkListenerTaskEnd"]
    reasons = [end["Task End Reason"]["Reason"] for end in ends if end["Stage ID"] in stages]
    return [reason for reason in reasons if reason == "ExecutorLostFailure"]


def test_an_executor_lost_in_the_middle_of_a_build_does_not_change_the_overlay(cluster, meshwright, tmp_path):
    interests = mw.workloads.unif(
        nodes=3_000, topics=200, min_subscriptions=10, max_subscriptions=40, seed=SEED
    )
    interests.write(tmp_path / "interests")
    options = {"partitions": 24}
    running = meshwright(
        "build", tmp_path / "interests", "--engine", "spark", "--algorithm", "dc", "--seed", SEED,
        "--set", "partitions=24", "--out", tmp_path / "overlay",
    )  # fmt: skip
    in_the_middle = lambda: running.poll() is not None or stages_of(events(tmp_path / "events"), BUILDING)  # noqa: E731
    wait_for(in_the_middle, BUILDING)
    os.kill(next(iter(cluster.executors().values())), signal.SIGKILL)
    out, err = running.communicate(timeout=PATIENCE)
    assert (running.returncode, err) == (0, ""), out
    happened = events(tmp_path / "events")
    assert lost_tasks(happened, stages_of(happened, BUILDING))
    expected = mw.build(interests, "dc", seed=SEED, **options)
    assert np.array_equal(mw.Overlay.read(tmp_path / "overlay").edges, expected.edges)


def test_workers_with_another_version_are_refused(cluster, meshwright, tmp_path):
    mw.Interests.from_pairs([("a", "x"), ("b", "x")]).write(tmp_path / "interests")
    other = tmp_path / "other" / "numpy-0.1.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 0.1\n")
    words = (
        "build",
        tmp_path / "interests",
        "--engine",
        "spark",
        "--algorithm",
        "dc",
        "--out",
        tmp_path / "overlay",
    )
    process = meshwright(*words, **{"spark.executorEnv.PYTHONPATH": str(other.parent)})
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert " have numpy 0.1 and the driver has " in err
    assert err.count("\n") == 1
    assert not (tmp_path / "overlay").exists()
