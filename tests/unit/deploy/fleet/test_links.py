import json
import socket
from pathlib import Path
from threading import Thread

import pytest

import meshwright as mw
from meshwright.deploy.drivers import driver_of
from meshwright.deploy.drivers.mosquitto import client_id
from meshwright.deploy.fleet.links import MosquittoLinks, NatsLinks
from meshwright.deploy.fleet.processes import reserved_ports
from meshwright.deploy.fleet.zenoh_sessions import session_at
from meshwright.deploy.hosts import Host
from meshwright.deploy.plan.plan import Plan
from meshwright.deploy.plan.planning import make_plan
from meshwright.runtime.errors import NetworkError


def plan_of(driver: str, *topics: str, port: int = 1) -> Plan:
    interests = mw.Interests.from_pairs([(node, topic) for node in "ab" for topic in topics])
    hosts = {node: Host(node, port=port + at, password="env:MESH") for at, node in enumerate("ab")}
    hosts = hosts if driver == "nats" else {node: host._replace(password="") for node, host in hosts.items()}
    return make_plan(mw.build(interests, "gm"), driver_of(driver).engine, hosts)


def test_a_server_whose_monitor_does_not_listen_yet_is_not_linked(tmp_path: Path) -> None:
    with reserved_ports(1, (8_000,)) as (port,):
        plan = plan_of("nats", "x", port=port)
        assert not NatsLinks().is_up(plan, plan.links[0], tmp_path)


def test_a_line_that_the_log_cuts_off_is_seen(tmp_path: Path) -> None:
    long, log = "t/" + "ü" * 2_000, tmp_path / "log"
    plan = plan_of("mosquitto", long, "u")
    (link,) = plan.links
    cut = f"1700000000: {client_id(link)} 1 {long}".encode()[:999]
    for lines, is_up in ([], False), ([cut], False), ([cut, f"1: {client_id(link)} 1 u".encode()], True):
        log.write_bytes(b"".join(line + b"\n" for line in lines))
        assert MosquittoLinks().is_up(plan, link, log) is is_up


def test_a_router_that_drops_the_first_connection_is_tried_again() -> None:
    zenoh = pytest.importorskip("zenoh")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        config = {
            "mode": "router",
            "listen": {"endpoints": [f"tcp/127.0.0.1:{port}"]},
            "scouting": {"multicast": {"enabled": False}},
        }
        routers = []

        def drop_one_then_serve() -> None:
            server.accept()[0].close()
            server.close()
            routers.append(zenoh.open(zenoh.Config.from_json5(json.dumps(config))))

        thread = Thread(target=drop_one_then_serve)
        thread.start()
        with session_at("127.0.0.1", port, retry_ms=50, patience=60) as client:
            thread.join()
            assert list(client.info.routers_zid())
        routers[0].close()


def test_an_address_without_a_router_is_told() -> None:
    pytest.importorskip("zenoh")
    with reserved_ports(1) as (port,), pytest.raises(NetworkError, match=f"no Zenoh router .*:{port}: "):
        session_at("127.0.0.1", port, retry_ms=50, patience=0.2)
