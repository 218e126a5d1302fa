"""What `force` removes: files that a manifest of ours lists, never through a link, and nothing else."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.model.storage import dataset as datasets
from meshwright.runtime import owned
from meshwright.runtime.errors import DatasetError
from tests.helpers import without_checksums

NEW = Interests.from_pairs([("x", "y"), ("z", "y")])


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """An overlay that is there already."""
    interests = Interests.from_pairs([("a", "t"), ("b", "t"), ("c", "u")])
    Overlay.from_edges(interests, [("a", "b")]).write(tmp_path / "old")
    return tmp_path / "old"


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    """Somebody else's folder."""
    folder = tmp_path / "precious"
    (folder / "below").mkdir(parents=True)
    (folder / "part-00000.parquet").write_text("data")
    (folder / "below" / "thesis.tex").write_text("years")
    return folder


def content(folder: Path) -> dict[str, str]:
    """All that is below a folder: files with their bytes, links with where they lead."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = f"-> {os.readlink(path)}"
        else:
            found[name] = "folder" if path.is_dir() else path.read_bytes().hex()
    return found


def refused(target: Path, named: str, *others: Path) -> None:
    """Writing over `target` names what is in the way, and changes nothing, there or elsewhere."""
    before = [content(folder) for folder in (target, *others)]
    for write in (
        lambda: NEW.write(target, force=True),
        lambda: Overlay.from_edges(NEW, [("x", "z")]).write(target, force=True),
        lambda: datasets.check_free(target, force=True),
    ):
        with pytest.raises(DatasetError, match=rf"{named}\b.* (is in the way|is a symbolic link|holds)"):
            write()
    assert [content(folder) for folder in (target, *others)] == before


@pytest.mark.parametrize("table", ["nodes", "edges", "lists", "interests"])
def test_a_table_that_is_a_link_is_refused_and_what_it_leads_to_stays(old, precious, table):
    (old / table).rename(old.parent / "moved")
    (old / table).symlink_to(precious)
    refused(old, table, precious)


def test_a_link_to_the_tables_own_files_is_refused_too(old):
    (old / "edges").rename(old.parent / "moved")
    (old / "edges").symlink_to(old.parent / "moved")
    refused(old, "edges", old.parent / "moved")


def test_a_part_that_is_a_link_is_refused(old, precious):
    part = old / "edges" / "part-00000.parquet"
    part.unlink()
    part.symlink_to(precious / "part-00000.parquet")
    refused(old, r"part-00000\.parquet", precious)


def test_a_manifest_that_is_a_link_is_refused(old):
    (old / "manifest.json").rename(old.parent / "elsewhere.json")
    (old / "manifest.json").symlink_to(old.parent / "elsewhere.json")
    refused(old, r"manifest\.json")


def test_a_target_that_is_a_link_is_refused_where_something_would_go(old):
    (old.parent / "link").symlink_to(old)
    refused(old.parent / "link", "link", old)


def test_a_dangling_link_in_the_place_of_a_table_is_refused(old):
    (old / "rejected").symlink_to(old.parent / "nowhere")
    refused(old, "rejected")


@pytest.mark.parametrize("path", ["nodes/.secret", "nodes/my-own-data.parquet", "edges/_work/thesis.tex"])
@pytest.mark.parametrize("has_manifest", [True, False])
def test_what_no_manifest_lists_is_refused_by_name(old, path, has_manifest):
    file = old / path
    file.parent.mkdir(exist_ok=True)
    file.write_text("mine")
    if not has_manifest:
        (old / "manifest.json").unlink()
    refused(old, Path(path).name if has_manifest else r"\S+")


def test_tables_without_a_manifest_are_refused(old):
    (old / "manifest.json").unlink()
    refused(old, r"part-00000\.parquet")


def test_an_empty_folder_in_a_table_is_refused(old):
    (old / "edges" / "drafts").mkdir()
    refused(old, "drafts")


def test_a_manifest_of_somebody_else_is_refused(tmp_path):
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "manifest.json").write_text('{"name": "a browser extension"}')
    refused(tmp_path / "app", r"manifest\.json")


def test_an_old_dataset_without_a_list_of_files_is_refused(old):
    without_checksums(old)
    refused(old, r"\S+")


def test_a_folder_with_another_manifest_of_ours_is_refused(tmp_path):
    (tmp_path / "run").mkdir()
    from meshwright.model.storage.manifest import make_manifest, write_manifest

    (tmp_path / "run" / "report.html").write_text("the report")
    write_manifest(tmp_path / "run", make_manifest("run", {}, {}, {}, {}))
    refused(tmp_path / "run", "run")


def test_files_beside_the_tables_stay(old, precious):
    (old / "notes.txt").write_text("mine")
    (old / "link").symlink_to(precious)
    before = content(precious)
    NEW.write(old, force=True)
    assert Interests.read(old) == NEW
    assert (old / "notes.txt").read_text() == "mine"
    assert (old / "link").is_symlink()
    assert content(precious) == before


@pytest.mark.parametrize("name", [".partial-notours", ".partial-1-0123abcd", ".partial-99999999-00000000"])
def test_a_hidden_folder_that_is_not_ours_stays(old, name):
    (old / name).mkdir()
    (old / name / "letter").write_text("mine")
    NEW.write(old, force=True)
    assert (old / name / "letter").read_text() == "mine"
    with pytest.raises(DatasetError, match="already"):
        NEW.write(old)


def test_a_hard_link_loses_its_name_here_and_keeps_its_content(old, tmp_path):
    part = old / "edges" / "part-00000.parquet"
    whole = part.read_bytes()
    os.link(part, tmp_path / "backup")
    os.link(old / "manifest.json", tmp_path / "manifest-backup")
    manifest = (old / "manifest.json").read_bytes()
    NEW.write(old, force=True)
    assert (tmp_path / "backup").read_bytes() == whole
    assert (tmp_path / "manifest-backup").read_bytes() == manifest


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_what_belongs_to_another_user_is_refused(old):
    os.chown(old / "edges" / "part-00000.parquet", 65534, 65534)
    refused(old, r"part-00000\.parquet")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_dataset_that_another_user_owns_as_a_whole_can_be_replaced(old):
    for path in (old, *old.rglob("*")):
        os.chown(path, 65534, 65534)
    NEW.write(old, force=True)
    assert Interests.read(old) == NEW


def swapped(folder: Path, target: Path) -> Callable[[], None]:
    """Puts a link in the place of a folder."""

    def swap() -> None:
        folder.rename(folder.with_name(f"{folder.name}-away"))
        folder.symlink_to(target)

    return swap


def test_a_link_that_is_put_there_in_between_is_refused(old, precious, monkeypatch):
    before, whole = content(precious), content(old / "edges")
    real, swap = datasets._check_replaceable, swapped(old / "edges", precious)
    calls = []

    def racing(*arguments: object) -> None:
        real(*arguments)
        calls.append(arguments)
        if len(calls) == 2:  # once before writing, once before moving
            swap()

    monkeypatch.setattr(datasets, "_check_replaceable", racing)
    with pytest.raises(DatasetError, match="edges is in the way"):
        NEW.write(old, force=True)
    assert (old / "edges").is_symlink()
    assert content(old / "edges-away") == whole
    assert content(precious) == before


def test_a_file_that_is_put_there_in_between_stays(old, monkeypatch):
    real = datasets.check_ours

    def racing(folder: Path, *arguments: object, **options: object) -> None:
        real(folder, *arguments, **options)
        if folder.name == ".old":
            (folder / "edges" / "thesis.tex").write_text("years")

    monkeypatch.setattr(datasets, "check_ours", racing)
    NEW.write(old, force=True)
    assert Interests.read(old) == NEW
    (kept,) = old.rglob("thesis.tex")
    assert kept.read_text() == "years"
    monkeypatch.undo()
    NEW.write(old, force=True)
    assert kept.read_text() == "years"


def test_no_file_is_removed_through_a_link_to_a_folder(tmp_path, precious):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "t").symlink_to(precious)
    before = content(precious)
    with pytest.raises(DatasetError, match="a link"):
        owned.remove_files(tmp_path / "d", ["t/part-00000.parquet", "t/below/thesis.tex"])
    assert content(precious) == before
    (tmp_path / "link").symlink_to(precious)
    with pytest.raises(DatasetError, match="a link"):
        owned.remove_files(tmp_path / "link", ["part-00000.parquet"])
    with pytest.raises(OSError, match="symbolic link"):
        owned.remove_own_folder(tmp_path / "link")
    assert content(precious) == before


KILLED = """
import os, sys
from pathlib import Path
from meshwright.model.interests import Interests
moves, real = int(sys.argv[2]), Path.rename
def rename(path, target):
    global moves
    moves -= 1
    if moves < 0:
        os._exit(9)
    return real(path, target)
