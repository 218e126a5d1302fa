"""Micro-batches of a stream, without Spark: each event counts once, wherever a batch was cut off."""

import pytest

import meshwright as mw
from meshwright.maintain.journal.journal import Journal
from meshwright.maintain.journal.recording import Recording
from meshwright.model.events import as_line
from meshwright.pipeline.stream.batches import File, apply_batch
from meshwright.pipeline.stream.folders import prepare
from tests.unit.maintain.journals import costs_for


@pytest.fixture
def overlay():
    return mw.build(mw.workloads.unif(40, 8, min_subscriptions=1, max_subscriptions=4, seed=1), "low-oda")


@pytest.fixture
def batches(overlay):
    """Two batches of one file with eight events each."""
    events = mw.workloads.churn(overlay.interests, 16, seed=2)
    return [events[:8], events[8:]]


def applied(journal, out, batch, events):
    content = "".join(f"{as_line(event)}\n" for event in events).encode()
    return apply_batch(journal, out, batch, [File(f"file:/in/{batch}.jsonl", 0.0, content)], together=False)


@pytest.mark.parametrize("done", [0, 3, 8])
def test_a_batch_that_was_cut_off_is_applied_to_its_end_when_it_comes_again(
    overlay, batches, tmp_path, monkeypatch, done
):
    """Cut off before the first event, between two, and after the last but before changes are on disk."""
    out = tmp_path / "out"
    prepare(out)

    def journal():
        return Journal(tmp_path / "j", overlay, follower=Recording(out))

    with monkeypatch.context() as patch, journal() as live:
        applied(live, out, 0, batches[0])
        left, original = iter(range(done)), mw.Maintainer.apply

        def fail(*_):
            raise mw.DatasetError("the disk is full")

        def apply(maintainer, *args, **more):
            return original(maintainer, *args, **more) if next(left, None) is not None else fail()

        patch.setattr(mw.Maintainer, "apply", apply)
        patch.setattr(Journal, "settle", fail)
        with pytest.raises(mw.DatasetError, match="full"):
            applied(live, out, 1, batches[1])
    with journal() as live:
        report = applied(live, out, 1, batches[1])
        assert (report.events, report.repeated) == (8 - done, done)
        assert applied(live, out, 1, batches[1]).repeated == 8
        never_stopped = mw.Maintainer(overlay)
        for event in [*batches[0], *batches[1]]:
            never_stopped.apply([event])
        assert live.live.overlay == never_stopped.overlay


def test_a_batch_tells_what_its_links_cost(overlay, batches, tmp_path):
    costs = costs_for(overlay, [event for batch in batches for event in batch])
    prepare(tmp_path / "out")
    with Journal(tmp_path / "j", overlay, costs=costs, follower=Recording(tmp_path / "out")) as journal:
        before = journal.live.cost
        report = applied(journal, tmp_path / "out", 0, batches[0])
    assert report.opened_cost > 0 < report.closed_cost
    assert report.cost == pytest.approx(before + report.opened_cost - report.closed_cost)
    assert report.cost == pytest.approx(journal.live.overlay.costs.sum())


def test_a_batch_without_costs_tells_none(overlay, batches, tmp_path):
    prepare(tmp_path / "out")
    with Journal(tmp_path / "j", overlay, follower=Recording(tmp_path / "out")) as journal:
        report = applied(journal, tmp_path / "out", 0, batches[0])
    assert (report.opened_cost, report.closed_cost, report.cost) == (None, None, None)
    assert (report.unprotected, report.over_max_links) == (None, None)


def test_a_batch_tells_who_lacks_spares_and_who_has_too_many_links(overlay, batches, tmp_path):
    prepare(tmp_path / "out")
    how = {"resilience": 2, "max_links": 1, "follower": Recording(tmp_path / "out")}
    with Journal(tmp_path / "j", overlay, **how) as journal:
        report = applied(journal, tmp_path / "out", 0, batches[0])
    assert report.unprotected == len(journal.live.unprotected) > 0
    assert report.over_max_links == len(journal.live.over_max_links) > 0
