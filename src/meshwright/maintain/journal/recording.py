"""Record what a maintainer does in tables that others can follow: `changes/`, `repairs/` and `rejected/`.

Each is a folder of Parquet files, one per range of revisions and named after it. A file appears when it is
complete and never changes. A ledger beside the files has their checksums.
"""

import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from meshwright.maintain.journal import files, ledger
from meshwright.maintain.journal.files import new_aside
from meshwright.maintain.journal.ledger import Problem
from meshwright.maintain.maintainer import Maintainer
from meshwright.maintain.repairs import Link, Repair, Step
from meshwright.model.events import Event, as_line
from meshwright.model.reading.files import reading
from meshwright.model.storage.dataset import writing
from meshwright.runtime.atomic_files import PARTIAL, make_folder, renaming, sync_folder, write_new
from meshwright.runtime.errors import DatasetError, MeshwrightWarning
from meshwright.runtime.owned import is_plain, not_ours, plain_folder, read_plain

SCHEMAS: Mapping[str, pa.Schema] = {
    "rejected": pa.schema(
        [("revision", pa.int64()), ("at", pa.int64()), ("reason", pa.string()), ("text", pa.string())]
    ),
    "repairs": pa.schema(
        [
            ("revision", pa.int64()),
            ("at", pa.int64()),
            ("cause", pa.string()),
            ("events", pa.int64()),
            ("refused", pa.int64()),
            ("opened", pa.int64()),
            ("closed", pa.int64()),
            ("shadows", pa.int64()),
            ("repair_seconds", pa.float64()),
            ("backup_seconds", pa.float64()),
            ("nodes", pa.int64()),
            ("links", pa.int64()),
            ("average_degree", pa.float64()),
            ("maximum_degree", pa.int64()),
            ("opened_cost", pa.float64()),
            ("closed_cost", pa.float64()),
            ("cost", pa.float64()),
            ("reoptimised", pa.int64()),
            ("reoptimise_seconds", pa.float64()),
            ("unprotected", pa.int64()),
            ("over_max_links", pa.int64()),
        ]
    ),
    "changes": pa.schema(
        [
            ("revision", pa.int64()),
            ("at", pa.int64()),
            ("action", pa.string()),
            ("source", pa.string()),
            ("target", pa.string()),
            ("cause", pa.string()),
            ("step", pa.string()),
            ("cost", pa.float64()),
        ]
    ),
}
"""The tables, in the order in which they are written: a revision in the changes is in all of them.

Costs are null where links have none, and what an earlier Meshwright did not write is null.
"""

_LAST = "changes"
_BACKGROUND = "re-optimisation"
_PART = re.compile(r"part-[0-9]{12}-[0-9]{12}\.parquet")
_PARTIAL = re.compile(r"\.(part-[0-9]{12}-|batch-)[0-9]{12}\.parquet" + PARTIAL)