Path.rename = rename
Interests.from_pairs([("x", "y")]).write(sys.argv[1], force=True)
"""


@pytest.mark.parametrize("moves", [0, 1, 4, 7, 10, 11])
def test_a_kill_while_tables_are_exchanged_loses_neither_dataset(old, moves):
    whole = Overlay.read(old)
    (old / "notes.txt").write_text("mine")
    done = subprocess.run([sys.executable, "-c", KILLED, str(old), str(moves)], check=False)
    assert done.returncode == (9 if moves < 11 else 0)
    if moves < 11:
        with pytest.raises(DatasetError, match="already"):
            NEW.write(old)  # which first puts back what was moved aside
        assert Overlay.read(old) == whole
    NEW.write(old, force=True)
    assert Interests.read(old) == NEW
    assert {entry.name for entry in old.iterdir()} == {
        *("interests", "nodes", "topics", "lists", "manifest.json", "notes.txt")
    }


WRITER = """
import sys
from meshwright.runtime.errors import DatasetError
from meshwright.model.interests import Interests
mine = Interests.from_pairs([(f"n{i}", sys.argv[2]) for i in range(50)])
written = 0
for _ in range(40):
    try:
        mine.write(sys.argv[1], force=True)
        written += 1
    except DatasetError as error:
        if "another process is writing" not in str(error):
            raise
