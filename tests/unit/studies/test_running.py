"""Runs of studies that are continued, and what they leave."""

import json
from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from meshwright.runtime.errors import DatasetError, OptionError
from meshwright.studies import catalogue, pages, running
from meshwright.studies.catalogue import Curves, Point, Study
from meshwright.studies.claims import Claim, about, at_most
from meshwright.studies.tolerances import NUMBER, STATED_WORKLOAD


@pytest.fixture
def measured(monkeypatch):
    """A study of a paper with four claims that takes no time; which seeds were measured."""
    seeds = []

    def ten(seed):
        seeds.append(seed)
        return 10.0 + seed / 100

    known = {"source": "[9], Fig. 1", "statement": "It is ten.", "how": "counted"}
    claims = (
        Claim(name="toy-figure-1-ten", **known, expected=about(10, NUMBER), measure=ten, runs=4),
        Claim(
            name="toy-figure-1-eleven",
            **known,
            expected=about(11, STATED_WORKLOAD),
            measure=ten,
            reason="it is ten",
        ),
        Claim(
            name="toy-figure-1-pooled", **known, expected=at_most(3), pooled=lambda seeds: float(len(seeds))
        ),
        Claim(name="toy-figure-1-none", **known, expected=about(1), reason="nobody says how"),
        Claim(
            name="toy-figure-1-other",
            **known,
            expected=about(10),
            measure=ten,
            variant_of="toy-figure-1-eleven",
            hypothesis="The other number is meant.",
        ),
    )
    curves = Curves(
        measure=lambda seed, scope: [Point("ours", x, x * (1 + seed)) for x in (1, 2)],
        x="size",
        y="links",
        stated=(Point("ours", 2, 2.5),),
    )
    times = Curves(
        measure=lambda seed, scope: [Point("ours", at, 9.0) for at in (0, 1)],
        x="",
        y="seconds",
        ticks=("one", "two"),
    )
    study = Study(
        name="toy-figure-1", paper="toy", title="A toy", source="[9], Fig. 1", panels=(curves, times)
    )
    monkeypatch.setattr(catalogue, "paper_claims", lambda paper, scope: claims)
    monkeypatch.setitem(catalogue.PAPERS, "toy", catalogue._Paper("[9]", "Toys", ()))
    monkeypatch.setattr(running, "studies", lambda: {study.name: study})
    return study, seeds


PLAN = running.Plan(studies=["toy-figure-1"], runs=3)


def test_each_claim_is_measured_for_its_seeds_and_judged(measured, tmp_path):
    study, _ = measured
    rows = running.run(PLAN, tmp_path)["toy-figure-1"]
    found = {finding.claim.name: finding for finding in running.findings(study, PLAN, rows)}
    assert {name: finding.verdict.value for name, finding in found.items()} == {
        "toy-figure-1-ten": "reproduced",
        "toy-figure-1-eleven": "differs",
        "toy-figure-1-pooled": "reproduced",
        "toy-figure-1-none": "not comparable",
        "toy-figure-1-other": "differs",
    }
    assert found["toy-figure-1-ten"].measured.mean == pytest.approx(10.01)
    assert found["toy-figure-1-pooled"].measured.runs == 3


def test_an_interrupted_run_is_continued_where_it_stopped(measured, tmp_path, monkeypatch):
    _, seeds = measured
    whole = running.run(PLAN, tmp_path / "whole")
    seeds.clear()
    writing = running._Kept.write

    def killed(self, unit, rows):
        if unit.seed == 1:
            raise KeyboardInterrupt
        writing(self, unit, rows)

    with monkeypatch.context() as patched:
        patched.setattr(running._Kept, "write", killed)
        with pytest.raises(KeyboardInterrupt):
            running.run(PLAN, tmp_path / "cut")
    seeds.clear()
    rows = running.run(PLAN, tmp_path / "cut", resume=True)
    assert set(seeds) == {1, 2}
    assert _values(rows) == _values(whole)


def _values(rows):
    return {name: [row[:5] for row in own] for name, own in rows.items()}


def test_another_plan_or_a_second_run_is_refused(measured, tmp_path):
    running.run(PLAN, tmp_path)
    with pytest.raises(DatasetError, match="--resume"):
        running.run(PLAN, tmp_path)
    with pytest.raises(DatasetError, match="another plan"):
        running.run(replace(PLAN, seed=7), tmp_path, resume=True)


def test_a_run_that_fails_at_once_leaves_nothing_that_refuses_another_plan(measured, tmp_path, monkeypatch):
    def fail(plan, unit):
        raise OptionError("there is no data")

    with monkeypatch.context() as patched:
        patched.setattr(running, "measure", fail)
        with pytest.raises(OptionError, match="no data"):
            running.run(replace(PLAN, data="nowhere"), tmp_path)
    assert running.run(PLAN, tmp_path)


