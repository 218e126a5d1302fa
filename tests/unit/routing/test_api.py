"""What `route` counts and refuses."""

import numpy as np
import pytest

import meshwright as mw
from meshwright.net import Deliver, Send
from meshwright.net import protocol as seen
from meshwright.routing.protocols import Flood, Publication
from meshwright.routing.publications import draw_publications

WAYS = [("gm", "flood"), ("gm", "tree"), ("chord", "nsmf"), ("random-sw", "nsmf"), ("gr-swico", "nsmf")]


@pytest.fixture(scope="module")
def interests():
    return mw.workloads.unif(120, 40, subscriptions=6, seed=1)


@pytest.fixture(scope="module")
def overlays(interests):
    return {name: mw.build(interests, name) for name in ("gm", "chord", "random-sw", "gr-swico")}


@pytest.mark.parametrize(("name", "protocol"), WAYS)
def test_without_loss_everybody_gets_everything(overlays, name, protocol):
    found = mw.route(overlays[name], protocol, 500)
    assert found.delivered_fraction == 1
    assert found.deliveries == found.messages - found.pure_forwards - found.duplicates
    assert found.received.sum() == found.sent.sum() == found.messages
    assert found.maximum_load == (found.received + found.sent).max()
    assert found.average_load == pytest.approx(2 * found.messages / 120)


@pytest.mark.parametrize(("name", "protocol"), WAYS)
def test_the_same_seed_counts_the_same_and_other_publications_differ(overlays, name, protocol):
    once, again, other = (mw.route(overlays[name], protocol, 50, seed=seed, loss=0.1) for seed in (1, 1, 2))
    assert once == again
    assert once.by_publication.equals(again.by_publication)
    assert once != other


@pytest.mark.parametrize(("name", "protocol"), WAYS)
def test_the_more_is_lost_the_less_is_delivered(overlays, name, protocol):
    fractions = [
        mw.route(overlays[name], protocol, 200, loss=loss).delivered_fraction for loss in (0, 0.05, 0.5, 1)
    ]
    assert fractions == sorted(fractions, reverse=True)
    assert fractions[0] == 1 > fractions[1] > fractions[2] > fractions[3] == 0


@pytest.mark.parametrize(("name", "protocol"), WAYS)
def test_failed_nodes_neither_receive_nor_send_nor_count(overlays, name, protocol):
    gone = ["n005", "n017", "n099"]
    found = mw.route(overlays[name], protocol, 300, failed=gone)
    ids = [5, 17, 99]
    assert found.failed_nodes == 3
    assert found.received[ids].sum() == found.sent[ids].sum() == 0
    assert 0 < found.delivered_fraction < 1
    assert not set(found.by_publication["publisher"].to_pylist()) & set(gone)


def test_a_share_of_failed_nodes_is_drawn_by_the_seed(overlays):
    found = [mw.route(overlays["gm"], "flood", 50, failed=0.25, seed=seed) for seed in (1, 1, 2)]
    assert [one.failed_nodes for one in found] == [30, 30, 30]
    assert found[0] == found[1] != found[2]


def test_the_overheads_of_small_worlds_stand_in_the_order_of_the_paper(overlays):
    forwards = {
        name: mw.route(overlays[name], "nsmf", 2_000).pure_forwards
        for name in ("chord", "random-sw", "gr-swico")
    }
    assert forwards["gr-swico"] < 0.9 * min(forwards["chord"], forwards["random-sw"])


def test_using_links_both_ways_shortens_paths(overlays):
    own, both = (mw.route(overlays["gr-swico"], "nsmf", 2_000, both_ways=flag) for flag in (False, True))
    assert both.average_path_length < own.average_path_length
    assert both.deliveries == own.deliveries


