"""The folder of a run: what is removed to begin anew, and what never is."""

import json
from pathlib import Path

import pytest

from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.model.storage.dataset import list_left_behind
from meshwright.model.storage.manifest import make_manifest, write_sealed
from meshwright.pipeline import run_folder
from meshwright.pipeline.run_folder import NOTES, PLAN, begun, check_place, finish, resumed
from meshwright.pipeline.verify import verify
from meshwright.runtime import owned
from meshwright.runtime.errors import DatasetError

INTERESTS = Interests.from_pairs([("a", "t"), ("b", "t")])
OVERLAY = Overlay.from_edges(INTERESTS, [("a", "b")])
STAGES = ("ingest", "profile", "build", "evaluate", "report")


def make_run(out: Path, stages: int = 5) -> Path:
    """What a run leaves after so many stages; all of them, and it is finished."""
    begun(out, {"seed": 1})
    INTERESTS.write(out / "interests")
    (out / "rejected").mkdir()
    (out / "rejected" / "part-0.parquet").write_bytes(b"rows")
    list_left_behind(out / "rejected")
    if stages > 1:
        (out / "profile").mkdir()
        write_sealed(out / "profile" / "profile.json", {"nodes": 2})
    if stages > 2:
        OVERLAY.write(out / "overlay")
    if stages > 4:
        (out / "report.html").write_text('<html><meta name="generator" content="Meshwright"></html>')
    for name in STAGES[:stages]:
        write_sealed(out / NOTES / f"{name}.json", {"seconds": 1, "found": {}})
    if stages == 5:
        finish(out, make_manifest("run", {"nodes": 2}, {}, {}, {"command": "run"}))
    return out


