"""The files of a journal: logs, and snapshots that appear when they are whole.

A generation is a snapshot and the log of what came after it, `00000007.snapshot` and `00000007.log`. The
generation with the greatest number counts; its snapshot holds all that came before. `head` tells how far the
journal is known to reach.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from meshwright.errors import DatasetError
from meshwright.maintain import head, own_files
from meshwright.maintain.sealed_lines import link_of, sealed, unsealed
from meshwright.model.dataset import writing
from meshwright.model.files import reading
from meshwright.runtime.durable_files import PARTIAL, partial_of, sync_folder, write_new
from meshwright.runtime.locks import locked_folder
from meshwright.runtime.owned import is_plain, read_plain

FORMAT = 2
UNCHAINED = 1
"""The format of journals without a head, whose records don't know each other."""

_SNAPSHOT, _LOG = ".snapshot", ".log"
_NUMBER = "([0-9]{8}|[1-9][0-9]{8,})"
_OURS = re.compile(_NUMBER + r"(\.snapshot|\.log)")
_PARTIAL = re.compile(r"\.(" + _NUMBER + r"\.snapshot|head)" + PARTIAL)
_ASIDE = re.compile(r"lost-[0-9]{4,}")


class Snapshot(NamedTuple):
    """What a snapshot holds, and what the first record after it says of it."""

    header: Mapping[str, Any]
    data: bytes
    chain: str


@contextmanager
def alone_in(folder: Path) -> Iterator[int]:
    """The descriptor of a folder, made if need be, that no other process holds; locked until the end."""
    busy = f"{folder} is in use by another process; a journal has one writer: end that one first"
    with ExitStack() as opened:
        with writing(folder):
            descriptor = opened.enter_context(locked_folder(folder, busy))
        yield descriptor


def generations(folder: Path, suffix: str = _SNAPSHOT) -> list[int]:
    """The numbers of the snapshots in a folder, greatest first; a link in the place of a file is refused."""
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
    """Refuse a folder that holds files and no journal."""
    with reading(folder, DatasetError):
        strangers = sorted(path.name for path in folder.iterdir() if _is_strange(path))
        is_journal = is_plain(folder / head.NAME) or generations(folder)
    if strangers and not is_journal:
        raise DatasetError(
            f"{folder} holds {strangers[0]} and no snapshot of a journal; choose another folder for a new one"
        )


def _is_strange(path: Path) -> bool:
    """Whether a file, hidden ones and folders aside, is none of a journal."""
    if path.name.startswith(".") or (path.is_dir() and not path.is_symlink()):
        return False
    return not _OURS.fullmatch(path.name) or not own_files.is_sealed(read_plain(path))


def snapshot_path(folder: Path, generation: int) -> Path:
    """Where the snapshot of a generation is."""
    return folder / f"{generation:08d}{_SNAPSHOT}"


def log_path(folder: Path, generation: int) -> Path:
    """Where the log of a generation is."""
    return folder / f"{generation:08d}{_LOG}"


def remove_others(folder: Path, generation: int) -> None:
    """Remove what earlier generations, and one that never came to be, have left: files of ours alone."""
    for path in sorted(folder.iterdir()):
        ours = _OURS.fullmatch(path.name)
        if ours and int(ours[1]) != generation:
            own_files.remove_ours(path, own_files.is_sealed)
        elif _PARTIAL.fullmatch(path.name):
            own_files.remove_ours(path, own_files.is_begun)


def write_snapshot(path: Path, header: Mapping[str, Any], data: bytes) -> tuple[int, str]:
    """Write a snapshot whose bytes are on disk before it gets its name; or raise and leave nothing.

    Gives the checksum of the data, and what the first record of the log says of the snapshot. That the name
    is on disk as well takes `sync_names`.
    """
    partial = partial_of(path)
    checksum = crc32(data)
    line = sealed({**header, "bytes": len(data), "checksum": checksum})
    with writing(path):
        own_files.clear(path, own_files.is_sealed)
        try:
            write_new(partial, line + data)
            os.rename(partial, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(partial)
            raise
    return checksum, link_of(line)


def sync_names(folder: Path, descriptor: int) -> None:
    """Force the names of the files in a folder to disk."""
    with writing(folder):
        os.fsync(descriptor)


def read_snapshot(path: Path) -> Snapshot | None:
    """The header and the data of a snapshot; None for a damaged one, and one of another format is refused."""
    with reading(path, DatasetError):
        line, end, data = read_plain(path).partition(b"\n")
    header = unsealed(line)
    if header is None or header.get("bytes") != len(data) or header.get("checksum") != crc32(data):
        return None
    if header.get("format") not in (FORMAT, UNCHAINED):
        found = header.get("format")
        raise DatasetError(f"{path} has format {found!r}; this Meshwright reads up to {FORMAT}")
    return Snapshot(header, data, link_of(line + end))


def set_aside(folder: Path) -> Path:
    """Copy all files of a journal to a new folder inside its own, on disk when this returns; gives that."""
    with writing(folder):
        aside = new_aside(folder)
        for path in sorted(folder.iterdir()):
            if (_OURS.fullmatch(path.name) or path.name == head.NAME) and is_plain(path):
                write_new(aside / path.name, read_plain(path))
        sync_folder(aside)
        sync_folder(folder)
    return aside


def new_aside(folder: Path) -> Path:
    """A new folder for what is given up: `lost-0001`, or the next number."""
    taken = [int(path.name[5:]) for path in folder.iterdir() if _ASIDE.fullmatch(path.name)]
    aside = folder / f"lost-{max(taken, default=0) + 1:04d}"
    os.mkdir(aside)
    return aside
