"""Look into the folder of a journal: what can be read, and which acknowledged steps are lost.

Nothing here changes a file.
"""

from pathlib import Path
from typing import Any, NamedTuple

from meshwright.maintain.journal import files
from meshwright.maintain.journal.head import NAME, FoundHead, HeadClaim, Position, read_head
from meshwright.maintain.journal.ledger import Problem
from meshwright.maintain.journal.log import LogContents, read_log, revisions_of
from meshwright.maintain.journal.recording import is_recording, verify_recording
from meshwright.model.reading.files import reading
from meshwright.runtime.errors import DatasetError
from meshwright.runtime.owned import is_plain, read_plain

_TRIES = 5


class Loss(NamedTuple):
    """Steps that are missing from a journal.

    Attributes:
        file: the file that shows the loss.
        what: what is wrong with that file.
        steps: the number of missing steps; None where that is unknown.
        left: the last revision that is left; -1 if nothing is.
        last: the last revision that was acknowledged; None where that is unknown.
        by_power: whether a loss of power explains it, under the `sync` policy that was chosen.
    """

    file: Path
    what: str
    steps: int | None
    left: int
    last: int | None
    by_power: bool = False

    def __str__(self) -> str:
        return f"{self.file} {self.told}"

    @property
    def told(self) -> str:
        """What is wrong and what is missing, without the name of the file."""
        return f"{self.what}; {self._missing()}"

    def _missing(self) -> str:
        if self.last is None:
            return f"everything after revision {self.left:,} is missing"
        if self.last <= self.left:
            return f"it can't be checked whether the steps up to revision {self.left:,} are complete"
        many = "" if self.steps is None else f" ({self.steps:,} {'step' if self.steps == 1 else 'steps'})"
        return f"the acknowledged part from revision {self.left + 1:,} to {self.last:,}{many} is missing"

    def as_row(self) -> dict[str, Any]:
        """In JSON's types."""
        return {**self._asdict(), "file": str(self.file)}


class LostStepsError(DatasetError):
    """A journal has lost acknowledged steps; `loss` says which."""

    def __init__(self, loss: Loss) -> None:
        left = f"continue from revision {loss.left:,}" if loss.left >= 0 else "start again from the overlay"
        super().__init__(
            f"{loss}; restore the files from a backup, or use accept_loss=True (--accept-loss) to give up "
            f"the lost steps and {left}; the files are kept in a folder of their own"
        )
        self.loss = loss


class KeptGeneration(NamedTuple):
    """A generation of a journal, as far as it can be read."""

    generation: int
    snapshot: files.Snapshot
    contents: LogContents

    @property
    def is_chained(self) -> bool:
        """Whether its records have hashes of those before them; those of old journals don't."""
        return bool(self.snapshot.header["format"] != files.UNCHAINED)

    def revision(self, steps: int) -> int:
        """The revision after this many steps."""
        if not steps:
            return int(self.snapshot.header["revision"])
        row = self.contents.rows[steps - 1]
        return int(row["revision"]) + revisions_of(row)

    def position(self) -> Position:
        """Its end."""
        steps = len(self.contents.rows)
        size, chain = self.contents.marks[-1]
        return Position(self.generation, steps, self.revision(steps), size, chain or "")


class Survey(NamedTuple):
    """What can be read of a journal, what is missing of it, and its head; each None if there is none."""

    kept: KeptGeneration | None
    loss: Loss | None
    head: FoundHead | None

    @property
    def torn(self) -> int:
        """The bytes of a step that was cut off and never acknowledged."""
        return 0 if self.kept is None or self.loss else self.kept.contents.rest


def survey(folder: Path) -> Survey:
    """Read the snapshot, the log and the head of a journal."""
    files.check_folder(folder)
    with reading(folder / NAME, DatasetError):
        head = read_head(folder)
    kept, damaged = _newest(folder)
    return Survey(kept, _loss(folder, kept, damaged, head), head)


def _newest(folder: Path) -> tuple[KeptGeneration | None, Path | None]:
    """The newest generation whose snapshot can be read, and the newest snapshot, if it can't."""
    damaged = None
    for generation in files.generations(folder):
        path = files.snapshot_path(folder, generation)
        snapshot = files.read_snapshot(path)
        if snapshot is not None:
            chained = snapshot.header["format"] != files.UNCHAINED
            data = _log_data(folder, generation) or b""
            return KeptGeneration(
                generation, snapshot, read_log(data, snapshot.chain if chained else None)
            ), damaged
        damaged = damaged or path
    return None, damaged


