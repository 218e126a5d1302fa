"""The likely lower bound: exact overlaps of sampled nodes, and a mean that is hardly ever too high."""

import numpy as np
import pytest

from meshwright import build, evaluate, workloads
from meshwright.construct import overlaps
from meshwright.metrics import bounds, sampled_bound
from meshwright.metrics.sampled_bound import choose_samples, likely_bound


def shares(interests):
    """By node, the sum over its topics of one over the most topics that it shares with another of them."""
    own = [
        set(interests.topic_ids[a:b].tolist())
        for a, b in zip(interests.indptr[:-1], interests.indptr[1:], strict=True)
    ]
    found = []
    for v, topics in enumerate(own):
        most = {
            t: max((len(topics & o) for u, o in enumerate(own) if u != v and t in o), default=0)
            for t in topics
        }
        found.append(sum(1 / count for count in most.values() if count))
    return np.array(found)


@pytest.mark.parametrize("law", [workloads.unif, workloads.zipf], ids=["unif", "zipf"])
def test_the_bound_is_that_of_the_sampled_nodes_by_brute_force(law, monkeypatch):
    monkeypatch.setattr(sampled_bound, "_FEWEST_SAMPLES", 1)
    interests = law(80, 30, min_subscriptions=2, max_subscriptions=9, seed=3)
    nodes = choose_samples(np.diff(interests.topic_indptr), 80)
    values = np.minimum(shares(interests)[nodes], 4)
    word = np.log(2 / sampled_bound.DOUBT)
    least = values.mean() - np.sqrt(2 * values.var(ddof=1) * word / len(nodes))
    least -= 7 * 4 * word / (3 * (len(nodes) - 1)) + 30 / 80
    assert likely_bound(interests).average_degree == pytest.approx(max(0, 2 * least))


def test_the_bound_is_said_where_overlaps_take_too_long_and_no_overlay_is_below_it(monkeypatch):
    interests = workloads.unif(2_000, 60, subscriptions=12, seed=1)
    overlay = build(interests, "gm")
    assert "likely_lower_bound_average_degree" not in evaluate(overlay, diameters=False).to_json()
    monkeypatch.setattr(overlaps, "_MOST_STEPS", 0)
    monkeypatch.setattr(bounds, "_MOST_PAIRS", 0)
    found = evaluate(overlay, diameters=False)
    assert found.lower_bound_average_degree < found.likely_lower_bound_average_degree < found.average_degree
    assert found.to_json()["likely_lower_bound_doubt"] == 1e-6


def test_an_estimate_is_hardly_ever_above_the_mean():
    rng = np.random.default_rng(1)
    for values in (rng.integers(0, 2, 10_000) * 4.0, rng.random(10_000) ** 9 * 4):
        for _ in range(200):
            assert sampled_bound._likely_mean(rng.choice(values, 500), 4.0) <= values.mean()


def test_no_more_than_a_hundred_steps_are_taken_for_each_interest():
    assert len(choose_samples(np.array([10**6]), 10**6)) == 0
    assert len(choose_samples(np.full(1_000, 28_000), 10**6)) == 2048
    few = choose_samples(np.full(10, 200_000), 10**6)
    assert len(few) * 10 * 200_000**2 / 10**6 <= 100 * 2 * 10**6
    assert len(choose_samples(np.zeros(3, np.int64), 5)) == 0
