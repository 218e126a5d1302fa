"""The maintainer of filters: what splits, what joins, and what is refused."""

import json

import pytest

import meshwright as mw
from meshwright.pipeline.churn import ChurnPlan, ChurnSource, churn_here

PAIRS = [("b1", "plant/#"), ("b2", "plant/7/temp"), ("b3", "plant/7/#")]


@pytest.fixture
def live():
    return mw.FilterMaintainer(mw.build(mw.Interests.from_filters(PAIRS), "gm"))


def test_a_new_filter_splits_a_class_and_its_end_joins_it_again(live):
    before = live.overlay.interests
    live.join("b4", ["plant/+/temp"])
    assert live.overlay.interests.nodes_of("plant/+/temp") == ["b1", "b4"]
    assert live.overlay.interests.nodes_of("plant/7/temp") == ["b1", "b2", "b3", "b4"]
    live.leave("b4")
    assert live.overlay.interests == before


def test_a_filter_given_up_leaves_what_another_filter_of_the_node_covers(live):
    live.subscribe("b1", ["plant/7/temp"])
    live.unsubscribe("b1", ["plant/#"])
    assert live.classes_of("b1") == {"plant/7/temp"}
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


def test_filters_that_would_explode_are_refused_and_change_nothing():
    overlay = mw.build(mw.Interests.from_filters(PAIRS), "gm")
    live = mw.FilterMaintainer(overlay, most=20)
    texts = ["/".join("x" if at == place else "+" for at in range(8)) for place in range(8)]
    with pytest.raises(mw.CapacityError, match="more than 20 classes"):
        live.join("b4", texts)
    assert live.overlay.interests == overlay.interests


def test_an_overlay_of_plain_topics_is_refused():
    overlay = mw.build(mw.Interests.from_pairs(PAIRS), "gm")
    with pytest.raises(mw.InputError, match="no classes of filters"):
        mw.FilterMaintainer(overlay)


def test_classes_of_a_catalogue_need_the_catalogue():
    names = ["plant/7/temp", "plant/8/temp"]
    overlay = mw.build(mw.Interests.from_filters(PAIRS, names=names), "gm")
    with pytest.raises(mw.InputError, match="names="):
        mw.FilterMaintainer(overlay)
    assert mw.FilterMaintainer(overlay, names=names).overlay.interests == overlay.interests


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


def test_churn_with_a_journal_refuses_filters(tmp_path):
    mw.build(mw.Interests.from_filters(PAIRS), "gm").write(tmp_path / "overlay")
    events = tmp_path / "events.jsonl"
    events.write_text('{"at": 1, "event": "leave", "node": "b1"}\n')
    plan = ChurnPlan(options={"policy": "shadow"}, journal=tmp_path / "journal")
    with pytest.raises(mw.OptionError, match="leave --journal out"):
        churn_here(tmp_path / "overlay", tmp_path / "out", ChurnSource(events=events), plan)


def test_churn_by_a_law_goes_on_with_classes(tmp_path):
    mw.build(mw.Interests.from_filters(PAIRS), "gm").write(tmp_path / "overlay")
    plan = ChurnPlan(options={"policy": "shadow"})
    churn_here(tmp_path / "overlay", tmp_path / "out", ChurnSource(rounds=4), plan)
    assert mw.evaluate(mw.Overlay.read(tmp_path / "out")).topic_connected
