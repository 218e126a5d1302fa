import json
import os
import signal
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import networkx as nx
import pytest

import meshwright as mw
from meshwright.__main__ import main as start
from meshwright.pipeline.spark.versions import compare
from meshwright.runtime.errors import SparkError
from tests.patience import PATIENCE, wait_for


@pytest.fixture
def workload(tmp_path):
    path = tmp_path / "workload"
    mw.workloads.unif(60, 12, subscriptions=4, seed=1).write(path)
    return path


@pytest.fixture
def overlay(workload, tmp_path):
    path = tmp_path / "overlay"
    mw.build(mw.Interests.read(workload), "gm").write(path)
    return path


def assert_wrong(result, *words):
    """Exit code 2, nothing on stdout, one line on stderr with these words."""
    code, out, err = result
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert "Traceback" not in err
    for word in words:
        assert word in err


def test_the_journey_from_interests_to_a_measured_overlay(run, tmp_path):
    workload, overlay = tmp_path / "w", tmp_path / "o"
    assert run("generate", "unif", "--nodes", 50, "--topics", 10, "--out", workload)[0] == 0
    assert run("build", workload, "--algorithm", "gm", "--seed", 3, "--out", overlay)[0] == 0
    code, out, err = run("evaluate", overlay, "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert found["topic_connected"] is True
    assert found["nodes"] == 50
    assert sum(found["degree_distribution"]) == 50
    assert found["disconnected_topic_components"] == {}
    assert found["average_degree"] >= found["lower_bound_average_degree"]


def test_what_is_built_is_what_the_library_builds(run, workload, tmp_path):
    out = tmp_path / "o"
    run("build", workload, "--algorithm", "gm", "--seed", 5, "--set", "ties=small-first", "--out", out)
    expected = mw.build(mw.Interests.read(workload), "gm", seed=5, ties="small-first")
    assert mw.Overlay.read(out) == expected


def test_the_manifest_says_what_made_it(run, workload, tmp_path):
    out = tmp_path / "o"
    run("build", workload, "--algorithm", "ring", "--seed", 5, "--out", out)
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["algorithm"] == "ring"
    assert manifest["seed"] == 5
    assert manifest["inputs"] == [str(workload)]
    assert set(manifest["seconds"]) == {"read", "build"}


@pytest.mark.parametrize("command", ["generate", "import", "build", "merge", "algorithms"])
def test_json_is_the_only_thing_on_stdout(run, workload, overlay, tmp_path, command):
    edges = tmp_path / "edges.csv"
    edges.write_text("source,target\nn00,n01\n")
    words = {
        "generate": ("generate", "zipf", "--nodes", 9, "--topics", 4, "--out", tmp_path / "x"),
        "import": ("import", workload, "--edges", edges, "--out", tmp_path / "x"),
        "build": ("build", workload, "--algorithm", "ring", "--out", tmp_path / "x"),
        "merge": ("merge", overlay, "--algorithm", "sm", "--out", tmp_path / "x"),
        "algorithms": ("algorithms",),
    }
    code, out, err = run(*words[command], "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)


def test_evaluate_answers_no_with_exit_code_1_and_names_the_topics(run, workload, tmp_path):
    edges, out = tmp_path / "edges.csv", tmp_path / "o"
    edges.write_text("source,target\nn00,n01\n")
    run("import", workload, "--edges", edges, "--out", out)
    code, text, _ = run("evaluate", out)
    assert code == 1
    assert "Cut topics: 't00'" in text
    assert "cut topics" in text
    assert "nodes that did not ask for the topic would have to forward them" in text


def test_evaluate_counts_links_that_no_topic_uses_and_says_one_link_once(run, tmp_path):
    interests = mw.Interests.from_pairs([("a", "x"), ("b", "x"), ("c", "y"), ("d", "y")])
    for name, pairs in (("used", ["ab", "cd"]), ("idle", ["ab", "cd", "bc"])):
        mw.Overlay.from_edges(interests, [tuple(pair) for pair in pairs]).write(tmp_path / name)
    text = run("evaluate", tmp_path / "idle")[1]
    assert "1 link joins nodes that have no topic in common; no topic uses it." in text
    used = run("evaluate", tmp_path / "used")[1]
    assert "no topic in common" not in used
    assert "Half of the nodes have 1 link, the median is 1" in used
    assert "has fewer than 1.00 links per node: this one has the least possible." in used


def test_import_takes_the_links_that_the_file_names(run, workload, tmp_path):
    edges, out = tmp_path / "bridges.tsv", tmp_path / "o"
    edges.write_text("from\tto\tms\nn03\tn01\t2.5\nn01\tn03\t2.5\n")
    words = ("--source", "from", "--target", "to", "--cost", "ms", "--out", out)
    assert run("import", workload, "--edges", edges, *words)[0] == 0
    found = mw.Overlay.read(out)
    assert found.edges.tolist() == [[1, 3]]
    assert found.costs.tolist() == [2.5]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2.5\tn03\tn01\n1\tn02\tn04\n", ("--source", 2, "--target", 3, "--cost", 1)),
        ("a\ta\ta\n2.5\tn03\tn01\n1\tn02\tn04\n", ("--source", 2, "--target", 3, "--cost", 1, "--header")),
        (
            '"a,b"\t1\t""\nn03\t2.5\tn01\nn02\t1\tn04\n',
            ("--source", '"a,b"', "--target", '""', "--cost", '"1"'),
        ),
    ],
)
def test_import_takes_columns_by_position_and_by_odd_names(run, workload, tmp_path, text, words):
    edges, out = tmp_path / "bridges.tsv", tmp_path / "o"
    edges.write_text(text)
    assert run("import", workload, "--edges", edges, *words, "--out", out)[0] == 0
    found = mw.Overlay.read(out)
    assert (found.edges.tolist(), found.costs.tolist()) == ([[1, 3], [2, 4]], [2.5, 1])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--source", "From", "--target", "to"), "did you mean 'from'?"),
        (("--source", 1, "--target", "to"), "mix names and positions"),
        (("--source", 1, "--target", 9), "has 3 columns, but column 9 is asked for"),
        (("--source", "a,b", "--target", "to"), "--source is 'a,b'; give 1 column"),
        (("--source", "from", "--target", "to", "--no-header"), "without a header, columns have no names"),
    ],
)
def test_import_refuses_columns_that_can_not_be_told(run, workload, tmp_path, words, said):
    (tmp_path / "e.csv").write_text("from,to,ms\nn03,n01,2.5\n")
    code, out, err = run("import", workload, "--edges", tmp_path / "e.csv", *words, "--out", tmp_path / "o")
    assert (code, out) == (2, "")
    assert said in err


