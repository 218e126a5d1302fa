import json

import numpy as np
import pytest

import meshwright as mw
from meshwright import Costs, InputError, Interests, Overlay, evaluate
from meshwright.metrics import topics

KEYS = [
    "nodes",
    "topics",
    "interests",
    "edges",
    "average_degree",
    "maximum_degree",
    "topic_connected",
    "disconnected_topics",
    "tco_support_ratio",
    "maximum_topic_diameter",
    "mean_topic_diameter",
    "maximum_topic_diameter_lower_bound",
    "mean_topic_diameter_lower_bound",
    "diameters_exact",
    "clustering_coefficient",
    "lower_bound_average_degree",
    "lower_bound_method",
    "cut_nodes_topics",
    "bridge_topics",
    "cut_nodes",
    "worst_node",
    "worst_node_topics",
    "worst_node_cuts_off",
]
COST_KEYS = [
    "weighted_average_degree",
    "lower_bound_weighted_average_degree",
    "lower_bound_weighted_method",
    "maximum_weighted_topic_diameter",
    "mean_weighted_topic_diameter",
    "maximum_weighted_topic_diameter_lower_bound",
    "mean_weighted_topic_diameter_lower_bound",
]


def overlay_of(wants, edges, costs=None):
    """Wants: the topics of each node, one letter a topic; edges: pairs of nodes, one letter a node."""
    pairs = [(node, topic) for node, topics in wants.items() for topic in topics]
    return Overlay.from_edges(
        Interests.from_pairs(pairs, nodes=list(wants)), [tuple(e) for e in edges], costs
    )


@pytest.fixture
def square():
    """Topic x on a path a-b-c-d, topic y on a and c, who have no link, topic z on d alone."""
    return overlay_of({"a": "xy", "b": "x", "c": "xy", "d": "xz", "e": ""}, ["ab", "bc", "cd"])


@pytest.fixture
def priced():
    return overlay_of({"a": "x", "b": "x", "c": "x"}, ["ab", "bc", "ac"], [1.0, 2.5, 9.0])


def test_the_json_has_the_keys_of_the_contract_in_order(square):
    assert list(evaluate(square).to_json()) == KEYS
    assert json.loads(json.dumps(evaluate(square).to_json())) == evaluate(square).to_json()


def test_the_json_of_priced_links_has_the_weighted_keys_too(priced):
    assert list(evaluate(priced).to_json()) == KEYS + COST_KEYS
    assert list(evaluate(priced, diameters=False).to_json()) == KEYS + COST_KEYS


def test_costs_price_the_links_in_place_of_what_they_cost(square, priced):
    for overlay in (square, priced):
        nodes = overlay.interests.nodes.to_pylist()
        costs = Costs.clusters({node: "c" for node in [*nodes, "elsewhere"]}, inner=2, outer=5)
        found = evaluate(overlay, costs=costs)
        assert found.weighted_average_degree == 2 * found.average_degree
        assert found.maximum_weighted_topic_diameter == 2 * found.maximum_topic_diameter
        assert found.lower_bound_weighted_average_degree == pytest.approx(
            2 * found.lower_bound_average_degree
        )


def test_costs_of_other_nodes_and_what_are_no_costs_are_refused(square):
    with pytest.raises(InputError, match=r"'b' \(and 3 more\) has no site"):
        evaluate(square, costs=Costs.clusters({"a": "c"}, inner=1, outer=2))
    with pytest.raises(InputError, match="the costs are a float; give Costs"):
        evaluate(square, costs=1.5)


def test_counts_and_degrees_of_a_small_overlay(square):
    found = evaluate(square)
    assert (found.nodes, found.topics, found.interests, found.edges) == (5, 3, 7, 3)
    assert (found.average_degree, found.maximum_degree) == (6 / 5, 2)
    assert found.degrees.tolist() == [1, 2, 2, 1, 0]
    assert found.degree_distribution().tolist() == [1, 2, 2]


def test_a_topic_that_is_not_connected_is_named_and_left_out_of_the_diameters(square):
    found = evaluate(square)
    assert not found.topic_connected
    assert found.disconnected_topics == 1
    assert found.disconnected_topic_components() == {"y": 2}
    assert found.components_per_topic.tolist() == [1, 2, 1]
    assert found.diameter_per_topic.tolist() == [3, -1, 0]
    assert (found.maximum_topic_diameter, found.mean_topic_diameter) == (3, 1.5)


def test_the_support_ratio_is_the_share_of_components_that_were_joined(square):
    # 7 subscribers in 3 topics need 4 unions, and all but that of y are made.
    assert evaluate(square).tco_support_ratio == 3 / 4


def test_no_diameter_exists_where_no_topic_is_connected():
    found = evaluate(overlay_of({"a": "x", "b": "x"}, []))
    assert (found.maximum_topic_diameter, found.mean_topic_diameter) == (None, None)
    assert found.tco_support_ratio == 0.0


def test_costs_count_in_place_of_edges(priced):
    found = evaluate(priced)
    assert found.weighted_average_degree == pytest.approx(2 * 12.5 / 3)
    # a-b-c costs 3.5, the direct link 9.
    assert found.maximum_weighted_topic_diameter == pytest.approx(3.5)
    assert found.mean_weighted_topic_diameter == pytest.approx(3.5)
    assert found.weighted_diameter_per_topic == pytest.approx([3.5])
    assert found.maximum_topic_diameter == 1


