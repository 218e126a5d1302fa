"""Whether the links of a fleet are up, as its brokers tell."""

import json
from http.client import HTTPException
from pathlib import Path
from typing import Any, Protocol
from urllib.request import urlopen

from meshwright.deploy.drivers.driver import safe_name
from meshwright.deploy.drivers.mosquitto import client_id, clients_of
from meshwright.deploy.drivers.nats import MONITOR_PORTS, account_name
from meshwright.deploy.drivers.zenoh import ROUTER_PORTS, router_id
from meshwright.deploy.fleet.zenoh_sessions import session_at
from meshwright.deploy.hosts import Host
from meshwright.deploy.plan.plan import Link, Plan

_LONG = 900
"""Mosquitto cuts lines of its log after 999 bytes, 45 or so of which are before the topic."""


class Links(Protocol):
    """What brokers tell of their links."""

    def is_up(self, plan: Plan, link: Link, log: Path) -> bool:
        """Whether a link carries all that the plan says; `log` is that of the other end."""

    def restarting(self, text: str, log: Path) -> None:
        """A broker with this file and this log is about to start again."""


class MosquittoLinks:
    """Brokers log who subscribes to what; each part of a log is read once."""

    def __init__(self) -> None:
        self._read: dict[Path, int] = {}
        self._seen: dict[str, set[str]] = {}

    def restarting(self, text: str, log: Path) -> None:
        """What was told of its links counts no more, and its log begins anew."""
        for client in clients_of(text):
            self._seen.pop(client, None)
        self._read[log] = 0

    def is_up(self, plan: Plan, link: Link, log: Path) -> bool:
        """Whether the other end has told of every line."""
        del plan
        self._follow(log)
        seen = self._seen.get(client_id(link), set())
        cut = tuple(each.rstrip("\N{REPLACEMENT CHARACTER}") for each in seen if len(each.encode()) > _LONG)
        return all(line in seen or line.startswith(cut) for line in link.lines)

    def _follow(self, log: Path) -> None:
        start = self._read.get(log, 0)
        with log.open("rb") as stream:
            stream.seek(start)
            fresh = stream.read()
        whole = fresh[: fresh.rfind(b"\n") + 1]
        self._read[log] = start + len(whole)
        for line in whole.decode(errors="replace").splitlines():
            words = line.split(" ")
            if len(words) == 4 and words[1].startswith("mw-"):
                self._seen.setdefault(words[1], set()).add(words[3])


class NatsLinks:
    """Servers list their leaf nodes by their monitor."""

    def restarting(self, text: str, log: Path) -> None:
        """Nothing is kept."""

    def is_up(self, plan: Plan, link: Link, log: Path) -> bool:
        """Whether the server that opened the link lists it for each account.

        Its monitor may begin to listen after the port for clients.
        """
        del log
        try:
            leafs = leafs_of(plan.host_of[link.opens])
        except (OSError, HTTPException):
            return False
        own = {leaf["account"] for leaf in leafs if leaf.get("name") == safe_name(link.to)}
        return own.issuperset(map(account_name, link.accounts))


def leafs_of(host: Host) -> list[dict[str, Any]]:
    """What a server on loopback tells of its leaf nodes."""
    return _monitored(host, "leafz", "leafs")


def taken_in(host: Host) -> int:
    """The messages that have come to a server on loopback over leaf nodes and routes."""
    links = (*leafs_of(host), *_monitored(host, "routez", "routes"))
    return sum(int(link.get("in_msgs", 0)) for link in links)


def _monitored(host: Host, page: str, key: str) -> list[dict[str, Any]]:
    with urlopen(f"http://{host.host}:{host.port + MONITOR_PORTS}/{page}", timeout=30) as answer:
        found: list[dict[str, Any]] = json.load(answer).get(key) or []
    return found


class ZenohLinks:
    """Routers list the sessions with others in their admin space."""

    def restarting(self, text: str, log: Path) -> None:
        """Nothing is kept."""

    def is_up(self, plan: Plan, link: Link, log: Path) -> bool:
        """Whether the router that opened the link has a session with the other."""
        del log
        host = plan.host_of[link.opens]
        with session_at(host.host, host.port + ROUTER_PORTS) as client:
            answers = client.get(f"@/{router_id(link.opens)}/router")
            told = [json.loads(bytes(each.ok.payload)) for each in answers if each.ok]
        return router_id(link.to) in {own["peer"] for each in told for own in each["sessions"]}


LINKS: dict[str, type[Links]] = {"mosquitto": MosquittoLinks, "nats": NatsLinks, "zenoh": ZenohLinks}
