"""The folder of a run: what it may begin in, what a finished stage leaves there, and how a run goes on.

Every stage that is finished leaves a note in `.run/`: what it found and how long it took. A run that is
killed leaves these notes and the datasets of its finished stages; resuming it goes on after the last of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import PurePosixPath
from typing import Any

from meshwright.metrics.certificates import FORMAT
from meshwright.model.storage.dataset import (
    LEFT_BEHIND,
    LISTING,
    check_outside,
    check_writable,
    is_draft,
    is_folder,
    owned_files,
    remove_draft,
    writing,
)
from meshwright.model.storage.manifest import (
    MANIFEST,
    listed_files,
    read_sealed,
    sums_of,
    write_manifest,
    write_sealed,
)
from meshwright.model.storage.single_file import GENERATOR
from meshwright.runtime import places
from meshwright.runtime.atomic_files import is_partial_of
from meshwright.runtime.checksums import CHECKSUM
from meshwright.runtime.errors import DatasetError, OptionError
from meshwright.runtime.interrupts import is_interruption
from meshwright.runtime.owned import check_ours, remove_files, remove_own_folder
from meshwright.runtime.places import Place

NOTES = ".run"
PLAN = "plan.json"
REPORT = "report.html"
CERTIFICATE = "certificate.json"
_MARKS = {REPORT: GENERATOR, CERTIFICATE: FORMAT}
"""By file, what it holds if it is ours."""

FOLDERS = ("interests", "profile", "overlay", "rejected")
_DATASETS = ("interests", "overlay")

Note = dict[str, Any]

PRODUCTS = {
    "ingest": f"interests/{MANIFEST}",
    "profile": "profile/profile.json",
    "build": f"overlay/{MANIFEST}",
    "evaluate": f"overlay/{MANIFEST}",
    "report": REPORT,
}
"""What a finished stage has made; without it the stage, and those after it, are done again."""

_NOTE_FILES = (PLAN, MANIFEST, *(f"{name}.json" for name in PRODUCTS))


def check_place(out: Place, resume: bool, force: bool) -> None:
    """Refuse a folder in which a run can't begin, or go on.

    One in which a run has begun and finished nothing (too many rows were rejected, say) is as good as new.
    """
    if resume and force:
        raise OptionError(
            "--resume keeps the finished stages, and --force removes them; give only one of the two"
        )
    check_outside(out)
    check_writable(out)
    with writing(out):
        old = read_sealed(out / NOTES / PLAN)
        entries = [entry.name for entry in out.iterdir()] if is_folder(out) else []
    if resume and old is None:
        finished = "the run is finished" if MANIFEST in entries else "there is no run"
        raise DatasetError(f"{out} has no unfinished run to resume ({finished}); leave --resume out")
    begun_only = old is not None and not _finished(out)
    if entries and not resume and not force and not begun_only:
        go_on = ", continue with resume=True (--resume)" if old is not None else ""
        raise DatasetError(
            f"{out} already exists and is not empty; choose another path{go_on}, "
            f"or overwrite with force=True (--force)"
        )
    if entries and (force or begun_only):
        _check_is_of_run(out, entries)


def begun(out: Place, plan: Note) -> dict[str, Note]:
    """Make the folder ready; what a run left there goes."""
    _clear(out)
    (out / NOTES).mkdir(parents=True, exist_ok=True)
    write_sealed(out / NOTES / PLAN, plan)
    return {}


def resumed(out: Place, plan: Note) -> dict[str, Note]:
    """The notes of what is finished; where that is nothing, the run begins anew, as it is asked for now."""
    notes = _finished(out)
    if not notes:
        return begun(out, plan)
    check_resumable(out, plan)
    return notes


@contextmanager
def gone_if_nothing_finished(out: Place) -> Iterator[None]:
    """What ends a run before its first stage is finished leaves no folder: there is nothing to resume.

    Rows that were rejected stay after an error, to be looked at.
    """
    try:
        yield
    except BaseException as error:
        rejected = (out / LEFT_BEHIND).exists() and not is_interruption(error)
        if not rejected and not _finished(out):
            with suppress(Exception):  # what can't be removed is known as a run's
                _clear(out)
                out.rmdir()
        raise


def check_resumable(out: Place, plan: Note) -> None:
    """Refuse to go on with a run that had another plan, once a stage of it is finished."""
    if not _finished(out):
        return
    changed = differences(read_sealed(out / NOTES / PLAN) or {}, plan)
    if changed:
        more = f"; and {len(changed) - _SHOWN:,} more differences" if len(changed) > _SHOWN else ""
        raise DatasetError(
            f"{out} can't be resumed: {'; '.join(changed[:_SHOWN])}{more}. Give what it was begun "
            f"with, or start over in another folder or with --force"
        )


_SHOWN = 3


def _finished(out: Place) -> dict[str, Note]:
    """The notes of the stages that are finished, and whose products are still there."""
    notes = {}
    for name, product in PRODUCTS.items():
        note = read_sealed(out / NOTES / f"{name}.json")
        if note is None or not (out / product).exists():
            break
        notes[name] = note
    return notes


def differences(old: Note, new: Note) -> list[str]:
    """What changed between two plans, a sentence each."""
    found = [
        line
        for name in sorted(old.keys() | new.keys())
        if name not in ("input_files", CHECKSUM)
        for line in _changed((name,), old.get(name), new.get(name))
    ]
    before = {file["path"]: file for file in old.get("input_files", [])}
    after = {file["path"]: file for file in new.get("input_files", [])}
    for path in sorted(before.keys() | after.keys()):
        if path not in after:
            found.append(f"the input {path} is gone")
        elif path not in before:
            found.append(f"the input {path} is new")
        elif before[path] != after[path]:
            found.append(f"the input {path} has changed since")
    return found


def _changed(path: tuple[str, ...], old: Any, new: Any) -> Iterator[str]:
    """A sentence for each option, or part of one, that has another value."""
    if old == new:
        return
    if isinstance(old, Mapping | None) and isinstance(new, Mapping | None):
        before, after = old or {}, new or {}
        for key in sorted(before.keys() | after.keys()):
            yield from _changed((*path, key), before.get(key), after.get(key))
        return
    yield f"{_called(path)} was {_written(old)} and is now {_written(new)}"


_CALLED = {"ingest relation": "--as", "line": "--max-line", "ratio": "--max-ratio", "inputs": "the input"}


def _called(path: tuple[str, ...]) -> str:
    """An option of a plan as its flag."""
    first, last = path[0], path[-1]
    if first == "versions":
        return f"the version of {last}"
    if first == "settings":
        return f"--set {last}"
    return _CALLED.get(last) or "--" + last.removeprefix("ingest ").replace("_", "-")


def _written(value: Any) -> str:
    """A value as it is given on the command line."""
    if value is None or value is False:
        return "not given"
    if isinstance(value, list):
        return ",".join(map(str, value))
    return "given" if value is True else str(value)


def _check_is_of_run(out: Place, entries: Sequence[str]) -> None:
    """Refuse to remove what is not a run's."""
    ours = _owned(out)
    strange = sorted({*entries} - {*FOLDERS, NOTES, MANIFEST, *_MARKS} - ours)
    if strange or not (listed_files(out) or NOTES in entries):
        what = f"holds {strange[0]}, which no run wrote" if strange else "was not written by a run"
        raise DatasetError(f"{out} {what}; choose another path")
    if out.is_symlink():
        raise DatasetError(
            f"{out} is a symbolic link, and Meshwright removes nothing through a link; "
            f"give the folder that it points to"
        )
    check_ours(out, sorted(_parts_of(out, entries)), ours)


