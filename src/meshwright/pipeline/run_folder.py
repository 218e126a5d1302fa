"""The folder of a run: what it may begin in, what a finished stage leaves there, and how a run goes on.

Every stage that is finished leaves a note in `.run/`: what it found and how long it took. A run that is
killed leaves these notes and the datasets of its finished stages; resuming it goes on after the last of them.
"""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from meshwright.errors import DatasetError, OptionError
from meshwright.model.dataset import MANIFEST, remove_folder, writing

NOTES = ".run"
PLAN = "plan.json"
REPORT = "report.html"
FOLDERS = ("interests", "profile", "overlay", "rejected")

Note = dict[str, Any]

PRODUCTS = {
    "ingest": f"interests/{MANIFEST}",
    "profile": "profile/profile.json",
    "build": f"overlay/{MANIFEST}",
    "evaluate": f"overlay/{MANIFEST}",
    "report": REPORT,
}
"""What a finished stage has made; without it the stage, and those after it, are done again."""


def check_place(out: Path, resume: bool, force: bool) -> None:
    """Refuse a folder in which a run can't begin, or go on.

    One in which a run has begun and finished nothing (too many rows were rejected, say) is as good as new.
    """
    if resume and force:
        raise OptionError("resume goes on with what is there and force removes it; give one of them")
    with writing(out):
        old = read_json(out / NOTES / PLAN)
        entries = [entry.name for entry in out.iterdir()] if out.is_dir() else []
    if resume and old is None:
        finished = "it was finished" if MANIFEST in entries else "there was none"
        raise DatasetError(f"{out}: no run was cut off here ({finished}); leave --resume out")
    begun_only = old is not None and not _finished(out)
    if entries and not resume and not force and not begun_only:
        go_on = ", go on with resume=True (--resume)" if old is not None else ""
        raise DatasetError(
            f"{out} is there already and not empty; choose another path{go_on}, "
            f"or overwrite with force=True (--force)"
        )
    if entries and (force or begun_only):
        _check_is_of_run(out, entries)


def begun(out: Path, plan: Note) -> dict[str, Note]:
    """Make the folder ready; what a run left there goes."""
    _clear(out)
    (out / NOTES).mkdir(parents=True, exist_ok=True)
    write_json(out / NOTES / PLAN, plan)
    return {}


def resumed(out: Path, plan: Note) -> dict[str, Note]:
    """The notes of what is finished; where that is nothing, the run begins anew, as it is asked for now."""
    notes = _finished(out)
    if not notes:
        return begun(out, plan)
    changed = differences(read_json(out / NOTES / PLAN) or {}, plan)
    if changed:
        raise DatasetError(
            f"{out} can't be resumed: {changed[0]}; start anew in another folder or with --force"
        )
    return notes


def _finished(out: Path) -> dict[str, Note]:
    """The notes of the stages that are finished, and whose products are still there."""
    notes = {}
    for name, product in PRODUCTS.items():
        note = read_json(out / NOTES / f"{name}.json")
        if note is None or not (out / product).exists():
            break
        notes[name] = note
    return notes


def differences(old: Note, new: Note) -> list[str]:
    """What changed between two plans, a sentence each."""
    found = [
        f"{name} was {old.get(name)!r} and is {new.get(name)!r}"
        for name in sorted(old.keys() | new.keys())
        if name != "files" and old.get(name) != new.get(name)
    ]
    before = {file["path"]: file for file in old.get("files", [])}
    after = {file["path"]: file for file in new.get("files", [])}
    for path in sorted(before.keys() | after.keys()):
        if path not in after:
            found.append(f"the input {path} is gone")
        elif path not in before:
            found.append(f"the input {path} is new")
        elif before[path] != after[path]:
            found.append(f"the input {path} was changed since")
    return found


def _check_is_of_run(out: Path, entries: Sequence[str]) -> None:
    """Refuse to remove what is not a run's."""
    ours = {*FOLDERS, NOTES, MANIFEST, REPORT}
    strange = sorted(name for name in entries if name not in ours and not name.startswith(f".{REPORT}."))
    manifest = read_json(out / MANIFEST)
    of_run = (manifest or {}).get("kind") == "run" or NOTES in entries
    if strange or not of_run:
        what = f"holds {strange[0]}, which is not of a run" if strange else "is not of a run"
        raise DatasetError(f"{out} {what}; choose another path")


def _clear(out: Path) -> None:
    """Remove what a run left."""
    entries = [entry.name for entry in out.iterdir()] if out.is_dir() else []
    if not entries:
        return
    _check_is_of_run(out, entries)
    (out / NOTES).mkdir(exist_ok=True)  # so that what a kill in here leaves is known as a run's
    (out / NOTES / PLAN).unlink(missing_ok=True)
    for name in (MANIFEST, *(name for name in entries if name not in (MANIFEST, NOTES)), NOTES):
        entry = out / name
        if entry.is_dir():
            remove_folder(entry)
        else:
            entry.unlink(missing_ok=True)


@contextmanager
def alone_in(out: Path) -> Iterator[None]:
    """Refuse a second run in the folder at the same time.

    The folder itself is locked, so that a kill leaves nothing behind; other places than the disks of this
    machine know no locks.
    """
    if not isinstance(out, Path):
        yield
        return
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        folder = os.open(out, os.O_RDONLY)
    try:
        _lock(folder, out)
        yield
    finally:
        os.close(folder)


def _lock(folder: int, out: Path) -> None:
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise DatasetError(f"another run works in {out}; wait for it, or choose another path") from None


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a note, for machines and for people."""
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", "utf-8")


def read_json(path: Path) -> Note | None:
    """A note, or None where there is none; one that a kill has cut off is none either."""
    with suppress(OSError, ValueError):
        found: Note = json.loads(path.read_text("utf-8"))
        return found
    return None