def test_publications_are_uniform_over_topics_and_over_their_subscribers():
    interests = mw.Interests.from_pairs(
        [(f"n{node}", "many") for node in range(9)] + [("n0", "one")], topics=["none"]
    )
    drawn = draw_publications(interests, 9_000, np.ones(9, bool), seed=1)
    topics = np.bincount(drawn.topics, minlength=3)
    issuers = np.bincount(drawn.issuers(interests)[drawn.topics == 0], minlength=9)
    assert topics[1] == 0  # none comes between many and one
    assert abs(topics[0] - 4_500) < 5 * np.sqrt(9_000 / 4)
    assert (abs(issuers - topics[0] / 9) < 5 * np.sqrt(topics[0] * 8 / 81)).all()


def test_publications_may_be_named(overlays, interests):
    topic = interests.topics[3].as_py()
    pairs = [(topic, node) for node in interests.nodes_of(topic)]
    rows = mw.route(overlays["gm"], "flood", pairs).by_publication
    assert list(zip(rows["topic"].to_pylist(), rows["publisher"].to_pylist(), strict=True)) == pairs
    assert set(rows["deliveries"].to_pylist()) == {len(pairs) - 1}


def test_a_topic_of_one_delivers_nothing_and_misses_nothing():
    overlay = mw.build(mw.Interests.from_pairs([("a", "x"), ("b", "y")]), "gm")
    found = mw.route(overlay, "flood", [("x", "a")])
    assert (found.delivered_fraction, found.messages, found.average_path_length) == (1, 0, None)


def test_numbers_come_by_name_for_machines(overlays):
    found = mw.route(overlays["gm"], "tree", 10).to_json()
    wanted = (
        "publications delivered_fraction duplicates pure_forwards messages average_path_length maximum_load"
    )
    assert set(wanted.split()) < found.keys()
    assert not {"received", "sent", "by_publication"} & found.keys()


def test_flood_forgets_the_oldest_publications(monkeypatch):
    monkeypatch.setattr(seen, "REMEMBERED", 2)
    router = Flood({0: (7,)})
    fresh = [bool(list(router.receive(router.publish(Publication(n, 0)), 3, None))) for n in (1, 2, 1, 3, 1)]
    assert fresh == [True, True, False, True, True]


def test_flood_sends_to_all_but_the_sender_and_delivers_what_others_issued():
    router = Flood({0: (1, 2, 3)})
    delivered, *sent = router.receive(router.publish(Publication(0, 0)), 2, None)
    assert isinstance(delivered, Deliver)
    assert [(action.to, action.message.hops) for action in sent] == [(1, 1), (3, 1)]
    assert all(
        isinstance(action, Send) for action in router.receive(router.publish(Publication(1, 0)), None, None)
    )


def test_an_overlay_without_fingers_is_refused_for_nsmf(overlays):
    with pytest.raises(mw.InputError, match="the overlay of gm has no fingers; build one with chord"):
        mw.route(overlays["gm"], "nsmf", 1)


@pytest.mark.parametrize("protocol", ["flood", "tree"])
def test_an_overlay_that_is_not_topic_connected_is_refused_for_flood_and_tree(overlays, protocol):
    with pytest.raises(
        mw.InputError,
        match=r"not topic-connected: messages on ('t\d+', ){2}'t\d+' and \d+ more topics? would not reach",
    ):
        mw.route(overlays["chord"], protocol, 1)


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("nothing", "n001"), "the publications, row 2: there is no topic 'nothing' among the 3 topics"),
        (("lonely", "n001"), "row 2: topic 'lonely' has no subscribers; leave its publications out"),
        (("t00", "nobody"), "row 2: there is no node 'nobody' among the 3 nodes"),
        (("t00", "n001"), r"'n001' publishes on 't00', to which it does not subscribe; add .* 2 subscribers"),
        (("t01", "n001"), "'n001' publishes on 't01' and has failed; let another node publish"),
    ],
)
def test_a_publication_that_can_not_be_is_refused(pair, message):
    pairs = [("n000", "t00"), ("n002", "t00"), ("n001", "t01")]
    overlay = mw.build(mw.Interests.from_pairs(pairs, topics=["lonely"]), "gm")
    with pytest.raises(mw.InputError, match=message):
        mw.route(overlay, "flood", [("t00", "n000"), pair], failed=["n001"])


