"""The gossip protocols by hand: one message or timer in, messages out."""

import numpy as np
import pytest

import meshwright as mw
from meshwright.net import Deliver, Wake
from meshwright.stan.local_views import LocalViews, Weights, node_keys
from meshwright.stan.membership import LOOK, Leases, Scamp
from meshwright.stan.messages import (
    MOST_FORWARDS,
    NONE,
    CollectReply,
    CollectWalk,
    Event,
    Forward,
    Join,
    Kept,
    Leave,
    Ping,
    Pong,
    Replace,
    Subscribe,
)
from meshwright.stan.peer import PING, WALK, Dissemination, KeepAlive, Peer, Settings, Stan
from tests.unit.gossip.rigged import Table, at, rising, sent


def stan(views, **options):
    return Stan(views, Settings(**{"ttl": 2, "stagger": False} | options))


def test_figure_2_maps_four_logical_links_to_two_physical_ones():
    views = LocalViews(0, Table({0: [0, 2, 3, 1, 4]}), {0: [1, 2], 1: [3, 4]})
    protocol = stan(views)
    for topic in (0, 1):
        protocol.receive(CollectReply(topic, (1, 2, 3, 4)), 2, at())
    assert [list(views.view(topic)) for topic in (0, 1)] == [[2, 3], [2, 3]]
    assert views.links() == {2: (0, 1), 3: (0, 1)}


def test_every_period_a_walk_goes_out_in_each_topic():
    protocol = stan(LocalViews(5, rising(5), {0: [1, 2], 3: [7]}), period=30.0)
    assert protocol.start(at()) == [Wake(0.0, WALK)]
    actions = protocol.wake(WALK, at(integer=1))
    assert sent(actions) == [(2, CollectWalk(5, 0, 2, ())), (7, CollectWalk(5, 3, 2, ()))]
    assert actions[-1] == Wake(30.0, WALK)


def test_staggered_nodes_begin_within_the_first_period():
    protocol = stan(LocalViews(5, rising(5), {}), period=30.0, stagger=True)
    assert protocol.start(at(fraction=0.5)) == [Wake(15.0, WALK)]


def test_a_walk_collects_the_node_and_its_view_and_goes_on():
    protocol = stan(LocalViews(4, rising(4), {0: [1, 9]}))
    onward = protocol.receive(CollectWalk(5, 0, 2, (9, 8)), 8, at(integer=1))
    assert sent(onward) == [(9, CollectWalk(5, 0, 1, (9, 8, 4, 1)))]


def test_a_walk_goes_on_for_no_longer_than_those_of_the_node_that_passes_it_on():
    views = LocalViews(4, rising(10), {0: [1]})
    onward = stan(views, ttl=2).receive(CollectWalk(5, 0, 1_000_000, ()), 8, at())
    assert sent(onward) == [(1, CollectWalk(5, 0, 1, (4, 1)))]


def test_the_last_node_of_a_walk_replies_to_its_source():
    protocol = stan(LocalViews(4, rising(4), {0: [1]}))
    assert sent(protocol.receive(CollectWalk(5, 0, 0, (9,)), 9, at())) == [(5, CollectReply(0, (9, 4, 1)))]


def test_a_walk_that_ends_at_its_source_is_answered_like_any_other():
    protocol = stan(LocalViews(5, rising(5), {0: [1]}))
    assert sent(protocol.receive(CollectWalk(5, 0, 0, ()), 1, at())) == [(5, CollectReply(0, (5, 1)))]


def test_a_node_never_enters_its_own_view_and_the_view_keeps_its_size():
    views = LocalViews(0, rising(), {0: [8, 9]})
    stan(views).receive(CollectReply(0, (0, 7, 8)), 8, at())
    assert views.view(0) == [7, 8]


def test_without_peers_no_walk_goes_out_and_a_reply_changes_nothing():
    views = LocalViews(0, rising(), {0: []})
    protocol = stan(views)
    assert sent(protocol.wake(WALK, at())) == []
    protocol.receive(CollectReply(0, (4,)), 4, at())
    assert views.view(0) == []


