from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

import meshwright as mw
from meshwright.maintain import policies as naive
from meshwright.maintain import snapshots
from meshwright.maintain.options import ALL, POLICIES
from meshwright.runtime.errors import MeshwrightError
from tests.unit.maintain.examples import is_topic_connected, links, overlay_of, random_events, workload

EVERY_POLICY = pytest.mark.parametrize("policy", POLICIES)


@EVERY_POLICY
def test_a_cut_vertex_that_leaves_is_replaced(policy):
    live = mw.Maintainer(overlay_of({"a": "x", "b": "x", "c": "x"}, ["ab", "bc"]), policy)
    repair = live.leave("b")
    assert repair.added == (("a", "c"),)
    assert repair.removed == (("a", "b"), ("b", "c"))
    assert links(live) == {"ac"}


@EVERY_POLICY
def test_a_node_that_joins_is_linked_in_each_of_its_topics(policy):
    live = mw.Maintainer(overlay_of({"a": "xy", "b": "x", "c": "z"}), policy)
    live.join("d", ["y", "z", "new"])
    assert is_topic_connected(live)
    assert live.topics_of("d") == {"y", "z", "new"}
    assert {"a", "c"} <= live.neighbours_of("d")


@EVERY_POLICY
def test_nodes_that_need_no_link_get_none(policy):
    live = mw.Maintainer(overlay_of({"a": "x"}), policy)
    assert live.join("b").added == ()
    assert live.join("c", ["y"]).added == ()
    assert live.leave("b").removed == ()
    assert live.unsubscribe("c", ["y"]).removed == ()
    assert links(live) == set()


@EVERY_POLICY
def test_a_subscribe_adds_a_link_only_where_no_neighbour_has_the_topic(policy):
    live = mw.Maintainer(overlay_of({"a": "xy", "b": "x", "c": "z"}, ["ab"]), policy)
    assert live.subscribe("b", ["y"]).added == ()
    assert live.subscribe("b", ["z"]).added == (("b", "c"),)


@EVERY_POLICY
def test_an_unsubscribe_closes_links_over_which_no_topic_is_left_and_mends_the_topic(policy):
    live = mw.Maintainer(overlay_of({"a": "xy", "b": "x", "c": "x"}, ["ab", "ac"]), policy)
    repair = live.unsubscribe("a", ["x"])
    assert repair.removed == (("a", "b"), ("a", "c"))
    assert repair.added == (("b", "c"),)


def test_links_that_still_carry_a_topic_stay_when_another_is_given_up():
    live = mw.Maintainer(overlay_of({"a": "xy", "b": "xy", "c": "xy"}, ["ab", "bc"]))
    repair = live.unsubscribe("b", ["x"])
    assert repair.removed == ()
    assert repair.added == (("a", "c"),)


@EVERY_POLICY
def test_the_last_node_may_leave_and_others_may_come(policy):
    live = mw.Maintainer(overlay_of({"a": "x"}), policy)
    live.leave("a")
    assert len(live) == 0
    assert (live.average_degree, live.maximum_degree) == (0, 0)
    for name in "bcd":
        live.join(name, ["x"])
    assert is_topic_connected(live)


@EVERY_POLICY
@pytest.mark.parametrize(
    ("kind", "node", "topics", "message"),
    [
        ("leave", "z", (), "'z' leaves, but is not in the overlay; a node has to join first"),
        ("subscribe", "z", ("x",), "'z' subscribes, but is not in the overlay"),
        ("unsubscribe", "z", ("x",), "'z' unsubscribes, but is not in the overlay"),
        ("join", "a", ("x",), "'a' joins, but is already in the overlay; use subscribe to change its topics"),
        ("subscribe", "a", (), "'a' subscribes without topics"),
        ("unsubscribe", "a", (), "'a' unsubscribes without topics"),
        ("join", "", ("x",), "node of an event is ''"),
        ("join", "z", "x", "single string 'x'"),
    ],
)
def test_what_can_not_be_is_refused_and_changes_nothing(policy, kind, node, topics, message):
    live = mw.Maintainer(overlay_of({"a": "x", "b": "x"}), policy)
    before = live.snapshot()
    with pytest.raises(mw.InputError, match=message):
        getattr(live, kind)(*([node] if kind == "leave" else [node, topics]))
    assert live.snapshot() == before


