"""JSON5, and JSON as a part of it, as values with places. Nothing in the text is executed."""

import re
import string
from dataclasses import dataclass, field

from meshwright.deploy.configs.source import Comment, Lines, UnreadableError
from meshwright.deploy.configs.tree import Node, Scalar
from meshwright.deploy.mesh import Place
from meshwright.runtime.errors import quoted

ONE_EACH = "correct the file, or split it if it holds two configurations"
"""The way out where a text goes on after its end."""

DEEPEST = 100
"""How deep values may be nested."""

_PLAIN = frozenset(string.ascii_letters + string.digits + "{}[]:,'\"")
"""Letters that begin neither blanks nor comments: the others are looked at more closely."""
_SPACE = re.compile(r"[\s\ufeff]*")
_COMMENT = re.compile(r"//([^\n\r\u2028\u2029]*)|/\*(.*?)\*/", re.DOTALL)
_STRING = re.compile(r'"((?:[^"\\\n\r]|\\(?:\r\n|.))*)"|' r"'((?:[^'\\\n\r]|\\(?:\r\n|.))*)'", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r\n|.)", re.DOTALL)
_NAME = re.compile(r"(?:[\w$]|\\u[0-9a-fA-F]{4})+")
_NUMBER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|Infinity|NaN|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)")
_WORDS: dict[str, Scalar] = {"true": True, "false": False, "null": None}
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}
_NOTHING = {"\n", "\r", "\r\n", "\u2028", "\u2029"}
_LONGEST_NUMBER = 400


@dataclass
class Json5:
    """A text of JSON5.

    Attributes:
        root: its value.
        comments: in the order of the text.
    """

    root: Node
    comments: list[Comment]


def read_json5(text: str, file: str) -> Json5:
    """Read a text; UnreadableError with the line where it is no JSON5."""
    reader = _Reader(text, file, Lines(text))
    root = reader.value(0)
    reader.skip()
    if reader.position < len(text):
        raise UnreadableError(f"the text goes on after its end; {ONE_EACH}", reader.place())
    return Json5(root, reader.comments)


@dataclass
class _Reader:
    text: str
    file: str
    lines: Lines
    position: int = 0
    comments: list[Comment] = field(default_factory=list)

    def place(self) -> Place:
        return Place(self.file, self.lines.of(self.position))

    def fault(self, message: str) -> UnreadableError:
        return UnreadableError(f"{message}; correct the file", self.place())

    def skip(self) -> None:
        """Pass over blanks and comments."""
        while self.text[self.position : self.position + 1] not in _PLAIN:
            blanks = _SPACE.match(self.text, self.position)
            self.position = blanks.end() if blanks else self.position
            found = _COMMENT.match(self.text, self.position)
            if found is None:
                return
            self.comments.append(Comment((found[1] or found[2] or "").lstrip("/"), self.place()))
            self.position = found.end()

    def taken(self, mark: str) -> bool:
        """Pass over a mark, if it comes next."""
        self.skip()
        found = self.text.startswith(mark, self.position)
        self.position += found
        return found

    def value(self, depth: int) -> Node:
        self.skip()
        place = self.place()
        if depth > DEEPEST:
            raise self.fault(f"values are nested more than {DEEPEST} deep")
        if self.taken("{"):
            return Node(self._map(depth), place)
        if self.taken("["):
            return Node(self._list(depth), place)
        return Node(self._scalar(), place)

    def _map(self, depth: int) -> dict[str, Node]:
        entries: dict[str, Node] = {}
        while not self.taken("}"):
            place = self.place()
            key = self._key()
            if not self.taken(":"):
                raise self.fault(f"a colon must follow the key {quoted(key)}")
            entries[key] = self.value(depth + 1)._replace(place=place)
            self._end_of_entry("}")
        return entries

    def _list(self, depth: int) -> list[Node]:
        elements: list[Node] = []
        while not self.taken("]"):
            elements.append(self.value(depth + 1))
            self._end_of_entry("]")
        return elements

    def _end_of_entry(self, closing: str) -> None:
        if self.taken(","):
            return
        self.skip()
        if not self.text.startswith(closing, self.position):
            ended = self.position >= len(self.text)
            raise self.fault("the text ends too early" if ended else f"a comma or {closing} is missing here")

    def _key(self) -> str:
        self.skip()
        if self.text.startswith(("'", '"'), self.position):
            return self._string()
        found = _NAME.match(self.text, self.position)
        if found is None:
            raise self.fault("a key is missing here")
        self.position = found.end()
        return _ESCAPE.sub(_unescaped, found[0])

    def _scalar(self) -> Scalar:
        if self.text.startswith(("'", '"'), self.position):
            return self._string()
        for pattern in (_NUMBER, _NAME):
            found = pattern.match(self.text, self.position)
            if found and (pattern is _NUMBER or found[0] in _WORDS):
                self.position = found.end()
                return _number(found[0]) if pattern is _NUMBER else _WORDS[found[0]]
        raise self.fault("a value is missing here")

    def _string(self) -> str:
        found = _STRING.match(self.text, self.position)
        if found is None:
            raise self.fault("a string does not end on its line")
        self.position = found.end()
        raw = found[1] if found[1] is not None else found[2]
        return _ESCAPE.sub(_unescaped, raw).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _number(text: str) -> Scalar:
    if re.fullmatch(r"[+-]?\d+", text) and len(text) < _LONGEST_NUMBER:
        return int(text)
    if "x" in text.lower():
        return int(text, 16) if len(text) < _LONGEST_NUMBER else text
    return float(text)


def _unescaped(found: re.Match[str]) -> str:
    letter = found[1]
    if len(letter) > 1 and letter[0] in "ux":
        return chr(int(letter[1:], 16))
    return "" if letter in _NOTHING else _ESCAPED.get(letter, letter)
