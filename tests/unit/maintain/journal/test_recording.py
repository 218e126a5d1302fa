import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import meshwright as mw
from meshwright.maintain.journal import recording as module
from meshwright.maintain.journal.recording import (
    SCHEMAS,
    Recording,
    parts_of,
    read_recorded,
    repairs_table,
    verify_recording,
)
from meshwright.maintain.repairs import Step
from meshwright.report.churn import link_changes
from tests.unit.maintain.journals import copied, events_for, small_overlay


@pytest.fixture(scope="module")
def overlay():
    return small_overlay()


def applied(overlay, changes):
    """The links of an overlay after changes to it."""
    names = overlay.interests.nodes.to_pylist()
    links = {(names[u], names[v]) for u, v in overlay.edges.tolist()}
    for row in changes.to_pylist():
        link = (row["source"], row["target"])
        assert (link in links) == (row["action"] == "close")
        links ^= {link}
    return links


def links_of(live):
    names = live.overlay.interests.nodes.to_pylist()
    return {(names[u], names[v]) for u, v in live.overlay.edges.tolist()}


def test_changes_lead_from_the_start_to_the_end_whatever_ended_the_process(tmp_path, overlay):
    events = events_for(overlay, 24)
    for start in range(0, 24, 4):
        recording = Recording(tmp_path / "r")
        journal = mw.Journal(tmp_path / "j", overlay, follower=recording, compact_after=7)
        for event in events[start : start + 4]:
            journal.live.apply([event])
        if start % 8:
            journal.settle()
        journal.close()  # not settled: the next one has to hear of the steps again
    with mw.Journal(tmp_path / "j", overlay, follower=Recording(tmp_path / "r")) as journal:
        journal.settle()
        changes, repairs = (read_recorded(tmp_path / "r", name) for name in ("changes", "repairs"))
        assert applied(overlay, changes) == links_of(journal.live)
    assert repairs["revision"].to_pylist() == list(range(25))
    assert changes["revision"].to_pylist() == sorted(changes["revision"].to_pylist())


def test_links_that_a_start_lacked_are_changes_too(tmp_path):
    interests = mw.Interests.from_pairs([("a", "x"), ("b", "x")])
    bare = mw.Overlay.from_edges(interests, [])
    with mw.Journal(tmp_path / "j", bare, follower=Recording(tmp_path / "r")) as journal:
        journal.live.leave("a")
        journal.settle()
    link = {"source": "a", "target": "b", "cost": None}
    assert read_recorded(tmp_path / "r", "changes").to_pylist() == [
        {"revision": 0, "at": None, "action": "open", **link, "cause": "start", "step": "start"},
        {"revision": 1, "at": 0, "action": "close", **link, "cause": "leave a", "step": "events"},
    ]


def test_a_change_names_the_events_of_its_ends_and_refused_events_are_rejected(tmp_path):
    interests = mw.Interests.from_pairs([("a", "x"), ("b", "x"), ("c", "x"), ("d", "y")])
    overlay = mw.Overlay.from_edges(interests, [("a", "b"), ("b", "c")])
    recording = Recording(tmp_path / "r")
    recording.open()
    live = mw.Maintainer(overlay)
    events = (mw.Event(4, "leave", "b"), mw.Event(5, "join", "a"), mw.Event(6, "join", "e", ("y",)))
    recording.follow(Step(events), live.apply(events, lenient=True))
    recording.settle()
    changes = read_recorded(tmp_path / "r", "changes").to_pylist()
    assert [(row["action"], row["source"] + row["target"], row["cause"]) for row in changes] == [
        ("open", "ac", "3 events"),
        ("open", "de", "join e"),
        ("close", "ab", "leave b"),
        ("close", "bc", "leave b"),
    ]
    assert {row["at"] for row in changes} == {6}
    (rejected,) = read_recorded(tmp_path / "r", "rejected").to_pylist()
    assert rejected["at"] == 5
    assert "is already in the overlay" in rejected["reason"]
    assert '"node":"a"' in rejected["text"]


def test_files_of_a_settle_that_was_cut_off_are_made_anew(tmp_path, overlay):
    events = events_for(overlay, 6)
    with mw.Journal(tmp_path / "j", overlay, follower=Recording(tmp_path / "r")) as journal:
        for event in events:
            journal.live.apply([event])
        journal.settle()
    for name in ("rejected", "repairs", "changes"):
        cut = copied(tmp_path / "r", tmp_path / "cut")
        for later in ("changes", "repairs", "rejected")[: 1 + ["changes", "repairs", "rejected"].index(name)]:
            for part in parts_of(cut / later)[-1:]:
                part.unlink()
        shutil.rmtree(tmp_path / "k", ignore_errors=True)
        shutil.copytree(tmp_path / "j", tmp_path / "k")
        with mw.Journal(tmp_path / "k", overlay, follower=Recording(cut)) as journal:
            journal.settle()
        for table in ("changes", "rejected"):
            assert read_recorded(cut, table) == read_recorded(tmp_path / "r", table)


