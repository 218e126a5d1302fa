"""Datasets on disk: a folder of Parquet tables, and the manifest that says that they are complete.

A table is a folder of part files, since Spark writes folders. `manifest.json` is written last: a folder
without it is no dataset, so a run that was killed never passes for a finished one. See `docs/formats.md`.
"""

import errno
import json
import os
import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from meshwright.errors import DatasetError, InputError
from meshwright.model.files import part_files, reading
from meshwright.model.names import one_line
from meshwright.model.plain import plain
from meshwright.model.schema import Wanted, check_types
from meshwright.progress import Progress, stage

FORMAT_VERSION = 1
MANIFEST = "manifest.json"
TABLES = ("interests", "nodes", "topics", "lists", "edges")
"""The tables that a dataset of ours can always have; others are named in the manifest."""

LEFT_BEHIND = "rejected"
"""The table that a refused ingest leaves by itself, to be looked at; no obstacle to the next attempt."""

_PARTIAL = ".partial-"
_OURS = ("format_version", "kind", "counts", "facts", "tables", "versions")
_PACKAGES = ("meshwright", "numpy", "numba", "pyarrow")


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

    Everything goes to a hidden folder inside `path` first; then an old manifest is removed, old tables are
    exchanged for the new ones, and the manifest is moved in last. A path that is there already and not empty
    is refused without `force`, unless all it holds are rejected rows; with it, files that are not ours stay,
    and failing before the exchange (a full disk, Ctrl-C) leaves the old dataset as it was. A folder named
    like a table that holds other files than tables do is never touched.
    """
    with draft(Path(path).absolute(), force) as folder, writing(path):
        write_tables(folder, tables, progress)
        write_manifest(folder, manifest)


@contextmanager
def draft(target: Path, force: bool = False) -> Iterator[Path]:
    """A hidden folder inside `target` for the tables of a dataset and its manifest; put in place at the end.

    `target` may be anything that has the methods of a `Path` that are used here. `write_dataset` says what
    holds, whatever happens in between.
    """
    check_free(target, force)
    is_new = not target.is_dir()
    partial = target / f"{_PARTIAL}{os.getpid()}-{uuid4().hex[:8]}"
    try:
        with writing(target):
            partial.mkdir(parents=True)
        yield partial
        with writing(target):
            _install(partial, target, force)
    except BaseException:
        with suppress(OSError):
            remove_folder(partial)
        if is_new:
            with suppress(OSError):
                target.rmdir()
        raise


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Say what the tables beside it are."""
    text = json.dumps(manifest, indent=2, ensure_ascii=False)
    (folder / MANIFEST).write_text(f"{text}\n", "utf-8")


def remove_folder(folder: Path) -> None:
    """Remove a folder and all that is in it."""
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            remove_folder(entry)
        else:
            entry.unlink()
    folder.rmdir()


