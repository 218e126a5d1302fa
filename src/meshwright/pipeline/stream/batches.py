"""Files of events as they arrive in a folder, and micro-batches of them, each applied exactly once."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import fsum
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from meshwright.maintain.event_batches import check_remembered
from meshwright.maintain.journal.journal import Journal
from meshwright.maintain.journal.recording import SCHEMAS, write_part
from meshwright.model.events import Event, count_late, from_row, parquet_rows
from meshwright.model.reading.limits import READ_LIMITS, ReadLimits
from meshwright.model.reading.text import cut_lines, unpacked
from meshwright.model.storage.dataset import LEFT_BEHIND
from meshwright.pipeline.churn import batches
from meshwright.pipeline.spark.storage import url
from meshwright.runtime.errors import InputError, one_line
from meshwright.runtime.places import Place, is_local

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_HERE = "file:"
_SCHEMA = "path string, modificationTime timestamp, length long, content binary"
_NAMES = "*.{jsonl,jsonl.gz,parquet}"
_ANY_AGE = "36500d"
"""Spark passes over files that are a week older than the newest; one that was moved there would be lost."""
_NOT_FINISHED = (
    "the last line is not finished; in a stream a file must be complete when it appears: write it under a "
    "name that begins with a dot, and rename it"
)


class File(NamedTuple):
    """A file that has arrived: where it is, since when (seconds as of a clock), and what it holds.

    The content is None where this process reads it by itself, from the path.
    """

    path: str
    since: float
    content: bytes | bytearray | None = None


class Unreadable(NamedTuple):
    """A line or row that is no event, and why; or all of a file, which `whole` says, that can't be read."""

    reason: str
    text: str
    whole: bool = False


def event_stream(session: "SparkSession", folder: Place, files_a_batch: int) -> "DataFrame":
    """The `*.jsonl`, `*.jsonl.gz` and `*.parquet` files of a folder, as they arrive; a row is a `File`.

    Whole files, since rows of a table have no order, and the order of events matters; they are small, for
    nobody lets events wait. Files whose names begin with a dot are passed over. Those of this machine come
    without their content: they are read one by one, in bounded memory, and Hadoop can't even open one whose
    name has a colon.
    """
    files = (
        session.readStream.schema(_SCHEMA)
        .format("binaryFile")
        .option("pathGlobFilter", _NAMES)
        .option("maxFilesPerTrigger", files_a_batch)
        .option("maxFileAge", _ANY_AGE)
        .load(url(folder))
    )
    since = files["modificationTime"].cast("double").alias("since")
    return files.select("path", since) if is_local(folder) else files.select("path", since, "content")


def files_of(batch: "DataFrame") -> list[File]:
    """The files of a micro-batch, by name: the same whenever Spark hands out the batch."""
    return sorted((File(*row) for row in batch.collect()), key=lambda file: file.path)


def events_of(file: File, limits: ReadLimits = READ_LIMITS) -> list[Event | Unreadable]:
    """The events of a file in their order, each with an id: its own, or the file's name and a number.

    By these ids a file that comes again, for whatever reason, changes nothing. A file that can't be read to
    its end is one thing that is unreadable, and none of its events counts: what is left of a damaged file may
    be anything.
    """
    try:
        with _opened(file) as raw:
            rows = _rows if file.path.endswith(".parquet") else _lines
            return [_event(file, *row) for row in rows(raw, file, limits)]
    except InputError as error:
        return [Unreadable(str(error), file.path, whole=True)]
    except (OSError, ValueError, pa.ArrowException) as error:  # a name may be no Unicode
        kind = "not a Parquet file of events" if file.path.endswith(".parquet") else "cut off or damaged"
        reason = f"{file.path}: the file is {kind}, or can't be read: {one_line(error)}"
        return [Unreadable(reason, file.path, whole=True)]


def _opened(file: File) -> Any:
    return (
        pa.OSFile(file.path.removeprefix(_HERE))
        if file.content is None
        else pa.BufferReader(bytes(file.content))
    )


def _event(file: File, number: int, row: Any, text: str) -> Event | Unreadable:
    where = f"{file.path}, {number}"
    try:
        if isinstance(row, InputError):
            raise InputError(f"{where}: {row}")
        event = from_row(row, where)
    except InputError as error:
        return Unreadable(str(error), text)
    return event if event.id is not None else replace(event, id=f"{file.path}#{number}")


def _lines(raw: Any, file: File, limits: ReadLimits) -> Iterator[tuple[int, Any, str]]:
    for number, line, ended, long in cut_lines(unpacked(raw, file.path, limits), limits.line):
        text = line.decode("utf-8", "replace")
        if long:
            yield number, limits.too_long("this line"), text
        elif line.strip():
            yield number, _parsed(line, ended), text


def _parsed(line: bytes, ended: bool) -> Any:
    """What a line of JSON says, or the error that it is none."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        return InputError(f"this is not JSON: {one_line(error)}" if ended else _NOT_FINISHED)


def _rows(raw: Any, file: File, limits: ReadLimits) -> Iterator[tuple[int, Any, str]]:
    for number, row in enumerate(parquet_rows(raw, file.path, limits), 1):
        yield number, row, json.dumps(row, ensure_ascii=False, default=str)


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
        opened_cost: of the links opened; None where links have no costs.
        closed_cost: of the links closed, which is saved.
        cost: of all links after it, but for rounding.
        unprotected: the topics without a spare after it; None unless the maintainer has resilience 2.
        over_max_links: the nodes with more links than max_links after it; None where there are no caps.
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
    opened_cost: float | None = None
    closed_cost: float | None = None
    cost: float | None = None
    unprotected: int | None = None
    over_max_links: int | None = None


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
        opened_cost=None if live.cost is None else fsum(repair.opened_cost or 0.0 for repair in repairs),
        closed_cost=None if live.cost is None else fsum(repair.closed_cost or 0.0 for repair in repairs),
        cost=live.cost,
        unprotected=len(live.unprotected) if live.options.resilience > 1 else None,
        over_max_links=None if live.options.max_links is None else len(live.over_max_links),
    )


def _write_unreadable(path: Path, rows: Sequence[Unreadable]) -> None:
    table: list[dict[str, Any]] = [{"reason": row.reason, "text": row.text} for row in rows]
    write_part(path, pa.Table.from_pylist(table, SCHEMAS[LEFT_BEHIND]))


def _seconds_since(files: Sequence[File]) -> float:
    now = time()
    return max((now - file.since for file in files), default=0.0)
