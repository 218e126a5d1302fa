"""The manifest of a dataset: what made it, what it holds, and the size and checksum of every file of it.

It is written last, and holds a checksum of itself: a folder without it is no dataset, and one flipped bit in
it or in a file that it lists is noticed. A manifest may be intact and still state what can't be, so values
are read by their type. See `docs/formats.md` and `docs/safety.md`.
"""

import json
import platform
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar, cast

from meshwright.model.reading.files import reading
from meshwright.runtime.atomic_files import sync_file, sync_folder
from meshwright.runtime.checksums import CHECKSUM, Sum, is_whole, sealed, sum_of
from meshwright.runtime.errors import DatasetError, InputError, MeshwrightWarning
from meshwright.runtime.json_values import plain
from meshwright.runtime.owned import files_below
from meshwright.runtime.places import Place, Store, Where, is_local, replace_text
from meshwright.runtime.progress import Progress, stage
from meshwright.runtime.wording import as_word

Stated = TypeVar("Stated", bound=str | int | float | dict[str, Any] | list[Any])
MOST = 2**62
"""The most that a manifest may count, so that sums and products of such numbers are not absurd."""

_WORDS = {str: "text", int: "a whole number", float: "a number", dict: "an object", list: "a list"}


def stated(held: Mapping[str, Any], key: str, kind: type[Stated], where: object) -> Stated:
    """What a manifest, or a part of it, states under a key; DatasetError where it is of another type."""
    value = held.get(key)
    if type(value) is not kind:
        came = f"has no {key!r}" if key not in held else f"states {key!r} as {value!r:.60}"
        raise DatasetError(f"{where} {came}; {key!r} must be {_WORDS[kind]}: write the dataset again")
    return value


def counted(manifest: Mapping[str, Any], names: Collection[str], where: object) -> dict[str, int]:
    """What a manifest counts: whole numbers from 0 on, under all of these names."""
    counts = stated(manifest, "counts", dict, where)
    found = {name: stated(counts, name, int, f"{where}, counts") for name in names}
    for name, count in found.items():
        if not 0 <= count <= MOST:
            raise DatasetError(
                f"{where} counts {count:,} {name}, but 0 to 2^62 are possible; write the dataset again"
            )
    return found


FORMAT_VERSION = 1
_CONTENT = {
    "overlay": "an overlay",
    "comparison": "a comparison",
    "migration": "a migration",
    "plan": "a plan",
    "run": "a run",
    "changes": "the changes of a stream",
    "interests": "interests",
    "costs": "costs",
}
"""What a dataset of each kind contains, in the words of an error."""
MANIFEST = "manifest.json"
FILES = "files"
TABLES = ("interests", "nodes", "topics", "lists", "edges")
"""The tables that a dataset of ours can always have; others are named in the manifest."""

_OURS = ("format_version", "kind", "counts", "facts", "tables", "versions", FILES, CHECKSUM)
_PACKAGES = ("meshwright", "numpy", "numba", "pyarrow")


class Dataset(NamedTuple, Generic[Where]):
    """Where a dataset is, and its manifest."""

    path: Where
    manifest: dict[str, Any]

    def has(self, table: str) -> bool:
        """Whether the dataset has a table, by the list of its manifest; by its folder where there is none."""
        files = self.manifest.get(FILES)
        if files is None:
            return (self.path / table).is_dir()
        return any(_top(path) == table for path in files)


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
    """The versions of Python and of the packages that results depend on."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def write_manifest(
    folder: Place,
    manifest: Mapping[str, Any],
    known: Mapping[str, Sum] | None = None,
    names: Iterable[str] | None = None,
) -> None:
    """Write the manifest of the files in the entries `names` of a folder, by default all that are not hidden.

    They and their names are on disk then. `known` has the sums of files that were forced to disk when they
    were written; the others are read once and forced to disk here.
    """
    write_sealed(folder / MANIFEST, {**manifest, FILES: listing(folder, known or {}, names)})


def listing(
    folder: Place, known: Mapping[str, Sum], names: Iterable[str] | None = None
) -> dict[str, dict[str, Any]]:
    """Size and checksum of the files of `write_manifest`, which are on disk then."""
    shown = [entry.name for entry in folder.iterdir() if not entry.name.startswith(".")]
    entries = sorted({*shown} - {MANIFEST} if names is None else {*shown} & {*names})
    paths = [path for name in entries for path in _files_at(folder, name)]
    new = [path for path in paths if path not in known]
    if is_local(folder):
        for path in new:
            sync_file(folder / path)
        for parent in {folder, *((folder / path).parent for path in paths)}:
            sync_folder(parent)
    sums = {**known, **_sums(folder, new)}
    return {path: sums[path]._asdict() for path in paths}


def write_sealed(path: Place, value: Mapping[str, Any]) -> None:
    """Write a JSON object with its checksum, in place of what is there: all of it or nothing."""
    replace_text(path, f"{json.dumps(sealed(value), indent=2, ensure_ascii=False)}\n")


def read_sealed(path: Place) -> dict[str, Any] | None:
    """A JSON object that was written with its checksum; None where there is none, or it is not whole."""
    with suppress(OSError, ValueError, RecursionError):
        value = json.loads(path.read_text("utf-8"))
        if isinstance(value, dict) and is_whole(value):
            return value
    return None


def without_files(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What a manifest says, without the list of files and its own checksum: what `make_manifest` gave."""
    return {key: value for key, value in manifest.items() if key not in (FILES, CHECKSUM)}


