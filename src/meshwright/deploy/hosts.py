"""The brokers that are deployed to: where they are, how files get there, and what makes them read these.

A CSV file with a header, or JSON or YAML: {"defaults": {...}, "brokers": [{"node": "north", ...}]}. `COLUMNS`
has the keys; docs/deploy.md explains them. Passwords are never in it, only where to find them.
"""

import csv
import json
import re
import shlex
from collections.abc import Iterable, Mapping
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from meshwright.runtime.errors import InputError, one_line, quoted
from meshwright.runtime.wording import choose, type_of

LOOPBACK = "127.0.0.1"
FIRST_PORT = 20_000
_LAST_PORT = 65_535
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._:-]*[A-Za-z0-9])?")
_URL = re.compile(r"https?://[A-Za-z0-9.:\[\]_-]+/?")
_SECRET = re.compile(r"(env:[A-Za-z_][A-Za-z0-9_]*|file:[^\s].*)")
_VERSION = re.compile(r"\d{1,4}(\.\d{1,4})*([-+~]\S+)?")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_MARK = re.compile(r"@\{")
"""How references to passwords begin in rendered files."""
_YES = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


class Host(NamedTuple):
    """One broker, as the inventory describes it."""

    node: str
    host: str = LOOPBACK
    port: int = 1883
    """Where other brokers connect; for NATS, the port for leaf nodes."""
    version: str = ""
    accepts: bool = True
    """Whether others can connect to it; behind a firewall, it only opens links itself."""
    max_links: int | None = None
    config: str = ""
    """The path of the file that is ours alone, on the broker's machine."""
    reach: str = "local"
    """`local`, `ssh`, or a command with {command} in it, which runs a shell command where the file is."""
    reload: str = ""
    """The shell command that makes the broker read its files again; a restart with Mosquitto 2.0."""
    user: str = ""
    """As whom others log in at it."""
    password: str = ""
    """`env:NAME` or `file:PATH`, on the machine where `deploy apply` runs."""
    cafile: str = ""
    """Paths on the machines of those that connect to it."""
    certfile: str = ""
    keyfile: str = ""
    admin: str = ""
    """The address of its management API or monitor, such as http://north:15672."""


COLUMNS = Host._fields
_TEXTS = tuple(name for name in COLUMNS if name not in ("port", "accepts", "max_links"))


def loopback(nodes: Iterable[str]) -> dict[str, Host]:
    """Brokers on this machine, each with a port of its own."""
    return {node: Host(node, LOOPBACK, FIRST_PORT + at) for at, node in enumerate(nodes)}


