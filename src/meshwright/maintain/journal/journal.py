"""Whose journal it is: of which overlay, with which options.

A maintainer whose steps are on disk before they are taken, and who comes back to them after any end.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Protocol

from meshwright.maintain.journal import files
from meshwright.maintain.journal.survey import Kept, Loss, LostStepsError, Survey, survey
from meshwright.maintain.journal.syncing import ALWAYS, check_sync
from meshwright.maintain.journal.writer import JournalWriter
from meshwright.maintain.log_records import Step, digest, revisions_of, step_of, step_row
from meshwright.maintain.maintainer import Maintainer
from meshwright.maintain.options import make_options
from meshwright.maintain.repairs import Repair
from meshwright.model.overlay import Overlay
from meshwright.model.storage.manifest import versions
from meshwright.runtime.checks import check_whole
from meshwright.runtime.errors import DatasetError, InputError, MeshwrightError, MeshwrightWarning
from meshwright.runtime.progress import Progress, stage


def fingerprint(overlay: Overlay) -> str:
    """The same for overlays of the same nodes, topics, interests and links, whatever attributes they have."""
    interests = overlay.interests
    found = hashlib.sha256()
    for names in (interests.nodes, interests.topics):
        found.update(len(names).to_bytes(8, "little"))
        for name in names.to_pylist():
            data = name.encode()
            found.update(len(data).to_bytes(4, "little") + data)
    for array in (interests.indptr, interests.topic_ids, overlay.edges):
        found.update(array.tobytes())
    return found.hexdigest()


def identity(overlay: Overlay) -> dict[str, Any]:
    """What a journal says of the overlay that it began with, and of the program that wrote it."""
    return {
        "by": versions().get("meshwright", "unknown"),
        "overlay": fingerprint(overlay),
        "nodes": overlay.interests.node_count,
        "edges": len(overlay),
    }


def check_overlay(folder: Path, known: Mapping[str, Any], overlay: Overlay) -> None:
    """Refuse a journal of another overlay."""
    if known["overlay"] != fingerprint(overlay):
        raise DatasetError(
            f"{folder} is the journal of another overlay, of {known['nodes']:,} nodes and "
            f"{known['edges']:,} links when it began; give that one, or another folder"
        )


def check_options(folder: Path, live: Maintainer, seed: int, options: Mapping[str, Any]) -> None:
    """Refuse a journal whose maintainer has other options."""
    given = {**asdict(make_options(options)), "seed": int(seed)}
    for name, known in {**asdict(live.options), "seed": live.seed}.items():
        if given[name] != known:
            raise DatasetError(
                f"{folder} is a journal with {name} {known!r}, not {given[name]!r}; "
                f"give the same options, or another folder"
            )


class Follower(Protocol):
    """Somebody who makes something lasting of every step."""

    def open(self) -> int | None:
        """Nobody else writes now. Gives the revision up to which all is lasting; None before anything is."""

    def give_up(self, revision: int) -> int | None:
        """Put all aside that comes after a revision; gives the revision up to which all is lasting then."""

    def follow(self, step: Step, repair: Repair) -> None:
        """A step was taken. After a restart, all that are not settled come again, and maybe some that are."""

    def settle(self) -> None:
        """Make all that was followed lasting: the journal may forget these steps."""


class Recovery(NamedTuple):
    """What a journal found when it was opened.

    Attributes:
        snapshot_revision: that of its snapshot.
        steps: how many steps were in the log, and were taken again.
        torn: the bytes of a step that was cut off; nobody was told that it was taken.
        lost: what was acknowledged and is given up, if anything.
        aside: where the files are kept as they were found, if something is given up.
    """

    snapshot_revision: int
    steps: int
    torn: int
    lost: Loss | None = None
    aside: Path | None = None

    def as_row(self) -> dict[str, Any]:
        """In JSON's types."""
        lost = None if self.lost is None else self.lost.as_row()
        return {**self._asdict(), "lost": lost, "aside": None if self.aside is None else str(self.aside)}


