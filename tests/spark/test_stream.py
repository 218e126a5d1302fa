"""Files of events that appear in a folder, followed with Structured Streaming."""

import json
import os
import shutil
import signal
import sys
import threading
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import meshwright as mw
from meshwright.cli import churn as streaming
from meshwright.cli import main
from meshwright.model.events import as_line, write_events
from meshwright.pipeline.stream import batches
from meshwright.pipeline.stream.job import StreamPlan, follow
from tests.patience import PATIENCE
from tests.unit.maintain.journals import events_for, filtered_overlay


@pytest.fixture(scope="module")
def overlay(tmp_path_factory):
    path = tmp_path_factory.mktemp("stream") / "overlay"
    mw.build(mw.workloads.unif(40, 8, min_subscriptions=1, max_subscriptions=4, seed=1), "low-oda").write(
        path
    )
    return path


@pytest.fixture(scope="module")
def events(overlay):
    return mw.workloads.churn(mw.Overlay.read(overlay).interests, 24, seed=2)


@pytest.fixture
def plan(tmp_path):
    (tmp_path / "in").mkdir()
    return StreamPlan(
        source=tmp_path / "in", out=tmp_path / "out", journal=tmp_path / "j", once=True, files_a_batch=2
    )


def arrive(plan, events, start=0):
    """Files of four events each, in turns of both kinds, each later than the one before."""
    for at in range(0, len(events), 4):
        kind = "parquet" if at % 8 else "jsonl"
        hidden = plan.source / f".{start + at:03d}.{kind}"
        write_events(events[at : at + 4], hidden)
        os.utime(hidden, (1_000_000 + start + at,) * 2)
        hidden.rename(plan.source / hidden.name.removeprefix("."))


def rows(folder, name):
    return pq.read_table(folder / name, partitioning=None).sort_by("revision").to_pylist()


def links(overlay):
    names = overlay.interests.nodes.to_pylist()
    return {(names[u], names[v]) for u, v in overlay.edges.tolist()}


def assert_as_if_never_stopped(plan, dataset, events):
    """The same overlay as that of a maintainer that nobody ever stopped; each change is there once."""
    live = mw.Maintainer(mw.Overlay.read(dataset))
    found = [live.apply([event]) for event in events]
    result = mw.Overlay.read(plan.out / "overlay")
    assert links(result) == links(live.overlay)
    assert result.interests == live.overlay.interests
    assert [row["revision"] for row in rows(plan.out, "repairs")] == list(range(len(events) + 1))
    expected = [
        (repair.revision, action, *link)
        for repair in found
        for action, changed in (("open", repair.added), ("close", repair.removed))
        for link in changed
    ]
    changes = rows(plan.out, "changes")
    assert [(row["revision"], row["action"], row["source"], row["target"]) for row in changes] == expected


def committed(plan) -> list[Path]:
    return sorted((plan.journal / "checkpoint" / "commits").glob("[0-9]*"), key=lambda path: int(path.name))


def forget_last_commit(plan) -> None:
    """As if the process had been killed just before it."""
    last = committed(plan)[-1]
    last.unlink()
    last.with_name(f".{last.name}.crc").unlink(missing_ok=True)


def test_files_that_arrive_are_applied_in_order_and_only_once(spark, overlay, events, plan):
    told = []
    arrive(plan, events[:12])
    (plan.source / ".hidden.jsonl").write_text("not yet")
    follow(spark, overlay, plan, told.append)
    arrive(plan, events[12:], 100)
    manifest = follow(spark, overlay, plan, told.append)
    assert [report.files for report in told] == [2, 1, 2, 1]
    assert [report.events for report in told] == [8, 4, 8, 4]
    assert all(report.repeated == report.rejected == 0 and report.lag_seconds >= 0 for report in told)
    assert told[-1].revision == 24
    assert sum(report.opened + report.closed for report in told) == manifest["tables"]["changes"]
    assert len(list((plan.out / "changes").glob("*.parquet"))) == 5  # of the start, and of each micro-batch
    assert_as_if_never_stopped(plan, overlay, events)


def test_events_on_filters_that_arrive_are_applied_only_once(spark, plan, tmp_path):
    overlay = filtered_overlay()
    overlay.write(tmp_path / "overlay")
    events = events_for(overlay, 16)
    arrive(plan, events[:8])
    follow(spark, tmp_path / "overlay", plan, lambda report: None)
    forget_last_commit(plan)
    arrive(plan, events[8:], 100)
    follow(spark, tmp_path / "overlay", plan, lambda report: None)
    assert_as_if_never_stopped(plan, tmp_path / "overlay", events)


def test_a_batch_that_was_applied_and_not_committed_changes_nothing_when_it_comes_again(
    spark, overlay, events, plan
):
    told = []
    arrive(plan, events)
    follow(spark, overlay, plan, told.append)
    before = {path.name: path.read_bytes() for path in (plan.out / "changes").iterdir()}
    forget_last_commit(plan)
    follow(spark, overlay, plan, told.append)
    assert (told[-1].batch, told[-1].events, told[-1].repeated) == (2, 0, 8)
    assert {path.name: path.read_bytes() for path in (plan.out / "changes").iterdir()} == before
    assert_as_if_never_stopped(plan, overlay, events)


