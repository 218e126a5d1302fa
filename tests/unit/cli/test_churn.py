import json
import os
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import meshwright as mw
from meshwright.cli import main
from meshwright.model.events import as_line


@pytest.fixture
def run(monkeypatch, capsys):
    """Call the command line in this process; returns (exit code, stdout, stderr)."""

    def call(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["meshwright", "churn", *map(str, words)])
        code = main()
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture(scope="module")
def overlay(tmp_path_factory):
    path = tmp_path_factory.mktemp("churn") / "overlay"
    mw.build(mw.workloads.unif(60, 12, subscriptions=4, seed=1), "low-oda").write(path)
    return path


def write_lines(path, events, rest=""):
    path.write_text("".join(as_line(event) + "\n" for event in events) + rest)
    return path


def table(folder, name):
    return pq.read_table(folder / name).to_pylist()


def links(overlay):
    names = overlay.interests.nodes.to_pylist()
    return {(names[u], names[v]) for u, v in overlay.edges.tolist()}


def replayed(start, changes):
    """The links of a deployer who does what the changes say."""
    found = links(start)
    for row in changes:
        link = (row["source"], row["target"])
        assert (link in found) == (row["action"] == "close")
        found ^= {link}
    return found


@pytest.mark.parametrize("policy", ["shadow", "naive", "rebuild"])
def test_the_changes_lead_from_the_overlay_to_the_one_that_is_written(run, overlay, tmp_path, policy):
    code, out, err = run(overlay, "--rounds", 30, "--policy", policy, "--out", tmp_path / "o", "--json")
    assert (code, err) == (0, "")
    said = json.loads(out)
    result = mw.Overlay.read(tmp_path / "o")
    assert mw.evaluate(result).topic_connected
    changes = table(tmp_path / "o", "changes")
    assert replayed(mw.Overlay.read(overlay), changes) == links(result)
    assert said["kind"] == "overlay"
    assert said["edges"] == len(result)
    assert said["facts"]["events"] == said["facts"]["revision"] == 30
    assert said["facts"]["opened"] + said["facts"]["closed"] == len(changes) == said["tables"]["changes"]
    assert said["options"]["policy"] == policy
    assert len(table(tmp_path / "o", "repairs")) == 31
    assert not (tmp_path / "o" / "rejected").exists()


def test_the_same_seed_gives_the_same_with_and_without_a_journal(run, overlay, tmp_path):
    for name, more in (("a", ()), ("b", ()), ("c", ("--journal", tmp_path / "j", "--compact-after", 7))):
        code, _, _ = run(overlay, "--rounds", 20, "--seed", 4, "--out", tmp_path / name, *more)
        assert code == 0
    one, same, journaled = (mw.Overlay.read(tmp_path / name) for name in "abc")
    assert one.interests == same.interests == journaled.interests
    assert links(one) == links(same) == links(journaled)
    assert one.tables["changes"] == same.tables["changes"] == journaled.tables["changes"]


def test_with_a_journal_a_second_run_goes_on_and_tells_everything(run, overlay, tmp_path):
    events = mw.workloads.churn(mw.Overlay.read(overlay).interests, 24)
    file = write_lines(tmp_path / "e.jsonl", events[:10])
    run(overlay, "--events", file, "--journal", tmp_path / "j", "--out", tmp_path / "first")
    write_lines(file, events)
    code, out, _ = run(
        overlay, "--events", file, "--journal", tmp_path / "j", "--out", tmp_path / "second", "--json"
    )
    assert code == 0
    assert json.loads(out)["facts"]["repeated"] == 10
    run(overlay, "--events", file, "--out", tmp_path / "whole")
    second, whole = (mw.Overlay.read(tmp_path / name) for name in ("second", "whole"))
    assert links(second) == links(whole)
    assert second.tables["changes"] == whole.tables["changes"]


