"""The files of an ingest: which they are, here or wherever Hadoop reaches, and how each begins or ends.

The footers of Parquet files are read before rows are read: what is damaged or too large is named.
"""

from __future__ import annotations

import glob
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from meshwright.model.reading.contents import check_regular, is_blank
from meshwright.model.reading.files import check_declared, reading
from meshwright.model.reading.limits import READ_LIMITS, ReadLimits
from meshwright.model.reading.text import blocks, is_packed, is_zip, unpacked_bytes, zipped_name
from meshwright.pipeline.ingest.notices import SKIPPED
from meshwright.pipeline.spark.failures import as_ours
from meshwright.pipeline.spark.storage import url, with_errors
from meshwright.runtime.errors import DamagedFileError, InputError, OptionError
from meshwright.runtime.places import is_local_address, local_path
from meshwright.runtime.wording import choose

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WHOLE_FORMATS = ("json", "npz", "mtx", "hypergraph")
"""Formats whose files are read at once, in this process: a row can't be told without those before it."""

TEXT_FORMATS = ("csv", "tsv", "edges", "adjacency", "jsonl")
"""Formats in which each line is read by itself."""

FORMATS = (*TEXT_FORMATS, "parquet", *WHOLE_FORMATS)
_ENDINGS = {
    "csv": "csv",
    "tsv": "tsv",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "json": "jsonl",
    "parquet": "parquet",
    "npz": "npz",
    "mtx": "mtx",
}
_UNPACKED = frozenset({"gz", "bz2", "zip"})
_NOT_UNPACKED = frozenset({"xz", "zst", "7z", "rar", "tar", "tgz", "lz4", "snappy", "deflate"})
_PATTERN = frozenset("*?[{")
_HIDDEN = (".", "_")
_LOCAL = re.compile("^file:/+")
_LOOKED_AT_BYTES = 1 << 16
_LONGEST_BEGINNING = 1 << 24


class InputFile(NamedTuple):
    """A file to read: as people, Hadoop and Spark's metadata name it, its size and when it was written."""

    path: str
    place: str
    url: str
    bytes: int
    modified: int

    @property
    def is_here(self) -> bool:
        """Whether tasks open it by themselves, as text: it is on this machine."""
        return self.place.startswith("file:/")

    @property
    def looks_like_pattern(self) -> bool:
        """Whether its path has a character of patterns in it."""
        return bool(_PATTERN & set(self.place))


class Listing(NamedTuple):
    """The files to read, and how many entries of folders are hidden, and files empty, and not read.

    `repeated` counts how often a file was named again.
    """

    files: list[InputFile]
    hidden: int
    empty: int
    repeated: int

    def facts(self) -> dict[str, Any]:
        """What was not read; nothing where all was."""
        counts = {"hidden": self.hidden, "empty": self.empty, "repeated": self.repeated}
        found = {name: count for name, count in counts.items() if count}
        return {SKIPPED: found} if found else {}


def input_files(session: SparkSession | None, inputs: Sequence[str]) -> Listing:
    """All files that paths, folders, patterns and URLs stand for, each once, in the order given.

    Without a session, all must be on this machine. Folders are searched to the bottom; names that begin with
    `.` or `_` are passed over there, and empty files everywhere. An input that is missing, can't be read or
    gives no file with anything in it is refused.
    """
    if not inputs:
        raise InputError("there is no input; give at least one file, folder or pattern")
    found: dict[str, InputFile] = {}
    skipped: dict[str, set[str]] = {"hidden": set(), "empty": set()}
    repeated = 0
    for text in inputs:
        files = _expanded_here(text, skipped) if session is None else _expanded(session, text, skipped)
        if not files:
            raise InputError(f"{text} holds no file, or only empty ones; check the path")
        repeated += sum(file.url in found for file in files)
        found |= {file.url: file for file in files}
    return Listing(list(found.values()), len(skipped["hidden"]), len(skipped["empty"]), repeated)


Skipped = Mapping[str, set[str]]
"""The paths of what is hidden or empty, which grow while folders are searched."""


def _expanded_here(text: str, skipped: Skipped) -> list[InputFile]:
    """As `_expanded`, without Java."""
    path = local_path(text)
    try:
        if path.exists():
            tops = [path]
        elif _PATTERN & set(text):
            found = {Path(name) for one in _without_braces(str(path)) for name in _matches(one)}
            tops = [top for top in found if not top.name.startswith(_HIDDEN)]
        else:
            raise _no_such(text)
        files = [_file_here(file) for top in tops for file in _below_here(top, skipped)]
        return sorted(files, key=lambda file: file.path)
    except (OSError, ValueError) as error:
        raise InputError(f"{text} can't be listed: {error}; check the path and who may read it") from error


def _matches(pattern: str) -> list[str]:
    return glob.glob(pattern, include_hidden=True)


_BRACES = re.compile(r"\{([^{}]*)\}")


