"""Files that are not as they were written are noticed when they are read."""

import json
import os
import random
from pathlib import Path

import pytest

from meshwright import Costs
from meshwright.exporting import export
from meshwright.model.events import Event, write_events
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.model.storage.manifest import check_files, open_dataset
from meshwright.runtime.atomic_files import DurableFile, replacing, write_new, write_whole
from meshwright.runtime.checksums import is_whole, sealed, sum_of
from meshwright.runtime.errors import DatasetError, MeshwrightError, MeshwrightWarning
from tests.helpers import without_checksums

INTERESTS = Interests.from_pairs(
    [(f"n{node}", f"t{(node * k) % 7}") for node in range(40) for k in (1, 2, 5)]
)
OVERLAY = Overlay.from_arrays(INTERESTS, [[node, node + 1] for node in range(39)], [1.5] * 39)
COSTS = Costs.clusters(
    {node: f"c{at % 3}" for at, node in enumerate(INTERESTS.nodes.to_pylist())}, inner=1, outer=5
)


@pytest.fixture
def datasets(tmp_path: Path) -> dict[str, Path]:
    OVERLAY.write(tmp_path / "overlay")
    COSTS.write(tmp_path / "costs")
    return {"overlay": tmp_path / "overlay", "costs": tmp_path / "costs"}


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_a_flipped_bit_anywhere_is_refused_or_changes_nothing(datasets):
    chance = random.Random(5)
    outcomes = {"refused": 0, "same": 0}
    for name, read, truth in (("overlay", Overlay.read, OVERLAY), ("costs", Costs.read, COSTS)):
        for path in files(datasets[name]):
            whole = path.read_bytes()
            for _ in range(15):
                damaged = bytearray(whole)
                damaged[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
                path.write_bytes(damaged)
                try:
                    found = read(datasets[name])
                except MeshwrightError:
                    outcomes["refused"] += 1
                else:
                    assert found == truth, path
                    outcomes["same"] += 1  # blanks in a manifest, and tables that are not read
            path.write_bytes(whole)
    assert outcomes["refused"] > 100


def test_a_table_of_another_dataset_is_refused_though_it_fits(tmp_path):
    OVERLAY.write(tmp_path / "one")
    other = Overlay.from_arrays(INTERESTS, [[node, (node + 2) % 40] for node in range(39)], [1.5] * 39)
    other.write(tmp_path / "two")
    part = Path("edges") / "part-00000.parquet"
    (tmp_path / "one" / part).write_bytes((tmp_path / "two" / part).read_bytes())
    with pytest.raises(DatasetError, match=r"edges/part-00000\.parquet is damaged"):
        Overlay.read(tmp_path / "one")


def test_a_part_that_was_added_or_taken_away_is_named(datasets):
    edges = datasets["overlay"] / "edges"
    (edges / "part-00001.parquet").write_bytes((edges / "part-00000.parquet").read_bytes())
    with pytest.raises(DatasetError, match=r"part-00001\.parquet is not listed in the manifest"):
        Overlay.read(datasets["overlay"])
    (edges / "part-00001.parquet").unlink()
    (edges / "part-00000.parquet").unlink()
    with pytest.raises(DatasetError, match=r"part-00000\.parquet is missing; restore it from a backup"):
        Overlay.read(datasets["overlay"])


def test_a_manifest_that_was_edited_is_refused(datasets):
    path = datasets["overlay"] / "manifest.json"
    manifest = json.loads(path.read_text())
    for key, value in (("seed", 8), ("facts", {"p": 1}), ("files", {}), ("checksum", "0" * 16)):
        path.write_text(json.dumps({**manifest, key: value}))
        with pytest.raises(DatasetError, match="has changed since it was written"):
            Overlay.read(datasets["overlay"])
    for key in ("files", "checksum"):
        path.write_text(json.dumps({name: value for name, value in manifest.items() if name != key}))
        with pytest.raises(DatasetError, match="has changed since it was written"):
            Overlay.read(datasets["overlay"])


def test_a_dataset_without_checksums_opens_with_a_warning(datasets):
    without_checksums(datasets["overlay"])
    with pytest.warns(MeshwrightWarning, match=r"overlay has no checksums.*write it again"):
        assert Overlay.read(datasets["overlay"]) == OVERLAY


def test_a_manifest_of_endless_brackets_is_refused(datasets):
    (datasets["overlay"] / "manifest.json").write_text("[" * 100_000)
    with pytest.raises(DatasetError, match="is not JSON"):
        Overlay.read(datasets["overlay"])


@pytest.mark.parametrize("counts", [[], {"nodes": "3"}, {"nodes": None}, {"nodes": -1}, {"nodes": True}])
def test_counts_that_are_no_numbers_are_refused(datasets, counts):
    path = datasets["overlay"] / "manifest.json"
    path.write_text(json.dumps(sealed({**json.loads(path.read_text()), "counts": counts})))
    with pytest.raises(DatasetError, match=r"write"):
        Overlay.read(datasets["overlay"])


def test_a_sealed_value_is_whole_until_it_is_changed():
    value = sealed({"b": [1, 2.5, None], "a": "ü"})
    assert is_whole(value)
    assert is_whole(json.loads(json.dumps(value)))
    assert not is_whole({**value, "a": "u"})
    assert not is_whole({"a": 1})


def test_the_sum_made_while_writing_is_that_of_the_file(tmp_path):
    with DurableFile(tmp_path / "x") as stream:
        for block in (b"abc", b"", bytes(3_000_000)):
            assert stream.write(block) == len(block)
    assert stream.sum() == sum_of(tmp_path / "x")
    assert stream.sum().bytes == 3_000_003


def test_a_new_file_replaces_neither_files_nor_links(tmp_path):
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    for name in ("mine", "link"):
        with pytest.raises(FileExistsError):
            write_new(tmp_path / name, b"other")
    assert (tmp_path / "mine").read_text() == "mine"


def test_a_link_is_replaced_and_not_followed_when_a_file_is_written_over_it(tmp_path):
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "mine").read_text() == "mine"
    assert not (tmp_path / "link").is_symlink()
    with pytest.raises(ZeroDivisionError), replacing(tmp_path / "link") as partial:
        partial.write_bytes(b"%d" % (1 // 0))
    assert (tmp_path / "link").read_bytes() == b"new"
    assert {path.name for path in tmp_path.iterdir()} == {"mine", "link"}


@pytest.mark.parametrize("table", ["edges", "nodes"])
def test_a_pipe_in_the_place_of_a_file_is_refused_at_once(datasets, table):
    part = datasets["overlay"] / table / "part-00000.parquet"
    part.unlink()
    os.mkfifo(part)
    with pytest.raises(DatasetError, match="is not a regular file"):
        Overlay.read(datasets["overlay"])


def test_hidden_files_that_readers_pass_over_are_no_damage(datasets):
    (datasets["overlay"] / "edges" / ".part-00000.parquet.crc").write_bytes(b"Hadoop's")
    assert Overlay.read(datasets["overlay"]) == OVERLAY


def test_a_dataset_that_is_replaced_while_it_is_read_is_not_called_damaged(datasets):
    opened = open_dataset(datasets["overlay"])
    Overlay.from_arrays(INTERESTS, [[0, 1]], [2.0]).write(datasets["overlay"], force=True)
    with pytest.raises(DatasetError, match="was rewritten while it was being read; read it again"):
        check_files(opened, ["edges"])


FILES = {
    "o.csv": lambda path: export(OVERLAY, path, force=True),
    "o.graphml": lambda path: export(OVERLAY, path, force=True),
    "o.gml": lambda path: export(OVERLAY, path, force=True),
    "o.dot": lambda path: export(OVERLAY, path, force=True),
    "o.json": lambda path: export(OVERLAY, path, force=True),
    "e.jsonl": lambda path: write_events([Event(1, "leave", "n1")], path, force=True),
    "e.parquet": lambda path: write_events([Event(1, "leave", "n1")], path, force=True),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_replaced_by_force_only_if_meshwright_wrote_it(tmp_path, name):
    path = tmp_path / name
    for _ in range(2):
        FILES[name](path)
    whole = path.read_bytes()
    for content in (b"years of work", b"PAR1 of somebody else", b"<!doctype html><html>mine</html>"):
        path.write_bytes(content)
        with pytest.raises(DatasetError, match=rf"{name} is in the way, and Meshwright may not remove it"):
            FILES[name](path)
        assert path.read_bytes() == content
    path.unlink()
    (tmp_path / "real").write_bytes(whole)
    path.symlink_to(tmp_path / "real")
    with pytest.raises(DatasetError, match="since it is a link"):
        FILES[name](path)
    assert (path.is_symlink(), (tmp_path / "real").read_bytes()) == (True, whole)
