from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from meshwright.runtime import parallel
from meshwright.runtime.errors import OptionError
from meshwright.workloads import expo, unif, zipf
from meshwright.workloads.synthetic import NODES_PER_STREAM, law_of

POPULARITY = {
    unif: np.ones,
    zipf: lambda topics: np.arange(1, topics + 1) ** -2.0,
    expo: lambda topics: np.exp(-5.0 * np.arange(1, topics + 1) / topics),
}
every_law = pytest.mark.parametrize("law", POPULARITY, ids=lambda law: law.__name__)


def probability(law, topics):
    weight = POPULARITY[law](topics)
    return weight / weight.sum()


def subscribers(interests):
    return np.bincount(interests.topic_ids, minlength=interests.topic_count)


def same(one, other):
    return np.array_equal(one.indptr, other.indptr) and np.array_equal(one.topic_ids, other.topic_ids)


@every_law
def test_topics_are_as_popular_as_with_numpys_choice(law):
    nodes, topics, size = 4_000, 40, 8
    counts = subscribers(law(nodes, topics, subscriptions=size, seed=4))
    rng, q = np.random.default_rng(11), probability(law, topics)
    drawn = [rng.choice(topics, size, replace=False, p=q, shuffle=False) for _ in range(nodes)]
    oracle = np.bincount(np.concatenate(drawn), minlength=topics)
    share = (counts + oracle) / (2 * nodes)
    deviation = np.sqrt(2 * nodes * share * (1 - share)) + 1e-9
    # 40 topics, 3 laws: one in ten thousand runs of seeds would pass 5 deviations by chance.
    assert (np.abs(counts - oracle) <= 5 * deviation).all()


@every_law
def test_independent_draws_take_each_topic_with_its_own_probability(law):
    nodes, topics, size = 10_000, 30, 6
    interests = law(nodes, topics, subscriptions=size, independent=True, seed=2)
    counts = subscribers(interests)
    for count, q in zip(counts, probability(law, topics), strict=True):
        assert stats.binomtest(int(count), nodes, min(1.0, size * q)).pvalue > 1e-4
    taken = np.zeros((nodes, topics), bool)
    taken[np.repeat(np.arange(nodes), np.diff(interests.indptr)), interests.topic_ids] = True
    drawn_by_coin = (counts > 0) & (counts < nodes)
    correlation = np.corrcoef(taken[:, drawn_by_coin].T)
    np.fill_diagonal(correlation, 0.0)
    assert np.abs(correlation).max() < 5 / np.sqrt(nodes)


@every_law
def test_fixed_sizes_are_exact(law):
    assert set(np.diff(law(50, 20, subscriptions=7).indptr)) == {7}


@every_law
def test_power_law_sizes_do_not_depend_on_the_popularity_of_topics(law):
    sizes = np.diff(law(30_000, 100, min_subscriptions=2, max_subscriptions=9, seed=3).indptr)
    weight = np.array([k**-2.0 for k in range(2, 10)])
    observed = np.bincount(sizes, minlength=10)[2:]
    assert stats.chisquare(observed, weight / weight.sum() * sizes.size).pvalue > 1e-3
    np.testing.assert_array_equal(
        sizes, np.diff(unif(30_000, 100, min_subscriptions=2, max_subscriptions=9, seed=3).indptr)
    )


@every_law
@pytest.mark.parametrize("independent", [False, True])
def test_the_number_of_cores_does_not_matter(law, independent, monkeypatch):
    def make(seed):
        return law(2 * NODES_PER_STREAM + 1, 30, subscriptions=5, independent=independent, seed=seed)

    several = make(seed=6)
    monkeypatch.setattr(parallel, "threads", lambda: 1)
    assert same(several, make(seed=6))
    assert not same(several, make(seed=7))


def test_runs_of_nodes_have_streams_of_their_own():
    interests = unif(2 * NODES_PER_STREAM, 1_000, subscriptions=20)
    first, second = interests.topic_ids.reshape(2, -1)
    assert (first == second).mean() < 0.1


