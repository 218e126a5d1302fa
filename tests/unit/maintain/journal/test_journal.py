import os

import pytest

import meshwright as mw
from meshwright.maintain.journal import journal as journal_module
from meshwright.maintain.journal.sealed_lines import sealed, unsealed
from tests.patience import PATIENCE
from tests.unit.maintain.journals import (
    copied,
    events_for,
    log_of,
    no_file_longer_than,
    small_overlay,
    state_after,
)


@pytest.fixture(scope="module")
def overlay():
    return small_overlay()


@pytest.fixture(scope="module")
def events(overlay):
    return events_for(overlay, 30)


def reopened(folder, **options) -> bytes:
    with mw.Journal(folder, **options) as journal:
        return journal.live.snapshot()


@pytest.mark.parametrize("policy", ["shadow", "naive", "rebuild"])
def test_a_journal_comes_back_to_where_it_was(tmp_path, overlay, events, policy):
    with mw.Journal(tmp_path / "j", overlay, policy=policy, seed=3) as journal:
        for event in events:
            journal.live.apply([event])
        before = journal.live.snapshot()
    assert reopened(tmp_path / "j") == before == state_after(overlay, events, policy=policy, seed=3)


def test_what_goes_on_after_a_restart_is_what_would_have_gone_on_without(tmp_path, overlay, events):
    for start in range(0, len(events), 7):
        with mw.Journal(tmp_path / "j", overlay, compact_after=10) as journal:
            for event in events[start : start + 7]:
                journal.live.apply([event])
    assert reopened(tmp_path / "j") == state_after(overlay, events)


def test_batches_relinks_and_refused_events_are_replayed(tmp_path, overlay, events):
    with mw.Journal(tmp_path / "j", overlay) as journal:
        live = journal.live
        live.apply(events[:10])
        with pytest.raises(mw.InputError):
            live.leave("nobody")
        names = live.overlay.interests.nodes.to_pylist()
        links = [(names[u], names[v]) for u, v in live.overlay.edges.tolist()]
        assert live.relink((), links, most_removed=3).revision == 11
        live.join("last", ["ключ"])
        bad = [mw.Event(0, "leave", "nobody", (), "bad"), mw.Event(0, "join", "late", (), "good")]
        assert [refusal.event for refusal in live.apply(bad, lenient=True).refused] == bad[:1]
        assert live.apply(bad[:1], lenient=True).repeated == 1
        before = live.snapshot()
    assert reopened(tmp_path / "j") == before


def test_a_record_that_was_cut_off_before_it_was_acknowledged_is_left_out(tmp_path, overlay, events):
    with mw.Journal(tmp_path / "j", overlay) as journal:
        journal.live.apply([events[0]])
        before, whole = journal.live.snapshot(), log_of(tmp_path / "j").stat().st_size
        acknowledged = (tmp_path / "j" / "head").read_bytes()
        journal.live.apply([events[1]])
        after = journal.live.snapshot()
    (tmp_path / "j" / "head").write_bytes(acknowledged)
    size = log_of(tmp_path / "j").stat().st_size
    for cut in (whole, whole + 1, whole + 20, size - 1, size):
        os.truncate(log_of(copied(tmp_path / "j", tmp_path / "cut")), cut)
        with mw.Journal(tmp_path / "cut") as journal:
            assert journal.live.snapshot() == (after if cut == size else before)
            assert journal.recovery.torn == (0 if cut == size else cut - whole)
            journal.live.apply([events[1]])
        assert reopened(tmp_path / "cut") == after


def test_every_cut_of_a_compaction_gives_the_same_state(tmp_path, overlay, events, monkeypatch):
    """Whatever a compaction has done when it is killed, opening the journal finds the same."""
    with mw.Journal(tmp_path / "j", overlay) as journal:
        for event in events:
            journal.live.apply([event])
    before = reopened(tmp_path / "j")
    calls = ["sync_names", "write_snapshot", "remove_others"]
    for name in calls:
        for happens_first in (True, False):
            folder = copied(tmp_path / "j", tmp_path / "k")
            original = getattr(journal_module.files, name)

            def killed(*args, original=original, happens_first=happens_first):
                if happens_first:
                    original(*args)
                raise KeyboardInterrupt

            journal = mw.Journal(folder)
            with monkeypatch.context() as patch:
                patch.setattr(journal_module.files, name, killed)
                with pytest.raises(KeyboardInterrupt):
                    journal.compact()
            journal.close()
            assert reopened(folder) == before
            assert len(list(folder.glob("*.snapshot"))) == 1
            assert len(list(folder.iterdir())) == 3


