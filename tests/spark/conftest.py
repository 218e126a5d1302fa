import pytest

from meshwright.pipeline.spark.session import spark_session
from meshwright.pipeline.spark.settings import short_settings
from meshwright.pipeline.spark.storage import location

_SMALL = short_settings("local[2]") | {
    "spark.driver.memory": "1g",
    # More than there are cores, so that rows are spread.
    "spark.sql.shuffle.partitions": "4",
    "spark.default.parallelism": "4",
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
