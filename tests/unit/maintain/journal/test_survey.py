"""Journals that are damaged at rest: opened as they were acknowledged, or refused with what is missing."""

import os
import shutil
import warnings

import pytest

import meshwright as mw
from meshwright.maintain.journal import head as head_module
from meshwright.maintain.journal.recording import Recording, parts_of, read_recorded
from meshwright.maintain.journal.sealed_lines import sealed, unsealed
from meshwright.maintain.journal.survey import LostStepsError, verify_journal
from tests.unit.maintain.journals import copied, events_for, log_of, small_overlay, state_after

STEPS = 4


@pytest.fixture(scope="module")
def overlay():
    return small_overlay()


@pytest.fixture(scope="module")
def events(overlay):
    return events_for(overlay, 2 * STEPS)


@pytest.fixture(scope="module")
def states(overlay, events):
    return [state_after(overlay, events[:count]) for count in range(len(events) + 1)]


@pytest.fixture(scope="module")
def journal(tmp_path_factory, overlay, events):
    """A journal with a compaction behind it and some steps in its log."""
    folder = tmp_path_factory.mktemp("losses") / "j"
    with mw.Journal(folder, overlay) as journal:
        for event in events[:STEPS]:
            journal.live.apply([event])
        journal.compact()
        for event in events[STEPS:]:
            journal.live.apply([event])
    return folder


def snapshot_of(folder):
    return max(folder.glob("*.snapshot"))


def flip(path, at, bit=1):
    data = bytearray(path.read_bytes())
    data[at] ^= bit
    path.write_bytes(data)


def accepted(folder, overlay=None, **options):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        journal = mw.Journal(folder, overlay, accept_loss=True, **options)
    return journal, [str(warning.message) for warning in told]


def opened_or_refused(folder, states):
    """Opening gives the acknowledged state, or names a loss, and changes nothing then."""
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    try:
        journal = mw.Journal(folder)
    except LostStepsError:
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
        return False
    with journal:
        assert journal.live.snapshot() == states[-1]
    return True


def test_a_log_cut_at_any_record_is_refused_with_what_is_missing(journal, tmp_path, states):
    data = log_of(journal).read_bytes()
    ends = [0, *(at + 1 for at, byte in enumerate(data) if byte == ord("\n"))]
    for left, end in enumerate(ends[:-1]):
        for size in (end, end + 1, ends[left + 1] - 1):
            folder = copied(journal, tmp_path / "cut")
            os.truncate(log_of(folder), size)
            with pytest.raises(
                LostStepsError, match=f"from revision {STEPS + left + 1} to {2 * STEPS}"
            ) as error:
                mw.Journal(folder)
            assert error.value.loss.steps == STEPS - left
            assert [problem.file for problem in verify_journal(folder)] == [log_of(folder)]
        opened, told = accepted(folder)
        with opened:
            assert opened.live.snapshot() == states[STEPS + left]
        assert f"from revision {STEPS + left + 1} to {2 * STEPS}" in told[0]


def test_what_is_given_up_is_kept_aside_and_the_journal_goes_on(journal, tmp_path, events, states):
    folder = copied(journal, tmp_path / "cut")
    os.truncate(log_of(folder), 0)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    opened, told = accepted(folder)
    with opened:
        assert opened.recovery.lost.steps == STEPS
        assert opened.recovery.aside == folder / "lost-0001"
        assert str(folder / "lost-0001") in told[0]
        for event in events[STEPS:]:
            opened.live.apply([event])
    assert {path.name: path.read_bytes() for path in (folder / "lost-0001").iterdir()} == before
    with mw.Journal(folder) as again:
        assert again.live.snapshot() == states[-1]
        assert again.recovery.lost is None
    assert verify_journal(folder) == []