def other_mesh(tmp_path, name, costs=None):
    """An overlay of two nodes that share a topic with the workload."""
    path = tmp_path / name
    interests = mw.Interests.from_pairs([("x1", "t00"), ("x2", "t00"), ("x2", "t01")])
    mw.Overlay.from_edges(interests, [("x1", "x2")], costs).write(path)
    return path


def test_what_is_read_of_a_file_has_limits_that_options_set(run, workload, tmp_path):
    (tmp_path / "links.csv").write_text("source,target\nn01,n02\n")
    call = ("import", workload, "--edges", tmp_path / "links.csv", "--out", tmp_path / "mine")
    assert "is longer than 4 bytes" in run(*call, "--max-line", 4)[2]
    assert "--max-ratio is 0; give a whole number of at least 1" in run(*call, "--max-ratio", 0)[2]


def test_what_is_merged_is_what_the_library_merges(run, overlay, tmp_path):
    other, out = other_mesh(tmp_path, "other"), tmp_path / "both"
    words = ("--algorithm", "sm", "--seed", 5, "--set", "keep_bounds=no", "--out", out)
    code, text, _ = run("merge", overlay, other, *words)
    merged = mw.Overlay.read(out)
    inputs = [mw.Overlay.read(overlay), mw.Overlay.read(other)]
    assert code == 0
    assert merged == mw.merge(inputs, "sm", seed=5, keep_bounds=False)
    assert f", {merged.facts['outer_edges']} new link" in text
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["inputs"] == [str(overlay), str(other)]
    assert (manifest["command"], manifest["algorithm"], manifest["seed"]) == ("merge", "sm", 5)
    assert set(manifest["seconds"]) == {"read", "merge"}