def test_events_that_cannot_be_applied_are_put_aside_with_the_reason(run, overlay, tmp_path):
    events = [
        mw.Event(1, "leave", "nobody"),
        mw.Event(2, "join", "n00", ("t01",)),
        mw.Event(3, "subscribe", "n00", tuple(mw.Overlay.read(overlay).interests.topics_of("n00"))),
        mw.Event(4, "join", "bare"),
        mw.Event(5, "unsubscribe", "n01", ("no such topic",)),
    ]
    file = write_lines(tmp_path / "e.jsonl", events)
    code, out, _ = run(overlay, "--events", file, "--out", tmp_path / "o")
    assert code == 0
    assert f"2 events could not be applied, and are in {tmp_path / 'o' / 'rejected'}:" in out
    assert "at 1, leave nobody: 'nobody' leaves, but is not in the overlay" in out
    assert "at 2, join n00: " in out
    rejected = table(tmp_path / "o", "rejected")
    assert [row["at"] for row in rejected] == [1, 2]
    assert "'nobody' leaves, but is not in the overlay" in rejected[0]["reason"]
    assert json.loads(rejected[1]["text"])["node"] == "n00"
    result = mw.Overlay.read(tmp_path / "o")
    assert links(result) == links(mw.Overlay.read(overlay))
    assert "bare" in result.interests.nodes.to_pylist()


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_the_answer_is_no_if_no_event_could_be_applied(run, overlay, tmp_path, more):
    file = write_lines(tmp_path / "e.jsonl", [mw.Event(at, "leave", "nobody") for at in range(5)])
    code, out, _ = run(overlay, "--events", file, "--out", tmp_path / "o", *more)
    assert code == 1
    assert more or "  and 2 more" in out
    assert links(mw.Overlay.read(tmp_path / "o")) == links(mw.Overlay.read(overlay))


def test_one_event_that_was_refused_is_told_in_the_singular(run, overlay, tmp_path):
    file = write_lines(tmp_path / "e.jsonl", [mw.Event(1, "leave", "nobody"), mw.Event(2, "join", "new")])
    code, out, _ = run(overlay, "--events", file, "--out", tmp_path / "o")
    assert code == 0
    assert "1 event could not be applied, and is in" in out


def test_changes_are_there_as_csv_which_the_manifest_knows(run, overlay, tmp_path):
    out = tmp_path / "o"
    for force in ((), ("--force",)):
        assert run(overlay, "--rounds", 8, "--out", out, *force)[0] == 0
    found = pd.read_csv(out / "changes.csv", keep_default_na=False)
    rows = [[str(value) for value in row.values() if value is not None] for row in table(out, "changes")]
    assert [[value for value in row if value] for row in found.astype(str).to_numpy().tolist()] == rows
    assert "changes.csv" in json.loads((out / "manifest.json").read_text())["files"]


def test_events_put_aside_stay_aside_when_a_journal_goes_on(run, overlay, tmp_path):
    """What could not be applied then could be now: it is still not applied."""
    events = [mw.Event(1, "leave", "x"), mw.Event(2, "join", "x", ("t01",))]
    file = write_lines(tmp_path / "e.jsonl", events)
    for name in ("first", "second"):
        run(overlay, "--events", file, "--journal", tmp_path / "j", "--out", tmp_path / name)
    assert "x" in mw.Overlay.read(tmp_path / "second").interests.nodes.to_pylist()
    assert len(table(tmp_path / "second", "rejected")) == 1


def test_strict_ends_at_the_first_event_that_cannot_be_applied(run, overlay, tmp_path):
    file = write_lines(tmp_path / "e.jsonl", [mw.Event(1, "join", "new"), mw.Event(7, "leave", "nobody")])
    code, out, err = run(overlay, "--events", file, "--strict", "--out", tmp_path / "o")
    assert (code, out) == (2, "")
    assert "event 2 in the order of time, at 7: 'nobody' leaves, but is not in the overlay" in err
    assert not (tmp_path / "o").exists()


