"""Datasets on disk: a folder of Parquet tables, and the manifest that says that they are complete.

A table is a folder of part files, since Spark writes folders. `manifest.json` is written last: a folder
without it is no dataset, so a run that was killed never passes for a finished one. Tables are on disk before
the manifest that speaks of them. See `docs/formats.md`, and `docs/safety.md` for what is promised.
"""

import errno
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from meshwright.model.reading.files import part_files, reading
from meshwright.model.storage.manifest import (
    FILES,
    MANIFEST,
    TABLES,
    Dataset,
    check_files,
    listed_files,
    listing,
    read_manifest,
    read_sealed,
    write_manifest,
    write_sealed,
)
from meshwright.model.storage.schema import Wanted, check_types
from meshwright.runtime.atomic_files import DurableFile, write_new
from meshwright.runtime.checksums import Sum
from meshwright.runtime.errors import DatasetError, InputError, one_line
from meshwright.runtime.owned import check_ours, remove_files, remove_own_folder
from meshwright.runtime.places import Place, Where, alone_in, is_local, sync_folders
from meshwright.runtime.progress import Progress, stage

LEFT_BEHIND = "rejected"
"""The table that a refused ingest leaves by itself, to be looked at; no obstacle to the next attempt."""

KINDS = ("interests", "overlay", "costs", "comparison", "migration", "plan")
"""What a dataset can be of; a folder with another manifest is none, and not overwritten as one."""

_DRAFT = re.compile(r"\.partial-\d+-[0-9a-f]{8}")
_MARK = ".meshwright"
_ABOUT = "Meshwright writes a dataset here. What a killed writer leaves, the next one clears up.\n"
_OLD = ".old"
LISTING = "_files.json"
"""In a table of rejected rows: the list of its files, by which they are known as ours."""


class TableSource(NamedTuple):
    """A table to be written: its schema, its batches, and how many rows they have together."""

    schema: pa.Schema
    batches: Iterable[pa.RecordBatch]
    rows: int


def whole(table: pa.Table) -> TableSource:
    """A table that is in memory already."""
    return TableSource(table.schema, table.to_batches(), table.num_rows)


