"""Whether the links of a fleet are up, as its brokers tell."""

import json
from pathlib import Path
from typing import Any, Protocol
from urllib.request import urlopen

from meshwright.deploy.drivers.driver import safe_name
from meshwright.deploy.drivers.mosquitto import client_id, clients_of
from meshwright.deploy.drivers.nats import MONITOR_PORTS, account_name
from meshwright.deploy.plan.plan import Link, Plan


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
        return self._seen.get(client_id(link), set()).issuperset(link.lines)

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
        """Whether the server that opened the link lists it for each account."""
        del log
        leafs = leafs_of(plan, link.opens)
        own = {leaf["account"] for leaf in leafs if leaf.get("name") == safe_name(link.to)}
        return own.issuperset(map(account_name, link.accounts))


def leafs_of(plan: Plan, node: str) -> list[dict[str, Any]]:
    """What a server on loopback tells of its leaf nodes."""
    host = plan.host_of[node]
    with urlopen(f"http://{host.host}:{host.port + MONITOR_PORTS}/leafz", timeout=30) as answer:
        found: list[dict[str, Any]] = json.load(answer).get("leafs") or []
    return found


LINKS: dict[str, type[Links]] = {"mosquitto": MosquittoLinks, "nats": NatsLinks}
