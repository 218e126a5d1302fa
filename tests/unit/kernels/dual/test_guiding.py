"""The guided greedy and the contraction, against plain Python."""

import networkx as nx
import numpy as np
import pytest

from meshwright import workloads
from meshwright.construct.dual.candidates import arrays_of, candidate_edges
from meshwright.kernels.core.subgraphs import interest_ranks
from meshwright.kernels.dual.guiding import contracted, ends_of, greatest_of_edges, take_by_worth
from meshwright.kernels.dual.shares import make_shares

TICKS = np.zeros(2, np.int64)


@pytest.fixture(params=[1, 2])
def shares(request):
    interests = workloads.zipf(30, 8, subscriptions=4, seed=request.param)
    indptr, topic_ids, topic_indptr, _ = arrays_of(interests)
    edges, ranks = candidate_edges(interests, 4), interest_ranks(topic_ids, interests.topic_count)
    sizes = np.diff(topic_indptr).astype(np.int32)
    return make_shares(indptr, topic_ids, ranks, sizes, edges, np.ones(len(edges)))


def pieces(shares):
    """By edge, its shares as (share, topic, component, component)."""
    found = {edge: [] for edge in range(len(shares.edges))}
    owners = np.repeat(np.arange(len(shares.edges)), np.diff(shares.indptr))
    for topic in range(len(shares.components)):
        for at in range(shares.topic_indptr[topic], shares.topic_indptr[topic + 1]):
            share = int(shares.by_topic[at])
            ends = int(shares.lefts[at]), int(shares.rights[at])
            found[owners[share]].append((share, topic, *ends))
    return found


def plain_greedy(shares, worth, factors, ties):
    graph, own, taken = nx.Graph(), pieces(shares), []
    for topic, size in enumerate(shares.components):
        graph.add_nodes_from((topic, component) for component in range(size))
    while True:
        names = {node: i for i, some in enumerate(nx.connected_components(graph)) for node in some}
        scores = [
            factors[e] * sum(worth[s] for s, t, a, b in own[e] if names[t, a] != names[t, b]) for e in ties
        ]
        if max(scores, default=0) == 0:
            return taken
        edge = ties[int(np.argmax(scores))]
        taken.append(int(edge))
        graph.add_edges_from(((t, a), (t, b)) for _, t, a, b in own[edge])


def test_every_edge_has_the_greatest_score_when_it_is_taken(shares):
    random = np.random.default_rng(1)
    # Whole numbers, so that sums are exact, and many scores are equal.
    worth = random.integers(1, 4, len(shares.by_topic)).astype(float)
    factors = random.integers(1, 3, len(shares.edges)).astype(float)
    ties = random.permutation(len(shares.edges))
    given = shares.indptr, ends_of(shares), worth, factors, ties
    expected = plain_greedy(shares, worth, factors, ties)
    assert take_by_worth(*given, len(ties), TICKS).tolist() == expected
    assert take_by_worth(*given, 3, TICKS).tolist() == expected[:3]


def test_a_cancelled_greedy_takes_nothing(shares):
    ones = np.ones(len(shares.by_topic)), np.ones(len(shares.edges))
    given = shares.indptr, ends_of(shares), *ones, np.arange(len(shares.edges))
    assert not len(take_by_worth(*given, len(shares.edges), np.array([0, 1])))


def test_what_is_left_are_the_shares_between_components_of_edges_to_keep(shares):
    random = np.random.default_rng(2)
    prices, mean = random.random(len(shares.by_topic)) / 50, random.random(len(shares.by_topic))
    taken, keep = np.arange(0, len(shares.edges), 7), random.random(len(shares.edges)) < 0.8
    left, new_prices, new_mean = contracted(shares, ends_of(shares), taken, keep, prices, mean)
    graph, own = nx.Graph(), pieces(shares)
    for topic, size in enumerate(shares.components):
        graph.add_nodes_from((topic, component) for component in range(size))
    for edge in taken:
        graph.add_edges_from(((t, a), (t, b)) for _, t, a, b in own[edge])
    name = {node: min(some) for some in nx.connected_components(graph) for node in some}
    for topic, size in enumerate(left.components):
        assert size == len({name[node] for node in name if node[0] == topic})
    new_own, at = pieces(left), {tuple(edge): i for i, edge in enumerate(left.edges.tolist())}
    assert len(at) == len(left.edges)
    seen = 0
    for edge, ends in enumerate(shares.edges.tolist()):
        expected = [(s, t) for s, t, a, b in own[edge] if keep[edge] and name[t, a] != name[t, b]]
        found = new_own[at[tuple(ends)]] if expected else []
        assert sorted(t for _, t, _, _ in found) == sorted(t for _, t in expected)
        if expected:
            seen += 1
            old = {t: s for s, t in expected}
            assert all(new_mean[s] == mean[old[t]] for s, t, _, _ in found)
            raised = [new_prices[s] - prices[old[t]] for s, t, _, _ in found]
            assert raised == pytest.approx([raised[0]] * len(raised))
            assert sum(new_prices[s] for s, *_ in found) == pytest.approx(1)
    assert seen == len(left.edges)
    topics_of_ends = {(t, a) for some in new_own.values() for _, t, *ab in some for a in ab}
    assert all(a < left.components[t] for t, a in topics_of_ends)


def test_components_keep_their_shares_apart(shares):
    """Two shares of a topic join the same components afterwards just if they did so before."""
    prices = np.zeros(len(shares.by_topic))
    keep = np.ones(len(shares.edges), np.bool_)
    left, _, _ = contracted(shares, ends_of(shares), np.empty(0, np.int64), keep, prices, prices)
    assert [one.tolist() for one in left] == [one.tolist() for one in shares]


def test_an_edge_has_the_greatest_value_of_its_shares(shares):
    values = np.random.default_rng(3).random(len(shares.by_topic))
    assert (
        greatest_of_edges(shares, values).tolist() == np.maximum.reduceat(values, shares.indptr[:-1]).tolist()
    )
