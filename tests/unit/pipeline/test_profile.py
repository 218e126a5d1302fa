import json

import numpy as np
import pytest

import meshwright as mw
from meshwright.pipeline.profile.job import Profile, profile
from meshwright.runtime.errors import DatasetError, OptionError
from tests.helpers import reseal
from tests.shelf import AWKWARD


def assert_counts_are_numpys(found: Profile, interests: mw.Interests) -> None:
    popularity = np.bincount(interests.topic_ids, minlength=interests.topic_count)
    for distribution, values in (
        (found.subscribers_per_topic, popularity),
        (found.topics_per_node, np.diff(interests.indptr)),
    ):
        keys, counts = np.unique(values, return_counts=True)
        assert distribution.values == tuple(keys.tolist())
        assert distribution.counts == tuple(counts.tolist())
    assert (found.nodes, found.topics) == (interests.node_count, interests.topic_count)
    assert found.interests == len(interests)
    names = dict(zip(interests.topics.to_pylist(), popularity.tolist(), strict=True))
    ordered = sorted(((-count, name) for name, count in names.items() if count))[:10]
    assert found.popular_topics == tuple((name, -count) for count, name in ordered)


def correlations(interests: mw.Interests, topics) -> np.ndarray:
    """What numpy says; it has no number for topics that do not vary."""
    columns = [interests.topics.to_pylist().index(name) for name in topics]
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.corrcoef(interests.to_scipy().toarray()[:, columns].astype(float), rowvar=False)
    return np.round(np.nan_to_num(found), 4)


def test_a_profile_is_what_numpy_says_of_the_whole(tmp_path):
    interests = mw.workloads.zipf(900, 60, min_subscriptions=2, max_subscriptions=20, seed=4)
    interests.write(tmp_path / "data")
    found = profile(None, tmp_path / "data")
    assert_counts_are_numpys(found, interests)
    assert found.sparsity == pytest.approx(1 - len(interests) / (900 * 60))
    expected = correlations(interests, found.correlation.topics)
    np.testing.assert_allclose(found.correlation.matrix, expected, atol=1.1e-4)
    assert not found.correlation.sampled
    assert json.loads(json.dumps(found.to_json())) == found.to_json()


def test_a_sample_of_topics_is_drawn_by_the_seed(tmp_path):
    interests = mw.workloads.unif(800, 50, subscriptions=8, seed=2)
    interests.write(tmp_path / "data")
    one = profile(None, tmp_path / "data", most_topics=12, seed=1)
    other = profile(None, tmp_path / "data", most_topics=12, seed=2)
    assert set(other.correlation.topics) != set(one.correlation.topics)
    assert one.correlation.sampled
    assert len(one.correlation.topics) == 12
    expected = correlations(interests, one.correlation.topics)
    np.testing.assert_allclose(one.correlation.matrix, expected, atol=1.1e-4)


def test_where_few_topics_have_30_subscribers_the_most_popular_are_correlated(tmp_path):
    pairs = [(f"n{node}", f"t{topic}") for topic in range(9) for node in range(topic + 1)]
    mw.Interests.from_pairs(pairs).write(tmp_path / "data")
    found = profile(None, tmp_path / "data", most_topics=3).correlation
    assert set(found.topics) == {"t6", "t7", "t8"}
    assert dict(zip(found.topics, found.subscribers, strict=True)) == {"t6": 7, "t7": 8, "t8": 9}
    # All nodes have t8, so it does not vary.
    at = found.topics.index("t8")
    assert set(found.matrix[at]) == {0.0}


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_interests_have_a_profile(tmp_path, name):
    AWKWARD[name].write(tmp_path / "data")
    found = profile(None, tmp_path / "data")
    assert_counts_are_numpys(found, AWKWARD[name])
    assert sorted(found.correlation.topics) == sorted(AWKWARD[name].topics.to_pylist())


def test_lists_that_disagree_with_the_manifest_are_refused(tmp_path):
    mw.Interests.from_pairs([("a", "x"), ("b", "x")]).write(tmp_path / "data")
    reseal(tmp_path / "data", lambda manifest: manifest["counts"].update(interests=3))
    with pytest.raises(DatasetError, match="holds 2 interests"):
        profile(None, tmp_path / "data")
    with pytest.raises(OptionError, match="from 2 to"):
        profile(None, tmp_path / "data", most_topics=1)


@pytest.fixture
def run(monkeypatch, capsys):
    """Call `meshwright profile` in this process."""
    from meshwright.cli import main

    def call(*words):
        monkeypatch.setattr("sys.argv", ["meshwright", "profile", *map(str, words)])
        return main(), *capsys.readouterr()

    return call


def test_the_command_prints_numbers_and_writes_a_page(run, tmp_path):
    mw.workloads.unif(100, 20, subscriptions=4).write(tmp_path / "data")
    page = tmp_path / "profile.html"
    code, out, _ = run(tmp_path / "data", "--json", "--out", page)
    assert code == 0
    assert json.loads(out)["interests"] == 400
    assert "<svg" in page.read_text("utf-8")
    code, out, err = run(tmp_path / "data", "--out", page)
    assert (code, out) == (2, "")
    assert "--force" in err
    code, out, _ = run(tmp_path / "data")
    assert code == 0
    assert "subscribers per topic" in out