def listed_files(folder: Place) -> set[str]:
    """The files that the manifest of a dataset lists, and the manifest; nothing where it is none of ours."""
    manifest = read_sealed(folder / MANIFEST)
    if manifest is None or not _are_files(manifest.get(FILES)):
        return set()
    return {MANIFEST, *manifest[FILES]}


def read_manifest(path: str | Place, *kinds: str) -> dict[str, Any]:
    """The manifest of the dataset at `path`, which must be of one of `kinds`, if any are given."""
    path = Path(path) if isinstance(path, str) else path
    with reading(path, DatasetError):
        if path.is_file():
            raise DatasetError(
                f"{path} is a file, and a dataset is a folder; make one with "
                f"meshwright ingest {as_word(path)} --as pairs --out DIR",
                path=path,
            )
        if not path.is_dir():
            raise DatasetError(
                f"{path}: there is no such folder; a dataset is a folder with a {MANIFEST}", path=path
            )
        if not (path / MANIFEST).is_file():
            raise DatasetError(
                f"{path} has no {MANIFEST}: it is not a dataset, is still being written, or was left "
                f"unfinished; wait, or write it again",
                path=path,
            )
        text = (path / MANIFEST).read_text("utf-8")
    try:
        manifest = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DatasetError(
            f"{path / MANIFEST} is not JSON: {error}; write the dataset again", path=path / MANIFEST
        ) from None
    _check_manifest(path, manifest, kinds)
    return manifest  # type: ignore[no-any-return]


def open_dataset(path: Where, *kinds: str) -> Dataset[Where]:
    """The dataset at `path`, to read tables of; one without checksums is opened with a warning."""
    manifest = read_manifest(path, *kinds)
    if FILES not in manifest:
        warnings.warn(
            f"{path} has no checksums, because an older Meshwright or another program wrote it: damage to it "
            f"goes unnoticed; write it again to add them",
            MeshwrightWarning,
            stacklevel=2,
        )
    return Dataset(path, manifest)


def _check_manifest(path: Place, manifest: Any, kinds: tuple[str, ...]) -> None:
    if not isinstance(manifest, dict):
        raise DatasetError(
            f"{path / MANIFEST} is not the manifest of a dataset, but JSON of another kind; "
            f"choose another folder, or write the dataset again",
            path=path / MANIFEST,
        )
    version = manifest.get("format_version")
    if version != FORMAT_VERSION or isinstance(version, bool):
        raise DatasetError(
            f"{path / MANIFEST} has format version {version!r}; this Meshwright reads {FORMAT_VERSION}: "
            f"use the Meshwright that wrote it, or write it again",
            path=path / MANIFEST,
        )
    if (FILES in manifest or CHECKSUM in manifest) and not is_whole(manifest):
        raise DatasetError(
            f"{path / MANIFEST} has changed since it was written: it is damaged, or was edited; "
            f"restore it from a backup, or write the dataset again",
            path=path / MANIFEST,
        )
    _check_keys(path / MANIFEST, manifest)
    if kinds and manifest.get("kind") not in kinds:
        kind, wanted = manifest.get("kind"), " or ".join(_CONTENT.get(one, one) for one in kinds)
        within = f", such as {path / kinds[0]}" if kind == "run" else ""
        if kind == "interests" and "overlay" in kinds:
            within = f", which meshwright build {as_word(path)} --algorithm NAME --out DIR makes"
        found = _CONTENT.get(kind, repr(kind)) if isinstance(kind, str) else repr(kind)
        raise DatasetError(
            f"{path} contains {found}, not {wanted}; give a dataset with {wanted}{within}",
            path=path,
        )