def test_publications_are_read_from_a_file_in_their_order(overlays, interests, tmp_path):
    topics = interests.topics.to_pylist()
    pairs = [(topic, interests.nodes_of(topic)[0]) for topic in topics[5:2:-1]] * 2
    (tmp_path / "p.csv").write_text("publisher,topic\n" + "".join(f"{b},{a}\n" for a, b in pairs))
    by_file, by_hand = (mw.route(overlays["gm"], "flood", given) for given in (tmp_path / "p.csv", pairs))
    assert by_file.by_publication.equals(by_hand.by_publication)
    assert by_file.by_publication["topic"].to_pylist() == [topic for topic, _ in pairs]
    (tmp_path / "q.csv").write_text("topic,node\n")
    with pytest.raises(mw.InputError, match="no column 'publisher'"):
        mw.route(overlays["gm"], "flood", tmp_path / "q.csv")


def test_without_any_subscriber_nothing_can_be_published():
    overlay = mw.build(mw.Interests.from_pairs([], nodes=["a"], topics=["t"]), "gm")
    assert mw.route(overlay, "flood", 0).delivered_fraction == 1
    with pytest.raises(mw.InputError, match="no topic has a subscriber that could publish"):
        mw.route(overlay, "flood", 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"protocol": "carrier-pigeon"}, "protocol is 'carrier-pigeon'; choose among flood, tree, nsmf"),
        ({"publications": -1}, "publications is -1"),
        ({"publications": 1.5}, "publications is 1.5; give a whole number"),
        ({"loss": 1.5}, "loss is 1.5; give a fraction from 0 to 1"),
        ({"failed": 2}, "failed is 2; give a fraction from 0 to 1"),
        ({"failed": "n001"}, "failed is 'n001'"),
        ({"tree": "shortest"}, "tree is 'shortest', but the protocol flood uses no tree; leave it out"),
        ({"both_ways": True}, "both_ways applies only to the protocol nsmf"),
        ({"simulate": 1}, "simulate is 1; give True or False"),
        ({"protocol": "tree", "tree": "oak"}, "tree is 'oak'; choose among shortest, cheapest"),
        ({"protocol": "tree", "tree": "cheapest"}, "needs the costs of links, but the overlay has none"),
    ],
)
def test_options_out_of_range_are_refused(overlays, options, message):
    with pytest.raises(mw.OptionError, match=message):
        mw.route(overlays["gm"], **{"protocol": "flood", "publications": 1, **options})


def test_what_is_no_overlay_is_refused(interests):
    with pytest.raises(mw.InputError, match="route got an Interests; give an Overlay"):
        mw.route(interests, "flood")


FILTERS = [("b1", "plant/+/temp"), ("b2", "plant/7/#"), ("b3", "plant/7/temp")]


def test_a_name_is_carried_to_those_whose_filters_match_it():
    overlay = mw.build(mw.Interests.from_filters(FILTERS), "gm")
    published = [("plant/7/temp", "b3"), ("plant/8/temp", "b1"), ("plant/7/speed", "b2")]
    found = mw.route(overlay, "flood", published)
    assert found.by_publication["topic"].to_pylist() == ["plant/7/temp", "plant/+/temp", "plant/7/#"]
    assert (found.deliveries, found.delivered_fraction) == (2, 1)


@pytest.mark.parametrize("name", ["weather", "plant/+", "a\nb"])
def test_a_name_that_no_filter_matches_is_refused_with_its_row(name):
    overlay = mw.build(mw.Interests.from_filters(FILTERS), "gm")
    with pytest.raises(mw.InputError, match="row 2: no filter matches the name"):
        mw.route(overlay, "flood", [("plant/7/temp", "b3"), (name, "b1")])