def test_messages_about_foreign_topics_and_impossible_nodes_change_nothing():
    views = LocalViews(0, rising(), {0: [8, 9]})
    protocol = stan(views)
    assert not protocol.receive(CollectWalk(5, 77, 2, ()), 5, at())
    assert not protocol.receive(CollectReply(77, (1,)), 5, at())
    protocol.receive(CollectReply(0, (-1, 100, 2**40, 8)), 5, at())
    assert views.view(0) == [8, 9]
    assert views.topics == [0]


@pytest.mark.parametrize("learn", [False, True])
def test_a_passing_walk_teaches_only_who_wants_to_learn(learn):
    views = LocalViews(4, rising(4), {0: [8, 9]})
    onward = stan(views, learn=learn).receive(CollectWalk(5, 0, 1, (7, 4)), 7, at())
    assert views.view(0) == ([5, 7] if learn else [8, 9])
    assert sent(onward)[0][0] == views.view(0)[0]


def test_a_topic_slows_down_while_walks_bring_nothing_new_and_speeds_up_after_a_change():
    views = LocalViews(0, rising(), {0: [8, 9]})
    protocol = stan(views, slowest=4)

    def rounds_until_walk(reply):
        protocol.receive(CollectReply(0, reply), 8, at())
        for waited in range(20):
            if sent(protocol.wake(WALK, at())):
                return waited + 1
        return None

    protocol.wake(WALK, at())
    assert [rounds_until_walk(reply) for reply in [(8,), (9,), (8,), (7,), (7,), ()]] == [2, 4, 4, 1, 2, 4]


def test_a_lost_reply_does_not_slow_a_topic_down():
    protocol = stan(LocalViews(0, rising(), {0: [8, 9]}), slowest=4)
    assert all(sent(protocol.wake(WALK, at())) for _ in range(5))


def test_an_event_crosses_a_shared_link_once_and_does_not_return():
    views = LocalViews(0, rising(), {0: [1, 2], 1: [2, 3], 2: [4]})
    protocol = Dissemination(views)
    event = protocol.publish(7, [0, 1], b"news")
    assert event == Event(7, (0, 1), b"news", 0)
    actions = protocol.receive(Event(7, (0, 1), b"news", 2), 3, at())
    assert actions[0] == Deliver(Event(7, (0, 1), b"news", 2))
    assert sent(actions) == [(peer, Event(7, (0, 1), b"news", 3)) for peer in (1, 2)]
    assert not protocol.receive(event, 1, at())


def test_a_publisher_gets_no_copy_of_its_own():
    protocol = Dissemination(LocalViews(0, rising(), {0: [1]}))
    actions = protocol.receive(protocol.publish(7, [0]), None, at())
    assert sent(actions) == [(1, Event(7, (0,), b"", 1))]
    assert len(actions) == 1
    assert not protocol.receive(Event(7, (0,), b"", 2), 1, at())


def test_an_event_on_a_topic_that_was_left_goes_no_further():
    assert not Dissemination(LocalViews(0, rising(), {0: [1]})).receive(Event(1, (5,), b"", 1), 1, at())


@pytest.mark.parametrize("topics", [[], [5], [0, 5]])
def test_nobody_publishes_on_topics_of_others(topics):
    with pytest.raises(mw.InputError, match=r"node 0 publishes on .*; give one or more of its own topics"):
        Dissemination(LocalViews(0, rising(), {0: [1]})).publish(1, topics)


def scamp(views, copies=1):
    return Scamp(views, copies=copies)


def test_a_newcomer_knows_its_contact_and_tells_it():
    views = LocalViews(0, rising(), {})
    assert sent(scamp(views).receive(Join(3, 9), None, at())) == [(9, Subscribe(3))]
    assert views.view(3) == [9]
    assert not scamp(views).receive(Join(4, NONE), None, at())
    assert views.topics == [3, 4]