def read_hosts(path: Path) -> dict[str, Host]:
    """The brokers of an inventory, by node.

    Raises:
        InputError: the file can't be read, or a row is not as `Host` says.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        rows = list(_rows(text, path))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"the inventory {path} can't be read: {one_line(error)}", path=path) from None
    hosts: dict[str, Host] = {}
    for number, row in enumerate(rows, start=1):
        host = _host(row, f"broker {number} of the inventory {path}", path)
        if host.node in hosts:
            raise InputError(
                f"the inventory {path} has the node {quoted(host.node)} twice; keep one", path=path
            )
        hosts[host.node] = host
    _check_apart(hosts, path)
    return hosts


def check_all_known(nodes: Iterable[str], hosts: Mapping[str, Host], path: object) -> None:
    """Refuse an inventory that lacks a node."""
    missing = [node for node in nodes if node not in hosts]
    if missing:
        more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        raise InputError(
            f"the inventory {path} lacks the node {quoted(missing[0])}{more}; add a row with node, host and "
            f"port",
            path=path,
        )


def _check_apart(hosts: Mapping[str, Host], path: Path) -> None:
    places: dict[tuple[str, int], str] = {}
    for host in hosts.values():
        other = places.setdefault((host.host, host.port), host.node)
        if other != host.node:
            raise InputError(
                f"the inventory {path} gives {host.host}:{host.port} to {quoted(other)} and "
                f"{quoted(host.node)}; correct one of them",
                path=path,
            )


def _rows(text: str, path: Path) -> Iterable[Mapping[str, Any]]:
    if path.suffix == ".csv":
        return [
            {key: value for key, value in row.items() if value not in ("", None)}
            for row in csv.DictReader(StringIO(text, newline=""), strict=True)
        ]
    found = _yaml(text) if path.suffix in (".yaml", ".yml") else json.loads(text)
    brokers = found.get("brokers") if isinstance(found, dict) else None
    defaults = found.get("defaults", {}) if isinstance(found, dict) else {}
    if not isinstance(brokers, list) or not isinstance(defaults, dict):
        raise ValueError(
            'it has no list of brokers; write {"brokers": [{"node": "north", "host": "10.0.0.1"}]}'
        )
    wrong = next((row for row in brokers if not isinstance(row, dict)), None)
    if wrong is not None:
        raise ValueError(f"a broker is {type_of(wrong)}; write an object with node, host and port")
    return [{**defaults, **row} for row in brokers]


def _yaml(text: str) -> object:
    try:
        import yaml
    except ImportError:
        raise ValueError(
            "YAML needs PyYAML; pip install 'meshwright[deploy]', or write JSON or CSV"
        ) from None
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(one_line(error)) from None


def _host(row: Mapping[str, Any], where: str, path: Path) -> Host:
    unknown = next((key for key in row if key not in COLUMNS), None)
    if unknown is not None:
        raise InputError(f"{where} has the key {quoted(unknown)}; {choose(unknown, COLUMNS)}", path=path)
    if not isinstance(row.get("node"), str) or not row["node"]:
        raise InputError(f"{where} has no node; give the name that the overlay has", path=path)
    where = f"the node {quoted(row['node'])} of the inventory {path}"
    for key in _TEXTS:
        value = row.get(key, "")
        if not isinstance(value, str):
            raise InputError(f"{where} has {type_of(value)} as {key}; give a text", path=path)
        if key != "node" and (found := _CONTROL.search(value) or _MARK.search(value)):
            raise InputError(f"{where} has {found[0]!r} in {key}; remove it", path=path)
    host = Host(
        **{key: row[key] for key in _TEXTS if key in row},
        port=_port(row.get("port", 1883), where, path),
        accepts=_flag(row.get("accepts", True), where, path),
        max_links=_most(row.get("max_links"), where, path),
    )
    _check(host, where, path)
    return host


def _check(host: Host, where: str, path: Path) -> None:
    rules = (
        (
            not host.version or _VERSION.fullmatch(host.version),
            f"version {quoted(host.version)}",
            "write numbers, as in 2.0.18",
        ),
        (_HOST.fullmatch(host.host), f"host {quoted(host.host)}", "write a name or an address"),
        (
            not host.password or _SECRET.fullmatch(host.password),
            "password that is no reference",
            "write env:NAME or file:PATH, never the password itself",
        ),
        (
            not host.admin or _URL.fullmatch(host.admin),
            f"admin {quoted(host.admin)}",
            "write http://HOST:PORT or https://HOST:PORT, without a user",
        ),
        (
            host.reach in ("local", "ssh") or ("{command}" in host.reach and _can_be_split(host.reach)),
            f"reach {quoted(host.reach)}",
            "write local, ssh, or a command with {command} in it, and all quotes closed",
        ),
    )
    for holds, what, advice in rules:
        if not holds:
            raise InputError(f"{where} has the {what}; {advice}", path=path)


def _can_be_split(command: str) -> bool:
    try:
        return bool(shlex.split(command))
    except ValueError:
        return False


def _port(value: object, where: str, path: Path) -> int:
    number = _number(value)
    if number is None or not 0 < number <= _LAST_PORT:
        raise InputError(
            f"{where} has the port {quoted(value)}; give one from 1 to {_LAST_PORT:,}", path=path
        )
    return number


def _most(value: object, where: str, path: Path) -> int | None:
    if value is None:
        return None
    number = _number(value)
    if number is None:
        raise InputError(f"{where} has the max_links {quoted(value)}; give a whole number", path=path)
    return number


def _number(value: object) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _flag(value: object, where: str, path: Path) -> bool:
    found = value if isinstance(value, bool) else _YES.get(str(value).lower())
    if found is None:
        raise InputError(f"{where} says accepts {quoted(value)}; write yes or no", path=path)
    return found
