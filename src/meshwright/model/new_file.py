"""A file of ours on disk: there when it is complete, or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from meshwright.errors import DatasetError
from meshwright.model.dataset import writing


def check_file(path: Path, force: bool) -> None:
    """Refuse a path at which a file could not be written; worth asking before long work."""
    with writing(path):
        taken = path.is_dir() or (path.exists() and not force)
        homeless = not path.absolute().parent.is_dir()
    if taken:
        raise DatasetError(
            f"{path} is there already; choose another path, or overwrite with force=True (--force)"
        )
    if homeless:
        raise DatasetError(f"{path.absolute().parent} is no folder; make it, or choose another path")


@contextmanager
def new_file(path: Path, force: bool = False) -> Iterator[Path]:
    """A hidden path beside `path` to write to, which takes its place at the end.

    What is there already is overwritten only with `force`. Whatever happens, `path` holds the old content or
    all of the new.
    """
    check_file(path, force)
    partial = path.with_name(f".{path.name}.partial-{uuid4().hex[:8]}")
    try:
        with writing(path):
            yield partial
            partial.replace(path)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
