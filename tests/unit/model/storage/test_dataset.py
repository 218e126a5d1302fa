"""What is on disk: what is written, what is read back, and what never passes for a dataset."""

import dataclasses
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.model.storage.dataset import TableSource, check_free, list_left_behind, write_dataset
from meshwright.model.storage.manifest import read_manifest
from meshwright.model.storage.single_file import check_file
from meshwright.runtime.checksums import sealed
from meshwright.runtime.errors import DatasetError, InputError, MeshwrightError
from meshwright.runtime.progress import Progress
from tests.helpers import reseal

PAIRS = [("b2", "news"), ("b1", "news"), ("b2", "art"), ("b3", "zoo"), ("Ω\n", 'say "hi"')]


@pytest.fixture
def interests() -> Interests:
    plain = Interests.from_pairs(PAIRS, nodes=["b0"], topics=["void"])
    return dataclasses.replace(
        plain,
        node_attributes=pa.table({"site": ["x", None, "y", "x", "x"], "port": [1, 2, 3, 4, 5]}),
        topic_attributes=pa.table({"rate": [1.0, 2, 3, 4, 5]}),
    )


@pytest.fixture
def overlay(interests: Interests) -> Overlay:
    fingers = pa.table({"node_id": pa.array([0, 1], pa.int32()), "position": [0, 1]})
    return Overlay.from_arrays(
        interests, [[0, 1], [2, 1]], [1.5, 2], {"p": 3, "ratio": 0.5}, {"fingers": fingers}
    )


def part(folder: Path, table: str) -> Path:
    return folder / table / "part-00000.parquet"


def test_a_dataset_has_the_tables_and_types_of_the_design(tmp_path: Path, overlay: Overlay) -> None:
    overlay.write(tmp_path / "out")
    schemas = {
        folder.name: {f.name: str(f.type) for f in pq.read_schema(part(tmp_path / "out", folder.name))}
        for folder in (tmp_path / "out").iterdir()
        if folder.is_dir()
    }
    assert schemas == {
        "interests": {"node": "string", "topic": "string"},
        "nodes": {"id": "int32", "name": "string", "site": "string", "port": "int64"},
        "topics": {"id": "int32", "name": "string", "rate": "double"},
        "lists": {"node_id": "int32", "topic_ids": "list<element: int32>"},
        "edges": {
            "source": "string",
            "target": "string",
            "source_id": "int32",
            "target_id": "int32",
            "cost": "double",
        },
        "fingers": {"node_id": "int32", "position": "int64"},
    }


def test_the_pairs_and_edges_are_there_by_name(tmp_path: Path, overlay: Overlay) -> None:
    overlay.write(tmp_path / "out")
    pairs = pq.read_table(part(tmp_path / "out", "interests")).to_pydict()
    assert list(zip(pairs["node"], pairs["topic"], strict=True)) == list(overlay.interests.to_pairs())
    edges = pq.read_table(part(tmp_path / "out", "edges"), columns=["source", "target"]).to_pydict()
    assert edges == {"source": ["b0", "b1"], "target": ["b1", "b2"]}


def test_what_is_read_is_what_was_written(tmp_path: Path, interests: Interests, overlay: Overlay) -> None:
    interests.write(tmp_path / "i")
    overlay.write(str(tmp_path / "o"))
    assert Interests.read(tmp_path / "i") == interests
    assert Overlay.read(str(tmp_path / "o")) == overlay
    assert Interests.read(tmp_path / "o") == interests


@pytest.mark.parametrize(
    "empty",
    [Interests.from_pairs([]), Interests.from_pairs([], nodes=["a"]), Interests.from_pairs([], topics=["t"])],
)
def test_empty_interests_and_overlays_survive(tmp_path: Path, empty: Interests) -> None:
    overlay = Overlay.from_edges(empty, [])
    overlay.write(tmp_path / "o")
    assert Overlay.read(tmp_path / "o") == overlay


