"""Columns of a table, chosen by name or by position, and how people write them in one text."""

import re
from collections.abc import Sequence
from typing import TypeAlias

from meshwright.runtime.errors import CHECK_THE_DELIMITER, NAME_THE_COLUMN, InputError, visible
from meshwright.runtime.wording import count, meant

Column: TypeAlias = str | int
"""The name of a column, or its position from 1."""


class IfThere(str):
    """The name of a column that is read where there is one."""

    __slots__ = ()


_MOST_SHOWN = 20
_LONGEST_SHOWN = 500
_OTHER_DELIMITERS = frozenset(";|\t")


def is_position(column: Column) -> bool:
    """Whether a column is chosen by its position."""
    return isinstance(column, int) and not isinstance(column, bool)


def by_position(columns: Sequence[Column]) -> bool:
    """Whether columns are chosen by position; names and positions together are refused, and so is 0."""
    positions = [column for column in columns if is_position(column)]
    if positions and len(positions) < len(columns):
        raise InputError(
            f"the columns mix names and positions: {written(columns)}; give only names or only positions"
        )
    for position in positions:
        if int(position) < 1:
            raise InputError(f"{position} is not the position of a column; positions count from 1")
    return bool(positions)


def check_different(columns: Sequence[Column]) -> None:
    """Refuse a column that comes twice."""
    if len(set(columns)) < len(columns):
        raise InputError(f"one column can't be used twice: {written(columns)}; name different columns")


def place_of(column: Column, found: Sequence[str], origin: str, way: str = NAME_THE_COLUMN) -> int:
    """Where a column is among those found, from 0; one that is missing, or there twice, is refused."""
    if is_position(column):
        if int(column) > len(found):
            raise InputError(
                f"{origin} has {count(len(found), 'column')}, but column {column} is asked for; check the "
                f"position and the delimiter"
            )
        return int(column) - 1
    places = [place for place, name in enumerate(found) if name == column]
    if len(places) == 1:
        return places[0]
    raise InputError(_twice(column, places, origin) if places else _missing(str(column), found, origin, way))


def _twice(column: Column, places: Sequence[int], origin: str) -> str:
    positions = ", ".join(str(place + 1) for place in places)
    return f"{origin} has more than one column {column!r}, at {positions}; give positions instead of names"


def _missing(column: str, found: Sequence[str], origin: str, way: str) -> str:
    near = meant(column, found, repr)
    way = f"{near}Otherwise {way}" if near else way
    if len(found) == 1 and _OTHER_DELIMITERS & set(found[0]):
        way = CHECK_THE_DELIMITER
    return f"{origin} has no column {column!r}; its columns are {listed(found)}: {way}"


def listed(found: Sequence[str]) -> str:
    """The names of columns as an error shows them: as they are written in one text, the first of many."""
    if not found:
        return "none"
    shown = visible(", ".join(_quoted(name) for name in found[:_MOST_SHOWN]))
    return shown[:_LONGEST_SHOWN] + (", …" if len(found) > _MOST_SHOWN or len(shown) > _LONGEST_SHOWN else "")


def written(columns: Sequence[Column]) -> str:
    """Columns in one text, as `split` reads it."""
    return ",".join(str(column) if is_position(column) else _quoted(str(column)) for column in columns)


def _quoted(name: str) -> str:
    """A name, in double quotes where it could not be told otherwise."""
    plain = name and not name.isdecimal() and name == name.strip() and not set(name) & set(',"')
    return name if plain else '"' + name.replace('"', '""') + '"'


_PART = re.compile(r'(?:"((?:[^"]|"")*)"|([^,"][^,]*))(,|$)')


def split(text: str) -> list[Column]:
    """The columns of a text such as `user,item`, `1,2` or `"last, first",item`.

    A name in double quotes, as in CSV files, may have commas in it, be empty or be a number; a quote in it is
    doubled. A number without quotes is a position. Raises ValueError where the text is not of this form.
    """
    columns: list[Column] = []
    at, more = 0, True
    while more:
        part = _PART.match(text, at)
        if part is None:
            raise ValueError(text)
        name = part[2] if part[1] is None else part[1].replace('""', '"')
        is_number = part[1] is None and name.isascii() and name.isdecimal()
        columns.append(int(name) if is_number else name)
        at, more = part.end(), part[3] == ","
    return columns
