"""The inventory of a mesh: which files, addresses, versions and clients the brokers have.

A JSON file: {"brokers": [{"name": "north", "files": ["north.conf"], "addresses": ["north.example:1883"],
"version": "2.0.18", "subscribes": ["plant/#"], "publishes": ["plant/7/temp"]}]}. Only names are required.
"""

import json
import re
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import NamedTuple

from meshwright.deploy.configs import KINDS
from meshwright.deploy.configs.source import UnreadableError, read_text, without_secret
from meshwright.runtime.errors import InputError, one_line, quoted
from meshwright.runtime.wording import choose, type_of

_LISTS = ("files", "addresses", "subscribes", "publishes")
_TEXTS = ("name", "kind", "version")
_VERSION = re.compile(r"\d+(\.\d+)*([-+~]\S+)?")
_ADDRESS = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):([0-9]{1,5})")
_LAST_PORT = 65_535


class Entry(NamedTuple):
    """What the inventory says of one broker."""

    name: str
    kind: str | None = None
    version: str | None = None
    files: tuple[Path, ...] = ()
    addresses: tuple[str, ...] = ()
    subscribes: tuple[str, ...] = ()
    publishes: tuple[str, ...] = ()
    clients_known: bool = False
    """Whether the inventory says what its clients want or publish, be it nothing."""
    inventory: str = "inventory"
    """The file that says so."""


def read_inventory(path: Path) -> list[Entry]:
    """The entries of an inventory.

    Raises:
        InputError: the file can't be read, or does not have the form above.
    """
    try:
        found = json.loads(read_text(path))
    except UnreadableError as error:
        raise InputError(f"the inventory {path} can't be read: {error.message}", path=path) from None
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deep" if isinstance(error, RecursionError) else one_line(error)
        raise InputError(f"the inventory {path} can't be read: {reason}; write JSON", path=path) from None
    brokers = found.get("brokers") if isinstance(found, dict) else None
    if not isinstance(brokers, list):
        raise InputError(
            f'the inventory {path} has no list of brokers; write {{"brokers": [{{"name": "north"}}]}}',
            path=path,
        )
    entries = [_entry(row, path, number) for number, row in enumerate(brokers, start=1)]
    _check_unique(entries, path)
    return entries


def _check_unique(entries: list[Entry], path: Path) -> None:
    """Refuse names, files and addresses that two brokers have."""
    twice = _shared((entry.name, number) for number, entry in enumerate(entries))
    if twice is not None:
        raise InputError(
            f"the inventory {path} has two brokers called {quoted(str(twice))}; rename one", path=path
        )
    files = ((file.resolve(), entry.name) for entry in entries for file in entry.files)
    addresses = ((address.lower(), entry.name) for entry in entries for address in entry.addresses)
    for what, pairs in (("file", files), ("address", addresses)):
        if (twice := _shared(pairs)) is not None:
            raise InputError(
                f"the inventory {path} gives the {what} {quoted(str(twice))} to two brokers; "
                f"leave it with the one that has it",
                path=path,
            )


def _shared(pairs: Iterable[tuple[Hashable, Hashable]]) -> Hashable | None:
    """The first thing that has two owners; None where there is none."""
    owners: dict[Hashable, Hashable] = {}
    return next((thing for thing, owner in pairs if owners.setdefault(thing, owner) != owner), None)


def _entry(row: object, path: Path, number: int) -> Entry:
    where = f"broker {number} of the inventory {path}"
    if not isinstance(row, dict) or not isinstance(row.get("name"), str) or not row["name"]:
        raise InputError(f'{where} has no name; write {{"name": "north"}}', path=path)
    where = f"the broker {quoted(row['name'])} of the inventory {path}"
    for key, value in row.items():
        if key not in (*_TEXTS, *_LISTS):
            raise InputError(
                f"{where} has the key {quoted(key)}; {choose(key, (*_TEXTS, *_LISTS))}", path=path
            )
        texts = value if isinstance(value, list) else [value]
        if any(isinstance(each, str) and not _is_text(each) for each in texts):
            raise InputError(f"{where} has a NUL or half a letter in {key}; correct the text", path=path)
        is_list = isinstance(value, list) and all(isinstance(each, str) for each in value)
        if not (is_list if key in _LISTS else isinstance(value, str)):
            wanted = "a list of texts" if key in _LISTS else "a text"
            raise InputError(f"{where} has {type_of(value)} as {key}; give {wanted}", path=path)
    if row.get("kind", "mosquitto") not in KINDS:
        raise InputError(
            f"{where} is of the kind {quoted(row['kind'])}; {choose(row['kind'], KINDS)}", path=path
        )
    _check_version(row.get("version"), where, path)
    for address in row.get("addresses", ()):
        _check_address(address, where, path)
    addresses, subscribes, publishes = (tuple(row.get(key, ())) for key in _LISTS[1:])
    files = tuple(path.parent / file for file in row.get("files", ()))
    known = "subscribes" in row or "publishes" in row
    about = row["name"], row.get("kind"), row.get("version")
    return Entry(*about, files, addresses, subscribes, publishes, known, str(path))


def _is_text(text: str) -> bool:
    """Whether a text can be a name or a path: JSON also writes letters that no encoding has."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def _check_version(version: str | None, where: str, path: Path) -> None:
    if version is not None and not _VERSION.fullmatch(version):
        raise InputError(f"{where} has the version {quoted(version)}; write numbers, as in 2.0.18", path=path)


def _check_address(address: str, where: str, path: Path) -> None:
    found = _ADDRESS.fullmatch(address)
    if found is None:
        shown = quoted(without_secret(address) if "@" in address else address)
        raise InputError(
            f"{where} has the address {shown}; write HOST:PORT, as in north.example.org:1883",
            path=path,
        )
    if not 0 < int(found[2]) <= _LAST_PORT:
        raise InputError(
            f"{where} has the address {quoted(address)}; give a port from 1 to {_LAST_PORT:,}", path=path
        )