def test_times_out_of_order_are_sorted_and_a_torn_line_is_told_of(run, overlay, tmp_path):
    events = [mw.Event(5, "leave", "n02"), mw.Event(3, "leave", "n01"), mw.Event(3, "leave", "n00")]
    file = write_lines(tmp_path / "e.jsonl", events, '{"at": 9, "event": "lea')
    code, out, _ = run(overlay, "--events", file, "--out", tmp_path / "o")
    assert code == 0
    assert "2 events came out of order" in out
    assert "1 last line was unfinished, and was left out" in out
    causes = [row["cause"] for row in table(tmp_path / "o", "repairs")]
    assert causes == ["start", "leave n01", "leave n00", "leave n02"]


def test_together_makes_one_repair_of_events_of_equal_times(run, overlay, tmp_path):
    events = [mw.Event(1, "leave", "n02"), mw.Event(1, "leave", "n01"), mw.Event(2, "leave", "n00")]
    file = write_lines(tmp_path / "e.jsonl", events)
    run(overlay, "--events", file, "--together", "--out", tmp_path / "o")
    repairs = table(tmp_path / "o", "repairs")
    assert [(row["revision"], row["events"]) for row in repairs] == [(0, 0), (2, 2), (3, 1)]


def test_sessions_are_events_too(run, overlay, tmp_path):
    (tmp_path / "s.csv").write_text("node,first_snapshot,last_snapshot\nn00,0,0\nx,0,1\ny,1,2\n")
    (tmp_path / "t.csv").write_text("snapshot,unix_time\n0,100\n1,130\n2,170\n")
    words = ("--sessions", tmp_path / "s.csv", "--snapshots", tmp_path / "t.csv")
    code, _, _ = run(overlay, *words, "--out", tmp_path / "o")
    assert code == 0
    repairs = table(tmp_path / "o", "repairs")
    assert [(row["at"], row["cause"]) for row in repairs[1:]] == [
        (100, "join x"),
        (130, "leave n00"),
        (130, "join y"),
        (170, "leave x"),
    ]


def test_the_page_shows_the_policies_side_by_side(run, overlay, tmp_path):
    words = ("--rounds", 8, "--report", tmp_path / "churn.html", "--compare", "naive", "--compare", "rebuild")
    assert run(overlay, *words, "--out", tmp_path / "o")[0] == 0
    page = (tmp_path / "churn.html").read_text()
    assert page.count("<svg") == 4
    assert ">rounds<" in page
    for policy in ("shadow", "naive", "rebuild"):
        assert f"{policy}, leave" in page


def test_a_journal_of_another_overlay_is_refused_and_nothing_is_written(run, overlay, tmp_path):
    run(overlay, "--rounds", 2, "--journal", tmp_path / "j", "--out", tmp_path / "o")
    other = tmp_path / "other"
    mw.build(mw.workloads.unif(20, 5, subscriptions=2, seed=2), "low-oda").write(other)
    code, _, err = run(other, "--rounds", 2, "--journal", tmp_path / "j", "--out", tmp_path / "p")
    assert code == 2
    assert "is the journal of another overlay" in err
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "give exactly one of --events PATH, --rounds N"),
        (("--rounds", 2, "--events", "x.jsonl"), "give exactly one of"),
        (("--rounds", 2, "--snapshots", "x.csv"), "--snapshots gives the times for --sessions"),
        (("--rounds", 2, "--policy", "best"), "choose among shadow, naive, rebuild"),
        (("--rounds", 2, "--compare", "naive"), "give --report FILE as well"),
        (("--rounds", 2, "--report", "x.html", "--compare", "best"), "choose among shadow"),
        (("--rounds", 2, "--set", "coverage=0"), "coverage is 0"),
        (("--rounds", 2, "--set", "policy=naive"), "there is no option 'policy' to --set"),
        (("--rounds", 2, "--sync", "sometimes"), "always, never, or a number of milliseconds"),
        (
            ("--rounds", 2, "--sync", "never"),
            "--sync has no effect without a journal; give --journal DIR as well",
        ),
        (("--rounds", 2, "--compact-after", 9), "--compact-after has no effect without a journal"),
        (("--rounds", 2, "--journal", "j", "--compact-after", 0), "--compact-after is 0"),
        (("--stream", ".", "--sync", "never"), "--sync can't be used with --stream"),
        (("--stream", ".", "--force"), "--force can't be used with --stream"),
        (("--rounds", -2), "rounds is -2"),
        (("--events", "nothing.jsonl"), "there is no such file"),
        (("--rounds", 2, "--once"), "--once can't be used with --events, --rounds or --sessions"),
        (("--stream", ".", "--rounds", 2), "--rounds can't be used with --stream"),
        (("--stream", ".", "--report", "x.html"), "--report can't be used with --stream"),
        (("--stream", "nothing"), "give a folder in which files of events appear"),
        (("--stream", ".", "--every", 0), "give a number of seconds above 0"),
        (("--stream", ".", "--every", "nan"), "give a number of seconds above 0"),
        (("--stream", ".", "--every", "inf"), "give a number of seconds above 0"),
        (("--stream", ".", "--compact-after", 0), "--compact-after is 0"),
        (("--rounds", 2, "--report", "no/such/folder/x.html"), "is not a folder; create it"),
        (
            ("--rounds", 2, "--report", "x.html", "--compare", "shadow"),
            "--compare and --policy both name shadow",
        ),
        (("--rounds", 2, "--sync", "٣", "--journal", "j"), "always, never, or a number of milliseconds"),
        (("--rounds", 2, "--set", f"coverage={2**31}"), "coverage is 2147483648"),
        (("--stream", ".", "--files-a-batch", 0), "give a whole number of at least 1"),
    ],
)
def test_a_wrong_call_is_one_line(run, overlay, tmp_path, words, message):
    code, out, err = run(overlay, *words, "--out", tmp_path / "o")
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert not (tmp_path / "o").exists()


