import pytest

from meshwright import Interests
from meshwright.cli.options.groups import chosen_engine, fits_here
from meshwright.runtime import memory
from meshwright.runtime.errors import DatasetError, OptionError


@pytest.mark.parametrize(
    ("places", "master", "conf", "fits", "expected"),
    [
        (["data", "out"], None, None, True, "local"),
        (["file:///data", "out"], None, None, True, "local"),
        (["data", "out"], None, None, False, "spark"),
        (["data", "out"], "local[2]", None, True, "spark"),
        (["data", "out"], None, ["spark.driver.memory=2g"], True, "spark"),
        (["s3a://lake/data", "out"], None, None, False, "spark"),
        (["data", "hdfs://lake/out"], None, None, True, "spark"),
    ],
)
def test_auto_stays_in_this_process_while_the_data_is_local_and_fits(places, master, conf, fits, expected):
    assert chosen_engine("auto", places, master, conf, fits) == expected


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_an_engine_that_is_given_is_taken(engine):
    assert chosen_engine(engine, ["data"], None, None, False) == engine


@pytest.mark.parametrize(
    ("engine", "places", "master", "conf", "word"),
    [
        ("fast", ["data"], None, None, "choose among auto, local, spark"),
        ("local", ["s3a://lake/data"], None, None, "use --engine spark"),
        ("local", ["data"], "spark://host:7077", None, "use --engine spark, or leave it out"),
        ("local", ["data"], None, ["spark.driver.memory=2g"], "--conf spark.driver.memory needs Spark"),
        ("auto", ["data"], None, ["memory=2g"], "write --conf spark.name=value"),
    ],
)
def test_what_does_not_go_together_is_refused(engine, places, master, conf, word):
    with pytest.raises(OptionError, match=word):
        chosen_engine(engine, places, master, conf, True)


def test_a_dataset_fits_while_it_is_here_and_leaves_a_fifth_of_the_memory(tmp_path, monkeypatch):
    Interests.from_pairs([("a", "x"), ("b", "x")]).write(tmp_path / "data")
    assert fits_here("building", str(tmp_path / "data"))
    assert not fits_here("building", "s3a://lake/data")
    monkeypatch.setattr(memory, "free_memory", lambda: 400)
    assert not fits_here("building", str(tmp_path / "data"))
    with pytest.raises(DatasetError, match="no such"):
        fits_here("building", str(tmp_path / "no"))
