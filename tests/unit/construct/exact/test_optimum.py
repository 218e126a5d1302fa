from math import inf, nan

import numpy as np
import pytest

import meshwright as mw
from meshwright.construct.exact import optimum
from tests import oracles, oracles_weighted
from tests.helpers import interests_of, topics_by_node

UNIF = mw.workloads.unif(30, 10, subscriptions=4, seed=1)


@pytest.mark.parametrize("budget", [0, -1, nan, inf, True, None, "60", "0s", "soon"])
def test_a_budget_that_is_no_time_is_refused(budget):
    with pytest.raises(mw.OptionError, match=r'the budget is .*; give seconds above 0, such as "30s"'):
        mw.build(UNIF, "exact", budget=budget)


def test_a_budget_may_be_a_number_or_text():
    number, text = (mw.build(UNIF, "exact", budget=budget) for budget in (36_000, "36000s"))
    assert np.array_equal(number.edges, text.edges)


def test_an_unknown_objective_is_refused():
    with pytest.raises(mw.OptionError, match="the option objective is 'price'"):
        mw.build(UNIF, "exact", objective="price")


def test_the_cost_is_no_objective_without_costs():
    with pytest.raises(mw.OptionError, match="the objective is the cost, but there are no costs; give costs"):
        mw.build(UNIF, "exact", objective="cost")


@pytest.mark.parametrize(("nodes", "told"), [(330, "54,285"), (450, "over 50,000")])
def test_too_many_pairs_are_refused_with_their_number_and_a_way_out(nodes, told):
    interests = mw.workloads.unif(nodes, 4, subscriptions=3, seed=1)
    words = f"of {nodes} nodes, {told} pairs of nodes share a topic, and exact takes at most 50,000; use dg"
    with pytest.raises(mw.CapacityError, match=words):
        mw.build(interests, "exact")


def test_without_the_solver_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(optimum, "find_spec", lambda name: None)
    with pytest.raises(mw.OptionError, match=r"exact needs highspy, .*; install meshwright\[exact\]"):
        mw.build(UNIF, "exact")


def test_nodes_of_one_topic_need_no_search():
    built = mw.build(interests_of([{0, 1, 2}, *({0} for _ in range(500))]), "exact")
    assert len(built) == built.facts["linked_at_once"] == built.facts["lower_bound"] == 500


def test_once_the_budget_is_spent_the_best_so_far_and_a_bound_are_given():
    interests = mw.workloads.unif(60, 12, subscriptions=4, seed=1)
    built = mw.build(interests, "exact", budget=1e-9)
    assert built.facts["optimal"] is False
    assert 81 <= built.facts["lower_bound"] <= 82 < len(built) <= 90
    assert oracles.is_topic_connected(topics_by_node(interests), map(tuple, built.edges.tolist()))


def test_a_node_of_three_topics_that_another_has_may_need_several_links():
    """To link such a node v to the other one, u, at once, as for two topics, would be wrong."""
    topics_of = {
        "u": "123abc",
        "v": "123",
        **{"w1": "12d", "w2": "23e", "w3": "31f"},
        **{"x1": "1ad", "x2": "2be", "x3": "3cf"},
    }
    pairs = [(node, topic) for node, own in topics_of.items() for topic in own]
    built = mw.build(mw.Interests.from_pairs(pairs), "exact")
    linked = {frozenset(edge) for edge in built.to_pandas()[["source", "target"]].values.tolist()}
    assert len(linked) == 9
    assert {edge for edge in linked if "v" in edge} == {frozenset({"v", w}) for w in ("w1", "w2", "w3")}
    without_v = mw.Interests.from_pairs([pair for pair in pairs if pair[0] != "v"])
    assert len(mw.build(without_v, "exact")) + 1 == 10


def test_exact_finds_what_a_program_with_all_cuts_finds():
    topics_of = topics_by_node(mw.workloads.zipf(8, 6, subscriptions=3, seed=3))
    interests, numbers = interests_of(list(topics_of.values())), np.arange(8)
    matrix = 1.0 + 7 * np.add.outer(numbers, numbers) % 11
    costs = mw.Costs.from_matrix(matrix, interests.nodes.to_pylist())
    by_links, by_cost = (mw.build(interests, "exact", costs=costs, objective=to) for to in ("links", "cost"))
    assert len(by_links) == round(oracles_weighted.least_cost(topics_of, lambda u, v: 1.0), 6)
    assert by_cost.costs.sum() == round(oracles_weighted.least_cost(topics_of, lambda u, v: matrix[u, v]), 6)
    assert by_cost.costs.sum() < by_links.costs.sum()