class Journal:
    """A `Maintainer`, `live`, with a folder in which every step is written before it is taken.

    Guarantee: what `live` has returned from is there again when the journal is opened after the process was
    killed at any moment; after a loss of power, what was synced is. A step that was never returned from is
    there as a whole or not at all. What steps taken again come to is compared with what they came to the
    first time. An event whose id was applied is passed over after a restart too, as long as `remember` says.

    Each record of the log knows all before it, and a head, kept apart, how far they reach. So it is noticed
    when acknowledged steps are lost: a file that is gone, cut, damaged or exchanged for an old copy. Such a
    journal is refused with a `LostStepsError`, which tells what is missing, unless `accept_loss`. One loss is
    no damage: the machine has started again since, `sync` is not `always`, and what is missing was not forced
    to disk yet. The policy allows that, and whoever chose it wants to go on: it is opened, with a warning.

    A step that can't be written (a full disk) raises a `DatasetError` and changes nothing; the journal goes
    on when there is room again. Only one process at a time can have a journal open.

    Cost: a line for a step, and for every `compact_after` events a snapshot, linear in the overlay; opening
    reads a snapshot and takes at most about so many events again. The head costs a step one more write, of
    512 bytes, and no more forcing to disk: after a loss of power it may be older than the log, never newer.

    Args:
        folder: made if need be. An existing journal goes on; one of another overlay, of another seed or with
            other options is refused.
        overlay: where to start; may be left out where there is a journal already, and the options with it.
        sync: when steps are forced to disk: `always` before they are taken; after so many milliseconds (a
            loss of power costs at most the steps of that time); or `never` (it is left to the system).
        compact_after: how many events are in the log before it makes place for a snapshot.
        accept_loss: go on with what is left of a journal that has lost steps, or anew from `overlay` if
            nothing is. Its files are copied to `lost-NNNN` in its folder first, and a warning tells what is
            given up; what a follower has of these steps is put aside too.
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
        accept_loss: bool = False,
        follower: Follower | None = None,
        seed: int = 0,
        progress: Progress | None = None,
        **options: Any,
    ) -> None:
        check_whole("compact_after", compact_after, 1, required=True)
        check_sync(sync)
        self.folder = Path(folder)
        self._compact_after, self._follower = compact_after, follower
        self._pending, self._since, self._last = False, 0, 0
        with ExitStack() as opened:
            descriptor = opened.enter_context(files.alone_in(self.folder))
            found = survey(self.folder)
            if found.loss is not None and not (accept_loss or found.loss.by_power):
                raise LostStepsError(found.loss)
            if found.kept is None:
                self._make(overlay, seed, progress, options)
            else:
                self._restore(found.kept, overlay, seed, options)
            # After all that may be refused, since a follower removes what was never settled.
            settled = self._settled(found, accept_loss)
            self._writer = JournalWriter(self.folder, descriptor, sync, found.kept)
            opened.callback(self._writer.release)
            if found.kept is None:
                self._begin()
            else:
                self._replay(found.kept, progress)
            self._check_settled(settled)
            if found.kept is not None and (self.recovery.lost or not found.kept.is_chained):
                self.compact()
            self.live.tell(self)
            self._opened = opened.pop_all()

    @property
    def generation(self) -> int:
        """The number of the present snapshot and its log."""
        return self._writer.generation

    def _make(
        self, overlay: Overlay | None, seed: int, progress: Progress | None, options: Mapping[str, Any]
    ) -> None:
        if overlay is None:
            raise InputError(f"{self.folder} holds no journal; give an overlay to begin one with")
        self._about = identity(overlay)
        self.live = Maintainer(overlay, seed=seed, progress=progress, **options)
        self.recovery = Recovery(0, 0, 0)

    def _restore(self, kept: Kept, overlay: Overlay | None, seed: int, options: Mapping[str, Any]) -> None:
        header = kept.snapshot.header
        self._about, self._last = header["about"], header["checksum"]
        if overlay is not None:
            check_overlay(self.folder, self._about, overlay)
        self.live = Maintainer.restore(kept.snapshot.data)
        if overlay is not None or options:
            check_options(self.folder, self.live, seed, options)
        self.recovery = Recovery(self.live.revision, len(kept.contents.rows), kept.contents.rest)
        if not kept.is_chained:
            warnings.warn(
                f"{self.folder} was written by an earlier Meshwright, which did not note how far a journal "
                f"reaches: whether its last steps are all there can't be told; from now on it can",
                MeshwrightWarning,
                stacklevel=3,
            )

    def _settled(self, found: Survey, accept_loss: bool) -> int | None:
        """The revision up to which the follower has all, once what is lost is put aside."""
        end = -1 if found.kept is None else found.kept.position().revision
        settled = None if self._follower is None else self._follower.open()
        if found.kept is not None:
            self._check_followed(settled)
        loss = found.loss or self._loss_by(settled, end)
        if loss is None:
            return settled
        if not (accept_loss or loss.by_power):
            raise LostStepsError(loss)
        aside = files.set_aside(self.folder)
        self.recovery = self.recovery._replace(torn=0, lost=loss, aside=aside)
        warnings.warn(
            f"{loss}; that is given up, and the files are kept in {aside}", MeshwrightWarning, stacklevel=3
        )
        if self._follower is None or settled is None or settled <= end or not accept_loss:
            return settled
        return self._follower.give_up(end)

    def _loss_by(self, settled: int | None, end: int) -> Loss | None:
        """What a follower knows of and the journal does not; but for the start, which it knows of first."""
        if settled is None or settled <= max(0, end):
            return None
        what = f"ends at revision {end:,}" if end >= 0 else "holds no journal"
        return Loss(self.folder, f"{what}, and what follows it ends at {settled:,}", None, end, settled)

    def _begin(self) -> None:
        if self._follower is not None:
            self._follower.follow(Step(), self.live.start)
            self._follower.settle()
        self._start_generation()

    def _replay(self, kept: Kept, progress: Progress | None) -> None:
        """Take the steps of the log again."""
        rows = kept.contents.rows
        with stage(progress, "reading the journal", len(rows)) as advance:
            for at, row in enumerate(rows, 1):
                if row["revision"] != self.live.revision or row["last"] != self._last:
                    raise DatasetError(
                        f"{self.folder}: the steps up to revision {row['revision']:,} came to something else "
                        f"the first time; open it with the Meshwright that wrote it, {self._about['by']}"
                    )
                step = step_of(row)
                self.after(step, _taken(self.live, step))
                advance(at)

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
        if self._writer.is_unsure:
            self.compact()
        row = {"revision": self.live.revision, "last": self._last, **step_row(step)}
        self._pending = True
        try:
            self._writer.append(row, self.live.revision + revisions_of(row))
        except BaseException:
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
        if self._writer.is_unsure:
            self.compact()
        self._writer.sync()
        if self._follower is not None:
            self._follower.settle()

    def compact(self) -> None:
        """Exchange the log for a snapshot; where that fails, the journal goes on with what it has."""
        if self._follower is not None:
            if not self._writer.is_unsure:
                self._writer.sync()
            self._follower.settle()
        self._start_generation()

    def _start_generation(self) -> None:
        header = {"format": files.FORMAT, "about": self._about, "revision": self.live.revision}
        self._last = self._writer.start(header, self.live.snapshot())
        self._since = 0
        self._writer.name()

    def close(self) -> None:
        """Force all steps to disk and let go of the folder; `live` takes no further step."""
        try:
            self._writer.sync()
        finally:
            self._opened.close()

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
