"""Protocols over real sockets and processes, against the simulator where it says what should happen."""

import logging
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
from collections import Counter
from multiprocessing import resource_tracker
from pathlib import Path

import networkx as nx
import pytest

import meshwright as mw
from meshwright.net import Simulator, What
from meshwright.net.live.network import Live
from meshwright.net.live.options import LiveOptions
from meshwright.routing.protocols import Flood, Message, Publication
from tests.live_protocols import Chatter, Clumsy, Note, Relay, friends
from tests.patience import PATIENCE, wait_for

NOTES = LiveOptions(messages=(Note,))
NODES, TOPICS = 30, 6


@pytest.fixture(autouse=True)
def nothing_left_behind():
    """Afterwards no process, and as many open files as before (the first spawn leaves Python's tracker)."""
    resource_tracker.ensure_running()
    before = open_files()
    yield
    assert multiprocessing.active_children() == []
    assert open_files() == before


def open_files():
    return sorted(os.listdir("/proc/self/fd"))


def flood_network():
    """Flooding on 30 nodes in 6 topics, the links of each a graph without order; some topics share links."""
    neighbours = [{} for _ in range(NODES)]
    for topic in range(TOPICS):
        graph = nx.connected_watts_strogatz_graph(10, 4, 0.5, seed=topic)
        for node, others in graph.adjacency():
            neighbours[node + 4 * topic][topic] = tuple(other + 4 * topic for other in others)
    return {node: Flood(own) for node, own in enumerate(neighbours)}


