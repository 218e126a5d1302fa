"""Gossip over real sockets, beside the same gossip in the simulator."""

import socket

import pytest

import meshwright as mw
from meshwright.stan.live import LiveEngine, linked_peers
from meshwright.stan.local_views import LocalViews, Weights, node_keys
from meshwright.stan.peer import Peer, Settings

ROUNDS = 3


@pytest.fixture(scope="module")
def interests():
    return mw.workloads.grid(30, 6, min_radius=1.0, seed=2)


def test_nodes_over_sockets_come_to_share_links_as_they_do_in_the_simulator(interests):
    engine, options = LiveEngine(seconds=0.8), mw.StanOptions(rounds=ROUNDS)
    live = mw.gossip(interests, options, engine=engine, seed=1)
    simulated = mw.gossip(interests, options, engine="simulator", seed=1)
    assert live.engine == "live"
    assert live.to_json().keys() == simulated.to_json().keys()
    sizes = [at.logical_view_size for at in live.by_round]
    assert sizes == [simulated.logical_view_size] * (ROUNDS + 1)
    assert live.initial_physical_view_size == simulated.initial_physical_view_size
    assert live.final_physical_view_size < live.initial_physical_view_size
    # Walks meet other nodes than in the simulator; what they choose from is nearly everybody by now.
    assert live.final_physical_view_size == pytest.approx(simulated.final_physical_view_size, rel=0.15)
    assert engine.facts["live_complaints"] == 0
    assert engine.facts["live_connections_opened"] >= len(live.before.edges())
    assert engine.facts["live_connections_open"] >= 0.9 * len(live.after.edges())


def test_nodes_crash_and_come_back_over_sockets_too(interests):
    engine = LiveEngine(seconds=0.3)
    options, conditions = mw.StanOptions(rounds=ROUNDS, loss=0.05), mw.SimulationOptions(churn=0.1)
    found = mw.gossip(interests, options, conditions, engine=engine, diameters=False, seed=1)
    assert found.nodes == interests.node_count - 3
    assert found.lost_messages > 0
    assert found.upkeep_messages > 0
    assert engine.facts["live_complaints"] == 0


def test_a_port_in_use_ends_the_run_before_it_begins(interests):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        if port + interests.node_count > 65_535:
            pytest.skip("the system gave one of the last ports")
        with pytest.raises(mw.NetworkError, match=f"127.0.0.1:{port}: address already in use; give another"):
            mw.gossip(interests, engine=LiveEngine(port=port))


def test_a_peer_keeps_a_connection_to_each_node_of_its_views_once(interests):
    weights = Weights(node_keys(interests))
    peer = Peer(LocalViews(0, weights, {0: (1, 2), 3: (2, 5)}), Settings())
    assert set(linked_peers(peer)) == {1, 2, 5}
    assert len(linked_peers(peer)) == 3
