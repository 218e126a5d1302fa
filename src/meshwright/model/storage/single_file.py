"""A file of ours on disk: there when it is complete, or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from meshwright.model.storage.dataset import check_outside, check_writable, writing
from meshwright.runtime.atomic_files import replacing
from meshwright.runtime.errors import DatasetError
from meshwright.runtime.owned import is_plain, not_ours, read_plain

GENERATOR = '<meta name="generator" content="Meshwright">'
"""The mark of a page."""

TABLE_MARK = {b"meshwright": b"events"}
"""The mark of a table, in the metadata of its schema."""

_PAGE = b"<!doctype html>"
_TABLE = b"PAR1"
_BEGINNINGS = (
    b'<?xml version="1.0" encoding="UTF-8"?>\n<graphml',
    b"graph [",
    b"graph {",
    b'"source","target"',
    b'{"directed":',
    b'{"at":',
)
"""How exports and events begin."""


def check_file(path: Path, force: bool) -> None:
    """Refuse a path at which a file could not be written; worth asking before long work.

    With `force` a file is replaced if it is a page, an export or events that Meshwright wrote, and no other.
    """
    with writing(path):
        if path.is_dir():
            raise DatasetError(
                f"{path} is a folder, and a file is to be written; give the name of a file, such as "
                f"{path / 'FILE'}",
                path=path,
            )
        taken = path.exists() and not force
        homeless = not path.absolute().parent.is_dir()
        if taken:
            raise DatasetError(
                f"{path} already exists; choose another path, or overwrite with force=True (--force)",
                path=path,
            )
        if homeless:
            raise DatasetError(
                f"{path.absolute().parent} is not a folder; create it, or choose another path",
                path=path.absolute().parent,
            )
        check_outside(path)
        check_writable(path.absolute().parent)
        if is_plain(path) and not _has_mark(read_plain(path)):
            raise not_ours(path, "since it does not look like what Meshwright writes")


def _has_mark(data: bytes) -> bool:
    """Whether a file is one that Meshwright wrote, or empty."""
    if data.startswith(_PAGE):
        return GENERATOR.encode() in data[:2_000]
    if data.startswith(_TABLE):
        return next(iter(TABLE_MARK)) in data[-4_000:]
    return not data or data.startswith(_BEGINNINGS)


@contextmanager
def new_file(path: Path, force: bool = False) -> Iterator[Path]:
    """A hidden path beside `path` to write to, which takes its place at the end.

    What is there already is overwritten only with `force`, and only if Meshwright wrote it. Whatever happens,
    `path` holds the old content or all of the new, a loss of power included.
    """
    check_file(path, force)
    with writing(path), replacing(path.absolute()) as partial:
        yield partial
