"""Mosquitto's configuration: listeners, and bridges with their topic lines.

A line is read as the broker reads it: words are separated by blanks alone, a line that begins with # is a
comment, and a word that begins with # ends a topic line behind its pattern.
"""

import codecs
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from meshwright.deploy.configs.mosquitto_directives import BOOLEANS, CHOICES, DIRECTIVES, PREFIXES, SECRETS
from meshwright.deploy.configs.mosquitto_repeats import Repeats
from meshwright.deploy.configs.source import (
    Findings,
    UnreadableError,
    address,
    alternatives,
    holds_password,
    read_text,
)
from meshwright.deploy.mesh import Broker, Flow, Parsed, Place
from meshwright.runtime.errors import quoted

_PORT = 1883
_DIRECTIONS = ("out", "in", "both")
_PROTOCOLS = ("mqttv31", "mqttv311", "mqttv50")
_BOM = "Mosquitto does not start with a file that begins with a byte order mark; save it without one"
_NO_BLANKS = {"\t": "a tab", "\ufeff": "a byte order mark"}
_NUL = "Mosquitto does not read this line and those below it: it has a NUL byte; remove the byte"
_WAY_OUT = "put it in when the file is deployed, or use certificates"
_SHARED = "$share/"
_SECRET_OPTION = re.compile("pass|pwd|secret|token|psk|_key$")
_PATH = re.compile(r"^/|\.(?:pem|key|crt)$")
_PLACEHOLDER = re.compile(r"\$\{.*\}|\{\{.*\}\}|<.*>|@.*@|%.*%|\$[A-Z_]+")


def looks_like(path: Path, head: bytes) -> bool:
    """Whether a file may be a configuration of Mosquitto: a line begins with a directive that only it has."""
    if path.suffix.lower() not in (".conf", ".cfg", "") and path.name != "mosquitto.conf":
        return False
    text = head.decode("utf-8", "replace")
    words = {line.split(" ", 1)[0].strip() for line in text.splitlines()}
    return path.name == "mosquitto.conf" or (
        bool(words & _TELLING) and not is_access_list(head) and not re.search(r"[{\[]\s*$", text, re.M)
    )


def is_access_list(head: bytes) -> bool:
    """Whether a file is what `acl_file` names: users and topics, but no bridge that the topics are of."""
    words = {line.split()[0] for line in head.splitlines() if line.strip() and not line.startswith(b"#")}
    return bool(words & {b"topic", b"pattern"}) and words <= {b"user", b"topic", b"pattern"}


def is_default(path: Path, head: bytes) -> bool:
    """Whether a file has nothing but comments: Mosquitto takes it for a broker with default settings."""
    lines = [line for line in head.splitlines() if line.strip()]
    return path.suffix.lower() == ".conf" and bool(lines) and all(line.startswith(b"#") for line in lines)


_TELLING = set(DIRECTIVES) - {
    "port",
    "user",
    "protocol",
    "password",
    "username",
    "threshold",
    "address",
    "plugin",
}


@dataclass
class _Line:
    """One line of a bridge: what it shares, and how it is called at both ends."""

    pattern: str
    direction: str
    qos: int
    local: str
    remote: str
    place: Place

    @property
    def ends(self) -> dict[str, str]:
        """By direction, what it subscribes to where names come from."""
        texts = {"out": self.local + self.pattern, "in": self.remote + self.pattern}
        return {way: text for way, text in texts.items() if self.direction in (way, "both")}

    @property
    def has_prefix(self) -> bool:
        return bool(self.local or self.remote)

    @property
    def goes_out(self) -> bool:
        return self.direction != "in"

    @property
    def comes_in(self) -> bool:
        return self.direction != "out"


@dataclass
class _Bridge:
    """A `connection`."""

    name: str
    place: Place
    addresses: list[str] = field(default_factory=list)
    lines: list[_Line] = field(default_factory=list)
    is_broken: bool = False
    try_private: bool = True
    attempt_unsubscribe: bool = True
    protocol: str = "mqttv311"
    lazy: Place | None = None
    """Where it says that it is opened only when messages wait to go out."""

    @property
    def never_opens(self) -> bool:
        return self.lazy is not None and not any(line.goes_out for line in self.lines)


@dataclass
class _Listeners:
    """Where bridges can reach the broker; without any listener, at the default port."""

    addresses: list[str | None] = field(default_factory=list)
    """None for one at which bridges can't."""
    port: str | None = None
    host: str = ""

    def all(self) -> tuple[str, ...]:
        own = tuple(filter(None, self.addresses))
        if self.port is None and self.addresses:
            return own
        return (address(self.host, int(self.port or _PORT)), *own)