def test_a_half_written_snapshot_counts_for_nothing(tmp_path, overlay, events):
    with mw.Journal(tmp_path / "j", overlay) as journal:
        journal.live.apply(events[:5])
    before = reopened(tmp_path / "j")
    snapshot = next((tmp_path / "j").glob("*.snapshot"))
    (tmp_path / "j" / ".00000001.snapshot.partial").write_bytes(snapshot.read_bytes()[:1000])
    (tmp_path / "j" / "00000001.log").touch()
    assert reopened(tmp_path / "j") == before
    assert sorted(path.name for path in (tmp_path / "j").iterdir()) == [
        "00000000.log",
        "00000000.snapshot",
        "head",
    ]


def test_a_beginning_that_was_cut_off_is_begun_anew(tmp_path, overlay):
    (tmp_path / "j").mkdir()
    (tmp_path / "j" / "00000000.log").touch()
    (tmp_path / "j" / ".00000000.snapshot.partial").write_bytes(b'12ab34cd {"form')
    with mw.Journal(tmp_path / "j", overlay) as journal:
        assert journal.live.revision == 0


def test_keys_are_applied_once_across_restarts_and_compactions(tmp_path, overlay, events):
    for _ in range(3):
        with mw.Journal(tmp_path / "j", overlay, compact_after=4) as journal:
            repairs = [journal.live.apply([event]) for event in events[:9]]
            journal.compact()
    assert journal.live.revision == 9
    assert [repair.repeated for repair in repairs] == [1] * 9
    assert reopened(tmp_path / "j") == state_after(overlay, events[:9])


def test_the_log_makes_place_for_snapshots(tmp_path, overlay, events):
    with mw.Journal(tmp_path / "j", overlay, compact_after=4) as journal:
        for event in events[:10]:
            journal.live.apply([event])
        assert journal.generation == 2
        assert len(log_of(tmp_path / "j").read_bytes().splitlines()) == 2
        assert len(list((tmp_path / "j").iterdir())) == 3


def test_a_full_disk_is_an_error_that_changes_nothing_and_the_journal_goes_on(tmp_path, overlay, events):
    with mw.Journal(tmp_path / "j", overlay) as journal:
        live = journal.live
        for event in events[:5]:
            live.apply([event])
        before = live.snapshot()
        size = log_of(tmp_path / "j").stat().st_size
        for room in (0, 1, 20):
            with no_file_longer_than(size + room), pytest.raises(mw.DatasetError, match="free some space"):
                live.apply([events[5]])
            assert live.snapshot() == before
            assert reopened(copied(tmp_path / "j", tmp_path / "copy")) == before
        for event in events[5:]:
            live.apply([event])
    assert reopened(tmp_path / "j") == state_after(overlay, events)


def test_where_only_a_snapshot_has_no_room_steps_go_on(tmp_path, overlay, events):
    with mw.Journal(tmp_path / "j", overlay, compact_after=2) as journal:
        with no_file_longer_than(5_000):
            for event in events[:7]:
                journal.live.apply([event])
        assert journal.generation == 0
        for event in events[7:]:
            journal.live.apply([event])
        assert journal.generation > 0
    assert reopened(tmp_path / "j") == state_after(overlay, events)


def test_a_beginning_on_a_full_disk_leaves_nothing(tmp_path, overlay):
    with no_file_longer_than(500), pytest.raises(mw.DatasetError, match="free some space"):
        mw.Journal(tmp_path / "j", overlay)
    assert list((tmp_path / "j").iterdir()) == []


def test_a_sync_that_fails_acknowledges_nothing_and_the_next_step_is_safe(
    tmp_path, overlay, events, monkeypatch
):
    def fail(_):
        raise OSError(5, "Input/output error")

    with mw.Journal(tmp_path / "j", overlay) as journal:
        journal.live.apply([events[0]])
        before = journal.live.snapshot()
        with monkeypatch.context() as patch:
            patch.setattr(os, "fdatasync", fail)
            with pytest.raises(mw.DatasetError, match="Input/output error"):
                journal.live.apply([events[1]])
        assert journal.live.snapshot() == reopened(copied(tmp_path / "j", tmp_path / "copy")) == before
        journal.live.apply([events[1]])
        assert journal.generation == 1  # what is on disk is no longer a question
    assert reopened(tmp_path / "j") == state_after(overlay, events[:2])


