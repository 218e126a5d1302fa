"""Shares, trees, steps and lines against plain Python."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

from meshwright import workloads
from meshwright.construct.dual.candidates import arrays_of, candidate_edges, unique_edges
from meshwright.kernels.core.subgraphs import interest_ranks
from meshwright.kernels.dual.demands import no_demands
from meshwright.kernels.dual.lines import Lines, draw_demands, draw_lines, slots_of, write_distances
from meshwright.kernels.dual.shares import carry_over, divide_by_totals, equal_prices, make_shares
from meshwright.kernels.dual.steps import average, step
from meshwright.kernels.dual.trees import span_topics, tree_room
from tests import oracles, oracles_dual
from tests.helpers import topics_by_node


@pytest.fixture(params=[1, 2, 3])
def interests(request):
    return workloads.zipf(40, 12, subscriptions=4, seed=request.param)


@pytest.fixture
def shares(interests):
    indptr, topic_ids, topic_indptr, _ = arrays_of(interests)
    edges = candidate_edges(interests, 5)
    ranks = interest_ranks(topic_ids, interests.topic_count)
    sizes = np.diff(topic_indptr).astype(np.int32)
    return make_shares(indptr, topic_ids, ranks, sizes, edges, np.ones(len(edges)))


@pytest.fixture
def prices(shares):
    return np.random.default_rng(1).random(len(shares.by_topic))


def topic_of_shares(shares):
    topics = np.empty(len(shares.by_topic), np.int64)
    topics[shares.by_topic] = np.repeat(np.arange(len(shares.components)), np.diff(shares.topic_indptr))
    return topics


def spanned(shares, prices):
    taken, values = np.zeros(len(prices), np.bool_), np.zeros(len(shares.components))
    span_topics(shares, prices, (0, len(values)), taken, values, tree_room(shares))
    return taken, values


def test_candidates_connect_every_topic_and_hold_the_best_partner_of_each_node(interests):
    topics_of, edges = topics_by_node(interests), candidate_edges(interests, 5)
    assert oracles.is_topic_connected(topics_of, map(tuple, edges.tolist()))
    linked = nx.Graph(edges.tolist())
    for node, own in topics_of.items():
        shared = {v: len(own & other) for v, other in topics_of.items() if v != node and own & other}
        assert max(shared[v] for v in linked[node]) == max(shared.values())
        assert (
            sorted((shared[v] for v in linked[node]), reverse=True)[:5]
            == sorted(shared.values(), reverse=True)[:5]
        )


def test_shares_are_the_topics_that_both_ends_have(interests, shares):
    topics_of, topics = topics_by_node(interests), topic_of_shares(shares)
    for edge, (u, v) in enumerate(shares.edges.tolist()):
        own = topics[shares.indptr[edge] : shares.indptr[edge + 1]].tolist()
        assert own == sorted(topics_of[u] & topics_of[v])


def test_components_that_are_one_have_no_share(interests):
    indptr, topic_ids, _, _ = arrays_of(interests)
    same, one = np.zeros(len(topic_ids), np.int32), np.ones(interests.topic_count, np.int32)
    edges = candidate_edges(interests, 5)
    assert not len(make_shares(indptr, topic_ids, same, one, edges, np.ones(len(edges))).by_topic)


def test_trees_cost_as_little_as_possible_and_span(shares, prices):
    taken, values = spanned(shares, prices)
    for topic, size in enumerate(shares.components):
        span = slice(shares.topic_indptr[topic], shares.topic_indptr[topic + 1])
        own = shares.by_topic[span]
        edges = list(zip(shares.lefts[span], shares.rights[span], prices[own], strict=True))
        assert values[topic] == pytest.approx(oracles_dual.tree_cost(size, edges))
        assert taken[own].sum() == max(size - 1, 0)
        assert prices[own][taken[own]].sum() == pytest.approx(values[topic])


def test_a_range_of_topics_leaves_the_others_alone(shares, prices):
    taken, values = np.zeros(len(prices), np.bool_), np.full(len(shares.components), -1.0)
    span_topics(shares, prices, (3, 5), taken, values, tree_room(shares))
    assert np.flatnonzero(values >= 0).tolist() == [3, 4]
    assert set(topic_of_shares(shares)[taken].tolist()) <= {3, 4}


def test_a_step_goes_to_the_nearest_prices_that_add_up_to_the_limit(shares, prices):
    begin, mean = equal_prices(shares), prices
    found = np.empty_like(begin)
    step(shares, begin, mean, 0.7, (0, len(shares.edges)), found)
    for edge in range(len(shares.edges)):
        own = slice(shares.indptr[edge], shares.indptr[edge + 1])
        wanted = begin[own] + 0.7 * mean[own]
        assert found[own].sum() <= 1 + 1e-12
        assert (found[own] >= 0).all()
        # The nearest point of a simplex: all prices above 0 are lowered alike, the others at most as much.
        lowered = wanted - found[own]
        assert lowered[found[own] > 0] == pytest.approx(lowered.max())
        assert lowered.max() >= -1e-12


def test_a_step_that_asks_for_less_than_the_limit_is_taken_as_it_is(shares):
    found = np.empty(len(shares.by_topic))
    step(shares, np.zeros_like(found), np.full_like(found, 1e-3), 1.0, (0, len(shares.edges)), found)
    assert (found == 1e-3).all()


def test_the_mean_moves_toward_the_latest_trees():
    mean = np.array([0.0, 1.0, 0.5])
    average(mean, np.array([True, False, True]), 0.1)
    assert mean == pytest.approx([0.1, 0.9, 0.55])


def test_equal_prices_add_up_to_the_limits(shares):
    assert np.add.reduceat(equal_prices(shares), shares.indptr[:-1]) == pytest.approx(1)


def test_further_candidates_keep_the_values_of_the_others(interests, shares, prices):
    indptr, topic_ids, topic_indptr, _ = arrays_of(interests)
    more = unique_edges(np.concatenate([shares.edges, oracles_pairs(interests)]))
    ranks = interest_ranks(topic_ids, interests.topic_count)
    sizes = np.diff(topic_indptr).astype(np.int32)
    wide = make_shares(indptr, topic_ids, ranks, sizes, more, np.ones(len(more)))
    values = np.full(len(wide.by_topic), -1.0)
    is_new = carry_over(shares, prices, wide, values)
    assert more[~is_new].tolist() == shares.edges.tolist()
    assert values[np.repeat(~is_new, np.diff(wide.indptr))].tolist() == prices.tolist()
    assert (values[np.repeat(is_new, np.diff(wide.indptr))] == -1).all()


def oracles_pairs(interests):
    return np.array(oracles_dual.shared_pairs(topics_by_node(interests)), np.int32)


def test_prices_are_divided_in_proportion(shares, prices):
    before = prices.copy()
    divide_by_totals(shares, np.array([0, 2]), prices)
    for edge in (0, 2):
        own = slice(shares.indptr[edge], shares.indptr[edge + 1])
        assert prices[own] == pytest.approx(before[own] / before[own].sum())
    own = slice(shares.indptr[1], shares.indptr[2])
    assert prices[own].tolist() == before[own].tolist()


def test_on_its_line_two_nodes_are_as_far_apart_as_the_dearest_edge_between_them(interests, shares, prices):
    indptr, topic_ids, topic_indptr, node_ids = arrays_of(interests)
    taken, values = spanned(shares, prices)
    order, gaps = np.zeros(len(node_ids), np.int32), np.zeros(len(node_ids), np.int64)
    draw_lines(shares, prices, taken, 1e6, topic_indptr, order, gaps)
    nodes = node_ids[np.repeat(topic_indptr[:-1], np.diff(topic_indptr)) + order]
    lines = Lines(topic_indptr, nodes, gaps, slots_of(indptr, topic_indptr, nodes))
    far = np.empty_like(prices)
    nobody = no_demands(interests.node_count, interests.topic_count)
    asked = draw_demands(shares, prices, 1e6, interests.topic_count, interests.node_count)
    write_distances(indptr, topic_ids, lines, nobody, asked, shares, np.arange(len(shares.edges)), far)
    topics = topic_of_shares(shares)
    owners = np.repeat(np.arange(len(shares.edges)), np.diff(shares.indptr))
    for topic in range(interests.topic_count):
        span = slice(topic_indptr[topic], topic_indptr[topic + 1])
        tree = nx.Graph()
        for share in np.flatnonzero(taken & (topics == topic)):
            tree.add_edge(*shares.edges[owners[share]].tolist(), price=prices[share])
        assert sorted(nodes[span]) == node_ids[span].tolist()
        assert gaps[span].sum() == pytest.approx(values[topic] * 1e6, abs=len(gaps[span]))
        for share in np.flatnonzero(topics == topic):
            u, v = shares.edges[owners[share]].tolist()
            path = nx.shortest_path(tree, u, v)
            dearest = max(tree[a][b]["price"] for a, b in pairwise(path))
            assert far[share] == int(dearest * 1e6)
            own = nodes[span].tolist(), gaps[span].tolist()
            assert far[share] == oracles_dual.line_distance(*own, u, v)
