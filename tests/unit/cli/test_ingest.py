import json
import sys
from contextlib import contextmanager

import pytest

from meshwright import Interests
from meshwright.cli import common, main
from meshwright.pipeline.ingest import job
from meshwright.runtime.errors import SparkError


@pytest.fixture
def run(monkeypatch, capsys):
    """Call the command line in this process; returns (exit code, stdout, stderr)."""

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["meshwright", "ingest", *map(str, words)])
        code = main()
        return code, *capsys.readouterr()

    return call


def test_the_command_says_what_was_read_and_what_was_rejected(run, tmp_path):
    (tmp_path / "likes.csv").write_text("genre;user\nrock;ann\nrock;Ann\nrock;ann\njazz\npop;bob\n")
    words = ("--as", "pairs", "--columns", "user,genre", "--delimiter", ";", "--max-rejected", 0.5)
    code, out, err = run(tmp_path / "likes.csv", *words, "--out", tmp_path / "out")
    assert (code, err) == (0, "")
    shown = [line.split() for line in out.splitlines()]
    for line in ("rows 5", "rejected 1", "duplicates 1", "nodes 3", "topics 2", "interests 3"):
        assert line.split() in shown
    assert "wrong number of columns" in out
    assert f"{tmp_path / 'out'}/rejected" in out
    assert "likes.csv, line 5: wrong number of columns." in out
    assert "2 nodes look like another one" in out
    assert "'Ann' and 'ann'" in out
    assert Interests.read(tmp_path / "out").topics_of("bob") == ["pop"]


def test_friends_without_a_name_in_common_are_doubted(run, tmp_path):
    told = "No name occurs in both columns"
    for text, is_odd in (("ann rock\nbob jazz\n", True), ("ann bob\nbob cid\n", False), ("", False)):
        (tmp_path / "f.txt").write_text(f"# friends\n{text}")
        for relation in ("friendship", "follows", "pairs"):
            out = run(tmp_path / "f.txt", "--as", relation, "--out", tmp_path / "o", "--force")[1]
            assert (told in out) == (is_odd and relation == "friendship")


def test_lines_of_json_without_the_keys_are_refused_with_both_lists_of_keys(run, tmp_path):
    (tmp_path / "x.jsonl").write_text('{"user": "ann", "genres": ["a", "b"]}\n' * 3)
    code, _, err = run(tmp_path / "x.jsonl", "--as", "pairs", "--out", tmp_path / "o")
    assert code == 2
    assert "looked for the keys node, topic; its first line has the keys user, genres" in err
    assert "name two with --columns A,B" in err
    words = ("--as", "pairs", "--columns", "user,genres", "--out", tmp_path / "o")
    assert "rows, one for each item of a list" in run(tmp_path / "x.jsonl", *words)[1]


def test_json_is_the_only_thing_on_stdout(run, tmp_path):
    (tmp_path / "edges.txt").write_text("a b\nb c\n")
    code, out, err = run(tmp_path / "edges.txt", "--as", "follows", "--out", tmp_path / "out", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert (found["nodes"], found["topics"], found["interests"], found["rows"]) == (3, 2, 2, 2)
    assert list(found["seconds"]) == ["reading bytes", "making ids", "writing"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--as", "likes"), "--as is 'likes'; choose among pairs, follows, friendship"),
        (
            ("--as", "pairs", "--columns", "user"),
            "--columns is 'user'; give 2 columns",
        ),
        (("--as", "pairs", "--columns", "1,genre"), "mix names and positions"),
        (("--as", "pairs", "--columns", "0,1"), "positions count from 1"),
        (("--as", "pairs", "--format", "xml"), "--format is 'xml'; choose among csv, tsv"),
        (("--as", "pairs", "--max-rejected", "2"), "--max-rejected is 2.0; give a fraction"),
        (("--as", "pairs", "--own-topic"), "--own-topic applies only to --as follows"),
        (("--as", "pairs", "--format", "jsonl", "--columns", "1,2"), "keys, not positions"),
        (("--as", "pairs", "--delimiter", "::"), "give one character"),
        (("--as", "pairs", "--wildcards", "expand"), "choose among keep, reject"),
    ],
)
def test_a_wrong_call_is_one_line_and_exit_code_2(run, tmp_path, words, said):
    code, out, err = run(tmp_path / "no.csv", *words, "--out", tmp_path / "out")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err
    assert not (tmp_path / "out").exists()


def test_what_is_not_there_is_refused_before_spark_is_started(run, tmp_path, monkeypatch):
    def start(*_):
        raise AssertionError

    monkeypatch.setattr(common, "spark_command", start)
    for name, said in {"no.csv": "no such file", "*.tsv": "holds no file"}.items():
        words = ("--as", "pairs", "--engine", "spark", "--out", tmp_path / "out")
        code, out, err = run(tmp_path / name, *words)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert said in err
    (tmp_path / "i.csv").write_text("user,genre\na,x\n")
    assert "has no column 'node'" in run(tmp_path / "i.csv", *words)[2]


def test_auto_starts_spark_for_a_large_input_a_remote_one_or_a_master(run, tmp_path, monkeypatch):
    started = []

    @contextmanager
    def start(*how):
        started.append(how)
        raise SparkError("no Spark today")
        yield

    monkeypatch.setattr(common, "spark_command", start)
    (tmp_path / "i.csv").write_text("node,topic\na,x\n")
    words = (tmp_path / "i.csv", "--as", "pairs", "--out", tmp_path / "out")
    assert run(*words, "--master", "local[1]")[0] == 2
    assert run("s3a://lake/x.csv", *words[1:])[0] == 2
    monkeypatch.setattr(job, "_MOST_TEXT", 10)
    assert run(*words)[0] == 2
    assert started == [("local[1]", None, True), (None, None, False), (None, None, True)]