def test_tables_are_written_in_blocks(
    tmp_path: Path, interests: Interests, overlay: Overlay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("meshwright.model.interests._INTERESTS_A_BLOCK", 1)
    monkeypatch.setattr("meshwright.model.overlay._EDGES_A_BLOCK", 1)
    overlay.write(tmp_path / "o")
    assert pq.ParquetFile(part(tmp_path / "o", "lists")).num_row_groups > 2
    assert pq.ParquetFile(part(tmp_path / "o", "edges")).num_row_groups == 2
    assert Overlay.read(tmp_path / "o") == overlay


def test_the_manifest_says_what_made_the_dataset(tmp_path: Path, overlay: Overlay) -> None:
    made_by = {
        "command": "build",
        "algorithm": "gm",
        "options": {"k": np.int64(2)},
        "seed": 7,
        "inputs": [Path("in")],
        "seconds": {"build": 0.5},
    }
    overlay.write(tmp_path / "o", made_by=made_by)
    manifest = read_manifest(tmp_path / "o")
    assert manifest.pop("versions").keys() == {"python", "meshwright", "numpy", "numba", "pyarrow"}
    tables = ("interests", "nodes", "topics", "lists", "edges", "fingers")
    assert manifest.pop("files").keys() == {f"{table}/part-00000.parquet" for table in tables}
    assert len(manifest.pop("checksum")) == 16
    assert manifest == {
        "format_version": 1,
        "kind": "overlay",
        "command": "build",
        "algorithm": "gm",
        "options": {"k": 2},
        "seed": 7,
        "inputs": ["in"],
        "seconds": {"build": 0.5},
        "counts": {"nodes": 5, "topics": 5, "interests": 5, "edges": 2},
        "facts": {"p": 3, "ratio": 0.5},
        "tables": {"fingers": 2},
    }


@pytest.mark.parametrize("made_by", [{"kind": "x"}, {"counts": {}}, {"seed": object()}])
def test_made_by_can_not_claim_what_the_dataset_knows(
    tmp_path: Path, interests: Interests, made_by: dict[str, Any]
) -> None:
    with pytest.raises(InputError, match="made_by"):
        interests.write(tmp_path / "i", made_by=made_by)
    assert not (tmp_path / "i").exists()


def test_nothing_existing_is_overwritten_without_force(tmp_path: Path, interests: Interests) -> None:
    interests.write(tmp_path / "i")
    other = Interests.from_pairs([("x", "y")])
    with pytest.raises(DatasetError, match=r"is already a dataset; .*force=True \(--force\)"):
        other.write(tmp_path / "i")
    assert Interests.read(tmp_path / "i") == interests
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "notes.txt").write_text("mine")
    with pytest.raises(DatasetError, match="already exists and is not empty"):
        other.write(tmp_path / "f")


def test_an_empty_folder_and_missing_parents_are_welcome(tmp_path: Path, interests: Interests) -> None:
    (tmp_path / "i").mkdir()
    interests.write(tmp_path / "i")
    interests.write(tmp_path / "a" / "b" / "c")
    assert Interests.read(tmp_path / "i") == Interests.read(tmp_path / "a" / "b" / "c") == interests


def test_a_link_to_a_folder_is_followed(tmp_path: Path, interests: Interests) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    interests.write(tmp_path / "link")
    assert Interests.read(tmp_path / "real") == interests


def test_force_exchanges_the_dataset_and_leaves_what_is_not_ours(
    tmp_path: Path, interests: Interests, overlay: Overlay
) -> None:
    overlay.write(tmp_path / "d")
    (tmp_path / "d" / "notes.txt").write_text("mine")
    interests.write(tmp_path / "d", force=True)
    assert Interests.read(tmp_path / "d") == interests
    assert {entry.name for entry in (tmp_path / "d").iterdir()} == {
        "interests",
        "nodes",
        "topics",
        "lists",
        "manifest.json",
        "notes.txt",
    }


def test_force_can_write_over_what_was_read(tmp_path: Path, overlay: Overlay) -> None:
    overlay.write(tmp_path / "d")
    Overlay.read(tmp_path / "d").write(tmp_path / "d", force=True)
    assert Overlay.read(tmp_path / "d") == overlay


def test_force_with_a_spoilt_manifest_removes_nothing_outside(tmp_path: Path, overlay: Overlay) -> None:
    overlay.write(tmp_path / "d")
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "letter").write_text("mine")
    found = {"bytes": 4, "xxh3": "0"}
    spoilt = sealed({**read_manifest(tmp_path / "d"), "files": {"../precious/letter": found}})
    (tmp_path / "d" / "manifest.json").write_text(json.dumps(spoilt))
    with pytest.raises(DatasetError, match=r"d/\w+\S* is in the way"):
        overlay.write(tmp_path / "d", force=True)
    assert (tmp_path / "precious" / "letter").read_text() == "mine"


