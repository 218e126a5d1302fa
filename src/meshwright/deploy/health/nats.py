"""Probes over leaf nodes of NATS: a client at both ends in each account, for the time of one look.

An account is a forest, so what gets from one end of a link to the other has crossed it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection
from contextlib import suppress
from secrets import token_hex
from typing import TYPE_CHECKING, Any, NamedTuple

from meshwright.deploy.drivers.driver import digest
from meshwright.deploy.drivers.nats import account_name, user_name
from meshwright.deploy.health.probes import Health, awake_ends, unknown
from meshwright.deploy.hosts import Host
from meshwright.deploy.live.told import fetched
from meshwright.deploy.plan.plan import Link, Plan
from meshwright.deploy.reaching import secret_of
from meshwright.runtime.errors import MeshwrightError

if TYPE_CHECKING:
    from nats.aio.client import Client

_AGAIN = 0.1
"""Seconds after which a probe is sent again: servers tell each other of subscriptions when they like."""


class _Server(NamedTuple):
    """What the monitor of a server tells."""

    name: str
    port: int
    leafs: list[dict[str, Any]]


def look_at_links(plan: Plan, away: Collection[str], patience: float) -> list[Health]:
    """The health of every link, in all its accounts."""
    return asyncio.run(_look(plan, away, patience))


async def _look(plan: Plan, away: Collection[str], patience: float) -> list[Health]:
    ends = awake_ends(plan, away)
    found = await asyncio.gather(*(asyncio.to_thread(_server, plan.host_of[node]) for node in ends))
    servers = {node: own for node, own in zip(ends, found, strict=True) if own is not None}
    links = [link for link in plan.links if servers.keys() >= {*link.ends}]
    wanted = sorted({(node, number) for link in links for node in link.ends for number in link.accounts})
    clients: dict[tuple[str, int], Client] = {}
    try:
        for node, number in wanted:
            client = await _client(plan.host_of[node], servers[node].port, number, patience)
            if client is not None:
                clients[node, number] = client
        tried = await asyncio.gather(*(_try(link, clients, servers, patience) for link in links))
    finally:
        for client in clients.values():
            await client.close()
    known = {own.opens + "\0" + own.to: own for own in tried}
    return [
        known.get("\0".join(link.ends)) or unknown(link, "an end, or its monitor, can't be reached")
        for link in plan.links
    ]


def _server(host: Host) -> _Server | None:
    try:
        told = fetched(host, "/varz")
        return _Server(told["server_name"], int(told["port"]), fetched(host, "/leafz").get("leafs") or [])
    except (MeshwrightError, KeyError, ValueError):
        return None


async def _client(host: Host, port: int, number: int, patience: float) -> Client | None:
    import nats

    password = secret_of(host.password) if host.password else user_name(number)

    async def ignore(_error: Exception) -> None:
        """Whether a client can connect is all that counts."""

    with suppress(OSError, asyncio.TimeoutError, nats.errors.Error):
        return await nats.connect(
            f"nats://{host.host}:{port}",
            user=user_name(number),
            password=password,
            allow_reconnect=False,
            connect_timeout=max(1, int(patience)),
            error_cb=ignore,
        )
    return None


async def _try(
    link: Link, clients: dict[tuple[str, int], Client], servers: dict[str, _Server], patience: float
) -> Health:
    listed = {
        leaf.get("account") for leaf in servers[link.opens].leafs if leaf.get("name") == servers[link.to].name
    }
    up = listed.issuperset(map(account_name, link.accounts))
    ways = [(number, *way) for number in link.accounts for way in (link.ends, link.ends[::-1])]
    if any((node, number) not in clients for number in link.accounts for node in link.ends):
        return unknown(link, "clients can't log in at an end")._replace(up=up)
    delays = await asyncio.gather(
        *(
            _cross(clients[sender, number], clients[hearer, number], patience)
            for number, sender, hearer in ways
        )
    )
    crossed = [delay for delay in delays if delay is not None]
    carries = len(crossed) == len(delays)
    return Health(*link.ends, up, carries, round(1e3 * max(crossed), 3) if carries and crossed else None)


async def _cross(sender: Client, hearer: Client, patience: float) -> float | None:
    """Seconds from the last sending of a probe until it was heard; None if it was not, in time."""
    subject, heard, sent = f"_INBOX.{digest(token_hex(8))}", asyncio.Event(), 0.0

    async def hear(_message: Any) -> None:
        heard.set()

    subscription = await hearer.subscribe(subject, cb=hear)
    await hearer.flush()
    end = time.monotonic() + patience
    while time.monotonic() < end:
        sent = time.monotonic()
        await sender.publish(subject, b"probe")
        with suppress(TimeoutError):
            async with asyncio.timeout(_AGAIN):
                await heard.wait()
            await subscription.unsubscribe()
            return time.monotonic() - sent
    await subscription.unsubscribe()
    return None
