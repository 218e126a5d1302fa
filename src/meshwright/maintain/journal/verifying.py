"""Whether a journal, and what was recorded of it, is whole. Nothing is changed, and nobody has to wait."""

from pathlib import Path

from meshwright.maintain.journal import files
from meshwright.maintain.journal.head import NAME
from meshwright.maintain.journal.ledger import Problem
from meshwright.maintain.journal.recording import SCHEMAS, checked_parts
from meshwright.maintain.journal.survey import survey
from meshwright.runtime.errors import DatasetError
from meshwright.runtime.owned import is_plain, read_plain

_TRIES = 5


def is_journal(folder: Path) -> bool:
    """Whether a folder holds a journal, or what is left of one."""
    return is_plain(folder / NAME) or files.greatest_number(folder) >= 0


def is_recording(folder: Path) -> bool:
    """Whether a folder holds tables that a maintainer has recorded."""
    return any((folder / name).is_dir() for name in SCHEMAS)


def verify_journal(folder: Path) -> list[Problem]:
    """What is damaged or missing of a journal: its snapshot, log and head, and tables inside its folder.

    Reads each file once; steps are not taken again. It takes no lock: while another process writes, it looks
    again as long as the head moves on and something seems wrong, and gives what the last look found.
    """
    problems: list[Problem] = []
    for _ in range(_TRIES):
        before = _head_data(folder)
        problems = _problems(folder)
        if not problems or before == _head_data(folder):
            break
    return problems + (verify_recording(folder) if is_recording(folder) else [])


def _head_data(folder: Path) -> bytes:
    return read_plain(folder / NAME) if is_plain(folder / NAME) else b""


def _problems(folder: Path) -> list[Problem]:
    try:
        found = survey(folder)
    except DatasetError as error:
        return [Problem(folder, f"can't be read: {error}")]
    if found.loss is not None:
        return [Problem(found.loss.file, found.loss.told)]
    if found.kept is None:
        return [Problem(folder, "holds no journal yet")]
    if not found.kept.is_chained:
        return [Problem(folder, "is of an earlier Meshwright: whether its end is there can't be told")]
    if found.head is not None and found.head.damaged:
        return [Problem(folder / NAME, "is damaged in one of its places; opening the journal mends it")]
    return []


def verify_recording(folder: Path) -> list[Problem]:
    """What is damaged, missing or not ours among the files of `changes/`, `repairs/` and `rejected/`.

    Reads each file once, without a lock; a file that is being written does not count yet.
    """
    problems: list[Problem] = []
    for name in SCHEMAS:
        try:
            problems += [found for found in checked_parts(folder, name) if isinstance(found, Problem)]
        except DatasetError as error:
            problems.append(Problem(folder / name, f"can't be read: {error}"))
    return problems
