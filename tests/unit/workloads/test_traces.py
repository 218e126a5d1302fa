import numpy as np
import pytest
from scipy import stats

import meshwright as mw
from meshwright.model.events import with_ids
from meshwright.workloads.traces import draw_like


@pytest.fixture(scope="module")
def base():
    return mw.workloads.zipf(500, 30, alpha=1.0, min_subscriptions=1, max_subscriptions=12, seed=1)


def there_after(interests, events):
    """The nodes that are there at the end; whoever joins twice or leaves without being there is an error."""
    there = set(interests.nodes.to_pylist())
    for event in events:
        assert (event.event == "join") == (event.node not in there)
        there ^= {event.node}
    return there


def test_a_round_is_one_join_or_leave_that_can_be_applied(base):
    events = mw.workloads.churn(base, 2_000, seed=3)
    assert [event.at for event in events] == list(range(1, 2_001))
    there_after(base, events)
    joins = sum(event.event == "join" for event in events)
    assert stats.binomtest(joins, 2_000, 0.5).pvalue > 1e-6


def test_the_same_seed_gives_the_same_rounds_and_more_rounds_only_add(base):
    assert mw.workloads.churn(base, 300, seed=3) == mw.workloads.churn(base, 1_100, seed=3)[:300]
    assert mw.workloads.churn(base, 300, seed=3) != mw.workloads.churn(base, 300, seed=4)


def test_those_who_join_have_sizes_and_topics_as_those_who_are_there(base):
    drawn = draw_like(base, 20_000, 1, "test")
    assert all(len(set(topics)) == len(topics) for topics in drawn)
    sizes, theirs = np.diff(base.indptr), [len(topics) for topics in drawn]
    expected = np.bincount(sizes, minlength=13)[1:] / len(sizes) * len(drawn)
    assert stats.chisquare(np.bincount(theirs, minlength=13)[1:], expected).pvalue > 1e-6
    counts = {topic: 0 for topic in base.topics.to_pylist()}
    for topics in drawn:
        for topic in topics:
            counts[topic] += 1
    correlation = stats.spearmanr(np.diff(base.topic_indptr), list(counts.values())).statistic
    assert correlation > 0.95


def test_new_names_are_nobodys():
    interests = mw.Interests.from_pairs([("j000000", "x"), ("jj1", "x")])
    events = mw.workloads.churn(interests, 50, join_chance=1.0)
    assert {event.node for event in events} == {f"jjj{at:06d}" for at in range(50)}


def test_where_nobody_is_left_a_node_joins():
    events = mw.workloads.churn(mw.Interests.from_pairs([], nodes=["a"]), 5, join_chance=0.0)
    assert [event.event for event in events] == ["leave", "join", "leave", "join", "leave"]
    assert mw.workloads.churn(mw.Interests.from_pairs([]), 0) == []


@pytest.mark.parametrize("chance", [0.0, 0.5, 1.0])
def test_among_some_names_only_absent_ones_join_and_without_any_nodes_leave(base, chance):
    names = base.nodes.to_pylist()
    among = [*names[:3], "x", "y", "x"]
    events = mw.workloads.churn(base, 200, join_chance=chance, among=among)
    present, absent = set(names), {"x", "y"}
    for event in events:
        here, there = (absent, present) if event.event == "join" else (present, absent)
        here.remove(event.node)
        there.add(event.node)
    assert len(events) == 200
    assert {"x", "y"} <= {event.node for event in events if event.event == "join"} or chance == 0.0
    assert mw.workloads.churn(base, 200, join_chance=chance, among=among) == events
    nobody = mw.Interests.from_pairs([])
    assert mw.workloads.churn(nobody, 5, join_chance=chance, among=[]) == []


@pytest.mark.parametrize(("rounds", "chance"), [(-1, 0.5), (2.5, 0.5), (1, 1.5)])
def test_rounds_and_chances_out_of_range_are_refused(base, rounds, chance):
    with pytest.raises(mw.OptionError):
        mw.workloads.churn(base, rounds, join_chance=chance)


def test_sessions_become_joins_and_leaves_and_equal_times_keep_the_tables_order(base):
    sessions = [
        mw.Session("x", 5, 8),
        mw.Session("n000", 1, 8),
        mw.Session("x", 8, None),
        mw.Session("y", 1, 5),
    ]
    events = mw.workloads.session_churn(base, sessions, seed=1)
    assert [(event.at, event.event, event.node) for event in events] == [
        (1, "join", "y"),
        (5, "join", "x"),
        (5, "leave", "y"),
        (8, "leave", "x"),
        (8, "leave", "n000"),
        (8, "join", "x"),
    ]
    assert events[1].topics == events[5].topics != ()
    there_after(base, events)


def test_a_node_of_the_interests_joins_again_with_its_topics_there(base):
    sessions = [mw.Session("n000", 1, 3), mw.Session("n000", 6, None)]
    events = mw.workloads.session_churn(base, sessions)
    assert [event.event for event in events] == ["leave", "join"]
    assert sorted(events[1].topics) == base.topics_of("n000")
    assert mw.workloads.session_churn(base, []) == []


def test_ids_are_made_of_what_events_say_and_stay_when_others_are_added():
    event = mw.Event(1, "join", "a", ("x",))
    other = mw.Event(1, "join", "a", ("y",))
    own = mw.Event(2, "leave", "a", (), "mine")
    first = with_ids([event, event, own, other])
    assert len({found.id for found in first}) == 4
    assert first[2].id == "mine"
    assert with_ids([event, event, own, other, event])[:4] == first
