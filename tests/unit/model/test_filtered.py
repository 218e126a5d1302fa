"""Interests of filters."""

import networkx as nx
import pytest

import meshwright as mw
from tests.oracles_filters import matches

PAIRS = [("b1", "plant/+/temp"), ("b2", "plant/7/#"), ("b3", "plant/7/temp"), ("b4", "#"), ("b1", "+/#")]


def test_the_nodes_of_a_class_are_those_with_a_filter_that_covers_it() -> None:
    interests = mw.Interests.from_filters(PAIRS)
    assert interests.topics.to_pylist() == ["#", "plant/+/temp", "plant/7/#", "plant/7/temp"]
    assert interests.nodes_of("plant/7/temp") == ["b1", "b2", "b3", "b4"]
    assert interests.nodes_of("#") == ["b1", "b4"]


def test_classes_and_filters_are_kept_as_attributes() -> None:
    interests = mw.Interests.from_filters(PAIRS)
    assert interests.topic_attributes.column_names == ["dialect", "kind", "example"]
    assert interests.topic_attributes["kind"].to_pylist() == ["filter", "filter", "filter", "name"]
    assert interests.node_attributes["filters"].to_pylist()[0] == ["+/#", "plant/+/temp"]


def test_what_a_node_may_publish_counts_like_a_subscription() -> None:
    interests = mw.Interests.from_filters([("b1", "a/#")], publishes=[("b2", "a/+")])
    assert interests.nodes_of("a/+") == ["b1", "b2"]
    assert interests.nodes_of("a/#") == ["b1"]


def test_a_node_without_filters_and_a_filter_without_names_are_kept() -> None:
    interests = mw.Interests.from_filters([("b1", "a/#"), ("b2", "c/#")], names=["a/x"], nodes=["b3"])
    assert interests.nodes.to_pylist() == ["b1", "b2", "b3"]
    assert interests.topics_of("b2") == []
    assert interests.node_attributes["filters"].to_pylist() == [["a/#"], ["c/#"], []]


def test_no_filters_are_no_interests() -> None:
    assert len(mw.Interests.from_filters([])) == 0


@pytest.mark.parametrize("bad", [[("b1", "a/#/b")], [("b1", "")], [("b1", 7)], [("b1",)], [("b1", "\ud800")]])
def test_bad_pairs_are_refused(bad: list) -> None:
    with pytest.raises(mw.InputError):
        mw.Interests.from_filters(bad)


UNSEEN = ["plant/7/temp", "plant/8/temp", "plant/7/x/y", "other", "plant/7", "plant", "q/w/e", "plant/9/$x"]


def test_an_overlay_of_classes_connects_the_subscribers_of_names_that_nobody_has_seen() -> None:
    overlay = mw.build(mw.Interests.from_filters(PAIRS), "gm")
    graph = overlay.to_networkx()
    for name in UNSEEN:
        wanted = {node for node, text in PAIRS if matches("mqtt", text, name)}
        assert nx.is_connected(graph.subgraph(wanted)), name


def test_a_dataset_of_classes_is_read_as_it_was_written(tmp_path) -> None:
    interests = mw.Interests.from_filters(PAIRS)
    overlay = mw.build(interests, "gm")
    overlay.write(tmp_path / "o")
    assert mw.Overlay.read(tmp_path / "o").interests == interests
    for to in ("graphml", "gml", "dot", "csv", "json"):
        mw.export(overlay, tmp_path / f"o.{to}")
    assert mw.route(overlay, "tree", publications=20).delivered_fraction == 1.0


@pytest.mark.parametrize("most", [-1, 1.5, "x"])
def test_the_limit_of_classes_must_be_a_number_of_them(most):
    with pytest.raises(mw.OptionError, match=r"most is .*; give a whole number of at least 0"):
        mw.Interests.from_filters([("n", "a/+")], most=most)


def test_words_of_wildcards_are_plain_words_in_a_routing_key() -> None:
    interests = mw.Interests.from_filters([("b1", "a.*"), ("b2", "#.b"), ("b3", "#")], "amqp")
    assert interests.class_of("a.*") == interests.class_of("a.#") == interests.class_of("a.x")
    assert interests.nodes_of(str(interests.class_of("a.*"))) == ["b1", "b3"]
    assert interests.nodes_of(str(interests.class_of(""))) == ["b3"]


def test_the_class_of_what_is_no_name_is_none_and_of_no_text_refused() -> None:
    interests = mw.Interests.from_filters(PAIRS)
    assert interests.class_of("a/+/b") is None
    assert interests.class_of("") is None
    with pytest.raises(mw.InputError, match="the name is an int; give a string"):
        interests.class_of(7)  # type: ignore[arg-type]
