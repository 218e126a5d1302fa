"""Places that Spark reaches, and tables there."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, cast

from meshwright.model.storage.manifest import Dataset, check_files, open_dataset
from meshwright.pipeline.spark.failures import as_ours, cause_of, translated
from meshwright.runtime.checksums import Sum, Summing
from meshwright.runtime.errors import InputError
from meshwright.runtime.owned import files_below
from meshwright.runtime.places import Place, is_local, is_local_address, local_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class RemotePath:
    """A `Store` in a file system of Hadoop. What goes wrong is an OSError, as with a `Path`."""

    def __init__(self, session: SparkSession, url: str) -> None:
        self._session, self._url = session, url.rstrip("/")
        self._jvm = cast(Any, session.sparkContext._jvm)
        self._path = with_errors(lambda: self._jvm.org.apache.hadoop.fs.Path(self._url))

    def __repr__(self) -> str:
        return f"RemotePath({self._url!r})"

    def __str__(self) -> str:
        return self._url

    def __truediv__(self, name: str) -> RemotePath:
        return RemotePath(self._session, f"{self._url}/{name}")

    @property
    def name(self) -> str:
        """The last part."""
        return str(self._path.getName())

    @property
    def suffix(self) -> str:
        """The ending of the last part, with the dot."""
        return PurePosixPath(self.name).suffix

    @property
    def parent(self) -> RemotePath:
        """The folder that it is in."""
        return RemotePath(self._session, self._url.rpartition("/")[0])

    def exists(self) -> bool:
        """Whether there is a file or a folder."""
        return bool(self._call("exists", self._path))

    def is_dir(self) -> bool:
        """Whether it is a folder."""
        return self.exists() and bool(self._status().isDirectory())

    def is_file(self) -> bool:
        """Whether it is a file."""
        return self.exists() and bool(self._status().isFile())

    def is_symlink(self) -> bool:
        """Never: the file systems that Spark reads follow links by themselves."""
        return False

    def iterdir(self) -> Iterator[RemotePath]:
        """What is in the folder."""
        for status in self._call("listStatus", self._path):
            yield self / str(status.getPath().getName())

    def mkdir(self, parents: bool = False, exist_ok: bool = False) -> None:
        """Make the folder unless it is there, and those above it, whatever the arguments say."""
        del parents, exist_ok
        self._call("mkdirs", self._path)

    def rename(self, target: RemotePath) -> None:
        """Move it."""
        if not self._call("rename", self._path, target._path):
            raise OSError(f"{self} can't be moved to {target}")

    def unlink(self, missing_ok: bool = False) -> None:
        """Remove the file."""
        if not self._call("delete", self._path, False) and not missing_ok:
            raise FileNotFoundError(f"{self}: there is no such file")

    def rmdir(self) -> None:
        """Remove the folder, which must be empty."""
        self._call("delete", self._path, False)

    def remove_all(self) -> None:
        """Remove the folder and all that is in it."""
        self._call("delete", self._path, True)

    def sums(self, names: Iterable[str]) -> dict[str, Sum]:
        """Size and checksum of every file in these entries of the folder, by its path below it.

        Files are read in tasks, of up to 2 GB each; but for hidden ones, which Spark passes over.
        """
        paths = [path for name in names for path in self._files(name)]
        hidden = [path for path in paths if PurePosixPath(path).name.startswith((".", "_"))]
        shown = {str((self / path)._path.toString()): path for path in paths if path not in hidden}
        return {path: (self / path)._sum() for path in hidden} | _sums_in_tasks(self._session, shown)

    def _files(self, path: str) -> Iterator[str]:
        entry = self / path
        if entry.is_dir():
            for below in entry.iterdir():
                yield from self._files(f"{path}/{below.name}")
        elif entry.exists():
            yield path

    def _sum(self) -> Sum:
        summing = Summing()
        summing.update(self._read())
        return summing.sum()

    def read_text(self, encoding: str = "utf-8") -> str:
        """All of a text file."""
        return self._read().decode(encoding)

    def _read(self) -> bytes:
        stream = self._call("open", self._path)
        try:
            return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
        finally:
            stream.close()

    def write_text(self, text: str, encoding: str = "utf-8") -> None:
        """Write a text file, in place of what is there."""
        stream = self._call("create", self._path, True)
        try:
            stream.write(bytearray(text.encode(encoding)))
        finally:
            stream.close()

    def copy_to(self, target: RemotePath) -> None:
        """Copy a file, or a folder with all that is in it."""
        conf = self._session.sparkContext._jsc.hadoopConfiguration()
        copy = self._jvm.org.apache.hadoop.fs.FileUtil.copy
        with_errors(lambda: copy(self._fs(), self._path, target._fs(), target._path, False, conf))

    def _fs(self) -> Any:
        conf = self._session.sparkContext._jsc.hadoopConfiguration()
        return with_errors(lambda: self._path.getFileSystem(conf))

    def _status(self) -> Any:
        return self._call("getFileStatus", self._path)

    def _call(self, method: str, *arguments: Any) -> Any:
        return with_errors(lambda: getattr(self._fs(), method)(*arguments))


def _sums_in_tasks(session: SparkSession, files: Mapping[str, str]) -> dict[str, Sum]:
    """The sums of files, given as Hadoop names them, by what each is called here."""
    import pyarrow as pa

    def summed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            found = []
            for content in batch.column("content"):
                summing = Summing()
                summing.update(memoryview(content.as_buffer()))
                found.append(summing.sum())
            columns = [batch.column("path"), pa.array([one.bytes for one in found], pa.int64())]
            columns.append(pa.array([one.xxh3 for one in found], pa.string()))
            yield pa.record_batch(columns, ["path", "bytes", "xxh3"])

    if not files:
        return {}
    read = session.read.format("binaryFile").option("__globPaths__", "false").load(list(files))
    rows = read.select("path", "content").mapInArrow(summed, _SUMS).collect()
    return {files[row.path]: Sum(row.bytes, row.xxh3) for row in rows}


_SUMS = "path string, bytes bigint, xxh3 string"


def with_errors(call: Any) -> Any:
    """What `call` gives; what Java throws is an OSError that says what it said."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        return call()
    except Py4JJavaError as error:
        kind = str(error.java_exception.getClass().getName())
        said = " ".join(str(error.java_exception.getMessage() or kind).split())
        raise (FileNotFoundError if kind.endswith("FileNotFoundException") else OSError)(said) from error
    except PySparkException as error:
        raise OSError(cause_of(str(error))) from error