@pytest.mark.parametrize("sync", ["always", "never", 5])
def test_every_sync_policy_survives_the_end_of_the_process(tmp_path, overlay, events, sync):
    journal = mw.Journal(tmp_path / "j", overlay, sync=sync)
    for event in events:
        journal.live.apply([event])
    copy = copied(tmp_path / "j", tmp_path / "copy")  # what a kill would leave
    journal.close()
    assert reopened(copy) == state_after(overlay, events)


def test_steps_are_synced_by_policy(tmp_path, overlay, events, monkeypatch):
    from threading import Event

    synced = Event()
    calls = []
    monkeypatch.setattr(os, "fdatasync", lambda file: (calls.append(file), synced.set()))
    with mw.Journal(tmp_path / "always", overlay) as journal:
        calls.clear()
        for event in events[:4]:
            journal.live.apply([event])
        assert len(calls) == 4
    with mw.Journal(tmp_path / "never", overlay, sync="never") as journal:
        calls.clear()
        for event in events[:4]:
            journal.live.apply([event])
        assert calls == []
    synced.clear()
    with mw.Journal(tmp_path / "some", overlay, sync=1) as journal:
        journal.live.apply([events[0]])
        assert synced.wait(PATIENCE)


@pytest.mark.parametrize("sync", ["sometimes", 0, -5, True, 2.5])
def test_an_unknown_sync_policy_is_refused(tmp_path, overlay, sync):
    with pytest.raises(mw.OptionError, match="always, never, or a number of milliseconds"):
        mw.Journal(tmp_path / "j", overlay, sync=sync)


def test_a_journal_of_another_overlay_or_with_other_options_is_refused(tmp_path, overlay):
    mw.Journal(tmp_path / "j", overlay, seed=1, coverage=2).close()
    with pytest.raises(mw.DatasetError, match="journal of another overlay, which had 40 nodes"):
        mw.Journal(tmp_path / "j", small_overlay(2), seed=1, coverage=2)
    with pytest.raises(mw.DatasetError, match="journal with seed=1, but seed=0 was given"):
        mw.Journal(tmp_path / "j", overlay, coverage=2)
    with pytest.raises(mw.DatasetError, match="journal with coverage=2, but coverage=3 was given"):
        mw.Journal(tmp_path / "j", overlay, seed=1)
    with pytest.raises(mw.DatasetError, match="journal with policy='shadow', but policy='naive' was given"):
        mw.Journal(tmp_path / "j", seed=1, policy="naive")
    mw.Journal(tmp_path / "j", overlay, seed=1, coverage=2).close()


def test_a_folder_without_a_journal_needs_an_overlay(tmp_path):
    with pytest.raises(mw.InputError, match="holds no journal; give an overlay"):
        mw.Journal(tmp_path / "j")


def test_a_folder_of_other_files_is_left_alone(tmp_path, overlay):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(mw.DatasetError, match=r"is not a journal and already holds notes.txt"):
        mw.Journal(tmp_path, overlay)


def test_a_log_without_its_snapshot_is_no_new_journal(tmp_path, overlay, events):
    with mw.Journal(tmp_path / "j", overlay) as journal:
        journal.live.apply(events[:2])
    next((tmp_path / "j").glob("*.snapshot")).unlink()
    with pytest.raises(mw.DatasetError, match=r"00000000.snapshot is missing"):
        mw.Journal(tmp_path / "j", overlay)


def test_damage_before_whole_records_is_refused_and_not_taken_for_the_end(tmp_path, overlay, events):
    with mw.Journal(tmp_path / "j", overlay) as journal:
        for event in events[:4]:
            journal.live.apply([event])
    log = log_of(tmp_path / "j")
    data = bytearray(log.read_bytes())
    data[data.index(b"\n") + 20] ^= 1
    log.write_bytes(data)
    with pytest.raises(mw.DatasetError, match="damaged at byte"):
        mw.Journal(tmp_path / "j")
    assert log.read_bytes() == data


