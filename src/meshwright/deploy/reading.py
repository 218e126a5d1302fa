"""From files to a mesh: which files are configurations, whose they are, and where links lead."""

import os
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

from meshwright.deploy.configs import kind_of, may_be_one, reader_of
from meshwright.deploy.configs.mosquitto import is_access_list, is_default
from meshwright.deploy.configs.source import UnreadableError, read_text
from meshwright.deploy.inventory import Entry
from meshwright.deploy.mesh import Broker, Flow, Note, Parsed, Place
from meshwright.deploy.settle import settle
from meshwright.runtime.errors import InputError, quoted

_HEAD = 1 << 16
_NO_FORMAT = (
    "this is no configuration that lint knows (Mosquitto, NATS, RabbitMQ or Zenoh); "
    "correct it, or leave it out"
)
_COMMON = {
    *(
        "bridge",
        "broker",
        "conf",
        "config",
        "default",
        "definitions",
        "main",
        "mosquitto",
        "nats",
        "nats-server",
    ),
    *("rabbitmq", "router", "server", "zenoh", "zenohd"),
}
"""Names of files that say nothing about the broker; the folder does."""


class Mesh(NamedTuple):
    """All brokers, and the flows between them; where a link leads elsewhere, its end is the address."""

    brokers: list[Broker]
    flows: list[Flow]
    notes: list[Note]
    suppressions: list[tuple[Place, str, str]]


def read_mesh(paths: Sequence[Path], inventory: Sequence[Entry] = ()) -> Mesh:
    """Read the configurations in files and folders.

    Raises:
        InputError: a path does not exist, or there is no configuration at all.
    """
    files = _files(paths, inventory)
    parsed = {file: reader_of(kind).parse(file) for file, kind in files.items() if kind is not None}
    included = _included(parsed)
    own = {file: one for file, one in parsed.items() if _real(file) not in included}
    unknown = [file for file, kind in files.items() if kind is None and _real(file) not in included]
    named = {*paths, *(file for entry in inventory for file in entry.files)}
    notes = [_unknown_format(file, is_named=file in named) for file in unknown]
    if not any(one.brokers for one in own.values()) and not any(one.notes for one in own.values()):
        raise _nothing_in(paths, notes)
    mesh = Mesh([], [], notes, [])
    names = _Names(own, inventory)
    for file, one in own.items():
        _add(mesh, names.rename(file, one))
    mesh.brokers.extend(names.missing())
    mesh.notes.extend(_same_names(own))
    flows, elsewhere = _resolved(mesh.brokers, mesh.flows)
    settled, said = settle(mesh.brokers, flows)
    return mesh._replace(flows=settled, notes=[*mesh.notes, *elsewhere, *said])


def _included(parsed: Mapping[Path, Parsed]) -> set[Path]:
    """The files that belong to others; of files that include each other, the first is no part of the rest."""
    inside = {_real(file): {_real(Path(each)) for each in one.included} for file, one in parsed.items()}
    every: set[Path] = set().union(*inside.values())
    found: set[Path] = set()
    for file in sorted(inside, key=lambda file: file in every):
        if file not in found:
            found |= inside[file] - {file}
    return found


def _same_names(parsed: Mapping[Path, Parsed]) -> Iterator[Note]:
    """A note for each file whose broker says that it has the name of another one's."""
    first: dict[tuple[str, str], str] = {}
    for file, one in parsed.items():
        for broker in one.brokers:
            earlier = first.setdefault((broker.kind, broker.name), str(file))
            if earlier != str(file):
                said = (
                    f"the broker of {earlier} is called {quoted(broker.name)}, too, and lint takes them for "
                    f"two; leave out one file, or give the brokers different names"
                )
                yield Note("not-decided", "warning", said, broker.place)


def _real(file: Path) -> Path:
    """A path without links; unlike `Path.resolve`, it bears links that lead to themselves."""
    return Path(os.path.realpath(file))


def _nothing_in(paths: Sequence[Path], notes: Sequence[Note]) -> InputError:
    """What to say where there is no configuration, with the first file that might be one."""
    first = f" ({notes[0].place.file}: {notes[0].message.partition(';')[0]})" if notes else ""
    return InputError(
        f"no configuration of a broker is in {', '.join(map(str, paths))}{first}; "
        f"name the files, or the folder that holds them"
    )


def _add(mesh: Mesh, parsed: Parsed) -> None:
    mesh.brokers.extend(parsed.brokers)
    mesh.flows.extend(parsed.flows)
    mesh.notes.extend(parsed.notes)
    mesh.suppressions.extend(parsed.suppressions)


def _unknown_format(file: Path, *, is_named: bool) -> Note:
    """What to say of a file whose format is not known: of one that was named, it is an error."""
    try:
        if file.is_dir():
            raise UnreadableError("this folder can't be read; check who may", Place(str(file), 0))
        message = _NO_FORMAT if read_text(file).strip() else "this file is empty; fill it, or leave it out"
    except UnreadableError as error:
        message = error.message
    return Note("unreadable", "error" if is_named else "warning", message, Place(str(file), 0))


