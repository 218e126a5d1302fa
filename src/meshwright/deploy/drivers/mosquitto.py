"""Mosquitto: a bridge for each link, in a file of its own that the broker's configuration includes.

Bridges speak MQTT 3.1.1 with `try_private` left on: on a tree, every message arrives once. Lines of one
bridge that overlap deliver once if both ends don't allow duplicates, which is the default up to 2.0.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from meshwright.deploy.drivers.driver import (
    MARK,
    Driver,
    Lines,
    Session,
    check_versions,
    digest,
    opening_line,
    reference,
    safe_name,
)
from meshwright.deploy.plan.plan import Link, Plan
from meshwright.deploy.plan.planning import Engine
from meshwright.runtime.errors import InputError, quoted

_WILD = re.compile(r"[+#]")
_SESSION = re.compile(r"^address (\S+):(\d+)\n(?:.*\n)*?remote_clientid (\S+)$", re.MULTILINE)
_LINE = re.compile(r"^(connection|topic) (\S+)", re.MULTILINE)
_ADDRESS = re.compile(r"^connection (\S+)\naddress (\S+)$", re.MULTILINE)


def check(plan: Plan) -> None:
    """Refuse what a line of a bridge can't hold.

    A line is split at blanks, and the configuration has no quotes.
    """
    check_versions(plan, (2, 0))
    for link in plan.links:
        for line in link.lines:
            if any(letter.isspace() for letter in line) or line == '""':
                raise InputError(
                    f"the topic {quoted(line)} can't be written in a bridge of Mosquitto, which splits lines "
                    f"at blanks; rename it, or subscribe to a filter around it"
                )
            if MARK in line:
                raise InputError(
                    f"the topic {quoted(line)} can't be written in a file with references to passwords, "
                    f"which begin with {MARK}; rename it, or subscribe to a filter around it"
                )
            if line.startswith(("$share/", "$SYS/")) or line == "$SYS":
                raise InputError(
                    f"the topic {quoted(line)} can't cross a bridge of Mosquitto: it keeps {line[:4]}… for "
                    f"itself; leave it out of the interests"
                )
    for host in plan.hosts:
        for key in ("user", "cafile", "certfile", "keyfile"):
            if getattr(host, key) != getattr(host, key).strip():
                raise InputError(f"the node {quoted(host.node)} has blanks around its {key}; remove them")


def link_name(opens: str, to: str) -> str:
    """The name of the bridge from one node to another."""
    return f"mw-{safe_name(to)[:40]}-{digest(opens, to)[:8]}"


def client_id(link: Link) -> str:
    """The remote client id of a bridge.

    It changes with the lines: a session that is kept would keep the subscriptions of lines that are gone.
    """
    return f"mw-{digest(link.opens, link.to, *link.lines)}"


def render(plan: Plan, node: str) -> str:
    """The bridges that a node opens."""
    return "".join(f"{line}\n" for line in _rendered(plan, node))


def _rendered(plan: Plan, node: str) -> Iterator[str]:
    yield f"# {opening_line(node)}"
    if any(_may_overlap(link) for link in (*plan.opened_by(node), *plan.accepted_by(node))):
        yield "allow_duplicate_messages false"
    for link in plan.opened_by(node):
        yield ""
        yield from _bridge(plan, link)


def _may_overlap(link: Link) -> bool:
    return len(link.lines) > 1 and any(map(_WILD.search, link.lines))


def _bridge(plan: Plan, link: Link) -> Iterator[str]:
    to, settings = plan.host_of[link.to], plan.settings
    yield f"connection {link_name(link.opens, link.to)}"
    yield f"address {to.host}:{to.port}"
    yield "bridge_protocol_version mqttv311"
    yield f"cleansession {'false' if settings.sessions == 'persistent' else 'true'}"
    yield f"remote_clientid {client_id(link)}"
    yield "notifications_local_only true"
    yield "restart_timeout 1 10"
    if to.user:
        yield f"remote_username {to.user}"
    if to.password:
        yield f"remote_password {reference(to.password)}"
    for key in ("cafile", "certfile", "keyfile"):
        if value := getattr(to, key):
            yield f"bridge_{key} {value}"
    for line in link.lines:
        yield f"topic {line} both {settings.qos}"


def read(text: str) -> Lines:
    """The lines of each bridge in a file that was rendered."""
    found: dict[str, list[str]] = {}
    own: list[str] = []
    for word, value in _LINE.findall(text):
        if word == "connection":
            own = found.setdefault(value, [])
        else:
            own.append(value)
    return {name: tuple(lines) for name, lines in found.items()}


def addresses(text: str) -> dict[str, str]:
    """The address of each bridge in a file that was rendered."""
    return dict(_ADDRESS.findall(text))


def clients_of(text: str) -> list[str]:
    """The remote client ids of the bridges in a file that was rendered."""
    return [name for _, _, name in _SESSION.findall(text)]


def sessions_of(text: str) -> list[Session]:
    """The sessions that the bridges of a file keep at the other ends."""
    if "\ncleansession false\n" not in text:
        return []
    return [Session(name, host, int(port)) for host, port, name in _SESSION.findall(text)]


def whole(plan: Plan, node: str, own: Path) -> str:
    """A broker on loopback, which says in its log who subscribes to what."""
    kinds = ("error", "warning", "notice", "subscribe")
    lines = [
        f"listener {plan.host_of[node].port} {plan.host_of[node].host}",
        "allow_anonymous true",
        # Root is given up otherwise, and with it the right to read files of root.
        *(["user root"] if os.geteuid() == 0 else []),
        "max_queued_messages 0",
        # With the default of 20, 2.0.11 leaves bursts of QoS 2 lying: 3,029 of 6,533 deliveries.
        "max_inflight_messages 0",
        "connection_messages false",
        "set_tcp_nodelay true",
        *(f"log_type {kind}" for kind in kinds),
        "log_dest stderr",
        f"persistence_location {own.parent.parent}/",
        f"persistence {'true' if plan.settings.sessions == 'persistent' else 'false'}",
        f"include_dir {own.parent}",
    ]
    return "".join(f"{line}\n" for line in lines)


DRIVER = Driver(
    engine=Engine("mosquitto", "mqtt"),
    broker="mosquitto",
    check=check,
    render=render,
    read=read,
    sessions_of=sessions_of,
    link_name=link_name,
    whole=whole,
    client_port=lambda port: port,
    crossing=lambda link: link.lines,
    narrowed=lambda link, lines: link._replace(lines=lines),
    addresses=addresses,
)
