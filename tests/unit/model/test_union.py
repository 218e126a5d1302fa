import numpy as np
import pyarrow as pa
import pytest

import meshwright as mw
from meshwright.model.union import union


def overlay(topics_of: dict[str, str], edges=(), costs=None, **attributes: pa.Table) -> mw.Overlay:
    pairs = [(node, topic) for node, own in topics_of.items() for topic in own]
    plain = mw.Interests.from_pairs(pairs, nodes=list(topics_of))
    interests = mw.Interests(plain.indptr, plain.topic_ids, plain.nodes, plain.topics, **attributes)
    return mw.Overlay.from_edges(interests, edges, costs)


def test_nodes_and_topics_are_matched_by_name():
    one = overlay({"b": "xz", "d": "z"}, [("b", "d")])
    other = overlay({"a": "yz", "c": "", "e": "x"}, [("a", "e")])
    whole = union([one, other])
    assert sorted(whole.interests.to_pairs()) == sorted(
        [*one.interests.to_pairs(), *other.interests.to_pairs()]
    )
    assert whole.interests.nodes.to_pylist() == list("abcde")
    assert whole.interests.topics.to_pylist() == list("xyz")
    assert (whole.parts, whole.part_of.tolist()) == (2, [1, 0, 1, 0, 1])
    assert whole.edges.tolist() == [[1, 3], [0, 4]]
    assert whole.costs is None


def test_one_overlay_is_its_own_union():
    one = overlay({"a": "xy", "b": "x", "c": ""}, [("a", "b")], [2.5])
    whole = union([one])
    assert whole.interests == one.interests
    assert np.array_equal(whole.edges, one.edges)
    assert whole.costs.tolist() == [2.5]


def test_overlays_without_nodes_are_legal():
    whole = union([overlay({}), overlay({"a": "x"}), overlay({})])
    assert (whole.parts, whole.part_of.tolist()) == (3, [1])
    assert union([overlay({})]).interests.node_count == 0


def test_no_overlays_at_all_are_refused():
    with pytest.raises(mw.InputError, match="no overlays to merge; give at least one"):
        union([])


def test_a_common_node_is_refused_by_its_name():
    overlays = [overlay({"a": "x", "b": "x"}), overlay({"c": "x"}), overlay({"b": "y", "d": "y"})]
    with pytest.raises(mw.InputError, match=r"overlays 1 and 3 both have the node 'b'; .* must not share"):
        union(overlays)
    with pytest.raises(mw.InputError, match=r"overlays 1 and 2 both have the node 'a' \(and 1 more\)"):
        union([overlays[0], overlays[0]])


def test_costs_stay_with_their_edges():
    one = overlay({"b": "x", "d": "x", "e": "x"}, [("d", "e"), ("b", "d")], [2.0, 1.0])
    other = overlay({"a": "x", "c": "x"}, [("c", "a")], [3.0])
    whole = union([one, other])
    assert dict(zip(map(tuple, whole.edges.tolist()), whole.costs.tolist(), strict=True)) == {
        (1, 3): 1.0,
        (3, 4): 2.0,
        (0, 2): 3.0,
    }


def test_costs_are_all_or_nothing_among_the_overlays_that_have_edges():
    priced = overlay({"a": "x", "b": "x"}, [("a", "b")], [1.0])
    plain = overlay({"c": "x", "d": "x"}, [("c", "d")])
    with pytest.raises(mw.InputError, match="overlay 2 has costs and overlay 1 has none"):
        union([plain, priced])
    assert union([overlay({"e": "x"}), priced]).costs.tolist() == [1.0]


def test_attributes_are_kept_and_missing_ones_are_null():
    one = overlay({"b": "x"}, node_attributes=pa.table({"site": ["oslo"], "port": [1883]}))
    other = overlay({"a": "x", "c": "x"}, node_attributes=pa.table({"site": ["bonn", "kiel"]}))
    plain = overlay({"d": "x"})
    kept = union([one, other, plain]).interests.node_attributes
    assert kept.to_pydict() == {"site": ["bonn", "oslo", "kiel", None], "port": [None, 1883, None, None]}


def test_a_topic_has_the_attributes_of_the_first_overlay_that_has_a_value():
    one = overlay({"a": "xy"}, topic_attributes=pa.table({"rate": pa.array([None, 2.0])}))
    other = overlay({"b": "xyz"}, topic_attributes=pa.table({"rate": [5.0, 6.0, 7.0]}))
    assert union([one, other]).interests.topic_attributes["rate"].to_pylist() == [5.0, 2.0, 7.0]


def test_attributes_of_two_types_are_refused():
    one = overlay({"a": "x"}, node_attributes=pa.table({"rack": ["7"]}))
    other = overlay({"b": "x"}, node_attributes=pa.table({"rack": [7]}))
    with pytest.raises(mw.InputError, match="node attribute 'rack' is string in one overlay and int64"):
        union([one, other])
