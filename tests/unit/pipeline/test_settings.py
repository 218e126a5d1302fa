import socket

import pytest

from meshwright.pipeline.spark import settings
from meshwright.pipeline.spark.settings import (
    check_master,
    is_local_master,
    launch_settings,
    private_folder,
    session_settings,
    short_settings,
)
from meshwright.runtime.errors import OptionError, SparkError


@pytest.mark.parametrize(
    "master",
    ["local", "local[*]", "local[2]", "local[*,3]", "local-cluster[2,1,1024]", "yarn", "k8s://https://h:443"],
)
def test_an_address_that_spark_understands_is_taken(master):
    check_master(master)


@pytest.mark.parametrize(
    "master",
    ["", "local[0]", "local[x]", "spark://host", "spark:host:1", "http://h:1", "mesos://h:1", "k8s:", "all"],
)
def test_a_malformed_address_is_refused_with_examples(master):
    with pytest.raises(OptionError, match="is not a Spark master; give local"):
        check_master(master)


@pytest.mark.parametrize("address", ["127.0.0.1:1", "127.0.0.1:1,127.0.0.1:2", "[::1]:1", "127.0.0.1:99999"])
def test_a_master_that_does_not_answer_is_refused_at_once(address):
    with pytest.raises(SparkError, match="no Spark master answers at spark://"):
        check_master(f"spark://{address}")


def test_one_master_of_several_that_answers_is_enough():
    with socket.create_server(("127.0.0.1", 0)) as server:
        check_master(f"spark://127.0.0.1:1,127.0.0.1:{server.getsockname()[1]}")


def test_only_one_machine_is_local():
    assert [is_local_master(text) for text in ("local", "local[*]", "local[2]")] == [True] * 3
    assert [is_local_master(text) for text in ("local-cluster[1,1,512]", "yarn", "spark://local:1")] == [
        False
    ] * 3


@pytest.mark.parametrize(("free", "heap"), [(1 << 28, "512m"), (8 << 30, "2048m"), (1 << 40, "6144m")])
def test_the_heap_is_a_quarter_of_what_is_free_within_bounds(monkeypatch, free, heap):
    monkeypatch.setattr(settings, "free_memory", lambda: free)
    assert launch_settings({})["spark.driver.memory"] == heap


def test_what_is_given_comes_before_ours():
    given = {
        "spark.driver.memory": "3g",
        "spark.driver.extraJavaOptions": "-Da=b",
        "spark.master": "local[3]",
    }
    found = launch_settings(given)
    assert (found["spark.driver.memory"], found["spark.master"]) == ("3g", "local[3]")
    assert found["spark.driver.extraJavaOptions"].startswith("-Dlog4j2.configurationFile=file:///")
    assert found["spark.driver.extraJavaOptions"].endswith(" -Da=b")


def test_a_cluster_keeps_its_own_sizes_and_addresses(monkeypatch):
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    local, cluster = session_settings("local[3]"), session_settings("spark://host:7077")
    assert local["spark.sql.shuffle.partitions"] == "12"
    monkeypatch.setenv("PYSPARK_PYTHON", "another/python")
    assert set(local) - set(session_settings("local[3]")) == {"spark.python.daemon.module"}
    assert set(local) - set(cluster) == {
        "spark.python.daemon.module",
        "spark.driver.host",
        "spark.driver.bindAddress",
        "spark.authenticate",
        "spark.local.dir",
        "spark.sql.warehouse.dir",
        "spark.sql.shuffle.partitions",
        "spark.default.parallelism",
    }
    assert "spark.driver.memory" not in launch_settings({"spark.master": "yarn"})


def test_a_local_session_is_for_this_user_alone():
    local = session_settings("local[*]")
    assert local["spark.authenticate"] == "true"
    assert local["spark.local.dir"] == str(private_folder())
    assert local["spark.sql.warehouse.dir"].startswith(private_folder().as_uri())
    assert f'"-Djava.io.tmpdir={private_folder()}"' in launch_settings({})["spark.driver.extraJavaOptions"]


def test_little_work_has_settings_of_its_own_on_this_machine_only():
    found = short_settings("local[3]")
    assert "TieredStopAtLevel=1" in found["spark.driver.defaultJavaOptions"]
    assert found["spark.sql.shuffle.partitions"] == "3"
    assert short_settings(None).keys() == found.keys()
    for master in ("spark://host:7077", "yarn", "k8s://https://host:443"):
        assert short_settings(master) == {}
