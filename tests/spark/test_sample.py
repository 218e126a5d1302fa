from contextlib import contextmanager

import pytest

import meshwright as mw
from meshwright.pipeline.sample.bfs import BfsOptions
from meshwright.pipeline.sample.job import sample
from meshwright.pipeline.sample.universe import UniverseOptions
from meshwright.pipeline.spark.tables import rank
from meshwright.runtime.errors import InputError
from tests.helpers import scatter
from tests.plain_samples import social, with_sites, xxh64
from tests.raw_files import contents


def test_ranks_are_xxh64_over_long_integers(spark):
    rows = (
        spark.range(20).select("id", rank(123, "id").alias("one"), rank(5, "id", "id").alias("two")).collect()
    )
    assert [row.one for row in rows] == [xxh64(123, row.id) for row in rows]
    assert [row.two for row in rows] == [xxh64(5, row.id, row.id) for row in rows]


@contextmanager
def other_partitions(spark):
    """Plans as on another machine."""
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "3")
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    try:
        yield
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before)
        spark.conf.unset("spark.sql.adaptive.enabled")


@pytest.mark.parametrize(
    "options",
    [
        BfsOptions(users=12, starts=2),
        UniverseOptions(seeds=4, least_subscribers=3, median_of=6),
        UniverseOptions(seeds=3, grow="own", nodes_of="grown", topics_of="nodes", least_subscribers=2),
    ],
)
def test_spark_writes_the_sample_that_this_process_writes_whatever_the_files(spark, tmp_path, options):
    with_sites(social(40, 90, 3)).write(tmp_path / "data")
    scatter(tmp_path / "data", "lists", "nodes", "topics")
    sample(None, tmp_path / "data", tmp_path / "here", options, seed=3)
    with other_partitions(spark):
        sample(spark, tmp_path / "data", tmp_path / "spark", options, seed=3)
    here, there = contents(tmp_path / "here"), contents(tmp_path / "spark")
    assert there.manifest == here.manifest
    for name in here.tables:
        assert there.tables[name].equals(here.tables[name]), name
    assert {entry.name for entry in (tmp_path / "spark").iterdir()} == {*here.tables, "manifest.json"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (UniverseOptions(seeds=2, grow="own"), "no topic has the same name as a node"),
        (UniverseOptions(seeds=2), "give more seeds"),
        (BfsOptions(users=2, start=("nobody",)), "no topic has the same name as a node"),
    ],
)
def test_a_sample_that_can_not_be_is_refused_and_nothing_left(spark, tmp_path, options, words):
    mw.Interests.from_pairs([("a", "x"), ("b", "x"), ("c", "y")]).write(tmp_path / "data")
    with pytest.raises(InputError, match=words):
        sample(spark, tmp_path / "data", tmp_path / "out", options)
    assert not (tmp_path / "out").exists()
