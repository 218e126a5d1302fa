"""Attributes: what else is known about nodes and topics, a row for each id."""

import pyarrow as pa

from meshwright.errors import InputError
from meshwright.model.schema import DOUBLE, INTEGER, STRING, Wanted, check_types

NODE_ATTRIBUTES = {
    "site": STRING,
    "lat": DOUBLE,
    "lon": DOUBLE,
    "host": STRING,
    "port": INTEGER,
    "max_links": INTEGER,
}
TOPIC_ATTRIBUTES = {"rate": DOUBLE}

_TAKEN = ("id", "name")


def checked_attributes(
    table: pa.Table | None, count: int, known: dict[str, Wanted], what: str
) -> pa.Table | None:
    """The attributes of `count` nodes or topics without foreign metadata, or None when there are none.

    Columns that we know must have their type; others are kept as they are.
    """
    if table is None or not table.column_names:
        return None
    origin = f"the table of {what} attributes"
    if table.num_rows != count:
        raise InputError(f"{origin} has {table.num_rows:,} rows for {count:,} {what}s; give one for each id")
    repeated = [name for name in table.column_names if table.column_names.count(name) > 1 or name in _TAKEN]
    if repeated:
        raise InputError(
            f"{origin} can't have a column {repeated[0]!r}: it comes twice or is taken; rename it"
        )
    check_types(table.schema, known, origin, InputError, optional=frozenset(known))
    return table.replace_schema_metadata(None)


def same_table(one: pa.Table | None, other: pa.Table | None) -> bool:
    """Whether both are missing, or hold the same columns and values."""
    if one is None or other is None:
        return one is other
    return bool(one.equals(other))
