"""Leases by hand, and what they keep while nodes crash and messages get lost."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import meshwright as mw
from meshwright.net import Simulator, Wake
from meshwright.stan.local_views import LocalViews, Weights, node_keys
from meshwright.stan.membership import LOOK, Leases
from meshwright.stan.messages import MOST_FORWARDS, NONE, AskPlaces, Kept, Ping, Places, Renewal, Return
from meshwright.stan.peer import Peer, Settings
from tests.unit.gossip.rigged import at, rising, sent


def leases(views):
    return Leases(views, period=1.0)


def test_who_is_in_few_views_for_its_places_sends_a_renewal_for_each_that_is_missing():
    views = LocalViews(0, rising(), {3: [1, 2, 4, 5, 6], 4: [2]})
    protocol = leases(views)
    assert protocol.start(at()) == [Wake(1.0, LOOK)]
    protocol.receive(Kept(3), 7, at(0.5))
    protocol.receive(Kept(4), 7, at(5.0))
    assert sent(protocol.wake(LOOK, at(1.0, integer=2))) == [(4, Renewal(3, 0, 0))] * 4
    protocol.receive(Kept(3), 8, at(2.0))
    assert protocol.wake(LOOK, at(2.0)) == [Wake(1.0, LOOK)]
    assert len(sent(protocol.wake(LOOK, at(9.0)))) == 4
    assert sent(protocol.wake(LOOK, at(13.5))) == [(1, Renewal(3, 0, 0))] * 5 + [(2, Renewal(4, 0, 0))]


def test_a_renewal_is_kept_in_the_place_of_the_heaviest_or_passed_on():
    views = LocalViews(0, rising(), {3: [4, 1, 2]})
    assert sent(leases(views).receive(Renewal(3, 9, 5), 1, at(fraction=0.26))) == [(4, Renewal(3, 9, 6))]
    assert sent(leases(views).receive(Renewal(3, 9, 5), 1, at(fraction=0.24))) == [(9, Kept(3))]
    assert views.view(3) == [1, 2, 9]
    views.vacate(3, 1)
    leases(views).receive(Renewal(3, 8, 5), 1, at(fraction=0.24))
    assert views.view(3) == [2, 9, 8]


def test_who_has_the_node_already_says_so():
    views = LocalViews(0, rising(), {3: [4, 1, 2]})
    assert sent(leases(views).receive(Renewal(3, 2, 5), 1, at(fraction=0.9))) == [(2, Kept(3))]
    assert views.view(3) == [4, 1, 2]


@pytest.mark.parametrize("node", [0, -1, 100])
def test_nobody_keeps_itself_or_what_is_no_node(node):
    views = LocalViews(0, rising(), {3: [1, 2], 4: []})
    assert sent(leases(views).receive(Renewal(3, node, 0), 1, at())) == [(1, Renewal(3, node, 1))]
    assert not leases(views).receive(Renewal(3, node, MOST_FORWARDS), 1, at())
    for topic in (4, 77):
        assert not leases(views).receive(Renewal(topic, 9, 0), 1, at())
    assert [views.view(topic) for topic in (3, 4, 77)] == [[1, 2], [], ()]


def test_who_returns_asks_for_places_until_somebody_answers():
    views = LocalViews(0, rising(), {})
    protocol = leases(views)
    assert sent(protocol.receive(Return(3, 9), None, at())) == [(9, AskPlaces(3))]
    protocol.receive(Kept(3), 7, at())
    assert sent(protocol.wake(LOOK, at(1.0))) == [(9, AskPlaces(3))]
    assert sent(protocol.wake(LOOK, at(2.0, integer=1))) == [(7, AskPlaces(3))]
    protocol.receive(Places(3, 4, (0, 9, 5)), 9, at(2.0))
    assert (views.view(3), views.places(3)) == ([5, 9], 4)
    assert AskPlaces(3) not in [message for _, message in sent(protocol.wake(LOOK, at(3.0)))]
    protocol.receive(Places(3, 50, (8,)), 9, at(3.0))
    assert views.places(3) == 4


def test_who_is_asked_tells_its_places_unless_it_has_forgotten_them_too():
    views = LocalViews(0, rising(), {3: [1, 2], 5: []})
    views.vacate(3, 2)
    protocol = leases(views)
    assert sent(protocol.receive(AskPlaces(3), 9, at())) == [(9, Places(3, 2, (1,)))]
    assert sent(protocol.receive(AskPlaces(5), 9, at())) == [(9, Places(5, 1, (9,)))]
    assert views.view(5) == [9]
    protocol.receive(Return(6, 8), None, at())
    for topic in (6, 77):
        assert not protocol.receive(AskPlaces(topic), 9, at())


def test_who_returns_to_nobody_waits_for_others():
    protocol = leases(views := LocalViews(0, rising(), {}))
    assert not protocol.receive(Return(3, NONE), None, at())
    assert not sent(protocol.wake(LOOK, at(1.0)))
    assert sent(protocol.receive(AskPlaces(3), 9, at(2.0))) == [(9, Places(3, 1, (9,)))]
    assert views.view(3) == [9]


def test_nobody_gets_more_places_than_there_are_others():
    protocol = leases(views := LocalViews(0, rising(), {}))
    protocol.receive(Return(3, 9), None, at())
    protocol.receive(Places(3, 2**40, ()), 9, at())
    assert views.places(3) == 99


@settings(max_examples=15)
@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(1, 7)), max_size=8),
    st.integers(1, 5),
    st.sampled_from([0.0, 0.1, 0.4]),
    st.integers(0, 9),
)
def test_whoever_crashes_and_whatever_is_lost_no_view_gets_more_places_and_nobody_else_loses_one(
    crashes, size, loss, seed
):
    interests = mw.workloads.unif(8, 1, subscriptions=1)
    weights, options = Weights(node_keys(interests)), Settings(patience=2, learn=True)
    first = {node: [(node + step) % 8 for step in range(1, size + 1)] for node in range(8)}
    peers = {node: Peer(LocalViews(node, weights, {0: view}), options) for node, view in first.items()}
    simulator = Simulator(peers, delay=0.01, loss=loss, seed=seed)
    now = 0.0
    for wait, node in crashes:
        simulator.run(now := now + wait)
        simulator.remove(node)
        simulator.run(now := now + 0.5)
        contact = next(iter(simulator.protocols.keys() - {node}))
        simulator.add(node, Peer(LocalViews(node, weights, {}), options, [Return(0, contact)]))
    simulator.run(now + 3)
    crashed = {node for _, node in crashes}
    for node, peer in simulator.protocols.items():
        places = peer.views.places(0)
        assert len(peer.views.view(0)) <= places
        assert places <= size if node in crashed else places == size


@pytest.mark.parametrize("learn", [False, True])
@pytest.mark.parametrize("loss", [0.0, 0.1])
def test_views_neither_grow_nor_shrink_while_nodes_come_and_go(loss, learn):
    interests, churn = mw.workloads.grid(50, 8, seed=5), 0.06
    found = mw.gossip(
        interests,
        mw.StanOptions(rounds=24, loss=loss, learn=learn),
        mw.SimulationOptions(churn=churn),
        engine="simulator",
        diameters=False,
    )
    late = np.mean([at.logical_view_size for at in found.by_round[12:]])
    # Those who are away are in views still, and do not count.
    assert late == pytest.approx((1 - churn) * found.initial_logical_view_size, rel=0.07)
    assert found.disconnected_topics == 0
    assert found.final_physical_view_size < 0.85 * found.initial_physical_view_size


def test_a_peer_that_is_back_is_asked_by_those_who_still_have_it():
    views = LocalViews(0, rising(), {})
    peer = Peer(views, Settings(patience=2), [Return(3, 9)])
    assert sent(peer.start(at())) == [(9, AskPlaces(3))]
    peer.receive(Places(3, 3, ()), 9, at(0.1))
    for holder in (5, 6, 7):
        peer.receive(Ping((3,)), holder, at(0.5))
    assert views.view(3) == [9, 5, 6]
