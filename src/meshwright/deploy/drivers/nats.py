"""NATS: leaf nodes, in an account for each group of topics whose trees form a forest.

A server refuses a leaf node that closes a cycle, in each account by itself. Inside an account, servers tell
each other who wants what, so links need no lines. The file that is ours has the keys `leafnodes` and
`accounts`. Links log in as users of accounts: a server refuses a reload if users of `leafnodes` differ.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from meshwright.deploy.drivers.driver import (
    Driver,
    Lines,
    check_versions,
    digest,
    in_url,
    opening_line,
    reference,
    safe_name,
)
from meshwright.deploy.hosts import LOOPBACK, Host
from meshwright.deploy.plan.plan import Link, Plan
from meshwright.deploy.plan.planning import Engine
from meshwright.runtime.errors import InputError, quoted

CLIENT_PORTS, MONITOR_PORTS = 4_000, 8_000
"""On loopback, how far the ports of clients and of the monitor are above the one for leaf nodes."""

_REMOTE = re.compile(r"^    # (\S+)\n    \{.*account: \"(MW\d+)\"", re.MULTILINE)
_ADDRESS = re.compile(r"^    # (\S+)\n    \{ urls: \[\".*@([^@\"]+)\"\]", re.MULTILINE)
_REMOTES = re.compile(r"^    # \S+\n    \{.*\n", re.MULTILINE)
_USER = re.compile(r"user: \"mw(\d+)\", password: \"[^\"]*\"")


def account_name(number: int) -> str:
    """What an account is called."""
    return f"MW{number}"


def user_name(number: int) -> str:
    """As whom links and clients log in for an account."""
    return f"mw{number}"


def password_of(host: Host, number: int) -> str:
    """The password for an account at a server: a reference, or on loopback the user's name."""
    return reference(host.password) if host.password else user_name(number)


def check(plan: Plan) -> None:
    """Refuse servers that anybody could join, and relays that have opened several links of an account.

    A server does not tell a server that it has connected to what another one wants that it has connected to:
    so 2,430 of 14,772 deliveries of 30 servers were lost when relays opened links as others do.
    """
    check_versions(plan, (2, 14))
    for topic in plan.topics:
        for relay in topic.relays:
            if sum(topic.account in link.accounts for link in plan.opened_by(relay)) > 1:
                raise InputError(
                    f"the topic {quoted(topic.name)} needs the relay {quoted(relay)}, which does not want "
                    f"it, and NATS passes nothing on between links that such a server has opened itself; let "
                    f"others connect to it (accepts), subscribe to it there, or to filters that don't cross"
                )
    for host in plan.hosts:
        if not plan.loopback and not host.password:
            raise InputError(
                f"the node {quoted(host.node)} has no password in the inventory, and NATS keeps topics apart "
                f"by users; give env:NAME or file:PATH"
            )
        if host.user:
            raise InputError(
                f"the node {quoted(host.node)} has the user {quoted(host.user)}, but with NATS there is a "
                f"user for each account, mw0 and so on; leave it out"
            )


def link_name(opens: str, to: str) -> str:
    """What a link is called in the file."""
    return f"{safe_name(to)[:40]}-{digest(opens, to)[:8]}"


def accounts_at(plan: Plan, node: str) -> list[int]:
    """The accounts of all topics that a node wants or relays."""
    found = {topic.account for topic in plan.topics if node in topic.nodes or node in topic.relays}
    links = (*plan.opened_by(node), *plan.accepted_by(node))
    return sorted(found.union(*(link.accounts for link in links)))


def _accounts_of_file(plan: Plan, node: str) -> list[int]:
    """The accounts in the file of a node: one at least, since a server without users lets everybody in."""
    return accounts_at(plan, node) or [0]


def render(plan: Plan, node: str) -> str:
    """The leaf nodes and accounts of a node."""
    return "".join(f"{line}\n" for line in _rendered(plan, node))


def _rendered(plan: Plan, node: str) -> Iterator[str]:
    host = plan.host_of[node]
    yield f"# {opening_line(node)}"
    yield "leafnodes {"
    # A reload does not begin to listen, so a server that accepts no link yet has to listen all the same.
    if host.accepts:
        anywhere = LOOPBACK if plan.loopback else "[::]" if ":" in host.host else "0.0.0.0"
        yield f'  listen: "{anywhere}:{host.port}"'
        if host.certfile:
            yield f"  tls {{ cert_file: {_text(host.certfile)}, key_file: {_text(host.keyfile)} }}"
    yield "  remotes: ["
    for link in plan.opened_by(node):
        for number in link.accounts:
            account = _text(account_name(number))
            yield f"    # {link_name(*link.ends)}"
            yield f"    {{ {_remote(plan.host_of[link.to], number)}, account: {account} }}"
    yield "  ]"
    yield "}"
    yield "accounts {"
    for number in _accounts_of_file(plan, node):
        yield f"  {account_name(number)} {{ users: [ {{ {_user(host, number)} }} ] }}"
    yield "}"


def _user(host: Host, number: int) -> str:
    return f'user: {_text(user_name(number))}, password: "{password_of(host, number)}"'


def _remote(to: Host, number: int) -> str:
    scheme = "tls" if to.cafile else "nats-leaf"
    url = f'urls: ["{scheme}://{user_name(number)}:{password_of(to, number)}@{in_url(to)}"]'
    return f"{url}, tls {{ ca_file: {_text(to.cafile)} }}" if to.cafile else url


def _text(text: str) -> str:
    """A string of NATS, whose escapes are among those of JSON."""
    return json.dumps(text, ensure_ascii=False)


def read(text: str) -> Lines:
    """The accounts of each link in a file that was rendered."""
    found: dict[str, list[str]] = {}
    for name, account in _REMOTE.findall(text):
        found.setdefault(name, []).append(account)
    return {name: tuple(own) for name, own in found.items()}


def addresses(text: str) -> dict[str, str]:
    """The address of each link in a file that was rendered."""
    return dict(_ADDRESS.findall(text))


def alone(text: str, host: Host) -> str:
    """A server without links: its configuration includes the file, so it can't run without it."""
    return _USER.sub(lambda found: _user(host, int(found[1])), _REMOTES.sub("", text))


def whole(plan: Plan, node: str, own: Path) -> str:
    """A server on loopback with a monitor."""
    port = plan.host_of[node].port
    lines = [
        f"server_name: {_text(safe_name(node))}",
        f'listen: "{LOOPBACK}:{port + CLIENT_PORTS}"',
        f'http: "{LOOPBACK}:{port + MONITOR_PORTS}"',
        f"include {_text(str(own.relative_to(own.parent.parent)))}",
    ]
    return "".join(f"{line}\n" for line in lines)


def _narrowed(link: Link, names: tuple[str, ...]) -> Link:
    return link._replace(accounts=tuple(number for number in link.accounts if account_name(number) in names))


DRIVER = Driver(
    engine=Engine("nats", "nats", by_accounts=True),
    broker="nats",
    check=check,
    render=render,
    read=read,
    sessions_of=lambda text: [],
    link_name=link_name,
    whole=whole,
    client_port=lambda port: port + CLIENT_PORTS,
    ports_beside=(CLIENT_PORTS, MONITOR_PORTS),
    crossing=lambda link: tuple(map(account_name, link.accounts)),
    narrowed=_narrowed,
    alone=alone,
    addresses=addresses,
)