def _parts_of(out: Place, entries: Sequence[str]) -> Iterator[str]:
    """All that has to be a run's; drafts are by their mark, and folders of nothing hold nothing to lose."""
    for name in entries:
        if _is_empty(out / name):
            continue
        if name not in _DATASETS or (out / name).is_symlink() or not (out / name).is_dir():
            yield name
        else:
            yield from (f"{name}/{entry.name}" for entry in (out / name).iterdir() if not is_draft(entry))


def _owned(out: Place) -> set[str]:
    """The files of a run, finished or not, that a manifest of ours lists, or that carry our mark."""
    found = listed_files(out) | (listed_files(out / NOTES) - {MANIFEST}) | owned_files(out)
    for name in _DATASETS:
        if not (out / name).is_symlink():
            found |= {f"{name}/{path}" for path in owned_files(out / name)}
    return found | set(_marked(out))


def _marked(out: Place) -> Iterator[str]:
    """Notes and numbers that are sealed, the report, and what kills have left of writing them."""
    own = {NOTES: _NOTE_FILES, "profile": ("profile.json",), ".": (MANIFEST, *_MARKS)}
    for folder, names in own.items():
        place = out if folder == "." else out / folder
        for entry in place.iterdir() if place.is_dir() and not place.is_symlink() else ():
            partial = any(is_partial_of(entry.name, name) for name in names)
            if partial or (entry.name in names and _has_mark(entry)):
                yield entry.name if folder == "." else f"{folder}/{entry.name}"


def _has_mark(file: Place) -> bool:
    if file.name not in _MARKS:
        return read_sealed(file) is not None
    with suppress(OSError, UnicodeError):
        return _MARKS[file.name] in file.read_text("utf-8")
    return False


def _clear(out: Place) -> None:
    """Remove what a run left; what a kill in here leaves is still known as a run's."""
    entries = [entry.name for entry in out.iterdir()] if out.is_dir() else []
    if not entries:
        return
    _check_is_of_run(out, entries)
    ours = _owned(out)
    for name in _DATASETS:
        for draft in [*(out / name).iterdir()] if (out / name).is_dir() else ():
            if is_draft(draft):
                remove_draft(draft)
    remove_files(out, [f"{NOTES}/{PLAN}"])
    (out / NOTES).mkdir(exist_ok=True)
    if (out / MANIFEST).exists():
        (out / MANIFEST).rename(out / NOTES / MANIFEST)
    lists = {path for path in ours if PurePosixPath(path).name in (MANIFEST, LISTING)}
    notes = {path for path in ours if path.startswith(f"{NOTES}/")}
    for files in (ours - lists - notes, lists, notes | {f"{NOTES}/{MANIFEST}"}):
        remove_files(out, files)
    for name in (*FOLDERS, NOTES):
        if _is_empty(out / name):
            (out / name).rmdir()


def _is_empty(entry: Place) -> bool:
    """Whether it is a folder of nothing, as a kill leaves between the last file and its folder."""
    return entry.is_dir() and not entry.is_symlink() and not any(entry.iterdir())


def finish(out: Place, manifest: Mapping[str, Any]) -> None:
    """Write the manifest of a finished run, which lists all its files, and remove the notes."""
    known = {
        f"{name}/{path}": found
        for name in _DATASETS
        for path, found in sums_of(read_sealed(out / name / MANIFEST) or {}).items()
    }
    write_manifest(out, manifest, known)
    remove_own_folder(out / NOTES)


@contextmanager
def alone_in(out: Place) -> Iterator[None]:
    """Refuse a second run in the folder."""
    with ExitStack() as opened:
        with writing(out):
            busy = f"another run is working in {out}; wait for it, or choose another path"
            opened.enter_context(places.alone_in(out, busy))
        yield
