import pytest

from meshwright.cli.options.groups import chosen_engine
from meshwright.runtime.errors import OptionError

FEW = {"nodes": 10, "topics": 10, "interests": 100}
MANY = {"nodes": 10**9, "topics": 10**9, "interests": 10**12}


@pytest.mark.parametrize(
    ("places", "master", "conf", "counts", "expected"),
    [
        (["data", "out"], None, None, FEW, "local"),
        (["file:///data", "out"], None, None, FEW, "local"),
        (["data", "out"], None, None, MANY, "spark"),
        (["data", "out"], "local[2]", None, FEW, "spark"),
        (["data", "out"], None, ["spark.driver.memory=2g"], FEW, "spark"),
        (["s3a://lake/data", "out"], None, None, None, "spark"),
        (["data", "hdfs://lake/out"], None, None, FEW, "spark"),
    ],
)
def test_auto_stays_in_this_process_while_the_data_is_local_and_fits(places, master, conf, counts, expected):
    assert chosen_engine("auto", places, master, conf, counts, "building") == expected


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_an_engine_that_is_given_is_taken(engine):
    assert chosen_engine(engine, ["data"], None, None, MANY, "building") == engine


@pytest.mark.parametrize(
    ("engine", "places", "master", "conf", "word"),
    [
        ("fast", ["data"], None, None, "choose one of auto, local, spark"),
        ("local", ["s3a://lake/data"], None, None, "use --engine spark"),
        ("local", ["data"], "spark://host:7077", None, "use --engine spark, or leave it out"),
        ("local", ["data"], None, ["spark.driver.memory=2g"], "--conf spark.driver.memory needs Spark"),
        ("auto", ["data"], None, ["memory=2g"], "write --conf spark.name=value"),
    ],
)
def test_what_does_not_go_together_is_refused(engine, places, master, conf, word):
    with pytest.raises(OptionError, match=word):
        chosen_engine(engine, places, master, conf, FEW, "building")
