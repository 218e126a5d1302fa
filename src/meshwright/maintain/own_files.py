"""Which files in the folders of journals and recordings are ours, by how they begin, and removing them."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from meshwright.errors import DatasetError
from meshwright.maintain.sealed_lines import unsealed
from meshwright.runtime.owned import is_plain, not_ours, read_plain

_LONGEST_MARK = 1 << 16


def clear(path: Path, is_ours: Callable[[bytes], bool]) -> None:
    """Make room for a file: remove what is there if its first bytes say that it is ours, else refuse."""
    if not is_plain(path):
        return
    if not is_ours(read_plain(path, _LONGEST_MARK)):
        raise not_ours(path, "since it bears no mark of ours")
    os.unlink(path)


def remove_ours(path: Path, is_ours: Callable[[bytes], bool]) -> None:
    """Remove a file if it is ours; what is not stays, and so does what can't be removed."""
    with suppress(DatasetError, OSError):
        clear(path, is_ours)


def is_sealed(start: bytes) -> bool:
    """Whether a file is empty, or begins with a sealed line."""
    line, end, _ = start.partition(b"\n")
    return not start or (bool(end) and unsealed(line) is not None)


def is_begun(start: bytes) -> bool:
    """Whether a file may be one that began with a sealed line, or with zeros that a loss of power left."""
    if not start.strip(b"\0"):
        return True
    head = start[:11]
    digits = all(byte in b"0123456789abcdef" for byte in head[:8])
    return digits and b' {"'.startswith(head[8:])
