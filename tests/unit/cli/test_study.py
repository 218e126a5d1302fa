"""`meshwright study`: from a name to a folder of pages."""

import json

import pytest


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
