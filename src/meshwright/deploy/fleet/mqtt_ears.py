"""Ears for MQTT, by the library paho-mqtt; all connections in one thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from selectors import EVENT_READ, DefaultSelector
from typing import TYPE_CHECKING, Any

from meshwright.deploy.fleet.ears import Heard
from meshwright.deploy.plan.plan import Plan, Topic
from meshwright.runtime.errors import InputError, NetworkError

if TYPE_CHECKING:
    from paho.mqtt.client import Client

_PATIENCE = 60.0


def paho() -> Any:
    """The library; an error says how to get it."""
    try:
        import paho.mqtt.client as found
    except ImportError:
        raise InputError(
            "deploy needs the library paho-mqtt for MQTT brokers; pip install 'meshwright[deploy]'"
        ) from None
    return found


class MqttEars:
    """Two clients at each broker, with MQTT 3.1.1."""

    def __init__(self, plan: Plan, heard: Heard, port_of: Callable[[int], int]) -> None:
        self.heard = heard
        self._plan, self._port_of = plan, port_of
        self._selector = DefaultSelector()
        self._publishers: dict[str, Client] = {}
        self._observers: dict[str, Client] = {}
        # A wildcard at the start passes over names that begin with $.
        self._all = ["#", *sorted({f"{own.example}" for own in plan.topics if own.example.startswith("$")})]
        for host in plan.hosts:
            self._join(host.node)

    def _join(self, node: str) -> None:
        wants = list(self._plan.wants[node])
        self._publishers[node] = self._connect(node, wants, self.heard.subscriber)
        self._observers[node] = self._connect(node, self._all, self.heard.observer)

    def _connect(self, node: str, filters: list[str], hear: Callable[[str, bytes], None]) -> Client:
        library = paho()
        client = library.Client(library.CallbackAPIVersion.VERSION2, protocol=library.MQTTv311)
        client.on_message = lambda _client, _data, message: hear(node, message.payload)
        acknowledged: list[bool] = []
        client.on_subscribe = lambda *_: acknowledged.append(True)
        client.on_connect = lambda *_: self._subscribe(client, filters)
        host = self._plan.host_of[node]
        client.connect(host.host, self._port_of(host.port), keepalive=0)
        self._selector.register(client.socket(), EVENT_READ, client)
        end = time.monotonic() + _PATIENCE
        while filters and not acknowledged:
            self.pump(0.1)
            if time.monotonic() > end:
                raise NetworkError(f"the broker of {node!r} does not answer; see its log")
        found: Client = client
        return found

    def _subscribe(self, client: Client, filters: list[str]) -> None:
        if filters:
            client.subscribe([(each, self._plan.settings.qos) for each in filters])

    def _drop(self, client: Client) -> None:
        socket = client.socket()
        if socket is not None:
            with suppress(KeyError, ValueError):
                self._selector.unregister(socket)
        client.disconnect()

    def publish(self, node: str, topic: Topic, number: int) -> None:
        """Publish a numbered message at a node."""
        self.heard.sent[number] = time.monotonic_ns()
        self._publishers[node].publish(topic.example, b"%d" % number, self._plan.settings.qos)

    def pump(self, seconds: float) -> None:
        """Take in what has arrived; wait for it at most this long."""
        for key, _ in self._selector.select(seconds):
            client: Client = key.data
            if client.loop_read() or client.socket() is None:
                self._selector.unregister(key.fileobj)
                continue
            if client.want_write():
                client.loop_write()

    def close(self) -> None:
        """Let go of all connections."""
        for client in (*self._publishers.values(), *self._observers.values()):
            self._drop(client)
        self._selector.close()
