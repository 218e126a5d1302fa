"""The files of a journal: lines of JSON with a checksum each, and snapshots that appear when they are whole.

A generation is a snapshot and the log of what came after it, `00000007.snapshot` and `00000007.log`. The
generation with the greatest number counts; its snapshot holds all that came before.
"""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple
from zlib import crc32

from meshwright.errors import DatasetError
from meshwright.model.dataset import writing
from meshwright.model.files import reading
from meshwright.model.plain import compact

FORMAT = 1
_SNAPSHOT, _LOG, _PARTIAL = ".snapshot", ".log", ".partial"


class Contents(NamedTuple):
    """What a log holds: its complete rows, their bytes, and the bytes of what was cut off after them."""

    rows: list[dict[str, Any]]
    size: int
    torn: int


@contextmanager
def locked_folder(folder: Path) -> Iterator[int]:
    """The descriptor of a folder, made if need be, that no other process holds; locked until the end."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise DatasetError(
                f"{folder} is in use by another process; a journal has one writer: end that one first"
            ) from None
        yield descriptor
    finally:
        os.close(descriptor)


def last_generation(folder: Path) -> int | None:
    """The number of the generation that counts; None where there is no journal yet."""
    with reading(folder, DatasetError):
        found = [path for path in folder.iterdir() if not path.name.startswith(".") and path.is_file()]
        snapshots = [int(path.stem) for path in found if path.suffix == _SNAPSHOT and path.stem.isdecimal()]
        others = [path.name for path in found if path.suffix != _LOG or path.stat().st_size]
    if not snapshots and others:
        raise DatasetError(
            f"{folder} holds {others[0]} and no snapshot of a journal; choose another folder for a new one"
        )
    return max(snapshots, default=None)


def snapshot_path(folder: Path, generation: int) -> Path:
    """Where the snapshot of a generation is."""
    return folder / f"{generation:08d}{_SNAPSHOT}"


def log_path(folder: Path, generation: int) -> Path:
    """Where the log of a generation is."""
    return folder / f"{generation:08d}{_LOG}"


def remove_others(folder: Path, generation: int) -> None:
    """Remove what earlier generations, and one that never came to be, have left."""
    for path in folder.iterdir():
        ours = path.suffix in (_SNAPSHOT, _LOG) and path.stem.isdecimal()
        if (ours and int(path.stem) != generation) or path.suffix == _PARTIAL:
            with suppress(OSError):
                path.unlink()


def sealed(row: Mapping[str, Any]) -> bytes:
    """A row as a line: a checksum, a blank, and JSON."""
    text = compact(row).encode()
    return b"%08x %b\n" % (crc32(text), text)


def unsealed(line: bytes) -> dict[str, Any] | None:
    """The row of a line without its end; None where the checksum does not fit."""
    if line[:9] != b"%08x " % crc32(line[9:]):
        return None
    row: dict[str, Any] = json.loads(line[9:])
    return row


def write_snapshot(path: Path, header: Mapping[str, Any], data: bytes) -> int:
    """Write a snapshot whose bytes are on disk before it gets its name; or raise and leave nothing.

    Gives the checksum of the data. That the name is on disk as well takes `sync_folder`.
    """
    partial = path.with_name(f".{path.name}{_PARTIAL}")
    checksum = crc32(data)
    try:
        with writing(path):
            with partial.open("wb") as stream:
                stream.write(sealed({**header, "bytes": len(data), "checksum": checksum}))
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            partial.rename(path)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
    return checksum


def sync_folder(folder: Path, descriptor: int) -> None:
    """Force the names of the files in a folder to disk."""
    with writing(folder):
        os.fsync(descriptor)


def read_snapshot(path: Path) -> tuple[dict[str, Any], bytes]:
    """The header and the data of a snapshot; a damaged one is refused."""
    with reading(path, DatasetError):
        head, _, data = path.read_bytes().partition(b"\n")
    header = unsealed(head)
    if header is None or header.get("bytes") != len(data) or header.get("checksum") != crc32(data):
        raise DatasetError(f"{path} is damaged, and what it held can't be told; restore it from a copy")
    if header.get("format") != FORMAT:
        raise DatasetError(f"{path} has format {header.get('format')!r}; this Meshwright reads {FORMAT}")
    return header, data


def read_log(path: Path) -> Contents:
    """The rows of a log up to the first that is not complete, which must be the last."""
    with reading(path, DatasetError):
        data = path.read_bytes()
    rows, at = [], 0
    while (end := data.find(b"\n", at)) >= 0:
        row = unsealed(data[at:end])
        if row is None:
            break
        rows.append(row)
        at = end + 1
    if any(unsealed(line) is not None for line in data[at:].split(b"\n")[:-1]):
        raise DatasetError(
            f"{path} is damaged at byte {at}, before records that are whole; restore it from a copy, or cut "
            f"it there to give up all after revision {rows[-1].get('revision', 0) if rows else 0}"
        )
    return Contents(rows, at, len(data) - at)


class Log:
    """A log to append to. What `append` has returned from is in the file; `sync` forces it to disk.

    Whatever goes wrong, the file holds all rows appended before, and what a failed append has left is cut off
    before the next. After a failed `sync` nobody knows what is on disk, and the log is `unsure` for good.
    """

    def __init__(self, path: Path, size: int) -> None:
        self.size = size
        self.unsure = False
        self._path, self._lock = path, Lock()
        with writing(path):
            self._file: int | None = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
            self._is_clean = os.fstat(self._file).st_size == size

    def append(self, line: bytes) -> None:
        """Write a row at the end."""
        with writing(self._path):
            if self._file is None:
                raise DatasetError(f"{self._path} is closed; open the journal again")
            if not self._is_clean:
                os.ftruncate(self._file, self.size)
            self._is_clean = False
            _write_all(self._file, line, self.size)
            self.size += len(line)
            self._is_clean = True

    def cut(self, size: int) -> None:
        """Forget all but the first bytes: at once if that can be done, else before the next append."""
        self._is_clean = False
        self.size = size
        with suppress(OSError):
            if self._file is not None:
                os.ftruncate(self._file, size)

    def sync(self) -> None:
        """Force what was appended to disk; may be called on another thread, also after `close`."""
        with self._lock, writing(self._path):
            try:
                if self._file is not None:
                    os.fdatasync(self._file)
            except OSError:
                self.unsure = True
                raise

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            if self._file is not None:
                os.close(self._file)
                self._file = None


def _write_all(file: int, data: bytes, at: int) -> None:
    rest = memoryview(data)
    while rest:
        count = os.pwrite(file, rest, at)
        rest, at = rest[count:], at + count