@pytest.mark.parametrize("force", [False, True])
def test_a_file_in_the_way_is_refused(tmp_path: Path, interests: Interests, force: bool) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(DatasetError, match="is a file"):
        interests.write(tmp_path / "file", force=force)
    with pytest.raises(DatasetError, match="can't be written"):
        interests.write(tmp_path / "file" / "below", force=force)
    with pytest.raises(DatasetError, match="file is a file, but a dataset is a folder"):
        check_free(tmp_path / "file" / "below", force)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_place_where_nothing_can_be_written_is_refused_before_the_work() -> None:
    with pytest.raises(DatasetError, match="none/at/all can't be written"):
        check_free(Path("/proc/none/at/all"), force=False)


def test_asking_whether_a_place_is_free_leaves_nothing(tmp_path: Path) -> None:
    check_free(tmp_path / "new" / "er", force=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("below", ["interests", "interests/new"])
def test_nothing_is_written_among_the_files_of_a_dataset(
    tmp_path: Path, interests: Interests, below: str
) -> None:
    interests.write(tmp_path / "d")
    (tmp_path / "link").symlink_to(tmp_path / "d")
    for folder in (tmp_path / "d", tmp_path / "link"):
        with pytest.raises(DatasetError, match=r"belongs to the dataset .*d, which would be damaged"):
            interests.write(folder / below, force=True)
        with pytest.raises(DatasetError, match=r"belongs to the dataset .*d, which would be damaged"):
            check_file(folder / below / "page.html", force=True)
    assert Interests.read(tmp_path / "d") == interests


def test_a_dataset_may_lie_beside_the_tables_of_another(tmp_path: Path, interests: Interests) -> None:
    interests.write(tmp_path / "d")
    interests.write(tmp_path / "d" / "other")
    assert Interests.read(tmp_path / "d") == Interests.read(tmp_path / "d" / "other")


@pytest.mark.parametrize("spelled", ["d", "link", "x/../d", "d/interests", "d/nodes/part-00000.parquet"])
def test_an_input_is_never_its_own_output(tmp_path: Path, interests: Interests, spelled: str) -> None:
    interests.write(tmp_path / "d")
    (tmp_path / "x").mkdir()
    (tmp_path / "link").symlink_to("d")
    with pytest.raises(DatasetError, match=r"d can't be the output, because the input .* would be replaced"):
        check_free(tmp_path / "d", True, [tmp_path / spelled])
    check_free(tmp_path / "d", True, [tmp_path / "x", tmp_path / "d" / "raw.csv"])


def breaking(rows: int) -> Iterator[pa.RecordBatch]:
    yield pa.record_batch({"x": list(range(rows))})
    raise KeyboardInterrupt


@pytest.mark.parametrize("existing", [False, True])
def test_a_write_that_is_cut_off_leaves_no_dataset_or_the_old_one(
    tmp_path: Path, interests: Interests, existing: bool
) -> None:
    target = tmp_path / "d"
    if existing:
        interests.write(target)
    table = TableSource(pa.schema([("x", pa.int64())]), breaking(3), 6)
    with pytest.raises(KeyboardInterrupt):
        write_dataset(target, {"kind": "interests"}, {"nodes": table}, force=existing)
    if existing:
        assert Interests.read(target) == interests
        assert not [entry for entry in target.iterdir() if entry.name.startswith(".")]
    else:
        assert not target.exists()


@pytest.mark.parametrize("moves", range(11))
def test_an_exchange_that_fails_leaves_the_old_dataset(
    tmp_path: Path, interests: Interests, monkeypatch: pytest.MonkeyPatch, moves: int
) -> None:
    interests.write(tmp_path / "d")
    real, done = Path.rename, []

    def rename(path: Path, target: Path) -> Path:
        done.append(path)
        if len(done) == moves + 1:
            raise OSError("no more")
        return real(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", rename)
        if moves < 10:  # five things go, five come
            with pytest.raises(DatasetError, match="can't be written: no more"):
                Interests.from_pairs([("x", "y")]).write(tmp_path / "d", force=True)
        else:
            interests.write(tmp_path / "d", force=True)
    assert Interests.read(tmp_path / "d") == interests
    assert not [entry for entry in (tmp_path / "d").iterdir() if entry.name.startswith(".")]


KILLED = """
import os, sys
import meshwright.model.storage.dataset as dataset
from meshwright.model.interests import Interests
def die(*_):
    os._exit(9)
setattr(dataset, sys.argv[2], die)
Interests.from_pairs([("a", "t")]).write(sys.argv[1])
"""


def test_a_killed_write_leaves_no_dataset_and_the_next_one_needs_no_force(
    tmp_path: Path, interests: Interests
) -> None:
    target = tmp_path / "d"
    command = [sys.executable, "-c", KILLED, str(target), "_install"]
    assert subprocess.run(command, check=False).returncode == 9
    assert [entry.name[:9] for entry in target.iterdir()] == [".partial-"]
    with pytest.raises(DatasetError, match=r"has no manifest.json"):
        Interests.read(target)
    interests.write(target)
    assert Interests.read(target) == interests
    assert not [entry for entry in target.iterdir() if entry.name.startswith(".")]


@contextmanager
def small_files() -> Iterator[None]:
    """No file may grow beyond 600 bytes: writing fails as on a full disk.

    That goes for the file that pytest reports to as well, so it has to end inside the test.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (600, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_that_is_full_leaves_no_dataset(tmp_path: Path, interests: Interests) -> None:
    interests.write(tmp_path / "old")
    with small_files():
        with pytest.raises(DatasetError, match=r"can't be written: .*free some space"):
            interests.write(tmp_path / "new")
        with pytest.raises(DatasetError, match="can't be written"):
            interests.write(tmp_path / "old", force=True)
    assert not (tmp_path / "new").exists()
    assert Interests.read(tmp_path / "old") == interests


@pytest.fixture(params=[0o555, 0o000])
def locked(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A folder in which nobody may write, or even look; root becomes somebody else meanwhile."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(request.param)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    yield folder
    os.seteuid(user)
    folder.chmod(0o700)
    shutil.rmtree(folder)


def test_a_parent_that_is_locked_is_an_error_of_the_dataset(interests: Interests, locked: Path) -> None:
    for force in (False, True):
        with pytest.raises(DatasetError, match=r"can't be written: .*who may write there"):
            interests.write(locked / "d", force=force)
    with pytest.raises(DatasetError, match=r"no such folder|can't be read: .*Permission denied"):
        Interests.read(locked / "d")
    with pytest.raises(InputError, match=r"no such file|can't be read: .*Permission denied"):
        Interests.from_parquet(locked / "d")


def test_a_place_where_nobody_can_write_is_an_error_of_the_dataset(interests: Interests) -> None:
    with pytest.raises(DatasetError, match=r"can't be written: .*check the path"):
        interests.write("/proc/self/d")


def edited(manifest: dict[str, Any], **changes: Any) -> str:
    return json.dumps(sealed({**manifest, **changes}))


@pytest.mark.parametrize(
    ("spoil", "rule"),
    [
        (lambda m: "{", "is not JSON"),
        (lambda m: "[]", "is not the manifest of a dataset"),
        (lambda m: edited(m, format_version=2), "has format version 2; this Meshwright reads 1"),
        (
            lambda m: edited(m, kind="churn"),
            "contains 'churn', not interests or an overlay; give a dataset with",
        ),
        (
            lambda m: edited(m, kind=["interests"]),
            r"contains \['interests'\], not interests or an overlay; give a dataset with",
        ),
        (lambda m: edited(m, kind={}), r"contains \{\}, not interests or an overlay; give a dataset with"),
        (lambda m: edited(m, counts=None), "has no 'counts'"),
        (lambda m: edited(m, counts={**m["counts"], "nodes": 9}), "holds 5 nodes, but its manifest says 9"),
        (lambda m: edited(m, counts={**m["counts"], "topics": 9}), "holds 5 topics"),
        (lambda m: edited(m, counts={**m["counts"], "interests": 9}), "holds 5 interests"),
        (lambda m: edited(m, tables={"../x": 1}), "can't be called"),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(
    tmp_path: Path, interests: Interests, spoil: Callable[[dict[str, Any]], str], rule: str
) -> None:
    interests.write(tmp_path / "i")
    path = tmp_path / "i" / "manifest.json"
    path.write_text(spoil(json.loads(path.read_text())))
    with pytest.raises(DatasetError, match=rule):
        Interests.read(tmp_path / "i")


def test_what_is_no_dataset_is_refused(tmp_path: Path, interests: Interests) -> None:
    with pytest.raises(DatasetError, match="there is no such folder"):
        Interests.read(tmp_path / "nowhere")
    interests.write(tmp_path / "i")
    with pytest.raises(
        DatasetError, match="contains interests, not an overlay; give a dataset with an overlay"
    ):
        Overlay.read(tmp_path / "i")
    (tmp_path / "i" / "manifest.json").unlink()
    with pytest.raises(DatasetError, match=r"has no manifest.json: it is not a dataset"):
        Interests.read(tmp_path / "i")


def rewrite(folder: Path, table: str, change: Callable[[pa.Table], pa.Table]) -> None:
    pq.write_table(change(pq.read_table(part(folder, table))), part(folder, table))
    reseal(folder)


def replaced(column: str, values: Any) -> Callable[[pa.Table], pa.Table]:
    return lambda table: table.set_column(table.column_names.index(column), column, values)


I32 = pa.int32()


@pytest.mark.parametrize(
    ("table", "change", "rule"),
    [
        ("nodes", replaced("id", pa.array(range(5))), "column 'id' is int64, but must be int32"),
        ("nodes", replaced("name", [pa.array(range(5))]), "column 'name' is int64, but must be string"),
        ("nodes", replaced("id", pa.array([0, 1, 2, 3, 3], I32)), "each id from 0 to 4 must appear once"),
        ("nodes", replaced("id", pa.array([0, 1, 2, 3, None], I32)), "column 'id' has 1 nulls"),
        ("nodes", replaced("name", [list("badce")]), "names must be sorted"),
        ("nodes", replaced("port", [list("badce")]), "column 'port' is string, but must be an integer"),
        ("nodes", lambda t: t.drop_columns(["name"]), "has no column 'name'; its columns are id, site, port"),
        (
            "lists",
            replaced("node_id", pa.array([0, 1, 2, 3, 3], I32)),
            "a node_id appears twice|not strictly",
        ),
        ("lists", replaced("node_id", pa.array([0, 1, 2, 3, 9], I32)), "a node_id lies outside 0 to 4"),
        (
            "lists",
            replaced("topic_ids", pa.array([[], [1], [0, 9], [3], [4]], pa.list_(I32))),
            "topic_ids must lie between 0 and 4",
        ),
        (
            "lists",
            replaced("topic_ids", pa.array([[], [1], [1, 0], [3], [4]], pa.list_(I32))),
            "topics of node 2 are not strictly rising",
        ),
        ("lists", replaced("topic_ids", pa.array([[], [1], [0, 1], [None], [4]], pa.list_(I32))), "a null"),
        ("lists", replaced("topic_ids", pa.array([[], [1], [0, 1], None, [4]], pa.list_(I32))), "1 nulls"),
        ("lists", replaced("topic_ids", pa.array([[1]] * 5)), "list<.*int64>, but must be list<int32>"),
        ("lists", lambda t: t.slice(0, 4), "holds 4 interests, but its manifest says 5"),
        ("edges", replaced("source_id", pa.array([0, 9], I32)), "names an id outside 0 to 4"),
        ("edges", replaced("source_id", pa.array([1, 1], I32)), "joins 'b1' to itself"),
        ("edges", replaced("cost", pa.array([1.0, -1])), "costs -1.0"),
        ("edges", replaced("cost", pa.array(["1", "2"])), "column 'cost' is string, but must be double"),
        ("edges", lambda t: t.slice(0, 1), "holds 1 edges, but its manifest says 2"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(
    tmp_path: Path, overlay: Overlay, table: str, change: Callable[[pa.Table], pa.Table], rule: str
) -> None:
    overlay.write(tmp_path / "o")
    rewrite(tmp_path / "o", table, change)
    with pytest.raises(DatasetError, match=rule) as caught:
        Overlay.read(tmp_path / "o")
    assert str(tmp_path / "o") in str(caught.value)


@pytest.mark.parametrize("table", ["nodes", "topics", "lists", "edges", "fingers"])
@pytest.mark.parametrize("damage", ["missing", "empty", "garbage"])
def test_a_table_that_is_gone_or_garbage_is_refused(
    tmp_path: Path, overlay: Overlay, table: str, damage: str
) -> None:
    overlay.write(tmp_path / "o")
    if damage == "missing":
        shutil.rmtree(tmp_path / "o" / table)
    elif damage == "empty":
        part(tmp_path / "o", table).unlink()
    else:
        part(tmp_path / "o", table).write_bytes(b"garbage")
    with pytest.raises(MeshwrightError, match=table):
        Overlay.read(tmp_path / "o")


def test_parts_in_any_number_and_order_are_one_table(tmp_path: Path, overlay: Overlay) -> None:
    overlay.write(tmp_path / "o")
    for table in ("nodes", "topics", "lists", "edges"):
        rows = pq.read_table(part(tmp_path / "o", table))
        part(tmp_path / "o", table).unlink()
        for at, row in enumerate(reversed(range(rows.num_rows))):
            pq.write_table(rows.slice(row, 1), tmp_path / "o" / table / f"part-{at:05}-c000.snappy.parquet")
        (tmp_path / "o" / table / "_SUCCESS").touch()
    reseal(tmp_path / "o")
    assert Overlay.read(tmp_path / "o") == overlay


def test_a_node_without_a_list_has_no_topics(tmp_path: Path, interests: Interests) -> None:
    interests.write(tmp_path / "i")
    rewrite(tmp_path / "i", "lists", lambda table: table.slice(1))
    assert Interests.read(tmp_path / "i") == interests


def test_pairs_alone_are_read_when_there_is_no_dense_form(tmp_path: Path) -> None:
    interests = Interests.from_pairs(PAIRS)
    interests.write(tmp_path / "i")
    for table in ("nodes", "topics", "lists"):
        shutil.rmtree(tmp_path / "i" / table)
    with pytest.raises(DatasetError, match=r"nodes/part-00000.parquet is missing"):
        Interests.read(tmp_path / "i")
    reseal(tmp_path / "i")
    assert Interests.read(tmp_path / "i") == interests


class Recorder(Progress):
    def __init__(self) -> None:
        self.calls: list[Any] = []

    def start(self, label: str, total: int) -> None:
        self.calls.append((label, total))

    def advance(self, done: int) -> None:
        self.calls.append(done)

    def finish(self) -> None:
        self.calls.append("finish")


def test_progress_hears_how_many_rows_are_written(tmp_path: Path, interests: Interests) -> None:
    recorder = Recorder()
    interests.write(tmp_path / "i", progress=recorder)
    assert recorder.calls == [("writing", 20), 5, 10, 15, 20, "finish"]


def test_force_never_touches_a_folder_that_holds_other_files(tmp_path):
    (tmp_path / "x" / "edges").mkdir(parents=True)
    (tmp_path / "x" / "edges" / "notes.txt").write_text("precious")
    with pytest.raises(DatasetError, match=r"notes\.txt is in the way, and Meshwright may not remove it"):
        Interests.from_pairs([("a", "t")]).write(tmp_path / "x", force=True)
    assert (tmp_path / "x" / "edges" / "notes.txt").read_text() == "precious"


def test_force_keeps_the_old_dataset_where_a_file_is_named_like_a_table(tmp_path):
    old = Interests.from_pairs([("a", "t")])
    old.write(tmp_path / "x")
    (tmp_path / "x" / "edges").write_text("mine")
    with pytest.raises(DatasetError, match="edges is in the way"):
        Interests.from_pairs([("b", "t")]).write(tmp_path / "x", force=True)
    assert Interests.read(tmp_path / "x") == old


def test_rejected_rows_that_an_attempt_left_are_no_obstacle_to_the_next(tmp_path):
    left = tmp_path / "x" / "rejected"
    left.mkdir(parents=True)
    (left / "part-0.parquet").write_bytes(b"")
    list_left_behind(left)
    interests = Interests.from_pairs([("a", "t")])
    interests.write(tmp_path / "x")
    assert Interests.read(tmp_path / "x") == interests
    assert not left.exists()


def test_a_folder_called_rejected_with_other_files_is_not_touched(tmp_path):
    (tmp_path / "x" / "rejected").mkdir(parents=True)
    (tmp_path / "x" / "rejected" / "letter.txt").write_text("no")
    with pytest.raises(DatasetError, match=r"letter\.txt is in the way"):
        Interests.from_pairs([("a", "t")]).write(tmp_path / "x")
    assert (tmp_path / "x" / "rejected" / "letter.txt").read_text() == "no"
