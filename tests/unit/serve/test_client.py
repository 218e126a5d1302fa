"""The client against a real server, and its types against the schema."""

import dataclasses
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import meshwright as mw
from meshwright.model.events import Event
from meshwright.runtime.errors import InputError, NetworkError, OptionError
from meshwright.serve import client as clients
from meshwright.serve.client import Client
from meshwright.serve.control_plane import ControlPlane
from meshwright.serve.limits import Limits
from meshwright.serve.schema import SCHEMAS
from meshwright.serve.server import Address
from tests.patience import PATIENCE
from tests.unit.serve.conftest import Running

TYPES = {
    "Overlay": clients.ServedOverlay,
    "Node": clients.ServedNode,
    "Topic": clients.ServedTopic,
    "Receipt": clients.ServedReceipt,
    "Step": clients.ServedStep,
    "WhatIf": clients.ServedWhatIf,
    "Plan": clients.ServedPlan,
    "Fleet": clients.ServedFleet,
}


@pytest.mark.parametrize("name", TYPES)
def test_the_types_are_those_of_the_schema(name: str) -> None:
    names = sorted(field.name for field in dataclasses.fields(TYPES[name]))
    assert names == sorted(SCHEMAS[name]["properties"])


@pytest.fixture
def client(running: Running) -> Iterator[Client]:
    with mw.Client(running.url, running.access.add("client", ["write"])[1]) as found:
        yield found


def join(number: int, **more: Any) -> Event:
    return Event(number, "join", f"new/{number}", ("t/0", "t/1"), **more)


def test_a_client_sees_what_it_sends(client: Client, overlay: mw.Overlay) -> None:
    assert client.overlay().nodes == 24
    receipts = list(client.send([join(1), join(2), join(1), Event(0, "leave", "nobody")], at_once=2))
    assert [(one.events, len(one.refused)) for one in receipts] == [(2, 0), (0, 2)]
    assert receipts[1].refused[0].event == 0
    assert "already in the overlay" in receipts[1].refused[0].reason
    assert client.node("new/1").topics == ("t/0", "t/1")
    assert "new/2" in client.topic("t/0").subscribers
    assert list(client.nodes("NEW")) == ["new/1", "new/2"]
    assert list(client.topics()) == overlay.interests.topics.to_pylist()
    assert len(list(client.links())) == client.overlay().links
    tried = client.what_if("new/1", "n00")
    assert client.overlay().revision == 2
    done = client.submit([Event(0, "leave", node) for node in ("new/1", "n00")])
    assert (tried.opened, tried.closed) == (done.opened, done.closed)
    steps = list(client.changes())
    assert [step.revision for step in steps] == [0, 2, 4]
    assert steps[-1].closed == done.closed


def test_a_tag_and_unknown_names_are_told_in_the_errors_of_the_project(client: Client) -> None:
    tag = client.overlay().tag
    client.submit([join(1)], if_tag=tag)
    with pytest.raises(InputError, match="read it again"):
        client.submit([join(2)], if_tag=tag)
    with pytest.raises(InputError, match="there is no node"):
        client.node("nope/nope")


def test_a_client_goes_on_when_the_server_comes_back(running: Running, client: Client) -> None:
    client.submit([join(1)])
    steps = client.follow(since=0)
    assert next(steps).revision == 1
    running.stop()
    # What waits in the listener's queue is answered when the server is there again.
    starter = threading.Thread(target=running.start)
    starter.start()
    receipt = client.submit([join(2, id="two")])
    starter.join()
    assert receipt.revision == 2
    assert client.submit([join(2, id="two")]).repeated == 1
    step = next(steps)
    assert (step.since, step.revision) == (1, 2)
    steps.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "url",
    [
        "ftp://127.0.0.1",
        "127.0.0.1:8470",
        "http://",
        "http://10.0.0.1:8470",
        "http://a:b:c",
        "http://127.0.0.1/x",
    ],
)
def test_urls_that_are_none_or_would_show_the_token_are_refused(url: str) -> None:
    with pytest.raises(OptionError, match="the URL is"):
        Client(url, "token")


def test_a_client_needs_a_token_that_the_server_knows(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MESHWRIGHT_TOKEN", raising=False)
    for wrong in (None, "", "two words"):
        with pytest.raises(OptionError, match="there is no token"):
            Client(running.url, wrong)
    with Client(running.url, "mw_wrong") as wrong_one, pytest.raises(OptionError, match="no known token"):
        wrong_one.overlay()
    reader = running.access.add("reader", ["read"])[1]
    with Client(running.url, reader) as read_only, pytest.raises(OptionError, match="needs write"):
        read_only.submit([join(1)])


def test_a_server_that_is_not_there_is_named() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(NetworkError, match=f":{port} can't be reached"):
        Client(f"http://127.0.0.1:{port}", "token", patience=0).overlay()


def test_answers_are_sent_without_delay() -> None:
    with Address(port=0).bind() as listener:
        assert listener.proto == socket.IPPROTO_TCP


@pytest.mark.parametrize(
    "begun", [b"", b"GET /healthz HTTP/1.1\r\n", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET"]
)
def test_a_connection_that_sends_no_whole_request_is_closed(plane: ControlPlane, begun: bytes) -> None:
    running = Running(plane, Limits(patience=0.05))
    try:
        with socket.create_connection(("127.0.0.1", running.port)) as raw:
            raw.sendall(begun)
            while raw.recv(1_000):
                pass
    finally:
        running.stop()


def test_headers_that_are_too_large_are_refused(running: Running) -> None:
    with socket.create_connection(("127.0.0.1", running.port)) as raw:
        raw.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"x" * 100_000)
        assert raw.recv(100).startswith(b"HTTP/1.1 400")


def test_whoever_is_refused_can_not_hold_a_connection_by_a_body_without_an_end(running: Running) -> None:
    head = b"POST /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000000\r\n\r\n{"
    with socket.create_connection(("127.0.0.1", running.port), timeout=PATIENCE) as raw:
        raw.sendall(head)
        told = b""
        while part := raw.recv(1_000):
            told += part
        assert told.startswith(b"HTTP/1.1 401")