def test_a_settle_that_fails_half_way_and_is_tried_again_later_tells_everything_once(tmp_path, overlay):
    events = events_for(overlay, 6)
    with mw.Journal(tmp_path / "j", overlay, follower=Recording(tmp_path / "r")) as journal:
        journal.live.apply(events[:3])
        in_the_way = tmp_path / "r" / "changes" / f"part-{2:012d}-{3:012d}.parquet"
        in_the_way.mkdir()
        with pytest.raises(mw.DatasetError, match="changes"):
            journal.settle()
        in_the_way.rmdir()
        journal.live.apply(events[3:])
        journal.settle()
    assert read_recorded(tmp_path / "r", "repairs")["revision"].to_pylist() == [0, 3, 6]
    with mw.Journal(tmp_path / "j", overlay, follower=Recording(tmp_path / "r")) as journal:
        assert applied(overlay, read_recorded(tmp_path / "r", "changes")) == links_of(journal.live)


def test_a_recording_that_does_not_fit_its_journal_is_refused(tmp_path, overlay):
    events = events_for(overlay, 4)
    with mw.Journal(tmp_path / "j", overlay, follower=Recording(tmp_path / "r")) as journal:
        journal.live.apply(events[:2])
        copied(tmp_path / "j", tmp_path / "old")
        copied(tmp_path / "r", tmp_path / "older")
        journal.live.apply(events[2:])
        journal.compact()
    with pytest.raises(mw.DatasetError, match="the recorded changes end at 4"):
        mw.Journal(tmp_path / "old", overlay, follower=Recording(tmp_path / "r"))
    with pytest.raises(mw.DatasetError, match="the recorded changes end at 0"):
        mw.Journal(tmp_path / "j", overlay, follower=Recording(tmp_path / "older"))


def test_a_journal_whose_changes_are_gone_or_were_never_kept_is_refused(tmp_path, overlay):
    with mw.Journal(tmp_path / "j", overlay, follower=Recording(tmp_path / "r")) as journal:
        journal.live.apply(events_for(overlay, 3))
    with pytest.raises(mw.DatasetError, match="give the --out folder that they were written to"):
        mw.Journal(tmp_path / "j", overlay, follower=Recording(tmp_path / "elsewhere"))
    with mw.Journal(tmp_path / "j", overlay, follower=Recording(tmp_path / "r")) as journal:
        assert journal.live.revision == 3


def test_repairs_tell_what_they_left_behind(overlay):
    live = mw.Maintainer(overlay)
    steps = [(Step((event,)), live.apply([event])) for event in events_for(overlay, 10)]
    rows = repairs_table(steps).to_pylist()
    degrees = live.overlay.degrees()
    assert rows[-1]["links"] == len(live.overlay)
    assert rows[-1]["nodes"] == len(live)
    assert rows[-1]["maximum_degree"] == degrees.max()
    assert rows[-1]["average_degree"] == pytest.approx(degrees.mean())


def test_a_folder_of_others_is_refused_and_stays_as_it_is(tmp_path, overlay):
    overlay.write(tmp_path / "others")
    theirs = tmp_path / "others" / "rejected" / "part-00000-1234-c000.snappy.parquet"
    theirs.parent.mkdir()
    theirs.write_bytes(b"theirs")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(mw.DatasetError, match="is not a journal"):
        mw.Journal(tmp_path / "others", overlay, follower=Recording(tmp_path / "others"))
    assert sorted(tmp_path.rglob("*")) == before


def test_files_that_no_recording_wrote_are_left_alone(tmp_path):
    theirs = tmp_path / "rejected" / "part-00000-1234-c000.snappy.parquet"
    theirs.parent.mkdir()
    theirs.write_bytes(b"theirs")
    assert Recording(tmp_path).open() is None
    assert theirs.read_bytes() == b"theirs"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory, overlay):
    """A recording of three files a table, and one of what was rejected."""
    folder = tmp_path_factory.mktemp("recorded")
    with mw.Journal(folder / "j", overlay, follower=Recording(folder / "r")) as journal:
        for event in events_for(overlay, 2):
            journal.live.apply([event])
            journal.settle()
        journal.live.apply([mw.Event(9, "leave", "nobody")], lenient=True)
        journal.settle()
    return folder


@pytest.mark.parametrize("name", ["changes", "repairs", "rejected"])
def test_a_flipped_bit_in_a_part_or_in_the_ledger_is_noticed(tmp_path, recorded, name):
    for path in sorted((recorded / "r" / name).iterdir()):
        for at in range(0, path.stat().st_size, 397):
            folder = copied(recorded / "r", tmp_path / "flipped")
            data = bytearray(path.read_bytes())
            data[at] ^= 1 << at % 8
            (folder / name / path.name).write_bytes(data)
            with pytest.raises(mw.DatasetError, match=name):
                read_recorded(folder, name)
            assert verify_recording(folder)
    assert verify_recording(recorded / "r") == []