def test_interests_without_an_overlay_are_refused(run, tmp_path):
    mw.workloads.unif(5, 3, subscriptions=1).write(tmp_path / "w")
    code, _, err = run(tmp_path / "w", "--rounds", 1, "--out", tmp_path / "o")
    assert code == 2
    assert "contains interests, not an overlay; give a dataset with an overlay" in err


def test_more_events_than_a_journal_remembers_are_refused(run, overlay, tmp_path):
    words = (overlay, "--rounds", 9, "--journal", tmp_path / "j", "--out", tmp_path / "out")
    code, _, err = run(*words, "--set", "remember=8")
    assert code == 2
    assert "a batch has 9 events, but the journal remembers only 8 event ids" in err
    assert not (tmp_path / "j").exists()
    assert "give remember=9 or more" in err
    assert run(*words, "--set", "remember=9")[0] == 0
    assert run(*words[:3], *words[5:], "--set", "remember=8", "--force")[0] == 0


def test_an_interrupt_says_that_a_journal_goes_on(run, overlay, tmp_path, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("meshwright.pipeline.churn.churn_here", interrupt)
    words = (overlay, "--rounds", 9, "--out", tmp_path / "out")
    code, _, err = run(*words, "--journal", tmp_path / "j")
    assert code == 130
    assert "the same command continues" in err
    assert "the same command continues" not in run(*words)[2]


def test_a_page_that_is_there_is_overwritten_by_force_alone(run, overlay, tmp_path):
    page = tmp_path / "page.html"
    words = (overlay, "--rounds", 2, "--report", page, "--out", tmp_path / "out")
    page.write_text("precious")
    for more, said in (
        ((), "already exists"),
        (("--force",), "is in the way, and Meshwright may not remove it"),
    ):
        code, _, err = run(*words, *more)
        assert code == 2
        assert f"page.html {said}" in err
        assert page.read_text() == "precious"
    page.unlink()
    for more in ((), ("--force",)):
        assert run(*words, *more)[0] == 0
        assert "<html" in page.read_text()


def test_a_journal_is_not_the_dataset(run, overlay, tmp_path):
    code, _, err = run(overlay, "--rounds", 2, "--journal", tmp_path / "o", "--out", tmp_path / "o")
    assert code == 2
    assert "can't be both the journal and the dataset" in err
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize("backups", ["greedy", "primal-dual"])
def test_backups_end_where_nobody_is_left(run, overlay, tmp_path, backups):
    words = ("--set", f"coverage={2**31 - 1}", "--set", f"backups={backups}")
    assert run(overlay, "--rounds", 2, *words, "--out", tmp_path / "o")[0] == 0


def test_a_line_too_deep_to_read_is_named(run, overlay, tmp_path):
    (tmp_path / "deep.jsonl").write_text("[" * 200_000 + "\n")
    code, _, err = run(overlay, "--events", tmp_path / "deep.jsonl", "--out", tmp_path / "out")
    assert (code, err.count("\n")) == (2, 1)
    assert "line 1 is not JSON" in err


def test_a_journal_that_lost_steps_is_refused_and_goes_on_with_accept_loss(run, overlay, tmp_path):
    words = (overlay, "--rounds", 6, "--journal", tmp_path / "j")
    run(*words, "--out", tmp_path / "whole")
    log = next((tmp_path / "j").glob("*.log"))
    os.truncate(log, log.read_bytes()[:-1].rindex(b"\n") + 1)
    code, _, err = run(*words, "--out", tmp_path / "out")
    assert code == 2
    assert "revision 6 to 6 (1 step) is missing" in err
    assert "--accept-loss" in err
    code, out, err = run(*words, "--out", tmp_path / "out", "--accept-loss", "--json")
    assert code == 0
    assert "meshwright: " in err
    assert "the journal continues all the same, and its old files are kept in" in err
    recovery = json.loads(out)["recovery"]
    assert (recovery["steps"], recovery["lost"]["left"], recovery["lost"]["last"]) == (5, 5, 6)
    assert links(mw.Overlay.read(tmp_path / "out")) == links(mw.Overlay.read(tmp_path / "whole"))


def test_a_record_that_was_cut_off_is_told_of(run, overlay, tmp_path):
    words = (overlay, "--rounds", 6, "--journal", tmp_path / "j")
    run(*words, "--out", tmp_path / "whole")
    with next((tmp_path / "j").glob("*.log")).open("ab") as log:
        log.write(b"12345678 {")
    code, _, err = run(*words, "--out", tmp_path / "out")
    assert code == 0
    assert "the last record, of 10 bytes, was cut off" in err


@pytest.fixture(scope="module")
def places(overlay, tmp_path_factory):
    """The places of the overlay's nodes, and of 20 that are not there yet."""
    path = tmp_path_factory.mktemp("places") / "places.csv"
    names = [*mw.Overlay.read(overlay).interests.nodes.to_pylist(), *(f"spare{at}" for at in range(20))]
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.uniform(-60, 60, (len(names), 2)), columns=["lat", "lon"])
    frame.assign(node=names).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def priced(overlay, places, tmp_path_factory):
    """The overlay with a column of costs, and without most links, so that topics are not connected."""
    path = tmp_path_factory.mktemp("priced") / "overlay"
    start = mw.Overlay.read(overlay)
    ends = sorted(links(start))[::3]
    mw.Overlay.from_edges(start.interests, ends, np.arange(1, len(ends) + 1)).write(path)
    return path