@EVERY_POLICY
def test_subscribing_to_what_is_subscribed_and_giving_up_what_is_not_changes_no_link(policy):
    live = mw.Maintainer(overlay_of({"a": "xy", "b": "xy"}), policy)
    before = links(live)
    assert live.subscribe("a", ["x", "y"]).added == ()
    assert live.unsubscribe("a", ["z", "never seen"]).removed == ()
    assert links(live) == before
    assert live.revision == 2


def test_one_bad_event_refuses_the_whole_batch_and_sort_out_tells_which():
    live = mw.Maintainer(overlay_of({"a": "x", "b": "x"}))
    events = [
        mw.Event(1, "join", "c", ("x",)),
        mw.Event(2, "join", "c", ("x",)),
        mw.Event(3, "leave", "z"),
        mw.Event(4, "leave", "c"),
    ]
    before = live.snapshot()
    with pytest.raises(mw.InputError, match="'c' joins, but is already in the overlay"):
        live.apply(events)
    assert live.snapshot() == before
    good, refused = live.sort_out(events)
    assert good == [events[0], events[3]]
    assert [refusal.event for refusal in refused] == events[1:3]
    assert "is not in the overlay" in refused[1].reason
    assert live.snapshot() == before


def test_a_batch_is_one_repair_of_where_the_nodes_end_up():
    live = mw.Maintainer(overlay_of({"a": "x", "b": "x", "c": "x"}, ["ab", "bc"]))
    back = live.apply([mw.Event(1, "leave", "b"), mw.Event(2, "join", "b", ("x",))])
    assert (back.added, back.removed, back.events, back.revision) == ((), (), 2, 2)
    brief = live.apply([mw.Event(3, "join", "d", ("x",)), mw.Event(4, "leave", "d")])
    assert (brief.added, brief.removed) == ((), ())
    assert "d" not in live
    assert live.apply([]).revision == 4


def test_a_batch_that_takes_all_but_the_ends_of_a_chain_links_the_ends():
    names = "abcdefgh"
    live = mw.Maintainer(overlay_of(dict.fromkeys(names, "x"), [a + b for a, b in pairwise(names)]))
    repair = live.apply([mw.Event(at, "leave", name) for at, name in enumerate("bcdefg")])
    assert repair.added == (("a", "h"),)


def test_new_nodes_of_one_batch_that_back_each_other_up_are_linked_to_the_old_ones():
    live = mw.Maintainer(overlay_of({name: "x" for name in "abcdef"}), coverage=1)
    repair = live.apply([mw.Event(1, "join", "y", ("x",)), mw.Event(1, "join", "z", ("x",))])
    assert is_topic_connected(live)
    assert len(repair.added) == 2


def test_an_event_of_a_known_id_is_passed_over():
    live = mw.Maintainer(overlay_of({"a": "x"}))
    join = mw.Event(1, "join", "b", ("x",), "k1")
    assert live.apply([join, join]).repeated == 1
    again = live.apply([join, mw.Event(2, "leave", "b", (), "k2")])
    assert (again.events, again.repeated, again.revision) == (1, 1, 2)
    assert mw.Maintainer.restore(live.snapshot()).apply([join]).repeated == 1


def test_ids_are_forgotten_beyond_as_many_as_are_remembered():
    live = mw.Maintainer(overlay_of({"a": "x"}), remember=1)
    live.apply([mw.Event(1, "join", "b", ("x",), "k1")])
    live.apply([mw.Event(1, "join", "c", ("x",), "k2")])
    with pytest.raises(mw.InputError, match="'b' joins, but is already in the overlay"):
        live.apply([mw.Event(1, "join", "b", ("x",), "k1")])


def test_an_overlay_that_is_not_topic_connected_is_repaired_first_or_refused():
    loose = overlay_of({"a": "x", "b": "x", "c": "xy", "d": "y"}, ["ab"])
    live = mw.Maintainer(loose)
    assert is_topic_connected(live)
    assert len(live.start.added) == 2
    assert live.start.removed == ()
    with pytest.raises(mw.InputError, match=r"its 2 topics are in 4 pieces.*disconnected='repair'"):
        mw.Maintainer(loose, disconnected="refuse")
    fine = overlay_of({"a": "x", "b": "x"})
    assert mw.Maintainer(fine, disconnected="refuse").start.added == ()


