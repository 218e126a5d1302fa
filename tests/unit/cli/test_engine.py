import pytest

from meshwright.cli.engine import chosen_engine
from meshwright.errors import OptionError

FEW = {"nodes": 10, "topics": 10, "interests": 100}
MANY = {"nodes": 10**9, "topics": 10**9, "interests": 10**12}


@pytest.mark.parametrize(
    ("places", "master", "counts", "expected"),
    [
        (["data", "out"], None, FEW, "local"),
        (["file:///data", "out"], None, FEW, "local"),
        (["data", "out"], None, MANY, "spark"),
        (["data", "out"], "local[2]", FEW, "spark"),
        (["s3a://lake/data", "out"], None, None, "spark"),
        (["data", "hdfs://lake/out"], None, FEW, "spark"),
    ],
)
def test_auto_stays_in_this_process_while_the_data_is_local_and_fits(places, master, counts, expected):
    assert chosen_engine("auto", places, master, counts, 60) == expected


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_an_engine_that_is_given_is_taken(engine):
    assert chosen_engine(engine, ["data"], None, MANY, 60) == engine


@pytest.mark.parametrize(
    ("engine", "places", "master", "word"),
    [
        ("fast", ["data"], None, "choose one of auto, local, spark"),
        ("local", ["s3a://lake/data"], None, "use --engine spark"),
        ("local", ["data"], "spark://host:7077", "use --engine spark, or leave it out"),
    ],
)
def test_what_does_not_go_together_is_refused(engine, places, master, word):
    with pytest.raises(OptionError, match=word):
        chosen_engine(engine, places, master, FEW, 60)
