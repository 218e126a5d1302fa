from math import ceil

import numpy as np
import pytest

from meshwright import Interests
from meshwright.evaluate import bounds
from meshwright.evaluate.topics import topic_lists


def bound_of(*nodes):
    """The bound for nodes given by their topics, one letter each."""
    pairs = [(f"n{i:03}", topic) for i, topics in enumerate(nodes) for topic in topics]
    return lower_bound(Interests.from_pairs(pairs, nodes=[f"n{i:03}" for i in range(len(nodes))]))


def lower_bound(interests):
    return bounds.lower_bound(interests, topic_lists(interests))


def test_one_topic_needs_a_spanning_tree():
    found = bound_of(*["x"] * 9)
    assert (found.edges, found.method) == (8, "spanning")


def test_islands_are_bounded_one_by_one():
    assert bound_of("x", "x", "x", "yz", "yz", "w", "").edges == 2 + 1


def test_pairs_that_share_nothing_else_need_an_edge_each():
    # Six topics, each of two nodes: all edges among four nodes, where a spanning tree has three.
    found = bound_of("abc", "ade", "bdf", "cef")
    assert (found.edges, found.method) == (6, "overlap-duality")


def test_covers_decide_where_rounding_up_at_each_node_gains_more_than_trees():
    # A node of abc needs two neighbours, as no other has more than two of its topics; each topic is a pair's.
    nodes = ["abc", "abd", "cde", "eaf", "bdf"]
    by_tree = 0.0
    for topic in "abcdef":
        subscribers = [set(node) for node in nodes if topic in node]
        shares = [1 / max(len(a & b) for b in subscribers if b is not a) for a in subscribers]
        by_tree += sum(shares) - min(shares)
    by_cover = 0
    for node in map(set, nodes):
        others = [set(other) for other in nodes if set(other) != node]
        by_cover += ceil(sum(1 / max(len(node & o) for o in others if t in o) for t in node) - 1e-9)
    assert bound_of(*nodes).edges == max(ceil(by_tree - 1e-9), ceil(by_cover / 2), 4)


@pytest.fixture
def random_interests():
    return Interests.from_scipy((np.random.default_rng(1).random((300, 40)) < 0.2).astype(np.int32))


def test_sizes_stand_in_where_overlaps_take_too_long(random_interests, monkeypatch):
    exact = lower_bound(random_interests)
    monkeypatch.setattr(bounds, "_MOST_STEPS", 0)
    stood_in = lower_bound(random_interests)
    assert exact.method == "overlap-duality"
    assert stood_in.method in {"size-duality", "spanning"}
    assert 299 <= stood_in.edges < exact.edges


def test_sizes_bound_better_than_spanning_where_few_topics_are_shared(monkeypatch):
    monkeypatch.setattr(bounds, "_MOST_STEPS", 0)
    found = bound_of("abcd", "a", "b", "c", "d", "cd")
    assert (found.edges, found.method) == (5, "spanning")
    found = bound_of("abc", "ade", "bdf", "cef")
    assert found.method == "size-duality" or found.edges == 3


def test_the_bound_does_not_depend_on_the_number_of_threads(random_interests, monkeypatch):
    found = []
    for cores in (1, 2, 5):
        monkeypatch.setattr("meshwright.evaluate.cores.cores", lambda cores=cores: cores)
        found.append(lower_bound(random_interests))
    assert found[0] == found[1] == found[2]
