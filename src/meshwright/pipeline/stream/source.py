"""A folder of event files as a stream, and the events of a file that has arrived."""

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from meshwright.errors import InputError
from meshwright.model.churn import Event
from meshwright.model.event_files import cut_lines, from_row, parquet_rows
from meshwright.model.names import one_line
from meshwright.pipeline.engine.storage import url

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SCHEMA = "path string, modificationTime timestamp, length long, content binary"
_NAMES = "*.{jsonl,jsonl.gz,parquet}"
_ANY_AGE = "36500d"
"""Spark passes over files that are a week older than the newest; one that was moved there would be lost."""
_NOT_FINISHED = (
    "the last line is not finished; in a stream a file must be complete when it appears: write it under a "
    "name that begins with a dot, and rename it"
)


class File(NamedTuple):
    """A file that has arrived: where it is, since when (seconds as of a clock), and what it holds."""

    path: str
    since: float
    content: bytes


class Unreadable(NamedTuple):
    """A line or row that is no event, and why."""

    reason: str
    text: str


def event_stream(session: "SparkSession", folder: Path, files_a_batch: int) -> "DataFrame":
    """The `*.jsonl`, `*.jsonl.gz` and `*.parquet` files of a folder, as they arrive; a row holds a file.

    Whole files, since rows of a table have no order, and the order of events matters; they are small, for
    nobody lets events wait. Files whose names begin with a dot are passed over.
    """
    return (
        session.readStream.schema(_SCHEMA)
        .format("binaryFile")
        .option("pathGlobFilter", _NAMES)
        .option("maxFilesPerTrigger", files_a_batch)
        .option("maxFileAge", _ANY_AGE)
        .load(url(folder))
    )


def files_of(batch: "DataFrame") -> list[File]:
    """The files of a micro-batch, by name: the same whenever Spark hands out the batch."""
    since = batch["modificationTime"].cast("double").alias("since")
    rows = batch.select("path", since, "content").collect()
    found = [File(row["path"], row["since"], bytes(row["content"])) for row in rows]
    return sorted(found, key=lambda file: file.path)


def events_of(file: File) -> Iterator[Event | Unreadable]:
    """The events of a file in their order, each with an id: its own, or the file's name and a number.

    By these ids a file that comes again, for whatever reason, changes nothing.
    """
    rows = _rows(file) if file.path.endswith(".parquet") else _lines(file)
    for number, row, text in rows:
        where = f"{file.path}, {number}"
        if isinstance(row, InputError):
            yield Unreadable(f"{where}: {row}", text)
            continue
        try:
            event = from_row(row, where)
        except InputError as error:
            yield Unreadable(str(error), text)
            continue
        yield event if event.id is not None else replace(event, id=f"{file.path}#{number}")


def _lines(file: File) -> Iterator[tuple[int, Any, str]]:
    compression = "gzip" if file.path.endswith(".gz") else None
    try:
        content = pa.input_stream(pa.BufferReader(file.content), compression=compression).read()
    except (OSError, pa.ArrowException) as error:
        yield 1, InputError(f"the file is cut off or damaged: {one_line(error)}"), file.path
        return
    for number, line, ended in cut_lines(io.BytesIO(content)):
        if not line.strip():
            continue
        text = line.decode("utf-8", "replace")
        try:
            yield number, json.loads(line), text
        except (ValueError, RecursionError) as error:
            reason = f"this is no JSON: {one_line(error)}" if ended else _NOT_FINISHED
            yield number, InputError(reason), text


def _rows(file: File) -> Iterator[tuple[int, Any, str]]:
    try:
        rows = list(parquet_rows(pa.BufferReader(file.content), "the file"))
    except InputError as error:
        yield 1, error, file.path
        return
    except (OSError, ValueError, pa.ArrowException) as error:  # a name may be no Unicode
        yield 1, InputError(f"the file is no Parquet of events: {one_line(error)}"), file.path
        return
    for number, row in enumerate(rows, 1):
        yield number, row, json.dumps(row, ensure_ascii=False, default=str)
