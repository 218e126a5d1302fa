"""Twelve raw data sets, each from file to report in one command; other readers agree on every count."""

import json

import pytest

from meshwright.pipeline.ingest.notices import notices
from tests.raw_data_sets import RAW_DATA_SETS, Expected


def found(manifest, names):
    """What a run counted, with those of the facts that are expected."""
    counts, facts = manifest["counts"], manifest["facts"]["ingest"]
    told = {name: facts[name] for name in names}
    by_name = {key: facts[key] for key in ("rows", "rejected", "duplicates")}
    return Expected(**by_name, **{key: counts[key] for key in ("interests", "nodes", "topics")}, facts=told)


@pytest.mark.parametrize("name", RAW_DATA_SETS)
def test_one_command_leads_from_a_raw_file_to_its_report(run, tmp_path, name):
    (tmp_path / "raw").mkdir()
    raw = RAW_DATA_SETS[name]
    paths = raw.write(tmp_path / "raw")
    code, out, err = run("run", *paths, *raw.words, "--engine", "local", "--out", tmp_path / "out", "--json")
    assert code == 0, err
    manifest, expected = json.loads(out), raw.read(paths)
    assert found(manifest, expected.facts) == expected
    assert (tmp_path / "out" / "report.html").stat().st_size > 10_000
    assert all(count > 0 for count in expected[2:6])
    facts = manifest["facts"]["ingest"]
    silent = {"rows", "files", "format", "duplicates", "look_alikes"}
    silent |= {"rejected", "rejected_reasons", "first_rejected"}
    assert set(facts) - silent == set(expected.facts)
    assert len(notices({**facts, "look_alikes": {}})) == len(expected.facts)


def test_a_run_says_what_is_not_in_the_overlay(run, tmp_path):
    raw = RAW_DATA_SETS["weighted edges"]
    paths = raw.write(tmp_path)
    code, out, _ = run("run", *paths, *raw.words, "--engine", "local", "--out", tmp_path / "out")
    expected = raw.read(paths)
    assert code == 0
    assert f"{expected.rejected} of {expected.rows} rows can't be used; they are in" in out
    assert f"{expected.facts['lines_with_more_columns']} lines have more than two columns" in out
    assert "2 lines that begin with # or % were skipped as comments" in out