def write_dataset(
    path: str | Path,
    manifest: Mapping[str, Any],
    tables: Mapping[str, TableSource],
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> None:
    """Write a dataset so that `path` holds all of it or, whatever happens, nothing that looks like one.

    Everything goes to a hidden folder inside `path` first, and to disk. Then what is to be replaced is moved
    aside, the new tables are moved in, the manifest last, and what was moved aside is removed. A path that is
    there already and not empty is refused without `force`, unless all it holds are rejected rows. With it,
    only files that the old manifest lists are removed; what else is named like a table is refused, with
    nothing touched, and other files stay. Failing before the end (a full disk, Ctrl-C) leaves the old dataset
    as it was; after a kill the next write restores it. A second writer at the same time is refused.
    """
    with draft(Path(path).absolute(), force) as folder, writing(path):
        write_manifest(folder, manifest, write_tables(folder, tables, progress))


@contextmanager
def draft(target: Where, force: bool = False) -> Iterator[Where]:
    """A hidden folder inside `target` for the tables of a dataset and its manifest; put in place at the end.

    `write_dataset` says what holds, whatever happens in between.
    """
    with ExitStack() as opened:
        with writing(target):
            is_new = not is_folder(target)
            opened.enter_context(_alone_in(target))
            _clear_up(target)
        _check_free(target, force)
        partial = target / f".partial-{os.getpid()}-{uuid4().hex[:8]}"
        try:
            with writing(target):
                _mark(partial)
            yield partial
            with writing(target):
                _install(partial, target)
        except BaseException:
            with suppress(OSError):
                _discard(partial, target)
            if is_new:
                with suppress(OSError):
                    target.rmdir()
            raise


def _alone_in(target: Place) -> AbstractContextManager[None]:
    """Refuse a second writer."""
    return alone_in(target, f"another process is writing to {target}; wait for it, or choose another path")


def _mark(partial: Place) -> None:
    """Make the hidden folder, with the file by which it is known as ours."""
    partial.mkdir(parents=True)
    if is_local(partial):
        write_new(partial / _MARK, _ABOUT.encode())
    else:
        (partial / _MARK).write_text(_ABOUT)


def check_free(target: Place, force: bool, inputs: Iterable[str | Path] = ()) -> None:
    """Refuse a path at which a dataset could not be written; worth asking before long work.

    None of the inputs, which are on this machine, may be replaced. What killed writers have left there is
    cleared up first, unless somebody writes there now.
    """
    if is_local(target):
        check_apart(target, inputs)
    check_writable(target)
    with writing(target):
        if is_folder(target) and any(is_draft(entry) for entry in target.iterdir()):
            with _alone_in(target):
                _clear_up(target)
    _check_free(target, force)


def check_writable(folder: Place) -> None:
    """Refuse a folder on this machine in which nothing could be written, whether it is there or to be made.

    A file without a name is made, so that nothing is left. A store says so when it is written to.
    """
    if not is_local(folder):
        return
    home = next(place for place in (folder.absolute(), *folder.absolute().parents) if is_folder(place))
    with writing(folder), TemporaryFile(dir=home):
        pass


def check_apart(target: Path, inputs: Iterable[str | Path]) -> None:
    """Refuse to write a dataset over an input, however the two paths are spelled."""
    home = target.resolve()
    for given in inputs:
        below = (path := Path(given).resolve()) != home and home in path.parents
        if path == home or (below and path.relative_to(home).parts[0] in _tops(owned_files(home))):
            raise DatasetError(
                f"{target} can't be the output, because the input {given} would be replaced; "
                f"choose another path for the output",
                path=target,
            )


def check_outside(target: Place) -> None:
    """Refuse to write among the files of another dataset, which would not be intact then."""
    if not is_local(target):
        return
    path = target.absolute().parent.resolve() / target.name
    for parent in path.parents:
        if path.relative_to(parent).parts[0] in _tops(listed_files(parent)):
            raise DatasetError(
                f"{target} belongs to the dataset {parent}, which would be damaged; choose another path",
                path=target,
            )


def is_folder(target: Place) -> bool:
    """Whether there is a folder; a file is refused."""
    if target.is_dir():
        return True
    if target.exists():
        raise DatasetError(f"{target} is a file, but a dataset is a folder; choose another path", path=target)
    return False


def _check_free(target: Place, force: bool) -> None:
    check_outside(target)
    with writing(target):
        there = target.iterdir() if is_folder(target) else ()
        entries = {entry.name for entry in there if not is_draft(entry)}
        if entries - {LEFT_BEHIND} and not force:
            what = "is already a dataset" if MANIFEST in entries else "already exists and is not empty"
            raise DatasetError(
                f"{target} {what}; choose another path, or overwrite with force=True (--force)", path=target
            )
        if entries:
            ours = owned_files(target)
            _check_replaceable(target, entries & {*TABLES, LEFT_BEHIND, MANIFEST} | _tops(ours), ours)


def _check_replaceable(target: Place, names: Iterable[str], ours: Collection[str]) -> None:
    """Refuse to write a dataset over what is not one of ours."""
    if target.is_symlink():
        raise DatasetError(
            f"{target} is a symbolic link, and Meshwright removes nothing through a link; "
            f"give the folder that it points to",
            path=target,
        )
    manifest = read_sealed(target / MANIFEST) or {}
    if FILES in manifest and manifest.get("kind") not in KINDS:
        raise DatasetError(
            f"{target} holds a manifest of kind {manifest.get('kind')!r}, not a dataset; choose another path",
            path=target,
        )
    if manifest == {} and _is_old_dataset(target):
        raise DatasetError(
            f"{target} is in the way: an older Meshwright wrote this dataset and kept no list of its files; "
            f"remove it yourself, or choose another path",
            path=target,
        )
    check_ours(target, sorted(names), ours)


def _is_old_dataset(target: Place) -> bool:
    """Whether there is a manifest of ours without a list of files."""
    with suppress(DatasetError):
        return FILES not in read_manifest(target, *KINDS)
    return False


def owned_files(target: Place) -> set[str]:
    """The files of the dataset at `target`, and of rejected rows by themselves, that are ours."""
    left = read_sealed(target / LEFT_BEHIND / LISTING)
    names = [] if left is None else [LISTING, *left[FILES]]
    return listed_files(target) | {f"{LEFT_BEHIND}/{name}" for name in names}


def _tops(paths: Iterable[str]) -> set[str]:
    return {path.partition("/")[0] for path in paths}


def list_left_behind(folder: Place) -> None:
    """List the files of a table of rejected rows in it, by which it is known as ours wherever it is moved."""
    with writing(folder):
        write_sealed(folder / LISTING, {FILES: listing(folder, {})})


def remove_left_behind(folder: Place) -> None:
    """Remove a table of rejected rows, if there is one; what holds anything else is refused."""
    with writing(folder):
        if _is_there(folder):
            parent = folder.parent
            ours = {path for path in owned_files(parent) if path.startswith(f"{LEFT_BEHIND}/")}
            check_ours(parent, [LEFT_BEHIND], ours)
            remove_files(parent, ours)


def is_draft(entry: Place) -> bool:
    """Whether `entry` is a folder in which a dataset is being written, or was when the writer was killed."""
    if not _DRAFT.fullmatch(entry.name) or entry.is_symlink() or not entry.is_dir():
        return False
    return (entry / _MARK).is_file() or not any(entry.iterdir())


def _clear_up(target: Place) -> None:
    """Remove what killed writers have left, and put back what they had moved aside.

    Nobody else writes here now: on this machine the lock says so. Elsewhere nobody knows, and all stays.
    """
    if not is_local(target):
        return
    for entry in [entry for entry in target.iterdir() if is_draft(entry)]:
        if not _is_there(target / MANIFEST):
            _put_back(entry, target)
        _discard(entry, target)


def _discard(partial: Place, target: Place) -> None:
    """Remove a draft, but not what was moved aside if that is not replaced, or not ours."""
    old = partial / _OLD
    if old.is_dir():
        if _is_there(target / MANIFEST):
            remove_files(old, owned_files(old))
        if any(old.iterdir()):
            return
    remove_draft(partial)


def remove_draft(partial: Place) -> None:
    """Remove a draft, its mark last, so that what a kill in here leaves is still known as ours."""
    if is_local(partial):
        for entry in [entry for entry in partial.iterdir() if entry.name != _MARK]:
            if entry.is_dir() and not entry.is_symlink():
                remove_own_folder(entry)
            else:
                entry.unlink()
    remove_own_folder(partial)


def _put_back(partial: Place, target: Place) -> None:
    """Undo an exchange that was cut off: the new tables go, the old ones and their manifest come back."""
    if not (partial / _OLD).is_dir():
        return
    for name in _tops((read_sealed(partial / MANIFEST) or {}).get(FILES, ())):
        if _is_there(target / name) and not _is_there(partial / name):
            (target / name).rename(partial / name)
    aside = sorted((entry.name for entry in (partial / _OLD).iterdir()), key=MANIFEST.__eq__)
    for name in aside:
        (partial / _OLD / name).rename(target / name)
    sync_folders(target)


def _is_there(path: Place) -> bool:
    return path.is_symlink() or path.exists()


@contextmanager
def writing(target: str | Place) -> Iterator[None]:
    """Turn what goes wrong while writing into a DatasetError."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        way_out = "free some space" if full else "check the path and who may write there"
        why = (isinstance(error, OSError) and error.strerror) or one_line(error)
        raise DatasetError(f"{target} can't be written: {why}; {way_out}", path=target) from error


def write_tables(
    folder: Path, tables: Mapping[str, TableSource], progress: Progress | None
) -> dict[str, Sum]:
    """Write tables into a folder, each as a folder with one file; gives the sums of these files."""
    done, sums = 0, {}
    with stage(progress, "writing", sum(table.rows for table in tables.values())) as advance:
        for name, table in tables.items():
            (folder / name).mkdir()
            file = f"{name}/part-00000.parquet"
            with DurableFile(folder / file) as stream, pq.ParquetWriter(stream, table.schema) as writer:
                for batch in table.batches:
                    writer.write_batch(batch)
                    done += batch.num_rows
                    advance(done)
            sums[file] = stream.sum()
    return sums


def write_csv(table: pa.Table, path: Path) -> None:
    """Write a table as CSV, with quotes only where they are needed."""
    import pyarrow.csv as pacsv

    pacsv.write_csv(table, path, pacsv.WriteOptions(quoting_style="needed"))


def _install(partial: Place, target: Place) -> None:
    """Move what is replaced aside, the finished tables to where they belong, and the manifest last."""
    new = {entry.name for entry in partial.iterdir()} - {MANIFEST, _MARK}
    ours = owned_files(target)
    replaced = sorted({*new, *_tops(ours)}, key=MANIFEST.__ne__)
    old = [name for name in replaced if _is_there(target / name)]
    if old:
        _check_replaceable(target, old, ours)
    (partial / _OLD).mkdir()
    sync_folders(partial, target)  # or what is moved aside could get lost with the folder that it went to
    try:
        for name in old:
            (target / name).rename(partial / _OLD / name)
            if name == MANIFEST:
                sync_folders(partial / _OLD, target)  # or it could come back without its tables
        check_ours(partial / _OLD, old, ours, home=target)  # again: it may be something else by now
        sync_folders(partial / _OLD, target)
        for name in sorted(new):
            (partial / name).rename(target / name)
        sync_folders(target, partial)
        (partial / MANIFEST).rename(target / MANIFEST)
    except BaseException:
        _put_back(partial, target)
        raise
    sync_folders(target, target.parent)
    _discard(partial, target)


def read_table(
    dataset: Dataset[Path],
    name: str,
    wanted: Mapping[str, Wanted],
    optional: frozenset[str] = frozenset(),
    only_wanted: bool = False,
) -> pa.Table:
    """All part files of a table, in the order of their names, if they are those that were written.

    Their checksums and the types of the columns are checked first.
    """
    path = dataset.path
    check_files(dataset, (name,))
    with reading(path / name, DatasetError):
        parts = part_files(path / name) if (path / name).is_dir() else []
    if not parts:
        raise DatasetError(
            f"{path / name} is missing or has no *.parquet file; write the dataset again", path=path / name
        )
    tables = []
    for part in parts:
        with reading(part, DatasetError), pq.ParquetFile(part) as file:
            schema = file.schema_arrow
            check_types(schema, wanted, str(part), DatasetError, optional)
            columns = [column for column in schema.names if column in wanted or not only_wanted]
            tables.append(pa.Table.from_batches([], pa.schema([schema.field(column) for column in columns])))
            # A row group at a time: half the time and half the peak of reading all of a list column at once.
            tables += [file.read_row_group(group, columns) for group in range(file.num_row_groups)]
    with reading(path / name, DatasetError):
        table = pa.concat_tables(tables).replace_schema_metadata(None)
    for column in wanted:
        if column in table.column_names and table[column].null_count:
            raise DatasetError(
                f"{path / name}: column {column!r} has {table[column].null_count} nulls; fill them",
                path=path / name,
            )
    return table


@contextmanager
def as_dataset(path: Path) -> Iterator[None]:
    """What is wrong with the values in a dataset is an error of the dataset."""
    try:
        yield
    except InputError as error:
        raise DatasetError(f"{path}: {error}", path=error.path or path, row=error.row) from error