def test_a_flipped_bit_anywhere_gives_what_was_acknowledged_or_a_named_loss(journal, tmp_path, states):
    sizes = {path.name: path.stat().st_size for path in journal.iterdir()}
    for name, step in ((log_of(journal).name, 29), ("head", 97), (snapshot_of(journal).name, 2_003)):
        for at in range(0, sizes[name], step):
            folder = copied(journal, tmp_path / "flipped")
            flip(folder / name, at, 1 << at % 8)
            assert verify_journal(folder)
            assert opened_or_refused(folder, states) == (name == "head")


def test_a_flipped_newline_before_the_last_record_is_no_torn_end(journal, tmp_path):
    folder = copied(journal, tmp_path / "flipped")
    flip(log_of(folder), log_of(folder).read_bytes()[:-1].rindex(b"\n"))
    with pytest.raises(LostStepsError, match=r"from revision 7 to 8 \(2 steps\) is missing"):
        mw.Journal(folder)


def test_records_that_are_swapped_doubled_or_left_out_are_refused(journal, tmp_path):
    lines = log_of(journal).read_bytes().splitlines(keepends=True)
    one, two, *rest = lines
    for wrong in ([two, one, *rest], [one, one, two, *rest], [one, *rest], [*lines, lines[-1]], lines[::-1]):
        folder = copied(journal, tmp_path / "wrong")
        log_of(folder).write_bytes(b"".join(wrong))
        with pytest.raises(LostStepsError, match=r"\.log"):
            mw.Journal(folder)


def test_a_log_of_whole_records_that_were_rewritten_is_refused(journal, tmp_path):
    """Checksums of single records fit; the chain does not."""
    folder = copied(journal, tmp_path / "rewritten")
    rows = [unsealed(line) for line in log_of(folder).read_bytes().splitlines()]
    rows[-1]["events"][0]["node"] = "somebody else"
    log_of(folder).write_bytes(b"".join(map(sealed, rows)))
    with pytest.raises(LostStepsError, match="does not fit"):
        mw.Journal(folder)


@pytest.mark.parametrize("gone", [("snapshot",), ("log",), ("head",), ("snapshot", "log")])
def test_a_deleted_file_is_a_damaged_journal_and_not_a_new_one(journal, tmp_path, overlay, states, gone):
    folder = copied(journal, tmp_path / "gone")
    paths = {"snapshot": snapshot_of(folder), "log": log_of(folder), "head": folder / "head"}
    for name in gone:
        paths[name].unlink()
    with pytest.raises(LostStepsError, match=f"{paths[gone[0]].name} is missing"):
        mw.Journal(folder, overlay)
    assert verify_journal(folder)
    opened, told = accepted(folder, overlay)
    with opened:
        left = {"snapshot": 0, "log": STEPS, "head": 2 * STEPS}[gone[0]]
        assert opened.live.snapshot() == states[left]
        assert told
    with mw.Journal(folder) as again:
        assert again.live.snapshot() == states[left]


def test_files_of_an_older_copy_are_refused(tmp_path, overlay, events):
    with mw.Journal(tmp_path / "j", overlay) as journal:
        for event in events[:2]:
            journal.live.apply([event])
        old = copied(tmp_path / "j", tmp_path / "old")
        for event in events[2:]:
            journal.live.apply([event])
        shutil.copy(old / "00000000.log", copied(tmp_path / "j", tmp_path / "log") / "00000000.log")
        journal.compact()
        journal.live.join("last")
    for name in ("00000000.snapshot", "head"):
        shutil.copy(old / name, copied(tmp_path / "j", tmp_path / name) / name.replace("0.", "1."))
    for name in ("log", "00000000.snapshot", "head"):
        with pytest.raises(LostStepsError):
            mw.Journal(tmp_path / name)


