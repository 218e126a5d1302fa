"""The disk that tests of durability stand on: what it may lose, what not, and that nothing goes unseen."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.crash_disk import ROOT, Sync, Trace
from tests.crash_recorder import Recorder

MANY = 60


def recorded(folder: Path, work: Callable[[Path], None]) -> Trace:
    with Recorder(folder) as recorder:
        work(folder)
    return recorder.trace


def outcomes(trace: Trace, name: str, wild: bool = True) -> set[bytes | None]:
    """All that a file may hold after a loss of power at the end; None where it is not there."""
    return {disk.listing().get(name) for disk in trace.states(len(trace.steps), MANY, wild=wild)}


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def write(path: Path, data: bytes, sync: bool = False) -> None:
    with path.open("wb") as stream:
        stream.write(data)
        stream.flush()
        if sync:
            os.fsync(stream.fileno())


def test_a_file_that_was_never_synced_may_be_gone_empty_cut_or_whole(tmp_path: Path) -> None:
    found = outcomes(recorded(tmp_path, lambda folder: write(folder / "a", b"abcd")), "a")
    assert {None, b"", b"abcd", b"ab", b"\0\0\0\0"} <= found
    assert all(content is None or len(content) <= 4 for content in found)


def test_a_synced_file_may_still_have_no_name(tmp_path: Path) -> None:
    trace = recorded(tmp_path, lambda folder: write(folder / "a", b"abcd", sync=True))
    assert outcomes(trace, "a") == {None, b"abcd"}


def test_what_is_synced_with_its_folder_is_there_for_sure(tmp_path: Path) -> None:
    def work(folder: Path) -> None:
        write(folder / "a", b"abcd", sync=True)
        sync_folder(folder)

    assert outcomes(recorded(tmp_path, work), "a") == {b"abcd"}


@pytest.mark.parametrize("sync", [False, True])
def test_a_rename_without_a_sync_of_the_file_may_give_an_empty_one(tmp_path: Path, sync: bool) -> None:
    write(tmp_path / "a", b"old")

    def work(folder: Path) -> None:
        write(folder / "b", b"new", sync=sync)
        os.replace(folder / "b", folder / "a")

    found = outcomes(recorded(tmp_path, work), "a")
    assert {b"old", b"new"} <= found
    assert (b"" in found) != sync
    assert None not in found
    assert sync == (found == {b"old", b"new"})


def test_names_of_one_folder_survive_in_order_unless_wild(tmp_path: Path) -> None:
    def work(folder: Path) -> None:
        os.close(os.open(folder / "a", os.O_CREAT | os.O_WRONLY))
        os.close(os.open(folder / "b", os.O_CREAT | os.O_WRONLY))

    trace = recorded(tmp_path, work)
    pairs = [
        {("a" in disk.listing(), "b" in disk.listing()) for disk in trace.states(2, MANY, wild=wild)}
        for wild in (False, True)
    ]
    assert pairs[0] == {(False, False), (True, False), (True, True)}
    assert pairs[1] == pairs[0] | {(False, True)}


@pytest.mark.parametrize("wild", [False, True])
def test_a_move_between_folders_is_whole(tmp_path: Path, wild: bool) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    write(tmp_path / "one" / "a", b"a")
    trace = recorded(tmp_path, lambda folder: (folder / "one" / "a").rename(folder / "two" / "a"))
    places = {
        tuple(sorted(path for path in disk.listing() if "/" in path))
        for disk in trace.states(1, MANY, wild=wild)
    }
    assert places == {("one/a",), ("two/a",)}


def test_a_removed_file_may_come_back_until_its_folder_is_synced(tmp_path: Path) -> None:
    write(tmp_path / "a", b"old")
    trace = recorded(tmp_path, lambda folder: (folder / "a").unlink())
    assert outcomes(trace, "a") == {None, b"old"}
    synced = Trace(trace.start, (*trace.steps, Sync(ROOT)))
    assert outcomes(synced, "a") == {None}


def test_what_is_in_a_new_folder_needs_the_folder_above(tmp_path: Path) -> None:
    def work(folder: Path) -> None:
        (folder / "in").mkdir()
        write(folder / "in" / "a", b"a", sync=True)
        sync_folder(folder / "in")

    assert outcomes(recorded(tmp_path, work), "in/a") == {None, b"a"}


def test_bytes_written_in_place_are_old_or_new(tmp_path: Path) -> None:
    write(tmp_path / "a", b"oldold")

    def work(folder: Path) -> None:
        file = os.open(folder / "a", os.O_RDWR)
        os.pwrite(file, b"NEW", 3)
        os.close(file)

    found = outcomes(recorded(tmp_path, work), "a")
    assert found == {b"oldold", b"oldNld", b"oldNEd", b"oldNEW"}


def all_kinds_of_steps(folder: Path) -> None:
    inner = folder / "x" / "y"
    os.makedirs(inner)
    inner_fd = os.open(inner, os.O_RDONLY)
    file = os.open("f", os.O_CREAT | os.O_RDWR | os.O_APPEND, dir_fd=inner_fd)
    os.write(file, b"one")
    os.write(file, memoryview(b"two"))
    os.posix_fallocate(file, 0, 20)
    os.ftruncate(file, 5)
    os.fdatasync(file)
    os.close(file)
    os.link("f", "g", src_dir_fd=inner_fd, dst_dir_fd=inner_fd)
    os.rename("g", "h", src_dir_fd=inner_fd, dst_dir_fd=inner_fd)
    with open(inner / "t", "w+", encoding="utf-8", newline="") as stream:
        stream.write("ключ\n")
        stream.seek(0)
        assert stream.read() == "ключ\n"
        stream.truncate(4)
    with (inner / "t").open("ab") as stream:
        stream.write(b"more")
    with os.fdopen(os.open(inner / "u", os.O_CREAT | os.O_WRONLY), "wb") as stream:
        stream.write(b"u")
    (inner / "u").write_text("shorter")
    os.truncate(inner / "u", 2)
    os.unlink("f", dir_fd=inner_fd)
    os.mkdir("z", dir_fd=inner_fd)
    os.rmdir("z", dir_fd=inner_fd)
    os.close(inner_fd)
    (folder / "x").rename(folder / "moved")
    write(folder / "again", b"1")
    (folder / "again").unlink()
    write(folder / "again", b"2")


def test_every_kind_of_step_is_seen_and_can_be_laid_out(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    trace = recorded(tmp_path / "root", all_kinds_of_steps)
    *_, disk = trace.states(len(trace.steps))
    assert disk.listing() == {
        "again": b"2",
        "moved": None,
        "moved/y": None,
        "moved/y/h": b"onetw",
        "moved/y/t": "кл".encode() + b"more",
        "moved/y/u": b"sh",
    }
    out = disk.lay_out(tmp_path / "out")
    found = {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert found == {path: content for path, content in disk.listing().items() if content is not None}


def test_what_is_written_past_python_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"written past the recorder: a\.parquet"):
        recorded(tmp_path, lambda folder: pq.write_table(pa.table({"a": [1]}), folder / "a.parquet"))


def test_what_is_written_past_python_is_taken_down_where_that_is_asked_for(tmp_path: Path) -> None:
    with Recorder(tmp_path, native=True) as recorder:
        subprocess.run("mkdir x; echo one > x/a; echo two > b; mv b x", shell=True, cwd=tmp_path, check=True)
        with (tmp_path / "x" / "a").open("rb") as stream:
            os.fsync(stream.fileno())
        for folder in (tmp_path / "x", tmp_path):
            sync_folder(folder)
        subprocess.run(["rm", "x/b"], cwd=tmp_path, check=True)
    assert outcomes(recorder.trace, "x/a") == {b"one\n"}
    assert {None, b"", b"two\n"} <= outcomes(recorder.trace, "x/b")


def test_what_lies_elsewhere_is_left_alone(tmp_path: Path) -> None:
    for name in ("in", "out"):
        (tmp_path / name).mkdir()
    trace = recorded(tmp_path / "in", lambda _: write(tmp_path / "out" / "a", b"a"))
    assert trace.steps == ()
