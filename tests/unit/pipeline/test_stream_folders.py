"""The folders of a stream, without Spark."""

import os
import shutil
import warnings

import pytest

import meshwright as mw
from meshwright.maintain.journal.recording import Recording
from meshwright.maintain.prices import Start
from meshwright.pipeline.stream import job
from meshwright.pipeline.stream.folders import CHECKPOINT, bind, finish
from meshwright.pipeline.stream.job import StreamPlan
from tests.unit.maintain.journals import costs_for, events_for, small_overlay


@pytest.fixture
def plan(tmp_path):
    return StreamPlan(source=tmp_path / "in", out=tmp_path / "out", journal=tmp_path / "j")


def test_a_stream_whose_journal_lost_committed_steps_asks_for_their_events_again(plan):
    overlay = small_overlay()
    with mw.Journal(plan.journal, overlay, sync="never", follower=Recording(plan.out)) as journal:
        journal.live.join("new")
        journal.settle()
    os.truncate(plan.journal / "00000000.log", 0)
    with pytest.raises(mw.DatasetError, match=r"revision 1 to 1 .* into the stream once more"):
        job._journal(plan, Start(overlay, None), None)
    accepting = StreamPlan(source=plan.source, out=plan.out, journal=plan.journal, accept_loss=True)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        job._journal(accepting, Start(overlay, None), None).close()
    assert "once more" in str(told[-1].message)


def test_a_checkpoint_without_its_journal_is_no_new_stream(plan):
    bind(plan.journal, "in")
    bind(plan.journal, "in")  # killed before there was a journal
    (plan.journal / CHECKPOINT / "offsets").mkdir()
    with pytest.raises(mw.DatasetError, match="but the files of the journal are missing"):
        bind(plan.journal, "in")
    bind(plan.journal, "in", accept_loss=True)
    shutil.rmtree(plan.journal / CHECKPOINT)
    with pytest.raises(mw.DatasetError, match=r"checkpoint, which records .*, is missing"):
        bind(plan.journal, "in", accept_loss=True)


def test_the_manifest_of_a_stream_tells_what_the_start_opened_apart_from_events_and_at_what_cost(plan):
    overlay = small_overlay()
    bare = mw.Overlay.from_edges(overlay.interests, [])
    events = events_for(overlay, 12)
    start = Start(bare, costs_for(overlay, events))
    with job._journal(plan, start, None) as journal:
        repairs = [journal.live.apply([event]) for event in events]
        journal.settle()
        live, begun = journal.live, journal.live.start
    facts = finish(plan.out, live, {}, {})["facts"]
    assert facts["changes"]["start"]["opened"] == len(begun.added) > 0
    assert facts["changes"]["start"]["opened_cost"] == pytest.approx(sum(begun.added_costs))
    assert facts["changes"]["events"]["closed"] == sum(len(repair.removed) for repair in repairs)
    saved = sum(sum(repair.removed_costs) for repair in repairs)
    assert facts["changes"]["events"]["closed_cost"] == pytest.approx(saved)
    assert facts["cost"] == pytest.approx(live.overlay.costs.sum())
    assert mw.Overlay.read(plan.out / "overlay").costs.tolist() == live.overlay.costs.tolist()
    with job._journal(plan, start, None) as journal:
        assert journal.live.revision == len(events)