def paths(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


@pytest.mark.parametrize("stages", range(6))
def test_force_removes_all_that_a_run_left_and_nothing_else(tmp_path, stages):
    out = make_run(tmp_path / "run", stages)
    check_place(out, resume=False, force=True)
    begun(out, {"seed": 2})
    assert paths(out) == {f"{NOTES}/{PLAN}"}
    assert json.loads((out / NOTES / PLAN).read_text())["seed"] == 2


@pytest.mark.parametrize("name", ["interests", "overlay", "profile", "rejected", "overlay/edges"])
def test_a_link_in_the_folder_of_a_run_is_refused_and_what_it_leads_to_stays(tmp_path, name):
    out = make_run(tmp_path / "run")
    precious = tmp_path / "precious"
    OVERLAY.write(precious)
    (precious / "thesis.tex").write_text("years")
    (out / name).rename(tmp_path / "away")
    (out / name).symlink_to(precious)
    before = paths(tmp_path)
    with pytest.raises(
        DatasetError, match=rf"{name} is in the way, and Meshwright may not remove it, since it is a link"
    ):
        check_place(out, resume=False, force=True)
    with pytest.raises(DatasetError, match="in the way"):
        begun(out, {})
    assert paths(tmp_path) == before


@pytest.mark.parametrize(
    "path",
    ["overlay/thesis.tex", "interests/nodes/.secret", "profile/mine.json", ".run/mine", "rejected/letter"],
)
@pytest.mark.parametrize("stages", [3, 5])
def test_a_foreign_file_in_the_folder_of_a_run_is_refused_by_name(tmp_path, path, stages):
    out = make_run(tmp_path / "run", stages)
    (out / path).parent.mkdir(exist_ok=True)
    (out / path).write_text("mine")
    before = paths(out)
    with pytest.raises(DatasetError, match=rf"{path} is in the way, and Meshwright may not remove it"):
        check_place(out, resume=False, force=True)
    assert paths(out) == before


def test_a_report_or_a_note_that_is_not_ours_is_refused(tmp_path):
    out = make_run(tmp_path / "run", 3)
    (out / "report.html").write_text("<html>mine</html>")
    with pytest.raises(DatasetError, match=r"report\.html is in the way"):
        check_place(out, resume=False, force=True)


def test_the_folder_of_a_run_that_is_a_link_is_refused(tmp_path):
    make_run(tmp_path / "run")
    (tmp_path / "link").symlink_to(tmp_path / "run")
    with pytest.raises(
        DatasetError, match="is a symbolic link, and Meshwright removes nothing through a link"
    ):
        check_place(tmp_path / "link", resume=False, force=True)


class StopError(Exception):
    pass


@pytest.mark.parametrize("stages", [2, 4, 5])
@pytest.mark.parametrize("removals", [0, 1, 3, 6, 9, 12])
def test_a_kill_while_a_run_is_removed_leaves_what_can_be_removed(tmp_path, monkeypatch, stages, removals):
    out = make_run(tmp_path / "run", stages)
    real, done = owned._remove_file, []

    def remove(folder: Path, path: object) -> None:
        if len(done) == removals:
            raise StopError
        done.append(path)
        real(folder, path)

    with monkeypatch.context() as patch:
        patch.setattr(owned, "_remove_file", remove)
        with pytest.raises(StopError):
            begun(out, {})
    assert not (out / "manifest.json").exists() or removals == 0
    check_place(out, resume=False, force=True)
    begun(out, {"seed": 3})
    assert paths(out) == {f"{NOTES}/{PLAN}"}


def test_what_kills_left_of_writing_goes_too(tmp_path):
    out = make_run(tmp_path / "run", 4)
    draft = out / "overlay" / ".partial-123-0123abcd"
    (draft / "edges").mkdir(parents=True)
    (draft / ".meshwright").write_text("")
    (draft / "edges" / "part-00000.parquet").write_text("half")
    (draft / "scratch" / "rows").mkdir(parents=True)
    (out / "interests" / ".partial-124-0123abcd").mkdir()
    for name in (".report.html.partial-0123abcd", ".run/.report.json.partial-0123abcd"):
        (out / name).write_text("half")
    check_place(out, resume=False, force=True)
    begun(out, {})
    assert paths(out) == {f"{NOTES}/{PLAN}"}


def test_a_run_that_was_killed_before_its_plan_is_overwritten_by_force_alone(tmp_path):
    out = tmp_path / "run"
    (out / NOTES).mkdir(parents=True)
    (out / NOTES / f".{PLAN}.partial-0123abcd").write_text('{"seed"')
    (out / ".report.html.partial-0123abcd").write_text("<html")
    with pytest.raises(DatasetError, match="--force"):
        check_place(out, resume=False, force=False)
    check_place(out, resume=False, force=True)
    begun(out, {"seed": 2})
    assert paths(out) == {f"{NOTES}/{PLAN}"}


def test_a_damaged_note_makes_its_stage_be_done_again(tmp_path):
    out = make_run(tmp_path / "run", 4)
    assert resumed(out, {"seed": 1}).keys() == {"ingest", "profile", "build", "evaluate"}
    note = out / NOTES / "build.json"
    note.write_text(note.read_text().replace('"seconds": 1', '"seconds": 3'))
    assert resumed(out, {"seed": 1}).keys() == {"ingest", "profile"}


def test_a_finished_run_lists_every_file_and_damage_to_any_is_found(tmp_path):
    out = make_run(tmp_path / "run")
    assert verify(out).intact
    for path in sorted(paths(out)):
        whole = (out / path).read_bytes()
        at = len(whole) // 2
        (out / path).write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        verdict = verify(out)
        assert [problem[0] for problem in verdict.problems] == [path]
        (out / path).unlink()
        if path != "manifest.json":
            assert [problem for problem in verify(out).problems] == [(path, "is missing")]
        (out / path).write_bytes(whole)
    (out / "overlay" / "edges" / "more.parquet").write_bytes(b"")
    assert verify(out).problems == (("overlay/edges/more.parquet", "is not listed in the manifest"),)


def test_two_runs_in_one_folder_are_refused(tmp_path):
    second = run_folder.alone_in(tmp_path / "run")
    with (
        run_folder.alone_in(tmp_path / "run"),
        pytest.raises(DatasetError, match="another run is working in"),
    ):
        second.__enter__()
