"""What a column must be: names and types of the tables on disk and of attributes."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import pyarrow as pa

from meshwright.model.names import is_text
from meshwright.runtime.errors import DatasetError, InputError, visible


class Wanted(NamedTuple):
    """A legal type: its name in errors, and the test. Arrow's flavours of a string or a list all do."""

    label: str
    holds: Callable[[pa.DataType], bool]


def list_of(label: str, holds: Callable[[pa.DataType], bool]) -> Wanted:
    """Lists of what `holds`."""

    def is_list(kind: pa.DataType) -> bool:
        return (pa.types.is_list(kind) or pa.types.is_large_list(kind)) and holds(kind.value_type)

    return Wanted(f"list<{label}>", is_list)


STRING = Wanted("string", is_text)
INT32 = Wanted("int32", pa.types.is_int32)
INTEGER = Wanted("an integer type", pa.types.is_integer)
DOUBLE = Wanted("double", pa.types.is_float64)
LIST_OF_STRINGS = list_of("string", lambda kind: is_text(kind) or pa.types.is_null(kind))
LIST_OF_INT32 = list_of("int32", pa.types.is_int32)


def check_types(
    schema: pa.Schema,
    wanted: Mapping[str, Wanted],
    origin: str,
    error: type[InputError] | type[DatasetError],
    optional: frozenset[str] = frozenset(),
) -> None:
    """Refuse a schema in which a wanted column is missing, comes twice or has another type."""
    for column, kind in wanted.items():
        count = schema.names.count(column)
        if count == 0 and column in optional:
            continue
        if count != 1:
            fault = f"has {count} columns" if count else "has no column"
            there = visible(", ".join(schema.names)) or "none"
            raise error(f"{origin} {fault} {column!r}; its columns are {there}")
        got = schema.field(column).type
        if not kind.holds(got):
            raise error(f"{origin}: column {column!r} is {got}, but must be {kind.label}; cast it")
