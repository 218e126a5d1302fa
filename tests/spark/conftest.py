import pytest

from meshwright.pipeline.engine.session import spark_session

_SMALL = {
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "4",
    "spark.default.parallelism": "4",
    # Jobs of a few rows are over before Java's second compiler pays: half the processor time, measured.
    "spark.driver.defaultJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    # Nor does compiling each query; commands that tests start as processes of their own do compile.
    "spark.sql.codegen.wholeStage": "false",
}


@pytest.fixture(scope="session")
def spark():
    with spark_session("local[2]", _SMALL) as session:
        yield session
