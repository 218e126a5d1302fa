import json

import numpy as np
import pytest

import meshwright as mw


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("data")
    interests = mw.workloads.unif(30, 6, subscriptions=3, seed=1)
    mw.build(interests, "ring").write(path / "today")
    mw.build(interests, "gm").write(path / "better", made_by={"algorithm": "gm"})
    mw.Overlay.from_arrays(interests, np.empty((0, 2), np.int32)).write(path / "empty")
    return path


def test_report_writes_a_page_and_prints_the_overlays_side_by_side(run, folder, tmp_path):
    code, shown, _ = run("report", folder / "today", folder / "better", "--out", tmp_path / "page.html")
    assert code == 0
    today, better = (mw.Overlay.read(folder / name) for name in ("today", "better"))
    kept = len({*map(tuple, today.edges.tolist())} & {*map(tuple, better.edges.tolist())})
    lines = [line.split() for line in shown.splitlines()]
    assert ["links", str(len(today)), str(len(better))] in lines
    assert ["links", "that", "stay", "-", str(kept)] in lines
    assert f"Open the page: {tmp_path / 'page.html'}" in shown
    assert "Compared with other overlays" in (tmp_path / "page.html").read_text("utf-8")


def test_json_is_alone_on_stdout_and_has_the_keys_of_evaluate(run, folder, tmp_path):
    words = ("report", folder / "today", folder / "better", "--out", tmp_path / "page.html", "--json")
    code, shown, _ = run(*words)
    assert code == 0
    found = json.loads(shown)
    assert found["out"] == str(tmp_path / "page.html")
    evaluated = json.loads(run("evaluate", folder / "today", "--json")[1])
    assert {name: found["today"][name] for name in evaluated} == evaluated
    (target,) = found["targets"]
    assert target["name"] == "better"
    assert target["links_saved"] == found["today"]["edges"] - target["edges"]


def test_an_overlay_without_links_is_reported_on_with_exit_code_0(run, folder, tmp_path):
    code, shown, _ = run("report", folder / "empty", "--out", tmp_path / "page.html")
    assert code == 0
    assert ["cut", "topics", "6"] in [line.split() for line in shown.splitlines()]


@pytest.mark.parametrize("targets", [1, 3, 6])
def test_what_is_printed_fits_80_columns_with_every_digit(run, folder, tmp_path, monkeypatch, targets):
    monkeypatch.setenv("COLUMNS", "80")
    name = "an-overlay-with-a-name-that-is-far-too-long-for-a-column"
    if not (folder / name).exists():
        mw.Overlay.read(folder / "today").write(folder / name)
    paths = [folder / name] * (1 + targets)
    _, shown, _ = run("report", *paths, "--out", tmp_path / "page.html")
    links = str(len(mw.Overlay.read(folder / name)))
    assert ["links", *[links] * min(1 + targets, 5)] in [line.split() for line in shown.splitlines()]
    assert "most links of a node" in shown
    assert all(len(line) <= 80 for line in shown.splitlines() if line.startswith(" "))
    assert ("and 2 more, on the page and with --json." in shown) == (targets == 6)


def test_costs_price_overlays_that_have_none(run, folder, tmp_path):
    (tmp_path / "sites.csv").write_text("node,site\n" + "".join(f"n{at:02},s{at % 2}\n" for at in range(30)))
    words = ("--sites", tmp_path / "sites.csv", "--inner", 1, "--outer", 10, "--json")
    found = json.loads(run("report", folder / "today", "--out", tmp_path / "page.html", *words)[1])
    edges = mw.Overlay.read(folder / "today").edges
    assert found["today"]["cost"] == sum(1 if (u - v) % 2 == 0 else 10 for u, v in edges.tolist())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere", "--out", "page.html"), "there is no such folder"),
        (("s3a://lake/overlay", "--out", "page.html"), "is not on this machine; copy the dataset here"),
        (("today",), "the option --out is missing"),
        (("today", "other", "--out", "page.html"), "node 'n30' is only in other"),
        (("today", "--out", "missing/page.html"), "is not a folder"),
    ],
)
def test_a_wrong_call_is_refused_in_one_line(run, folder, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(folder)
    if not (folder / "other").exists():
        mw.build(mw.workloads.unif(31, 6, subscriptions=3, seed=1), "ring").write(folder / "other")
    code, shown, error = run("report", *words)
    assert (code, shown) == (2, "")
    assert said in error
    assert error.count("\n") == 1