print(written)
"""


def test_writers_at_the_same_time_leave_the_dataset_of_one_of_them(tmp_path):
    command = [sys.executable, "-c", WRITER, str(tmp_path / "d")]
    writers = [subprocess.Popen([*command, name], stdout=subprocess.PIPE, text=True) for name in "abc"]
    written = [int(writer.communicate()[0]) for writer in writers]
    assert all(writer.returncode == 0 for writer in writers)
    assert sum(written) > 0
    assert Interests.read(tmp_path / "d").topics.to_pylist()[0] in "abc"
    assert not list((tmp_path / "d").glob(".*"))


def test_a_kill_while_a_draft_is_removed_leaves_what_is_known_as_ours(tmp_path, monkeypatch):
    draft = tmp_path / "d" / ".partial-123-0123abcd"
    (draft / "scratch" / "rows").mkdir(parents=True)
    for name in (".meshwright", "a", "z"):
        (draft / name).write_text("")
    real = datasets.remove_own_folder

    def fall(folder: Path) -> None:
        if folder == draft:
            raise KeyboardInterrupt
        real(folder)

    with monkeypatch.context() as patch:
        patch.setattr(datasets, "remove_own_folder", fall)
        with pytest.raises(KeyboardInterrupt):
            NEW.write(tmp_path / "d")
    assert [entry.name for entry in draft.iterdir()] == [".meshwright"]
    NEW.write(tmp_path / "d")
    assert Interests.read(tmp_path / "d") == NEW
    assert not draft.exists()
