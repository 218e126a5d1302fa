"""What may be removed: files that a manifest of ours lists or that carry our mark; nothing else is touched.

No link is followed, at any level. What is checked may change before it is removed, so removing goes by
descriptors of folders that were opened without following links, and takes the listed names alone.
"""

import errno
import os
import shutil
import stat
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import cast

from meshwright.runtime.errors import DatasetError
from meshwright.runtime.places import Place, Store, is_local

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


def files_below(folder: Place, start: str = "") -> Iterator[str]:
    """The paths below `folder` of all that is no folder, links included, which are not followed."""
    here = folder / start if start else folder
    for entry in sorted(here.iterdir(), key=lambda entry: entry.name):
        path = f"{start}/{entry.name}" if start else entry.name
        if entry.is_dir() and not entry.is_symlink():
            yield from files_below(folder, path)
        else:
            yield path


def check_ours(folder: Place, names: Iterable[str], ours: Collection[str], home: Place | None = None) -> None:
    """Refuse to touch the entries `names` of a folder if anything in them is not among the files `ours`.

    What belongs to another user is not ours either, unless it is the user of `home`, by default `folder`.
    """
    known = set(ours)
    folders = {str(parent) for path in known for parent in PurePosixPath(path).parents}
    for name in names:
        for path in _all_below(folder, name):
            if path not in known and path not in folders:
                raise not_ours(folder / path, "since no manifest of Meshwright's lists it")
            if is_local(folder):  # Hadoop knows no links and, in most stores, no owners
                _check_entry(folder / path, cast(Path, home or folder), is_file=path in known)


def _all_below(folder: Place, path: str) -> Iterator[str]:
    """All that is below `path`, and then `path` itself; folders included."""
    entry = folder / path
    if entry.is_dir() and not entry.is_symlink():
        for below in sorted(entry.iterdir(), key=lambda below: below.name):
            yield from _all_below(folder, f"{path}/{below.name}")
    if entry.is_symlink() or entry.exists():
        yield path


def _check_entry(path: Path, home: Path, is_file: bool) -> None:
    """Refuse a link, what is not a regular file or folder, and what belongs to somebody else."""
    found = os.lstat(path)
    if stat.S_ISLNK(found.st_mode):
        raise not_ours(path, "since it is a link")
    if not (stat.S_ISREG if is_file else stat.S_ISDIR)(found.st_mode):
        raise not_ours(path, "since it is not a regular file or folder")
    if found.st_uid not in (os.geteuid(), os.stat(home).st_uid):
        raise not_ours(path, "since it belongs to another user")


def not_ours(path: Place, reason: str) -> DatasetError:
    """The error for what is in the way; `reason` ends the sentence."""
    return DatasetError(
        f"{path} is in the way, and Meshwright may not remove it, {reason}; move it, or choose another path",
        path=path,
    )


def is_plain(path: Path) -> bool:
    """Whether there is a file, which is no link; a link or a folder of that name is refused."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(mode):
        raise not_ours(path, "since it is a link" if stat.S_ISLNK(mode) else "since it is not a regular file")
    return True


def open_plain(path: Path, flags: int = os.O_RDONLY) -> int:
    """The descriptor of a file that is no link and no folder, whatever was put there in between."""
    is_plain(path)
    file = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise not_ours(path, "since it is not a regular file")
    return file


def read_plain(path: Path, most: int = -1) -> bytes:
    """What is in a file, or its first bytes."""
    with os.fdopen(open_plain(path), "rb") as stream:
        return stream.read(most)


@contextmanager
def plain_folder(path: Path) -> Iterator[int]:
    """The descriptor of a folder that is no link; what is done through it is done there."""
    folder = _opened(path)
    try:
        yield folder
    finally:
        os.close(folder)


def remove_files(folder: Place, files: Iterable[str]) -> None:
    """Remove files below a folder, and the folders below it that this leaves empty; `folder` itself stays.

    What is not there is passed over; a link or a folder in the place of a file is refused.
    """
    known = sorted(set(files))
    for path in known:
        _remove_file(folder, PurePosixPath(path))
    parents = {str(parent) for path in known for parent in PurePosixPath(path).parents} - {"."}
    for path in sorted(parents, key=lambda path: path.count("/"), reverse=True):
        with suppress(OSError):  # something else is in it, and stays
            _remove_empty(folder, PurePosixPath(path))


def remove_own_folder(folder: Place) -> None:
    """Remove a folder that this process made for itself, with all that is in it; follows no links."""
    if is_local(folder):
        shutil.rmtree(folder)
    else:
        cast(Store, folder).remove_all()


def _remove_file(folder: Place, path: PurePosixPath) -> None:
    if not is_local(folder):
        (folder / str(path)).unlink(missing_ok=True)
        return
    with suppress(FileNotFoundError), _parent(folder, path) as parent:
        if not stat.S_ISREG(os.stat(path.name, dir_fd=parent, follow_symlinks=False).st_mode):
            raise not_ours(folder / path, "since it is not a regular file")
        os.unlink(path.name, dir_fd=parent)


def _remove_empty(folder: Place, path: PurePosixPath) -> None:
    if not is_local(folder):
        (folder / str(path)).rmdir()
        return
    with _parent(folder, path) as parent:
        os.rmdir(path.name, dir_fd=parent)


@contextmanager
def _parent(folder: Path, path: PurePosixPath) -> Iterator[int]:
    """The descriptor of the folder that holds `path`, reached through real folders alone."""
    here = _opened(folder)
    try:
        for name in path.parent.parts:
            below = _opened(name, here)
            os.close(here)
            here = below
        yield here
    finally:
        os.close(here)


def _opened(path: str | Path, parent: int | None = None) -> int:
    try:
        return os.open(path, _FOLDER, dir_fd=parent)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENOTDIR):
            raise
        raise not_ours(Path(path), "since it is a link or no folder") from None