def _log_data(folder: Path, generation: int) -> bytes | None:
    path = files.log_path(folder, generation)
    with reading(path, DatasetError):
        return read_plain(path) if is_plain(path) else None


def _loss(
    folder: Path, kept: KeptGeneration | None, damaged: Path | None, head: FoundHead | None
) -> Loss | None:
    claim = head.claim if head else None
    last = claim.reached.revision if claim else None
    left = kept.position().revision if kept else -1
    if damaged is not None:
        return Loss(damaged, "is damaged", None, left, last)
    if kept is None:
        return _loss_of_all(folder, head)
    if claim is not None and claim.reached.generation > kept.generation:
        return Loss(files.snapshot_path(folder, claim.reached.generation), "is missing", None, left, last)
    if not is_plain(files.log_path(folder, kept.generation)):
        return Loss(files.log_path(folder, kept.generation), "is missing", _steps(kept, claim), left, last)
    if kept.is_chained and claim is None:
        what = "is missing" if head is None else "is damaged"
        return Loss(folder / NAME, f"{what}, so it is unknown where the journal ends", None, left, left)
    return _loss_of_tail(folder, kept, claim)


def _loss_of_all(folder: Path, head: FoundHead | None) -> Loss | None:
    """The loss of a journal without a snapshot, unless it never had one."""
    logs = [number for number in files.generations(folder, ".log") if _log_data(folder, number)]
    claim = head.claim if head else None
    if claim is None and head is None and not logs:
        return None
    if claim is not None and claim.reached.generation < 0 and not logs:
        return None
    generation = claim.reached.generation if claim else max(logs, default=0)
    last = claim.reached.revision if claim else None
    return Loss(files.snapshot_path(folder, max(0, generation)), "is missing", None, -1, last)


def _steps(kept: KeptGeneration, claim: HeadClaim | None) -> int | None:
    if claim is None or claim.reached.generation != kept.generation:
        return None
    return max(0, claim.reached.steps - len(kept.contents.rows))


def _follows(kept: KeptGeneration, claim: HeadClaim) -> bool:
    """Whether the head is one generation behind, which is no loss while the new one has no steps."""
    before = kept.snapshot.header["before"]
    is_old = claim.reached.generation < 0 or claim.reached.revision <= before["revision"]
    return is_old and not kept.contents.rows and not kept.contents.whole_after


def _loss_of_tail(folder: Path, kept: KeptGeneration, claim: HeadClaim | None) -> Loss | None:
    """Steps that the head claims and the log lacks, or damage before lines that are intact."""
    contents, end = kept.contents, kept.position()
    path = files.log_path(folder, kept.generation)
    where = f"is damaged at byte {contents.size:,}" if contents.rest else f"ends at byte {contents.size:,}"
    if claim is not None and claim.reached.generation == kept.generation:
        reached, by_power = claim.reached, claim.may_lose(contents.size)
        if end.steps < reached.steps:
            missing = reached.steps - end.steps
            return Loss(path, where, missing, end.revision, reached.revision, by_power)
        if contents.marks[reached.steps] != (reached.size, reached.chain):
            return Loss(path, f"does not fit {folder / NAME}", None, end.revision, reached.revision)
    elif claim is not None and kept.is_chained and not _follows(kept, claim):
        return Loss(folder / NAME, "is older or newer than the log", None, end.revision, end.revision)
    if contents.whole_after:
        power = claim is not None and claim.may_lose(contents.size)
        return Loss(path, f"{where}, but intact lines follow", None, end.revision, None, power)
    return None


def is_journal(folder: Path) -> bool:
    """Whether a folder holds a journal, or what is left of one."""
    return is_plain(folder / NAME) or files.greatest_number(folder) >= 0


def verify_journal(folder: Path) -> list[Problem]:
    """Find what is damaged or missing in a journal: snapshot, log, head, and tables inside its folder.

    Reads each file once and replays no steps. It takes no lock: if something seems wrong and the head has
    moved meanwhile, since another process writes, it looks again, a few times at most.
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
        return [
            Problem(
                folder, "is from an earlier Meshwright, so it can't be checked whether its end is missing"
            )
        ]
    if found.head is not None and found.head.damaged:
        return [Problem(folder / NAME, "has a damaged copy; opening the journal repairs it")]
    return []