def test_a_part_that_is_missing_exchanged_or_of_others_is_refused_by_name(tmp_path, recorded):
    first, second = (part.name for part in parts_of(recorded / "r" / "repairs")[1:3])
    table = copied(recorded / "r", tmp_path / "r") / "repairs"
    (table / first).unlink()
    with pytest.raises(mw.DatasetError, match=f"{first} is missing"):
        read_recorded(tmp_path / "r", "repairs")
    shutil.copy(table / second, table / first)
    with pytest.raises(mw.DatasetError, match=f"{first} is damaged"):
        read_recorded(tmp_path / "r", "repairs")
    shutil.copy(recorded / "r" / "repairs" / first, table / first)
    (table / "part-000000000001-000000000002.parquet").write_bytes(b"theirs")
    with pytest.raises(mw.DatasetError, match="is not among the files"):
        read_recorded(tmp_path / "r", "repairs")


def test_a_lost_ledger_is_noticed(tmp_path, recorded):
    (copied(recorded / "r", tmp_path / "r") / "changes" / "_parts.jsonl").unlink()
    with pytest.raises(mw.DatasetError, match=r"_parts.jsonl is missing"):
        read_recorded(tmp_path / "r", "changes")


def test_a_ledger_whose_last_line_was_cut_off_goes_on(tmp_path, overlay, recorded):
    folder = copied(recorded, tmp_path / "both")
    for name in ("changes", "repairs", "rejected"):
        with (folder / "r" / name / "_parts.jsonl").open("ab") as stream:
            stream.write(b'12345678 {"file":"part-0000')
    with mw.Journal(folder / "j", overlay, follower=Recording(folder / "r")) as journal:
        journal.live.join("last")
        journal.settle()
    assert read_recorded(folder / "r", "repairs")["revision"].to_pylist() == [0, 1, 2, 3, 4]
    assert verify_recording(folder / "r") == []


def old_recording(recorded, target):
    """As recordings were before they had ledgers."""
    folder = copied(recorded, target)
    for name in ("changes", "repairs", "rejected"):
        (folder / "r" / name / "_parts.jsonl").unlink()
        for part in parts_of(folder / "r" / name):
            pq.write_table(pq.read_table(part).replace_schema_metadata(None), part)
    return folder


def test_an_old_recording_opens_with_a_warning_and_has_a_ledger_from_then_on(tmp_path, overlay, recorded):
    folder = old_recording(recorded, tmp_path / "old")
    with pytest.warns(UserWarning, match="earlier Meshwright, without checksums"):
        old = read_recorded(folder / "r", "changes")
    assert old == read_recorded(recorded / "r", "changes")
    with pytest.warns(UserWarning, match="without checksums"):
        mw.Journal(folder / "j", overlay, follower=Recording(folder / "r")).close()
    assert read_recorded(folder / "r", "changes") == old


def test_a_part_without_our_mark_is_refused_by_name_and_stays(tmp_path, recorded):
    folder = copied(recorded / "r", tmp_path / "r")
    theirs = folder / "repairs" / "part-000000000007-000000000009.parquet"
    theirs.write_bytes(b"theirs")
    with pytest.raises(
        mw.DatasetError, match=f"{theirs.name} is in the way, and Meshwright may not remove it"
    ):
        Recording(folder).open()
    assert theirs.read_bytes() == b"theirs"


@pytest.mark.parametrize(
    "name", ["changes", "repairs/_parts.jsonl", "repairs/part-000000000007-000000000009.parquet"]
)
def test_links_in_a_recording_are_refused_and_not_followed(tmp_path, recorded, name):
    link = copied(recorded / "r", tmp_path / "r") / name
    target = tmp_path / "theirs"
    if link.exists():
        link.rename(target)
    else:
        shutil.copy(parts_of(recorded / "r" / "repairs")[0], target)
    link.symlink_to(target)
    before = sorted(target.rglob("*"))
    with pytest.raises(mw.DatasetError, match="is a link"):
        Recording(tmp_path / "r").open()
    assert target.exists()
    assert sorted(target.rglob("*")) == before


def test_tables_of_an_earlier_meshwright_are_read_with_nulls_for_what_they_lack(tmp_path, monkeypatch):
    interests = mw.Interests.from_pairs([("a", "x"), ("b", "x")])
    later = {"step", "cost", "opened_cost", "closed_cost"}
    old = {
        name: pa.schema([field for field in schema if field.name not in later])
        for name, schema in SCHEMAS.items()
    }
    with monkeypatch.context() as patch:
        patch.setattr(module, "SCHEMAS", old)
        kept = Recording(tmp_path / "r")
        with mw.Journal(tmp_path / "j", mw.Overlay.from_edges(interests, []), follower=kept) as journal:
            journal.settle()
    with mw.Journal(tmp_path / "j", follower=Recording(tmp_path / "r")) as journal:
        journal.live.leave("a")
        journal.settle()
    changes = read_recorded(tmp_path / "r", "changes").to_pylist()
    assert [(row["cause"], row["step"], row["cost"]) for row in changes] == [
        ("start", None, None),
        ("leave a", "events", None),
    ]
    assert link_changes(read_recorded(tmp_path / "r", "repairs")) == (1, 1, None, None)
