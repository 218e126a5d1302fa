from math import nan

import numpy as np
import pytest

import meshwright as mw
from meshwright.construct.dual import guided_by_cost
from tests import oracles
from tests.helpers import topics_by_node

ZIPF = mw.workloads.zipf(120, 40, subscriptions=8, seed=1)


def places(interests):
    """Nodes on 12 random places in a square."""
    random = np.random.default_rng(3)
    points, where = random.random((12, 2)), random.integers(0, 12, interests.node_count)
    distances = 1 + 200 * np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    names = [f"s{site}" for site in range(12)]
    site_of = {node: names[site] for node, site in zip(interests.nodes.to_pylist(), where, strict=True)}
    return mw.Costs.sites(mw.Costs.from_matrix(distances, names), site_of, local=1.0)


def built(name, seed=0, **options):
    return mw.build(ZIPF, name, costs=places(ZIPF), seed=seed, **options)


@pytest.mark.parametrize("seed", [0, 1])
def test_dg_maw_is_cheaper_than_what_it_begins_with(seed):
    others = min(built(name, seed).costs.sum() for name in ("gr-maw", "pdrd-maw"))
    found = built("dg-maw", seed)
    assert oracles.is_topic_connected(topics_by_node(ZIPF), map(tuple, found.edges.tolist()))
    assert found.costs.sum() < 0.97 * others
    assert 0.97 * found.costs.sum() < found.facts["lower_bound_cost"] <= found.costs.sum()


def test_where_the_dive_finds_nothing_better_the_cheaper_start_is_given(monkeypatch):
    monkeypatch.setattr(guided_by_cost._Dive, "_keep_best", lambda self, following: None)
    starts = [built(name, reverse_delete=True).costs.sum() for name in ("gr-maw", "pd-maw")]
    assert built("dg-maw", budget=5).costs.sum() == min(starts)


def test_every_link_is_needed():
    edges, topics_of = built("dg-maw", budget=50).edges.tolist(), topics_by_node(ZIPF)
    for edge in edges:
        assert not oracles.is_topic_connected(topics_of, [other for other in edges if other != edge])


def test_a_unit_of_costs_changes_nothing_but_the_cost():
    interests = mw.workloads.unif(30, 8, subscriptions=4, seed=1)
    matrix, names = places(interests).of(interests).to_matrix(), interests.nodes.to_pylist()
    small, large = (
        mw.build(interests, "dg-maw", costs=mw.Costs.from_matrix(matrix * unit, names), budget=60)
        for unit in (1.0, 2.0**40)
    )
    assert np.array_equal(small.edges, large.edges)
    assert large.facts["lower_bound_cost"] == small.facts["lower_bound_cost"] * 2.0**40


@pytest.mark.parametrize("budget", [0, -5, 1.5, nan, True, "0s", "soon"])
def test_a_budget_of_nothing_is_refused(budget):
    with pytest.raises(mw.OptionError, match=r"the budget is .*; give a whole number of steps from 1 on"):
        built("dg-maw", budget=budget)


def test_seconds_are_a_budget():
    assert built("dg-maw", budget="0.2s").costs.sum() <= built("gr-maw").costs.sum()
