"""What a driver is: how a plan is written for one kind of broker, read back, and run on this machine."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import xxhash

from meshwright.deploy.plan.plan import Link, Plan
from meshwright.deploy.plan.planning import Engine

Lines = Mapping[str, tuple[str, ...]]
"""What each link carries, by the name that the link has in the file."""

_SAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST = 40


HEADER = "# Made by Meshwright"
"""How every rendered file begins."""


class Session(NamedTuple):
    """What a broker keeps for a link that may be away."""

    client: str
    host: str
    port: int


class Driver(NamedTuple):
    """One kind of broker."""

    engine: Engine
    broker: str
    """What it is called by lint, and what runs on this machine: mosquitto or nats."""
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
    whole: Callable[[Plan, str, Path], str]
    """A complete configuration for a node on loopback, that includes the rendered file."""
    client_port: Callable[[int], int]
    """On loopback, where clients connect, by the port for links."""
    crossing: Callable[[Link], tuple[str, ...]]
    """What a link carries, as `read` tells it."""
    narrowed: Callable[[Link, tuple[str, ...]], Link]
    """The link with only a part of what it carries."""
    bundle: Callable[[Plan], Mapping[str, str]] = lambda plan: {}
    """Further files of the plan's folder, by path."""


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
