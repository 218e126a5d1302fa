"""A file of ours on disk: there when it is complete, or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from meshwright.errors import DatasetError
from meshwright.model.dataset import writing
from meshwright.runtime.durable_files import replacing


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
    all of the new, a loss of power included. A link at `path` is replaced, not followed.
    """
    check_file(path, force)
    with writing(path), replacing(path.absolute()) as partial:
        yield partial
