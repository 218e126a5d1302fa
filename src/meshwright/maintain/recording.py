"""What a maintainer did, as tables that others follow: `changes/`, `repairs/` and `rejected/`.

Each is a folder of Parquet files, one for a range of revisions, named by it: files that are there never
change, and one appears when it is whole.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from meshwright.errors import DatasetError
from meshwright.maintain.repairs import Repair
from meshwright.maintain.steps import Step
from meshwright.model.churn import Event
from meshwright.model.dataset import writing
from meshwright.model.event_files import as_line
from meshwright.model.files import reading

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
        ]
    ),
}
"""The tables, in the order in which they are written: what is among the changes is in all of them."""

_LAST = "changes"
_PART = re.compile(r"part-\d{12}-\d{12}\.parquet")


class Recording:
    """The tables of what a maintainer did, in a folder; a `Follower` of a journal.

    Guarantee: the rows of a revision are there once, whatever happens, as long as the steps that are not
    settled are followed again after a restart. A `settle` makes one file of each table that has new rows,
    and one of `changes/` whenever there were steps.

    Attributes:
        settled: the revision up to which all is on disk; None before anything is.
        pending: how many rows wait to be settled.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settled: int | None = None
        self._forget()

    def open(self) -> int | None:
        """Go on where an earlier one has ended; gives the revision up to which all is on disk."""
        with writing(self.folder):
            for name in SCHEMAS:
                (self.folder / name).mkdir(parents=True, exist_ok=True)
            self.settled = max((_last_of(part) for part in parts_of(self.folder / _LAST)), default=None)
            for name in SCHEMAS:
                for part in parts_of(self.folder / name):
                    if self.settled is None or _last_of(part) > self.settled:
                        part.unlink()
        return self.settled

    def _forget(self) -> None:
        self._rows: dict[str, list[dict[str, Any]]] = {name: [] for name in SCHEMAS}
        self._revision: int | None = None
        self.pending = 0

    def follow(self, step: Step, repair: Repair) -> None:
        """Take down what a step came to, unless it is settled."""
        if self.settled is not None and repair.revision <= self.settled:
            return
        self._revision = repair.revision
        for name, rows in _ROWS.items():
            found = list(rows(step, repair))
            self._rows[name] += found
            self.pending += len(found)

    def settle(self) -> None:
        """Put all that was taken down on disk."""
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
        """Remove what an earlier settle from this revision on has left that failed half-way: a full disk."""
        with writing(self.folder):
            for name in SCHEMAS:
                for part in (self.folder / name).glob(f"part-{first:012d}-*.parquet"):
                    part.unlink()


def repairs_table(steps: Iterable[tuple[Step, Repair]]) -> pa.Table:
    """Steps and their repairs as `repairs/` holds them."""
    rows = [row for step, repair in steps for row in _repair_rows(step, repair)]
    return pa.Table.from_pylist(rows, SCHEMAS["repairs"])


def read_recorded(folder: Path, name: str) -> pa.Table:
    """All rows of a table of a recording."""
    with reading(folder / name, DatasetError):
        parts = [pq.read_table(part, schema=SCHEMAS[name]) for part in parts_of(folder / name)]
    return pa.concat_tables([SCHEMAS[name].empty_table(), *parts])


def parts_of(table: Path) -> list[Path]:
    """The files of a table that a recording wrote, in the order of revisions; nothing of others."""
    return sorted(part for part in table.glob("part-*.parquet") if _PART.fullmatch(part.name))


def _last_of(part: Path) -> int:
    return int(part.stem.rpartition("-")[2])


def write_part(path: Path, table: pa.Table) -> None:
    """Write a file of a table, in place of what is there; on disk, and under its name, when this returns."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        with writing(path):
            with partial.open("wb") as stream:
                pq.write_table(table, stream)
                stream.flush()
                os.fsync(stream.fileno())
            partial.rename(path)
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


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
    }


def _change_rows(step: Step, repair: Repair) -> Iterator[dict[str, Any]]:
    """Links to open come before those to close: make before break."""
    causes = _causes_by_node(step, repair)
    at, general = _time_of(step), _cause(step)
    for action, links in (("open", repair.added), ("close", repair.removed)):
        for source, target in links:
            own = [causes[end] for end in (source, target) if end in causes]
            yield {
                "revision": repair.revision,
                "at": at,
                "action": action,
                "source": source,
                "target": target,
                "cause": ", ".join(dict.fromkeys(own)) or general,
            }


def _time_of(step: Step) -> int | None:
    return step.events[-1].at if step.events else None


def _cause(step: Step) -> str:
    """What a step is about: its one event, or how many it has."""
    if step.relink is not None:
        return "relink"
    if not step.events:
        return "start"
    return _named(step.events[0]) if len(step.events) == 1 else f"{len(step.events):,} events"


def _causes_by_node(step: Step, repair: Repair) -> dict[str, str]:
    """The last event of each node among the events that were applied."""
    bad = {id(event) for event, _ in repair.refused}
    return {event.node: _named(event) for event in step.events if id(event) not in bad}


def _named(event: Event) -> str:
    return f"{event.event} {event.node}"


_ROWS: Mapping[str, Callable[[Step, Repair], Iterator[dict[str, Any]]]] = {
    "rejected": _rejected_rows,
    "repairs": _repair_rows,
    "changes": _change_rows,
}
