"""Relief: what a node with too many links gives away, and what stays."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import meshwright as mw
from meshwright.maintain.relief import exchanged, relieve
from tests.unit.maintain.test_background import is_connected
from tests.unit.maintain.test_maintainer import workload

BUSY = 6


def star(leaves, topics=("news",)):
    """A node that has a link to each other node, in the same topics."""
    names = ["hub", *(f"b{number:02}" for number in range(leaves))]
    interests = mw.Interests.from_pairs([(name, topic) for name in names for topic in topics])
    overlay = mw.Overlay.from_edges(interests, [("hub", name) for name in names[1:]])
    return mw.Maintainer(overlay, seed=3, reoptimise=20)


def run(live, work=10**6, left=10**6, most=8):
    hub = live._state.find("hub")
    return relieve(live._state, live._settings, hub, BUSY, work, left, most)


def degree(live, name):
    return int(live._state.live.links.counts[live._state.find(name)])


def test_a_node_whose_links_are_each_its_only_way_in_a_topic_is_linked_anew():
    """No link of others replaces one of the hub's; one to a node with half of the topics replaces five."""
    topics = [str(number) for number in range(10)]
    pairs = [(node, topic) for topic in topics for node in ("hub", f"half{int(topic) % 2}", f"b{topic}")]
    links = [(f"b{topic}", node) for topic in topics for node in ("hub", f"half{int(topic) % 2}")]
    live = mw.Maintainer(mw.Overlay.from_edges(mw.Interests.from_pairs(pairs), links), seed=3, reoptimise=20)
    assert not run(live, left=10).exchanges
    assert degree(live, "hub") == 10
    assert run(live).exchanges
    assert degree(live, "hub") <= BUSY
    assert is_connected(live)


def test_a_relieved_node_has_fewer_links_and_no_other_too_many():
    live = star(30)
    found = run(live)
    assert found.work
    assert degree(live, "hub") < 30
    assert (
        max(degree(live, name) for name in live.overlay.interests.nodes.to_pylist() if name != "hub") <= BUSY
    )
    assert is_connected(live)


def test_a_node_of_very_many_links_gives_away_at_most_as_many_as_are_tried():
    live = star(100)
    assert len(run(live, most=3).exchanges) == 3
    assert degree(live, "hub") == 97
    assert is_connected(live)


def test_nothing_is_tried_without_enough_work_for_it():
    live = star(30, topics=[str(number) for number in range(20)])
    before = live.snapshot()
    assert run(live, work=50_000) == ([], 0)
    assert live.snapshot() == before


def test_links_are_taken_one_by_one_where_few_may_change():
    live = star(30)
    found = run(live, left=6)
    assert sum(own.changes for own in found.exchanges) <= 6
    assert 26 < degree(live, "hub") < 30


@pytest.mark.parametrize("opened", [1, 2])
def test_a_link_that_is_as_before_has_not_changed(opened):
    state = star(3)._state
    link = np.array([[0, 1]], np.int32)
    again = np.concatenate([link] * opened)
    assert exchanged(state, again, link).changes == opened - 1
    assert exchanged(state, link[:0], link).removed == exchanged(state, link, link[:0]).added


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(3, 8))
def test_relief_keeps_all_topics_connected_and_tells_what_has_changed(seed, busy):
    live = mw.Maintainer(workload(40), seed=seed, reoptimise=20)
    hub = int(np.argmax(live._state.live.links.counts))
    before, links = set(map(tuple, live._state.edges().tolist())), live._state.live.links.counts[hub]
    found = relieve(live._state, live._settings, hub, busy, 10**6, 10**6, 8)
    after = set(map(tuple, live._state.edges().tolist()))
    assert sum(own.changes for own in found.exchanges) == len(before ^ after)
    assert (live._state.live.links.counts[hub] < links) == bool(found.exchanges)
    assert is_connected(live)
