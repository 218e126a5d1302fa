import pytest

import meshwright as mw
from meshwright.cli.flags import in_flags, without_python
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


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("overwrite with force=True (--force)", "overwrite with --force"),
        ("set missing='path' (--missing) to fill it", "set --missing path to fill it"),
        ("give local= (--local), a positive number", "give --local, a positive number"),
        ("set symmetrise (--symmetrise) to mean", "set --symmetrise to mean"),
        ("leave names= (--cost-names) out", "leave --cost-names out"),
        ("check the delimiter (--delimiter)", "check the delimiter (--delimiter)"),
        ("give remember=9 or more (--set)", "give remember=9 or more (--set)"),
        ("give costs (--costs FILE, or costs= in Python), or drop", "give costs (--costs FILE), or drop"),
        ("leave costs out (--no-costs, or costs='drop')", "leave costs out (--no-costs)"),
        ("give --costs (costs=Costs.from_csv(…) or another form in Python)", "give --costs"),
    ],
)
def test_the_flag_stands_alone_where_python_says_it_as_well(words, told):
    assert without_python(words) == told


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
        (("evaluate", "sub/e.csv"), "meshwright ingest sub/e.csv"),
        (("evaluate", "sub/w"), "meshwright build sub/w --algorithm"),
        (("report", "o", "--out", "sub", "--force"), "sub is a folder, and a file is to be written"),
    ],
)
def test_a_wrong_call_names_the_flag_the_choice_or_the_command(run, tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)
    for folder in (tmp_path, tmp_path / "sub"):
        mw.workloads.unif(9, 3, subscriptions=2, seed=1).write(folder / "w")
        (folder / "e.csv").write_text("from,to\nn0,n1\n")
    mw.build(mw.Interests.read("w"), "ring").write("o")
    code, out, err = run(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert told in err
