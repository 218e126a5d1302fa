import json
import sys
from contextlib import contextmanager

import pytest

from meshwright import Interests
from meshwright.cli import ingest, main


@pytest.fixture
def run(spark, monkeypatch, capsys):
    """Call the command line in this process and this session; returns (exit code, stdout, stderr)."""

    @contextmanager
    def same_session(master, conf):
        yield spark

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["meshwright", "ingest", *map(str, words)])
        monkeypatch.setattr(ingest, "spark_command", same_session)
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
    assert "2 nodes differ from another only by case or by blanks" in out
    assert "'Ann' and 'ann'" in out
    assert Interests.read(tmp_path / "out").topics_of("bob") == ["pop"]


def test_json_is_the_only_thing_on_stdout(run, tmp_path):
    (tmp_path / "edges.txt").write_text("a b\nb c\n")
    code, out, err = run(tmp_path / "edges.txt", "--as", "follows", "--out", tmp_path / "out", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert (found["nodes"], found["topics"], found["interests"], found["rows"]) == (3, 2, 2, 2)
    assert list(found["seconds"]) == ["reading", "making ids", "writing"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--as", "likes"), "--as is 'likes'; choose among pairs, follows, friendship"),
        (("--as", "pairs", "--columns", "user"), "--columns is 'user'; give two"),
        (("--as", "pairs", "--columns", "1,genre"), "mixes a name and a position"),
        (("--as", "pairs", "--columns", "0,1"), "positions count from 1"),
        (("--as", "pairs", "--format", "xml"), "--format is 'xml'; choose among csv, tsv"),
        (("--as", "pairs", "--max-rejected", "2"), "--max-rejected is 2.0; give a fraction"),
        (("--as", "pairs", "--own-topic"), "--own-topic is for --as follows"),
        (("--as", "pairs", "--format", "jsonl", "--columns", "1,2"), "keys, not positions"),
        (("--as", "pairs", "--delimiter", "::"), "give one character"),
        (("--as", "pairs", "--wildcards", "expand"), "choose among reject, keep"),
    ],
)
def test_a_wrong_call_is_one_line_and_exit_code_2(run, tmp_path, words, said):
    code, out, err = run(tmp_path / "no.csv", *words, "--out", tmp_path / "out")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err
    assert not (tmp_path / "out").exists()