def costs_by_link(folder):
    edges = pq.read_table(folder / "edges").to_pandas()
    return {(row.source, row.target): row.cost for row in edges.itertuples()}


@pytest.mark.parametrize("policy", ["shadow", "naive", "rebuild"])
def test_the_numbers_of_costs_agree_with_the_tables_and_kept_links_keep_theirs(
    run, priced, places, tmp_path, policy
):
    words = ("--places", places, "--base", 5, "--rounds", 25, "--policy", policy, "--json")
    code, out, err = run(priced, *words, "--out", tmp_path / "o")
    assert (code, err) == (0, "")
    facts = json.loads(out)["facts"]
    before, after = costs_by_link(priced), costs_by_link(tmp_path / "o")
    assert facts["cost"] == pytest.approx(sum(after.values()))
    changes = pd.read_parquet(tmp_path / "o" / "changes")
    prices = dict(before)
    for row in changes.itertuples():
        link = (row.source, row.target)
        if row.action == "open":
            prices[link] = row.cost
        else:
            assert prices.pop(link) == row.cost
    assert prices == after
    for step, rows in (
        ("start", changes[changes.step == "start"]),
        ("events", changes[changes.step == "events"]),
    ):
        for action, kind in (("open", "opened"), ("close", "closed")):
            own = rows[rows.action == action]
            assert facts["changes"][step][kind] == len(own)
            assert facts["changes"][step][f"{kind}_cost"] == pytest.approx(own.cost.sum())
    assert set(changes.step) == {"start", "events"}
    assert set(changes[changes.step == "start"].cause) == {"start"}
    assert facts["opened"] == sum(own["opened"] for own in facts["changes"].values())
    repairs = pd.read_parquet(tmp_path / "o" / "repairs")
    assert repairs.cost.iloc[-1] == pytest.approx(facts["cost"])
    assert facts["rejected"] == 0
    assert mw.evaluate(mw.Overlay.read(tmp_path / "o")).topic_connected


