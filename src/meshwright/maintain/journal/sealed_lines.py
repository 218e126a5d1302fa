"""Lines with a checksum: a CRC-32 in eight hexadecimal digits, a blank, and JSON."""

import json
from collections.abc import Mapping
from typing import Any
from zlib import crc32

import xxhash

from meshwright.runtime.json_values import compact


def sealed(row: Mapping[str, Any]) -> bytes:
    """A row as a line."""
    return sealed_text(compact(row).encode())


def sealed_text(text: bytes) -> bytes:
    """A text of JSON as a line."""
    return b"%08x %b\n" % (crc32(text), text)


def unsealed(line: bytes) -> dict[str, Any] | None:
    """The row of a line without its newline; None if the checksum is wrong, or it is no row."""
    if line[:9] != b"%08x " % crc32(line[9:]):
        return None
    try:
        row = json.loads(line[9:])
    except ValueError:
        return None
    return row if isinstance(row, dict) else None


def link_of(line: bytes) -> str:
    """The hash of a line that the next one repeats; so it stands for all lines before as well."""
    return xxhash.xxh3_64_hexdigest(line)
