"""Records in order what a program does to the files of a folder, as a trace for `tests.crash_disk`.

What Python code does through `os`, `open` and `pathlib` is seen. What other code does (pyarrow with a path,
Spark, a memory map) is not, and the recorder fails at the end where the folder differs from the trace; or,
with `native`, looks for it before every step that it sees, and takes down what it comes to.
"""

import builtins
import fcntl
import io
import os
from collections.abc import Callable
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path
from threading import RLock
from typing import Any
from unittest.mock import patch

from tests.crash_disk import ROOT, Disk, Drop, Move, Put, Resize, Step, Sync, Trace, Write

Place = tuple[int, str]
"""A name in a folder."""


class Recorder:
    """While it is entered, all that is done to what is below a folder is taken down, on all threads."""

    def __init__(self, folder: Path, *, native: bool = False) -> None:
        self.lock = RLock()
        """Held while something is done and taken down."""
        self._folder, self._fresh = folder, count(ROOT + 1)
        self._numbers: dict[tuple[int, int], int] = {}
        self._new_folders: set[int] = set()
        self._steps: list[Step] = []
        self._unseen: list[str] = []
        self._looked_at: dict[int, int] = {}
        self._native = native
        self._patches = ExitStack()
        self._real = {name: getattr(os, name) for name in _WRAPPED}

    @property
    def trace(self) -> Trace:
        """What was taken down so far."""
        return Trace(self._start, tuple(self._steps), frozenset(self._new_folders))

    @property
    def position(self) -> int:
        """How many steps were taken down so far."""
        self.catch_up()
        return len(self._steps)

    def __enter__(self) -> "Recorder":
        self._start = self._scan()
        self._now = self._scan()
        for name, wrapper in _WRAPPED.items():
            self._patches.enter_context(patch.object(os, name, _bound(wrapper, self)))
        for module in (builtins, io):
            self._patches.enter_context(patch.object(module, "open", self._open_file))
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._patches.close()
        self.catch_up()
        if error is None:
            self._check()

    def _check(self) -> None:
        """Fail where something was written that was not seen."""
        seen, there = self._now.listing(), self._scan().listing()
        paths = {path for path in seen.keys() | there.keys() if seen.get(path, "") != there.get(path, "")}
        if paths or self._unseen:
            raise AssertionError(f"written past the recorder: {', '.join(sorted(paths | {*self._unseen}))}")

    def _scan(self) -> Disk:
        disk = Disk()
        self._number(os.stat(self._folder), ROOT)
        self._scan_folder(self._folder, ROOT, disk)
        return disk

    def _scan_folder(self, folder: Path, number: int, disk: Disk) -> None:
        for entry in sorted(folder.iterdir()):
            node = disk.folders[number][entry.name] = self._number(entry.lstat())
            if entry.is_symlink():
                disk.files[node] = b"-> " + os.fsencode(os.readlink(entry))
            elif entry.is_dir():
                disk.folders[node] = {}
                self._scan_folder(entry, node, disk)
            else:
                disk.files[node] = _content(entry)

    def catch_up(self) -> None:
        """Take down what others have done, as far as it can be seen."""
        with self.lock:
            if self._native:
                self._adopt(self._folder, ROOT)

    def _adopt(self, folder: Path, number: int) -> None:
        there = {entry.name: entry for entry in sorted(folder.iterdir())}
        for name, entry in there.items():
            with suppress(FileNotFoundError):  # gone in between
                self._adopt_entry((number, name), entry)
        for name in self._now.folders[number].keys() - there.keys():
            self.take(Drop(number, name))

    def _adopt_entry(self, place: Place, entry: Path) -> None:
        found, is_folder = entry.lstat(), entry.is_dir()
        node = self.number_of(found)
        if node is None or (node in self._now.folders) != is_folder:
            self.made(place, found, is_folder)
        elif self._now.folders[place[0]].get(place[1]) != node:
            self.take(Put(*place, node))
        node = self._now.folders[place[0]][place[1]]
        if is_folder:
            self._adopt(entry, node)
        elif (
            self._looked_at.get(node) != found.st_mtime_ns
            and (content := _content(entry)) != self._now.files[node]
        ):
            self.take(Resize(node, len(content)))
            self.take(Write(node, 0, content))
        self._looked_at[node] = found.st_mtime_ns

    def _number(self, found: os.stat_result, number: int | None = None) -> int:
        """The number of a file or folder: the given one, else its own, else a new one."""
        key = found.st_dev, found.st_ino
        if number is not None:
            self._numbers[key] = number
        return self._numbers.setdefault(key, next(self._fresh))

    def known(self, file: Any) -> int | None:
        """The number of an open file or folder that is recorded."""
        return self.number_of(os.fstat(file if isinstance(file, int) else file.fileno()))

    def number_of(self, found: os.stat_result) -> int | None:
        """The number of what the system tells of, if it is recorded."""
        return self._numbers.get((found.st_dev, found.st_ino))

    def place(self, path: Any, dir_fd: int | None = None) -> Place | None:
        """Where a path is, if that is recorded; links on the way to its folder are followed."""
        if isinstance(path, int):
            return None
        parent, name = os.path.split(os.path.normpath(os.fsdecode(path)))
        try:
            found = os.fstat(dir_fd) if dir_fd is not None and not parent else None
            found = found or os.stat(parent or ".", dir_fd=dir_fd)
        except OSError:
            return None
        folder = self.number_of(found)
        return None if folder is None or folder not in self._now.folders else (folder, name)

    def node(self, place: Place) -> int | None:
        """What a name stands for; where that was never seen it is remembered."""
        node = self._now.folders[place[0]].get(place[1])
        if node is None:
            self._unseen.append(place[1])
        return node

    def take(self, step: Step) -> None:
        """Take a step down."""
        self._steps.append(step)
        self._now.apply(step)

    def made(self, place: Place, found: os.stat_result, is_folder: bool = False) -> None:
        """Take down that something new has a name; the system may give it the number of what is gone."""
        node = self._number(found, next(self._fresh))
        if is_folder:
            self._now.folders[node] = {}
            self._new_folders.add(node)
        else:
            self._now.files[node] = b""
        self.take(Put(*place, node))

    def call(self, name: str, *given: Any, **named: Any) -> Any:
        """What is wrapped."""
        return self._real[name](*given, **named)

    def _open_file(
        self, file: Any, mode: str = "r", buffering: int = -1, *given: Any, **named: Any
    ) -> io.IOBase:
        """As the builtin `open`."""
        self.catch_up()
        inside = self.known(file) is not None if isinstance(file, int) else self.place(file) is not None
        if not inside or not set(mode) & set("wax+"):
            return _REAL_OPEN(file, mode, buffering, *given, **named)
        options = (
            dict(zip(("encoding", "errors", "newline", "closefd", "opener"), given, strict=False)) | named
        )
        closefd, opener = options.pop("closefd", True), options.pop("opener", None)
        raw = RecordedFile(self, file, mode.replace("t", ""), closefd, opener)
        if buffering == 0:
            return raw
        buffered = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        if "b" in mode:
            return buffered
        return io.TextIOWrapper(buffered, **options, line_buffering=buffering == 1)


