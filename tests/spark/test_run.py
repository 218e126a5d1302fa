import re
from html.parser import HTMLParser

import numpy as np
import pytest

import meshwright as mw
from meshwright.pipeline.ingest.options import IngestOptions
from meshwright.pipeline.run import RunOptions, run
from tests.raw_files import contents, cost_files, written_table

OPTIONS = RunOptions(
    ingest=IngestOptions(relation="pairs", max_rejected=0.5),
    algorithm="dc",
    settings={"partitions": 3},
    seed=4,
)


def words_of(page):
    """The words of a report, without those that tell how long it took and where."""
    text = " ".join(re.sub(r"<[^>]*>", " ", page.read_text("utf-8")).split())
    return text.partition("How it was made")[0]


def test_a_run_with_costs_on_spark_is_the_run_in_this_process(spark, tmp_path):
    table = written_table(tmp_path)
    options = RunOptions(ingest=OPTIONS.ingest, algorithm="dc-maw", costs=cost_files(tmp_path), seed=4)
    here = run(None, [str(table)], tmp_path / "here", options)
    there = run(spark, [str(table)], tmp_path / "spark", options, spark_only=True)
    evaluations = [dict(manifest["facts"].pop("evaluation")) for manifest in (here, there)]
    for name, value in evaluations[0].items():
        assert evaluations[1][name] == (pytest.approx(value) if isinstance(value, float) else value), name
    assert there["facts"]["alternatives"] == here["facts"]["alternatives"]
    for dataset in ("interests", "overlay"):
        found, expected = (contents(tmp_path / side / dataset) for side in ("spark", "here"))
        for name in ("nodes", "topics", "lists", "interests"):
            assert found.tables[name].equals(expected.tables[name])
    assert np.array_equal(*(mw.Overlay.read(tmp_path / side / "overlay").edges for side in ("here", "spark")))
    profiles = [(tmp_path / side / "profile" / "profile.json").read_text() for side in ("here", "spark")]
    assert profiles[0] == profiles[1]
    assert words_of(tmp_path / "spark" / "report.html") == words_of(tmp_path / "here" / "report.html")


def test_a_run_elsewhere_and_so_on_spark_alone_finds_the_same_and_its_report_needs_no_other_file(
    spark, lake, tmp_path
):
    table = written_table(tmp_path)
    here = run(None, [str(table)], tmp_path / "here", OPTIONS)
    there = run(spark, [str(table)], lake, OPTIONS)
    found, expected = there["facts"]["evaluation"], dict(here["facts"]["evaluation"])
    assert found.pop("clustering_coefficient") == pytest.approx(expected.pop("clustering_coefficient"))
    assert found == expected
    folder = tmp_path / lake.name
    assert np.array_equal(*(mw.Overlay.read(out / "overlay").edges for out in (folder, tmp_path / "here")))
    names = {entry.name for entry in folder.iterdir() if entry.suffix != ".crc"}
    assert names == {entry.name for entry in (tmp_path / "here").iterdir()}

    class Links(HTMLParser):
        found: list[str] = []  # noqa: RUF012

        def handle_starttag(self, tag, attrs):
            self.found += [value for name, value in attrs if name in ("src", "href", "xlink:href")]

    links = Links()
    links.feed((folder / "report.html").read_text("utf-8"))
    assert all(link.startswith(("#", "data:")) for link in links.found)
