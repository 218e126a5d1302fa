import pytest

from meshwright.pipeline.spark.session import spark_session
from meshwright.pipeline.spark.storage import location
from tests.spark.cluster import FOR_SHORT_JOBS

_SMALL = {
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "4",
    "spark.default.parallelism": "4",
    "spark.driver.defaultJavaOptions": FOR_SHORT_JOBS,
    # Nor does compiling each query, in whole or in part; the test on a cluster does compile its parts.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


@pytest.fixture(scope="session")
def spark():
    with spark_session("local[2]", _SMALL) as session:
        yield session


@pytest.fixture
def lake(spark, tmp_path):
    """A place that only Hadoop can reach, and the folder behind it."""
    conf = spark.sparkContext._jsc.hadoopConfiguration()
    conf.set("fs.viewfs.impl.disable.cache", "true")
    conf.set("fs.viewfs.mounttable.lake.link./data", tmp_path.as_uri())
    return location(spark, "viewfs://lake/data/ä b")
