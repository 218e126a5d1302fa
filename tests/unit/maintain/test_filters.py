"""The maintainer of filters: what splits, what joins, and what is refused."""

import json
from dataclasses import replace
from functools import partial

import pyarrow as pa
import pytest

import meshwright as mw
from meshwright.filters.classes import classes_of
from meshwright.maintain import filters
from meshwright.pipeline.churn import ChurnPlan, ChurnSource, churn_here

PAIRS = [("b1", "plant/#"), ("b2", "plant/7/temp"), ("b3", "plant/7/#")]


@pytest.fixture
def live():
    return mw.Maintainer(mw.build(mw.Interests.from_filters(PAIRS), "gm"))


def test_a_new_filter_splits_a_class_and_its_end_joins_it_again(live):
    before = live.overlay.interests
    live.join("b4", ["plant/+/temp"])
    assert live.overlay.interests.nodes_of("plant/+/temp") == ["b1", "b4"]
    assert live.overlay.interests.nodes_of("plant/7/temp") == ["b1", "b2", "b3", "b4"]
    live.leave("b4")
    assert live.overlay.interests == before


def test_other_attributes_of_nodes_and_topics_are_kept():
    interests = mw.Interests.from_filters(PAIRS)
    sites = interests.node_attributes.append_column("site", pa.array(["x", "y", "z"]))
    rates = interests.topic_attributes.append_column("rate", pa.array([1.0, 2.0, 3.0]))
    priced = replace(interests, node_attributes=sites, topic_attributes=rates)
    live = mw.Maintainer(mw.build(priced, "gm"))
    assert live.overlay.interests == priced
    live.join("b4", ["plant/+/temp"])
    found = live.overlay.interests
    assert found.node_attributes["site"].to_pylist() == ["x", "y", "z", None]
    assert dict(zip(found.topics.to_pylist(), found.topic_attributes["rate"].to_pylist(), strict=True)) == {
        "plant/#": 1.0,
        "plant/+/temp": None,
        "plant/7/#": 2.0,
        "plant/7/temp": 3.0,
    }


def test_a_filter_given_up_leaves_what_another_filter_of_the_node_covers(live):
    live.subscribe("b1", ["plant/7/temp"])
    live.unsubscribe("b1", ["plant/#"])
    assert live.topics_of("b1") == {"plant/7/temp"}
    assert live.filters_of("b1") == {"plant/7/temp"}


def test_a_filter_that_the_dialect_forbids_is_refused_and_changes_nothing(live):
    before = live.overlay
    with pytest.raises(mw.InputError, match="may only be the last word"):
        live.subscribe("b1", ["a", "a/#/b"])
    found = live.apply([mw.Event(1, "subscribe", "b1", ("a/#/b",)), mw.Event(1, "leave", "b9")], lenient=True)
    assert len(found.refused) == 2
    assert live.overlay.interests == before.interests


def test_an_event_with_a_known_id_is_passed_over(live):
    event = mw.Event(1, "join", "b4", ("plant/+/temp",), id="one")
    assert live.apply([event]).repeated == 0
    assert live.apply([event]).repeated == 1
    assert live.revision == 1


EXPLODING = tuple("/".join("x" if at == place else "+" for at in range(8)) for place in range(8))


@pytest.fixture
def at_most_100_classes(monkeypatch):
    monkeypatch.setattr(filters, "classes_of", partial(classes_of, most=100))


@pytest.mark.usefixtures("at_most_100_classes")
def test_filters_that_would_explode_are_refused_and_change_nothing(live):
    before = live.overlay
    with pytest.raises(mw.CapacityError, match="more than 100 classes"):
        live.join("b4", EXPLODING)
    assert live.overlay == before


@pytest.mark.usefixtures("at_most_100_classes")
def test_only_the_events_that_make_filters_explode_are_left_out(live):
    events = [mw.Event(at, "join", f"b{at}", EXPLODING[start::2]) for at, start in ((4, 1), (5, 0))]
    events.append(mw.Event(6, "join", "b6", ("plant/+/temp",)))
    refused = live.apply(events, lenient=True).refused
    assert [refusal.event.node for refusal in refused] == ["b5"]
    assert "most are due to" in refused[0].reason
    assert live.overlay.interests.nodes_of("plant/+/temp") == ["b1", "b6"]