def flooded(net, course):
    """What became of 60 publications: deliveries, and how many messages there were of each."""
    for number in range(60):
        topic = number % TOPICS
        net.inject(4 * topic + number // TOPICS, Message(Publication(number, topic), 0))
    net.run()
    seen = Counter((happening.what, happening.message.publication.number) for happening in course)
    delivered = {
        (happening.target, happening.message.publication.number)
        for happening in course
        if happening.what is What.DELIVERED
    }
    return delivered, seen


def test_flooding_delivers_over_sockets_what_it_delivers_in_the_simulator():
    simulated, live = [], []
    expected = flooded(Simulator(flood_network(), watch=simulated.append), simulated)
    with Live(flood_network(), LiveOptions(messages=(Message,)), watch=live.append) as net:
        assert flooded(net, live) == expected
        assert not net.complaints
    assert len(expected[0]) == 60 * 9


def test_nodes_are_spread_over_processes_and_a_note_goes_round_them_all():
    ring = {node: Relay((node + 1) % 10) for node in range(10)}
    with Live(ring, NOTES) as live:
        assert len(multiprocessing.active_children()) == 2
        live.inject(0, Note(40))
        live.run()
        got = {node: protocol.got for node, protocol in live.protocols.items()}
        assert got[0] == [(None, 40), (9, 30), (9, 20), (9, 10), (9, 0)]
        assert all(
            got[node] == [(node - 1, 40 - node - 10 * turn) for turn in range(4)] for node in range(1, 10)
        )
        assert live.traffic.messages == 40
        assert live.traffic.open == 20
        assert not live.complaints
        with pytest.raises(mw.OptionError, match="there is no node 11"):
            live.inject(11, Note(1))
    assert list(got) == list(range(10))


def test_connections_follow_the_logical_links():
    nodes = {node: Chatter([(node + 1) % 8, (node + 3) % 8], rounds=1) for node in range(8)}
    options = LiveOptions(messages=(Note,), unit=0.05, holds=friends, idle=0.2)
    pairs = {frozenset((node, friend)) for node, own in nodes.items() for friend in own.friends}
    with Live(nodes, options) as live:
        live.inject(0, Note(0))
        wait_for(lambda: linked(live) == pairs, "a connection for each pair that a view links")
        live.run(live.now + 10)
        assert linked(live) == pairs


def linked(live):
    return {frozenset((node, peer)) for node, peers in live.peers.items() for peer in peers}


def test_a_node_that_dies_in_the_midst_of_it_is_missed_and_the_others_go_on(caplog):
    course = []
    nodes = {node: Chatter([other for other in range(6) if other != node]) for node in range(6)}
    options = LiveOptions(messages=(Note,), unit=0.05, holds=friends)
    with Live(nodes, options, watch=course.append) as live:
        live.run(3)
        live.remove(2)
        live.run(live.now)
        died, seen = live.now, len(course)
        wait_for(
            lambda: live.run(live.now + 2) or heard_after(course[seen:], died) == {0, 1, 3, 4, 5},
            "all others hear of each other",
        )
        assert live.protocols.keys() == {0, 1, 3, 4, 5}
        assert any(happening.what is What.MISSED and happening.target == 2 for happening in course[seen:])
        assert 2 not in {happening.source for happening in course[seen:] if happening.time > died}
        live.add(2, Chatter([0]))
        wait_for(lambda: live.protocols[2].heard > 5, "it is back, and heard of by others")
        assert not live.complaints
    assert not caplog.records


def heard_after(course, time):
    return {seen.target for seen in course if seen.what is What.RECEIVED and seen.time > time}


def test_a_process_that_is_killed_is_reported_and_the_others_are_ended():
    nodes = {node: Chatter([1 - node]) for node in range(2)}
    with (
        pytest.raises(mw.NetworkError, match=r"process \d of 2, .* ended with exit code -9"),
        Live(nodes, NOTES) as live,
    ):
        killed(live)


def killed(live):
    os.kill(multiprocessing.active_children()[0].pid, signal.SIGKILL)
    live.run(PATIENCE)


def test_a_port_in_use_is_named_and_nothing_stays_behind():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        nodes = {node: Relay(0) for node in range(2)}
        with (
            pytest.raises(mw.NetworkError, match=f"can't listen on 127.0.0.1:{port}: address already in use"),
            Live(nodes, LiveOptions(messages=(Note,), port=port)),
        ):
            pass


def test_a_stranger_on_a_live_socket_is_logged_once_and_changes_nothing(caplog):
    nodes = {node: Chatter([1 - node]) for node in range(2)}
    first = free_port()
    options = LiveOptions(messages=(Note,), unit=0.05, port=first)
    with caplog.at_level(logging.WARNING), Live(nodes, options) as live:
        for number in range(10):
            with socket.create_connection(("127.0.0.1", first + number % 2)) as stranger:
                stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
        wait_for(lambda: live.run(live.now + 1) or live.complaints["frame"] == 10, "all are counted")
        heard = live.protocols[0].heard
        wait_for(lambda: live.protocols[0].heard > heard, "they go on talking")
    assert len(caplog.records) == 1
    assert "a frame has version 71; it must be 2" in caplog.text


def free_port():
    """The first of two ports in a row that nobody listens on."""
    for port in range(20_000, 32_000, 2):
        try:
            with socket.create_server(("127.0.0.1", port)), socket.create_server(("127.0.0.1", port + 1)):
                return port
        except OSError:
            continue
    raise AssertionError("there is none")


def test_a_protocol_that_can_not_handle_a_message_is_a_complaint(caplog):
    with caplog.at_level(logging.WARNING), Live({0: Relay(1), 1: Clumsy()}, NOTES) as live:
        for _ in range(3):
            live.inject(0, Note(1))
        live.run()
        assert live.complaints == {"message": 3}
    assert len(caplog.records) == 1
    assert "node 1 can't handle Note(number=0): ValueError: note 0 is too much" in caplog.text


def test_a_protocol_that_fails_by_itself_ends_the_run():
    with (
        pytest.raises(mw.NetworkError, match="node 1 failed at its start: KeyError: 'nothing to start with'"),
        Live({0: Relay(1), 1: Clumsy(at_start=True)}, NOTES) as live,
    ):
        live.run()


def test_an_error_in_the_block_ends_all_processes():
    with pytest.raises(ZeroDivisionError), Live({0: Relay(1), 1: Relay(0)}, NOTES):
        raise ZeroDivisionError


SCRIPT = """
import multiprocessing, sys, time
from meshwright.net.live.network import Live
from meshwright.net.live.options import LiveOptions
from tests.live_protocols import Chatter, Note

if __name__ == "__main__":
    nodes = {node: Chatter([1 - node]) for node in range(2)}
    with Live(nodes, LiveOptions(messages=(Note,), unit=0.1)) as live:
        print(*(child.pid for child in multiprocessing.active_children()), flush=True)
        live.run(10**6)
"""


@pytest.fixture
def script(tmp_path):
    """A script that starts two nodes, and lets them talk until something ends it."""
    path = tmp_path / "chat.py"
    path.write_text(SCRIPT)
    known = os.pathsep.join(filter(None, [str(Path(__file__).parents[4]), os.environ.get("PYTHONPATH")]))
    with subprocess.Popen(
        [sys.executable, str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": known},
    ) as parent:
        yield parent
        parent.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_whatever_ends_the_parent_ends_the_processes_of_its_nodes(script, number):
    children = [int(word) for word in script.stdout.readline().split()]
    assert len(children) == 2
    check_all_end(script, children, number)


def test_an_interrupt_while_processes_start_ends_them_without_a_word(script):
    children = Path(f"/proc/{script.pid}/task/{script.pid}/children")
    wait_for(lambda: script.poll() is not None or len(children.read_text().split()) == 3, "two and a tracker")
    assert script.poll() is None
    check_all_end(script, [int(word) for word in children.read_text().split()], signal.SIGINT)


def check_all_end(script, children, number):
    (os.killpg if number == signal.SIGINT else os.kill)(script.pid, number)  # Ctrl-C goes to the group
    script.wait(PATIENCE)
    wait_for(lambda: not any(alive(child) for child in children), "they end")
    assert script.stderr.read().count("Traceback") == (number == signal.SIGINT)  # the script's own


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_calls_that_can_not_be_are_refused():
    with pytest.raises(mw.OptionError, match="port 65000 leaves no port for node 900"):
        Live({900: Relay(0)}, LiveOptions(messages=(Note,), port=65_000))
    with pytest.raises(mw.OptionError, match="the nodes are not running; use Live in a `with`"):
        Live({0: Relay(0)}, NOTES).run(1)
    with (
        pytest.raises(mw.OptionError, match="can't be sent to a process"),
        Live({0: Relay(lambda: 1)}, NOTES),
    ):
        pass
