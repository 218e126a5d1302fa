import pytest

import meshwright as mw
from meshwright.model.events import Event


def test_a_topic_named_twice_counts_once_and_keeps_its_place():
    assert Event(1, "join", "a", ["y", "x", "y"]).topics == ("y", "x")


def test_a_node_may_join_without_topics():
    assert Event(1, "join", "a").topics == ()


@pytest.mark.parametrize("kind", ["subscribe", "unsubscribe"])
def test_a_change_of_no_topics_is_refused(kind):
    with pytest.raises(mw.InputError, match=f"'a' {kind}s without topics; name at least one"):
        Event(1, kind, "a", [])


def test_a_leave_with_topics_is_refused_since_it_may_mean_an_unsubscribe():
    with pytest.raises(mw.InputError, match=r"lists 2 topics.*use unsubscribe"):
        Event(1, "leave", "a", ["x", "y"])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"at": 1.0}, "time of an event is 1.0"),
        ({"at": True}, "time of an event is True"),
        ({"at": 2**63}, "64 bits"),
        ({"event": "reboot"}, "'reboot'; choose among join, leave, subscribe, unsubscribe"),
        ({"node": ""}, "node of an event is ''"),
        ({"node": 7}, "node of an event is 7"),
        ({"node": "\ud800"}, "lone surrogate"),
        ({"topics": "news"}, "single string 'news'"),
        ({"topics": 5}, "the topics are 5"),
        ({"topics": ["x", ""]}, "topic 2 is an empty string"),
        ({"topics": [None]}, "topic 1 is None"),
        ({"id": ""}, "id of an event is ''"),
    ],
)
def test_fields_that_are_not_legal_are_refused_by_name(fields, message):
    legal = {"at": 1, "event": "join", "node": "a", "topics": ["x"]}
    with pytest.raises(mw.InputError, match=message):
        Event(**legal | fields)
