"""The greedy of wanted neighbours, against one that looks at every pair each time."""

import tracemalloc
from itertools import combinations
from unittest.mock import patch

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshwright.construct import neighbours
from meshwright.construct.greedy import HEAVY, make_problem, start_ready
from meshwright.construct.neighbours import estimated_bytes, run_wanted, take_wanted, wanted_by
from meshwright.model.interests import Interests
from meshwright.workloads import unif
from tests.property.test_evaluate import some_interests


def contribution(u: int, v: int, graphs: list[nx.Graph], wanted: int) -> int:
    """Components joined, and ends that want a neighbour, over the topics of both."""
    gain = 0
    for graph in graphs:
        if u in graph and v in graph:
            wants = min(wanted, len(graph) - 1)
            gain += not nx.has_path(graph, u, v)
            gain += (graph.degree(u) < wants) + (graph.degree(v) < wants)
    return gain


@given(
    some_interests(9, 5),
    st.integers(0, 3),
    st.sampled_from([1, 2, 99]),
    st.integers(0, 3),
    st.sampled_from([1, HEAVY]),
)
def test_every_edge_contributes_most_of_all_that_caps_allow(interests, wanted, cap, given_links, heavy):
    """A level of `heavy` pairs is shared by threads."""
    check_greedy(interests, wanted, cap, given_links, heavy)


@pytest.mark.parametrize("heavy", [1, HEAVY])
def test_contributions_beyond_what_the_store_holds_exactly_are_told_apart(heavy):
    """Of 200 topics, pairs share 20 to 160, so that links contribute up to 480."""
    shares = np.array([0.3, 0.5, 0.7, 0.8, 0.9, 0.9])[:, None]
    wants = np.random.default_rng(1).random((6, 200)) < shares
    check_greedy(Interests.from_scipy(wants.astype(np.int32)), 2, 99, 0, heavy)


def check_greedy(interests: Interests, wanted: int, cap: int, given_links: int, heavy: int) -> None:
    """Every edge taken contributes most, and at the end none contributes."""
    nodes = np.arange(interests.node_count, dtype=np.int32)
    problem = make_problem(interests.indptr, interests.topic_ids, interests.topic_count, nodes)
    pairs = list(combinations(nodes.tolist(), 2))
    links = np.array(pairs[:given_links], np.int32).reshape(-1, 2)
    with patch.object(neighbours, "HEAVY", heavy):
        taken = take_wanted(
            problem,
            wanted_by(problem, wanted),
            instead="nothing",
            links=links,
            caps=np.full(len(nodes), cap),
        )
    graphs = [nx.empty_graph(own) for own in np.split(interests.node_ids, interests.topic_indptr[1:-1])]
    degrees = dict.fromkeys(nodes.tolist(), 0)
    left = set(pairs)

    def allowed(u: int, v: int) -> int:
        return contribution(u, v, graphs, wanted) if max(degrees[u], degrees[v]) < cap else 0

    for turn, (u, v) in enumerate([*links.tolist(), *taken.tolist()]):
        if turn >= len(links):
            assert allowed(u, v) == max(allowed(*pair) for pair in left) > 0
        for graph in graphs:
            if u in graph and v in graph:
                graph.add_edge(u, v)
        left.discard((min(u, v), max(u, v)))
        degrees[u] += 1
        degrees[v] += 1
    assert all(allowed(*pair) == 0 for pair in left)


@pytest.mark.parametrize("topics", [260, 1_500])
def test_any_number_of_threads_takes_the_same_edges(topics, monkeypatch):
    """Of 260 topics, links contribute more than a byte holds; of 1,500, there are no bitsets."""
    monkeypatch.setattr(neighbours, "HEAVY", 1)
    wants = np.random.default_rng(2).random((150, topics)) < 150 / topics
    interests = Interests.from_scipy(wants.astype(np.int32))
    nodes = np.arange(interests.node_count, dtype=np.int32)
    problem = make_problem(interests.indptr, interests.topic_ids, interests.topic_count, nodes)
    caps = np.full(len(nodes), 10_000)
    found = [
        run_wanted(problem, wanted_by(problem, 2), caps, None, np.zeros(2, np.int64), threads).tolist()
        for threads in (1, 2, 6, 6)
    ]
    assert found[1:] == found[:1] * 3


@pytest.mark.parametrize(("nodes", "topics", "subscriptions"), [(5_000, 300, 20), (3_000, 2_000, 30)])
def test_the_estimate_of_memory_is_not_below_what_arrays_take(nodes, topics, subscriptions):
    """Beside the list of ready pairs, which has one size for all problems."""
    interests = unif(nodes, topics, subscriptions=subscriptions, seed=1)
    order = np.arange(nodes, dtype=np.int32)
    problem = make_problem(interests.indptr, interests.topic_ids, topics, order)
    wanted, caps = wanted_by(problem, 2), np.full(nodes, nodes)
    tracemalloc.start()
    try:
        run_wanted(problem, wanted, caps, None, np.zeros(2, np.int64))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak - start_ready(problem).places.nbytes <= estimated_bytes(problem)