def _files(paths: Sequence[Path], inventory: Sequence[Entry]) -> dict[Path, str | None]:
    """The files to read, with their formats; None for one that was named, or may be meant, and has none."""
    kinds = {file: entry.kind for entry in inventory for file in entry.files}
    found: dict[Path, str | None] = {}
    for path in [*paths, *kinds]:
        if not path.exists() and not path.is_symlink():
            raise InputError(f"{path} does not exist; check the path", path=path)
        inside = _kinds_inside(path, kinds) if path.is_dir() else {path: _kind(path, kinds)}
        for file, kind in inside.items():
            found.setdefault(file, kind)
    return _each_once(found, kinds)


def _each_once(files: dict[Path, str | None], named: Container[Path]) -> dict[Path, str | None]:
    """The files without further paths to one of them; a path that the inventory names goes before others."""
    best: dict[Path, Path] = {}
    for file in sorted(files, key=lambda file: (file not in named, file.is_symlink())):
        best.setdefault(_real(file), file)
    return {file: kind for file, kind in files.items() if file in named or best[_real(file)] == file}


def _kind(file: Path, kinds: Mapping[Path, str | None]) -> str | None:
    return kinds.get(file) or kind_of(file, _head(file))


def _kinds_inside(folder: Path, kinds: Mapping[Path, str | None]) -> dict[Path, str | None]:
    """The files of a folder with their formats; those that can't be meant as configurations are left out.

    Among files of Mosquitto, one of comments alone is a broker with default settings.
    """
    found = {file: _kind(file, kinds) for file in sorted(_inside(folder))}
    defaults = "mosquitto" in found.values() and "nats" not in found.values()
    for file, kind in found.items():
        if kind is None and defaults and is_default(file, _head(file)):
            found[file] = "mosquitto"
    return {
        file: kind
        for file, kind in found.items()
        if kind is not None or file.is_dir() or (may_be_one(file) and not _goes_with_others(_head(file)))
    }


def _inside(folder: Path) -> Iterator[Path]:
    """The files below a folder, without hidden ones, and folders that can't be read.

    Links to folders are not followed.
    """
    closed: list[OSError] = []
    for place, folders, files in os.walk(folder, onerror=closed.append):
        folders[:] = [each for each in folders if not each.startswith(".")]
        yield from (Path(place, file) for file in files if not file.startswith("."))
    yield from (Path(error.filename) for error in closed)


def _head(file: Path) -> bytes:
    """How a file begins; nothing where it can't be read or is no regular file."""
    if not file.is_file():
        return b""
    try:
        with file.open("rb") as opened:
            return opened.read(_HEAD)
    except OSError:
        return b""


def _goes_with_others(head: bytes) -> bool:
    """Whether a file begins like an inventory of brokers, or is an access control list."""
    return bool(re.match(rb'\s*\{\s*"brokers"\s*:', head)) or is_access_list(head)


class _Names:
    """Names of brokers: those of the inventory, or of their files or folders; each once."""

    def __init__(self, parsed: dict[Path, Parsed], inventory: Sequence[Entry]) -> None:
        self._entries = {file: entry for entry in inventory for file in entry.files}
        self._entries |= {_real(file): entry for file, entry in self._entries.items()}
        self._by_name = {entry.name: entry for entry in inventory}
        self._used: set[str] = set()
        plain = [self._plain(file, broker) for file, one in parsed.items() for broker in one.brokers]
        self._often = {name for name, number in Counter(plain).items() if number > 1}

    def _plain(self, file: Path, broker: Broker) -> str:
        if broker.name != str(file):
            return broker.name
        stem = file.stem
        return _real(file).parent.name or stem if stem.lower() in _COMMON else stem

    def _entry(self, file: Path, broker: Broker) -> Entry | None:
        by_file = self._entries.get(file) or self._entries.get(_real(file))
        return by_file or self._by_name.get(self._plain(file, broker))

    def rename(self, file: Path, parsed: Parsed) -> Parsed:
        """The same with a name that no other broker has, and what the inventory says."""
        names: dict[str, str] = {}
        brokers = []
        for broker in parsed.brokers:
            entry = self._entry(file, broker)
            name = entry.name if entry else self._unique(file, broker)
            names[broker.name] = name
            self._used.add(name)
            brokers.append(_with_entry(broker._replace(name=name), entry))
        flows = [
            flow._replace(
                source=names.get(flow.source, flow.source), target=names.get(flow.target, flow.target)
            )
            for flow in parsed.flows
        ]
        return parsed._replace(brokers=brokers, flows=flows)

    def _unique(self, file: Path, broker: Broker) -> str:
        name = self._plain(file, broker)
        if name in self._often or name in self._used or name in self._by_name:
            return str(file) if str(file) not in self._used else f"{file} {broker.name}"
        return name

    def missing(self) -> Iterable[Broker]:
        """The brokers of the inventory that no file describes."""
        for entry in self._by_name.values():
            if entry.name not in self._used:
                place = Place(str(entry.files[0]) if entry.files else entry.inventory, 0)
                yield _with_entry(Broker(entry.name, entry.kind or "mosquitto", place, ()), entry)


