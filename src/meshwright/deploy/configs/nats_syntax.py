"""The configuration language of NATS servers as values with places.

Maps and lists with or without commas, `=` or `:` or nothing after a key, comments by `#` and `//`, variables,
includes, blocks in parentheses. Nothing is executed, and the environment is not read: a variable that no
file sets is an `Outside`.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from meshwright.deploy.configs.json5 import DEEPEST
from meshwright.deploy.configs.source import Comment, Lines, UnreadableError, read_text, without_secret
from meshwright.deploy.configs.tree import Node, Outside, Scalar
from meshwright.deploy.mesh import Place
from meshwright.runtime.errors import quoted

_MOST_FILES = 1000
_MOST_EXPANDED = 100_000
_BLANKS = re.compile(r"[ \t]*")
_LINE = re.compile(r"[^\r\n]*")
_SEPARATOR = re.compile(r"\s*[=:]?\s*")
_SEPARATOR_AT_TOP = re.compile(r"\s*(?:[=:][ \t]*)?")
_KEY = re.compile(r"[^\s=:]+")
_RAW = re.compile(r"(?:\\.|[^\\\s;,\]}'])*", re.DOTALL)
_QUOTED = re.compile(r"'([^']*)'")
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_BLOCK = re.compile(r"\((.*?\n)[ \t]*\)[ \t]*(?=\r?\n|\Z)", re.DOTALL)
_INCLUDE = re.compile(r"include[ \t]+(?:'([^']*)'|\"([^\"]*)\"|([^\s;}'\"=:]+))", re.IGNORECASE)
_NUMBER = re.compile(r"(-?\d{1,18})([kmgtpe]?i?b?)", re.IGNORECASE)
_FLOAT = re.compile(r"-?\d{1,300}\.\d{1,300}")
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|.)", re.DOTALL)
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r", '"': '"', "\\": "\\"}
_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_POWERS = {letter: power for power, letter in enumerate("kmgtpe", 1)}
_HASHES = ("$2a$", "$2b$", "$2x$", "$2y$")


@dataclass
class Config:
    """A configuration with all that it includes.

    Attributes:
        root: the map of the file.
        comments: those of all files.
        variables: the keys that values refer to.
        files: those that were read.
        expanded: how many values variables stand for.
        repeated: keys that stand again in their map: each with its place, and the place where it counts.
    """

    root: Node
    comments: list[Comment] = field(default_factory=list)
    variables: set[str] = field(default_factory=set)
    files: list[str] = field(default_factory=list)
    expanded: int = 0
    repeated: list[tuple[str, Place, Place]] = field(default_factory=list)


def read_nats(path: Path) -> Config:
    """Read a file and what it includes; UnreadableError where the server would not."""
    config = Config(Node({}, Place(str(path), 1)))
    root = _read_file(path, config, (), 0)
    config.root = config.root._replace(value=root)
    return config


def _read_file(path: Path, config: Config, outer: tuple[Path, ...], depth: int) -> dict[str, Node]:
    config.files.append(str(path))
    text = read_text(path)
    return _Reader(path, text, Lines(text), config, (*outer, path.resolve())).top(depth)


@dataclass
class _Reader:
    path: Path
    text: str
    lines: Lines
    config: Config
    opened: tuple[Path, ...]
    position: int = 0
    scopes: list[dict[str, Node]] = field(default_factory=list)

    def place(self) -> Place:
        return Place(str(self.path), self.lines.of(self.position))

    def fault(self, message: str) -> UnreadableError:
        return UnreadableError(f"{message}; correct the file", self.place())

    def top(self, depth: int) -> dict[str, Node]:
        """The map of a whole file, which may stand in braces."""
        self.skip("{")
        return self._entries(depth, closing="")

    def skip(self, marks: str = "") -> None:
        """Pass over blanks, line ends, comments and these marks."""
        while self.position < len(self.text):
            letter = self.text[self.position]
            if letter.isspace() or letter in marks:
                self.position += 1
            elif letter == "#" or self.text.startswith("//", self.position):
                self._comment()
            else:
                break

    def _comment(self) -> None:
        place = self.place()
        start = self.position
        self._pass(_LINE)
        self.config.comments.append(Comment(self.text[start : self.position].lstrip("#/"), place))

    def _next(self) -> str:
        return self.text[self.position : self.position + 1]

    def _entries(self, depth: int, closing: str) -> dict[str, Node]:
        """The entries of a map up to its brace, or up to the end of the text."""
        entries: dict[str, Node] = {}
        self.scopes.append(entries)
        while True:
            self.skip("" if closing else "{}")
            if not self._next():
                if closing:
                    raise self.fault("the file ends inside a map: a } is missing")
                break
            if closing and self._next() == closing:
                self.position += 1
                break
            self._entry(entries, depth, closing)
            self._end_of_value("}" if closing else "")
        self.scopes.pop()
        return entries

    def _entry(self, entries: dict[str, Node], depth: int, closing: str) -> None:
        place = self.place()
        included = _INCLUDE.match(self.text, self.position)
        if included:
            self.position = included.end()
            name = next(filter(None, included.groups()), "")
            entries.update(self._included(name, place, depth + 1))
            return
        key = self._key()
        self._blanks_before_value(key, closing)
        value = self._value(depth)._replace(place=place)
        if key in entries and entries[key].place.file == place.file:
            self.config.repeated.append((key, entries[key].place, place))
        entries[key] = value

    def _included(self, name: str, place: Place, depth: int) -> dict[str, Node]:
        path = self.path.parent / name.lstrip("/")
        if "\0" in name or path.resolve() in self.opened:
            raise UnreadableError(f"{quoted(name)} is included inside itself; remove this include", place)
        if len(self.config.files) >= _MOST_FILES or depth > DEEPEST:
            raise UnreadableError("too many files are included; include fewer", place)
        try:
            return _read_file(path, self.config, self.opened, depth)
        except UnreadableError as error:
            if error.place == Place(str(path), 0):
                shown = name.split("\n", maxsplit=1)[0]
                raise UnreadableError(f"the included {quoted(shown)}: {error.message}", place) from None
            raise

    def _key(self) -> str:
        for pattern in (_DOUBLE, _QUOTED):
            found = pattern.match(self.text, self.position)
            if found:
                self.position = found.end()
                return found[1]
        found = _KEY.match(self.text, self.position)
        if found is None:
            raise self.fault(f"a key is missing before {quoted(self._next())}")
        self.position = found.end()
        return found[0]

    def _blanks_before_value(self, key: str, closing: str) -> None:
        """Pass over what separates a key from its value; outside of braces, a line must not end behind it."""
        self._pass(_SEPARATOR if closing else _SEPARATOR_AT_TOP)
        if not self._next() or self._next() in "\r\n}]" or (closing and self._next() == ","):
            raise self.fault(f"{quoted(without_secret(key))} has no value")

    def _pass(self, pattern: re.Pattern[str]) -> None:
        """Pass over what a pattern matches."""
        found = pattern.match(self.text, self.position)
        self.position = found.end() if found else self.position

    def _end_of_value(self, closing: str) -> None:
        """What may follow a value: the end of the line, a comma, a semicolon, or the end of the map."""
        self._pass(_BLANKS)
        letter = self._next()
        if letter and letter in ",;":
            self.position += 1
        elif letter and letter not in "\r\n#}" + closing and not self.text.startswith("//", self.position):
            raise self.fault(f"after a value comes a new line, a comma or a semicolon, not {quoted(letter)}")

    def _value(self, depth: int) -> Node:
        place = self.place()
        if depth > DEEPEST:
            raise self.fault(f"values are nested more than {DEEPEST} deep")
        letter = self._next()
        if letter == "{":
            self.position += 1
            return Node(self._entries(depth + 1, "}"), place)
        if letter == "[":
            self.position += 1
            return Node(self._list(depth), place)
        if letter and letter in "'\"(":
            return Node(self._enclosed(letter), place)
        return self._raw(place)

    def _list(self, depth: int) -> list[Node]:
        elements: list[Node] = []
        while True:
            self.skip()
            if self._next() == "]":
                self.position += 1
                return elements
            if not self._next():
                raise self.fault("the file ends inside a list: a ] is missing")
            elements.append(self._value(depth + 1))
            end = self.position
            self.skip(",")
            if self._next() not in ("]", "") and not re.search(r"[,\r\n]", self.text[end : self.position]):
                raise self.fault(f"a comma or ] is missing before {quoted(self._next())}")

    def _enclosed(self, letter: str) -> str:
        """A string in quotes, or a block in parentheses."""
        found = {"'": _QUOTED, '"': _DOUBLE, "(": _BLOCK}[letter].match(self.text, self.position)
        if found is None:
            raise self.fault("a string does not end")
        self.position = found.end()
        return _unescaped(found[1]) if letter == '"' else found[1]

    def _raw(self, place: Place) -> Node:
        start = self.position
        self._pass(_RAW)
        text = self.text[start : self.position]
        self.position += self._next() == "'"
        if text.startswith("$") and not text.startswith(_HASHES):
            return self._variable(text[1:], place)
        return Node(_scalar(text), place)

    def _variable(self, name: str, place: Place) -> Node:
        self.config.variables.add(name)
        for scope in reversed(self.scopes):
            if name in scope:
                self._count_expanded(scope[name])
                return scope[name]._replace(place=place)
        return Node(Outside(name), place)

    def _count_expanded(self, node: Node) -> None:
        """Count the values that a variable stands for, and refuse those that grow without bounds."""
        waiting = [node]
        while waiting:
            self.config.expanded += 1
            if self.config.expanded > _MOST_EXPANDED:
                raise self.fault(f"variables stand for more than {_MOST_EXPANDED:,} values")
            value = waiting.pop().value
            if isinstance(value, list):
                waiting.extend(value)
            elif isinstance(value, dict):
                waiting.extend(value.values())


def _scalar(text: str) -> Scalar:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    number = _NUMBER.fullmatch(text)
    if number:
        suffix = number[2].lower()
        unit: int = (1024 if "b" in suffix else 1000) ** _POWERS.get(suffix[:1], 0)
        return int(number[1]) * unit
    return float(text) if _FLOAT.fullmatch(text) else _unescaped(text)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: _letter(found[1]), text)


def _letter(escape: str) -> str:
    if len(escape) == 3:
        return chr(int(escape[1:], 16))
    return _ESCAPED.get(escape, escape)
