from math import nan
from typing import get_type_hints

import numpy as np
import pytest

import meshwright as mw
from meshwright.cli.common import parse_settings
from meshwright.construct.dual import guided
from meshwright.construct.dual.guided import default_steps
from meshwright.construct.options import DgOptions
from tests import oracles
from tests.helpers import topics_by_node

WORKLOADS = {
    "unif": mw.workloads.unif(120, 20, subscriptions=6, seed=1),
    "zipf": mw.workloads.zipf(120, 40, subscriptions=8, seed=1),
    "expo": mw.workloads.expo(120, 40, subscriptions=8, seed=1),
}


@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("seed", [0, 1])
def test_dg_connects_every_topic_with_fewer_links_than_gm(name, seed):
    interests = WORKLOADS[name]
    gm, dg = (mw.build(interests, algorithm, seed=seed) for algorithm in ("gm", "dg"))
    assert oracles.is_topic_connected(topics_by_node(interests), map(tuple, dg.edges.tolist()))
    assert len(dg) < 0.98 * len(gm)
    assert dg.facts["gm_edges"] == len(gm)
    assert 2 * len(dg) / len(interests.nodes) >= mw.evaluate(gm, bound="tight").lower_bound_average_degree


def test_every_link_is_needed():
    interests = WORKLOADS["zipf"]
    edges, topics_of = mw.build(interests, "dg").edges.tolist(), topics_by_node(interests)
    for edge in edges:
        assert not oracles.is_topic_connected(topics_of, [other for other in edges if other != edge])


def test_one_step_is_enough_for_an_overlay_that_is_no_larger_than_gms():
    interests = WORKLOADS["expo"]
    assert len(mw.build(interests, "dg", budget=1)) <= len(mw.build(interests, "gm"))


def test_where_nothing_better_is_found_gm_is_given(monkeypatch):
    interests = WORKLOADS["unif"]
    monkeypatch.setattr(guided, "_prices_pay", lambda interests: False)
    monkeypatch.setattr(guided.Dive, "_keep_best", lambda self, following: None)
    monkeypatch.setattr(guided, "exchanged", lambda interests, edges, *given, **more: edges)
    gm = mw.build(interests, "gm", reverse_delete=True)
    assert np.array_equal(mw.build(interests, "dg", budget=5).edges, gm.edges)


def test_where_topic_prices_help_their_overlay_is_the_beginning(monkeypatch):
    interests = mw.workloads.expo(200, 80, subscriptions=10, seed=1)
    monkeypatch.setattr(guided.Dive, "_keep_best", lambda self, following: None)
    monkeypatch.setattr(guided, "exchanged", lambda interests, edges, *given, **more: edges)
    gm = mw.build(interests, "gm", reverse_delete=True)
    assert len(mw.build(interests, "dg", budget=5)) < len(gm)


def test_exchanges_leave_fewer_links(monkeypatch):
    interests = mw.workloads.unif(300, 60, subscriptions=10, seed=1)
    found = len(mw.build(interests, "dg"))
    monkeypatch.setattr(guided, "exchanged", lambda interests, edges, *given, **more: edges)
    assert found < len(mw.build(interests, "dg"))


def test_a_larger_overlay_on_the_way_is_not_kept():
    interests = WORKLOADS["unif"]
    best, larger = (mw.build(interests, name).edges.copy() for name in ("dg", "gm"))
    dive = guided.Dive(interests, best, 0, None, None)
    dive._keep_best(larger)
    assert dive.best is best


def test_more_steps_give_fewer_links():
    interests = mw.workloads.expo(400, 200, subscriptions=15, seed=1)
    few, many = (len(mw.build(interests, "dg", budget=steps)) for steps in (20, 400))
    assert many < 0.98 * few


def test_a_budget_in_seconds_gives_a_good_overlay():
    interests = WORKLOADS["unif"]
    assert len(mw.build(interests, "dg", budget="0.5s")) <= len(mw.build(interests, "gm"))


def test_the_default_budget_falls_with_the_interests_and_has_limits():
    counts = (0, 10, 20_000, 100_000, 400_000, 10**9)
    assert [default_steps(count, 5_000) for count in counts] == [600, 600, 600, 600, 250, 150]
    assert [default_steps(count, 5_001) for count in counts] == [200, 200, 200, 200, 150, 150]


def test_many_nodes_get_fewer_looks_and_rounds(monkeypatch):
    seen = []
    monkeypatch.setattr(guided, "_MANY_NODES", 119)
    monkeypatch.setattr(guided.Dive, "run", lambda self, *given: seen.append((self.looks, self.rounds)))
    mw.build(WORKLOADS["unif"], "dg", budget=1)
    monkeypatch.setattr(guided, "_MANY_NODES", 120)
    mw.build(WORKLOADS["unif"], "dg", budget=1)
    assert seen == [(1, 10), (3, 20)]


@pytest.mark.parametrize(
    "budget", [0, -1, 1.5, nan, True, "", "s", "0s", "-1s", "nans", "infs", "10", "1e3s"]
)
def test_a_budget_of_nothing_is_refused(budget):
    with pytest.raises(
        mw.OptionError, match=r'give a whole number of steps from 1 on, or seconds such as "30s"'
    ):
        mw.build(WORKLOADS["unif"], "dg", budget=budget)


@pytest.mark.parametrize(("text", "budget"), [("20", 20), ("1.5s", "1.5s"), ("none", None)])
def test_a_budget_is_read_from_the_command_line(text, budget):
    read = parse_settings([f"budget={text}"], get_type_hints(DgOptions))
    assert read == {"budget": budget}
    assert DgOptions(**read).steps == (20 if text == "20" else None)
    assert DgOptions(**read).seconds == (1.5 if text == "1.5s" else None)


def test_what_does_not_fit_into_memory_is_refused_with_the_way_out():
    with pytest.raises(mw.CapacityError, match="use "):
        mw.build(WORKLOADS["unif"], "dg", memory_limit=100_000)


def test_seeds_give_different_overlays():
    interests = WORKLOADS["unif"]
    one, other = (mw.build(interests, "dg", seed=seed, budget=30).edges for seed in (1, 2))
    assert not np.array_equal(one, other)
