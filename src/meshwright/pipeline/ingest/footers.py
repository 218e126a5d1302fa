"""The footers of Parquet files, read before Spark reads rows: what is damaged or too large is named."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from meshwright.model.reading.files import check_declared, reading
from meshwright.model.reading.limits import ReadLimits
from meshwright.pipeline.ingest.inputs import InputFile, opened
from meshwright.pipeline.spark.storage import with_errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_AT_ONCE = 8


def schemas(session: SparkSession, files: Sequence[InputFile], limits: ReadLimits) -> list[pa.Schema]:
    """The columns of each file; refuses one whose footer is damaged, or states more than the limits allow.

    Footers alone are read, some at once: a store far away takes its time for each.
    """
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(partial(_schema, session, limits=limits), files))


def _schema(session: SparkSession, file: InputFile, limits: ReadLimits) -> pa.Schema:
    with reading(file.path), _raw(session, file) as raw:
        metadata = pq.read_metadata(raw)
        check_declared(metadata, file.path, file.bytes, limits)
        _check_cells(metadata, file.path, limits)
        return metadata.schema.to_arrow_schema()


def _check_cells(metadata: Any, path: str, limits: ReadLimits) -> None:
    """Refuse a file whose cells are longer than a line may be, on average; single ones are found as rows."""
    for at in range(metadata.num_row_groups):
        group = metadata.row_group(at)
        for number in range(group.num_columns):
            column = group.column(number)
            if column.total_uncompressed_size > limits.line * max(1, group.num_rows):
                raise limits.too_long(f"{path}: a cell of column {column.path_in_schema!r}")


@contextmanager
def _raw(session: SparkSession, file: InputFile) -> Iterator[Any]:
    if file.is_here:
        with pa.OSFile(file.path) as raw:
            yield raw
    else:
        with opened(session, file) as stream:
            yield pa.PythonFile(io.BufferedReader(_Seekable(stream, file.bytes)), "r")


class _Seekable(io.RawIOBase):
    """A file of Hadoop's as one of Python's."""

    def __init__(self, stream: Any, size: int) -> None:
        self._stream, self._size, self._at = stream, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def readinto(self, buffer: Any) -> int:
        with_errors(lambda: self._stream.seek(min(self._at, self._size)))
        data = bytes(with_errors(lambda: self._stream.readNBytes(len(buffer))))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)
