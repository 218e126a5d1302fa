"""Where datasets are: a folder on a disk of this machine, or one in a store that Spark reaches.

A `Path` is a `Place` as it is. What only a disk knows (locks, links, owners, forcing to disk) is done for a
`Path` alone; `is_local` is the one question that tells the two apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self, TypeVar
from urllib.parse import unquote, urlsplit

from meshwright.runtime.atomic_files import locked_folder, sync_folder, write_whole
from meshwright.runtime.checksums import Sum
from meshwright.runtime.errors import DatasetError

if TYPE_CHECKING:
    from typing_extensions import TypeIs

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


class Place(Protocol):
    """A file or folder, wherever it is: the methods of `pathlib.Path` that datasets need."""

    @property
    def name(self) -> str:
        """The last part."""

    @property
    def suffix(self) -> str:
        """The ending of the last part, with the dot."""

    @property
    def parent(self) -> Self:
        """The folder that it is in."""

    def __truediv__(self, name: str, /) -> Self: ...

    def exists(self) -> bool:
        """Whether there is a file or a folder."""

    def is_dir(self) -> bool:
        """Whether it is a folder."""

    def is_file(self) -> bool:
        """Whether it is a file."""

    def is_symlink(self) -> bool:
        """Whether it is a link; a store has none."""

    def iterdir(self) -> Iterator[Self]:
        """What is in the folder."""

    def mkdir(self, *, parents: bool = False, exist_ok: bool = False) -> None:
        """Make the folder; a store also makes those above it, and accepts one that is there."""

    def rename(self, target: Self, /) -> object:
        """Move it."""

    def unlink(self, missing_ok: bool = False) -> None:
        """Remove the file."""

    def rmdir(self) -> None:
        """Remove the folder, which must be empty."""

    def read_text(self, encoding: str = ...) -> str:
        """All of a text file."""

    def write_text(self, text: str, /, encoding: str = ...) -> object:
        """Write a text file, in place of what is there; readers of a store see all of it or nothing."""


Where = TypeVar("Where", bound=Place)
"""A kind of place."""


class Store(Place, Protocol):
    """A place that is not on this machine."""

    def sums(self, names: Iterable[str]) -> dict[str, Sum]:
        """Size and checksum of every file in these entries of the folder, by its path below it."""

    def remove_all(self) -> None:
        """Remove the folder and all that is in it."""


def is_local(place: Place) -> TypeIs[Path]:
    """Whether a place is on this machine."""
    return isinstance(place, Path)


def is_local_address(text: str) -> bool:
    """Whether a path or URL names a place on this machine."""
    return not _SCHEME.match(text) or text.startswith("file:/")


def local_path(text: str) -> Path:
    """The absolute path that a path or `file:` URL stands for; DatasetError if it is not on this machine."""
    if not is_local_address(text):
        raise DatasetError(f"{text} is not on this machine; use --engine spark")
    return Path(unquote(urlsplit(text).path)) if text.startswith("file:/") else Path(text).absolute()


@contextmanager
def alone_in(folder: Place, busy: str) -> Iterator[None]:
    """Make a folder, and refuse a second writer with the words `busy`; stores know no locks."""
    if is_local(folder):
        with locked_folder(folder, busy):
            yield
    else:
        folder.mkdir(parents=True, exist_ok=True)
        yield


def replace_text(place: Place, text: str) -> None:
    """Write a text file in place of what is there: all of it, on disk with its name, or nothing."""
    if is_local(place):
        write_whole(place.absolute(), text.encode())
    else:
        place.write_text(text, encoding="utf-8")


def sync_folders(*folders: Place) -> None:
    """Force the names in folders to disk, where they are on one."""
    for folder in folders:
        if is_local(folder):
            sync_folder(folder)