def test_a_loss_of_power_takes_what_the_policy_allows_and_no_more(tmp_path, overlay, events, monkeypatch):
    for sync, allowed in (("always", False), ("never", True)):
        journal = mw.Journal(tmp_path / sync, overlay, sync=sync)
        for event in events[:STEPS]:
            journal.live.apply([event])
        folder = copied(tmp_path / sync, tmp_path / "cut")
        journal.close()
        os.truncate(log_of(folder), 0)
        with pytest.raises(LostStepsError):
            mw.Journal(folder)  # the machine has not started again
        with monkeypatch.context() as patch:
            patch.setattr(head_module, "boot_id", lambda: "another start")
            if not allowed:
                with pytest.raises(LostStepsError):
                    mw.Journal(folder)
                continue
            with pytest.warns(UserWarning, match="from revision 1 to 4"):
                opened = mw.Journal(folder)
            with opened:
                assert opened.recovery.lost.by_power
                assert opened.live.revision == 0
            closed = copied(tmp_path / sync, tmp_path / "cut")
            os.truncate(log_of(closed), 0)  # all was on disk
            with pytest.raises(LostStepsError):
                mw.Journal(closed)


def test_a_head_that_is_older_than_the_log_is_no_loss(tmp_path, overlay, events, states):
    """A loss of power may leave that under `always`: each step forces the log to disk, and not the head."""
    journal = mw.Journal(tmp_path / "j", overlay)
    old = (tmp_path / "j" / "head").read_bytes()
    for event in events:
        journal.live.apply([event])
    folder = copied(tmp_path / "j", tmp_path / "k")
    journal.close()
    (folder / "head").write_bytes(old)
    with mw.Journal(folder) as journal:
        assert journal.live.snapshot() == states[-1]


