"""A journal: a maintainer whose every step is on disk before it is taken, and that survives any end."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import pyarrow as pa

from meshwright.construct.options import COLUMN
from meshwright.maintain.journal import files
from meshwright.maintain.journal.log import digest, revisions_of, step_of, step_row
from meshwright.maintain.journal.recording import RecordedMaintainer, Recording
from meshwright.maintain.journal.survey import KeptGeneration, Loss, LostStepsError, Survey, survey
from meshwright.maintain.journal.syncing import ALWAYS, check_sync
from meshwright.maintain.journal.writer import JournalWriter
from meshwright.maintain.maintainer import Maintainer
from meshwright.maintain.options import MaintainOptions
from meshwright.maintain.prices import start_with
from meshwright.maintain.repairs import Repair, Step
from meshwright.maintain.robust import with_caps
from meshwright.model.costs.costs import Costs
from meshwright.model.filtered import dialect_of_topics, own_filters_of
from meshwright.model.names import NameSource, name_array
from meshwright.model.overlay import Overlay
from meshwright.model.storage.manifest import versions
from meshwright.runtime.checks import check_whole, make_options
from meshwright.runtime.errors import DatasetError, InputError, MeshwrightWarning
from meshwright.runtime.progress import Progress, stage


def fingerprint(overlay: Overlay) -> str:
    """A hash of the nodes, topics, interests, links and filters of an overlay, and of what links cost."""
    interests = overlay.interests
    found = hashlib.sha256()
    for names in (interests.nodes, interests.topics):
        found.update(len(names).to_bytes(8, "little"))
        for name in names.to_pylist():
            data = name.encode()
            found.update(len(data).to_bytes(4, "little") + data)
    for array in (interests.indptr, interests.topic_ids, overlay.edges):
        found.update(array.tobytes())
    if overlay.costs is not None:
        found.update(overlay.costs.tobytes())
    if dialect_of_topics(interests) is not None:
        for own in own_filters_of(interests).values():
            found.update("\0".join(sorted(own)).encode() + b"\n")
    return found.hexdigest()


class Origin(NamedTuple):
    """The overlay that a journal began with, and the version of Meshwright that began it."""

    by: str
    overlay: str  # its fingerprint
    nodes: int
    edges: int


def origin_of(overlay: Overlay) -> Origin:
    """Describe the overlay that a new journal begins with."""
    by = versions().get("meshwright", "unknown")
    return Origin(by, fingerprint(overlay), overlay.interests.node_count, len(overlay))


def check_overlay(folder: Path, origin: Origin, overlay: Overlay) -> None:
    """Refuse a journal of another overlay."""
    if origin.overlay != fingerprint(overlay):
        raise DatasetError(
            f"{folder} is the journal of another overlay, which had {origin.nodes:,} nodes and "
            f"{origin.edges:,} links when the journal began; give that overlay, or another folder"
        )


def check_options(
    folder: Path, live: Maintainer, seed: int, options: Mapping[str, Any], overlay: Overlay | None
) -> None:
    """Refuse a journal whose maintainer has other options; without an overlay, only those given count."""
    wanted = make_options(MaintainOptions, options)
    if overlay is not None:
        wanted = with_caps(wanted, overlay.interests)
    elif wanted.max_links == COLUMN and isinstance(live.options.max_links, Mapping):
        wanted = replace(wanted, max_links=live.options.max_links)  # the column was read at the beginning
    given = {**vars(wanted), "seed": int(seed)}
    known = {**vars(live.options), "seed": live.seed}
    for name in options if overlay is None else known:
        if given[name] != known[name]:
            was, now = _told_apart(name, known[name], given[name])
            raise DatasetError(
                f"{folder} is a journal with {was}, but {now} was given; give the same options, or another "
                f"folder"
            )


def _told_apart(name: str, known: Any, given: Any) -> list[str]:
    """Two values of an option in words; of two by node, those of the first node that has others."""
    if isinstance(known, Mapping) and isinstance(given, Mapping):
        node = min(own for own in {*known, *given} if known.get(own) != given.get(own))
        return [f"{name}={own.get(node)!r} for node {node!r}" for own in (known, given)]
    return [f"{name} by node" if isinstance(own, Mapping) else f"{name}={own!r}" for own in (known, given)]


class Recovery(NamedTuple):
    """What a journal found when it was opened.

    Attributes:
        snapshot_revision: the revision of its snapshot.
        steps: the number of steps in the log, all of which were replayed.
        torn: the bytes of a step that was cut off and never acknowledged.
        lost: the acknowledged steps that are given up, if any.
        aside: the folder with a copy of the files as they were found, if steps are given up.
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


