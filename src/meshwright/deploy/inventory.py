"""The inventory of a mesh: which files, addresses, versions and clients the brokers have.

A JSON file: {"brokers": [{"name": "north", "files": ["north.conf"], "addresses": ["north.example:1883"],
"version": "2.0.18", "subscribes": ["plant/#"], "publishes": ["plant/7/temp"]}]}. Only names are required.
"""

import json
from pathlib import Path
from typing import NamedTuple

from meshwright.deploy.configs import KINDS
from meshwright.runtime.errors import InputError, one_line, quoted
from meshwright.runtime.wording import choose, type_of

_LISTS = ("files", "addresses", "subscribes", "publishes")
_TEXTS = ("name", "kind", "version")


class Entry(NamedTuple):
    """What the inventory says of one broker."""

    name: str
    kind: str | None = None
    version: str | None = None
    files: tuple[Path, ...] = ()
    addresses: tuple[str, ...] = ()
    subscribes: tuple[str, ...] = ()
    publishes: tuple[str, ...] = ()


def read_inventory(path: Path) -> list[Entry]:
    """The entries of an inventory.

    Raises:
        InputError: the file can't be read, or does not have the form above.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"the inventory {path} can't be read: {one_line(error)}", path=path) from None
    brokers = found.get("brokers") if isinstance(found, dict) else None
    if not isinstance(brokers, list):
        raise InputError(
            f'the inventory {path} has no list of brokers; write {{"brokers": [{{"name": "north"}}]}}',
            path=path,
        )
    entries = [_entry(row, path, number) for number, row in enumerate(brokers, start=1)]
    names = [entry.name for entry in entries]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(
            f"the inventory {path} has two brokers called {quoted(twice)}; rename one", path=path
        )
    return entries


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
        is_list = isinstance(value, list) and all(isinstance(each, str) for each in value)
        if not (is_list if key in _LISTS else isinstance(value, str)):
            wanted = "a list of texts" if key in _LISTS else "a text"
            raise InputError(f"{where} has {type_of(value)} as {key}; give {wanted}", path=path)
    if row.get("kind", "mosquitto") not in KINDS:
        raise InputError(
            f"{where} is of the kind {quoted(row['kind'])}; {choose(row['kind'], KINDS)}", path=path
        )
    lists = {key: tuple(row.get(key, ())) for key in _LISTS if key != "files"}
    files = tuple(path.parent / file for file in row.get("files", ()))
    return Entry(row["name"], row.get("kind"), row.get("version"), files, **lists)
