"""The ledger of a table that grows by files: the size and checksum of each, noted before it appears.

`_parts.jsonl` in the folder of the table has a sealed line for each file that was written or removed. By it a
file is known to be damaged, replaced, missing, or not ours. The last line may be cut off: then its file was
never finished.
"""

import os
import re
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import xxhash

from meshwright.maintain.journal.files import clear, is_sealed
from meshwright.maintain.journal.sealed_lines import sealed, unsealed
from meshwright.model.reading.files import reading
from meshwright.runtime.atomic_files import sync_folder, write_all, write_new
from meshwright.runtime.errors import DatasetError, MeshwrightWarning
from meshwright.runtime.owned import is_plain, open_plain, read_plain


class Problem(NamedTuple):
    """A file, and what is wrong with it, phrased as a predicate: `is missing`."""

    file: Path
    what: str

    def error(self) -> DatasetError:
        """The problem as an error."""
        return DatasetError(f"{self.file} {self.what}; restore it from a backup")


NAME = "_parts.jsonl"
MARK = {b"meshwright": b"1"}
"""The metadata that marks a file as ours."""

_LONGEST_LINE = 4096
_FILE = re.compile(r"(part-[0-9]{12}-[0-9]{12}|batch-[0-9]{12})\.parquet")


class Entry(NamedTuple):
    """A file as it was written."""

    file: str
    size: int
    xxh3: str


def entry_of(name: str, data: bytes) -> Entry:
    """The entry of a file with this content."""
    return Entry(name, len(data), xxhash.xxh3_64_hexdigest(data))


def is_marked(data: bytes) -> bool:
    """Whether this is a Parquet file of ours."""
    try:
        metadata = pq.read_schema(pa.BufferReader(data)).metadata or {}
    except (pa.ArrowException, OSError):
        return False
    return all(metadata.get(key) == value for key, value in MARK.items())


def note(table: Path, entries: Iterable[Entry] = (), gone: Iterable[str] = ()) -> None:
    """Note files that are added or gone; on disk when this returns. A line that was cut off is replaced."""
    path = table / NAME
    is_new = not is_plain(path)
    file = open_plain(path, os.O_RDWR | os.O_CREAT)
    try:
        rows = [*(entry._asdict() for entry in entries), *({"file": name, "gone": True} for name in gone)]
        size = os.fstat(file).st_size
        end = _whole_end(file, size)
        if end < size:
            os.ftruncate(file, end)
        write_all(file, b"".join(map(sealed, rows)), end)
        os.fsync(file)
    finally:
        os.close(file)
    if is_new:
        sync_folder(table)


def _whole_end(file: int, size: int) -> int:
    """The end of the last line, or its start if it is not complete."""
    start = max(0, size - _LONGEST_LINE)
    tail = os.pread(file, size - start, start)
    lines = tail.split(b"\n")
    rest = lines.pop()
    if not rest and lines and unsealed(lines[-1]) is None and len(lines[-1]) < len(tail) - 1:
        rest = lines[-1] + b"\n"
    return size - len(rest)


def read_ledger(table: Path) -> dict[str, Entry] | None:
    """The files that should be there, by name; None without a ledger. A damaged ledger is refused."""
    path = table / NAME
    with reading(path, DatasetError):
        if not is_plain(path):
            return None
        lines = read_plain(path).removesuffix(b"\n").split(b"\n")
    found: dict[str, Entry] = {}
    for at, line in enumerate(lines, 1):
        row = unsealed(line)
        if row is None:
            if at < len(lines):
                raise Problem(path, f"is damaged in line {at:,}").error()
        elif row.get("gone"):
            found.pop(row["file"], None)
        else:
            found[row["file"]] = Entry(row["file"], row["size"], row["xxh3"])
    return found


def files_of(table: Path) -> list[Path]:
    """The files of a table that have names of ours, sorted; a symbolic link among them is refused."""
    if not table.is_dir():
        return []
    return [path for path in sorted(table.iterdir()) if _FILE.fullmatch(path.name) and is_plain(path)]


def checked_files(table: Path, unfinished: Iterable[str] = ()) -> Iterator[tuple[Path, bytes] | Problem]:
    """Read each file of a table once; yields its content, or what is wrong with it.

    A file that is noted and missing is a problem, unless it is among the `unfinished`.
    """
    entries, files = read_ledger(table), files_of(table)
    if entries is None:
        yield from _unlisted(table, files)
        return
    for path in files:
        with reading(path, DatasetError):
            data = read_plain(path)
        entry = entries.pop(path.name, None)
        if entry is None:
            yield Problem(path, f"is not among the files that {NAME} lists")
        elif entry != entry_of(path.name, data):
            yield Problem(path, f"is damaged: its size or checksum differs from that in {NAME}")
        else:
            yield path, data
    for name in sorted(entries.keys() - set(unfinished)):
        yield Problem(table / name, f"is missing, although {NAME} lists it")


def _unlisted(table: Path, files: list[Path]) -> Iterator[tuple[Path, bytes] | Problem]:
    """The files of an earlier Meshwright, which kept no ledger; a marked file means that one is lost."""
    found = [(path, read_plain(path)) for path in files]
    if any(is_marked(data) for _, data in found):
        yield Problem(table / NAME, "is missing, so the files beside it can't be checked")
        return
    if found:
        warnings.warn(
            f"{table} was written by an earlier Meshwright, without checksums",
            MeshwrightWarning,
            stacklevel=3,
        )
    yield from found


def adopt(table: Path) -> None:
    """Start a ledger with the present files, which an earlier Meshwright wrote."""
    found = list(checked_files(table))
    for one in found:
        if isinstance(one, Problem):
            raise one.error()
    note(table, [entry_of(one[0].name, one[1]) for one in found if not isinstance(one, Problem)])


def copy_parts(table: Path, target: Path) -> None:
    """Copy the files of a table, and no others, to a new folder."""
    os.mkdir(target)
    for path in files_of(table):
        write_new(target / path.name, read_plain(path))
    sync_folder(target)


def drop_ledger(table: Path) -> None:
    """Remove the ledger of a table whose files are listed elsewhere from now on."""
    clear(table / NAME, is_sealed)