@EVERY_POLICY
def test_the_same_calls_give_the_same_overlay_and_the_same_snapshot(policy):
    overlay = workload()
    once, again = (mw.Maintainer(overlay, policy, seed=4) for _ in range(2))
    events = random_events(once, 60, seed=2)
    for start in range(0, 60, 3):
        assert_same(once.apply(events[start : start + 3]), again.apply(events[start : start + 3]))
    assert once.snapshot() == again.snapshot()
    assert once.overlay == again.overlay


def assert_same(one: mw.Repair, other: mw.Repair) -> None:
    fields = ("revision", "events", "repeated", "added", "removed", "shadows")
    assert all(getattr(one, field) == getattr(other, field) for field in fields)


@EVERY_POLICY
def test_a_restored_maintainer_goes_on_exactly_as_the_one_that_was_saved(policy):
    live = mw.Maintainer(workload(), policy, seed=4)
    events = random_events(live, 120, seed=3)
    for event in events[:60]:
        live.apply([event])
    other = mw.Maintainer.restore(live.snapshot())
    for event in events[60:]:
        assert_same(live.apply([event]), other.apply([event]))
    assert live.snapshot() == other.snapshot()
    assert live.overlay == other.overlay


def test_the_seed_changes_the_backups():
    overlay = workload()
    one, other = (mw.Maintainer(overlay, seed=seed, keep_backups=True) for seed in (1, 2))
    assert one.backups_of("n000") != other.backups_of("n000")


@pytest.mark.parametrize("cut", ["damaged", "cut short", "empty", "text"])
def test_bytes_that_are_no_snapshot_are_refused(cut):
    saved = mw.Maintainer(workload()).snapshot()
    middle = len(saved) // 2
    damaged = saved[:middle] + bytes([saved[middle] ^ 1]) + saved[middle + 1 :]
    data = {"damaged": damaged, "cut short": saved[:middle], "empty": b"", "text": b"hello"}[cut]
    with pytest.raises(mw.InputError, match="not the snapshot of a maintainer"):
        mw.Maintainer.restore(data)


def test_attributes_are_kept_by_name_and_unknown_for_new_nodes():
    interests = mw.Interests.from_pairs([("a", "x"), ("b", "x")])
    known = mw.Interests(
        interests.indptr,
        interests.topic_ids,
        interests.nodes,
        interests.topics,
        pa.table({"host": ["one", "two"]}),
        pa.table({"rate": [2.5]}),
    )
    live = mw.Maintainer(mw.build(known, "gm"))
    live.leave("a")
    live.join("c", ["x", "y"])
    for each in (live, mw.Maintainer.restore(live.snapshot())):
        now = each.overlay.interests
        assert now.node_attributes["host"].to_pylist() == ["two", None]
        assert now.topic_attributes["rate"].to_pylist() == [2.5, None]


def test_an_overlay_can_grow_from_nothing_beyond_all_room():
    live = mw.Maintainer(overlay_of({}))
    rng = np.random.default_rng(5)
    for at in range(150):
        live.join(f"n{at:03}", [f"t{topic}" for topic in rng.integers(0, 60, 5)])
    for at in range(0, 150, 2):
        live.leave(f"n{at:03}")
    assert len(live) == 75
    assert is_topic_connected(live)


def test_links_are_removed_only_where_no_topic_needs_them():
    live = mw.Maintainer(overlay_of({"a": "x", "b": "x", "c": "x"}, ["ab", "bc"]))
    kept = live.relink([], [("a", "b")])
    assert kept.removed == ()
    exchanged = live.relink([("a", "c")], [("a", "b"), ("b", "c")])
    assert exchanged.added == (("a", "c"),)
    assert exchanged.removed == (("a", "b"),)
    assert live.revision == 2


