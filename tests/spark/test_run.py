import re
from html.parser import HTMLParser

import numpy as np
import pytest

import meshwright as mw
from meshwright.pipeline.ingest.options import IngestOptions
from meshwright.pipeline.run import RunOptions, run
from tests.raw_files import contents, cost_files, written_table


def words_of(page):
    """The words of a report, without those that tell how long it took and where."""
    text = " ".join(re.sub(r"<[^>]*>", " ", page.read_text("utf-8")).split())
    return text.partition("How it was made")[0]


def test_a_run_elsewhere_and_so_on_spark_alone_is_the_run_in_this_process(spark, lake, tmp_path):
    table, folder = written_table(tmp_path), tmp_path / lake.name
    rows = IngestOptions(relation="pairs", max_rejected=0.5)
    options = RunOptions(ingest=rows, algorithm="dc-maw", costs=cost_files(tmp_path), seed=4)
    here = run(None, [str(table)], tmp_path / "here", options)
    there = run(spark, [str(table)], lake, options)
    evaluations = [dict(manifest["facts"].pop("evaluation")) for manifest in (here, there)]
    for name, value in evaluations[0].items():
        assert evaluations[1][name] == (pytest.approx(value) if isinstance(value, float) else value), name
    assert there["facts"]["alternatives"] == here["facts"]["alternatives"]
    for dataset in ("interests", "overlay"):
        found, expected = (contents(side / dataset) for side in (folder, tmp_path / "here"))
        for name in ("nodes", "topics", "lists", "interests"):
            assert found.tables[name].equals(expected.tables[name])
    assert np.array_equal(*(mw.Overlay.read(side / "overlay").edges for side in (tmp_path / "here", folder)))
    profiles = [(side / "profile" / "profile.json").read_text() for side in (tmp_path / "here", folder)]
    assert profiles[0] == profiles[1]
    assert words_of(folder / "report.html") == words_of(tmp_path / "here" / "report.html")
    names = {entry.name for entry in folder.iterdir() if entry.suffix != ".crc"}
    assert names == {entry.name for entry in (tmp_path / "here").iterdir()}
    assert_needs_no_other_file(folder / "report.html")


def assert_needs_no_other_file(page):
    class Links(HTMLParser):
        found: list[str] = []  # noqa: RUF012

        def handle_starttag(self, tag, attrs):
            self.found += [value for name, value in attrs if name in ("src", "href", "xlink:href")]

    links = Links()
    links.feed(page.read_text("utf-8"))
    assert all(link.startswith(("#", "data:")) for link in links.found)