class JournaledMaintainer(RecordedMaintainer):
    """A maintainer that writes every step to its journal before it takes it.

    It takes steps without writing them before `write_to`, as when a log is replayed.
    """

    _way_out = "close the journal and open it again"
    _writer: JournalWriter | None = None
    _compact_after: int
    _since = 0  # events since the snapshot
    last = 0
    """A checksum of the last repair, or of the snapshot where no step came after it."""

    def write_to(self, writer: JournalWriter, compact_after: int) -> None:
        """Write every step from now on."""
        self._writer, self._compact_after = writer, compact_after

    def _take(self, step: Step, work: Callable[[], Repair]) -> Repair:
        if self._writer is not None:
            self._write(self._writer, step)
        return super()._take(step, work)

    def _write(self, writer: JournalWriter, step: Step) -> None:
        if self._since >= self._compact_after:
            self._since = 0
            with suppress(DatasetError):  # no room for a snapshot, but perhaps for the step
                self.compact()
        if writer.is_unsure:
            self.compact()
        row = {"revision": self.revision, "last": self.last, **step_row(step)}
        self._whole = False  # from here on the log is ahead, until the step is taken
        try:
            writer.append(row, self.revision + revisions_of(row))
        except BaseException:
            self._whole = True
            raise

    def _finished(self, step: Step, repair: Repair) -> Repair:
        self.last = digest(repair)
        self._since += max(1, len(step.events))
        return super()._finished(step, repair)

    def settle(self) -> None:
        """See `Journal.settle`."""
        assert self._writer is not None
        if self._writer.is_unsure:
            self.compact()
        self._writer.sync()
        if self.recording is not None:
            self.recording.settle()

    def compact(self) -> None:
        """See `Journal.compact`."""
        assert self._writer is not None
        if self.recording is not None:
            if not self._writer.is_unsure:
                self._writer.sync()
            self.recording.settle()
        self.last = self._writer.start(self.revision, self.snapshot())
        self._since = 0
        self._writer.name()


