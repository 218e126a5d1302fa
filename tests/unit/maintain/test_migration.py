import numpy as np
import pytest

import meshwright as mw
from tests.unit.maintain.examples import overlay_of

TOPICS = {"a": "x", "b": "xy", "c": "xy", "d": "y"}


def rows(way: mw.Migration) -> list[str]:
    return [
        f"{row['step']} {row['action']} {row['source']}{row['target']}" for row in way.changes.to_pylist()
    ]


def test_a_link_is_closed_after_the_one_that_replaces_it_is_open():
    today, target = overlay_of(TOPICS, ["ab", "ac", "bc", "bd"]), overlay_of(TOPICS, ["ab", "bc", "cd"])
    assert rows(mw.migrate(today, target)) == ["1 open cd", "1 close ac", "1 close bd"]
    assert rows(mw.migrate(today, target, 1)) == ["1 close ac", "2 open cd", "3 close bd"]


def test_one_new_link_that_reconnects_two_topics_is_preferred_to_two():
    topics = {"a": "xy", "b": "xy", "c": "xy", "d": "x", "e": "y"}
    today = overlay_of(topics, ["ab", "bc", "cd", "ce"])
    target = overlay_of(topics, ["ab", "ac", "ad", "cd", "ae", "ce"])
    first = mw.migrate(today, target, 2).changes.slice(0, 2).to_pylist()
    assert [(row["action"], row["source"] + row["target"]) for row in first] == [
        ("open", "ac"),
        ("close", "bc"),
    ]


def test_a_cut_topic_is_connected_first_and_told():
    today, target = overlay_of(TOPICS, ["ab", "bd"]), overlay_of(TOPICS, ["ab", "bc", "bd"])
    way = mw.migrate(today, target)
    assert rows(way) == ["1 open bc"]
    assert way.steps["cut_topics"].to_pylist() == [2, 0]


def test_the_dearest_links_go_first_and_what_each_step_saves_is_told():
    interests = overlay_of(dict.fromkeys("abcd", "x")).interests
    pairs = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "c"), ("a", "d"), ("b", "d")]
    today = mw.Overlay.from_edges(interests, pairs, [1, 1, 1, 5, 9, 7])
    target = mw.Overlay.from_edges(interests, pairs[:3], [1, 1, 1])
    way = mw.migrate(today, target, 1)
    assert rows(way) == ["1 close ad", "2 close bd", "3 close ac"]
    assert way.steps["saves"].to_pylist() == [0, 9, 7, 5]
    assert way.steps["cost"].to_pylist() == [24, 15, 8, 3]


def test_the_costs_of_the_target_price_an_overlay_without_costs():
    pairs = [("a", "x"), ("b", "x"), ("c", "x")]
    interests = mw.Interests.from_pairs(pairs)
    costs = mw.Costs.from_matrix([[0, 5, 10], [5, 0, 5], [10, 5, 0]], ["a", "b", "c"])
    target = mw.build(interests, "gr-maw", costs=costs)
    today = mw.Overlay.from_edges(interests, [("a", "b"), ("a", "c")])
    assert mw.migrate(today, target).steps["cost"].to_pylist() == [15.0, 10.0]


def test_a_link_of_both_that_has_two_costs_counts_with_the_target_s_and_is_told():
    interests = overlay_of(dict.fromkeys("abc", "x")).interests
    today = mw.Overlay.from_edges(interests, [("a", "b"), ("a", "c"), ("b", "c")], [1, 2, 3])
    target = mw.Overlay.from_edges(interests, [("a", "b"), ("a", "c")], [1, 5])
    way = mw.migrate(today, target)
    assert way.repriced == 1
    assert way.steps["cost"].to_pylist() == [9, 6]


def test_costs_of_one_overlay_alone_are_left_out():
    interests = overlay_of(dict.fromkeys("abc", "x")).interests
    today = mw.Overlay.from_edges(interests, [("a", "b"), ("a", "c"), ("b", "c")], [1, 2, 3])
    way = mw.migrate(today, mw.Overlay.from_edges(interests, [("a", "b"), ("a", "c")]))
    assert not way.has_costs
    assert way.steps["saves"].to_pylist() == [0, 1]


def test_overlays_with_the_same_links_need_no_step():
    overlay = overlay_of(TOPICS)
    way = mw.migrate(overlay, overlay)
    assert (len(way), way.changes.num_rows, way.opened, way.closed) == (0, 0, 0, 0)


def test_the_overlay_hardly_ever_grows_on_the_way():
    interests = mw.workloads.expo(300, 50, subscriptions=8, seed=1)
    ring, gm, low_oda = (mw.build(interests, name) for name in ("ring", "gm", "low-oda"))
    for today, target in ((ring, gm), (gm, low_oda), (low_oda, gm)):
        way = mw.migrate(today, target)
        assert max(way.steps["links"].to_pylist()) <= way.most_links
        assert way.most_links <= 1.02 * max(len(today), len(target)) + 20


def test_links_that_connect_cut_topics_come_in_turns_with_those_that_no_topic_needs():
    topics = dict.fromkeys("abcd", "x") | dict.fromkeys("efgh", "y")
    today = overlay_of(topics, ["ab", "cd", "ef", "fg", "gh", "eg", "fh", "eh"])
    target = overlay_of(topics, ["ab", "bc", "cd", "ef", "fg", "gh"])
    way = mw.migrate(today, target, 2)
    assert [row[2:8].strip() for row in rows(way)] == ["open b", "close", "close", "close"]
    assert way.steps["cut_topics"].to_pylist() == [1, 0, 0]
    assert way.most_links == 9


@pytest.mark.parametrize("steps_of", [0, -1, 1.5, None, True])
def test_a_step_must_have_room_for_a_change(steps_of):
    with pytest.raises(mw.OptionError, match=r"steps_of is .* at least 1"):
        mw.migrate(overlay_of(TOPICS), overlay_of(TOPICS), steps_of)


@pytest.mark.parametrize(
    ("topics", "words"),
    [
        ({**TOPICS, "e": "x"}, "node 'e' is only in the target"),
        ({node: own for node, own in TOPICS.items() if node != "a"}, "node 'a' is only in today"),
        ({**TOPICS, "a": "xz"}, "topic 'z' is only in the target"),
        ({**TOPICS, "a": "xy"}, "node 'a' subscribes to 'y' only in the target"),
        ({**TOPICS, "b": "y"}, "node 'b' subscribes to 'x' only in today"),
    ],
)
def test_overlays_of_other_interests_are_refused_with_the_first_difference(topics, words):
    with pytest.raises(mw.InputError, match=words):
        mw.migrate(overlay_of(TOPICS), overlay_of(topics))


def test_a_target_that_cuts_a_topic_is_refused():
    with pytest.raises(mw.InputError, match="does not connect the topic 'x' and 1 more"):
        mw.migrate(overlay_of(TOPICS), overlay_of(TOPICS, ["ad"]))


def test_no_nodes_at_all_are_no_problem():
    empty = mw.Overlay.from_arrays(mw.Interests.from_pairs([]), np.empty((0, 2), np.int32))
    assert len(mw.migrate(empty, empty)) == 0


def test_what_is_no_overlay_is_refused():
    overlay = overlay_of(TOPICS)
    for today, target in ((overlay.interests, overlay), (overlay, "target")):
        with pytest.raises(mw.InputError, match=r"migrate got (an Interests|a str); give two Overlays"):
            mw.migrate(today, target)
    with pytest.raises(mw.InputError, match="export got an Interests; give an Overlay"):
        mw.export(overlay.interests, "x.csv")
