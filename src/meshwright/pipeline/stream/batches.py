"""A micro-batch of event files, applied through a journal exactly once."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import time
from typing import Any

import pyarrow as pa

from meshwright.maintain.event_batches import check_remembered
from meshwright.maintain.journal.journal import Journal
from meshwright.maintain.journal.recording import SCHEMAS, write_part
from meshwright.model.events import Event, count_late
from meshwright.model.reading.limits import READ_LIMITS, ReadLimits
from meshwright.model.storage.dataset import LEFT_BEHIND
from meshwright.pipeline.churn import batches
from meshwright.pipeline.stream.source import File, Unreadable, events_of


@dataclass(frozen=True, kw_only=True)
class BatchReport:
    """What a micro-batch came to.

    Attributes:
        batch: its number.
        files: how many came with it.
        events: how many were applied.
        repeated: how many were passed over, since they had been applied before.
        rejected: how many lines were no events, or events that can't be applied; and the files put aside.
        files_put_aside: of the files that can't be read, what is wrong with which.
        out_of_order: how many events came after one of a later time.
        opened: links opened.
        closed: links closed.
        repair_seconds: for all repairs, backups not counted.
        lag_seconds: from the arrival of its first file until its changes were on disk.
        revision: of the overlay after it.
        nodes: how many there are after it.
        links: how many there are after it.
        maximum_degree: the most links of a node after it.
    """

    batch: int
    files: int
    events: int
    repeated: int
    rejected: int
    files_put_aside: tuple[str, ...]
    out_of_order: int
    opened: int
    closed: int
    repair_seconds: float
    lag_seconds: float
    revision: int
    nodes: int
    links: int
    maximum_degree: int


def apply_batch(
    journal: Journal,
    out: Path,
    batch: int,
    files: Sequence[File],
    together: bool,
    limits: ReadLimits = READ_LIMITS,
) -> BatchReport:
    """Apply the events of some files, in the order of their times; on disk when it returns.

    Guarantee: however often a batch comes, in whole or in part, each event is applied once. Events are known
    by their ids in the journal, and what could not be read goes to a file named after the batch, which is
    the same each time.
    """
    found = [row for file in files for row in events_of(file, limits)]
    events = [row for row in found if isinstance(row, Event)]
    unreadable = [row for row in found if isinstance(row, Unreadable)]
    if unreadable:
        _write_unreadable(out / LEFT_BEHIND / f"batch-{batch:012d}.parquet", unreadable)
    advice = f"begin a new stream with remember={len(events)} or more (--set), or a smaller --files-a-batch"
    check_remembered(len(events), journal.live.options.remember, advice)
    late = count_late(events)
    events.sort(key=lambda event: event.at)
    repairs = [journal.live.apply(group, lenient=True) for group in batches(events, together)]
    journal.settle()
    live = journal.live
    return BatchReport(
        batch=batch,
        files=len(files),
        events=sum(repair.events for repair in repairs),
        repeated=sum(repair.repeated for repair in repairs),
        rejected=len(unreadable) + sum(len(repair.refused) for repair in repairs),
        files_put_aside=tuple(row.reason for row in unreadable if row.whole),
        out_of_order=late,
        opened=sum(len(repair.added) for repair in repairs),
        closed=sum(len(repair.removed) for repair in repairs),
        repair_seconds=round(sum(repair.repair_seconds for repair in repairs), 6),
        lag_seconds=round(_seconds_since(files), 3),
        revision=live.revision,
        nodes=len(live),
        links=live.link_count,
        maximum_degree=live.maximum_degree,
    )


def _write_unreadable(path: Path, rows: Sequence[Unreadable]) -> None:
    table: list[dict[str, Any]] = [{"reason": row.reason, "text": row.text} for row in rows]
    write_part(path, pa.Table.from_pylist(table, SCHEMAS[LEFT_BEHIND]))


def _seconds_since(files: Sequence[File]) -> float:
    now = time()
    return max((now - file.since for file in files), default=0.0)
