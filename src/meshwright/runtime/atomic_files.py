"""Files that survive a loss of power, and locks on folders.

Data and names are forced to disk before anything refers to them. A lock keeps a second writer on the same
machine out.
"""

import fcntl
import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from meshwright.runtime.checksums import Sum, Summing
from meshwright.runtime.errors import DatasetError


class DurableFile(io.RawIOBase):
    """A new file to write to, from start to end. Its content is on disk when `close` returns.

    Fails where there is something of that name already, be it a link.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._summing = Summing()
        self._file = create(path)

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        """Write all of `data`."""
        rest = memoryview(data).cast("B")
        count = len(rest)
        self._summing.update(rest)
        while rest:
            rest = rest[os.write(self._file, rest) :]
        return count

    def close(self) -> None:
        """Force the content to disk, and let go of the file."""
        if self.closed:
            return
        try:
            os.fsync(self._file)
        finally:
            os.close(self._file)
            super().close()

    def sum(self) -> Sum:
        """The size and the checksum of what was written."""
        return self._summing.sum()


def create(path: Path) -> int:
    """The descriptor of a new file, where nothing of that name is, not even a link."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666)


def write_all(file: int, data: bytes, at: int) -> None:
    """Write bytes at a place of a file, however many calls it takes."""
    rest = memoryview(data)
    while rest:
        count = os.pwrite(file, rest, at)
        rest, at = rest[count:], at + count


def write_new(path: Path, data: bytes) -> Sum:
    """Write a file that is not there yet; its name is on disk after `sync_folder`."""
    with DurableFile(path) as stream:
        stream.write(data)
    return stream.sum()


PARTIAL = r"\.partial(-[0-9a-f]{8})?"
"""How hidden names of unfinished files end; those of an earlier Meshwright were always the same."""


@contextmanager
def renaming(path: Path, folder: int | None = None) -> Iterator[Path]:
    """A hidden path beside `path` to write to, which takes its name at the end; on an error it is gone.

    A link at `path` is replaced, not followed. What was written is forced to disk by the writer, and the name
    by `sync_folder`. With the descriptor of their `folder`, both names are looked up in that.
    """
    partial = path.with_name(f".{path.name}.partial-{uuid4().hex[:8]}")
    try:
        yield partial
        if folder is None:
            os.replace(partial, path)
        else:
            os.replace(partial.name, path.name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(partial)
        raise


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """As `renaming`, and on disk with its name at the end.

    Whatever happens, `path` holds what it held or all of the new.
    """
    with renaming(path) as partial:
        yield partial
        sync_file(partial)
    sync_folder(path.parent)


def is_partial_of(name: str, whole: str) -> bool:
    """Whether a file of that name is what a kill has left of writing `whole`."""
    return re.fullmatch(rf"\.{re.escape(whole)}{PARTIAL}", name) is not None


def write_whole(path: Path, data: bytes) -> None:
    """Write a file in place of what is there: all of it, on disk with its name, or nothing."""
    with replacing(path) as partial:
        write_new(partial, data)


def make_folder(path: Path) -> None:
    """Make a folder, and those that it is in, where they are not there; their names are on disk then."""
    if path.is_dir():
        return
    make_folder(path.absolute().parent)
    with suppress(FileExistsError):  # another made it just now; a file of that name shows when it is used
        os.mkdir(path)
    sync_folder(path.absolute().parent)


def sync_file(path: Path) -> None:
    """Force the content of a file to disk, whoever has written it."""
    _sync(path, os.O_RDONLY | os.O_NOFOLLOW)


def sync_folder(path: Path) -> None:
    """Force the names in a folder to disk."""
    _sync(path, os.O_RDONLY | os.O_DIRECTORY)


def _sync(path: Path, flags: int) -> None:
    file = os.open(path, flags)
    try:
        os.fsync(file)
    finally:
        os.close(file)


@contextmanager
def locked_folder(folder: Path, busy: str, *, wait: bool = False) -> Iterator[int]:
    """Lock a folder, made if need be, until the end; gives its descriptor, or says `busy` if another has it.

    With `wait`, it waits for the other to let go of it or die.

    The folder itself is locked, so that a kill leaves nothing behind. The lock holds between processes that
    ask for it, on this machine and, where the file system passes locks on, between machines.
    """
    while True:
        make_folder(folder)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            _lock(descriptor, busy, wait)
            if _is_still(folder, descriptor):
                yield descriptor
                return
        finally:
            os.close(descriptor)


def _lock(descriptor: int, busy: str, wait: bool) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise DatasetError(busy) from None


def _is_still(folder: Path, descriptor: int) -> bool:
    """Whether the path leads to the folder that was locked: another may have removed it in between."""
    try:
        return os.path.samestat(os.stat(folder), os.fstat(descriptor))
    except FileNotFoundError:
        return False
