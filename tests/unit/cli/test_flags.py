import pytest

import meshwright as mw
from meshwright.cli.flags import in_flags
from meshwright.runtime.errors import OptionError

FLAGS = {"seeds": "--seeds", "min_subscriptions": "--min-subscriptions", "set": "--set", "force": "--force"}


@pytest.mark.parametrize(
    ("words", "option", "told"),
    [
        ("the option seeds is 0; give 1", "seeds", "--seeds is 0; give 1"),
        ("seeds is 0; give 1", None, "--seeds is 0; give 1"),
        ("give seeds=N", None, "give --seeds N"),
        ("x and min_subscriptions differ", None, "x and --min-subscriptions differ"),
        ("the option ties is 'x'; choose", "ties", "--set ties is 'x'; choose"),
        ("overwrite with force=True (--force)", None, "overwrite with force=True (--force)"),
        ("the seeds are many", None, "the seeds are many"),
    ],
)
def test_an_option_of_python_is_a_flag(words, option, told):
    assert in_flags(OptionError(words, option=option), FLAGS) == told


def test_without_set_an_unknown_option_stays_as_it_is():
    error = OptionError("the option ties is 'x'", option="ties")
    assert in_flags(error, {"seeds": "--seeds"}) == "the option ties is 'x'"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("gossip", "w", "--rounds", -1), "--rounds is -1"),
        (("generate", "unif", "--independent", "--out", "x"), "give --subscriptions K"),
        (("build", "w", "--algorithm", "gm", "--set", "tie=x", "--out", "x"), "to --set; did you mean ties?"),
        (("build", "w", "--algorithm", "gm", "--engine", "sparc", "--out", "x"), "did you mean spark?"),
        (("gossip", "w", "--membership", "scam"), "--membership is 'scam'; did you mean scamp?"),
        (("churn", "w", "--rounds", 1, "--policy", "shdow", "--out", "x"), "did you mean shadow?"),
        (("sample", "w", "--bfs", 0, "--out", "x"), "--bfs is 0"),
        (("generate", "zip", "--out", "x"), "did you mean zipf?"),
        (("ingest", "w", "--as", "pairs", "--out", "x"), "w is a dataset already"),
        (("import", "w", "--edges", "w", "--out", "x"), "w is a dataset; give a file of rows"),
        (("import", "w", "--edges", "e.csv", "--out", "x"), "with --source, --target or --cost"),
        (("evaluate", "w"), "meshwright build w --algorithm"),
        (("evaluate", "e.csv"), "meshwright ingest e.csv"),
    ],
)
def test_a_wrong_call_names_the_flag_the_choice_or_the_command(run, tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)
    mw.workloads.unif(9, 3, subscriptions=2, seed=1).write("w")
    (tmp_path / "e.csv").write_text("from,to\nn0,n1\n")
    code, out, err = run(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert told in err