def make_manifest(
    kind: str,
    counts: Mapping[str, int],
    facts: Mapping[str, Any],
    extra_tables: Mapping[str, int],
    made_by: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """What made the dataset (command, algorithm, options, seed, inputs, seconds) and what it holds."""
    given = plain(dict(made_by or {}), "made_by")
    for key in _OURS:
        if key in given:
            raise InputError(f"made_by can't have the key {key!r}, which the dataset itself fills; rename it")
    return {
        "format_version": FORMAT_VERSION,
        "kind": kind,
        **given,
        "counts": dict(counts),
        "facts": plain(dict(facts), "facts"),
        "tables": dict(extra_tables),
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    """Of Python and of the packages that results depend on."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def check_free(target: Path, force: bool) -> None:
    """Refuse a path at which a dataset could not be written; worth asking before long work."""
    with writing(target):
        if target.exists() and not target.is_dir():
            raise DatasetError(f"{target} is a file; choose another path for the dataset, which is a folder")
        entries = (
            {entry.name for entry in target.iterdir() if not _is_partial(entry)} if target.is_dir() else set()
        )
    if entries - {LEFT_BEHIND} and not force:
        what = "is a dataset already" if MANIFEST in entries else "is there already and not empty"
        raise DatasetError(f"{target} {what}; choose another path, or overwrite with force=True (--force)")
    for name in entries & {*TABLES, LEFT_BEHIND}:
        check_table(target / name)


def check_table(entry: Path) -> None:
    """Refuse to replace what is named like a table and is none."""
    strange = [entry] if not entry.is_dir() else [file for file in entry.iterdir() if not _is_part(file)]
    if strange:
        raise DatasetError(
            f"{strange[0]} is in the way and not Meshwright's; move it, or choose another path"
        )


def _is_part(file: Path) -> bool:
    return file.name.startswith((".", "_")) or (file.suffix == ".parquet" and not file.is_dir())


def _is_partial(entry: Path) -> bool:
    """Whether `entry` is what a run of ours is writing, or left when it was killed."""
    return entry.name.startswith(_PARTIAL)


def _is_abandoned(entry: Path) -> bool:
    """Whether the run that wrote `entry` is gone, as far as this machine knows."""
    pid = entry.name.removeprefix(_PARTIAL).partition("-")[0]
    if not pid.isdecimal() or int(pid) == os.getpid():
        return True
    if not isinstance(entry, Path):
        return False  # not on this machine, so perhaps of a run on another one
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


@contextmanager
def writing(target: str | Path) -> Iterator[None]:
    """Turn what goes wrong while writing into a DatasetError."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        way_out = "free some space" if full else "check the path and who may write there"
        raise DatasetError(f"{target} can't be written: {one_line(error)}; {way_out}") from error


def write_tables(folder: Path, tables: Mapping[str, TableSource], progress: Progress | None) -> None:
    """Write tables into a folder, each as a folder with one file."""
    done = 0
    with stage(progress, "writing", sum(table.rows for table in tables.values())) as advance:
        for name, table in tables.items():
            (folder / name).mkdir()
            with pq.ParquetWriter(folder / name / "part-00000.parquet", table.schema) as writer:
                for batch in table.batches:
                    writer.write_batch(batch)
                    done += batch.num_rows
                    advance(done)


def _install(partial: Path, target: Path, force: bool) -> None:
    """Move the finished tables to where they belong, and the manifest last."""
    new = {table.name for table in partial.iterdir()} - {MANIFEST}
    names = _old_tables(target) | new if force else {LEFT_BEHIND}
    old = [name for name in sorted(names) if (target / name).exists()]
    for name in old:
        check_table(target / name)
    if force:
        (target / MANIFEST).unlink(missing_ok=True)
    for name in old:
        remove_folder(target / name)
    for name in new:
        (partial / name).rename(target / name)
    (partial / MANIFEST).rename(target / MANIFEST)
    for entry in target.iterdir():
        if _is_partial(entry) and _is_abandoned(entry):
            with suppress(OSError):
                remove_folder(entry)


def _old_tables(target: Path) -> set[str]:
    """The tables of the dataset that `target` is or was."""
    try:
        return {*TABLES, LEFT_BEHIND, *read_manifest(target)["tables"]}
    except DatasetError:
        return {*TABLES, LEFT_BEHIND}


def read_manifest(path: str | Path, *kinds: str) -> dict[str, Any]:
    """The manifest of the dataset at `path`, which must be of one of `kinds`, if any are given."""
    path = Path(path) if isinstance(path, str) else path
    with reading(path, DatasetError):
        if not path.is_dir():
            raise DatasetError(f"{path}: there is no such folder; a dataset is a folder with a {MANIFEST}")
        if not (path / MANIFEST).is_file():
            raise DatasetError(
                f"{path} has no {MANIFEST}: it is no dataset, or its writing was cut off; write it again"
            )
        text = (path / MANIFEST).read_text("utf-8")
    try:
        manifest = json.loads(text)
    except ValueError as error:
        raise DatasetError(f"{path / MANIFEST} is not JSON: {error}; write the dataset again") from None
    _check_manifest(path, manifest, kinds)
    return manifest  # type: ignore[no-any-return]


def _check_manifest(path: Path, manifest: Any, kinds: tuple[str, ...]) -> None:
    version = manifest.get("format_version") if isinstance(manifest, dict) else None
    if version != FORMAT_VERSION:
        raise DatasetError(
            f"{path / MANIFEST} has format version {version!r}; this Meshwright reads {FORMAT_VERSION}: "
            f"use the Meshwright that wrote it, or write it again"
        )
    for key in ("counts", "facts", "tables"):
        if not isinstance(manifest.get(key), dict):
            raise DatasetError(f"{path / MANIFEST} has no {key!r}; write the dataset again")
    for name in manifest["tables"]:
        check_table_name(name, DatasetError)
    if kinds and manifest.get("kind") not in kinds:
        kind, wanted = manifest.get("kind"), " or ".join(kinds)
        within = f", which a run has in {path / kinds[0]}" if kind == "run" else ""
        raise DatasetError(f"{path} is a dataset of kind {kind!r}; give one of kind {wanted}{within}")


def check_table_name(name: str, error: type[InputError] | type[DatasetError]) -> None:
    """Refuse the name of an extra table that can't be a folder beside ours."""
    if not re.fullmatch("[a-z][a-z0-9_]*", name) or name in TABLES:
        raise error(
            f"an extra table can't be called {name!r}; use lower-case letters, digits and _, "
            f"and none of {', '.join(TABLES)}"
        )


def check_counts(path: Path, manifest: Mapping[str, Any], found: Mapping[str, int]) -> None:
    """Refuse a dataset whose tables hold another number of things than its manifest says."""
    for name, count in found.items():
        stated = manifest["counts"].get(name)
        if stated != count:
            raise DatasetError(f"{path} holds {count} {name}, and its manifest says {stated}; write it again")


def read_table(
    path: Path,
    name: str,
    wanted: Mapping[str, Wanted],
    optional: frozenset[str] = frozenset(),
    only_wanted: bool = False,
) -> pa.Table:
    """All part files of a table, in the order of their names, after a check of the columns' types."""
    with reading(path / name, DatasetError):
        parts = part_files(path / name) if (path / name).is_dir() else []
    if not parts:
        raise DatasetError(f"{path / name} is missing or has no *.parquet file; write the dataset again")
    tables = []
    for part in parts:
        with reading(part, DatasetError), pq.ParquetFile(part) as file:
            schema = file.schema_arrow
            check_types(schema, wanted, str(part), DatasetError, optional)
            columns = [column for column in schema.names if column in wanted or not only_wanted]
            tables.append(pa.schema([schema.field(column) for column in columns]).empty_table())
            # A row group at a time: half the time and half the peak of reading all of a list column at once.
            tables += [file.read_row_group(group, columns) for group in range(file.num_row_groups)]
    with reading(path / name, DatasetError):
        table = pa.concat_tables(tables).replace_schema_metadata(None)
    for column in wanted:
        if column in table.column_names and table[column].null_count:
            raise DatasetError(
                f"{path / name}: column {column!r} has {table[column].null_count} nulls; fill them"
            )
    return table


@contextmanager
def as_dataset(path: Path) -> Iterator[None]:
    """What is wrong with the values in a dataset is an error of the dataset."""
    try:
        yield
    except InputError as error:
        raise DatasetError(f"{path}: {error}") from error
