import csv
import json

import pyarrow.parquet as pq
import pytest

import meshwright as mw
from meshwright.model.storage.manifest import read_manifest


@pytest.fixture(scope="module")
def overlays(tmp_path_factory):
    """Overlays of the same interests: rings without some links, which cuts topics, and gm."""
    folder = tmp_path_factory.mktemp("overlays")
    interests = mw.workloads.unif(40, 8, subscriptions=3, seed=1)
    ring = mw.build(interests, "ring")
    mw.Overlay.from_arrays(interests, ring.edges[10:]).write(folder / "today")
    mw.build(interests, "gm").write(folder / "target")
    return folder / "today", folder / "target"


def test_migrate_writes_tables_csv_page_and_a_manifest_that_lists_them(run, overlays, tmp_path):
    out = tmp_path / "way"
    code, shown, _ = run("migrate", *overlays, "--steps-of", 5, "--out", out)
    assert code == 0
    manifest = read_manifest(out, "migration")
    assert {path.partition("/")[0] for path in manifest["files"]} == {
        "changes",
        "steps",
        "changes.csv",
        "steps.csv",
        "migration.html",
    }
    changes = pq.read_table(out / "changes").to_pylist()
    with (out / "changes.csv").open(newline="") as stream:
        assert [{**row, "step": int(row["step"])} for row in csv.DictReader(stream)] == changes
    steps = pq.read_table(out / "steps").to_pylist()
    assert [step["step"] for step in steps] == list(range(len(steps)))
    assert max(step["opened"] + step["closed"] for step in steps) <= 5
    counts = manifest["counts"]
    assert counts["opened"] + counts["closed"] == len(changes)
    assert f"{counts['steps']} steps; {counts['opened']} to open, {counts['closed']} to close" in shown
    assert run("verify", out)[0] == 0


def test_json_is_the_manifest(run, overlays, tmp_path):
    code, shown, _ = run("migrate", *overlays, "--json", "--out", tmp_path / "way")
    told = json.loads(shown)
    assert code == 0
    assert told["facts"]["before"]["cut_topics"] > told["facts"]["after"]["cut_topics"] == 0
    assert told["facts"]["after"]["links"] == len(mw.Overlay.read(overlays[1]))
    assert told["options"] == {"steps_of": 20}


def test_the_page_is_one_file_with_pictures_steps_and_changes(run, overlays, tmp_path):
    run("migrate", *overlays, "--out", tmp_path / "way")
    page = (tmp_path / "way" / "migration.html").read_text("utf-8")
    assert page.count("<svg") == 3  # links, degrees, cut topics
    assert "<script" not in page
    for words in ("What it saves", "Steps", "Changes", "cut topics"):
        assert words in page


def test_the_page_shows_costs_where_there_are_some_and_only_the_first_of_many_changes(run, tmp_path):
    interests = mw.workloads.unif(150, 10, subscriptions=4, seed=2)
    ring, gm = mw.build(interests, "ring"), mw.build(interests, "gm")
    for name, overlay in (("ring", ring), ("gm", gm)):
        mw.Overlay(interests, overlay.edges, 1.0 + overlay.edges.sum(axis=1)).write(tmp_path / name)
    run("migrate", tmp_path / "ring", tmp_path / "gm", "--out", tmp_path / "way")
    page = (tmp_path / "way" / "migration.html").read_text("utf-8")
    changes = pq.read_table(tmp_path / "way" / "changes").num_rows
    assert changes > 500
    assert f"The first 500 of {changes:,} changes; changes.csv has all of them." in page
    assert "less cost" in page
    assert "saves cost" in page


@pytest.mark.parametrize("words", [("--steps-of", 0), ("--steps-of", -3)])
def test_a_step_of_nothing_is_refused_before_any_work(run, overlays, tmp_path, words):
    code, _, said = run("migrate", *overlays, *words, "--out", tmp_path / "way")
    assert code == 2
    assert "--steps-of is" in said
    assert not (tmp_path / "way").exists()


def test_a_target_that_cuts_topics_is_refused_and_nothing_is_left(run, overlays, tmp_path):
    today, target = overlays
    code, _, said = run("migrate", target, today, "--out", tmp_path / "way")
    assert code == 2
    assert "the target does not connect the topic" in said
    assert not (tmp_path / "way").exists()


def test_costs_price_the_links_of_both_alike(run, overlays, tmp_path):
    today, target = overlays
    nodes = mw.Overlay.read(target).interests.nodes.to_pylist()
    (tmp_path / "sites.csv").write_text(
        "node,site\n" + "".join(f"{node},{at % 3}\n" for at, node in enumerate(nodes))
    )
    words = ("--sites", tmp_path / "sites.csv", "--inner", 1, "--outer", 10, "--unit", "ms")
    code, shown, _ = run("migrate", today, target, *words, "--json", "--out", tmp_path / "way")
    facts = json.loads(shown)["facts"]
    for name, path in (("before", today), ("after", target)):
        edges = mw.Overlay.read(path).edges
        assert facts[name]["cost"] == sum(1 if u % 3 == v % 3 else 10 for u, v in edges.tolist())
    assert (code, facts["unit"], facts["repriced"]) == (0, "ms", 0)
