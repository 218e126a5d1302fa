"""A maintainer whose steps are on disk before they are taken, and who comes back to them after any end."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Protocol

from meshwright.construct.option_checks import check_whole
from meshwright.errors import DatasetError, InputError, MeshwrightError
from meshwright.maintain import journal_files as files
from meshwright.maintain.identity import check_options, check_overlay, identity
from meshwright.maintain.maintainer import Maintainer
from meshwright.maintain.repairs import Repair
from meshwright.maintain.steps import Step, digest, step_of, step_row
from meshwright.maintain.syncing import ALWAYS, start_syncing
from meshwright.model.overlay import Overlay
from meshwright.progress import Progress, stage


class Follower(Protocol):
    """Somebody who makes something lasting of every step."""

    def open(self) -> int | None:
        """Nobody else writes now. Gives the revision up to which all is lasting; None before anything is."""

    def follow(self, step: Step, repair: Repair) -> None:
        """A step was taken. After a restart, all that are not settled come again, and maybe some that are."""

    def settle(self) -> None:
        """Make all that was followed lasting: the journal may forget these steps."""


class Recovery(NamedTuple):
    """What a journal found: the revision of its snapshot, the steps since, and the bytes of one cut off."""

    snapshot_revision: int
    steps: int
    torn: int


class Journal:
    """A `Maintainer`, `live`, with a folder in which every step is written before it is taken.

    Guarantee: what `live` has returned from is there again when the journal is opened after the process was
    killed at any moment; after a loss of power, what was synced is. A step that was never returned from is
    there as a whole or not at all. What steps taken again come to is compared with what they came to the
    first time. An event whose id was applied is passed over after a restart too, as long as `remember` says.

    A step that can't be written (a full disk) raises a `DatasetError` and changes nothing; the journal goes
    on when there is room again. Only one process at a time can have a journal open.

    Cost: a line for a step, and for every `compact_after` events a snapshot, linear in the overlay; opening
    reads a snapshot and takes at most about so many events again.

    Args:
        folder: made if need be. An existing journal goes on; one of another overlay, of another seed or with
            other options is refused.
        overlay: where to start; may be left out where there is a journal already, and the options with it.
        sync: when steps are forced to disk: `always` before they are taken; after so many milliseconds (a
            loss of power costs at most the steps of that time); or `never` (it is left to the system).
        compact_after: how many events are in the log before it makes place for a snapshot.
        follower: told of every step, again where that may be needed.
        seed: as for `Maintainer`.
        progress: shown while backups are chosen or steps taken again.
        options: those of `Maintainer`.
    """

    def __init__(
        self,
        folder: str | Path,
        overlay: Overlay | None = None,
        *,
        sync: str | int = ALWAYS,
        compact_after: int = 5_000,
        follower: Follower | None = None,
        seed: int = 0,
        progress: Progress | None = None,
        **options: Any,
    ) -> None:
        check_whole("compact_after", compact_after, 1, required=True)
        self.folder = Path(folder)
        self._compact_after, self._follower = compact_after, follower
        self._pending, self._since, self._last = False, 0, 0
        with ExitStack() as opened:
            self._descriptor = opened.enter_context(files.locked_folder(self.folder))
            generation = files.last_generation(self.folder)
            if generation is not None:
                self._recover(generation, overlay, seed, options)
                opened.callback(self._close_log)
            # After all that may be refused, since a follower removes what was never settled.
            settled = None if follower is None else follower.open()
            if generation is None:
                self._begin(overlay, seed, progress, options)
                opened.callback(self._close_log)
            else:
                self._check_followed(settled)
                self._replay(progress)
            self._check_settled(settled)
            syncing = start_syncing(sync, self._log_sync if sync == ALWAYS else self._log_sync_quietly)
            opened.callback(syncing.close)
            self._written = syncing.written
            self.live.tell(self)
            self._opened = opened.pop_all()

    def _begin(
        self, overlay: Overlay | None, seed: int, progress: Progress | None, options: Mapping[str, Any]
    ) -> None:
        if overlay is None:
            raise InputError(f"{self.folder} holds no journal; give an overlay to begin one with")
        self._about = identity(overlay)
        self.live = Maintainer(overlay, seed=seed, progress=progress, **options)
        self.recovery = Recovery(0, 0, 0)
        if self._follower is not None:
            self._follower.follow(Step(), self.live.start)
            self._follower.settle()
        self._start_generation(0)
        self._name_on_disk()

    def _recover(
        self, generation: int, overlay: Overlay | None, seed: int, options: Mapping[str, Any]
    ) -> None:
        header, data = files.read_snapshot(files.snapshot_path(self.folder, generation))
        self._about = header["about"]
        if overlay is not None:
            check_overlay(self.folder, self._about, overlay)
        self.live = Maintainer.restore(data)
        if overlay is not None or options:
            check_options(self.folder, self.live, seed, options)
        self.generation, self._last = generation, header["checksum"]
        contents = files.read_log(files.log_path(self.folder, generation))
        self._rows = contents.rows
        self.recovery = Recovery(self.live.revision, len(contents.rows), contents.torn)
        self._log = files.Log(files.log_path(self.folder, generation), contents.size)
        files.remove_others(self.folder, generation)

    def _replay(self, progress: Progress | None) -> None:
        """Take the steps of the log again."""
        with stage(progress, "reading the journal", len(self._rows)) as advance:
            for at, row in enumerate(self._rows, 1):
                if row["revision"] != self.live.revision or row["last"] != self._last:
                    raise DatasetError(
                        f"{self.folder}: the steps up to revision {row['revision']:,} came to something else "
                        f"the first time; open it with the Meshwright that wrote it, {self._about['by']}"
                    )
                step = step_of(row)
                self.after(step, _taken(self.live, step))
                advance(at)
        del self._rows

    def _check_followed(self, settled: int | None) -> None:
        """A follower has settled the start before there is a journal."""
        if self._follower is not None and settled is None:
            raise DatasetError(
                f"{self.folder} has reached revision {self.live.revision:,} or more, and its changes are not "
                f"there; give the folder that they went to, or begin both anew"
            )

    def _check_settled(self, settled: int | None) -> None:
        if settled is not None and not self.recovery.snapshot_revision <= settled <= self.live.revision:
            raise DatasetError(
                f"{self.folder} knows the steps from revision {self.recovery.snapshot_revision:,} to "
                f"{self.live.revision:,}, and what follows it ends at {settled:,}: one of the two is from "
                f"elsewhere, or was restored from an old copy; begin both anew"
            )

    def before(self, step: Step) -> None:
        """Write a step that comes next."""
        if self._pending:
            raise MeshwrightError(
                f"an earlier step was interrupted; close the journal in {self.folder} and open it again"
            )
        if self._since >= self._compact_after:
            self._since = 0
            with suppress(DatasetError):  # no room for a snapshot, but perhaps for the step
                self.compact()
        if self._log.unsure:
            self.compact()
        row = {"revision": self.live.revision, "last": self._last, **step_row(step)}
        size = self._log.size
        self._pending = True
        try:
            self._log.append(files.sealed(row))
            self._written()
        except BaseException:
            self._log.cut(size)
            self._pending = False
            raise

    def after(self, step: Step, repair: Repair) -> None:
        """Note what a step came to."""
        self._last = digest(repair)
        self._since += max(1, len(step.events))
        if self._follower is not None:
            self._follower.follow(step, repair)
        self._pending = False

    def settle(self) -> None:
        """Force all steps to disk, whatever the policy, and let the follower settle."""
        if self._log.unsure:
            self.compact()
        self._log.sync()
        if self._follower is not None:
            self._follower.settle()

    def _log_sync(self) -> None:
        self._log.sync()

    def _log_sync_quietly(self) -> None:
        """On another thread: the log knows that it failed."""
        with suppress(DatasetError):
            self._log.sync()

    def compact(self) -> None:
        """Exchange the log for a snapshot; where that fails, the journal goes on with what it has."""
        if self._follower is not None:
            if not self._log.unsure:
                self._log.sync()
            self._follower.settle()
        old = self._log
        self._start_generation(self.generation + 1)
        old.close()
        self._name_on_disk()
        files.remove_others(self.folder, self.generation)

    def _start_generation(self, generation: int) -> None:
        """A log, and then a snapshot, whose name makes both count; nothing where that fails."""
        log_path, path = files.log_path(self.folder, generation), files.snapshot_path(self.folder, generation)
        header = {"format": files.FORMAT, "about": self._about, "revision": self.live.revision}
        data = self.live.snapshot()
        log = files.Log(log_path, 0)
        self._pending = True  # whoever interrupts this has to open the journal again
        try:
            files.sync_folder(self.folder, self._descriptor)
            checksum = files.write_snapshot(path, header, data)
        except DatasetError:
            log.close()
            with suppress(OSError):
                log_path.unlink()
            self._pending = False
            raise
        log.unsure = True
        self._log, self.generation, self._since, self._last = log, generation, 0, checksum
        self._pending = False

    def _name_on_disk(self) -> None:
        """Until then, a loss of power may bring the old generation back."""
        files.sync_folder(self.folder, self._descriptor)
        self._log.unsure = False

    def close(self) -> None:
        """Force all steps to disk and let go of the folder; `live` takes no further step."""
        try:
            self._log.sync()
        finally:
            self._opened.close()

    def _close_log(self) -> None:
        self._log.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _taken(live: Maintainer, step: Step) -> Repair:
    """Do what a step says."""
    if step.relink is None:
        return live.apply(step.events, lenient=step.lenient)
    add, remove, most_removed = step.relink
    return live.relink(add, remove, most_removed=most_removed)
