import json
import os
import subprocess
import sys

import pytest


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two brokers with a link that is declared at both ends."""
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "brokers"
    place.mkdir()
    for name, port, other in (("a", 20001, 20002), ("b", 20002, 20001)):
        text = f"listener {port} 127.0.0.1\nconnection x\naddress 127.0.0.1:{other}\ntopic # both\n"
        (place / f"{name}.conf").write_text(text)
    return place


def test_lint_names_file_line_severity_and_rule_and_exits_with_1(run, folder):
    code, out, err = run("lint", "brokers")
    assert (code, err) == (1, "")
    assert out.startswith("brokers/a.conf:4: error: ")
    assert "[both-ends]" in out
    assert "    b -> a: brokers/b.conf:4" in out
    assert out.splitlines()[-1] == "2 brokers, 2 lines that share topics: 1 error"


def test_lint_exits_with_0_where_nothing_is_wrong(run, folder):
    code, out, _ = run("lint", "brokers/a.conf")
    assert code == 0
    assert "unknown-broker" in out


def test_lint_json_has_the_keys_that_are_promised(run, folder):
    code, out, _ = run("lint", "brokers", "--json")
    (finding,) = json.loads(out)["findings"]
    assert code == 1
    assert {"rule", "severity", "message", "file", "line", "topic", "path"} <= finding.keys()
    assert (finding["rule"], finding["topic"], finding["path"]) == ("both-ends", "x", ["a", "b", "a"])


def test_lint_sarif_places_results_and_keeps_suppressed_ones(run, folder):
    file = folder / "a.conf"
    file.write_text(file.read_text().replace("topic", "# meshwright: ignore both-ends: known\ntopic"))
    code, out, _ = run("lint", "brokers", "--sarif")
    (log,) = json.loads(out)["runs"]
    (result,) = log["results"]
    assert code == 0
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("brokers/a.conf", 5)
    assert result["suppressions"] == [{"kind": "inSource", "justification": "known"}]
    assert log["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "both-ends"


def test_lint_tells_the_account_at_each_stop_of_a_witness(run, tmp_path):
    accounts = """accounts {
  X { users: [{user: X, password: $P}], exports: [{stream: t}] }
  Y { users: [{user: Y, password: $P}], imports: [{stream: {account: X, subject: t}}] }
}"""
    remotes = ", ".join(f'{{url: "nats://{each}@b:7422", account: X}}' for each in ("X", "Y"))
    (tmp_path / "a.conf").write_text(
        f"server_name: a\nleafnodes {{remotes: [{remotes}]}}\naccounts {{X {{}}}}\n"
    )
    (tmp_path / "b.conf").write_text(f"server_name: b\nleafnodes {{port: 7422}}\n{accounts}\n")
    _, out, _ = run("lint", tmp_path, "--json")
    (finding,) = [each for each in json.loads(out)["findings"] if each["rule"] == "loop"]
    stops = [(stop["broker"], stop["account"]) for stop in finding["steps"]]
    assert stops == [("b", "X"), ("b", "Y"), ("a", "X"), ("b", "X")]
    _, out, _ = run("lint", tmp_path, "--sarif")
    (result,) = [each for each in json.loads(out)["runs"][0]["results"] if each["ruleId"] == "loop"]
    (flow,) = result["codeFlows"][0]["threadFlows"]
    texts = [each["location"]["message"]["text"] for each in flow["locations"]]
    assert texts == ["b [X]: t", "b [Y]: t", "a [X]: t", "b [X]: t"]


def test_lint_shows_what_steers_a_terminal_as_escapes(run, folder):
    (folder / "a.conf").write_text("listener 20001\n\x1b[31mbad 1\n")
    code, out, _ = run("lint", "brokers/a.conf")
    assert code == 1
    assert "\x1b" not in out


def test_lint_refuses_two_formats_and_paths_that_do_not_exist(run, folder):
    assert run("lint", "brokers", "--json", "--sarif")[0] == 2
    code, out, err = run("lint", "nowhere")
    assert (code, out) == (2, "")
    assert "does not exist" in err


def test_lint_refuses_an_empty_path_rather_than_reading_this_folder(run, folder):
    code, out, err = run("lint", "")
    assert (code, out) == (2, "")
    assert "a PATH is empty" in err


def test_lint_counts_a_single_line_in_the_singular(run, folder):
    _, out, _ = run("lint", "brokers/a.conf")
    assert out.splitlines()[-1].startswith("1 broker, 1 line that shares topics: ")


@pytest.mark.parametrize("form", ["--json", "--sarif"])
def test_a_file_name_that_is_no_text_is_written_as_escapes(run, tmp_path, form):
    (tmp_path / os.fsdecode(b"\xff.conf")).write_text("connection x\naddress a\ntopic # both\nnonsense 1\n")
    code, said, _ = run("lint", tmp_path, form)
    assert code == 1
    assert "xff" in said or "%FF" in said
    json.loads(said.encode("utf-8"))


def test_lint_writes_to_a_terminal_that_lacks_its_letters(folder):
    (folder / "ü.conf").write_text("listener 20003\nconnection é\naddress 127.0.0.1:20003\ntopic # both\n")
    words = [sys.executable, "-m", "meshwright", "lint", "brokers"]
    setting = {**os.environ, "PYTHONIOENCODING": "ascii"}
    found = subprocess.run(words, env=setting, capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert r"\xfc" in found.stdout
    assert "Traceback" not in found.stderr


@pytest.mark.parametrize("form", ["--json", "--sarif"])
def test_lint_prints_a_document_where_nothing_can_be_read(run, tmp_path, form):
    code, out, err = run("lint", tmp_path, form)
    assert code == 2
    assert "no configuration of a broker is in" in err
    printed = json.loads(out)
    found = printed["findings"] if form == "--json" else printed["runs"][0]["results"]
    assert [each.get("rule", each.get("ruleId")) for each in found] == ["unreadable"]
