import pytest

import meshwright as mw
from meshwright.pipeline.profile.job import profile
from meshwright.runtime.errors import DatasetError
from tests.helpers import reseal, scatter


@pytest.mark.parametrize("most_topics", [12, 45, 400])
def test_spark_finds_the_profile_that_this_process_finds_whatever_the_files(spark, tmp_path, most_topics):
    interests = mw.workloads.zipf(800, 50, min_subscriptions=2, max_subscriptions=12, seed=2)
    interests.write(tmp_path / "data")
    here = profile(None, tmp_path / "data", most_topics=most_topics, seed=1)
    scatter(tmp_path / "data", "lists")
    assert profile(spark, tmp_path / "data", most_topics=most_topics, seed=1) == here


def test_lists_that_disagree_with_the_manifest_are_refused(spark, tmp_path):
    mw.Interests.from_pairs([("a", "x"), ("b", "x")]).write(tmp_path / "data")
    reseal(tmp_path / "data", lambda manifest: manifest["counts"].update(interests=3))
    with pytest.raises(DatasetError, match="holds 2 interests"):
        profile(spark, tmp_path / "data")