def _without_braces(pattern: str) -> list[str]:
    """The patterns that one with alternatives `{a,b}` stands for, which Hadoop knows and Python does not."""
    inner = _BRACES.search(pattern)
    if inner is None:
        return [pattern]
    before, after = pattern[: inner.start()], pattern[inner.end() :]
    return [one for word in inner[1].split(",") for one in _without_braces(before + word + after)]


def _below_here(path: Path, skipped: Skipped) -> list[Path]:
    """The files that are not empty, at or below `path`."""
    if not path.is_dir():
        check_regular(path)
        if not is_blank(path, path.stat().st_size):
            return [path]
        skipped["empty"].add(str(path))
        return []
    entries = list(path.iterdir())
    skipped["hidden"].update(str(entry) for entry in entries if entry.name.startswith(_HIDDEN))
    shown = [entry for entry in entries if not entry.name.startswith(_HIDDEN)]
    return [file for entry in shown for file in _below_here(entry, skipped)]


def _file_here(path: Path) -> InputFile:
    found, address = path.stat(), f"file:{path}"
    return InputFile(str(path), address, address, found.st_size, found.st_mtime_ns // 1_000_000)


def _no_such(text: str) -> InputError:
    return InputError(f"{text}: there is no such file or folder; check the path")


def _expanded(session: SparkSession, text: str, skipped: Skipped) -> list[InputFile]:
    path = _hadoop_path(session, text)
    conf = session.sparkContext._jsc.hadoopConfiguration()
    try:
        system = with_errors(lambda: path.getFileSystem(conf))
        # A name that has a `[` in it and exists is that file, not a pattern.
        if with_errors(lambda: system.exists(path)):
            tops = [with_errors(lambda: system.getFileStatus(path))]
        elif _PATTERN & set(text):
            tops = [top for top in with_errors(lambda: system.globStatus(path)) or () if not _is_hidden(top)]
        else:
            raise _no_such(text)
        files = [file for top in tops for file in _below(system, top, skipped)]
    except OSError as error:
        known = as_ours(str(error))
        why = known if isinstance(known, InputError) else f"{error}; check the path and who may read it"
        raise InputError(f"{text} can't be listed: {why}") from error
    return sorted((_input_file(status) for status in files), key=lambda file: file.path)


def _hadoop_path(session: SparkSession, text: str) -> Any:
    jvm: Any = session.sparkContext._jvm
    try:
        return jvm.org.apache.hadoop.fs.Path(url(local_path(text)) if is_local_address(text) else text)
    except Exception as error:
        raise InputError(f"{text!r} is not a valid path: {error}; check it") from error


def _below(system: Any, status: Any, skipped: Skipped) -> list[Any]:
    """The files that are not empty, at or below what `status` stands for."""
    if not status.isDirectory():
        if not _is_blank(status):
            return [status]
        skipped["empty"].add(str(status.getPath().toString()))
        return []
    entries = with_errors(lambda: system.listStatus(status.getPath()))
    skipped["hidden"].update(str(entry.getPath().toString()) for entry in entries if _is_hidden(entry))
    shown = [entry for entry in entries if not _is_hidden(entry)]
    return [file for entry in shown for file in _below(system, entry, skipped)]


def _is_blank(status: Any) -> bool:
    """Whether a file holds nothing; of one that is not here, its size tells."""
    size, place = int(status.getLen()), status.getPath()
    is_here = size and str(place.toString()).startswith("file:/")
    return is_blank(str(place.toUri().getPath()), size) if is_here else size == 0


def _is_hidden(status: Any) -> bool:
    return bool(status.getPath().getName().startswith(_HIDDEN))


def _input_file(status: Any) -> InputFile:
    place = status.getPath()
    shown = str(place.toString())
    return InputFile(
        path=str(place.toUri().getPath()) if shown.startswith("file:/") else shown,
        place=shown,
        url=_LOCAL.sub("file:/", str(place.toUri().toString())),
        bytes=int(status.getLen()),
        modified=int(status.getModificationTime()),
    )


def format_of(files: Sequence[InputFile], given: str | None, columns: tuple[str, str]) -> str:
    """The one format of all files: the one given, or the one that their names say.

    What a file called .json holds, the `columns` that are asked for tell.
    """
    if given is not None:
        if given not in FORMATS:
            raise OptionError(f"--format is {given!r}; {choose(given, FORMATS)}")
        for file in files:
            if not is_packed(file.path):
                _refuse_packed(file.path)
        return given
    by_format: dict[str, str] = {}
    for file in files:
        by_format.setdefault(_format_of(file, columns), file.path)
    if len(by_format) > 1:
        examples = ", ".join(f"{path} looks like {name}" for name, path in by_format.items())
        raise InputError(
            f"the files have several formats: {examples}; ingest one format at a time, or give --format"
        )
    return next(iter(by_format))


def _format_of(file: InputFile, columns: tuple[str, str]) -> str:
    """The format that a file's name says; of a zip archive, the name of the file in it."""
    if is_zip(file.path):
        if not file.is_here:
            raise InputError(
                f"{file.path}: zip archives are read on this machine only; copy it here, or unpack it"
            )
        with reading(file.path):
            return _told(file, format_by_name(zipped_name(file.path)), columns)
    return _told(file, format_by_name(file.path), columns)


def _told(file: InputFile, format: str, columns: tuple[str, str]) -> str:
    """A file called .json may have an object with the columns on each line, or be one object or list."""
    if format != "jsonl" or not file.is_here:
        return format
    with reading(file.path):
        begin = _enough(blocks(file.path, READ_LIMITS, _LOOKED_AT_BYTES), _LOOKED_AT_LINES)
    lines = [line for line in begin.removeprefix(b"\xef\xbb\xbf").splitlines() if line.strip()]
    objects = [found for found in map(_object, lines) if found is not None]
    if not objects:
        return "json" if lines and lines[0].lstrip()[:1] in (b"{", b"[") else "jsonl"
    of_lists = len(lines) == 1 and any(isinstance(value, list) for value in objects[0].values())
    return "json" if of_lists and not objects[0].keys() >= set(columns) else "jsonl"


_LOOKED_AT_LINES = 50


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def format_by_name(path: str) -> str:
    """The format that a file's name says; one without a known ending is an edge list."""
    _refuse_packed(path)
    endings = _endings(path)
    if endings and endings[-1] in _UNPACKED:
        endings.pop()
    return _ENDINGS.get(endings[-1], "edges") if endings else "edges"


def _endings(path: str) -> list[str]:
    return path.rsplit("/", 1)[-1].lower().split(".")[1:]


def _refuse_packed(path: str) -> None:
    """Refuse a file that is compressed in a way that is not known, by its name."""
    ending = (_endings(path) or [""])[-1]
    if ending in _NOT_UNPACKED:
        raise InputError(
            f"{path}: .{ending} files can't be read; unpack the file, or compress it with gzip or bzip2"
        )


def beginning(session: SparkSession | None, file: InputFile, lines: int, limits: ReadLimits) -> bytes:
    """The beginning of a file, decompressed by its name: at least that many whole lines, if it has them."""
    if file.is_here:
        with reading(Path(file.path)):
            return _enough(blocks(file.path, limits, _LOOKED_AT_BYTES), lines)
    try:
        with opened(session, file) as stream:
            raw = _blocks_of(stream)
            return _enough(unpacked_bytes(raw, file.path, file.bytes, limits, _LOOKED_AT_BYTES), lines)
    except OSError as error:
        raise InputError(
            f"{file.path} can't be read: {error}; fetch it again, or check its permissions"
        ) from error


@contextmanager
def opened(session: SparkSession | None, file: InputFile) -> Iterator[Any]:
    """A stream of Java's over the bytes of a file that is not here."""
    assert session is not None
    jvm: Any = session.sparkContext._jvm
    path = jvm.org.apache.hadoop.fs.Path(file.place)
    conf = session.sparkContext._jsc.hadoopConfiguration()
    stream = with_errors(lambda: path.getFileSystem(conf).open(path))
    try:
        yield stream
    finally:
        stream.close()


def _blocks_of(stream: Any) -> Iterator[bytes]:
    """What an open stream of Java's gives."""
    while block := bytes(with_errors(lambda: stream.readNBytes(_LOOKED_AT_BYTES))):
        yield block


def _enough(found: Iterable[bytes], lines: int) -> bytes:
    data = b""
    for block in found:
        data += block
        if data.count(b"\n") >= lines or len(data) >= _LONGEST_BEGINNING:
            break
    return data


_AT_ONCE = 8


def schemas(session: SparkSession | None, files: Sequence[InputFile], limits: ReadLimits) -> list[pa.Schema]:
    """The columns of each file; refuses one whose footer is damaged, or states more than the limits allow.

    Footers alone are read, some at once: a store far away takes its time for each.
    """
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = list(pool.map(partial(_schema_or_damage, session, limits=limits), files))
    damaged = [one for one in found if isinstance(one, DamagedFileError)]
    if damaged:
        raise DamagedFileError(
            str(damaged[0]), path=damaged[0].path, paths=[str(one.path) for one in damaged]
        )
    return [one for one in found if isinstance(one, pa.Schema)]


def _schema_or_damage(
    session: SparkSession | None, file: InputFile, limits: ReadLimits
) -> pa.Schema | DamagedFileError:
    try:
        return _schema(session, file, limits)
    except DamagedFileError as damage:
        return damage


def _schema(session: SparkSession | None, file: InputFile, limits: ReadLimits) -> pa.Schema:
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
def _raw(session: SparkSession | None, file: InputFile) -> Iterator[Any]:
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