class Journal:
    """A `Maintainer`, called `live`, and a folder to which every step is written before it is taken.

    Guarantee: every step that `live` has returned from is there again when the journal is opened, even if the
    process was killed at any moment. After a loss of power, every step that was synced is there. A step that
    never returned is there as a whole or not at all. The results of replayed steps are compared with those
    of the first time. An event with a known id is still passed over after a restart, as far back as
    `remember` says.

    Each record of the log has a hash of all records before it, and a separate file, the head, says how far
    the log reaches. So the journal notices when acknowledged steps are lost: a file that is missing, cut,
    damaged or replaced by an old copy. Such a journal is refused with a `LostStepsError`, which says what is
    missing, unless `accept_loss`. One loss is not damage: the machine has restarted, `sync` is not `always`,
    and only steps that were not yet forced to disk are missing. The policy allows that, so the journal opens
    with a warning.

    A step that can't be written (a full disk) raises a `DatasetError` and changes nothing; the journal works
    again as soon as there is room. Only one process at a time can have a journal open.

    Cost: one line per step, and one snapshot, linear in the overlay, per `compact_after` events. Opening
    reads a snapshot and replays about `compact_after` events at most. The head costs one more write of 512
    bytes per step and no additional sync: after a loss of power it may be older than the log, never newer.

    Args:
        folder: created if it does not exist. An existing journal continues; one of another overlay, of
            another seed, with other options or other costs is refused.
        overlay: where to start; may be omitted for an existing journal, and then any of the options too.
        costs: as for `Maintainer`. An existing journal has to be given the same again, by the overlay or
            apart, since it holds only a checksum of them.
        names: as for `Maintainer`, where topics are classes of filters. An existing journal has to be given
            the same again.
        sync: when steps are forced to disk: `always` before they are taken; after this many milliseconds (a
            loss of power costs at most the steps of that time); or `never` (the system decides).
        compact_after: how many events the log holds before a snapshot replaces it.
        accept_loss: continue with what is left of a journal that has lost steps, or start again from
            `overlay` if nothing is. Its files are first copied to `lost-NNNN` in its folder, and a warning
            says what is given up; what `follower` has recorded of these steps is put aside too.
        follower: records every step in tables; steps that may be missing there are recorded again.
        seed: as for `Maintainer`.
        progress: shown while backups are chosen or steps replayed.
        options: those of `Maintainer`.

    Example:
        >>> import meshwright as mw
        >>> pairs = [("b1", "news"), ("b2", "news"), ("b2", "sport"), ("b3", "sport")]
        >>> interests = mw.Interests.from_pairs(pairs)
        >>> overlay = mw.build(interests, "gm")
        >>> with mw.Journal("journal", overlay) as journal:
        ...     _ = journal.live.leave("b3")
        >>> with mw.Journal("journal") as journal:  # after a crash, too
        ...     journal.live.overlay
        Overlay(2 nodes, 1 edge)
    """

    def __init__(
        self,
        folder: str | Path,
        overlay: Overlay | None = None,
        *,
        sync: str | int = ALWAYS,
        compact_after: int = 5_000,
        accept_loss: bool = False,
        follower: Recording | None = None,
        costs: Costs | str | None = None,
        names: NameSource | None = None,
        seed: int = 0,
        progress: Progress | None = None,
        **options: Any,
    ) -> None:
        check_whole("compact_after", compact_after, 1, required=True)
        check_sync(sync)
        self.folder, self._recording = Path(folder), follower
        if overlay is not None:
            overlay, costs = start_with(overlay, costs)
        known = None if names is None else name_array(names, "name")
        with ExitStack() as opened:
            descriptor = opened.enter_context(files.alone_in(self.folder))
            found = survey(self.folder)
            if found.loss is not None and not (accept_loss or found.loss.by_power):
                raise LostStepsError(found.loss)
            if found.kept is None:
                self._make(overlay, costs, known, seed, progress, options)
            else:
                self._restore(found.kept, overlay, costs, known, seed, options)
            # After everything that may be refused, since a recording removes what was never settled.
            settled = self._settled(found, accept_loss)
            self._writer = JournalWriter(self.folder, descriptor, sync, found.kept, self._origin._asdict())
            opened.callback(self._writer.release)
            if found.kept is not None:
                self._replay(found.kept, progress)
            elif follower is not None:
                self.live.record_in(follower)
            self.live.write_to(self._writer, compact_after)
            self._check_settled(settled)
            if found.kept is None or self.recovery.lost or not found.kept.is_chained:
                self.compact()
            self._opened = opened.pop_all()

    @property
    def generation(self) -> int:
        """The number of the present snapshot and its log."""
        return self._writer.generation

    def _make(
        self,
        overlay: Overlay | None,
        costs: Costs | str | None,
        names: pa.StringArray | None,
        seed: int,
        progress: Progress | None,
        options: Mapping[str, Any],
    ) -> None:
        if overlay is None:
            raise InputError(f"{self.folder} holds no journal; give an overlay to begin one")
        self._origin = origin_of(overlay)
        how: dict[str, Any] = {"costs": costs, "names": names, "seed": seed, "progress": progress}
        self.live = JournaledMaintainer(overlay, **how, **options)
        self.recovery = Recovery(0, 0, 0)

    def _restore(
        self,
        kept: KeptGeneration,
        overlay: Overlay | None,
        costs: Costs | str | None,
        names: pa.StringArray | None,
        seed: int,
        options: Mapping[str, Any],
    ) -> None:
        header = kept.snapshot.header
        self._origin = Origin(**header["about"])
        self.live = self._restored(kept.snapshot.data, None if isinstance(costs, str) else costs, names)
        if overlay is not None:
            check_overlay(self.folder, self._origin, overlay)
        self.live.last = header["checksum"]
        check_options(self.folder, self.live, seed, options, overlay)
        self.recovery = Recovery(self.live.revision, len(kept.contents.rows), kept.contents.rest)
        if not kept.is_chained:
            warnings.warn(
                f"{self.folder} was written by an earlier Meshwright, which did not record where a journal "
                f"ends: if its last steps are missing, this can't be detected; from now on, it can",
                MeshwrightWarning,
                stacklevel=3,
            )

    def _restored(
        self, snapshot: bytes, costs: Costs | None, names: pa.StringArray | None
    ) -> JournaledMaintainer:
        try:
            return JournaledMaintainer.restore(snapshot, costs, names)
        except InputError as error:
            raise DatasetError(f"{self.folder} can't be continued: {error}") from None

    def _settled(self, found: Survey, accept_loss: bool) -> int | None:
        """The revision up to which the tables are complete, once what is lost is put aside."""
        end = -1 if found.kept is None else found.kept.position().revision
        settled = None if self._recording is None else self._recording.open()
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
            f"{loss}; the journal continues all the same, and its old files are kept in {aside}",
            MeshwrightWarning,
            stacklevel=3,
        )
        if self._recording is None or settled is None or settled <= end or not accept_loss:
            return settled
        return self._recording.give_up(end)

    def _loss_by(self, settled: int | None, end: int) -> Loss | None:
        """The steps that are in the tables and not in the journal; the start is in the tables first."""
        if settled is None or settled <= max(0, end):
            return None
        what = f"ends at revision {end:,}" if end >= 0 else "holds no journal"
        return Loss(self.folder, f"{what}, but the recorded changes end at {settled:,}", None, end, settled)

    def _replay(self, kept: KeptGeneration, progress: Progress | None) -> None:
        """Take the steps of the log again, and record those that the tables lack."""
        rows = kept.contents.rows
        self.live.recording = self._recording
        with stage(progress, "reading the journal", len(rows)) as advance:
            for at, row in enumerate(rows, 1):
                if row["revision"] != self.live.revision or row["last"] != self.live.last:
                    raise DatasetError(
                        f"{self.folder}: the steps up to revision {row['revision']:,} do not give the same "
                        f"result as the first time; open the journal with the Meshwright that wrote it, "
                        f"{self._origin.by}"
                    )
                _take(self.live, step_of(row))
                advance(at)

    def _check_followed(self, settled: int | None) -> None:
        """Refuse tables without the start, which is settled before there is a journal."""
        if self._recording is not None and settled is None:
            raise DatasetError(
                f"{self.folder} has reached revision {self.live.revision:,} or more, but its changes are "
                f"missing; give the --out folder that they were written to, or start again with a new "
                f"journal and a new folder"
            )

    def _check_settled(self, settled: int | None) -> None:
        if settled is not None and not self.recovery.snapshot_revision <= settled <= self.live.revision:
            raise DatasetError(
                f"{self.folder} knows the steps from revision {self.recovery.snapshot_revision:,} to "
                f"{self.live.revision:,}, but the recorded changes end at {settled:,}: one of the two "
                f"belongs to another journal, or was restored from an old copy; "
                f"start again with a new journal and a new folder"
            )

    def settle(self) -> None:
        """Force all steps to disk, whatever the policy, and the tables of the follower as well."""
        self.live.settle()

    def compact(self) -> None:
        """Replace the log by a snapshot; where that fails, the journal continues with what it has."""
        self.live.compact()

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


def _take(live: Maintainer, step: Step) -> None:
    if step.relink is None:
        live.apply(step.events, lenient=step.lenient)
    else:
        add, remove, most_removed = step.relink
        live.relink(add, remove, most_removed=most_removed)