def location(session: SparkSession | None, text: str) -> Place:
    """The place that a path or URL stands for; without a session, it is on this machine."""
    if session is None or is_local_address(text):
        return local_path(text)
    try:
        place = RemotePath(session, text)
        place._fs()
    except OSError as error:
        raise InputError(f"{text} can't be reached: {as_ours(str(error))}") from error
    return place


def url(place: Place) -> str:
    """The place as Hadoop names it, which knows no escapes: a blank or an umlaut stands for itself."""
    return f"file://{place.absolute()}" if is_local(place) else str(place)


def read_table(session: SparkSession, folder: Place) -> DataFrame:
    """A table of a dataset; a name that looks like a pattern (`a[1]`) is taken as it stands."""
    return session.read.option("__globPaths__", "false").parquet(url(folder))


def open_checked(dataset: Place, tables: Iterable[str], *kinds: str) -> Dataset[Place]:
    """The dataset at a place, of one of `kinds`, after a check of those `tables` that it has for damage."""
    opened = open_dataset(dataset, *kinds)
    with translated():
        check_files(opened, [name for name in tables if opened.has(name)])
    return opened


def drop_by_products(folder: Place) -> None:
    """Remove what Hadoop leaves beside the tables in a draft: its own checksums, and the mark of a success.

    A dataset that is copied would lose them, since many tools pass over hidden files.
    """
    if is_local(folder):
        for path in files_below(folder):
            name = PurePosixPath(path).name
            if name == "_SUCCESS" or (name.startswith(".") and name.endswith(".crc")):
                (folder / path).unlink()


def copy_folder(session: SparkSession, source: Place, target: Place) -> None:
    """Copy a table as it is, file by file; on this machine, files are shared where that is possible."""
    if is_local(source) and is_local(target) and source.is_dir():
        share_folder(source, target)
    else:
        RemotePath(session, url(source)).copy_to(RemotePath(session, url(target)))


def share_folder(source: Path, target: Path) -> None:
    """The files of a folder under new names as well, as hard links: they take no room, and no time.

    Files of a dataset are never changed once they are written, only removed, so neither name can spoil what
    the other stands for. What is a link, belongs to another user or is on another file system is copied.
    """
    for path in files_below(source):
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        found = os.lstat(source / path)
        if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid():
            with suppress(OSError):
                os.link(source / path, target / path, follow_symlinks=False)
                continue
        shutil.copyfile(source / path, target / path)
    target.mkdir(parents=True, exist_ok=True)
