"""`meshwright study`: from a name to a folder of pages."""

import json

import pytest

from meshwright.cli import study


def test_a_study_leaves_pages_data_and_verdicts_and_is_not_run_twice(run, tmp_path):
    words = ("study", "divide-and-conquer-figure-7", "--scale", "smoke", "--out", tmp_path / "out")
    code, out, _ = run(*words, "--json")
    found = json.loads(out)
    assert code == 0
    assert {finding["study"] for finding in found["findings"]} == {"divide-and-conquer-figure-7"}
    assert found["machine"].endswith("GiB of memory")
    assert (tmp_path / "out" / "divide-and-conquer.md").exists()
    code, _, err = run(*words)
    assert (code, "--resume" in err) == (2, True)
    assert run(*words, "--resume")[0] == 0
    other = ("study", "divide-and-conquer-figure-8", *words[2:], "--resume")
    code, out, _ = run(*other)
    assert (code, "the verdicts mean nothing" in out) == (0, True)
    kept = json.loads((tmp_path / "out" / "findings.json").read_text())["findings"]
    assert {each["study"] for each in kept} == {"divide-and-conquer-figure-7", "divide-and-conquer-figure-8"}
    assert "mean nothing" in (tmp_path / "out" / "results.md").read_text()


def test_the_list_names_every_study_with_its_claims(run):
    found = json.loads(run("study", "list", "--json")[1])
    assert {one["paper"] for one in found} == {
        "divide-and-conquer",
        "weighted",
        "shadows",
        "small-world",
        "stan",
    }
    assert sum(one["claims"] for one in found) >= 90


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("stan",), "--out is missing"),
        (("stan-figure-66", "--out", "x"), "stan-figure-6"),
        (("stan", "--out", "x", "--scale", "tiny"), "smoke, quick, paper"),
        (
            ("divide-and-conquer-table-2", "--out", "x", "--scale", "smoke", "--data", "nowhere"),
            "facebook_combined.txt.gz",
        ),
    ],
)
def test_what_can_not_be_run_is_told(run, tmp_path, monkeypatch, words, says):
    monkeypatch.chdir(tmp_path)
    code, _, err = run("study", *words)
    assert code == 2
    assert says in err


@pytest.mark.parametrize(
    ("words", "machine", "expected"),
    [
        (("stan",), {}, "spark"),
        (("all",), {}, "spark"),
        (("all",), {"cores": lambda: 1}, "local"),
        (("all",), {"find_spec": lambda name: None if name == "pyspark" else name}, "local"),
        (("all", "--scale", "smoke"), {}, "local"),
        (("all", "--engine", "local"), {}, "local"),
        (("stan-table-1",), {}, "local"),
    ],
)
def test_several_studies_run_on_all_cores_where_spark_is_there(
    run, tmp_path, monkeypatch, words, machine, expected
):
    seen = []

    def begin(where, master, conf):
        seen.append(where)
        raise KeyboardInterrupt

    for name, value in ({"cores": lambda: 2, "find_spec": lambda name: name} | machine).items():
        monkeypatch.setattr(study, name, value)
    monkeypatch.setattr(study.common, "engine_session", begin)
    code, _, err = run("study", *words, "--out", tmp_path / "out")
    assert seen == [expected]
    assert (code, "--resume continues" in err) == (130, True)


def test_without_matplotlib_nothing_is_run(run, tmp_path, monkeypatch):
    monkeypatch.setattr(study, "find_spec", lambda name: None)
    code, _, err = run("study", "stan-table-1", "--scale", "smoke", "--out", tmp_path / "out")
    assert (code, "install meshwright[report]" in err) == (2, True)
    assert not (tmp_path / "out").exists()
