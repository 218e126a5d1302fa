"""What all readers of configurations share: the text of a file, comments, secrets, addresses and notes."""

import re
import stat
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from meshwright.deploy.configs.tree import Node
from meshwright.deploy.mesh import Note, Parsed, Place
from meshwright.runtime.errors import one_line, quoted
from meshwright.runtime.wording import meant

_MOST_BYTES = 64 << 20
_SUPPRESSION = re.compile(r"meshwright:\s*ignore\b\s*([\w-]*)\s*:?\s*(.*)", re.DOTALL)
_PASSWORD = re.compile(r"(?:^|/)[^/@:]*:[^@]+@")
_EVERYWHERE = {"0.0.0.0", "::", "[::]", "*", ""}


class UnreadableError(Exception):
    """A file that can't be read, or whose text breaks the rules of its format.

    Attributes:
        message: what is wrong, and what to do.
        place: where.
    """

    def __init__(self, message: str, place: Place) -> None:
        super().__init__(message)
        self.message = message
        self.place = place


def read_text(path: Path) -> str:
    """The text of a file; UnreadableError where it has none. Only regular files are opened."""
    place = Place(str(path), 0)
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableError("this is not a regular file; name the file of a configuration", place)
        if status.st_size > _MOST_BYTES:
            raise UnreadableError(
                f"the file has more than {_MOST_BYTES >> 20} MiB; no configuration is so large", place
            )
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise UnreadableError(
            f"byte {error.start + 1} is not UTF-8 text; save the file as UTF-8", place._replace(line=line)
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or one_line(error)
        raise UnreadableError(f"the file can't be read: {reason}", place) from None


class Lines:
    """Which line a place in a text is on, counted from 1."""

    def __init__(self, text: str) -> None:
        self._ends = [found.start() for found in re.finditer("\n", text)]

    def of(self, position: int) -> int:
        """The line of a position."""
        return bisect_left(self._ends, position) + 1


class Comment(NamedTuple):
    """The text of a comment, without its marks."""

    text: str
    place: Place


def suppression(comment: str) -> tuple[str, str] | None:
    """Rule and reason of a comment `meshwright: ignore RULE: reason`; None if it is no such comment.

    What is missing is empty.
    """
    found = _SUPPRESSION.match(comment.strip())
    return (found[1], " ".join(found[2].split())) if found else None


@dataclass
class Findings:
    """What a reader of one configuration collects."""

    parsed: Parsed = field(default_factory=lambda: Parsed([], [], [], []))
    _told: set[tuple[str, str]] = field(default_factory=set)

    def say(self, rule: str, severity: str, message: str, place: Place) -> None:
        """Add a note."""
        self.parsed.notes.append(Note(rule, severity, message, place))

    def not_decided(self, message: str, place: Place) -> None:
        """Say that something is not followed."""
        self.say("not-decided", "note", message, place)

    def useless(self, message: str, place: Place) -> None:
        """Say that a line does nothing."""
        self.say("useless-line", "warning", message, place)

    def secret(self, what: str, way_out: str, place: Place) -> None:
        """Say that a secret is in the file; the message does not repeat it."""
        self.say("secret", "warning", f"{what} is in the file in clear text; {way_out}", place)

    def unknown(self, name: str, where: str, known: Iterable[str], place: Place) -> None:
        """Say once in a configuration that a directive is not known."""
        if (where, name) in self._told:
            return
        self._told.add((where, name))
        near = meant(name, known).strip() or "check its spelling"
        message = (
            f"{quoted(without_secret(name))} is not a known key of {where}, and lint passes over it; {near}"
        )
        self.say("unknown-directive", "warning", message, place)

    def wrong_type(self, what: str, node: Node, wanted: str, so: str) -> None:
        """Say that a value is of a type that the broker does not read, and what it does then.

        The value is not shown: it may hold a password.
        """
        message = f"{what} is {node.type_word}, and {so}; give {wanted}"
        self.say("unreadable", "error", message, node.place)

    def unreadable(self, error: UnreadableError) -> None:
        """Say that a file can't be read."""
        self.say("unreadable", "error", error.message, error.place)

    def comments(self, comments: Iterable[Comment]) -> None:
        """Take the suppressions among comments; one without a rule or a reason does nothing."""
        for comment in comments:
            self.suppress(comment.text, comment.place)

    def suppress(self, text: str, place: Place) -> None:
        """Take a suppression, if a text is one."""
        found = suppression(text)
        if found is None:
            return
        if all(found):
            self.parsed.suppressions.append((place, *found))
        else:
            self.useless("a suppression needs a rule and a reason: meshwright: ignore RULE: reason", place)


_SECRET_WORD = re.compile(
    r"(.*?(?:passw(?:or)?d|passphrase|pass(?!w|phrase)|psk|token|secret|nkey|seed))\W*\w.*", re.I | re.S
)


_DIRECTIVE = re.compile(r"[A-Za-z_][A-Za-z_.-]{0,60}[0-9]?")


def without_secret(name: str) -> str:
    """A name as it may be shown: a value may stick to it, behind the word for a secret or before an `@`.

    Of a text that is no word, which may be a secret that stands alone, only the beginning is shown.
    """
    if found := _SECRET_WORD.fullmatch(name):
        return f"{found[1]}…"
    if "@" in name:
        return f"…@{name.rpartition('@')[2]}"
    return name if _DIRECTIVE.fullmatch(name) else f"{name[:2]}…"


def holds_password(text: str) -> bool:
    """Whether an address or URL has a password before its host, also if it is no URL otherwise."""
    return bool(_PASSWORD.search(text.partition("://")[2] or text))


class Url(NamedTuple):
    """The parts of a URL that matter to links."""

    scheme: str
    user: str | None
    address: str
    """`host:port`; empty where there is no host."""
    path: str


def url_of(text: str, port: int | None = None) -> Url | None:
    """The parts of a URL, or of `host:port`; None if it is none. `port` is taken where it names none.

    A text whose `?` or `#` stands before an `@` is none: these are letters of a password, and not of a host.
    """
    try:
        parts = urlsplit(text if "://" in text else f"//{text}")
        host, named = parts.hostname or "", parts.port
        user = None if parts.username is None else unquote(parts.username)
    except ValueError:
        return None
    if "@" in parts.query + parts.fragment or re.search(r"\s", parts.netloc):
        return None
    shown = address(host, named if named is not None else port) if host else ""
    return Url(parts.scheme, user, shown, parts.path)


def address(host: str, port: int | None) -> str:
    """`host:port`, or `:port` for a host that stands for all of a machine's addresses."""
    host = host.strip("[]").lower()
    if host in _EVERYWHERE:
        host = ""
    elif ":" in host:
        host = f"[{host}]"
    return host if port is None else f"{host}:{port}"


def listener(text: str, port: int | None = None) -> str | None:
    """The address of a listener, written as a port, `host:port`, `:port` or a host; None without a port."""
    if text.isdecimal():
        return f":{text}"
    try:
        parts = urlsplit(text if "://" in text else f"//{text}")
        named = parts.port or port
    except ValueError:
        return None
    return address(parts.hostname or "", named) if named else None


def alternatives(addresses: Iterable[str]) -> str:
    """Addresses of one link, of which one is in use at a time, as an end of a flow."""
    return " ".join(dict.fromkeys(each for each in addresses if each))