def parse(path: Path) -> Parsed:
    """Read a configuration, with the files that it includes."""
    reader = _Reader(path)
    reader.read(path, is_main=True)
    return reader.parsed()


class _Reader:
    """Reads the files of one broker."""

    def __init__(self, path: Path) -> None:
        self._main = path
        self._found = Findings()
        self._bridges: list[_Bridge] = []
        self._bridge: _Bridge | None = None
        self._listeners = _Listeners()
        self._duplicates: bool | None = None
        self._included: list[str] = []
        self._repeats = Repeats()
        self._own: dict[str, Callable[[str, Place], None]] = {
            "listener": self._listener,
            "port": self._port,
            "bind_address": self._bind_address,
            "connection": self._connection,
            "address": self._addresses,
            "addresses": self._addresses,
            "topic": self._topic,
            "try_private": self._try_private,
            "bridge_attempt_unsubscribe": self._attempt_unsubscribe,
            "bridge_protocol_version": self._protocol,
            "allow_duplicate_messages": self._allow_duplicates,
            "mount_point": self._mount_point,
            "protocol": self._listener_protocol,
            "start_type": self._start_type,
        }

    def read(self, path: Path, *, is_main: bool) -> None:
        """Read one file."""
        try:
            text = read_text(path)
        except UnreadableError as error:
            self._found.unreadable(error)
            return
        self._bridge, self._repeats.listener = None, 0
        if path.read_bytes().startswith(codecs.BOM_UTF8):
            self._refuse(_BOM, Place(str(path), 1))
        for number, line in enumerate(text.split("\n"), start=1):
            place = Place(str(path), number)
            if "\0" in line:
                self._refuse(_NUL, place)
                return
            self._line(line.rstrip("\r"), place, is_main=is_main)

    def _line(self, line: str, place: Place, *, is_main: bool) -> None:
        if line.startswith("#"):
            self._found.suppress(line[1:], place)
            return
        name, _, value = self._begun(line.lstrip(" "), place).partition(" ")
        value = value.strip(" ")
        if not name:
            return
        fault = self._repeats.see(name, value, place, len(self._bridges) if self._bridge else 0)
        if fault is not None:
            self._refuse(fault, place)
        if name == "include_dir":
            self._include(value, place, is_main=is_main)
        elif name in self._own:
            self._own[name](value, place)
        elif name in BOOLEANS:
            self._flag(name, value, place)
        elif name in CHOICES:
            self._choice(name, value, place)
        elif name not in DIRECTIVES and not name.startswith(PREFIXES):
            self._unknown(name, place)
        self._check_secret(name, value, place)

    def _begun(self, line: str, place: Place) -> str:
        """The line without a tab or byte order mark before it; these are told."""
        if line[:1] in _NO_BLANKS:
            what = _NO_BLANKS[line[0]]
            self._refuse(
                f"the line begins with {what}, and Mosquitto does not start with it; remove it", place
            )
        return line.lstrip("".join(_NO_BLANKS) + " ")

    def _unknown(self, name: str, place: Place) -> None:
        """Say that a directive is not known; what follows its name without a blank may be a secret."""
        if name == "#":
            self._refuse(
                "Mosquitto takes a comment only at the very start of a line; remove the blanks", place
            )
            return
        word, rest = _split_word(name)
        if word in DIRECTIVES and rest:
            self._refuse(
                f"{word} must be followed by a blank; Mosquitto does not start with this line", place
            )
            self._check_secret(word, rest[1:].strip(), place)
        else:
            self._found.unknown(word, "Mosquitto", DIRECTIVES, place)

    def _check_secret(self, name: str, value: str, place: Place) -> None:
        if not value or _PLACEHOLDER.fullmatch(value):
            return
        of_plugin = name.startswith(PREFIXES)
        if name in SECRETS or (of_plugin and _SECRET_OPTION.search(name) and not _PATH.search(value)):
            self._found.secret(f"the value of {name}", _WAY_OUT, place)
        elif of_plugin and "://" in value and holds_password(value):
            self._found.secret(f"a password in the value of {name}", _WAY_OUT, place)

    def _refuse(self, message: str, place: Place) -> None:
        self._found.say("unreadable", "error", message, place)

    def _include(self, folder: str, place: Place, *, is_main: bool) -> None:
        if not is_main:
            self._found.useless("include_dir does nothing in a file that is itself included", place)
            return
        files = _included_files(folder, self._main)
        if files is None:
            self._found.say(
                "unreadable", "warning", f"the folder {quoted(folder)} of include_dir can't be read", place
            )
            return
        bridge, listener = self._bridge, self._repeats.listener
        for file in files:
            if file.resolve() == self._main.resolve():
                self._refuse("the file includes itself; move it out of the folder of include_dir", place)
            else:
                self._included.append(str(file))
                self.read(file, is_main=False)
        self._bridge, self._repeats.listener = bridge, listener

    def _listener(self, value: str, place: Place) -> None:
        port, *rest = [*value.split(" "), ""][:2]
        if not port.isascii() or not port.isdecimal() or int(port) > 65535:
            self._refuse(f"the port of the listener is {quoted(port)}; give a number up to 65535", place)
        elif not int(port) and not rest[0]:
            self._refuse("the listener has port 0 and no path of a Unix socket; give one of them", place)
        else:
            self._listeners.addresses.append(address(rest[0], int(port)) if int(port) else None)

    def _listener_protocol(self, value: str, place: Place) -> None:
        """Note at which listeners bridges can't connect: they speak no WebSockets."""
        self._choice("protocol", value, place)
        if value.partition(" ")[0] != "mqtt" and self._repeats.listener and self._listeners.addresses:
            self._listeners.addresses[-1] = None

    def _port(self, value: str, place: Place) -> None:
        if value.isascii() and value.isdecimal() and 0 < int(value) <= 65535:
            if self._listeners.port is not None:
                said = "port is given twice, and Mosquitto takes this one alone; remove the other"
                self._found.useless(said, place)
            self._listeners.port = value
        else:
            self._refuse(f"port is {quoted(value)}; give a number from 1 to 65535", place)

    def _bind_address(self, value: str, place: Place) -> None:
        del place
        self._listeners.host = value

    def _mount_point(self, value: str, place: Place) -> None:
        self._found.not_decided(
            f"mount_point {quoted(value)} renames what comes by its listener; lint follows names without it",
            place,
        )

    def _connection(self, name: str, place: Place) -> None:
        is_refused = not name or any(bridge.name == name for bridge in self._bridges)
        if is_refused:
            fault = "has no name" if not name else f"is called {quoted(name)}, as another one"
            self._refuse(f"the connection {fault}; give each its own name", place)
            name = f"{name} {place.line}"
        self._bridge = _Bridge(name, place, is_broken=is_refused)
        self._bridges.append(self._bridge)

    def _with_bridge(self, name: str, place: Place) -> _Bridge | None:
        if self._bridge is None:
            self._refuse(
                f"{name} belongs to a connection, and there is none above; add a line connection NAME", place
            )
        return self._bridge

    def _addresses(self, value: str, place: Place) -> None:
        bridge = self._with_bridge("address", place)
        if bridge is None:
            return
        if bridge.addresses or not value:
            fault = "is given twice; list all on one line" if value else "is empty; give HOST or HOST:PORT"
            self._refuse(f"the address of the connection {fault}", place)
            return
        for each in filter(None, value.split(" ")):
            plain = self._without_user(each, place)
            host, colon, port = plain.rpartition(":")
            if colon and not (port.isascii() and port.isdecimal() and 0 < int(port) <= 65535):
                self._refuse(f"the port in {quoted(plain)} is no number from 1 to 65535", place)
                bridge.is_broken = True
                continue
            bridge.addresses.append(address(host or plain, int(port) if colon else _PORT))

    def _without_user(self, text: str, place: Place) -> str:
        """HOST or HOST:PORT of an address; what else is in it is told, but not shown."""
        plain = text.rpartition("@")[2].rpartition("://")[2]
        if holds_password(text):
            self._found.secret("a password", _WAY_OUT, place)
        if plain != text:
            message = (
                "the address has a scheme or a user, and Mosquitto finds no host of this name; give HOST or "
                "HOST:PORT alone, and the user by remote_username"
            )
            self._refuse(message, place)
        return plain

    def _flag(self, name: str, value: str, place: Place) -> bool | None:
        if value in ("true", "1", "false", "0"):
            return value in ("true", "1")
        self._refuse(f"{name} is {quoted(value)}; give true or false", place)
        return None

    def _choice(self, name: str, value: str, place: Place) -> None:
        if value.partition(" ")[0] not in CHOICES[name]:
            self._refuse(f"{name} is {quoted(value)}; choose among {', '.join(CHOICES[name])}", place)

    def _try_private(self, value: str, place: Place) -> None:
        bridge, flag = self._with_bridge("try_private", place), self._flag("try_private", value, place)
        if bridge is not None and flag is not None:
            bridge.try_private = flag

    def _attempt_unsubscribe(self, value: str, place: Place) -> None:
        name = "bridge_attempt_unsubscribe"
        bridge, flag = self._with_bridge(name, place), self._flag(name, value, place)
        if bridge is not None and flag is not None:
            bridge.attempt_unsubscribe = flag

    def _start_type(self, value: str, place: Place) -> None:
        bridge = self._with_bridge("start_type", place)
        self._choice("start_type", value, place)
        if bridge is not None and value.partition(" ")[0] == "lazy":
            bridge.lazy = place

    def _protocol(self, value: str, place: Place) -> None:
        bridge = self._with_bridge("bridge_protocol_version", place)
        if value not in _PROTOCOLS:
            self._refuse(
                f"bridge_protocol_version is {quoted(value)}; choose among {', '.join(_PROTOCOLS)}", place
            )
        elif bridge is not None:
            bridge.protocol = value

    def _allow_duplicates(self, value: str, place: Place) -> None:
        self._duplicates = self._flag("allow_duplicate_messages", value, place)

    def _topic(self, value: str, place: Place) -> None:
        bridge = self._with_bridge("topic", place)
        if bridge is None:
            return
        try:
            line = _topic_line(value, place)
        except ValueError as fault:
            bridge.is_broken = True
            self._refuse(f"{fault}; Mosquitto does not start with this line", place)
            return
        if _is_filter(line.pattern):
            bridge.lines.append(line)
        else:
            bridge.is_broken = True
            self._refuse(
                f"{quoted(line.pattern)} is no topic filter: Mosquitto starts with it, but the broker at the "
                f"other end closes the link each time; write # as the last level, and + alone in a level",
                place,
            )

    def parsed(self) -> Parsed:
        """All that the files say."""
        for fault, place in self._repeats.listeners():
            self._refuse(fault, place)
        for bridge in self._bridges:
            self._check(bridge)
            self._found.parsed.flows.extend(self._flows(bridge))
        place = Place(str(self._main), 0)
        name = str(self._main)
        broker = Broker(name, "mosquitto", place, self._listeners.all(), duplicates=self._duplicates)
        self._found.parsed.brokers.append(broker)
        return self._found.parsed._replace(included=tuple(self._included))

    def _check(self, bridge: _Bridge) -> None:
        missing = "address" if not bridge.addresses else "topic" if not bridge.lines else None
        if missing and not bridge.is_broken:
            self._refuse(f"the connection {quoted(bridge.name)} has no {missing} line; add one", bridge.place)
        if bridge.lazy is not None and bridge.lines:
            self._check_lazy(bridge, bridge.lazy)
        self._check_shared(bridge)

    def _check_shared(self, bridge: _Bridge) -> None:
        """Say where lines with prefixes are beside one that shares a subscription: they rename its names."""
        prefixed = Counter(side for line in bridge.lines if line.has_prefix for side in line.ends)
        for line in bridge.lines:
            shared = [side for side, text in line.ends.items() if text.startswith(_SHARED)]
            if any(prefixed[side] > line.has_prefix for side in shared):
                said = "lint takes names that cross by a line with $share as if prefixes of others left them"
                self._found.not_decided(said, line.place)

    def _check_lazy(self, bridge: _Bridge, place: Place) -> None:
        if bridge.never_opens:
            self._found.useless(
                "this link is never opened: with start_type lazy it waits for messages that go out, and no "
                "line takes any; write automatic",
                place,
            )
        else:
            self._found.not_decided("lint takes a link with start_type lazy as if it were always open", place)

    def _flows(self, bridge: _Bridge) -> Iterator[Flow]:
        here, there = str(self._main), alternatives(bridge.addresses)
        outward = _lines_out(bridge)
        for number, line in enumerate(bridge.lines) if bridge.addresses and not bridge.never_opens else ():
            doubles = bridge.protocol == "mqttv50"
            shared = Flow(
                here, there, "", "", "", f"{here} {bridge.name}", line.place, qos=line.qos, doubles=doubles
            )
            if line.goes_out:
                yield from _renamed(shared, line.pattern, line.local, line.remote)
            if line.comes_in and self._is_subscribed(line, number, outward):
                echoes = not bridge.try_private and bridge.protocol != "mqttv50"
                inward = shared._replace(source=there, target=here, pulls=True, echoes=echoes)
                yield from _renamed(inward, line.pattern, line.remote, line.local)

    def _is_subscribed(self, line: _Line, number: int, outward: Mapping[str, list[tuple[int, int]]]) -> bool:
        """Whether a line takes anything in: a later line out unsubscribes from the same topic."""
        for later, at in outward.get(line.remote + line.pattern, ()):
            if later > number:
                self._found.useless(
                    f"nothing comes in by this line: line {at} unsubscribes from its topic; "
                    f"write one line with both, or set bridge_attempt_unsubscribe false",
                    line.place,
                )
                return False
        return True


