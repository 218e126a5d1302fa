import os
import struct
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from meshwright.deploy.hosts import Host
from meshwright.deploy.live import ask
from meshwright.deploy.live.mosquitto import logged_subscription, subscriptions_of
from meshwright.deploy.live.nats import milliseconds
from meshwright.deploy.live.told import Asked
from meshwright.runtime.errors import InputError, NetworkError, OptionError
from tests.oracles_rabbitmq import Broker, served


def test_bindings_of_queues_to_topic_exchanges_are_interests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "MESH_SECRET", "geheim")
    broker = Broker()
    broker.held |= {
        ("exchanges", "/", "mw0"): {"type": "topic"},
        ("exchanges", "/", "plain"): {"type": "direct"},
    }
    for source, to, kind, key in (
        ("mw0", "q", "queue", "plant.#"),
        ("amq.topic", "q", "queue", "a.*"),
        ("plain", "q", "queue", "direct"),
        ("", "q", "queue", "q"),
        ("mw0", "federation: mw0 -> b", "queue", "elsewhere"),
        ("mw0", "federation: mw0 -> b A", "exchange", "elsewhere"),
    ):
        broker.bind(source, to, kind, key)
    with served(broker) as address:
        host = Host("a", user="admin", password="env:MESH_SECRET", admin=address)
        assert ask("rabbitmq", {"a": host}, Asked()).interests == [("a", "a.*"), ("a", "plant.#")]


@pytest.mark.parametrize(
    ("text", "expected"), [("1.5ms", 1.5), ("250µs", 0.25), ("1m2s", 62_000.0), ("1s500ms", 1500.0)]
)
def test_durations_of_go_are_milliseconds(text: str, expected: float) -> None:
    assert milliseconds(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1700000000: tester 1 plant/#", ("tester", "plant/#")),
        ("tester 0 a b", ("tester", "a b")),
        ("1700000000: a client of 3 words 2 plant/#", ("a client of 3 words", "plant/#")),
        ("1700000000: New client connected", None),
    ],
)
def test_lines_of_the_log_tell_client_and_filter(text: str, expected: object) -> None:
    assert logged_subscription(text) == expected


def test_a_file_that_is_no_database_is_refused() -> None:
    head = b"\x00\xb5\x00mosquitto db" + struct.pack(">II", 0, 99)
    for data in (b"", b"hello, this is no database", head):
        with pytest.raises(InputError, match="no database"):
            list(subscriptions_of(data, "x"))


def test_what_can_not_be_asked_is_told() -> None:
    with pytest.raises(OptionError, match="no kind of broker"):
        ask("kafka", {}, Asked())
    with pytest.raises(InputError, match="--database"):
        ask("mosquitto", {"a": Host("a")}, Asked())
    with pytest.raises(InputError, match="has no admin"):
        ask("nats", {"a": Host("a")}, Asked())
    with pytest.raises(NetworkError, match="can't be asked"):
        ask("nats", {"a": Host("a", admin="http://127.0.0.1:1")}, Asked())
    with pytest.raises(NetworkError, match="can't be reached"):
        ask("mosquitto", {"a": Host("a", port=1)}, Asked(seconds=1))


@pytest.mark.parametrize(
    ("kind", "answer"),
    [("nats", b"{}"), ("nats", b"[]"), ("nats", b"no JSON"), ("rabbitmq", b"{}"), ("rabbitmq", b"[1]")],
)
def test_an_address_of_something_else_is_told(
    kind: str, answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESH_SECRET", "geheim")

    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Other) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        host = Host("a", user="u", password="env:MESH_SECRET", admin=f"http://127.0.0.1:{server.server_port}")
        with pytest.raises(NetworkError, match="check its admin"):
            ask(kind, {"a": host}, Asked())
        server.shutdown()


def test_a_certificate_that_is_not_here_is_told() -> None:
    with pytest.raises(NetworkError, match=r"'a' can't be used on this machine: .*; check cafile"):
        ask("mosquitto", {"a": Host("a", cafile="/nowhere/ca.pem")}, Asked(seconds=0.01))
