"""Values of a configuration, each with its place: maps, lists and scalars as a file writes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from meshwright.deploy.mesh import Place


class Outside(NamedTuple):
    """A variable that is set outside of the configuration."""

    name: str


TYPE_WORDS = {dict: "a map", list: "a list", str: "a text", bool: "a flag", type(None): "null"}
"""What values of a type are called; all others are numbers."""

Scalar: TypeAlias = str | int | float | bool | Outside | None


class Node(NamedTuple):
    """A value and where it is written; what is asked of a value of another type is empty."""

    value: Scalar | list[Node] | dict[str, Node]
    place: Place

    @property
    def entries(self) -> dict[str, Node]:
        """The entries of a map."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def elements(self) -> list[Node]:
        """The elements of a list; a value that is no list is its only element."""
        if isinstance(self.value, list):
            return self.value
        return [] if self.value is None else [self]

    @property
    def type_word(self) -> str:
        """What the value is, in words."""
        return TYPE_WORDS.get(type(self.value), "a number")

    @property
    def text(self) -> str | None:
        """A scalar as text; None if it is none."""
        value = self.value
        if isinstance(value, bool):
            return str(value).lower()
        return str(value) if isinstance(value, str | int | float) else None

    @property
    def texts(self) -> list[str]:
        """The texts of a list of scalars, or of one."""
        return [text for each in self.elements if (text := each.text) is not None]

    @property
    def number(self) -> int | None:
        """A whole number, also one that is written as text; None if it is none."""
        value = self.value
        if isinstance(value, str) and value.isdecimal() and len(value) < 20:
            return int(value)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def at(self, *keys: str) -> Node:
        """The entry under the first of these keys that is there, or else an empty value."""
        for key in keys:
            if key in self.entries:
                return self.entries[key]
        return Node(None, self.place)

    def within(self, *keys: str) -> Node:
        """The value under keys inside keys."""
        found = self
        for key in keys:
            found = found.at(key)
        return found

    def walk(self) -> Iterator[tuple[str, Node]]:
        """All entries of all maps inside, with their keys."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            waiting.extend(node.elements if isinstance(node.value, list) else node.entries.values())
            yield from node.entries.items()
