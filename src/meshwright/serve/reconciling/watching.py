"""What brokers show: whether they answer, and who subscribes to what at them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Protocol
from urllib.parse import urlsplit

from meshwright.deploy.hosts import Host
from meshwright.deploy.live import DIALECTS, ask
from meshwright.deploy.live.mosquitto import listening
from meshwright.deploy.live.told import Asked
from meshwright.runtime.errors import MeshwrightError, NetworkError

MOST_TOPICS = 10_000
"""A broker that tells of more topics is not believed."""
_TRIES = 2
_AT_A_TIME = 16


def address_of(host: Host) -> tuple[str, int] | None:
    """Where to see whether a broker runs: its monitor, or else where links connect; None if at neither."""
    if host.admin:
        parts = urlsplit(host.admin)
        return str(parts.hostname), parts.port or (443 if parts.scheme == "https" else 80)
    return (host.host, host.port) if host.accepts else None


def look_at(hosts: Mapping[str, Host], patience: float) -> dict[str, bool]:
    """By broker, whether it takes connections; brokers that can't be looked at are left out.

    All are looked at at once, so it takes at most `patience` seconds, twice: one that does not answer is
    asked again.
    """
    places = {node: place for node, host in hosts.items() if (place := address_of(host)) is not None}

    async def look() -> dict[str, bool]:
        answers = await asyncio.gather(*(_answers(place, patience) for place in places.values()))
        return dict(zip(places, answers, strict=True))

    return asyncio.run(look())


async def _answers(place: tuple[str, int], patience: float) -> bool:
    for _ in range(_TRIES):
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(patience):
                _, writer = await asyncio.open_connection(*place)
            writer.close()
            return True
    return False


class Subscribers(Protocol):
    """What brokers tell of their clients."""

    complete: bool
    """Whether all subscriptions are told, so that one that is not told has ended."""

    def told(self, hosts: Mapping[str, Host]) -> dict[str, frozenset[str]]:
        """By broker that answers, what its clients want."""

    def close(self) -> None:
        """Let go of all connections."""


class Asking:
    """Brokers that list all subscriptions when they are asked."""

    complete = True

    def __init__(self, driver: str) -> None:
        self._driver = driver
        self._pool = ThreadPoolExecutor(_AT_A_TIME, "meshwright-asking")

    def told(self, hosts: Mapping[str, Host]) -> dict[str, frozenset[str]]:
        """By broker that answers, what its clients want."""
        asked = {node: self._pool.submit(self._ask, node, host) for node, host in hosts.items()}
        return {node: own for node, found in asked.items() if (own := found.result()) is not None}

    def _ask(self, node: str, host: Host) -> frozenset[str] | None:
        try:
            return frozenset(topic for _, topic in ask(self._driver, {node: host}, Asked()).interests)
        except (MeshwrightError, KeyError, TypeError, ValueError):  # whatever a broker says instead
            return None

    def close(self) -> None:
        """Let go of all connections."""
        self._pool.shutdown(cancel_futures=True)


class Listening:
    """Mosquitto: brokers that tell of a subscription only when it is made."""

    complete = False

    def __init__(self) -> None:
        self._clients: dict[Host, Any] = {}
        self._heard: set[tuple[str, str]] = set()

    def told(self, hosts: Mapping[str, Host]) -> dict[str, frozenset[str]]:
        """By broker, what its clients have newly subscribed to; from now on others are listened to, too."""
        for host in [own for own in self._clients if hosts.get(own.node) != own]:
            self._end(host)
        for host in hosts.values():
            if host not in self._clients:
                with suppress(NetworkError):
                    self._clients[host] = listening(host, self._heard)
        found: dict[str, set[str]] = {node: set() for node in hosts}
        for node, topic in list(self._heard):
            self._heard.discard((node, topic))
            if node in found and not topic.startswith("$"):
                found[node].add(topic)
        return {node: frozenset(own) for node, own in found.items()}

    def _end(self, host: Host) -> None:
        client = self._clients.pop(host)
        client.disconnect()
        client.loop_stop()

    def close(self) -> None:
        """Let go of all connections."""
        for host in list(self._clients):
            self._end(host)


def subscribers_of(driver: str) -> Subscribers | None:
    """What tells of the clients of a kind of broker; None if nothing does."""
    if driver not in DIALECTS:
        return None
    return Listening() if driver == "mosquitto" else Asking(driver)