def test_a_seed_means_the_same_interests_in_every_release():
    interests = unif(4, 100, subscriptions=5, seed=42)
    assert interests.topic_ids.reshape(4, 5).tolist() == [
        [50, 51, 80, 89, 90],
        [10, 20, 45, 46, 60],
        [21, 42, 45, 63, 97],
        [17, 37, 57, 75, 77],
    ]


def test_names_are_padded_to_one_width():
    interests = unif(101, 10, subscriptions=1)
    assert interests.nodes[0].as_py() == "n000"
    assert interests.nodes[100].as_py() == "n100"
    assert interests.topics.to_pylist() == [f"t{i}" for i in range(10)]


def test_too_little_room_for_independent_draws_changes_nothing(monkeypatch):
    ample = expo(5_000, 20, subscriptions=4, independent=True, seed=1)
    monkeypatch.setattr("meshwright.workloads.synthetic._SPARE_DEVIATIONS", -50.0)
    assert same(ample, expo(5_000, 20, subscriptions=4, independent=True, seed=1))


@every_law
def test_no_nodes_give_empty_interests_that_know_their_topics(law):
    for options in ({}, {"subscriptions": 3}, {"subscriptions": 3, "independent": True}):
        interests = law(0, 5, **options)
        assert (interests.node_count, interests.topic_count, len(interests)) == (0, 5, 0)


def test_nodes_may_have_no_topics_and_all_topics():
    assert len(unif(5, 3, subscriptions=0)) == 0
    assert len(zipf(5, 300, subscriptions=300)) == 1_500


@pytest.mark.parametrize(
    ("law", "options", "message"),
    [
        (unif, {"nodes": -1}, "nodes is -1; give a whole number from 0 to"),
        (unif, {"nodes": 10.0}, "nodes is 10.0;"),
        (unif, {"nodes": 10**9}, "nodes is 1000000000; give a whole number from 0 to 100000000"),
        (unif, {"topics": 0}, "topics is 0; give a whole number from 1"),
        (unif, {"seed": -1}, "seed is -1;"),
        (unif, {"topics": 20, "max_subscriptions": 21}, "max_subscriptions is 21; .* 1 to 20"),
        (
            zipf,
            {"alpha": 0},
            "alpha is 0; give a number above 0, at most 20; for equally popular topics, use unif",
        ),
        (zipf, {"alpha": -2.0}, "alpha is -2.0;"),
        (zipf, {"alpha": float("nan")}, "alpha is nan;"),
        (zipf, {"alpha": float("inf")}, "alpha is inf;"),
        (zipf, {"alpha": "2"}, "alpha is '2';"),
        (
            expo,
            {"decay": 0.0},
            "decay is 0.0; give a number above 0, at most 500; for equally popular topics, use unif",
        ),
        (expo, {"decay": float("nan")}, "decay is nan;"),
    ],
)
def test_what_is_not_legal_is_named_with_the_range_and_the_way_out(law, options, message):
    with pytest.raises(OptionError, match=message):
        law(**options)


class Recorder:
    def __init__(self):
        self.calls = []

    def start(self, label, total):
        self.calls.append((label, total))

    def advance(self, done):
        assert done <= self.calls[0][1]

    def finish(self):
        self.calls.append("finished")


@pytest.mark.parametrize("independent", [False, True])
def test_progress_is_told_what_there_is_to_do_and_that_it_is_done(independent):
    recorder = Recorder()
    unif(50, 10, subscriptions=2, independent=independent, progress=recorder)
    assert recorder.calls == [("generate", 50), "finished"]


@every_law
@pytest.mark.parametrize(
    "options", [{"subscriptions": 3}, {}, {"subscriptions": 3, "independent": True}], ids=str
)
def test_nodes_drawn_in_pieces_are_those_drawn_together(law, options):
    nodes = 2 * NODES_PER_STREAM + 100
    whole = law(nodes, 20, seed=7, **options)
    drawn = law_of(law.__name__, nodes, 20, 7, options)
    cuts = [0, NODES_PER_STREAM, nodes]
    pieces = [drawn.lists(first, last) for first, last in pairwise(cuts)]
    assert np.array_equal(np.concatenate([topics for _, topics in pieces]), whole.topic_ids)
    assert np.array_equal(np.concatenate([np.diff(indptr) for indptr, _ in pieces]), np.diff(whole.indptr))