def _content(path: Path) -> bytes:
    with _REAL_OPEN(path, "rb") as stream:
        return stream.read()


class RecordedFile(io.FileIO):
    """A file whose writes are taken down."""

    def __init__(self, recorder: Recorder, file: Any, mode: str, closefd: bool, opener: Any) -> None:
        self._recorder = recorder
        super().__init__(file, mode, closefd, opener or (lambda path, flags: os.open(path, flags, 0o666)))

    def write(self, data: Any) -> int:
        return _write(self._recorder, self.fileno(), data)

    def truncate(self, size: int | None = None) -> int:
        size = self.tell() if size is None else size
        _ftruncate(self._recorder, self.fileno(), size)
        return size


def _open(recorder: Recorder, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
    place = recorder.place(path, dir_fd)
    is_new = place is not None and not _is_there(path, dir_fd)
    file: int = recorder.call("open", path, flags, mode, dir_fd=dir_fd)
    if place is not None and is_new and flags & os.O_CREAT:
        recorder.made(place, os.fstat(file))
    elif place is not None and flags & os.O_TRUNC and (node := recorder.known(file)) is not None:
        recorder.take(Resize(node, 0))
    return file


def _is_there(path: Any, dir_fd: int | None) -> bool:
    try:
        os.stat(path, dir_fd=dir_fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _write(recorder: Recorder, file: int, data: Any) -> int:
    with recorder.lock:
        node = recorder.known(file)
        if node is None:
            return int(recorder.call("write", file, data))
        at = os.fstat(file).st_size if _appends(file) else os.lseek(file, 0, os.SEEK_CUR)
        written = int(recorder.call("write", file, data))
        recorder.take(Write(node, at, bytes(memoryview(data).cast("B")[:written])))
        return written


def _appends(file: int) -> bool:
    return bool(fcntl.fcntl(file, fcntl.F_GETFL) & os.O_APPEND)


def _pwrite(recorder: Recorder, file: int, data: Any, at: int) -> int:
    written = int(recorder.call("pwrite", file, data, at))
    if (node := recorder.known(file)) is not None:
        recorder.take(Write(node, at, bytes(memoryview(data).cast("B")[:written])))
    return written


def _sync(recorder: Recorder, file: Any) -> None:
    """Taken down and not done: nobody pulls the plug here, and it takes its time."""
    if (node := recorder.known(file)) is not None:
        recorder.take(Sync(node))


def _ftruncate(recorder: Recorder, file: int, size: int) -> None:
    with recorder.lock:
        recorder.call("ftruncate", file, size)
        if (node := recorder.known(file)) is not None:
            recorder.take(Resize(node, size))


def _truncate(recorder: Recorder, path: Any, size: int) -> None:
    if isinstance(path, int):
        return _ftruncate(recorder, path, size)
    file = recorder.call("open", path, os.O_WRONLY)
    try:
        _ftruncate(recorder, file, size)
    finally:
        os.close(file)
    return None


def _posix_fallocate(recorder: Recorder, file: int, at: int, size: int) -> None:
    recorder.call("posix_fallocate", file, at, size)
    if (node := recorder.known(file)) is not None:
        recorder.take(Resize(node, os.fstat(file).st_size))


def _rename(
    recorder: Recorder, src: Any, dst: Any, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None
) -> None:
    source, target = recorder.place(src, src_dir_fd), recorder.place(dst, dst_dir_fd)
    recorder.call("rename", src, dst, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
    node = None if source is None else recorder.node(source)
    if source is not None and target is not None and node is not None:
        recorder.take(Move(*source, *target, node))
    elif source is not None:
        recorder.take(Drop(*source))


def _link(recorder: Recorder, src: Any, dst: Any, *, dst_dir_fd: int | None = None, **named: Any) -> None:
    target = recorder.place(dst, dst_dir_fd)
    recorder.call("link", src, dst, dst_dir_fd=dst_dir_fd, **named)
    node = recorder.number_of(os.stat(dst, dir_fd=dst_dir_fd, follow_symlinks=False))
    if target is not None and node is not None:
        recorder.take(Put(*target, node))


def _removing(name: str) -> Callable[..., None]:
    def remove(recorder: Recorder, path: Any, *, dir_fd: int | None = None) -> None:
        place = recorder.place(path, dir_fd)
        recorder.call(name, path, dir_fd=dir_fd)
        if place is not None and recorder.node(place) is not None:
            recorder.take(Drop(*place))

    return remove


def _mkdir(recorder: Recorder, path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
    place = recorder.place(path, dir_fd)
    recorder.call("mkdir", path, mode, dir_fd=dir_fd)
    if place is not None:
        recorder.made(place, os.stat(path, dir_fd=dir_fd), is_folder=True)


def _bound(wrapper: Callable[..., Any], recorder: Recorder) -> Callable[..., Any]:
    """Done and taken down as one."""

    def call(*given: Any, **named: Any) -> Any:
        with recorder.lock:
            recorder.catch_up()
            return wrapper(recorder, *given, **named)

    return call


_REAL_OPEN = builtins.open
_OPEN_OPTIONS = ("encoding", "errors", "newline", "closefd", "opener")
_WRAPPED: dict[str, Callable[..., Any]] = {
    "open": _open,
    "write": _write,
    "pwrite": _pwrite,
    "fsync": _sync,
    "fdatasync": _sync,
    "ftruncate": _ftruncate,
    "truncate": _truncate,
    "posix_fallocate": _posix_fallocate,
    "rename": _rename,
    "replace": _rename,
    "link": _link,
    "unlink": _removing("unlink"),
    "remove": _removing("remove"),
    "rmdir": _removing("rmdir"),
    "mkdir": _mkdir,
}
