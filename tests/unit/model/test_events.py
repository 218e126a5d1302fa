import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import meshwright as mw
from meshwright.model.events import Event, as_line, read_events, write_events

EVENTS = (
    Event(1, "join", "ключ, 1", ("x", 'say "hi"')),
    Event(1, "join", "b"),
    Event(3, "subscribe", "b", ("two\nlines",), "k1"),
    Event(3, "leave", "b", (), "k2"),
    Event(9, "unsubscribe", "ключ, 1", ("x",)),
)


@pytest.mark.parametrize("name", ["events.jsonl", "events.parquet"])
def test_what_is_written_is_read_again(tmp_path, name):
    write_events(EVENTS, tmp_path / name)
    log = read_events(tmp_path / name)
    assert (log.events, log.out_of_order, log.torn) == (EVENTS, 0, ())


@pytest.mark.parametrize("name", ["events.jsonl", "events.parquet"])
def test_no_events_are_a_file_too(tmp_path, name):
    write_events([], tmp_path / name)
    assert read_events(tmp_path / name).events == ()


def test_times_out_of_order_are_put_in_order_and_equal_times_keep_the_files_order(tmp_path):
    given = [Event(at, "join", node) for at, node in ((5, "a"), (2, "b"), (5, "c"), (2, "d"), (4, "e"))]
    write_events(given, tmp_path / "events.jsonl")
    log = read_events(tmp_path / "events.jsonl")
    assert [event.node for event in log.events] == ["b", "d", "e", "a", "c"]
    assert log.out_of_order == 3


def test_files_of_a_folder_are_read_by_name_and_hidden_ones_passed_over(tmp_path):
    write_events([Event(1, "join", "second")], tmp_path / "b.jsonl")
    write_events([Event(1, "join", "first")], tmp_path / "a.parquet")
    (tmp_path / ".c.jsonl").write_text("not finished")
    (tmp_path / "notes.txt").write_text("not events")
    assert [event.node for event in read_events(tmp_path).events] == ["first", "second"]


def test_every_cut_of_the_last_line_leaves_all_complete_events(tmp_path):
    whole = "".join(as_line(event) + "\n" for event in EVENTS).encode()
    start = whole.rindex(b"\n", 0, -1) + 1
    path = tmp_path / "events.jsonl"
    for end in range(start, len(whole) + 1):
        path.write_bytes(whole[:end])
        log = read_events(path)
        complete = end >= len(whole) - 1  # only the newline is missing
        assert log.events == (EVENTS if complete else EVENTS[:-1])
        assert [torn.line for torn in log.torn] == ([] if complete or end == start else [5])


def test_a_broken_line_that_has_an_end_is_refused_with_its_number(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_text('{"at": 1, "event": "join", "node": "a"}\n{"at": 2, "ev\n')
    with pytest.raises(mw.InputError, match=r"events.jsonl, line 2 is not JSON"):
        read_events(path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('["join"]', r"line 1 is \['join'\]"),
        ('{"event": "join", "node": "a"}', "line 1 has no 'at'"),
        ('{"at": 1, "event": "join", "node": null}', "line 1 has no 'node'"),
        ('{"at": 1, "event": "grow", "node": "a"}', "line 1: the event is 'grow'"),
        ('{"at": 1, "event": "subscribe", "node": "a", "topics": []}', "line 1: 'a' subscribes without"),
    ],
)
def test_a_line_that_is_no_event_is_refused_with_its_number(tmp_path, line, message):
    path = tmp_path / "events.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(mw.InputError, match=message):
        read_events(path)


def test_blank_lines_unknown_keys_a_byte_order_mark_and_gzip_are_no_obstacle(tmp_path):
    lines = (
        '{"at": 1, "event": "join", "node": "a", "why": "new"}',
        '{"at": 2, "event": "leave", "node": "a"}',
    )
    text = "\ufeff" + "\r\n\n".join(lines)
    (tmp_path / "events.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    assert [event.event for event in read_events(tmp_path).events] == ["join", "leave"]


def test_a_table_may_lack_topics_and_ids_but_not_times(tmp_path):
    path = tmp_path / "events.parquet"
    columns = {"at": [1], "event": ["leave"], "node": ["a"]}
    pq.write_table(pa.table(columns), path)
    assert read_events(path).events == (Event(1, "leave", "a"),)
    pq.write_table(pa.table({"event": ["leave"], "node": ["a"]}), path)
    with pytest.raises(mw.InputError, match="has no column 'at'"):
        read_events(path)
    pq.write_table(
        pa.table(
            columns | {"at": [None]},
            schema=pa.schema([("at", pa.int64()), ("event", pa.string()), ("node", pa.string())]),
        ),
        path,
    )
    with pytest.raises(mw.InputError, match="row 1 has no 'at'"):
        read_events(path)


def test_what_is_there_already_is_not_overwritten(tmp_path):
    path = tmp_path / "events.jsonl"
    write_events(EVENTS, path)
    with pytest.raises(mw.DatasetError, match="already exists"):
        write_events([], path)
    write_events([], path, force=True)
    assert read_events(path).events == ()


@pytest.mark.parametrize("act", [read_events, lambda path: write_events([], path)])
def test_files_of_another_kind_are_refused(tmp_path, act):
    path = tmp_path / "events.csv"
    if act is read_events:
        path.write_text("at,event\n")
    with pytest.raises(mw.InputError, match=r"neither \*.jsonl nor \*.parquet"):
        act(path)


def test_a_folder_without_events_and_a_missing_file_are_refused(tmp_path):
    with pytest.raises(mw.InputError, match=r"holds no \*.jsonl"):
        read_events(tmp_path)
    with pytest.raises(mw.InputError, match="no such file"):
        read_events(tmp_path / "events.jsonl")
