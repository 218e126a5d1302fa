"""Locks on folders, against a second writer on the same machine."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from meshwright.errors import DatasetError
from meshwright.runtime.durable_files import make_folder


@contextmanager
def locked_folder(folder: Path, busy: str) -> Iterator[int]:
    """Lock a folder, made if need be, until the end; gives its descriptor, or says `busy` if another has it.

    The folder itself is locked, so that a kill leaves nothing behind. The lock holds between processes that
    ask for it, on this machine and, where the file system passes locks on, between machines.
    """
    while True:
        make_folder(folder)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            _lock(descriptor, busy)
            if _is_still(folder, descriptor):
                yield descriptor
                return
        finally:
            os.close(descriptor)


def _lock(descriptor: int, busy: str) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise DatasetError(busy) from None


def _is_still(folder: Path, descriptor: int) -> bool:
    """Whether the path leads to the folder that was locked: another may have removed it in between."""
    try:
        return os.path.samestat(os.stat(folder), os.fstat(descriptor))
    except FileNotFoundError:
        return False