def test_merge_takes_the_cost_of_a_new_link(run, tmp_path):
    one, out = other_mesh(tmp_path, "one", [1.5]), tmp_path / "o"
    assert_wrong(run("merge", one, "--algorithm", "sm", "--out", out), "cost")
    assert run("merge", one, "--algorithm", "sm", "--link-cost", 7, "--out", out)[0] == 0
    assert mw.Overlay.read(out).costs.tolist() == [1.5]


def test_wrong_merges_say_in_one_line_what_is_legal(run, workload, overlay, tmp_path):
    out = tmp_path / "x"
    assert_wrong(run("merge", "--algorithm", "sm", "--out", out), "DIR", "--help")
    assert_wrong(run("merge", overlay, overlay, "--algorithm", "sm", "--out", out), "1 and 2", "n00")
    assert_wrong(run("merge", overlay, "--algorithm", "gm", "--out", out), "'gm'", "nm, sm")
    assert_wrong(run("merge", workload, "--algorithm", "sm", "--out", out), "interests", "overlay")
    assert_wrong(run("merge", overlay, "--algorithm", "sm", "--out", overlay), str(overlay), "the input")
    assert not out.exists()


@pytest.mark.parametrize("to", ["graphml", "gml", "dot", "csv", "json"])
def test_export_to_stdout_and_to_a_file_are_the_same(run, overlay, tmp_path, to):
    _, text, _ = run("export", overlay, "--to", to)
    assert run("export", overlay, "--out", tmp_path / f"x.{to}")[0] == 0
    assert (tmp_path / f"x.{to}").read_text() == text


def test_exported_graphml_has_the_links(run, overlay, tmp_path):
    run("export", overlay, "--to", "graphml", "--out", tmp_path / "x.xml")
    read, written = nx.read_graphml(tmp_path / "x.xml"), mw.Overlay.read(overlay).to_networkx()
    assert set(read.nodes) == set(written.nodes)
    assert nx.utils.edges_equal(read.edges, written.edges)


def test_nothing_that_exists_is_overwritten_without_force(run, workload, overlay):
    assert_wrong(run("build", workload, "--algorithm", "ring", "--out", overlay), str(overlay), "--force")
    assert mw.Overlay.read(overlay).facts["algorithm"] == "gm"
    assert run("build", workload, "--algorithm", "ring", "--out", overlay, "--force")[0] == 0
    assert mw.Overlay.read(overlay).facts["algorithm"] == "ring"


def test_wrong_calls_say_in_one_line_what_is_legal(run, workload, overlay, tmp_path):
    out = tmp_path / "x"
    assert_wrong(run("frobnicate"), "frobnicate", "--help")
    assert_wrong(run("build", workload, "--out", out), "--algorithm", "--help")
    assert_wrong(run("build", workload, "--algorithm", "gm"), "--out")
    assert_wrong(run("build", workload, "--algorithm", "magic", "--out", out), "magic", "gm", "ring")
    assert_wrong(run("build", tmp_path / "no", "--algorithm", "gm", "--out", out), "no such folder")
    for setting, word in {
        "ties=best": "small-first",
        "ties": "name=value",
        "size=3": "keep_bounds",
        "keep_bounds=maybe": "yes or no",
        "memory_limit=lots": "whole number",
        "weights=3": "Python",
    }.items():
        assert_wrong(run("build", workload, "--algorithm", "gm", "--set", setting, "--out", out), word)
    assert_wrong(run("generate", "pareto", "--out", out), "pareto", "unif, zipf, expo, grid")
    assert_wrong(run("generate", "grid", "--subscriptions", 3, "--out", out), "radius")
    assert_wrong(run("generate", "unif", "--nodes", "many", "--out", out), "--nodes")
    assert_wrong(
        run("generate", "unif", "--topics", 5, "--subscriptions", 6, "--out", out), "6", "from 0 to 5"
    )
    assert_wrong(run("export", overlay), "--to")
    assert_wrong(run("export", overlay, "--to", "png"), "png", "graphml")
    assert_wrong(run("evaluate", workload), "interests", "overlay")
    assert not out.exists()


