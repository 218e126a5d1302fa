"""The algorithms for links that cost, on whatever small interests and costs hypothesis finds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from meshwright.construct.greedy import greedy_merge, tie_order
from meshwright.construct.options import DcMawOptions, GmOptions, GrMawOptions, PdMawOptions, TrMawOptions
from meshwright.construct.reverse_delete import reverse_delete
from meshwright.construct.weighted.by_price import (
    primal_dual_reverse_delete,
    take_cheapest,
    weighted_greedy,
)
from meshwright.construct.weighted.dc_maw import divide, weighted_divide_and_conquer
from meshwright.construct.weighted.tr_maw import tree_per_topic
from meshwright.kernels.greedy.prices import TIGHT
from meshwright.model.costs.costs import Costs
from tests import oracles, oracles_weighted
from tests.helpers import interests_of, topics_by_node
from tests.strategies import topic_sets

SEEDS = st.integers(0, 3)


def pairs(edges):
    return [tuple(edge) for edge in np.asarray(edges).reshape(-1, 2).tolist()]


def normal(edges):
    return sorted((min(edge), max(edge)) for edge in edges)


@st.composite
def priced_systems(draw, max_nodes=7, max_topics=6, highest=9):
    """Interests and costs: a matrix, sites with a local cost, or clusters."""
    interests = interests_of(draw(topic_sets(max_nodes, max_topics)))
    count = interests.node_count
    names = interests.nodes.to_pylist()
    price = st.integers(1, highest)

    def matrix(size):
        square = np.zeros((size, size))
        for u in range(size):
            for v in range(u):
                square[u, v] = square[v, u] = draw(price)
        return square

    kind = draw(st.sampled_from(["matrix", "sites", "clusters"])) if count else "matrix"
    if kind == "matrix":
        return interests, Costs.from_matrix(matrix(count), names)
    site_of = {name: f"s{draw(st.integers(0, 2))}" for name in names}
    if kind == "clusters":
        return interests, Costs.clusters(site_of, inner=draw(price), outer=draw(price))
    between = Costs.from_matrix(matrix(3), ["s0", "s1", "s2"])
    return interests, Costs.sites(between, site_of, local=draw(price))


def cost_of(interests, costs):
    matrix = costs.of(interests).to_matrix()
    return lambda u, v: float(matrix[u, v])


def order_of(interests, seed, part=0):
    return tie_order(np.diff(interests.indptr), "shuffled", seed, part).tolist()


@given(priced_systems(), SEEDS)
def test_every_tree_of_tr_maw_is_kruskals(system, seed):
    interests, costs = system
    built = tree_per_topic(interests, costs, TrMawOptions(), seed, None)
    expected = oracles_weighted.trees(
        topics_by_node(interests), order_of(interests, seed), cost_of(interests, costs)
    )
    assert normal(pairs(built.edges)) == sorted(expected)


@settings(max_examples=25)
@given(priced_systems(), SEEDS)
def test_the_trees_of_tr_maw_cost_the_least_that_each_topic_can_be_connected_for(system, seed):
    interests, costs = system
    built = tree_per_topic(interests, costs, TrMawOptions(), seed, None)
    cost, topics_of = cost_of(interests, costs), topics_by_node(interests)
    alone = [{node: own & {topic} for node, own in topics_of.items()} for topic in range(6)]
    least = sum(
        oracles_weighted.total(oracles_weighted.trees(each, sorted(each), cost), cost) for each in alone
    )
    assert built.facts["tree_cost"] == pytest.approx(float(least))


@given(priced_systems(), SEEDS)
def test_every_choice_of_gr_maw_is_the_transcriptions(system, seed):
    interests, costs = system
    built = weighted_greedy(interests, costs, GrMawOptions(), seed, None)
    assert pairs(built.edges) == oracles_weighted.weighted_greedy(
        topics_by_node(interests), order_of(interests, seed), cost_of(interests, costs)
    )


@given(topic_sets(), SEEDS, st.sampled_from([0.1, 1.0, 3.0]))
def test_gr_maw_with_equal_costs_is_greedy_merge(topics, seed, price):
    interests = interests_of(topics)
    names = interests.nodes.to_pylist()
    costs = Costs.clusters(dict.fromkeys(names, "one"), inner=price, outer=price)
    built = weighted_greedy(interests, costs, GrMawOptions(), seed, None)
    assert sorted(pairs(built.edges)) == sorted(
        pairs(greedy_merge(interests, None, GmOptions(), seed, None).edges)
    )


@given(priced_systems(), SEEDS)
def test_every_choice_of_pd_maw_is_tight_first_and_the_dual_stays_feasible(system, seed):
    interests, costs = system
    found = take_cheapest(interests, costs, PdMawOptions(), TIGHT, seed, None)[0]
    oracle = oracles_weighted.PrimalDual(topics_by_node(interests), cost_of(interests, costs))
    for edge, tight_at in zip(normal_each(found.edges), found.prices, strict=True):
        raises = oracle.raises()
        assert raises[edge] <= min(raises.values()) + 1e-9
        oracle.take(edge, min(raises.values()))
        assert float(oracle.raised) == pytest.approx(tight_at)
        assert oracle.is_feasible()
    assert not oracle.raises()
    assert found.lower_bound == pytest.approx(float(oracle.value))
    assert found.lower_bound <= oracle.value


def normal_each(edges):
    return [(min(edge), max(edge)) for edge in pairs(edges)]


@settings(max_examples=25)
@given(priced_systems(max_nodes=5, max_topics=4), SEEDS)
def test_the_dual_variables_satisfy_every_constraint_of_the_dual_program(system, seed):
    interests, costs = system
    topics_of, cost = topics_by_node(interests), cost_of(interests, costs)
    found = take_cheapest(interests, costs, PdMawOptions(), TIGHT, seed, None)[0]
    raises = np.diff(found.prices, prepend=0.0).tolist()
    assert min(raises, default=0.0) >= 0.0
    sums, value = oracles_weighted.dual_sums(topics_of, normal_each(found.edges), raises)
    assert all(paid <= cost(*pair) + 1e-9 for pair, paid in sums.items())
    assert [sums[edge] for edge in normal_each(found.edges)] == pytest.approx(
        [cost(*edge) for edge in normal_each(found.edges)]
    )
    assert found.lower_bound == pytest.approx(value)


@settings(max_examples=50)
@given(topic_sets(max_nodes=6, max_topics=5), SEEDS)
def test_with_unit_costs_the_dual_value_bounds_the_number_of_links(topics, seed):
    interests = interests_of(topics)
    units = Costs.clusters(dict.fromkeys(interests.nodes.to_pylist(), "one"), inner=1, outer=1)
    found = take_cheapest(interests, units, PdMawOptions(), TIGHT, seed, None)[0]
    fewest = oracles_weighted.least_cost(topics_by_node(interests), lambda u, v: 1.0)
    assert found.lower_bound <= fewest + 1e-6


@settings(max_examples=50)
@given(priced_systems(max_nodes=6, max_topics=5), SEEDS)
def test_the_dual_value_is_never_above_the_least_cost(system, seed):
    interests, costs = system
    topics_of, cost = topics_by_node(interests), cost_of(interests, costs)
    found = take_cheapest(interests, costs, PdMawOptions(), TIGHT, seed, None)[0]
    least = oracles_weighted.least_cost(topics_of, cost)
    assert found.lower_bound <= least + 1e-6
    greedy = weighted_greedy(interests, costs, GrMawOptions(), seed, None)
    assert least <= float(oracles_weighted.total(pairs(greedy.edges), cost)) + 1e-6


@given(priced_systems(), SEEDS)
def test_pdrd_maw_deletes_what_the_transcription_deletes(system, seed):
    interests, costs = system
    topics_of = topics_by_node(interests)
    before = pairs(take_cheapest(interests, costs, PdMawOptions(), TIGHT, seed, None)[0].edges)
    after = pairs(primal_dual_reverse_delete(interests, costs, PdMawOptions(), seed, None).edges)
    assert after == oracles_weighted.reverse_delete(topics_of, before)


@given(topic_sets(), st.randoms(use_true_random=False))
def test_after_reverse_delete_no_edge_can_be_removed(topics, random):
    interests = interests_of(topics)
    topics_of = topics_by_node(interests)
    edges = [(u, v) for v in topics_of for u in range(v)]
    random.shuffle(edges)
    kept = pairs(reverse_delete(interests, np.array(edges, np.int32).reshape(-1, 2)))
    assert kept == oracles_weighted.reverse_delete(topics_of, edges)
    assert oracles.is_topic_connected(topics_of, kept)
    for edge in kept:
        assert not oracles.is_topic_connected(topics_of, [other for other in kept if other != edge])


@given(topic_sets(), st.randoms(use_true_random=False))
def test_reverse_delete_keeps_the_components_of_an_overlay_that_connects_nothing_much(topics, random):
    interests = interests_of(topics)
    topics_of = topics_by_node(interests)
    edges = [(u, v) for v in topics_of for u in range(v) if random.random() < 0.4]
    kept = pairs(reverse_delete(interests, np.array(edges, np.int32).reshape(-1, 2)))
    assert oracles.components_by_topic(topics_of, kept) == oracles.components_by_topic(topics_of, edges)


@given(priced_systems(max_nodes=8), SEEDS, st.integers(1, 4), st.sampled_from(["k-means", "landmarks"]))
def test_dc_maw_is_the_transcription_over_its_parts(system, seed, partitions, divide_by):
    interests, costs = system
    topics_of = topics_by_node(interests)
    wanted = {"partitions": partitions} if divide_by == "k-means" else {"landmarks": 2, "least_bin": 2}
    options = DcMawOptions(divide_by=divide_by, **wanted)
    built = weighted_divide_and_conquer(interests, costs, options, seed, None)
    part_of = divide(costs.of(interests), options, seed)
    parts = []
    for part in range(part_of.max(initial=-1) + 1):
        members = np.flatnonzero(part_of == part)
        sizes = np.diff(interests.indptr)[members]
        parts.append(members[tie_order(sizes, "shuffled", seed, part)].tolist())
    inner, outer = oracles_weighted.divide_and_conquer(topics_of, parts, cost_of(interests, costs))
    assert sorted(pairs(built.edges)) == sorted(inner + outer)
    assert oracles.is_topic_connected(topics_of, pairs(built.edges))