def test_a_triangle_is_fully_clustered(priced):
    assert evaluate(priced).clustering_coefficient == 1.0


def test_in_one_process_diameters_are_exact_and_their_own_lower_bounds(square, priced):
    for found in (evaluate(square), evaluate(priced)):
        assert found.diameters_exact
        assert found.maximum_topic_diameter_lower_bound == found.maximum_topic_diameter
        assert found.mean_topic_diameter_lower_bound == found.mean_topic_diameter
        assert found.maximum_weighted_topic_diameter_lower_bound == found.maximum_weighted_topic_diameter
        assert found.mean_weighted_topic_diameter_lower_bound == found.mean_weighted_topic_diameter


def test_what_was_not_asked_for_is_none(priced):
    without = evaluate(priced, diameters=False, bound=False)
    assert without.topic_connected
    assert not without.diameters_exact
    assert without.diameter_per_topic is None
    assert without.weighted_diameter_per_topic is None
    assert without.maximum_topic_diameter is None
    assert without.mean_weighted_topic_diameter is None
    assert without.maximum_topic_diameter_lower_bound is None
    assert without.mean_weighted_topic_diameter_lower_bound is None
    assert without.lower_bound_average_degree is None
    assert without.lower_bound_method is None


@pytest.mark.parametrize(
    "interests",
    [
        pytest.param(Interests.from_pairs([]), id="nothing"),
        pytest.param(Interests.from_pairs([], nodes=["a", "b"]), id="nodes without topics"),
        pytest.param(Interests.from_pairs([], topics=["x"]), id="a topic without nodes"),
        pytest.param(Interests.from_pairs([("a", "x"), ("b", "y")]), id="topics of one"),
    ],
)
def test_where_nothing_is_to_be_connected_all_is_well(interests):
    found = evaluate(Overlay.from_edges(interests, []))
    assert found.topic_connected
    assert found.tco_support_ratio == 1.0
    assert (found.average_degree, found.maximum_degree, found.clustering_coefficient) == (0.0, 0, 0.0)
    assert (found.maximum_topic_diameter, found.mean_topic_diameter) == (0, 0.0)
    assert (found.lower_bound_average_degree, found.lower_bound_method) == (0.0, "spanning")
    assert found.disconnected_topic_components() == {}


def test_an_edge_without_a_common_topic_counts_as_degree_only():
    found = evaluate(overlay_of({"a": "x", "b": "y", "c": "x"}, ["ab", "bc"]))
    assert found.edges == 2
    assert found.components_per_topic.tolist() == [2, 1]


def test_evaluations_of_the_same_overlay_are_equal_and_print_every_number(square):
    assert evaluate(square) == evaluate(square)
    assert "disconnected_topics: 1" in str(evaluate(square)).splitlines()


def test_topics_in_many_rows_measure_as_in_one(monkeypatch):
    rng = np.random.default_rng(3)
    wants = rng.random((60, 25)) < 0.3
    interests = Interests.from_scipy(wants.astype(np.int32))
    edges = np.argwhere(np.triu(rng.random((60, 60)) < 0.1, 1))
    overlay = Overlay.from_arrays(interests, edges, rng.uniform(1, 2, len(edges)))
    at_once = evaluate(overlay)
    monkeypatch.setattr(topics, "_EDGES_AT_ONCE", 10)
    in_rows = evaluate(overlay)
    assert in_rows == at_once
    assert in_rows.components_per_topic.tolist() == at_once.components_per_topic.tolist()
    assert in_rows.diameter_per_topic.tolist() == at_once.diameter_per_topic.tolist()
    assert in_rows.weighted_diameter_per_topic.tolist() == at_once.weighted_diameter_per_topic.tolist()


def test_every_stage_that_begins_also_ends(square):
    class Recorder:
        def __init__(self):
            self.begun, self.ended = [], 0

        def start(self, label, total):
            self.begun.append(label)

        def advance(self, done):
            pass

        def finish(self):
            self.ended += 1

    recorder = Recorder()
    evaluate(square, progress=recorder)
    assert recorder.begun == [
        "reading the overlay",
        "counting edges by topic",
        "sorting edges by topic",
        "measuring topics",
        "finding cut nodes",
        "directing links",
        "counting triangles",
        "bounding the degree",
        "bounding by duality",
    ]
    assert recorder.ended == len(recorder.begun)


def test_an_overlay_with_views_says_how_many_links_they_give_its_nodes():
    interests = mw.workloads.grid(40, 6, seed=1)
    overlay, found = mw.build(interests, "stan", seed=2), mw.gossip(interests, diameters=False, seed=2)
    measured = mw.evaluate(overlay)
    expected = {
        "logical_view_size": found.logical_view_size,
        "physical_view_size": found.final_physical_view_size,
        "in_view_deviation": found.in_view_deviation,
        "maximum_in_view": found.maximum_in_view,
    }
    assert expected.items() <= measured.to_json().items()
    spread = measured.distributions()["view_distributions"]
    assert spread == {name: found.distributions()[name] for name in spread}
    plain = mw.evaluate(mw.build(interests, "gm"))
    assert not expected.keys() & plain.to_json().keys()
    assert "view_distributions" not in plain.distributions()