def test_a_misspelt_name_is_answered_by_the_right_one(run):
    assert run("biuld")[2] == "meshwright: no such command 'biuld'; did you mean 'build'?\n"
    assert (
        run("imxport")[2]
        == "meshwright: no such command 'imxport'; did you mean 'import' or 'export' or 'report'?\n"
    )
    wrong = run("build", "workload", "--algoritm", "gm", "--out", "x")
    assert wrong[2] == "meshwright: no such option: --algoritm; did you mean --algorithm?\n"


def test_a_table_for_people_fits_80_columns(run, overlay, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = run("evaluate", overlay)[1].splitlines()
    head = next(line for line in lines if "measure" in line)
    assert head.split() == ["measure", "value"]
    last = next(at for at, line in enumerate(lines) if "method of the lower bound" in line)
    assert all(len(line) <= 80 for line in lines[: last + 1])


def test_the_list_of_algorithms_fits_80_columns_with_every_name_and_option(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = run("algorithms")[1]
    assert all(len(line) <= 80 for line in text.splitlines())
    words = " ".join(text.split())
    for name, algorithm in mw.algorithms().items():
        assert f"{name} {algorithm.kind} " in words
        for field in fields(algorithm.options):
            assert f" {field.name}=" in words


def test_output_that_can_not_be_written_is_one_line_and_2(overlay):
    words = [sys.executable, "-m", "meshwright", "evaluate", overlay, "--json"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert "No space left" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_help_and_version_need_no_command(run):
    code, out, _ = run("--version")
    assert (code, out) == (0, "meshwright 0.1.0\n")
    assert "demo" in run()[1]


@pytest.mark.parametrize(
    "command",
    [
        "demo",
        "run",
        "generate",
        "ingest",
        "import",
        "profile",
        "sample",
        "build",
        "merge",
        "evaluate",
        "compare",
        "report",
        "export",
        "algorithms",
    ],
)
def test_every_command_explains_itself(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0
    assert f"meshwright {command}" in out


@pytest.fixture(scope="module")
def large_workload(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "w"
    mw.workloads.expo(20_000, 1_000, min_subscriptions=50, max_subscriptions=150, seed=1).write(path)
    return path


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_a_long_build_and_leave_nothing(number, code, large_workload, tmp_path):
    out = tmp_path / "o"
    words = [sys.executable, "-m", "meshwright", "build", large_workload, "--algorithm", "gm", "--out", out]
    with subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            _wait_until_busy(process.pid, seconds=2)
            os.kill(process.pid, number)
            _, err = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    # Python dies by the signal itself where an import was cut short; a shell shows the same code for that.
    assert process.returncode in (code, -number)
    assert err.splitlines()[-1] == "meshwright: interrupted; nothing unfinished was kept"
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_while_the_command_line_is_imported_is_one_line(monkeypatch, capsys):
    class Interrupting:
        def find_spec(self, name, *_):
            if name == "meshwright.cli":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "meshwright.cli")
    monkeypatch.setattr(sys, "meta_path", [Interrupting(), *sys.meta_path])
    assert start() == 130
    assert capsys.readouterr().err == "meshwright: interrupted; nothing unfinished was kept\n"


@pytest.mark.parametrize(
    "fault", [SparkError("Java is gone"), OSError("the socket is gone"), SystemError("a kernel, half loaded")]
)
def test_what_fails_after_ctrl_c_is_told_as_the_interruption(run, monkeypatch, tmp_path, fault):
    def work(*_, **__):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt as interruption:
            raise fault from interruption

    monkeypatch.setattr("meshwright.pipeline.run.run", work)
    (tmp_path / "rows.csv").write_text("node,topic\n")
    code, out, err = run("run", tmp_path / "rows.csv", "--as", "pairs", "--out", tmp_path / "o")
    assert (code, out, err) == (130, "", "meshwright: interrupted; nothing unfinished was kept\n")


def test_an_interrupted_run_says_in_one_line_how_to_go_on(run, monkeypatch, tmp_path):
    out = tmp_path / "o"

    def interrupt(*_, **__):
        (out / ".run").mkdir(parents=True)
        raise KeyboardInterrupt

    monkeypatch.setattr("meshwright.pipeline.run.run", interrupt)
    (tmp_path / "rows.csv").write_text("node,topic\n")
    code, _, err = run("run", tmp_path / "rows.csv", "--as", "pairs", "--out", out)
    words = f"interrupted; finished stages are kept in {out}; continue with --resume"
    assert (code, err) == (130, f"meshwright: {words}\n")


def test_a_run_that_fails_after_ctrl_c_says_how_to_go_on(run, monkeypatch, tmp_path):
    out = tmp_path / "o"

    def work(*_, **__):
        (out / ".run").mkdir(parents=True)
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt as interruption:
            raise SparkError("Java is gone") from interruption

    monkeypatch.setattr("meshwright.pipeline.run.run", work)
    (tmp_path / "rows.csv").write_text("node,topic\n")
    code, _, err = run("run", tmp_path / "rows.csv", "--as", "pairs", "--out", out)
    words = f"interrupted; finished stages are kept in {out}; continue with --resume"
    assert (code, err) == (130, f"meshwright: {words}\n")


def test_an_interrupted_run_that_kept_nothing_says_so(run, monkeypatch, tmp_path):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("meshwright.pipeline.run.run", interrupt)
    (tmp_path / "rows.csv").write_text("node,topic\n")
    code, _, err = run("run", tmp_path / "rows.csv", "--as", "pairs", "--out", tmp_path / "o")
    assert (code, err) == (130, "meshwright: interrupted; nothing unfinished was kept\n")


def test_a_run_takes_a_dataset_and_says_what_is_missing_otherwise(run, tmp_path):
    mw.Interests.from_pairs([("a", "x"), ("b", "x")]).write(tmp_path / "data")
    assert run("run", tmp_path / "data", "--algorithm", "gm", "--out", tmp_path / "o")[0] == 0
    rows = tmp_path / "rows.csv"
    rows.write_text("node,topic\n")
    for words, why in (
        ((tmp_path / "data", "--as", "pairs"), "is a dataset; give nothing else"),
        ((tmp_path / "data", rows), "is a dataset; give nothing else"),
        ((rows,), "--as is missing; say what a row means"),
        ((rows, "--columns", "a,b"), "--columns says how rows are read, but --as is missing"),
    ):
        assert_wrong(run("run", *words, "--out", tmp_path / "p"), why)
    assert_wrong(run("ingest", rows, "--out", tmp_path / "p"), "--as is missing; say what a row means")


def test_a_run_refuses_its_folder_before_spark_is_started(run, monkeypatch, tmp_path):
    monkeypatch.setattr("meshwright.cli.common.spark_command", lambda *_: pytest.fail("Spark was started"))
    (tmp_path / "rows.csv").write_text("node,topic\n")
    (tmp_path / "o").mkdir()
    (tmp_path / "o" / "mine.txt").write_text("precious")
    for words, why in (
        ((), "not empty"),
        (("--resume",), "no unfinished run to resume"),
        (("--force",), "mine.txt"),
    ):
        given = ("--as", "pairs", "--engine", "spark", "--out", tmp_path / "o")
        code, _, err = run("run", tmp_path / "rows.csv", *given, *words)
        assert code == 2
        assert why in err


def test_workers_with_other_versions_are_one_line(run, monkeypatch, tmp_path):
    def refuse(*_):
        compare({"Python": "3.13"}, {"Python": "3.11"}, "host:/work/app-1")

    monkeypatch.setattr("meshwright.pipeline.spark.session.spark_session", refuse)
    rows = tmp_path / "rows.csv"
    rows.write_text("node,topic\n")
    words = ("run", rows, "--as", "pairs", "--out", tmp_path / "o", "--master", "spark://host:7077")
    assert_wrong(run(*words), "workers at host:/work/app-1 have Python 3.11 and the driver has 3.13; install")
    assert list(tmp_path.iterdir()) == [rows]


def _wait_until_busy(pid: int, seconds: float) -> None:
    """Until the process has worked for longer than importing and reading take."""
    ticks = os.sysconf("SC_CLK_TCK") * seconds
    stat = Path(f"/proc/{pid}/stat")
    wait_for(lambda: int(stat.read_text().rpartition(")")[2].split()[11]) > ticks, "the build starts")


def test_no_garbage_is_looked_for_at_the_exit() -> None:
    program = (
        "import atexit, gc, sys; from meshwright.cli import main; sys.argv = ['meshwright', '--version']; "
        "atexit.register(lambda: print('frozen' if gc.get_freeze_count() else 'not frozen')); main()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "frozen"


@pytest.mark.parametrize("given", [None, "2"])
def test_blas_starts_no_threads_unless_told(given: str | None) -> None:
    told = {} if given is None else {"OPENBLAS_NUM_THREADS": given}
    env = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"} | told
    program = (
        "import os, sys; from meshwright.cli import main; sys.argv = ['meshwright', '--version']; main(); "
        "print(os.environ['OPENBLAS_NUM_THREADS'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == (given or "1")


def test_an_unknown_name_of_any_length_makes_a_short_line(run, workload, tmp_path):
    (tmp_path / "links.csv").write_text("source,target\n" + "x" * 1_000_000 + ",n01\n")
    result = run("import", workload, "--edges", tmp_path / "links.csv", "--out", tmp_path / "out")
    assert_wrong(result, "line 2: there is no 'xxx", "among the 60 nodes", "or leave their edges out")
    assert len(result[2]) < 1_100


@pytest.mark.parametrize("command", ["build", "import", "sample", "gossip", "merge", "run"])
def test_no_command_replaces_its_input(run, workload, overlay, tmp_path, command):
    (tmp_path / "links.csv").write_text("source,target\nn01,n02\n")
    words = {
        "build": (workload, "--algorithm", "gm"),
        "import": (workload, "--edges", tmp_path / "links.csv"),
        "sample": (workload, "--bfs", 5),
        "gossip": (workload,),
        "merge": (overlay, workload, "--algorithm", "sm"),
        "run": (workload,),
    }
    result = run(command, *words[command], "--out", workload, "--force")
    assert_wrong(result, "can't be the output, because the input")
    assert run("verify", workload)[0] == 0


def test_one_column_is_not_read_twice(run, tmp_path):
    (tmp_path / "pairs.csv").write_text("node,topic\na,b\n")
    for columns in ("node,node", "1,1"):
        words = (tmp_path / "pairs.csv", "--as", "pairs", "--columns", columns, "--out", tmp_path / "out")
        assert_wrong(run("ingest", *words), f"--columns is {columns}", "name different columns")


@pytest.mark.parametrize("to", ["graphml", "dot"])
def test_what_a_format_can_not_hold_is_refused_before_anything_is_printed(run, tmp_path, to):
    pairs = [(f"n{at}" if at < 900 else "z\x00", "t") for at in range(901)]
    mw.build(mw.Interests.from_pairs(pairs), "ring").write(tmp_path / "o")
    assert_wrong(run("export", tmp_path / "o", "--to", to), "can't hold; export to json or csv")


def test_plan_capacity_says_in_json_and_by_its_exit_code_whether_it_fits(run):
    words = "plan-capacity --nodes 100000 --topics 1000 --interests 2800000 --algorithm dcbc-direct --json"
    for memory, expected in (("8", 0), ("0.1", 1)):
        code, out, _ = run(*words.split(), "--memory", memory)
        told = json.loads(out)
        assert (code, told["fits"]) == (expected, expected == 0)
        assert told["seconds"] == pytest.approx(sum(stage["seconds"] for stage in told["stages"]))
        assert [stage["name"] for stage in told["stages"]] == ["ingest", "build dcbc-direct", "evaluate"]