class Recording:
    """The tables of what a maintainer did, in a folder.

    Guarantee: the rows of a revision are there once, whatever happens, provided that the steps that are not
    settled are recorded again after a restart. `settle` writes one file for each table that has new rows,
    and one for `changes/` whenever there were steps.

    Attributes:
        settled: the revision up to which everything is on disk; None before anything is.
        pending: the number of rows that wait to be settled.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settled: int | None = None
        self._forget()

    def open(self) -> int | None:
        """Continue the tables of an earlier recording; returns the revision up to which all is on disk."""
        with writing(self.folder):
            make_folder(self.folder)
            for name in SCHEMAS:
                _make_table(self.folder / name)
            sync_folder(self.folder)
            self.settled = settled_of(self.folder)
            for name in SCHEMAS:
                remove_parts(_unsettled(self.folder / name, self.settled))
        return self.settled

    def give_up(self, revision: int) -> int | None:
        """Put aside the files with later revisions; the earlier ones among them have to be recorded again.

        They go to a new folder `lost-NNNN` beside the tables. Returns the revision that is on disk then.
        """
        with writing(self.folder):
            aside = new_aside(self.folder)
            for name in SCHEMAS:  # the changes last, by which the others are known as settled
                _move_parts(_unsettled(self.folder / name, revision), aside / name)
            sync_folder(aside)
            self.settled = settled_of(self.folder)
        told = f"files of later revisions were moved to {aside}; a program that followed them has to go back"
        warnings.warn(told, MeshwrightWarning, stacklevel=2)
        return self.settled

    def _forget(self) -> None:
        self._rows: dict[str, list[dict[str, Any]]] = {name: [] for name in SCHEMAS}
        self._revision: int | None = None
        self.pending = 0

    def follow(self, step: Step, repair: Repair) -> None:
        """Record the result of a step, unless it is settled."""
        if self.settled is not None and repair.revision <= self.settled:
            return
        self._revision = repair.revision
        self._keep({name: list(rows(step, repair)) for name, rows in _ROWS.items()})

    def _keep(self, rows: Mapping[str, list[dict[str, Any]]]) -> None:
        """Keep the rows of a step until they are settled."""
        for name, own in rows.items():
            self._rows[name] += own
            self.pending += len(own)

    def settle(self) -> None:
        """Force everything recorded to disk."""
        if self._revision is None:
            return
        first = 0 if self.settled is None else self.settled + 1
        self._remove_from(first)
        for name, schema in SCHEMAS.items():
            part = self.folder / name / f"part-{first:012d}-{self._revision:012d}.parquet"
            if self._rows[name] or name == _LAST:
                write_part(part, pa.Table.from_pylist(self._rows[name], schema))
        self.settled = self._revision
        self._forget()

    def _remove_from(self, first: int) -> None:
        """Remove the files of an earlier `settle` from this revision on that failed half-way: a full disk."""
        with writing(self.folder):
            for name in SCHEMAS:
                parts = parts_of(self.folder / name)
                remove_parts([part for part in parts if part.name.startswith(f"part-{first:012d}-")])


class RecordedMaintainer(Maintainer):
    """A maintainer that hands every finished step to a recording, once it has one."""

    recording: Recording | None = None

    def record_in(self, recording: Recording) -> None:
        """Record the start, and every step from now on."""
        recording.follow(Step(), self.start)
        self.recording = recording

    def _take(self, step: Step, work: Callable[[], Repair]) -> Repair:
        return super()._take(step, lambda: self._finished(step, work()))

    def _finished(self, step: Step, repair: Repair) -> Repair:
        if self.recording is not None:
            self.recording.follow(step, repair)
        return repair


def _make_table(table: Path) -> None:
    """Create the folder of a table with a ledger, and remove unfinished files; symbolic links are refused."""
    with suppress(FileExistsError):
        os.mkdir(table)
    with plain_folder(table):
        for path in table.iterdir():
            if _PARTIAL.fullmatch(path.name):
                files.remove_ours(path, _is_begun)
        if ledger.read_ledger(table) is None:
            ledger.adopt(table)


def settled_of(folder: Path) -> int | None:
    """The revision up to which a recording is on disk; None before anything is."""
    return max((_last_of(part.name) for part in parts_of(folder / _LAST)), default=None)


def _unsettled(table: Path, settled: int | None) -> list[Path]:
    """The parts with revisions after `settled`, whether they exist or are only noted."""
    known = {*(ledger.read_ledger(table) or {}), *(part.name for part in parts_of(table))}
    parts = sorted(name for name in known if _PART.fullmatch(name))
    return [table / name for name in parts if settled is None or _last_of(name) > settled]


def remove_parts(parts: list[Path]) -> None:
    """Remove parts of one table, and note it; if one is not ours, refuse and remove none."""
    if not parts:
        return
    table = parts[0].parent
    with plain_folder(table) as folder:
        for part in parts:
            _check_ours(part)
        for part in parts:
            with suppress(FileNotFoundError):
                os.unlink(part.name, dir_fd=folder)
        ledger.note(table, gone=[part.name for part in parts])


def _check_ours(part: Path) -> None:
    if is_plain(part) and not ledger.is_marked(read_plain(part)):
        raise not_ours(part, "since it lacks the mark of a journal")


def _move_parts(parts: list[Path], aside: Path) -> None:
    """Move parts of one table to a new folder, and note it."""
    os.mkdir(aside)
    if not parts:
        return
    with plain_folder(parts[0].parent) as table, plain_folder(aside) as target:
        for part in parts:
            if is_plain(part):
                os.rename(part.name, part.name, src_dir_fd=table, dst_dir_fd=target)
        os.fsync(target)
        os.fsync(table)
        ledger.note(parts[0].parent, gone=[part.name for part in parts])


def repairs_table(steps: Iterable[tuple[Step, Repair]]) -> pa.Table:
    """Steps and their repairs as a table like `repairs/`."""
    rows = [row for step, repair in steps for row in _repair_rows(step, repair)]
    return pa.Table.from_pylist(rows, SCHEMAS["repairs"])


def read_recorded(folder: Path, name: str) -> pa.Table:
    """Read a table of a recording; a file that is damaged, missing or not ours is refused."""
    parts = []
    for found in checked_parts(folder, name):
        if isinstance(found, Problem):
            raise found.error()
        path, data = found
        with reading(path, DatasetError):
            if _PART.fullmatch(path.name):
                parts.append(pq.read_table(pa.BufferReader(data), schema=SCHEMAS[name]))
    return pa.concat_tables([SCHEMAS[name].empty_table(), *parts])


def recorded_after(folder: Path, name: str, revision: int, settled: int) -> Iterator[pa.Table]:
    """The rows of a table from after a revision to a settled one, file by file, in order.

    Reads only the files that it is asked for; one that is damaged is refused.
    """
    table = folder / name
    with reading(table, DatasetError):
        entries = ledger.read_ledger(table) or {}
        parts = [part for part in parts_of(table) if revision < _last_of(part.name) <= settled]
    for part in parts:
        with reading(part, DatasetError):
            data = read_plain(part)
            if entries.get(part.name) != ledger.entry_of(part.name, data):
                raise Problem(
                    part, f"is damaged: its size or checksum differs from that in {ledger.NAME}"
                ).error()
            found = pq.read_table(pa.BufferReader(data), schema=SCHEMAS[name])
        yield found.filter(pc.field("revision") > revision)


def checked_parts(folder: Path, name: str) -> Iterator[tuple[Path, bytes] | Problem]:
    """The files of a table with their content, or what is wrong with them."""
    table = folder / name
    with reading(table, DatasetError):
        unfinished = [part.name for part in _unsettled(table, settled_of(folder))]
        yield from ledger.checked_files(table, [*unfinished, *_last_batch(table)])


def _last_batch(table: Path) -> list[str]:
    """The last file named by a batch, which may be noted and not exist yet: its batch comes again."""
    return sorted(name for name in ledger.read_ledger(table) or {} if not _PART.fullmatch(name))[-1:]


def is_recording(folder: Path) -> bool:
    """Whether a folder holds the tables of a recording."""
    return any((folder / name).is_dir() for name in SCHEMAS)


def verify_recording(folder: Path) -> list[Problem]:
    """Find what is damaged, missing or not ours in `changes/`, `repairs/` and `rejected/`. Changes nothing.

    Reads each file once, without a lock; a file that is being written does not count yet.
    """
    problems: list[Problem] = []
    for name in SCHEMAS:
        try:
            problems += [found for found in checked_parts(folder, name) if isinstance(found, Problem)]
        except DatasetError as error:
            problems.append(Problem(folder / name, f"can't be read: {error}"))
    return problems


def parts_of(table: Path) -> list[Path]:
    """The files of a table that a recording wrote, in the order of revisions."""
    return [part for part in ledger.files_of(table) if _PART.fullmatch(part.name)]


def _last_of(part: str) -> int:
    return int(part.removesuffix(".parquet").rpartition("-")[2])


def write_part(path: Path, table: pa.Table) -> None:
    """Write a file of a table, replacing one of ours; noted and on disk when this returns."""
    data = _as_parquet(table)
    with writing(path), plain_folder(path.parent) as folder:
        _check_ours(path)
        with renaming(path, folder) as partial:
            write_new(partial, data)
            ledger.note(path.parent, [ledger.entry_of(path.name, data)])
        os.fsync(folder)


def _as_parquet(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata(ledger.MARK), sink)
    return bytes(sink.getvalue())


def _is_begun(start: bytes) -> bool:
    """Whether a file may be the beginning of a part, or zeros that a loss of power left."""
    return start.startswith(b"PAR1") or b"PAR1".startswith(start) or not start.strip(b"\0")


def _rejected_rows(step: Step, repair: Repair) -> Iterator[dict[str, Any]]:
    del step
    for event, reason in repair.refused:
        yield {"revision": repair.revision, "at": event.at, "reason": reason, "text": as_line(event)}


def _repair_rows(step: Step, repair: Repair) -> Iterator[dict[str, Any]]:
    yield {
        "revision": repair.revision,
        "at": _time_of(step),
        "cause": _cause(step),
        "events": repair.events,
        "refused": len(repair.refused),
        "opened": len(repair.added),
        "closed": len(repair.removed),
        "shadows": repair.shadows,
        "repair_seconds": repair.repair_seconds,
        "backup_seconds": repair.backup_seconds,
        "nodes": repair.nodes,
        "links": repair.links,
        "average_degree": repair.average_degree,
        "maximum_degree": repair.maximum_degree,
        "opened_cost": repair.opened_cost,
        "closed_cost": repair.closed_cost,
        "cost": repair.cost,
        "reoptimised": len(repair.reoptimised),
        "reoptimise_seconds": repair.reoptimise_seconds,
        "unprotected": len(repair.unprotected),
        "over_max_links": len(repair.over_max_links),
    }


def _change_rows(step: Step, repair: Repair) -> Iterator[dict[str, Any]]:
    """Links to open come before those to close: make before break."""
    causes, reoptimised = _causes_by_node(step, repair), frozenset(repair.reoptimised)
    at, general, kind = _time_of(step), _cause(step), _kind(step)
    opened = _with_costs(repair.added, repair.added_costs)
    closed = _with_costs(repair.removed, repair.removed_costs)
    for action, links in (("open", opened), ("close", closed)):
        for (source, target), cost in links:
            own = [causes[end] for end in (source, target) if end in causes]
            yield {
                "revision": repair.revision,
                "at": at,
                "action": action,
                "source": source,
                "target": target,
                "cause": _BACKGROUND
                if (source, target) in reoptimised
                else ", ".join(dict.fromkeys(own)) or general,
                "step": kind,
                "cost": cost,
            }


def _with_costs(links: Sequence[Link], costs: Sequence[float] | None) -> Iterator[tuple[Link, float | None]]:
    return zip(links, [None] * len(links) if costs is None else costs, strict=True)


def _time_of(step: Step) -> int | None:
    return step.events[-1].at if step.events else None


def _cause(step: Step) -> str:
    """The cause of a step: its only event, or the number of its events."""
    if not step.events:
        return _kind(step)
    return _named(step.events[0]) if len(step.events) == 1 else f"{len(step.events):,} events"


START, EVENTS, RELINK = "start", "events", "relink"
"""The kinds of steps: what connects the overlay at the start, what events do, and what is asked for."""


def _kind(step: Step) -> str:
    if step.relink is not None:
        return RELINK
    return EVENTS if step.events else START


def _causes_by_node(step: Step, repair: Repair) -> dict[str, str]:
    """The last applied event of each node."""
    bad = {id(event) for event, _ in repair.refused}
    return {event.node: _named(event) for event in step.events if id(event) not in bad}


def _named(event: Event) -> str:
    return f"{event.event} {event.node}"


_ROWS: Mapping[str, Callable[[Step, Repair], Iterator[dict[str, Any]]]] = {
    "rejected": _rejected_rows,
    "repairs": _repair_rows,
    "changes": _change_rows,
}
