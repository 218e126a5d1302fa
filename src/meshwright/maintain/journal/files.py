"""The files of a journal: which are ours, writing and reading snapshots, and removing old files.

A generation is a snapshot and the log of the steps after it, `00000007.snapshot` and `00000007.log`. The
generation with the greatest number counts; its snapshot includes all steps before it. `head` says how far the
journal reaches. A file is removed only if its first bytes show that it is ours.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from meshwright.maintain.journal import head
from meshwright.maintain.journal.sealed_lines import link_of, sealed, unsealed
from meshwright.model.reading.files import reading
from meshwright.model.storage.dataset import writing
from meshwright.runtime.atomic_files import PARTIAL, locked_folder, renaming, sync_folder, write_new
from meshwright.runtime.errors import DatasetError
from meshwright.runtime.owned import is_plain, not_ours, read_plain

_LONGEST_MARK = 1 << 16


def clear(path: Path, is_ours: Callable[[bytes], bool]) -> None:
    """Remove a file if its first bytes show that it is ours; otherwise refuse."""
    if not is_plain(path):
        return
    if not is_ours(read_plain(path, _LONGEST_MARK)):
        raise not_ours(path, "since it lacks the mark of a journal")
    os.unlink(path)


def remove_ours(path: Path, is_ours: Callable[[bytes], bool]) -> None:
    """Remove a file if it is ours and can be removed; otherwise leave it."""
    with suppress(DatasetError, OSError):
        clear(path, is_ours)


def is_sealed(start: bytes) -> bool:
    """Whether a file is empty, or begins with a sealed line."""
    line, end, _ = start.partition(b"\n")
    return not start or (bool(end) and unsealed(line) is not None)


def is_begun(start: bytes) -> bool:
    """Whether a file may begin with a sealed line, even a cut one, or with zeros left by a loss of power."""
    if not start.strip(b"\0"):
        return True
    head = start[:11]
    digits = all(byte in b"0123456789abcdef" for byte in head[:8])
    return digits and b' {"'.startswith(head[8:])


FORMAT = 2
UNCHAINED = 1
"""The format of journals without a head, whose records have no hash of those before them."""

_SNAPSHOT, _LOG = ".snapshot", ".log"
_NUMBER = "([0-9]{8}|[1-9][0-9]{8,})"
_OURS = re.compile(_NUMBER + r"(\.snapshot|\.log)")
_PARTIAL = re.compile(r"\.(" + _NUMBER + r"\.snapshot|head)" + PARTIAL)
_ASIDE = re.compile(r"lost-[0-9]{4,}")


class Snapshot(NamedTuple):
    """The content of a snapshot, and the hash that the first record after it repeats."""

    header: Mapping[str, Any]
    data: bytes
    chain: str


@contextmanager
def alone_in(folder: Path) -> Iterator[int]:
    """Lock a folder, created if it does not exist, against other processes; yields its descriptor."""
    busy = f"{folder} is in use by another process; a journal has one writer: end that process first"
    with ExitStack() as opened:
        with writing(folder):
            descriptor = opened.enter_context(locked_folder(folder, busy))
        yield descriptor


def generations(folder: Path, suffix: str = _SNAPSHOT) -> list[int]:
    """The numbers of the snapshots, or logs, in a folder, greatest first; symbolic links are refused."""
    with reading(folder, DatasetError):
        found = [_OURS.fullmatch(path.name) for path in folder.iterdir()]
        numbers = [int(match[1]) for match in found if match and match[2] == suffix]
        for number in numbers:
            is_plain(folder / f"{number:08d}{suffix}")
    return sorted(numbers, reverse=True)


def greatest_number(folder: Path) -> int:
    """The greatest number that a snapshot or a log has; -1 where there is none."""
    return max([*generations(folder), *generations(folder, _LOG), -1])


def check_folder(folder: Path) -> None:
    """Refuse a folder that has files but no journal."""
    with reading(folder, DatasetError):
        strangers = sorted(path.name for path in folder.iterdir() if _is_strange(path))
        is_journal = is_plain(folder / head.NAME) or generations(folder)
    if strangers and not is_journal:
        raise DatasetError(
            f"{folder} is not a journal and already holds {strangers[0]}; "
            f"choose another folder for a new journal"
        )


def _is_strange(path: Path) -> bool:
    """Whether a file does not belong to a journal; hidden files and folders do not count."""
    if path.name.startswith(".") or (path.is_dir() and not path.is_symlink()):
        return False
    return not _OURS.fullmatch(path.name) or not is_sealed(read_plain(path))


def snapshot_path(folder: Path, generation: int) -> Path:
    """Where the snapshot of a generation is."""
    return folder / f"{generation:08d}{_SNAPSHOT}"


def log_path(folder: Path, generation: int) -> Path:
    """Where the log of a generation is."""
    return folder / f"{generation:08d}{_LOG}"


def remove_others(folder: Path, generation: int) -> None:
    """Remove our files of earlier generations, and of one that was never finished."""
    for path in sorted(folder.iterdir()):
        ours = _OURS.fullmatch(path.name)
        if ours and int(ours[1]) != generation:
            remove_ours(path, is_sealed)
        elif _PARTIAL.fullmatch(path.name):
            remove_ours(path, is_begun)


def write_snapshot(path: Path, header: Mapping[str, Any], data: bytes) -> tuple[int, str]:
    """Write a snapshot whose bytes are on disk before it gets its name; or raise and leave nothing.

    Returns the checksum of the data, and the hash that the first record of the log repeats. The name is on
    disk after `sync_names`.
    """
    checksum = crc32(data)
    line = sealed({**header, "bytes": len(data), "checksum": checksum})
    with writing(path):
        clear(path, is_sealed)
        with renaming(path) as partial:
            write_new(partial, line + data)
    return checksum, link_of(line)


def sync_names(folder: Path, descriptor: int) -> None:
    """Force the names of the files in a folder to disk."""
    with writing(folder):
        os.fsync(descriptor)


def read_snapshot(path: Path) -> Snapshot | None:
    """Read a snapshot; None if it is damaged. One of another format is refused."""
    with reading(path, DatasetError):
        line, end, data = read_plain(path).partition(b"\n")
    header = unsealed(line)
    if header is None or header.get("bytes") != len(data) or header.get("checksum") != crc32(data):
        return None
    if header.get("format") not in (FORMAT, UNCHAINED):
        found = header.get("format")
        raise DatasetError(f"{path} has format {found!r}; this Meshwright reads formats up to {FORMAT}")
    return Snapshot(header, data, link_of(line + end))


def set_aside(folder: Path) -> Path:
    """Copy all files of a journal to a new folder inside its own; on disk when this returns."""
    with writing(folder):
        aside = new_aside(folder)
        for path in sorted(folder.iterdir()):
            if (_OURS.fullmatch(path.name) or path.name == head.NAME) and is_plain(path):
                write_new(aside / path.name, read_plain(path))
        sync_folder(aside)
        sync_folder(folder)
    return aside


def new_aside(folder: Path) -> Path:
    """Create a folder for what is given up: `lost-0001`, or the next number."""
    taken = [int(path.name[5:]) for path in folder.iterdir() if _ASIDE.fullmatch(path.name)]
    aside = folder / f"lost-{max(taken, default=0) + 1:04d}"
    os.mkdir(aside)
    return aside
