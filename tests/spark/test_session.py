import os
import sys

import pyarrow as pa

from meshwright.pipeline.storage import RemotePath, location, read_table, url


def test_a_job_runs_in_arrow(spark):
    def twice(batches):
        for batch in batches:
            doubled = pa.compute.multiply(batch.column(0), 2)
            yield pa.record_batch([doubled], names=["id"])

    frame = spark.range(1000).mapInArrow(twice, "id long")
    assert frame.agg({"id": "sum"}).first()[0] == 999_000


def test_workers_run_this_python(spark):
    found = spark.sparkContext.parallelize([0], 1).map(lambda _: sys.executable).first()
    assert os.path.realpath(found) == os.path.realpath(sys.executable)


def test_a_remote_path_has_the_methods_of_a_path(spark, tmp_path):
    local = tmp_path / "ä b"
    place = RemotePath(spark, url(local))
    place.mkdir()
    (place / "x.txt").write_text("ü")
    assert (local / "x.txt").read_text("utf-8") == "ü"
    assert (place / "x.txt").read_text() == "ü"
    assert [entry.name for entry in place.iterdir()] == ["x.txt"]
    assert (place.is_dir(), (place / "x.txt").is_file(), (place / "y").exists()) == (True, True, False)
    (place / "x.txt").rename(place / "y")
    assert (local / "y").is_file()
    assert location(spark, local.as_uri()) == local


def test_a_folder_named_like_a_pattern_is_taken_as_it_stands(spark, tmp_path):
    folder = tmp_path / "a[1] {x,y} *ü"
    spark.range(5).write.parquet(url(folder))
    assert read_table(spark, folder).count() == 5