def test_what_the_start_opens_is_printed_apart_from_events(run, priced, places, tmp_path):
    words = ("--places", places, "--base", 5, "--rounds", 10)
    code, out, err = run(priced, *words, "--out", tmp_path / "o", "--report", tmp_path / "page.html")
    assert (code, err) == (0, "")
    changes = pd.read_parquet(tmp_path / "o" / "changes")
    told = {line.split("  ")[0].strip(): line for line in out.splitlines()}
    start = (changes.step == "start").sum()
    assert f" {start} " in told["at the start, to connect topics"]
    opened = ((changes.step == "events") & (changes.action == "open")).sum()
    assert f" {opened} " in told["by events"]
    assert " at a cost of " in out
    page = (tmp_path / "page.html").read_text()
    assert "shadow, at the start" in page
    assert "The cost of all links at the start, and after each repair" in page
    assert "links opened at the start, to connect topics" in page


def test_a_column_of_costs_is_never_dropped_in_silence(run, priced, tmp_path):
    code, _, err = run(priced, "--rounds", 3, "--out", tmp_path / "o")
    assert code == 2
    assert "--costs FILE" in err
    assert "--no-costs" in err
    assert not (tmp_path / "o").exists()
    code, out, err = run(priced, "--rounds", 3, "--no-costs", "--out", tmp_path / "o")
    assert (code, err) == (0, "")
    assert "The cost column was dropped" in out
    assert "cost" not in pq.read_table(tmp_path / "o" / "edges").column_names
    code, out, _ = run(priced, "--rounds", 3, "--no-costs", "--out", tmp_path / "p", "--json")
    assert json.loads(out)["facts"]["costs_dropped"] is True


def test_an_overlay_that_was_built_with_costs_keeps_them_without_further_words(run, priced, places, tmp_path):
    costs = mw.Costs.coordinates(places, base=5)
    mw.build(mw.Overlay.read(priced).interests, "gr-maw", costs=costs).write(tmp_path / "built")
    code, out, _ = run(tmp_path / "built", "--rounds", 20, "--out", tmp_path / "o", "--json")
    assert code == 0
    assert json.loads(out)["facts"]["rejected"] == 0
    code, out, _ = run(tmp_path / "o", "--rounds", 20, "--out", tmp_path / "p", "--json")
    assert json.loads(out)["facts"]["cost"] == pytest.approx(sum(costs_by_link(tmp_path / "p").values()))


def test_a_journal_goes_on_with_the_same_costs_only(run, priced, places, tmp_path):
    words = (priced, "--rounds", 8, "--journal", tmp_path / "j", "--places", places)
    assert run(*words, "--base", 5, "--out", tmp_path / "a")[0] == 0
    code, _, err = run(*words, "--base", 6, "--out", tmp_path / "b")
    assert code == 2
    assert "begun with other costs" in err
    assert run(*words, "--base", 5, "--out", tmp_path / "b")[0] == 0
    assert costs_by_link(tmp_path / "a") == costs_by_link(tmp_path / "b")
    assert table(tmp_path / "a", "changes") == table(tmp_path / "b", "changes")