def test_a_contact_passes_a_subscription_to_its_view_and_more_copies():
    protocol = scamp(LocalViews(0, rising(), {3: [1, 2]}), copies=2)
    assert sent(protocol.receive(Subscribe(3), 9, at(integer=1))) == [
        (peer, Forward(3, 9, 0)) for peer in (1, 2, 2, 2)
    ]


def test_a_contact_alone_in_its_topic_keeps_the_newcomer():
    views = LocalViews(0, rising(), {3: []})
    assert sent(scamp(views).receive(Subscribe(3), 9, at())) == [(9, Kept(3))]
    assert views.view(3) == [9]


def test_a_subscription_is_kept_with_one_over_view_size_plus_one_or_passed_on():
    views = LocalViews(0, rising(), {3: [1, 2, 4]})
    assert sent(scamp(views).receive(Forward(3, 9, 5), 1, at(fraction=0.26))) == [(1, Forward(3, 9, 6))]
    assert sent(scamp(views).receive(Forward(3, 9, 5), 1, at(fraction=0.24))) == [(9, Kept(3))]
    assert views.view(3) == [1, 2, 4, 9]


@pytest.mark.parametrize("node", [0, 1, -1, 100])
def test_nobody_keeps_itself_a_peer_twice_or_what_is_no_node(node):
    views = LocalViews(0, rising(), {3: [1, 2]})
    assert sent(scamp(views).receive(Forward(3, node, 0), 1, at())) == [(1, Forward(3, node, 1))]
    assert views.view(3) == [1, 2]
    assert not scamp(views).receive(Forward(3, node, MOST_FORWARDS), 1, at())


def test_who_leaves_puts_its_peers_in_its_place_but_for_copies_plus_one():
    views = LocalViews(0, rising(), {3: [1, 2], 4: [1]})
    protocol = scamp(views, copies=1)
    for holder in (5, 6, 7, 8, 9):
        Leases(views, period=1.0).receive(Kept(3), holder, at())
    told = sent(protocol.receive(Leave(3), None, at()))
    places = {5: 1, 6: 2, 7: 1, 8: NONE, 9: NONE}
    assert told == [(holder, Replace(3, by)) for holder, by in places.items()]
    assert views.topics == [4]


def test_a_place_is_taken_by_another_or_goes():
    views = LocalViews(0, rising(), {3: [1, 2]})
    protocol = scamp(views)
    assert sent(protocol.receive(Replace(3, 7), 1, at())) == [(7, Kept(3))]
    assert views.view(3) == [2, 7]
    for by in (NONE, 0, 7):
        fresh = LocalViews(0, rising(), {3: [1, 7]})
        assert not scamp(fresh).receive(Replace(3, by), 1, at())
        assert fresh.view(3) == [7]
    assert not protocol.receive(Replace(3, 8), 55, at())
    assert views.view(3) == [2, 7]


def test_a_shared_link_is_asked_for_once_with_all_of_its_topics():
    protocol = KeepAlive(LocalViews(0, rising(), {3: [1, 2], 4: [2]}), period=1.0, patience=2)
    assert sent(protocol.wake(PING, at())) == [(1, Ping((3,))), (2, Ping((3, 4)))]


def test_an_answer_names_the_topics_that_were_left():
    views = LocalViews(0, rising(), {3: [1, 2], 4: [2]})
    protocol = KeepAlive(views, period=1.0, patience=2)
    assert sent(protocol.receive(Ping((3, 9)), 7, at())) == [(7, Pong((9,)))]
    assert views.holders == {3: {7: 0.0}}
    protocol.receive(Pong((3,)), 2, at())
    assert (views.view(3), views.view(4)) == ([1], [2])


def test_a_peer_that_never_answers_is_lost_and_its_place_is_filled_by_another():
    views = LocalViews(0, rising(), {3: [1, 2], 4: [2]})
    protocol = KeepAlive(views, period=1.0, patience=2)
    for now in range(3):
        protocol.hear(1)
        protocol.wake(PING, at(float(now)))
    assert views.view(3) == [1]
    views.choose(3, [2, 9])
    assert views.view(3) == [1, 9]
    protocol.hear(2)
    views.choose(3, [2])
    assert views.view(3) == [1, 2]


