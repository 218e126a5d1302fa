"""The whole on a cluster that loses an executor in the middle."""

import subprocess
import sys

import numpy as np
import pytest

import meshwright as mw
from tests.spark.cluster import PATIENCE, free_port, standalone_cluster, wait_for

SEED = 3
BUILDING = "building the parts"
ATTEMPTS = 3  # building takes a few seconds, and may be over before anybody looks
SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.default.parallelism": "4",
    "spark.sql.shuffle.partitions": "4",
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with standalone_cluster(tmp_path_factory.mktemp("cluster"), workers=2) as found:
        yield found


@pytest.fixture
def meshwright(cluster):
    """Starts a command on the cluster."""
    started = []

    def start(*words, **more):
        conf = [word for name, value in (SETTINGS | more).items() for word in ("--conf", f"{name}={value}")]
        command = [sys.executable, "-m", "meshwright", *map(str, words), "--master", cluster.master, *conf]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def _lost_or_over(cluster, ui, running):
    if cluster.lose_an_executor(ui, BUILDING):
        return "lost"
    return "over" if running.poll() is not None else None


def test_an_executor_lost_in_the_middle_of_a_run_does_not_change_the_overlay(cluster, meshwright, tmp_path):
    sizes = {"nodes": 3_000, "topics": 200, "min_subscriptions": 10, "max_subscriptions": 40}
    interests = mw.workloads.unif(**sizes, seed=SEED)
    interests.to_pandas().to_csv(tmp_path / "subscriptions.csv", index=False)
    for attempt in range(ATTEMPTS):
        ui, place = free_port(), tmp_path / f"out-{attempt}"
        running = meshwright(
            "run", tmp_path / "subscriptions.csv", "--as", "pairs", "--algorithm", "dc", "--seed", SEED,
            "--set", "partitions=24", "--out", place, **{"spark.ui.enabled": "true", "spark.ui.port": ui},
        )  # fmt: skip
        if wait_for(lambda: _lost_or_over(cluster, ui, running), "a task to be lost") == "lost":  # noqa: B023
            break
    else:
        pytest.fail(f"the parts were built too fast to lose one: {running.communicate()}")
    out, err = running.communicate(timeout=PATIENCE)
    assert (running.returncode, err) == (0, ""), out
    expected = mw.build(interests, "dc", seed=SEED, partitions=24)
    assert np.array_equal(mw.Overlay.read(place / "overlay").edges, expected.edges)
    assert (place / "report.html").is_file()


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
