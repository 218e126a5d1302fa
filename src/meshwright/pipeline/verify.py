"""Whether what lies on disk is what was written: datasets, run folders, folders of changes and journals."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from meshwright.maintain.journal.ledger import Problem
from meshwright.maintain.journal.recording import is_recording, verify_recording
from meshwright.maintain.journal.survey import is_journal, verify_journal
from meshwright.model.storage.manifest import FILES, MANIFEST, Dataset, damage, read_manifest
from meshwright.pipeline.stream.folders import CHECKPOINT
from meshwright.runtime.errors import DatasetError
from meshwright.runtime.owned import files_below
from meshwright.runtime.places import Place, is_local
from meshwright.runtime.progress import Progress


@dataclass(frozen=True)
class Verdict:
    """What a check of a folder found.

    Attributes:
        path: the folder.
        kind: what it is: interests, overlay, costs, run, changes or journal; None if unknown.
        files: how many files were checked.
        problems: the files that are not as they were written, with what is wrong.
    """

    path: str
    kind: str | None
    files: int
    problems: tuple[tuple[str, str], ...]

    @property
    def intact(self) -> bool:
        """Whether every file is the one that was written."""
        return not self.problems


def verify(place: Place, progress: Progress | None = None) -> Verdict:
    """Check every file of a dataset, a run or a journal; costs a read of all of it, and writes nothing."""
    if is_local(place) and place.is_dir() and not (place / MANIFEST).exists():
        if is_journal(place):
            return _verdict(place, "journal", verify_journal(place))
        if is_recording(place):
            return _verdict(place, "changes", verify_recording(place))
    if is_local(place) and not place.exists():
        raise DatasetError(f"{place}: there is no such folder; check the path")
    if not (place / MANIFEST).exists():
        raise DatasetError(
            f"{place} has neither a {MANIFEST} nor a journal; give the folder of a dataset, run or journal"
        )
    try:
        dataset = Dataset(place, read_manifest(place))
    except DatasetError as error:
        return Verdict(str(place), None, 1, ((MANIFEST, str(error).removeprefix(f"{place / MANIFEST} ")),))
    return Verdict(
        str(place), dataset.manifest["kind"], _listed(dataset), tuple(_problems(dataset, progress))
    )


def _verdict(place: Path, kind: str, problems: Sequence[Problem]) -> Verdict:
    """Verify a folder that is still being written to, and so has no manifest."""
    files = [path for path in files_below(place) if not path.startswith((".", f"{CHECKPOINT}/"))]
    found = tuple((str(problem.file.relative_to(place)), problem.what) for problem in problems)
    return Verdict(str(place), kind, len(files), found)


def _listed(dataset: Dataset[Place]) -> int:
    return 1 + len(dataset.manifest.get(FILES, ()))


def _problems(dataset: Dataset[Place], progress: Progress | None) -> Iterator[tuple[str, str]]:
    if FILES not in dataset.manifest:
        yield MANIFEST, "lists no files, because an older Meshwright wrote it; write the dataset again"
        return
    yield from damage(dataset, progress=progress)