def _check_keys(path: Place, manifest: Mapping[str, Any]) -> None:
    """Refuse a manifest that is whole, and yet not what one of ours would be."""
    for key in ("counts", "facts", "tables"):
        if not isinstance(manifest.get(key), dict):
            raise DatasetError(f"{path} has no {key!r}; write the dataset again", path=path)
    for name in manifest["tables"]:
        check_table_name(name, DatasetError)
    if FILES in manifest and not _are_files(manifest[FILES]):
        raise DatasetError(f"{path} has no valid list of files; write the dataset again", path=path)


def _are_files(files: Any) -> bool:
    """Whether a list of files is one: paths that lead below the folder, each with its size and checksum."""
    return isinstance(files, dict) and all(
        _leads_below(path)
        and isinstance(found, dict)
        and set(found) == set(Sum._fields)
        and isinstance(found["bytes"], int)
        for path, found in files.items()
    )


def _leads_below(path: str) -> bool:
    return bool(path) and not set(path.split("/")) & {"", ".", ".."} and "\0" not in path


def check_table_name(name: str, error: type[InputError] | type[DatasetError]) -> None:
    """Refuse the name of an extra table that can't be a folder beside ours."""
    if not re.fullmatch("[a-z][a-z0-9_]*", name) or name in TABLES:
        raise error(
            f"an extra table can't be called {name!r}; use lower-case letters, digits and _, "
            f"but none of {', '.join(TABLES)}"
        )


def check_counts(dataset: Dataset[Where], found: Mapping[str, int]) -> None:
    """Refuse a dataset whose tables hold another number of things than its manifest says."""
    for name, count in found.items():
        stated = dataset.manifest["counts"].get(name)
        if stated != count:
            raise DatasetError(
                f"{dataset.path} holds {count} {name}, but its manifest says {stated}; "
                f"write the dataset again",
                path=dataset.path,
            )


def check_files(dataset: Dataset[Where], tables: Iterable[str]) -> None:
    """Refuse tables with a file that is not the one that was written, or that the manifest does not list.

    A dataset without checksums passes. Costs a read of these tables.
    """
    if FILES not in dataset.manifest:
        return
    for path, wrong in damage(dataset, tables):
        if (read_sealed(dataset.path / MANIFEST) or {}).get(CHECKSUM) != dataset.manifest[CHECKSUM]:
            raise DatasetError(
                f"{dataset.path} was rewritten while it was being read; read it again", path=dataset.path
            )
        raise DatasetError(
            f"{dataset.path / path} {wrong}; restore it from a backup, or write the dataset again",
            path=dataset.path / path,
        )


def damage(
    dataset: Dataset[Where], names: Iterable[str] | None = None, progress: Progress | None = None
) -> Iterator[tuple[str, str]]:
    """The files that are not as the manifest lists them, with what is wrong with each.

    Looks at the entries `names` of the dataset's folder; by default at all that the manifest lists, and not
    at what else lies beside them.
    """
    every = sums_of(dataset.manifest)
    wanted = {_top(path) for path in every} if names is None else set(names)
    listed = {path: found for path, found in every.items() if _top(path) in wanted}
    with reading(dataset.path, DatasetError):
        there = _sums(dataset.path, wanted, progress)
    for path in sorted({*listed, *(path for path in there if path in listed or not _is_hidden(path))}):
        wrong = _difference(listed.get(path), there.get(path))
        if wrong:
            yield path, wrong


def sums_of(manifest: Mapping[str, Any]) -> dict[str, Sum]:
    """The sums of the files that a manifest lists."""
    return {path: Sum(**found) for path, found in manifest.get(FILES, {}).items()}


def _is_hidden(path: str) -> bool:
    """Whether readers pass over a file: Hadoop's own checksums, say, or what a file manager leaves."""
    return path.rpartition("/")[2].startswith((".", "_"))


def _top(path: str) -> str:
    return path.partition("/")[0]


def _difference(listed: Sum | None, found: Sum | None) -> str | None:
    if found is None:
        return "is missing"
    if listed is None:
        return "is not listed in the manifest"
    if found.bytes != listed.bytes:
        return f"is damaged: it has {found.bytes:,} bytes instead of {listed.bytes:,}"
    return None if found == listed else "is damaged: its checksum differs from the one in the manifest"


def _sums(folder: Place, names: Iterable[str], progress: Progress | None = None) -> dict[str, Sum]:
    """The sums of all files in some entries of a folder."""
    if not is_local(folder):
        return cast(Store, folder).sums(names)
    there = [path for name in names for path in _files_at(folder, name)]
    sums = {}
    with stage(progress, "checking", len(there)) as advance:
        for at, path in enumerate(there, 1):
            sums[path] = sum_of(folder / path)
            advance(at)
    return sums


def _files_at(folder: Place, name: str) -> Iterator[str]:
    if (folder / name).is_dir():
        yield from files_below(folder, name)
    elif (folder / name).exists():
        yield name
