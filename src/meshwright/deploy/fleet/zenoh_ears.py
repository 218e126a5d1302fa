"""Ears for Zenoh, by the library eclipse-zenoh: a client at each router, and taps on the links."""

import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any

from meshwright.deploy.drivers.zenoh import DIALECT, ROUTER_PORTS
from meshwright.deploy.fleet.ears import Heard, earlier_filters
from meshwright.deploy.fleet.programs import zenoh_library
from meshwright.deploy.fleet.taps import Taps, number_of, numbered
from meshwright.deploy.fleet.zenoh_sessions import session_at
from meshwright.deploy.hosts import Host
from meshwright.deploy.plan.plan import Plan, Topic
from meshwright.filters.filter import Filter


class ZenohEars:
    """A client at each router with what its node wants; what routers take in is told by taps."""

    def __init__(self, plan: Plan, heard: Heard, taps: Taps) -> None:
        self.heard = heard
        self._taps = taps
        self._arrived: SimpleQueue[tuple[str, bytes]] = SimpleQueue()
        self._library = zenoh_library()
        self._clients = {host.node: self._join(host, plan.wants[host.node]) for host in plan.hosts}

    def _join(self, host: Host, wants: tuple[str, ...]) -> Any:
        client = session_at(host.host, host.port + ROUTER_PORTS)
        for each, earlier in zip(wants, earlier_filters(wants, DIALECT), strict=True):
            client.declare_subscriber(each, self._hearing(host.node, earlier))
        return client

    def _hearing(self, node: str, earlier: list[Filter]) -> Callable[[Any], None]:
        def hear(sample: Any) -> None:
            if not any(each.matches(str(sample.key_expr)) for each in earlier):
                self._arrived.put((node, number_of(bytes(sample.payload))))

        return hear

    def publish(self, node: str, topic: Topic, number: int) -> None:
        """Publish a numbered message at a node; nothing is dropped where a link is busy."""
        self.heard.sent[number] = time.monotonic_ns()
        self._clients[node].put(
            topic.example, numbered(number), congestion_control=self._library.CongestionControl.BLOCK
        )

    def pump(self, seconds: float) -> None:
        """Take in what has arrived; wait for it at most this long."""
        wait = seconds
        while True:
            try:
                self.heard.subscriber(*self._arrived.get(timeout=wait))
            except Empty:
                break
            wait = 0.0
        while not self._taps.crossed.empty():
            self.heard.observer(*self._taps.crossed.get())

    def close(self) -> None:
        """Let go of all connections."""
        for client in self._clients.values():
            client.close()