def test_a_batch_that_was_handed_out_and_cut_off_is_applied_to_its_end(
    spark, overlay, events, plan, monkeypatch
):
    arrive(plan, events)
    with monkeypatch.context() as patch:
        patch.setattr(batches.Journal, "settle", _fails_at_call(3, batches.Journal.settle))
        left = iter(range(8 + 3))  # all of the first batch, and three events of the second
        original = mw.Maintainer.apply

        def apply(live, *args, **more):
            if next(left, None) is None:
                raise mw.DatasetError("the disk is full")
            return original(live, *args, **more)

        patch.setattr(mw.Maintainer, "apply", apply)
        # It applies events too.
        patch.setattr("meshwright.pipeline.stream.job.rehearse", lambda *_, **__: None)
        with pytest.raises(mw.DatasetError, match="full"):
            follow(spark, overlay, plan, lambda _: None)
    assert len(committed(plan)) == 1
    follow(spark, overlay, plan, lambda _: None)
    assert_as_if_never_stopped(plan, overlay, events)


def _fails_at_call(number, original):
    """The first settles of the start and of the first batch are good; that of the second is not."""
    calls = iter(range(1, number))

    def settle(journal):
        if next(calls, None) is None:
            raise mw.DatasetError("the disk is full")
        original(journal)

    return settle


def test_a_file_that_comes_late_with_an_old_time_is_applied_when_it_comes(spark, overlay, events, plan):
    told = []
    for at, (name, days) in enumerate([("b.jsonl", 30), ("a.jsonl", 0)]):
        write_events(events[4 * at : 4 * at + 4], plan.source / name)
        os.utime(plan.source / name, (86_400 * (100 + days),) * 2)
        follow(spark, overlay, plan, told.append)
    assert [report.events for report in told] == [4, 4]
    assert_as_if_never_stopped(plan, overlay, events[:8])


def test_what_is_no_event_or_cannot_be_applied_is_put_aside_once(spark, overlay, plan):
    good = as_line(mw.Event(1, "leave", "n01"))
    lines = [good, "{", '{"at": 1}', as_line(mw.Event(2, "leave", "nobody")), '{"at": 3, "event": "lea']
    (plan.source / "a.jsonl").write_text("\n".join(lines))
    (plan.source / "b:c.parquet").write_text("no Parquet")
    told = []
    follow(spark, overlay, plan, told.append)
    forget_last_commit(plan)
    follow(spark, overlay, plan, told.append)
    assert (told[0].events, told[0].rejected, told[1].events) == (1, 5, 0)
    rejected = pq.read_table(plan.out / "rejected", partitioning=None).to_pylist()
    reasons = sorted(row["reason"] for row in rejected)
    assert len(reasons) == 5
    for words in (
        "b:c.parquet",
        "not JSON",
        "has no 'event'",
        "not finished",
        "not a Parquet file of events",
        "'nobody' leaves",
    ):
        assert any(words in reason for reason in reasons)


def test_a_journal_of_another_stream_or_without_its_checkpoint_is_refused(spark, overlay, events, plan):
    arrive(plan, events[:4])
    follow(spark, overlay, plan, lambda _: None)
    other = plan.source.with_name("other")
    other.mkdir()
    with pytest.raises(mw.DatasetError, match="follows the stream"):
        follow(spark, overlay, replace(plan, source=other), lambda _: None)
    shutil.rmtree(plan.journal / "checkpoint")
    with pytest.raises(mw.DatasetError, match=r"checkpoint, which records .*, is missing"):
        follow(spark, overlay, plan, lambda _: None)


def test_folders_of_others_are_refused_and_stay_as_they_are(spark, overlay, events, plan):
    arrive(plan, events[:2])
    mw.Overlay.read(overlay).write(plan.out)
    before = sorted(plan.out.parent.rglob("*"))
    with pytest.raises(mw.DatasetError, match="changes"):
        follow(spark, overlay, plan, tell=print)
    with pytest.raises(mw.DatasetError, match="is not a journal"):
        follow(spark, overlay, replace(plan, out=plan.out / "new", journal=plan.out), tell=print)
    assert sorted(plan.out.parent.rglob("*")) == before


def test_the_command_tells_of_each_batch_and_of_the_end(spark, overlay, events, plan, monkeypatch, capsys):
    @contextmanager
    def same_session(*_, **__):
        yield spark

    monkeypatch.setattr(streaming, "spark_command", same_session)
    arrive(plan, events)
    for words in ((), ("--json",)):
        command = ["churn", overlay, "--stream", plan.source, "--once", "--out", plan.out, *words]
        monkeypatch.setattr(sys, "argv", ["meshwright", *map(str, command)])
        assert main() == 0
        out, err = capsys.readouterr()
        assert err == ""
        if words:
            assert json.loads(out)["counts"]["edges"] == len(mw.Overlay.read(plan.out / "overlay"))
        else:
            assert out.startswith("batch 0: 24 events of 6 files; ")
    assert (plan.out / "journal").is_dir()
    assert_as_if_never_stopped(plan, overlay, events)


def test_ctrl_c_lets_the_present_batch_end_and_leaves_everything_in_order(spark, overlay, events, plan):
    told = threading.Event()
    ending = threading.Thread(
        target=lambda: told.wait(PATIENCE) and os.kill(os.getpid(), signal.SIGINT), daemon=True
    )
    ending.start()
    arrive(plan, events[:8])
    endless = replace(plan, once=False, every=0.1)
    with pytest.raises(KeyboardInterrupt):
        follow(spark, overlay, endless, lambda report: told.set())
    ending.join()
    assert spark.streams.active == []
    assert json.loads((plan.out / "manifest.json").read_text())["kind"] == "changes"
    arrive(plan, events[8:], 100)
    follow(spark, overlay, plan, lambda _: None)
    assert_as_if_never_stopped(plan, overlay, events)
