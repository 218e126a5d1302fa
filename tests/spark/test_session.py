import gc
import os
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from meshwright.pipeline.spark import versions
from meshwright.pipeline.spark.failures import translated
from meshwright.pipeline.spark.session import spark_session
from meshwright.pipeline.spark.status import spark_stage, tasks_of
from meshwright.pipeline.spark.storage import url
from meshwright.runtime.errors import DatasetError, InputError, OptionError, SparkError


class Recorder:
    """A progress that remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, object]] = []

    def start(self, label, total):
        self.told.append(("start", label))

    def resize(self, total):
        self.told.append(("resize", total))

    def advance(self, done):
        self.told.append(("advance", done))

    def finish(self):
        self.told.append(("finish", None))


def test_a_job_runs_in_arrow(spark):
    def double(batches):
        for batch in batches:
            yield pa.record_batch([pc.multiply(batch.column(0), 2)], names=["id"])

    frame = spark.range(1000).mapInArrow(double, "id long")
    assert frame.agg({"id": "sum"}).first()[0] == 999_000


def test_workers_run_this_python(spark):
    found = spark.sparkContext.parallelize([0], 1).map(lambda _: sys.executable).first()
    assert os.path.realpath(found) == os.path.realpath(sys.executable)


def test_workers_look_for_garbage_among_what_is_newer_than_their_imports(spark):
    tasks = spark.sparkContext.parallelize(range(6), 6)  # in two workers, so that one has a second task
    assert max(tasks.map(lambda _: gc.get_freeze_count()).collect()) > 0


def test_only_who_knows_the_sessions_secret_reaches_it_and_only_this_user_its_files(spark):
    assert spark.conf.get("spark.authenticate") == "true"
    scratch = Path(spark.conf.get("spark.local.dir"))
    assert scratch.stat().st_mode & 0o777 == 0o700
    spark.range(100).repartition(3).count()
    assert any(entry.name.startswith("blockmgr-") for entry in scratch.iterdir())


def test_no_second_session_in_a_process_and_no_wrong_master(spark):
    with pytest.raises(SparkError, match="a Spark session in this process already"), spark_session():
        pass
    with pytest.raises(OptionError, match="not a Spark master"), spark_session("nowhere"):
        pass
    with pytest.raises(SparkError, match="no Spark master answers"), spark_session("spark://127.0.0.1:1"):
        pass


def test_workers_with_another_version_are_refused(spark, monkeypatch, tmp_path):
    versions.check_workers(spark.sparkContext)
    other = tmp_path / "numpy-0.1.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 0.1\n")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    monkeypatch.setitem(spark.sparkContext.environment, "PYTHONPATH", path)
    with pytest.raises(SparkError, match=r"have numpy 0\.1 and the driver has .*; install the same on all"):
        versions.check_workers(spark.sparkContext)


def test_a_stage_shows_the_tasks_of_its_jobs_and_no_others(spark):
    progress = Recorder()
    spark.range(10).count()

    def wait(batches):
        import time

        time.sleep(1)
        yield from batches

    with spark_stage(spark, progress, "waiting"):
        spark.range(0, 10, 1, numPartitions=3).mapInArrow(wait, "id long").collect()
        group = spark.sparkContext.getLocalProperty("spark.jobGroup.id")
    assert progress.told[0] == ("start", "waiting")
    assert progress.told[-1] == ("finish", None)
    assert ("resize", 3) in progress.told
    assert tasks_of(spark.sparkContext.statusTracker(), group) == (3, 3)
    assert spark.sparkContext.getLocalProperty("spark.jobGroup.id") is None
    assert spark.sparkContext.getLocalProperty("spark.job.description") is None


def test_an_error_in_a_stage_comes_through_and_ends_it(spark):
    progress = Recorder()
    with pytest.raises(ZeroDivisionError), spark_stage(spark, progress, "failing"):
        1 / 0  # noqa: B018
    assert progress.told == [("start", "failing"), ("finish", None)]


def test_an_error_of_ours_in_a_task_comes_out_as_it_was(spark):
    def refuse(batches):
        raise InputError("row 3 is bad; mend it")

    with pytest.raises(InputError, match=r"^row 3 is bad; mend it$"), translated():
        spark.range(1).mapInArrow(refuse, "id long").count()


def test_a_killed_worker_is_told_apart_from_a_damaged_file(spark):
    def die(batches):
        os.kill(os.getpid(), 9)
        yield from batches

    with pytest.raises(Exception, match="a task's Python ran out of memory or was killed"), translated():
        spark.range(1).mapInArrow(die, "id long").count()


def test_a_missing_path_and_one_that_cannot_be_written_are_named(spark, tmp_path):
    with pytest.raises(InputError, match=f"^{tmp_path}/a b: there is no such file"), translated():
        spark.read.parquet(url(tmp_path / "a b"))
    (tmp_path / "file").touch()
    with pytest.raises(DatasetError, match="/file: it can't be written there"), translated():
        spark.range(1).write.parquet(url(tmp_path / "file" / "x"))


def test_nothing_is_said_on_the_terminal(spark, capfd):
    with pytest.raises(SparkError, match="UNRESOLVED_COLUMN"), translated():
        spark.range(1).select("nosuch")
    assert capfd.readouterr() == ("", "")