def _lines_out(bridge: _Bridge) -> dict[str, list[tuple[int, int]]]:
    """By topic at the other end, which lines only go out: their numbers in the bridge and in the file."""
    found: dict[str, list[tuple[int, int]]] = {}
    for number, line in enumerate(bridge.lines if bridge.attempt_unsubscribe else ()):
        if not line.comes_in:
            found.setdefault(line.remote + line.pattern, []).append((number, line.place.line))
    return found


def _included_files(folder: str, main: Path) -> list[Path] | None:
    """The files of a folder that a configuration includes; one of that name beside it is meant first."""
    for place in (main.parent / (Path(folder).name or folder), main.parent / folder):
        try:
            files = [file for file in place.iterdir() if file.name.endswith(".conf")]
        except (OSError, ValueError):
            continue
        return sorted(files, key=lambda file: (file.name.lower(), file.name))
    return None


def _renamed(flow: Flow, pattern: str, strip: str, add: str) -> Iterator[Flow]:
    """The flow of a line in one direction.

    `a/#` matches `a`, too, from which the prefix `a/` can't be removed: it gets the new prefix as it is.
    """
    if (strip + pattern).startswith(_SHARED):
        yield _shared(flow, strip + pattern)
        return
    flow = flow._replace(prefixed=bool(strip or add))
    yield flow._replace(filter=strip + pattern, strip=strip, add=add)
    if pattern == "#" and strip.endswith("/") and len(strip) > 1:
        yield flow._replace(filter=strip[:-1], add=add, subscription=strip + pattern)