def test_an_old_journal_opens_with_a_warning_and_has_a_head_from_then_on(tmp_path, overlay, events, states):
    old = old_journal(tmp_path / "old", overlay, events[:STEPS])
    with pytest.warns(UserWarning, match="earlier Meshwright"):
        journal = mw.Journal(old, overlay)
    with journal:
        assert journal.live.snapshot() == states[STEPS]
        journal.live.apply([events[STEPS]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with mw.Journal(old) as journal:
            assert journal.live.snapshot() == states[STEPS + 1]
    os.truncate(log_of(old), 0)
    with pytest.raises(LostStepsError):
        mw.Journal(old)


def old_journal(folder, overlay, events):
    """As journals were before they had a head."""
    with mw.Journal(folder, overlay) as journal:
        for event in events:
            journal.live.apply([event])
    (folder / "head").unlink()
    head, _, data = snapshot_of(folder).read_bytes().partition(b"\n")
    header = unsealed(head) | {"format": 1}
    del header["before"]
    snapshot_of(folder).write_bytes(sealed(header) + data)
    rows = [unsealed(line) for line in log_of(folder).read_bytes().splitlines()]
    for row in rows:
        del row["before"]
    log_of(folder).write_bytes(b"".join(map(sealed, rows)))
    return folder


def test_changes_past_the_accepted_point_are_put_aside(tmp_path, overlay, events, states):
    with mw.Journal(tmp_path / "j", overlay, follower=Recording(tmp_path / "r")) as journal:
        for at, event in enumerate(events[:STEPS]):
            journal.live.apply([event])
            if at % 2:
                journal.settle()
    data = log_of(tmp_path / "j").read_bytes()
    os.truncate(log_of(tmp_path / "j"), data[:-1].rindex(b"\n") + 1)
    past = parts_of(tmp_path / "r" / "changes")[-1]
    kept = past.read_bytes()
    with pytest.raises(LostStepsError, match="revision 4 to 4"):
        mw.Journal(tmp_path / "j", overlay, follower=Recording(tmp_path / "r"))
    opened, _ = accepted(tmp_path / "j", overlay, follower=Recording(tmp_path / "r"))
    with opened:
        assert opened.live.snapshot() == states[3]
        for event in events[3:STEPS]:
            opened.live.apply([event])
        opened.settle()
    assert (tmp_path / "r" / "lost-0001" / "changes" / past.name).read_bytes() == kept
    assert read_recorded(tmp_path / "r", "repairs")["revision"].to_pylist() == [0, 1, 2, 3, 4]


def test_a_journal_that_is_gone_altogether_is_noticed_by_its_changes(tmp_path, overlay, events):
    with mw.Journal(tmp_path / "j", overlay, follower=Recording(tmp_path / "r")) as journal:
        journal.live.apply(events[:3])
        journal.settle()
    shutil.rmtree(tmp_path / "j")
    with pytest.raises(LostStepsError, match="holds no journal, but the recorded changes end at 3"):
        mw.Journal(tmp_path / "j", overlay, follower=Recording(tmp_path / "r"))
    opened, _ = accepted(tmp_path / "j", overlay, follower=Recording(tmp_path / "r"))
    opened.close()
    assert read_recorded(tmp_path / "r", "repairs")["revision"].to_pylist() == [0]


def test_an_interrupt_after_the_head_was_written_takes_both_back(tmp_path, overlay, events, monkeypatch):
    with mw.Journal(tmp_path / "j", overlay) as journal:
        journal.live.apply([events[0]])
        reach = head_module.Head.reach

        def interrupted(self, position):
            reach(self, position)
            monkeypatch.undo()
            raise KeyboardInterrupt

        monkeypatch.setattr(head_module.Head, "reach", interrupted)
        with pytest.raises(KeyboardInterrupt):
            journal.live.apply([events[1]])
        before = journal.live.snapshot()
        with mw.Journal(copied(tmp_path / "j", tmp_path / "k")) as copy:
            assert copy.live.snapshot() == before
        journal.live.apply([events[1]])


def test_files_of_others_in_the_folder_stay(tmp_path, overlay, events):
    with mw.Journal(tmp_path / "j", overlay) as journal:
        theirs = {
            "thesis.partial": b"mine",
            "00000007.log": b"mine too",
            "7.log": b"and this",
            ".00000001.snapshot.partial.old": b"and that",
        }
        for name, data in theirs.items():
            (tmp_path / "j" / name).write_bytes(data)
        for event in events:
            journal.live.apply([event])
            journal.compact()
    mw.Journal(tmp_path / "j").close()
    assert {name: (tmp_path / "j" / name).read_bytes() for name in theirs} == theirs


@pytest.mark.parametrize("name", ["00000000.log", "00000000.snapshot", "head"])
def test_a_link_in_the_place_of_a_file_is_refused_and_not_followed(tmp_path, overlay, events, name):
    with mw.Journal(tmp_path / "j", overlay) as journal:
        journal.live.apply(events[:2])
    target, link = tmp_path / "theirs", tmp_path / "j" / name
    link.rename(target)
    link.symlink_to(target)
    before = target.read_bytes()
    for accept_loss in (False, True):
        with pytest.raises(mw.DatasetError, match="is a link"):
            mw.Journal(tmp_path / "j", overlay, accept_loss=accept_loss)
    assert (target.read_bytes(), link.is_symlink()) == (before, True)


@pytest.mark.parametrize("name", [".00000001.snapshot.partial", "00000001.log", "00000001.snapshot"])
def test_links_in_the_place_of_what_a_compaction_makes_are_not_followed(tmp_path, overlay, events, name):
    (tmp_path / "theirs").write_bytes(b"")
    with mw.Journal(tmp_path / "j", overlay) as journal:
        (tmp_path / "j" / name).symlink_to(tmp_path / "theirs")
        if not name.startswith("."):
            with pytest.raises(mw.DatasetError, match="is a link"):
                journal.compact()
        else:
            journal.compact()
        journal.live.apply(events[:2])
    assert (tmp_path / "theirs").read_bytes() == b""
    assert (tmp_path / "j" / name).is_symlink()


def test_a_journal_is_verified_while_it_is_written(journal, tmp_path, overlay, events):
    assert verify_journal(journal) == []
    with mw.Journal(tmp_path / "j", overlay, compact_after=2) as writer:
        for event in events:
            writer.live.apply([event])
            assert verify_journal(tmp_path / "j") == []
