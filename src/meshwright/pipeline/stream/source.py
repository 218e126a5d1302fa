"""A folder of event files as a stream, and the events of a file that has arrived."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from meshwright.model.events import Event, from_row, parquet_rows
from meshwright.model.reading.limits import READ_LIMITS, ReadLimits
from meshwright.model.reading.text import cut_lines, unpacked
from meshwright.pipeline.spark.storage import url
from meshwright.runtime.errors import InputError
from meshwright.runtime.places import Place, is_local
from meshwright.runtime.text import one_line

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
        kind = "no Parquet of events" if file.path.endswith(".parquet") else "cut off or damaged"
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
