"""The audit log: who asked for which change, on disk before the change is made, and what came of it."""

import getpass
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from meshwright.model.storage.dataset import writing
from meshwright.runtime.json_values import compact
from meshwright.runtime.owned import is_plain


class Who(NamedTuple):
    """Whoever asks: the id and name of a token, and an address."""

    token: str
    name: str
    address: str


class AuditLog:
    """A file of JSON lines that is only appended to.

    It is opened for each line, so that it may be moved away at any time; a new one begins then.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, line: Mapping[str, Any], *, sync: bool = False) -> None:
        """Append a line with the present time; with `sync` it is on disk when this returns."""
        told = {"time": round(time.time(), 3), **line}
        with writing(self._path):
            is_plain(self._path)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
            file = os.open(self._path, flags, 0o600)
            try:
                _write_whole(file, compact(told).encode("utf-8") + b"\n")
                if sync:
                    os.fdatasync(file)
            finally:
                os.close(file)


def note_command(path: Path, what: str) -> None:
    """Note what somebody did by a command on this machine."""
    AuditLog(path).write({**Who("", _user(), "this machine")._asdict(), "did": what}, sync=True)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run as a number without a name
        return str(os.getuid())


def _write_whole(file: int, data: bytes) -> None:
    """Append a line, or nothing of it: a full disk leaves no half of one."""
    size = os.fstat(file).st_size
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(file, rest) :]
    except OSError:
        os.ftruncate(file, size)
        raise
