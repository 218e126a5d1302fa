"""The log of a journal: one line of JSON per step, chained by the hash of the line before."""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple
from zlib import crc32

from meshwright.maintain.journal import files
from meshwright.maintain.journal.sealed_lines import link_of, unsealed
from meshwright.maintain.repairs import Link, Relink, Repair, Step
from meshwright.model.events import as_row, from_row
from meshwright.model.storage.dataset import writing
from meshwright.runtime.atomic_files import create, write_all
from meshwright.runtime.errors import DatasetError, InputError
from meshwright.runtime.json_values import compact
from meshwright.runtime.owned import open_plain


def step_row(step: Step) -> dict[str, Any]:
    """A step in JSON's types."""
    if step.relink is None:
        lenient = {"lenient": True} if step.lenient else {}
        return {"events": [as_row(event) for event in step.events], **lenient}
    return {"relink": list(step.relink)}


def revisions_of(row: Mapping[str, Any]) -> int:
    """By how much the step of a row raises the revision: one per event, or one for a relink."""
    return len(row.get("events", ())) or 1


def step_of(row: Mapping[str, Any]) -> Step:
    """The step of a row; a row that is no step is refused."""
    try:
        if "relink" in row:
            add, remove, most_removed = row["relink"]
            return Step(relink=Relink(_links(add), _links(remove), most_removed))
        events = (from_row(event, f"event {at}") for at, event in enumerate(row["events"], 1))
        return Step(tuple(events), row.get("lenient", False))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{row!r} is not a step: {error}") from None


def _links(rows: Iterable[Any]) -> tuple[Link, ...]:
    return tuple((a, b) for a, b in rows)


def digest(repair: Repair) -> int:
    """A checksum of the links that a repair added and removed, and of how many events were refused."""
    return crc32(compact([repair.added, repair.removed, len(repair.refused)]).encode())


class Mark(NamedTuple):
    """The end of a line: the bytes up to there, and the hash of all of them that the next line repeats."""

    size: int
    chain: str | None


class LogContents(NamedTuple):
    """The content of a log.

    Attributes:
        rows: its lines, up to the first that is damaged or out of place.
        marks: the beginning of the log, and the end of each row.
        rest: the number of bytes after the last row.
        whole_after: the number of intact lines among these bytes.
    """

    rows: list[dict[str, Any]]
    marks: list[Mark]
    rest: int
    whole_after: int

    @property
    def size(self) -> int:
        """The bytes of all rows."""
        return self.marks[-1].size


def read_log(data: bytes, chain: str | None) -> LogContents:
    """Read a log that continues from `chain`; without one, as in old journals, only checksums count."""
    rows, marks, at = [], [Mark(0, chain)], 0
    while (end := data.find(b"\n", at)) >= 0:
        row = unsealed(data[at:end])
        if row is None or (chain is not None and row.get("before") != chain):
            break
        chain = None if chain is None else link_of(data[at : end + 1])
        rows.append(row)
        at = end + 1
        marks.append(Mark(at, chain))
    whole = sum(unsealed(line) is not None for line in data[at:].split(b"\n")[:-1])
    return LogContents(rows, marks, len(data) - at, whole)


class Log:
    """A log to append to. What `append` has returned from is in the file; `sync` forces it to disk.

    Whatever fails, the file keeps all rows appended before, and the remains of a failed append are cut off
    before the next one. After a failed `sync` it is unknown what is on disk, and the log stays `unsure`.
    """

    def __init__(self, path: Path, file: int, size: int) -> None:
        self.size = size
        self.unsure = False
        self._path, self._lock = path, Lock()
        self._file: int | None = file
        self._is_clean = True

    @classmethod
    def new(cls, path: Path) -> "Log":
        """Create an empty log, in place of one that was never used."""
        with writing(path):
            files.clear(path, lambda start: not start)
            return cls(path, create(path), 0)

    @classmethod
    def cut_at(cls, path: Path, size: int) -> "Log":
        """Open an existing log and cut off everything after its first `size` bytes."""
        with writing(path):
            log = cls(path, open_plain(path, os.O_WRONLY), size)
            if os.lstat(path).st_size != size:
                log.cut(size)
            return log

    def append(self, line: bytes) -> None:
        """Write a row at the end."""
        with writing(self._path):
            if self._file is None:
                raise DatasetError(f"{self._path} is closed; open the journal again")
            if not self._is_clean:
                os.ftruncate(self._file, self.size)
            self._is_clean = False
            write_all(self._file, line, self.size)
            self.size += len(line)
            self._is_clean = True

    def cut(self, size: int) -> None:
        """Cut off all after the first `size` bytes: at once if possible, else before the next append."""
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
        """Close the file."""
        with self._lock:
            if self._file is not None:
                os.close(self._file)
                self._file = None

    def discard(self) -> None:
        """Close and remove a log that was never used."""
        self.close()
        files.remove_ours(self._path, lambda start: not start)