def _shared(flow: Flow, subscription: str) -> Flow:
    """The flow of a line that subscribes as one of a group.

    Measured with Mosquitto 2.0.11: prefixes don't rename, and what came over the link goes back, whatever
    try_private and the protocol.
    """
    group = f"{flow.source} {subscription}"
    return flow._replace(filter=subscription, echoes=True, competes_for=group)


def _topic_line(value: str, place: Place) -> _Line:
    """A topic line; ValueError with what is wrong where the broker refuses it."""
    pattern, *rest = [word for word in value.split(" ") if word] or [""]
    if not pattern:
        raise ValueError("the topic line is empty")
    stop = next((at for at, word in enumerate(rest) if word.startswith("#")), len(rest))
    direction, qos, local, remote = [*rest[:stop], "", "", "", ""][:4]
    if direction and direction.lower() not in _DIRECTIONS:
        raise ValueError(f"the direction is {quoted(direction)}; choose among {', '.join(_DIRECTIONS)}")
    level = _number(qos)
    if not 0 <= level <= 2:
        raise ValueError(f"the QoS is {quoted(qos)}; choose 0, 1 or 2")
    pattern, local, remote = (_unmarked(word) for word in (pattern, local, remote))
    if not pattern and not (local and remote):
        raise ValueError('a line for the topic "" needs both prefixes')
    for prefix in (local, remote):
        if re.search("[+#]", prefix):
            raise ValueError(f"the prefix {quoted(prefix)} has a wildcard; write the levels in full")
        if prefix and not _is_filter(prefix + pattern):
            way_out = "end the prefix with /" if _is_filter(pattern) else "correct the topic"
            raise ValueError(f"{quoted(prefix + pattern)} is no topic filter; {way_out}")
    return _Line(pattern, direction.lower() or "out", level, local, remote, place)


def _split_word(text: str) -> tuple[str, str]:
    """The name at the start of a text, at least one letter, and the rest."""
    found = re.match(r"[\w.-]+|.", text, re.DOTALL)
    end = found.end() if found else 0
    return text[:end], text[end:]


def _unmarked(word: str) -> str:
    return "" if word == '""' else word


def _number(text: str) -> int:
    """The number that a text begins with, as C reads it; 0 where there is none."""
    found = re.match(r"[+-]?[0-9]{1,9}", text)
    return int(found[0]) if found else 0


def _is_filter(text: str) -> bool:
    *levels, last = text.split("/")
    return all(level == "+" or not re.search("[+#]", level) for level in levels) and (
        last in ("+", "#") or not re.search("[+#]", last)
    )
