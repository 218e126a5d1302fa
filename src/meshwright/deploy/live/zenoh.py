"""Zenoh: subscribers at each router, by its admin space."""

import json
from collections.abc import Iterator, Mapping

from meshwright.deploy.fleet.zenoh_sessions import session_at
from meshwright.deploy.hosts import Host
from meshwright.deploy.live.told import Asked, Told
from meshwright.runtime.errors import NetworkError, one_line, quoted
from meshwright.runtime.progress import Progress, stage


def ask(hosts: Mapping[str, Host], asked: Asked, progress: Progress | None) -> Told:
    """What clients and peers of each router have subscribed to; other routers are left out."""
    del asked
    found = set()
    with stage(progress, "asking routers", len(hosts)) as tell:
        for number, (node, host) in enumerate(hosts.items(), start=1):
            found |= {(node, key) for key in _keys(host)}
            tell(number)
    return Told(sorted(found))


def _keys(host: Host) -> Iterator[str]:
    import zenoh

    try:
        with session_at(host.host, host.port) as client:
            own = str(next(iter(client.info.routers_zid())))
            start = f"@/{own}/router/subscriber/"
            for answer in client.get(f"{start}**"):
                if answer.ok is not None and _is_local(bytes(answer.ok.payload)):
                    yield str(answer.ok.key_expr).removeprefix(start)
    except (zenoh.ZError, NetworkError, StopIteration) as error:
        raise NetworkError(
            f"the router of {quoted(host.node)} at {host.host}:{host.port} can't be asked: "
            f"{one_line(error)}; check the inventory, and that its adminspace is enabled"
        ) from None


def _is_local(payload: bytes) -> bool:
    told = json.loads(payload)
    return bool(told.get("clients") or told.get("peers"))
