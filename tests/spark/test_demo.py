import json
import sys
from contextlib import contextmanager

import pytest

from meshwright.cli import demo, main


@pytest.fixture
def run(spark, monkeypatch, capsys, tmp_path):
    """Call the command in this process, this session and an empty folder; (exit code, stdout, stderr)."""

    @contextmanager
    def same_session(*_, **__):
        yield spark

    def call(*words):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["meshwright", "demo", *map(str, words)])
        monkeypatch.setattr(demo, "spark_command", same_session)
        code = main()
        return code, *capsys.readouterr()

    return call


def test_the_demo_ends_with_a_report_to_open_and_overwrites_nothing(run, tmp_path):
    (tmp_path / "meshwright-demo").mkdir()
    code, out, err = run("--nodes", 30, "--topics", 5)
    assert (code, err) == (0, "")
    assert "a full mesh" in out
    assert "meshwright-demo-2/result/report.html" in out
    assert (tmp_path / "meshwright-demo-2" / "result" / "report.html").is_file()
    assert list((tmp_path / "meshwright-demo").iterdir()) == []


def test_json_of_the_demo_says_where_the_result_is(run, monkeypatch):
    monkeypatch.setattr("meshwright.pipeline.run.run", lambda *_, **__: {"kind": "run"})
    code, out, err = run("--nodes", 2, "--topics", 1, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == {"out": "meshwright-demo/result", "kind": "run"}