@pytest.mark.parametrize(
    ("add", "remove", "message"),
    [
        ([("a", "z")], [], "no node 'z' among the 4 nodes"),
        ([("a", "b")], [], "'a' - 'b' is already a link"),
        ([("a", "a")], [], "no topic in common"),
        ([("a", "d")], [], "'a' and 'd' have no topic in common"),
        ([], [("a", "c")], "'a' - 'c' is not a link"),
    ],
)
def test_links_that_can_not_be_added_or_removed_are_refused(add, remove, message):
    live = mw.Maintainer(overlay_of({"a": "x", "b": "x", "c": "x", "d": "y"}, ["ab", "bc"]))
    before = live.snapshot()
    with pytest.raises(mw.InputError, match=message):
        live.relink(add, remove)
    assert live.snapshot() == before


def test_a_repair_that_is_interrupted_leaves_nothing_that_passes_for_whole(monkeypatch):
    live = mw.Maintainer(overlay_of({"a": "x", "b": "x"}), "naive")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(naive, "uproot_losers", interrupt)
    with pytest.raises(KeyboardInterrupt):
        live.leave("a")
    for call in (live.snapshot, lambda: live.overlay, lambda: live.join("c"), live.relink):
        with pytest.raises(MeshwrightError, match="interrupted in the middle of a repair"):
            call()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"policy": "hope"}, "policy is 'hope'; choose among shadow, naive, rebuild"),
        ({"backups": "none"}, "backups is 'none'"),
        ({"coverage": 0}, "coverage is 0"),
        ({"coverage": 1.5}, "coverage is 1.5"),
        ({"rho": 0.5}, "rho is 0.5"),
        ({"degree_of": "hub"}, "degree_of is 'hub'"),
        ({"ties": "best"}, "ties is 'best'"),
        ({"disconnected": "ignore"}, "disconnected is 'ignore'"),
        ({"weigh_primaries": 1}, "weigh_primaries is 1"),
        ({"remember": -1}, "remember is -1"),
        ({"speed": 9}, "there is no option 'speed'; choose among backups, candidates"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_options_that_are_not_legal_are_refused_by_name(options, message):
    with pytest.raises(mw.OptionError, match=message):
        mw.Maintainer(overlay_of({"a": "x"}), **options)


def test_what_is_no_overlay_is_refused():
    with pytest.raises(mw.InputError, match="Maintainer got a str; give an Overlay"):
        mw.Maintainer("mesh")


def test_a_shadow_repair_leaves_all_other_links_alone_and_looks_at_few_nodes():
    overlay = workload(300)
    live = mw.Maintainer(overlay)
    before = links(live)
    repair = live.leave("n000")
    assert before - links(live) == {a + b for a, b in repair.removed}
    assert 0 < repair.shadows < 100
    assert mw.Maintainer(overlay, "naive").leave("n000").shadows > repair.shadows


def test_minding_the_degree_of_shadows_gives_a_maximum_that_is_no_higher():
    overlay = workload(300)
    most = {}
    for degree_of in ("overlay", "shadows"):
        live = mw.Maintainer(overlay, degree_of=degree_of)
        for event in random_events(live, 300, seed=8):
            live.apply([event])
        most[degree_of] = live.maximum_degree
    assert most["shadows"] <= most["overlay"]


def test_few_candidates_take_the_lightest_of_those_that_are_drawn():
    interests = mw.Interests.from_pairs([(f"n{at:03}", "news") for at in range(400)])
    overlay = mw.build(interests, "ring")
    chosen = mw.Maintainer(overlay, candidates=40, coverage=1, seed=1, keep_backups=True)
    loads = [len(chosen.primaries_of(node)) for node in interests.nodes.to_pylist()]
    assert sum(loads) == 400
    assert max(loads) <= 3  # of 40 at random, one with few primaries is taken


def test_a_snapshot_from_before_there_were_candidates_considers_all_and_keeps_backups():
    live = mw.Maintainer(mw.build(mw.workloads.unif(30, 6, subscriptions=3, seed=1), "ring"))
    saved = snapshots.from_bytes(live.snapshot())
    newer = {"candidates", "keep_backups"}
    older = {name: value for name, value in saved.about.options.items() if name not in newer}
    before = snapshots.to_bytes(saved._replace(about=saved.about._replace(options=older)))
    then, now = mw.Maintainer.restore(before).options, mw.Maintainer.restore(live.snapshot()).options
    assert (then.candidates, then.keep_backups) == (ALL, True)
    assert (now.candidates, now.keep_backups) == (256, False)