def test_a_damaged_snapshot_and_a_missing_log_are_refused(tmp_path, overlay):
    mw.Journal(tmp_path / "j", overlay).close()
    snapshot = next((tmp_path / "j").glob("*.snapshot"))
    whole = snapshot.read_bytes()
    for damaged in (whole[:-1], whole[:50], b"", whole[:300] + bytes([whole[300] ^ 1]) + whole[301:]):
        snapshot.write_bytes(damaged)
        with pytest.raises(mw.DatasetError, match="is damaged"):
            mw.Journal(tmp_path / "j")
    snapshot.write_bytes(whole)
    log_of(tmp_path / "j").unlink()
    with pytest.raises(mw.DatasetError, match=r"00000000.log is missing"):
        mw.Journal(tmp_path / "j")


def test_a_log_of_another_journal_is_refused(tmp_path, overlay, events):
    for name, seed in (("a", 1), ("b", 2)):
        with mw.Journal(tmp_path / name, overlay, seed=seed) as journal:
            journal.live.apply([events[0]])
    log_of(tmp_path / "a").write_bytes(log_of(tmp_path / "b").read_bytes())
    with pytest.raises(mw.DatasetError, match=r"00000000.log is damaged at byte 0; .* revision 1 to 1"):
        mw.Journal(tmp_path / "a")


def test_steps_that_come_to_something_else_when_taken_again_are_refused(
    tmp_path, overlay, events, monkeypatch
):
    with mw.Journal(tmp_path / "j", overlay) as journal:
        for event in events[:3]:
            journal.live.apply([event])
    monkeypatch.setattr(journal_module, "digest", lambda repair: repair.revision)
    with pytest.raises(mw.DatasetError, match="the steps up to revision 1 do not give the same result"):
        mw.Journal(tmp_path / "j")


def test_one_writer_at_a_time(tmp_path, overlay):
    with (
        mw.Journal(tmp_path / "j", overlay),
        pytest.raises(mw.DatasetError, match="in use by another process"),
    ):
        mw.Journal(tmp_path / "j", overlay)
    mw.Journal(tmp_path / "j", overlay).close()


def test_a_closed_journal_takes_no_further_step(tmp_path, overlay, events):
    with mw.Journal(tmp_path / "j", overlay) as journal:
        pass
    before = journal.live.snapshot()
    with pytest.raises(mw.DatasetError, match="is closed"):
        journal.live.apply(events[:1])
    assert journal.live.snapshot() == before


def test_an_interrupted_step_asks_for_the_journal_to_be_opened_again(tmp_path, overlay, events, monkeypatch):
    with mw.Journal(tmp_path / "j", overlay) as journal:
        with monkeypatch.context() as patch:

            def interrupt(*_):
                raise KeyboardInterrupt

            patch.setattr(type(journal.live._state), "move", interrupt)
            with pytest.raises(KeyboardInterrupt):
                journal.live.apply([events[0]])
        with pytest.raises(mw.MeshwrightError, match="interrupted"):
            journal.live.apply([events[1]])
    assert reopened(tmp_path / "j") == state_after(overlay, events[:1])


@pytest.mark.parametrize("options", [{"policy": "rebuild"}, {"ties": "shuffled"}])
def test_a_batch_without_new_events_leaves_nothing_to_replay(tmp_path, options):
    nodes = [f"n{number}" for number in range(8)]
    interests = mw.Interests.from_pairs([(node, topic) for node in nodes for topic in "ab"])
    star = mw.Overlay.from_edges(interests, [(nodes[0], node) for node in nodes[1:]])
    again = mw.Event(1, "leave", nodes[3], id="again")
    with mw.Journal(tmp_path / "j", star, **options) as journal:
        first = journal.live.snapshot()
        assert not journal.live.apply([]).added
        assert journal.live.snapshot() == first
        journal.live.apply([again])
        assert journal.live.apply([again]).repeated == 1
        after = journal.live.snapshot()
    assert reopened(tmp_path / "j") == after


def test_a_checksum_covers_every_byte_of_a_line():
    line = sealed({"a": "ключ\n", "b": [1, None]})
    assert unsealed(line[:-1]) == {"a": "ключ\n", "b": [1, None]}
    for at in range(len(line) - 1):
        assert unsealed(line[:at] + bytes([line[at] ^ 1]) + line[at + 1 : -1]) is None
        assert unsealed(line[:at]) is None
