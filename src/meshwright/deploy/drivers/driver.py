"""What a driver is: how a plan is written for one kind of broker, read back, and run on this machine."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import xxhash

from meshwright.deploy.hosts import Host
from meshwright.deploy.plan.plan import Link, Plan
from meshwright.deploy.plan.planning import Engine
from meshwright.runtime.errors import InputError, quoted, visible

Lines = Mapping[str, tuple[str, ...]]
"""What each link carries, by the name that the link has in the file."""

_SAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST = 40
_VERSION = re.compile(r"v?(\d{1,4})(?:\.(\d{1,4}))?")


HEADER = "Made by Meshwright"
"""What the first line of every rendered file says, in a comment."""


MARK = "@{"
"""How a reference to a password begins."""


class Session(NamedTuple):
    """What a broker keeps for a link that may be away."""

    client: str
    host: str
    port: int


class Driver(NamedTuple):
    """One kind of broker."""

    engine: Engine
    broker: str
    """What it is called by lint, and what runs on this machine: mosquitto, nats or zenoh."""
    check: Callable[[Plan], None]
    """Refuses what these brokers can't express, before anything is written."""
    render: Callable[[Plan, str], str]
    """The file of a node that is ours alone; passwords are references in it."""
    read: Callable[[str], Lines]
    """What a file that `render` made says."""
    sessions_of: Callable[[str], list[Session]]
    """The sessions that links of a rendered file keep at their other ends."""
    link_name: Callable[[str, str], str]
    """What a link is called in the file, by the node that opens it and the other."""
    whole: Callable[[Plan, str, Path], str] | None
    """A complete configuration for a node on loopback, that includes the rendered file; None where the
    rendered file is complete."""
    client_port: Callable[[int], int]
    """On loopback, where clients connect, by the port for links."""
    crossing: Callable[[Link], tuple[str, ...]]
    """What a link carries, as `read` tells it."""
    narrowed: Callable[[Link, tuple[str, ...]], Link]
    """The link with only a part of what it carries."""
    ports_beside: tuple[int, ...] = ()
    """On loopback, how far other ports of a broker are above the one for links."""
    bundle: Callable[[Plan], Mapping[str, str]] = lambda plan: {}
    """Further files of the plan's folder, by path."""
    file: str = "meshwright.conf"
    """What the rendered file is called."""
    between: Callable[[str, str], str] | None = None
    """For engines that bear cycles: a file with the links of the one that a broker has and of the one that it
    gets, so that links are opened before others are closed."""
    will_do: Callable[[str, str], bool] = lambda old, new: old == new
    """For these engines: whether a broker may keep the file that it has instead of another."""
    links_at: Callable[[Plan, str], Sequence[Link]] = Plan.opened_by
    """The links that the file of a node has."""
    alone: Callable[[str, Host], str | None] = lambda text, host: None
    """What a broker that has left gets in the place of its file; None: the file is removed."""
    addresses: Callable[[str], Mapping[str, str]] = lambda text: {}
    """For engines that close first: where each link of a rendered file leads. One that leads elsewhere is
    another link, whatever it is called."""


def check_versions(plan: Plan, least: tuple[int, int]) -> None:
    """Refuse brokers that are too old, as far as their versions are known.

    Raises:
        InputError: one of them is.
    """
    for host in plan.hosts:
        found = _VERSION.match(host.version)
        if found and (int(found[1]), int(found[2] or 0)) < least:
            raise InputError(
                f"the node {quoted(host.node)} has version {host.version}, but the driver {plan.driver} "
                f"needs {least[0]}.{least[1]} or newer; update the broker"
            )


def in_url(host: Host) -> str:
    """The host and port of a broker as they are written in a URL, where IPv6 needs brackets."""
    return f"[{host.host}]:{host.port}" if ":" in host.host else f"{host.host}:{host.port}"


def is_ours(text: str) -> bool:
    """Whether a file is one that a driver rendered."""
    return HEADER in text.partition("\n")[0]


def opening_line(node: str) -> str:
    """What the first line of a rendered file says; a name is never a reference to a password."""
    name = visible(node).replace(MARK, "@ {")
    return f"{HEADER} for the node {name}. Change the overlay and deploy again; don't edit it."


def safe_name(name: str) -> str:
    """A name of letters that every format and file system takes; different for different names."""
    if _SAFE.search(name) is None and len(name) <= _LONGEST and name[:1].isalnum():
        return name
    return f"{_SAFE.sub('-', name)[:_LONGEST].strip('-.')}-{digest(name)}"


def digest(*parts: str) -> str:
    """Sixteen hexadecimal digits that tell texts apart."""
    return xxhash.xxh3_64_hexdigest("\0".join(parts).encode())


def references(text: str) -> list[str]:
    """The references to passwords in a rendered file."""
    return re.findall(r"@\{((?:env|file):[^}\n]*)\}", text)


def reference(secret: str) -> str:
    """How a rendered file refers to a password."""
    return f"@{{{secret}}}"