def test_a_damaged_unit_is_named(measured, tmp_path):
    running.run(PLAN, tmp_path)
    (tmp_path / ".units" / "toy-figure-1.1.json").write_text('[["toy')
    with pytest.raises(DatasetError, match=r"toy-figure-1\.1\.json is damaged"):
        running.run(PLAN, tmp_path, resume=True)


def test_what_others_left_in_the_folder_stays_or_is_refused(measured, tmp_path, monkeypatch):
    study, _ = measured
    second = replace(study, name="toy-figure-1-again")
    monkeypatch.setattr(running, "studies", lambda: {study.name: study, second.name: second})
    first = running.run(PLAN, tmp_path)
    rows = running.run(replace(PLAN, studies=[second.name]), tmp_path, resume=True)
    assert _values({study.name: rows[study.name]}) == _values(first)
    assert list(rows) == [study.name, second.name]
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "findings.json").write_text("mine")
    with pytest.raises(DatasetError, match=r"findings\.json already exists.*--force"):
        running.run(PLAN, tmp_path / "foreign")
    assert running.run(PLAN, tmp_path / "foreign", force=True)


def test_force_runs_a_study_again_and_keeps_others_of_the_same_plan(measured, tmp_path, monkeypatch):
    study, seeds = measured
    second = replace(study, name="toy-1")
    monkeypatch.setattr(running, "studies", lambda: {study.name: study, second.name: second})
    both = replace(PLAN, studies=[study.name, second.name])
    running.run(both, tmp_path)
    seeds.clear()
    assert list(running.run(PLAN, tmp_path, force=True)) == [study.name, second.name]
    assert sorted(set(seeds)) == [0, 1, 2]
    assert len(seeds) == 3 * 3  # three claims of one study measure seeds
    assert list(running.run(replace(PLAN, seed=7), tmp_path, force=True)) == [study.name]


def test_runs_that_another_version_made_are_not_taken_for_claims_that_can_not_be_compared(measured, tmp_path):
    study, _ = measured
    rows = running.run(PLAN, tmp_path)["toy-figure-1"]
    old = [row for row in rows if row.name != "toy-figure-1-pooled"]
    with pytest.raises(DatasetError, match=r"have no toy-figure-1-pooled.*--force"):
        running.findings(study, PLAN, old)


@pytest.mark.parametrize("changes", [{"scale": "small"}, {"runs": 0}, {"seed": -1}])
def test_wrong_plans_are_refused(changes):
    with pytest.raises(OptionError):
        replace(PLAN, **changes)


def test_the_site_has_data_pictures_pages_and_counts_no_variant(measured, tmp_path):
    study, _ = measured
    rows = running.run(PLAN, tmp_path)["toy-figure-1"]
    done = pages.Done(study, rows, running.findings(study, PLAN, rows))
    pages.write_site(tmp_path, [done], {"scale": "quick"})
    assert pq.read_table(tmp_path / "data" / "toy-figure-1.parquet").num_rows == len(rows)
    names = set(pq.read_table(tmp_path / "data" / "toy-figure-1.parquet")["name"].to_pylist())
    assert {"ours: links", "ours: seconds"} <= names
    assert [done.series(panel) for panel in study.panels] == [
        {"ours": {1: [1, 2, 3], 2: [2, 4, 6]}},
        {"ours": {0: [9, 9, 9], 1: [9, 9, 9]}},
    ]
    assert (tmp_path / "figures" / "toy-figure-1.png").read_bytes().startswith(b"\x89PNG")
    index = (tmp_path / "index.html").read_text("utf-8")
    assert "2 reproduced, 1 differs, 1 not comparable" in index
    own = (tmp_path / "toy-figure-1.html").read_text("utf-8")
    assert "<svg" in own
    assert "it is ten" in own
    assert "The other number is meant." in own
    assert "does not explain it" in own
    markdown = (tmp_path / "toy.md").read_text("utf-8")
    assert "4 claims: 2 reproduced, 1 differs, 1 not comparable" in markdown
    assert "![A toy](figures/toy-figure-1.svg)" in markdown
    assert "| The other number is meant. | 10 (9.99 to 10) | does not explain it" in markdown
    assert "| 3 (number of all runs together) | 3 |" in markdown
    assert "- `toy-figure-1-ten`: counted" in markdown
    assert "mean nothing" not in markdown + index + own
    assert "●□●·" in (tmp_path / "results.md").read_text("utf-8")
    assert len(json.loads((tmp_path / "findings.json").read_text("utf-8"))["findings"]) == 5