def _with_entry(broker: Broker, entry: Entry | None) -> Broker:
    if entry is None:
        return broker
    return broker._replace(
        addresses=(*map(str.lower, entry.addresses), *broker.addresses),
        version=entry.version or broker.version,
        subscribes=entry.subscribes or broker.subscribes,
        publishes=entry.publishes or broker.publishes,
        clients_known=entry.clients_known or broker.clients_known,
    )


def _resolved(brokers: Sequence[Broker], flows: Iterable[Flow]) -> tuple[list[Flow], list[Note]]:
    """The flows with names of brokers at their ends, and a note for each address that is none."""
    book = _AddressBook(brokers)
    notes: dict[tuple[str, str], Note] = {}
    found = []
    for flow in flows:
        source, target = (book.find(end, other) for end, other in _ends(flow))
        found.append(flow._replace(source=source or flow.source, target=target or flow.target))
        for end, name in ((flow.source, source), (flow.target, target)):
            if name is None:
                notes.setdefault((end, flow.link), book.unknown(end, flow.place))
    return found, list(notes.values())


def _ends(flow: Flow) -> tuple[tuple[str, str], tuple[str, str]]:
    return (flow.source, flow.target), (flow.target, flow.source)


class _AddressBook:
    """Which broker is at which address."""

    def __init__(self, brokers: Sequence[Broker]) -> None:
        self._names = {broker.name for broker in brokers}
        self._at: dict[str, list[str]] = {}
        self._at_short: dict[str, list[str]] = {}
        for broker in brokers:
            own = dict.fromkeys(map(str.lower, broker.addresses))
            for address in own:
                self._at.setdefault(address, []).append(broker.name)
            for short in dict.fromkeys(_short(address) for address in own if _short(address) != address):
                self._at_short.setdefault(short, []).append(broker.name)
        self._ports = {broker.name: {_port(address) for address in broker.addresses} for broker in brokers}
        self._listening: dict[str, list[str]] = {}
        for name, ports in self._ports.items():
            for port in ports:
                self._listening.setdefault(port, []).append(name)
        self._called: dict[str, list[str]] = {}
        for broker in brokers:
            self._called.setdefault(broker.name.lower(), []).append(broker.name)

    def find(self, end: str, other: str) -> str | None:
        """The broker at one end of a link, if it is one of the mesh; `other` is who opens the link."""
        if end in self._names:
            return end
        found = (self._one(address, other) for address in end.split(" "))
        return next((name for name in found if name is not None), None)

    def _one(self, address: str, other: str) -> str | None:
        host, port = address.rpartition(":")[0], _port(address)
        if _is_loopback(host):
            return self._on_this_machine(port, other)
        # A host without a domain may be any of its name; two hosts with different domains are two hosts.
        by_host = self._at_short if _short(address) == address else self._at
        for at in (self._at.get(address, []), by_host.get(_short(address), [])):
            if len(at) == 1:
                return at[0]
        for called in (host, host.partition(".")[0]):
            named = [name for name in self._called.get(called, []) if self._may_listen(name, port)]
            if len(named) == 1 and not _is_ip(host):
                return named[0]
        return None

    def _may_listen(self, name: str, port: str) -> bool:
        """Whether a broker listens at a port, or nothing is known of where it listens."""
        return not self._ports[name] or port in self._ports[name]

    def _on_this_machine(self, port: str, other: str) -> str | None:
        """Who listens at a port of the machine of another broker: that one itself, or the only one."""
        if port in self._ports.get(other, ()):
            return other
        listening = self._listening.get(port, [])
        return listening[0] if len(listening) == 1 else None

    def unknown(self, end: str, place: Place) -> Note:
        """What to say of an address that is no broker's."""
        port = _port(end.partition(" ")[0])
        listening = sorted(self._listening.get(port, []))
        verb = "listens" if len(listening) == 1 else "listen"
        maybe = f" ({', '.join(map(quoted, listening[:3]))} {verb} at this port)" if listening else ""
        message = (
            f"{quoted(end)} is no broker of this mesh{maybe}, and what goes there is not followed; "
            f"add its configuration, or its address to the inventory"
        )
        return Note("unknown-broker", "note", message, place)


def _port(address: str) -> str:
    return address.rpartition(":")[2]


def _short(address: str) -> str:
    """An address without the domain of its host."""
    host, _, port = address.rpartition(":")
    return address if _is_ip(host) else f"{host.partition('.')[0]}:{port}"


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _is_ip(host: str) -> bool:
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True
