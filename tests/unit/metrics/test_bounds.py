import numpy as np
import pytest

from meshwright import Costs, Interests, Overlay, build, evaluate
from meshwright.construct import overlaps
from meshwright.metrics import bounds
from meshwright.metrics.topics import prepare
from meshwright.runtime import parallel as cores


def bound_of(*nodes):
    """The bound for nodes given by their topics, one letter each."""
    pairs = [(f"n{i:03}", topic) for i, topics in enumerate(nodes) for topic in topics]
    return lower_bound(Interests.from_pairs(pairs, nodes=[f"n{i:03}" for i in range(len(nodes))]))


def lower_bound(interests, costs=None):
    _, lists = prepare(Overlay.from_edges(interests, []))
    subscribers = bounds.Subscribers(interests.topic_indptr, interests.node_ids.view(np.uint32))
    return bounds.bound_of(subscribers, lists, interests.node_count, costs)


def test_one_topic_needs_a_spanning_tree():
    found = bound_of(*["x"] * 9)
    assert (found.edges, found.method) == (8, "spanning")


def test_islands_are_bounded_one_by_one():
    assert bound_of("x", "x", "x", "yz", "yz", "w", "").edges == 2 + 1


def test_pairs_that_share_nothing_else_need_an_edge_each():
    # Six topics, each of two nodes: all edges among four nodes, where a spanning tree has three.
    found = bound_of("abc", "ade", "bdf", "cef")
    assert (found.edges, found.method) == (6, "overlap-duality")


def test_covers_decide_where_rounding_up_at_each_node_gains_more_than_trees_lose():
    # Trees sum up to 5; the nodes need 3, 3, 2 and 3 neighbours, 5.5 edges.
    assert bound_of("adefi", "bcdfg", "behi", "acefgh").edges == 6


@pytest.fixture
def random_interests():
    return Interests.from_scipy((np.random.default_rng(1).random((300, 40)) < 0.2).astype(np.int32))


def test_weaker_arguments_are_left_where_stronger_ones_take_too_long(random_interests, monkeypatch):
    dual = lower_bound(random_interests)
    assert dual.method == "dual"
    monkeypatch.setattr(bounds, "_MOST_DUAL_STEPS", 0)
    overlap = lower_bound(random_interests)
    assert overlap.method == "overlap-duality"
    assert dual.edges > overlap.edges > 299
    monkeypatch.setattr(overlaps, "_MOST_STEPS", 0)
    assert lower_bound(random_interests) == bounds.LowerBound(edges=299, method="spanning")


@pytest.mark.parametrize("limit", ["_MOST_DUAL_STEPS", "_MOST_PAIRS"])
def test_the_dual_value_is_left_out_where_it_would_take_too_long(random_interests, monkeypatch, limit):
    costs = Costs.clusters(dict.fromkeys(random_interests.nodes.to_pylist(), "c"), inner=2, outer=2)
    arrays = costs.of(random_interests).arrays()
    assert lower_bound(random_interests, arrays).cost > 2 * 299
    monkeypatch.setattr(bounds, limit, 0)
    assert lower_bound(random_interests, arrays).cost is None


def test_the_bound_on_cost_is_the_dual_value_that_pd_maw_tells(random_interests):
    random = np.random.default_rng(2).random((300, 300)) + 0.1
    costs = Costs.from_matrix(random + random.T, random_interests.nodes.to_pylist())
    built = build(random_interests, "pd-maw", costs=costs)
    found = evaluate(built)
    assert found.lower_bound_weighted_method == "dual"
    assert found.lower_bound_weighted_average_degree == 2 * built.facts["lower_bound_cost"] / 300
    assert found.lower_bound_weighted_average_degree < found.weighted_average_degree


def test_wide_counters_count_as_narrow_ones():
    # One node has more topics than 16 bits can count; it shares all of them, and nobody shares more than it.
    pairs = [(node, f"{topic:05}") for node in ("a", "b") for topic in range(70_000)]
    found = lower_bound(Interests.from_pairs([*pairs, ("c", "00000"), ("c", "x"), ("d", "x")]))
    assert (found.edges, found.method) == (3, "spanning")


def test_the_bound_does_not_depend_on_the_number_of_threads(random_interests, monkeypatch):
    found = []
    for count in (1, 2, 5):
        monkeypatch.setattr(cores, "threads", lambda count=count: count)
        found.append(lower_bound(random_interests))
    assert found[0] == found[1] == found[2]
