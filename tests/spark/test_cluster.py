"""The whole on a cluster that loses an executor in the middle."""

import os
import subprocess
import sys

import numpy as np
import pytest

import meshwright as mw
from tests.patience import PATIENCE
from tests.spark.cluster import FOR_SHORT_JOBS, standalone_cluster

SEED = 3
# The first task that has a part done kills its executor, the parent of its Python's daemon: the part is lost.
LOSING = """
import os, pathlib, signal, time
from meshwright.pipeline.build import part_rows

give = part_rows.row_of

def row_of(*part):
    try:
        with open({lost!r}, "x") as lost:
            executor = pathlib.Path(f"/proc/{{os.getppid()}}/stat").read_text().rpartition(")")[2].split()[1]
            lost.write(executor)
    except FileExistsError:
        return give(*part)
    os.kill(int(executor), signal.SIGKILL)
    time.sleep({patience})

part_rows.row_of = row_of
"""
SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.driver.defaultJavaOptions": FOR_SHORT_JOBS,
    "spark.executor.defaultJavaOptions": FOR_SHORT_JOBS,
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
        command = [sys.executable, "-m", "meshwright", *map(str, words), "--master", cluster, *conf]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def _first_on_the_path(folder):
    rest = os.environ.get("PYTHONPATH")
    return {"spark.executorEnv.PYTHONPATH": f"{folder}:{rest}" if rest else str(folder)}


def test_an_executor_lost_in_the_middle_of_a_run_does_not_change_the_overlay(meshwright, tmp_path):
    interests = mw.workloads.unif(300, 40, min_subscriptions=5, max_subscriptions=15, seed=SEED)
    interests.to_pandas().to_csv(tmp_path / "subscriptions.csv", index=False)
    lost, place = tmp_path / "lost", tmp_path / "out"
    (tmp_path / "sitecustomize.py").write_text(LOSING.format(lost=str(lost), patience=PATIENCE))
    running = meshwright(
        "run", tmp_path / "subscriptions.csv", "--as", "pairs", "--algorithm", "dc", "--seed", SEED,
        "--set", "partitions=4", "--out", place, **_first_on_the_path(tmp_path),
    )  # fmt: skip
    _, err = running.communicate(timeout=PATIENCE)
    assert running.returncode == 0, err
    assert err == ""
    assert lost.read_text().isdecimal()
    expected = mw.build(interests, "dc", seed=SEED, partitions=4)
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
    process = meshwright(*words, **_first_on_the_path(other.parent))
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert " have numpy 0.1 and the driver has " in err
    assert err.count("\n") == 1
    assert not (tmp_path / "overlay").exists()