def test_the_last_peer_of_a_view_stays_until_another_comes():
    protocol = KeepAlive(views := LocalViews(0, rising(), {4: [2]}), period=1.0, patience=1)
    for now in range(4):
        assert sent(protocol.wake(PING, at(float(now)))) == ([] if now % 2 else [(2, Ping((4,)))])
        assert views.view(4) == [2]
    assert not views.choose(4, [2])
    assert sent(protocol.receive(Ping((4,)), 9, at(4.0))) == [(9, Pong(()))]
    assert views.view(4) == [9]


def test_who_asks_fills_a_vacant_place_and_no_other():
    views = LocalViews(0, rising(), {3: [1, 2], 4: [1, 2]})
    views.vacate(3, 2)
    KeepAlive(views, period=1.0, patience=2).receive(Ping((3, 4, 5)), 9, at())
    assert [views.view(topic) for topic in (3, 4, 5)] == [[1, 9], [1, 2], ()]


def test_a_lost_peer_is_forgotten_in_the_end():
    views = LocalViews(0, rising(), {3: [1]})
    protocol = KeepAlive(views, period=1.0, patience=1)
    for now in range(2):
        protocol.wake(PING, at(float(now)))
    assert views.lost == {1: 33.0}
    protocol.wake(PING, at(33.0))
    assert views.lost == {}


def test_a_peer_hands_messages_and_timers_to_its_protocols():
    views = LocalViews(0, rising(), {0: [1]})
    peer = Peer(views, Settings(patience=2, stagger=False), [Join(5, 9)])
    actions = list(peer.start(at()))
    assert sent(actions) == [(9, Subscribe(5))]
    assert {action.timer for action in actions if isinstance(action, Wake)} == {WALK, PING, LOOK}
    for timer, kind in ((WALK, CollectWalk), (PING, Ping)):
        assert all(isinstance(message, kind) for _, message in sent(peer.wake(timer, at())))
    assert sent(peer.receive(CollectWalk(7, 0, 0, ()), 7, at())) == [(7, CollectReply(0, (0, 1)))]
    assert sent(peer.receive(Forward(0, 8, 0), 7, at())) == [(8, Kept(0))]
    assert sent(peer.receive(Ping((0,)), 7, at())) == [(7, Pong(()))]
    assert sent(peer.receive(peer.dissemination.publish(1, [0]), None, at()))


def test_weights_depend_on_names_and_salt_alone():
    interests = mw.Interests.from_pairs([(name, "t") for name in ("a", "ab", "b", "bc", "c")])
    fewer = mw.Interests.from_pairs([(name, "t") for name in ("ab", "b", "c")])
    keys = dict(zip(interests.nodes.to_pylist(), node_keys(interests).tolist(), strict=True))
    assert node_keys(fewer).tolist() == [keys[name] for name in ("ab", "b", "c")]
    assert len(set(keys.values()) | set(node_keys(interests, 1).tolist())) == 10


def test_every_order_of_three_others_is_equally_likely_and_orders_are_asymmetric():
    weights = Weights(node_keys(mw.workloads.unif(1_203, 1, subscriptions=1)))
    orders = [
        tuple(other - node for other in weights.lightest(node, range(node + 1, node + 4), 3))
        for node in range(1_200)
    ]
    counts = np.unique(orders, axis=0, return_counts=True)[1]
    assert len(counts) == 6
    assert (abs(counts - 200) < 5 * np.sqrt(200)).all()
    mutual = [
        weights.lightest(node, [node + 1, node + 2], 1) == [node + 1]
        and weights.lightest(node + 1, [node, node + 2], 1) == [node]
        for node in range(1_200)
    ]
    assert abs(sum(mutual) - 300) < 5 * np.sqrt(300)
