import gzip
import html
import json
import os
import re
import shutil
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import meshwright as mw
from meshwright import registry
from meshwright.pipeline import run as journey
from meshwright.pipeline.ingest.notices import notices
from meshwright.pipeline.ingest.options import IngestOptions
from meshwright.pipeline.run import RunOptions, check_run, run
from meshwright.pipeline.run_folder import NOTES, alone_in, differences
from meshwright.report.markup import decimal
from meshwright.runtime.errors import DatasetError, InputError, OptionError
from tests.raw_files import cost_files, written_table

OPTIONS = RunOptions(
    ingest=IngestOptions(relation="pairs", max_rejected=0.5),
    algorithm="dc",
    settings={"partitions": 3},
    seed=4,
)


class Finished(NamedTuple):
    """A run that was cut off twice: its folder, its manifest, and which stages each call did and skipped."""

    out: Path
    manifest: dict[str, Any]
    calls: list[tuple[list[str], list[str]]]
    table: Path
    before_evaluate: Path  # a copy of the folder, as it was cut off there


@pytest.fixture
def table(tmp_path):
    return written_table(tmp_path)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run that came to its end, after all; who changes it copies it first."""
    folder = tmp_path_factory.mktemp("finished")
    out, table, calls = folder / "out", written_table(folder), []
    with told_stages(calls) as on_stage:
        cut_off(table, out, "profile", on_stage=on_stage)
    assert not (out / "manifest.json").exists()
    ingested = (out / "interests" / "manifest.json").stat().st_mtime_ns
    with told_stages(calls) as on_stage:
        cut_off(table, out, "evaluate", resume=True, on_stage=on_stage)
    shutil.copytree(out, folder / "before evaluate")
    with told_stages(calls) as on_stage:
        manifest = run(None, [str(table)], out, OPTIONS, resume=True, on_stage=on_stage)
    assert (out / "interests" / "manifest.json").stat().st_mtime_ns == ingested
    return Finished(out, manifest, calls, table, folder / "before evaluate")


@contextmanager
def told_stages(calls):
    """Add to `calls` which stages were done, and which had been done before."""
    done, skipped = [], []
    yield lambda name, _, again: (skipped if again else done).append(name)
    calls.append((done, skipped))


def cut_off(table, out, stage, **how):
    """A run that is interrupted where a stage begins."""

    def fall(*_, **__):
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(journey._STAGES, stage, fall)
        with pytest.raises(KeyboardInterrupt):
            run(None, [str(table)], out, OPTIONS, **how)


def test_a_run_gives_the_overlay_of_the_library_and_a_report(finished):
    out, manifest = finished.out, finished.manifest
    overlay = mw.Overlay.read(out / "overlay")
    same = mw.build(mw.Interests.read(out / "interests"), "dc", partitions=3, seed=4)
    assert np.array_equal(overlay.edges, same.edges)
    found = manifest["facts"]["evaluation"]
    assert found["topic_connected"]
    assert found["edges"] == len(overlay)
    assert found == json.loads((out / "manifest.json").read_text("utf-8"))["facts"]["evaluation"]
    assert manifest["kind"] == "run"
    assert list(manifest["seconds"]) == ["ingest", "profile", "build", "evaluate", "report"]
    assert manifest["engine"] == dict.fromkeys(manifest["seconds"], "local")
    assert manifest["master"] is None
    names = {entry.name for entry in out.iterdir()}
    assert names == {"interests", "profile", "overlay", "rejected", "report.html", "manifest.json"}


def test_a_run_that_was_cut_off_goes_on_after_the_last_finished_stage(finished):
    assert finished.calls == [
        (["ingest"], []),
        (["profile", "build"], ["ingest"]),
        (["evaluate", "report"], ["ingest", "profile", "build"]),
    ]


def test_a_run_that_was_cut_off_in_its_first_stage_leaves_no_folder(table, tmp_path):
    cut_off(table, tmp_path / "out", "ingest")
    assert not (tmp_path / "out").exists()
    cut_off(table, tmp_path / "out", "profile")
    assert (tmp_path / "out" / "interests" / "manifest.json").exists()


def test_a_forced_run_replaces_a_finished_one_and_the_report_of_views_shows_what_sharing_did(
    table, tmp_path, finished
):
    shutil.copytree(finished.out, tmp_path / "out")
    options = replace(OPTIONS, algorithm="stan", settings={"rounds": 2})
    manifest = run(None, [str(table)], tmp_path / "out", options, force=True)
    overlay = mw.Overlay.read(tmp_path / "out" / "overlay")
    evaluation = json.loads(json.dumps(mw.evaluate(overlay).distributions()))["view_distributions"]
    assert manifest["facts"]["evaluation"]["view_distributions"] == evaluation
    text = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "What sharing did" in text
    assert f"On average a node has {decimal(evaluation['physical_view_size']['mean'])} physical links" in text


def test_what_ingest_tells_on_the_terminal_is_on_the_page(tmp_path):
    (tmp_path / "raw.csv").write_text("node,topic\na,plant/#\nb,plant/#\na,News\nb,news\n")
    manifest = run(
        None, [str(tmp_path / "raw.csv")], tmp_path / "out", replace(OPTIONS, settings={}, algorithm="gm")
    )
    page = html.unescape((tmp_path / "out" / "report.html").read_text("utf-8"))
    quality = page[page.index('id="quality"') : page.index('id="interests"')]
    wildcards, alike = notices(manifest["facts"]["ingest"])
    assert "wildcard" in wildcards
    assert wildcards in quality
    assert alike not in quality
    assert "from another name only by upper and lower case" in quality


def test_a_run_with_costs_says_where_the_cost_goes(table, tmp_path):
    options = replace(OPTIONS, algorithm="dc-maw", settings={}, costs=cost_files(tmp_path))
    manifest = run(None, [str(table)], tmp_path / "out", options)
    overlay = mw.Overlay.read(tmp_path / "out" / "overlay")
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    words = " ".join(re.sub(r"<[^>]*>", " ", page).split())
    assert f"cost {decimal(overlay.costs.sum())} together" in words
    rival = mw.build(overlay.interests, "gm", costs=options.costs.load(overlay.interests), seed=4)
    assert (
        f"gm, which ignores costs, has {len(rival)} links that cost {decimal(rival.costs.sum())} ," in words
    )
    assert "No topic-connected overlay costs less than" in words
    a_node = decimal(2 * overlay.costs.sum() / overlay.interests.node_count)
    assert f"cost per node {a_node} " in words
    assert 'class="map"' in page
    local = int(np.count_nonzero(overlay.costs == 1.0))
    assert f"local, inside a site {local} {local}" in words
    assert "Not drawn, because coordinates are missing: 1 site." in words
    assert manifest["costs"]["places"] == str(tmp_path / "places.csv")


def test_the_report_of_a_run_has_all_parameters_busy_nodes_and_heavy_topics(finished):
    page = (finished.out / "report.html").read_text("utf-8")
    words = " ".join(re.sub(r"<[^>]*>", " ", page).split())
    for parameter in (
        "ingest: relation pairs",
        "ingest: max rejected 0.5",
        "ingest: wildcards keep",
        "ingest: delimiter default",
        "algorithm dc",
        "options: partitions 3",
        "reverse delete no",
        "costs none",
        "seed 4",
        "engine local",
        "versions: meshwright",
    ):
        assert parameter in words, parameter
    for field in fields(registry.find("dc", "build").options):
        assert f"options: {field.name.replace('_', ' ')} " in words
    overlay = mw.Overlay.read(finished.out / "overlay")
    name, links = min(overlay.to_networkx().degree, key=lambda node: (-node[1], node[0]))
    assert f"node links of all links {name} {links} " in words
    graphs = {
        topic: overlay.to_networkx().subgraph(overlay.interests.nodes_of(topic))
        for topic in overlay.interests.topics.to_pylist()
    }
    topic = min(graphs, key=lambda one: (-graphs[one].size(), one))
    assert f"longest path {topic} {len(graphs[topic])} {graphs[topic].size()} " in words


def test_a_run_that_was_cut_off_between_a_dataset_and_its_note_makes_the_dataset_again(tmp_path, finished):
    out, calls = tmp_path / "out", []
    shutil.copytree(finished.before_evaluate, out)
    (out / NOTES / "build.json").unlink()
    with told_stages(calls) as on_stage:
        cut_off(finished.table, out, "evaluate", resume=True, on_stage=on_stage)
    assert calls == [(["build"], ["ingest", "profile"])]
    assert mw.Overlay.read(out / "overlay") == mw.Overlay.read(finished.out / "overlay")


def test_a_run_of_a_dataset_is_the_run_of_its_rows(tmp_path, finished):
    options = replace(OPTIONS, ingest=None)
    found = run(None, [str(finished.out / "interests")], tmp_path / "out", options)
    assert mw.Overlay.read(tmp_path / "out" / "overlay") == mw.Overlay.read(finished.out / "overlay")
    assert found["facts"]["evaluation"] == finished.manifest["facts"]["evaluation"]
    assert (tmp_path / "out" / "report.html").is_file()
    assert {entry.name for entry in (tmp_path / "out").iterdir()} == {e.name for e in finished.out.iterdir()}
    run(None, [str(finished.out / "overlay")], tmp_path / "again", options)
    assert mw.Interests.read(tmp_path / "again" / "interests") == mw.Interests.read(
        finished.out / "interests"
    )


def test_what_has_changed_is_refused_before_anything_is_started(tmp_path, finished):
    out = tmp_path / "out"
    shutil.copytree(finished.before_evaluate, out)
    inputs = [str(finished.table)]
    check_run(inputs, out, OPTIONS, resume=True)
    with pytest.raises(DatasetError, match="seed was 4 and is now 5"):
        check_run(inputs, out, replace(OPTIONS, seed=5), resume=True)
    with pytest.raises(DatasetError, match="--force"):
        check_run(inputs, out, OPTIONS)
    with pytest.raises(InputError, match="no such file"):
        check_run([str(tmp_path / "gone.csv")], out, OPTIONS, resume=True)


def test_resuming_is_refused_when_input_or_options_changed(tmp_path, finished):
    out, table = tmp_path / "out", finished.table
    shutil.copytree(finished.before_evaluate, out)
    other = RunOptions(ingest=OPTIONS.ingest, algorithm="dc", settings={"partitions": 4}, seed=4)
    with pytest.raises(DatasetError, match="partitions"):
        run(None, [str(table)], out, other, resume=True)
    written = table.stat().st_mtime_ns
    os.utime(table, ns=(written, written + 10**9))
    with pytest.raises(DatasetError, match="changed since"):
        run(None, [str(table)], out, OPTIONS, resume=True)
    os.utime(table, ns=(written, written))


def test_nothing_is_overwritten_without_force_and_nothing_foreign_with_it(table, tmp_path, finished):
    out = tmp_path / "out"
    shutil.copytree(finished.out, out)
    with pytest.raises(DatasetError, match="--force"):
        run(None, [str(table)], out, OPTIONS)
    with pytest.raises(DatasetError, match="leave --resume out"):
        run(None, [str(table)], out, OPTIONS, resume=True)
    with pytest.raises(OptionError, match="only one of the two"):
        run(None, [str(table)], out, OPTIONS, resume=True, force=True)
    (out / "mine.txt").write_text("precious")
    with pytest.raises(DatasetError, match=r"mine\.txt"):
        run(None, [str(table)], out, OPTIONS, force=True)
    strange = tmp_path / "strange"
    (strange / "overlay").mkdir(parents=True)
    with pytest.raises(DatasetError, match="was not written by a run"):
        run(None, [str(table)], strange, OPTIONS, force=True)


def test_a_run_that_finished_nothing_may_begin_anew_with_other_options(table, tmp_path):
    strict = replace(OPTIONS, ingest=replace(OPTIONS.ingest, max_rejected=0.0))
    out = tmp_path / "out"
    with pytest.raises(InputError, match="max-rejected"):
        run(None, [str(table)], out, strict)
    with pytest.raises(InputError, match="max-rejected"):
        run(None, [str(table)], out, strict, resume=True)
    cut_off(table, out, "ingest")


def test_a_second_run_in_the_same_folder_is_refused(table, tmp_path):
    out = tmp_path / "out"
    with alone_in(out), pytest.raises(DatasetError, match="another run is working in"):
        run(None, [str(table)], out, OPTIONS)
    with alone_in(out):
        assert list(out.iterdir()) == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ({"ingest relation": "pairs"}, {"ingest relation": "follows"}, "--as was pairs and is now follows"),
        ({"ingest max_rejected": 0.1}, {"ingest max_rejected": 0.2}, "--max-rejected was 0.1 and is now 0.2"),
        ({"ingest limits": {"line": 5}}, {"ingest limits": {"line": 6}}, "--max-line was 5 and is now 6"),
        ({"settings": {}}, {"settings": {"k": 3}}, "--set k was not given and is now 3"),
        (
            {"costs": {"sites": "s.csv", "site_columns": None}},
            {"costs": {"sites": "s.csv", "site_columns": ["broker", "dc"]}},
            "--site-columns was not given and is now broker,dc",
        ),
        ({"costs": None}, {"costs": {"costs": "m.csv"}}, "--costs was not given and is now m.csv"),
        (
            {"reverse_delete": False},
            {"reverse_delete": True},
            "--reverse-delete was not given and is now given",
        ),
        (
            {"versions": {"numba": "1"}},
            {"versions": {"numba": "2"}},
            "the version of numba was 1 and is now 2",
        ),
    ],
)
def test_a_difference_names_the_flag_and_its_values(old, new, told):
    assert differences(old, new) == [told]


def test_differences_are_told_one_by_one():
    old = {"seed": 1, "input_files": [{"path": "a", "bytes": 1}, {"path": "b", "bytes": 2}]}
    new = {"seed": 2, "input_files": [{"path": "a", "bytes": 3}, {"path": "c", "bytes": 4}]}
    assert differences(old, old) == []
    assert differences(old, new) == [
        "--seed was 1 and is now 2",
        "the input a has changed since",
        "the input b is gone",
        "the input c is new",
    ]


def test_an_input_that_is_cut_off_leaves_no_folder(tmp_path):
    whole = gzip.compress(b"node,topic\n" + b"".join(b"n%d,t%d\n" % (at, at % 7) for at in range(9_999)))
    (tmp_path / "rows.csv.gz").write_bytes(whole[:-100])
    with pytest.raises(InputError, match="cut off or damaged"):
        run(None, [str(tmp_path / "rows.csv.gz")], tmp_path / "out", OPTIONS)
    assert not (tmp_path / "out").exists()


def test_an_input_inside_the_folder_of_the_run_is_not_replaced(finished, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(finished.out, out)
    with pytest.raises(DatasetError, match="can't be the output, because the input"):
        check_run([str(out / "interests")], out, replace(OPTIONS, ingest=None), force=True)
