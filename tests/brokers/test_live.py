"""What real brokers tell of their subscribers."""

import csv
import json
import os
import signal
import socket
from contextlib import AbstractContextManager
from pathlib import Path
from subprocess import Popen
from threading import Event, Thread

from typer.testing import CliRunner

import meshwright as mw
from meshwright.cli import app
from meshwright.deploy.drivers import driver_of
from meshwright.deploy.drivers.nats import MONITOR_PORTS
from meshwright.deploy.drivers.zenoh import ROUTER_PORTS
from meshwright.deploy.fleet.fleet import Fleet, running, within
from meshwright.deploy.fleet.mqtt_ears import paho
from meshwright.deploy.fleet.processes import group, reserved_ports
from meshwright.deploy.fleet.programs import program_of
from meshwright.deploy.fleet.verifying import ears_of, publish_everywhere
from meshwright.deploy.hosts import Host
from meshwright.deploy.live import ask
from meshwright.deploy.live.mosquitto import listening
from meshwright.deploy.live.told import Asked
from meshwright.deploy.plan.planning import make_plan

PAIRS = [("a", "t.x"), ("a", "u"), ("b", "t.x"), ("b", "v"), ("c", "u"), ("c", "v")]


def fleet_of(driver: str, folder: Path) -> AbstractContextManager[Fleet]:
    separator = "." if driver == "nats" else "/"
    interests = mw.Interests.from_pairs([(node, topic.replace(".", separator)) for node, topic in PAIRS])
    return running(make_plan(mw.build(interests, "gm"), driver_of(driver).engine), folder)


def test_nats_servers_tell_subscribers_and_round_trips_to_the_command(tmp_path: Path) -> None:
    with fleet_of("nats", tmp_path / "fleet") as fleet:
        ears = ears_of(fleet)
        inventory = tmp_path / "servers.csv"
        with inventory.open("w") as stream:
            rows = csv.writer(stream)
            rows.writerow(["node", "port", "admin"])
            for host in fleet.plan.hosts:
                rows.writerow([host.node, host.port, f"http://127.0.0.1:{host.port + MONITOR_PORTS}"])
        out, costs = tmp_path / "interests", tmp_path / "costs.csv"
        command = ["deploy", "interests", "--driver", "nats", "--inventory", str(inventory), "--json"]
        done = CliRunner().invoke(app, [*command, "--out", str(out), "--costs", str(costs)])
        ears.close()
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["rows"] == len(PAIRS)
    found = mw.Interests.read(out)
    assert {node: found.topics_of(node) for node in "abc"} == {
        node: [topic for own, topic in PAIRS if own == node] for node in "abc"
    }
    with costs.open() as stream:
        trips = {
            frozenset((row["source"], row["target"])): float(row["cost"]) for row in csv.DictReader(stream)
        }
    assert trips.keys() == {frozenset(link.ends) for link in fleet.plan.links}
    assert all(0 < trip < 60_000 for trip in trips.values())


def test_zenoh_routers_tell_their_own_subscribers(tmp_path: Path) -> None:
    with fleet_of("zenoh", tmp_path) as fleet:
        ears = ears_of(fleet)
        publish_everywhere(fleet, ears)
        hosts = {host.node: host._replace(port=host.port + ROUTER_PORTS) for host in fleet.plan.hosts}
        told = ask("zenoh", hosts, Asked())
        ears.close()
    assert told.interests == sorted((node, topic.replace(".", "/")) for node, topic in PAIRS)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def subscribe(port: int, name: str, *filters: str) -> None:
    library = paho()
    client = library.Client(
        library.CallbackAPIVersion.VERSION2, name, clean_session=False, protocol=library.MQTTv311
    )
    answers: list[object] = []
    client.on_subscribe = lambda *_: answers.append(_)
    client.on_connect = lambda client, *_: client.subscribe([(each, 1) for each in filters])
    client.connect("127.0.0.1", port)
    assert within(60, lambda: bool(client.loop(0.1) or answers))
    client.disconnect()


def test_mosquitto_tells_kept_sessions_by_its_database_and_new_ones_by_its_log(tmp_path: Path) -> None:
    with reserved_ports(1) as (port,), group() as processes:
        config = tmp_path / "broker.conf"
        user = "user root\n" if os.geteuid() == 0 else ""
        config.write_text(
            f"listener {port} 127.0.0.1\nallow_anonymous true\n{user}persistence true\n"
            f"persistence_location {tmp_path}/\nlog_dest topic\nlog_type subscribe\n"
        )
        broker: Popen[bytes] = processes.start([program_of("mosquitto"), "-c", config], tmp_path / "log")
        assert within(60, lambda: _listens(port))
        subscribe(port, "keeper", "plant/+/temp", "häuser/#", "$SYS/#")
        subscribe(port, "mw-0123456789abcdef", "bridged/#")
        broker.send_signal(signal.SIGUSR1)
        database, hosts = tmp_path / "mosquitto.db", {"a": Host("a", port=port)}
        assert within(60, database.exists)
        told = ask("mosquitto", hosts, Asked(database=str(database)))
        assert told.interests == [("a", "häuser/#"), ("a", "plant/+/temp")]
        heard = _asked_meanwhile(hosts, port)
    assert heard == [("a", "new/one")]


def _asked_meanwhile(hosts: dict[str, Host], port: int) -> list[tuple[str, str]]:
    """What is told while somebody subscribes again and again, so that no moment matters."""
    over = Event()

    def again() -> None:
        while not over.is_set():
            subscribe(port, "newcomer", "new/one")

    thread = Thread(target=again)
    thread.start()
    try:
        return ask("mosquitto", hosts, Asked(seconds=1)).interests
    finally:
        over.set()
        thread.join()


def test_a_user_who_may_not_listen_is_told(tmp_path: Path) -> None:
    with reserved_ports(1) as (port,), group() as processes:
        config = tmp_path / "broker.conf"
        config.write_text(f"listener {port} 127.0.0.1\nallow_anonymous false\n")
        processes.start([program_of("mosquitto"), "-c", config], tmp_path / "log")
        assert within(60, lambda: _listens(port))
        found: set[tuple[str, str]] = set()
        refused: dict[str, str] = {}
        client = listening(Host("a", port=port), found, refused)
        assert within(60, lambda: bool(refused))
        client.disconnect()
        client.loop_stop()
    assert refused == {"a": "Not authorized"}
