"""Write a journal: its present log, its head, and the change from one generation to the next."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from meshwright.maintain.journal import files
from meshwright.maintain.journal.head import NOTHING, Head, Position
from meshwright.maintain.journal.log import Log
from meshwright.maintain.journal.sealed_lines import link_of, sealed
from meshwright.maintain.journal.survey import KeptGeneration
from meshwright.maintain.journal.syncing import ALWAYS, start_syncing
from meshwright.runtime.errors import DatasetError, MeshwrightError
from meshwright.runtime.owned import is_plain


class JournalWriter:
    """Appends records, each with a hash of the one before, and notes in the head how far they reach.

    Order: a record is in the log, and on disk if the policy says so, before the head mentions it. So the head
    never claims more than the log holds. A new generation is on disk, and in the head, before its first
    record is written and before any file of the former one is removed.
    """

    def __init__(
        self,
        folder: Path,
        descriptor: int,
        sync: str | int,
        kept: KeptGeneration | None,
        about: Mapping[str, Any],
    ) -> None:
        """Continue what is kept, all of which is on disk then; or nothing, before `start`.

        Every snapshot says `about` what the journal is.
        """
        self._folder, self._descriptor, self._about = folder, descriptor, about
        self._pending = False
        self._log: Log | None = None
        self._reached = NOTHING
        if kept is not None:
            path = files.log_path(folder, kept.generation)
            self._log = Log.cut_at(path, kept.contents.size) if is_plain(path) else Log.new(path)
            self._log.sync()
            self._reached = kept.position()
        chained = kept is not None and kept.is_chained
        self._head = Head(folder, self._reached if chained else NOTHING, sync)
        files.sync_names(folder, descriptor)
        if kept is not None:
            files.remove_others(folder, kept.generation)
        self._syncing = start_syncing(sync, self._sync_log if sync == ALWAYS else self._sync_quietly)

    @property
    def generation(self) -> int:
        """The number of the present generation."""
        return self._reached.generation

    @property
    def is_unsure(self) -> bool:
        """Whether it is unknown what is on disk, so that a new generation has to come first."""
        return self._log is not None and self._log.unsure

    def append(self, row: Mapping[str, Any], revision: int) -> None:
        """Write a record that leads to a revision; if this raises, the record is not there."""
        self._check()
        assert self._log is not None
        line = sealed({**row, "before": self._reached.chain})
        old, size = self._reached, self._log.size
        self._pending = True
        try:
            self._log.append(line)
            self._syncing.written()
            new = Position(old.generation, old.steps + 1, revision, self._log.size, link_of(line))
            self._head.reach(new)
        except BaseException:
            self._take_back(old, size)
            raise
        self._reached = new
        self._pending = False

    def _check(self) -> None:
        if self._pending:
            raise MeshwrightError(
                f"an earlier step was interrupted; close the journal in {self._folder} and open it again"
            )

    def _take_back(self, old: Position, size: int) -> None:
        """Remove a record; from the head first, which must not mention what is gone."""
        assert self._log is not None
        if self._head.said != old:
            self._head.reach(old)
        self._log.cut(size)
        self._pending = False

    def sync(self) -> None:
        """Force everything to disk, the head after the log."""
        reached, log = self._reached, self._log  # in this order: the position is one of this log, or older
        if log is not None:
            log.sync()
            self._head.secure(reached)

    def _sync_log(self) -> None:
        assert self._log is not None
        self._log.sync()

    def _sync_quietly(self) -> None:
        """Sync on another thread; the log remembers a failure."""
        with suppress(DatasetError):
            self.sync()

    def start(self, revision: int, data: bytes) -> int:
        """Begin a generation: a log, then a snapshot, whose name makes both count. Returns its checksum.

        If this fails, nothing has changed. `name` has to follow before anything is appended.
        """
        self._check()
        generation = files.greatest_number(self._folder) + 1
        log = Log.new(files.log_path(self._folder, generation))
        header = {"format": files.FORMAT, "about": self._about, "revision": revision}
        header["before"] = self._reached._asdict()
        self._pending = True  # whoever interrupts this has to open the journal again
        try:
            files.sync_names(self._folder, self._descriptor)
            path = files.snapshot_path(self._folder, generation)
            checksum, chain = files.write_snapshot(path, header, data)
        except DatasetError:
            log.discard()
            self._pending = False
            raise
        log.unsure = True
        old, self._log = self._log, log
        self._reached = Position(generation, 0, revision, 0, chain)
        self._pending = False
        if old is not None:
            old.close()
        return checksum

    def name(self) -> None:
        """Force a new generation to disk; until then, a loss of power may bring the old one back."""
        assert self._log is not None
        files.sync_names(self._folder, self._descriptor)
        self._head.reach(self._reached)
        self._head.secure(self._reached)
        self._log.unsure = False
        files.remove_others(self._folder, self.generation)

    def release(self) -> None:
        """Close the files."""
        self._syncing.close()
        if self._log is not None:
            self._log.close()
        self._head.close()
