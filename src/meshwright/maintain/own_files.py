"""Files of ours among those of others: no link is ever followed, and only what bears our mark is removed."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from meshwright.errors import DatasetError
from meshwright.maintain.sealed_lines import unsealed

_LONGEST_MARK = 1 << 16


def not_ours(path: Path, reason: str) -> DatasetError:
    """The error for what is in the way."""
    return DatasetError(f"{path} is in the way and not Meshwright's: it {reason}; move it elsewhere")


def is_plain(path: Path) -> bool:
    """Whether there is a file, which is no link; a link or a folder of that name is refused."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(mode):
        raise not_ours(path, "is a link" if stat.S_ISLNK(mode) else "is no plain file")
    return True


def open_plain(path: Path, flags: int = os.O_RDONLY) -> int:
    """The descriptor of a file that is no link and no folder, whatever was put there in between."""
    is_plain(path)
    file = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise not_ours(path, "is no plain file")
    return file


def read_plain(path: Path, most: int = -1) -> bytes:
    """What is in a file, or its first bytes."""
    with os.fdopen(open_plain(path), "rb") as stream:
        return stream.read(most)


def create(path: Path) -> int:
    """The descriptor of a new file, where nothing of that name is."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)


def make_folder(path: Path) -> None:
    """Make a folder, and those that it is in, where they are not there; their names are on disk then."""
    if path.is_dir():
        return
    make_folder(path.absolute().parent)
    os.mkdir(path)
    sync_folder(path.absolute().parent)


@contextmanager
def plain_folder(path: Path) -> Iterator[int]:
    """The descriptor of a folder that is no link; what is done through it is done there."""
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except NotADirectoryError:
        raise not_ours(path, "is a link or no folder") from None
    try:
        yield folder
    finally:
        os.close(folder)


def clear(path: Path, is_ours: Callable[[bytes], bool]) -> None:
    """Make room for a file: remove what is there if its first bytes say that it is ours, else refuse."""
    if not is_plain(path):
        return
    if not is_ours(read_plain(path, _LONGEST_MARK)):
        raise not_ours(path, "bears no mark of ours")
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


def write_all(file: int, data: bytes, at: int) -> None:
    """Write bytes at a place of a file, however many calls it takes."""
    rest = memoryview(data)
    while rest:
        count = os.pwrite(file, rest, at)
        rest, at = rest[count:], at + count


def write_new(path: Path, data: bytes) -> None:
    """Write a file that is not there yet; its bytes are on disk when this returns, its name is not."""
    file = create(path)
    try:
        write_all(file, data, 0)
        os.fsync(file)
    finally:
        os.close(file)


def partial_of(path: Path) -> Path:
    """A hidden path beside `path` that nothing is in the way of, to write what takes its name when whole."""
    return path.with_name(f".{path.name}.partial-{uuid4().hex[:8]}")


PARTIAL = r"\.partial(-[0-9a-f]{8})?"
"""How such names end; those of an earlier Meshwright were always the same."""


def sync_folder(path: Path) -> None:
    """Force the names of the files in a folder to disk."""
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
