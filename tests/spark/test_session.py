import os
import sys

import pyarrow as pa


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