def test_a_node_without_costs_is_rejected_with_the_reason(run, priced, places, tmp_path):
    events = write_lines(
        tmp_path / "e.jsonl", [mw.Event(1, "join", "nobody", ("t01",)), mw.Event(2, "join", "spare0")]
    )
    words = (priced, "--events", events, "--places", places, "--base", 5)
    code, out, _ = run(*words, "--out", tmp_path / "o", "--json")
    assert code == 0
    assert json.loads(out)["facts"]["rejected"] == 1
    assert "is not among the 80 nodes that have costs" in table(tmp_path / "o", "rejected")[0]["reason"]
    code, _, err = run(*words, "--strict", "--out", tmp_path / "p")
    assert code == 2
    assert "'nobody' can't join" in err


def test_costs_are_given_or_dropped_but_not_both(run, priced, places, tmp_path):
    words = ("--rounds", 3, "--places", places, "--base", 5)
    code, _, err = run(priced, *words, "--no-costs", "--out", tmp_path / "o")
    assert code == 2
    assert "--no-costs can't be used with" in err
    code, _, err = run(priced, "--rounds", 3, "--costs", tmp_path / "nowhere.csv", "--out", tmp_path / "o")
    assert code == 2
    assert "nowhere.csv: there is no such file" in err


def test_missing_spares_and_nodes_over_their_cap_are_counted_and_named(run, tmp_path):
    mw.Overlay.from_edges(
        mw.Interests.from_pairs([(node, "t") for node in "abcd"]), [("a", "b"), ("b", "c"), ("c", "d")]
    ).write(tmp_path / "path")
    events = [
        mw.Event(1, "leave", "a"),  # with a cap of 1, two of three have links enough for none
        mw.Event(2, "leave", "b"),
        mw.Event(3, "join", "b", ("t",)),
    ]
    file = write_lines(tmp_path / "e.jsonl", events)
    how = ("--events", file, "--set", "resilience=2", "--set", "max_links=1", "--out", tmp_path / "o")
    code, out, _ = run(tmp_path / "path", *how)
    assert code == 0
    assert "After 2 of 3 repairs, at most 1 in a row, the failure of some node would have cut a topic" in out
    assert "After 2 of 3 repairs, at most 1 in a row, a node had too many; at the end: '" in out
    rows = table(tmp_path / "o", "repairs")
    assert [row["unprotected"] for row in rows] == [1, 1, 0, 1]
    assert [min(row["over_max_links"], 1) for row in rows] == [1, 1, 0, 1]
    facts = mw.Overlay.read(tmp_path / "o").facts
    assert facts["unprotected"] == {
        "repairs": 2,
        "of": 3,
        "most_in_a_row": 1,
        "at_the_end": 1,
        "names": ["t"],
    }
    code, out, _ = run(
        tmp_path / "path", *how[:4], "--out", tmp_path / "all", "--report", tmp_path / "p.html"
    )
    assert "all topics of three or more would survive the failure of any one node" in out
    assert "max_links" not in out
    assert "Topics without a spare at the start" in (tmp_path / "p.html").read_text()


def test_caps_of_the_column_are_kept_and_a_journal_continues_with_them(run, tmp_path):
    interests = mw.Interests.from_pairs([(node, "t") for node in "abcdefg"])
    limits = pa.table({"max_links": pa.array([3] * 6 + [None], pa.int32())})
    mw.build(replace(interests, node_attributes=limits), "gm").write(tmp_path / "o")
    how = ("--rounds", 8, "--set", "resilience=2", "--set", "max_links=column", "--journal", tmp_path / "j")
    for out in ("first", "again"):
        code, told, _ = run(tmp_path / "o", *how, "--out", tmp_path / out)
        assert (code, "After every repair, no node had more links than max_links" in told) == (0, True)
    assert (tmp_path / "first/changes.csv").read_text() == (tmp_path / "again/changes.csv").read_text()
