import os
import struct

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
