import numpy as np
import pytest

import meshwright as mw
from meshwright.construct.dual import bound
from meshwright.construct.dual.bound import find_certificate
from meshwright.construct.dual.bound_by_cost import find_cost_certificate
from meshwright.metrics.certificates import as_file
from tests import oracles_dual
from tests.helpers import topics_by_node


def proves(interests, found, costs):
    file = as_file(find_certificate(interests, steps=0), interests, found)
    return oracles_dual.proves_cost(topics_by_node(interests), file["cost"], costs.to_matrix())


def random_costs(interests, seed, spread=3.0):
    """Costs over some orders of magnitude."""
    names = interests.nodes.to_pylist()
    matrix = np.exp(spread * np.random.default_rng(seed).normal(size=(len(names), len(names))))
    return mw.Costs.from_matrix(np.maximum(matrix, matrix.T) * (1 - np.eye(len(names))), names)


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_is_near_the_optimum_and_not_above_it(seed):
    interests = mw.workloads.zipf(16, 10, subscriptions=3, seed=seed)
    costs = random_costs(interests, seed, spread=1.0)
    found = find_cost_certificate(interests, costs, steps=300)
    least = mw.build(interests, "exact", costs=costs, objective="cost")
    assert least.facts["optimal"]
    assert proves(interests, found, costs)
    assert 0.9 * least.costs.sum() <= found.cost <= least.costs.sum() * (1 + 1e-9)


@pytest.mark.parametrize(("steps", "spread"), [(0, 1.0), (60, 3.0), (60, 12.0)])
def test_a_certificate_is_valid_whatever_the_steps_and_the_spread_of_costs(steps, spread):
    interests = mw.workloads.zipf(50, 20, subscriptions=5, seed=1)
    costs = random_costs(interests, 1, spread)
    found = find_cost_certificate(interests, costs, steps=steps)
    assert proves(interests, found, costs)
    assert 0 < found.cost <= mw.build(interests, "gr-maw", costs=costs).costs.sum()


@pytest.mark.parametrize("spread", [1.0, 60.0])
def test_a_certificate_stays_valid_where_pairs_are_left_that_exceed_their_cost(monkeypatch, spread):
    interests = mw.workloads.unif(60, 15, subscriptions=5, seed=1)
    costs = random_costs(interests, 2, spread)
    monkeypatch.setattr(bound, "_MOST_AT_LAST", 1)
    monkeypatch.setattr(bound, "_LAST_ROUNDS", 1)
    assert proves(interests, find_cost_certificate(interests, costs, steps=20), costs)


def test_equal_costs_prove_what_links_prove_without_demands():
    interests = mw.workloads.expo(80, 40, subscriptions=6, seed=1)
    equal = mw.Costs.clusters(dict.fromkeys(interests.nodes.to_pylist(), "one"), inner=3.0, outer=9.0)
    by_cost = find_cost_certificate(interests, equal, steps=300).cost / 3
    links = find_certificate(interests, steps=300).total / bound.SCALE
    assert abs(by_cost / links - 1) < 0.02


def test_interests_without_a_shared_topic_cost_nothing():
    interests = mw.Interests.from_pairs([("a", "t"), ("b", "s")])
    assert find_cost_certificate(interests, random_costs(interests, 1), steps=5).cost == 0.0
