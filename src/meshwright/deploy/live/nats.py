"""NATS: connections with their subscriptions, and round trips over leaf nodes and routes, by the monitor."""

import re
from collections.abc import Iterator, Mapping

from meshwright.deploy.hosts import Host
from meshwright.deploy.live.told import Asked, Told, fetched
from meshwright.runtime.progress import Progress, stage

_PAGE = 1_000
_INTERNAL = ("_INBOX.", "$", "_R_.", "_GR_.")
_TIME = re.compile(r"([0-9.]+)(ns|us|µs|μs|ms|s|m|h)")
_MILLISECONDS = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "μs": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4, "h": 3.6e6}


def ask(hosts: Mapping[str, Host], asked: Asked, progress: Progress | None) -> Told:
    """What clients have subscribed to; what servers want for others is not theirs, and is left out.

    Servers don't tell who publishes. Costs are between servers of the inventory that are linked.
    """
    del asked
    interests, trips = set(), dict[tuple[str, str], float]()
    names = {fetched(host, "/varz", "server_name")["server_name"]: node for node, host in hosts.items()}
    with stage(progress, "asking servers", len(hosts)) as tell:
        for number, (node, host) in enumerate(hosts.items(), start=1):
            interests |= {(node, subject) for subject in _subjects(host)}
            for other, trip in _round_trips(host):
                if other in names:
                    one, far = sorted((node, names[other]))
                    trips[one, far] = min(trip, trips.get((one, far), trip))
            tell(number)
    return Told(sorted(interests), [(one, far, trip) for (one, far), trip in sorted(trips.items())])


def _subjects(host: Host) -> Iterator[str]:
    offset, total = 0, 1
    while offset < total:
        page = fetched(host, f"/connz?subs=1&limit={_PAGE}&offset={offset}", "total")
        clients = (each for each in page.get("connections") or () if each.get("kind", "Client") == "Client")
        for connection in clients:
            for subject in connection.get("subscriptions_list") or ():
                if not subject.startswith(_INTERNAL):
                    yield subject
        total, offset = page["total"], offset + _PAGE


def _round_trips(host: Host) -> Iterator[tuple[str, float]]:
    for leaf in fetched(host, "/leafz").get("leafs") or ():
        if "rtt" in leaf:
            yield leaf.get("name", ""), milliseconds(leaf["rtt"])
    for route in fetched(host, "/routez").get("routes") or ():
        if "rtt" in route:
            yield route.get("remote_name", ""), milliseconds(route["rtt"])


def milliseconds(text: str) -> float:
    """A duration as Go writes it, such as 1.5ms or 1m2s."""
    return round(sum(float(number) * _MILLISECONDS[unit] for number, unit in _TIME.findall(text)), 6)