def test_plain_topics_take_no_names():
    overlay = mw.build(mw.Interests.from_pairs([("b1", "a"), ("b2", "a")]), "gm")
    with pytest.raises(mw.InputError, match="plain"):
        mw.Maintainer(overlay, names=["a"])


NAMES = ["plant/7/temp", "plant/8/temp"]


def test_classes_of_a_catalogue_need_the_catalogue():
    overlay = mw.build(mw.Interests.from_filters(PAIRS, names=NAMES), "gm")
    with pytest.raises(mw.InputError, match="names="):
        mw.Maintainer(overlay)
    assert mw.Maintainer(overlay, names=NAMES).overlay.interests == overlay.interests


def test_names_that_come_later_have_classes_from_the_start():
    overlay = mw.build(mw.Interests.from_filters(PAIRS, names=NAMES[1:]), "gm")
    assert len(overlay) == 0
    live = mw.Maintainer(overlay, names=NAMES)
    assert len(live.start.added) == 2
    assert live.overlay.interests == mw.Interests.from_filters(PAIRS, names=NAMES)
    assert mw.evaluate(live.overlay).topic_connected


def test_a_snapshot_continues_with_the_same_filters_and_names_alone(live):
    live.join("b4", ["plant/+/temp"])
    again = mw.Maintainer.restore(live.snapshot())
    assert again.overlay == live.overlay
    for each in (live, again):
        each.subscribe("b2", ["+/8/#"])
    assert again.snapshot() == live.snapshot()
    known = mw.Maintainer(mw.build(mw.Interests.from_filters(PAIRS, names=NAMES), "gm"), names=NAMES)
    saved = known.snapshot()
    assert mw.Maintainer.restore(saved, names=NAMES[::-1]).overlay == known.overlay
    for names, words in ((None, "give them again"), (["a"], "other names")):
        with pytest.raises(mw.InputError, match=words):
            mw.Maintainer.restore(saved, names=names)


def test_a_journal_of_the_same_topics_by_other_filters_is_refused(tmp_path):
    pairs = [("b1", "a/#"), ("b2", "a/b")]
    with mw.Journal(tmp_path / "journal", mw.build(mw.Interests.from_filters(pairs), "gm")):
        pass
    other = mw.build(mw.Interests.from_filters([*pairs, ("b1", "a/b")]), "gm")
    with pytest.raises(mw.DatasetError, match="another overlay"):
        mw.Journal(tmp_path / "journal", other)


def test_churn_takes_events_on_filters(tmp_path):
    mw.build(mw.Interests.from_filters(PAIRS), "gm").write(tmp_path / "overlay")
    rows = [
        {"at": 1, "event": "join", "node": "b4", "topics": ["plant/+/temp"]},
        {"at": 2, "event": "subscribe", "node": "b2", "topics": ["a/#/b"]},
    ]
    events = tmp_path / "events.jsonl"
    events.write_text("".join(json.dumps(row) + "\n" for row in rows))
    plan = ChurnPlan(options={"policy": "shadow"})
    manifest = churn_here(tmp_path / "overlay", tmp_path / "out", ChurnSource(events=events), plan)
    assert manifest["facts"]["rejected"] == 1
    assert manifest["facts"]["events"] == 1
    after = mw.Interests.from_filters([*PAIRS, ("b4", "plant/+/temp")])
    assert mw.Overlay.read(tmp_path / "out").interests == after


def test_churn_by_a_law_takes_filters_of_the_nodes(tmp_path):
    mw.build(mw.Interests.from_filters(PAIRS), "gm").write(tmp_path / "overlay")
    plan = ChurnPlan(options={"policy": "shadow"})
    churn_here(tmp_path / "overlay", tmp_path / "out", ChurnSource(rounds=12), plan)
    found = mw.Overlay.read(tmp_path / "out")
    nodes, own = found.interests.nodes.to_pylist(), found.interests.node_attributes["filters"].to_pylist()
    pairs = [(node, text) for node, texts in zip(nodes, own, strict=True) for text in texts]
    assert {text for _, text in pairs} <= {text for _, text in PAIRS}
    assert found.interests == mw.Interests.from_filters(pairs, nodes=found.interests.nodes)
    assert mw.evaluate(found).topic_connected
