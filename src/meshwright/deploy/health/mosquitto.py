"""Probes over bridges of Mosquitto: a client at each broker, for the time of one look."""

import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from secrets import token_hex
from selectors import EVENT_READ, DefaultSelector
from typing import Any

from meshwright.deploy.drivers.mosquitto import client_id
from meshwright.deploy.health.probes import PROBES, Health, awake_ends, probe_name, unknown
from meshwright.deploy.hosts import Host
from meshwright.deploy.live.mosquitto import client_of
from meshwright.deploy.plan.plan import Link, Plan

_STATES = "$SYS/broker/connection/"


def look_at_links(plan: Plan, away: Collection[str], patience: float) -> list[Health]:
    """The health of every link; a bridge says itself whether it is connected."""
    look = _Look(plan)
    with look.listening(awake_ends(plan, away), patience):
        look.send(patience)
    return [look.health(link) for link in plan.links]


class _Look:
    """One look at all links. All clients are in one thread."""

    def __init__(self, plan: Plan) -> None:
        self._plan, self._round = plan, token_hex(8)
        self._clients: dict[str, Any] = {}
        self._selector = DefaultSelector()
        self._ready: set[str] = set()
        self._states: dict[str, bool] = {}
        self._sent: dict[tuple[str, str], float] = {}
        self._heard: dict[tuple[str, str, str], float] = {}
        """By name, sender and hearer, when."""

    @contextmanager
    def listening(self, nodes: Collection[str], patience: float) -> Iterator[None]:
        """Have a client at each of some brokers; those that don't answer in time are left out."""
        try:
            for node in nodes:
                self._join(self._plan.host_of[node])
            self._pump(patience, lambda: len(self._ready) < len(self._clients))
            yield
        finally:
            for client in self._clients.values():
                client.disconnect()
            self._selector.close()

    def _join(self, host: Host) -> None:
        client = client_of(host)
        client.on_connect = lambda own, *_: own.subscribe([(f"{PROBES}#", 0), (f"{_STATES}+/state", 0)])
        client.on_subscribe = lambda *_: self._ready.add(host.node)
        client.on_message = lambda _own, _data, message: self._hear(host.node, message.topic, message.payload)
        with suppress(OSError):
            client.connect(host.host, host.port, keepalive=60)
            self._selector.register(client.socket(), EVENT_READ, client)
            self._clients[host.node] = client

    def _hear(self, node: str, topic: str, payload: bytes) -> None:
        if topic.startswith(_STATES):
            self._states[topic.removeprefix(_STATES).removesuffix("/state")] = payload == b"1"
            return
        own_round, _, sender = payload.decode(errors="replace").partition(" ")
        if own_round == self._round:
            self._heard.setdefault((topic, sender, node), time.monotonic())

    def send(self, patience: float) -> None:
        """Send a probe from both ends of each link, and wait until all have arrived."""
        tried = [link for link in self._plan.links if self._ready.issuperset(link.ends)]
        for link in tried:
            for node in link.ends:
                self._sent[probe_name(link), node] = time.monotonic()
                self._clients[node].publish(probe_name(link), f"{self._round} {node}", 1)
        self._pump(patience, lambda: any(self._ways(link) < 2 for link in tried))

    def _pump(self, patience: float, goes_on: Callable[[], bool]) -> None:
        end = time.monotonic() + patience
        while goes_on() and (left := end - time.monotonic()) > 0:
            for key, _ in self._selector.select(left):
                client = key.data
                if client.loop_read() or client.socket() is None:
                    self._selector.unregister(key.fileobj)
                elif client.want_write():
                    client.loop_write()

    def _delays(self, link: Link) -> list[float]:
        name, (one, other) = probe_name(link), link.ends
        return [
            self._heard[name, sender, hearer] - self._sent[name, sender]
            for sender, hearer in ((one, other), (other, one))
            if (name, sender, hearer) in self._heard
        ]

    def _ways(self, link: Link) -> int:
        return len(self._delays(link))

    def health(self, link: Link) -> Health:
        """What was found out about a link."""
        name = probe_name(link)
        up = self._states.get(client_id(link))
        if (name, link.opens) not in self._sent:
            return unknown(link, "an end can't be reached")._replace(up=up)
        delays = self._delays(link)
        astray = sum(key[0] == name and key[2] not in link.ends for key in self._heard)
        slowest = round(1e3 * max(delays), 3) if len(delays) == 2 else None
        return Health(*link.ends, up, len(delays) == 2, slowest, astray)
