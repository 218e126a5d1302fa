"""Event files of a stream, without Spark: what can't be read is told of, and is nobody else's loss."""

import gzip
import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import meshwright as mw
from meshwright.maintain.journal.journal import Journal
from meshwright.maintain.journal.recording import Recording
from meshwright.model.reading.limits import ReadLimits
from meshwright.pipeline.stream.batches import File, Unreadable, apply_batch, events_of

NO_UNICODE = pa.Array.from_buffers(
    pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\2\0\0\0"), pa.py_buffer(b"\xff\xfe")]
)
LEAVE = {"at": pa.array([1]), "event": pa.array(["leave"])}


def parquet(columns, names=None):
    sink = io.BytesIO()
    pq.write_table(pa.table(list(columns.values()), names or list(columns)), sink)
    return File("file:/in/x.parquet", 0.0, sink.getvalue())


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (parquet(LEAVE | {"node": NO_UNICODE}), "not a Parquet file of events"),
        (parquet(LEAVE | {"node": pa.array([{"a": 1}])}), "node"),
        (parquet(LEAVE | {"node": pa.array(["n"]), "topics": pa.array([{"a": "x"}])}), "topics"),
        (parquet(LEAVE), "node"),
        (File("file:/in/x.parquet", 0.0, b"PAR1"), "not a Parquet file of events"),
        (
            File("file:/in/x.jsonl", 0.0, b'{"at":1,"event":"join","node":"n","topics":{"a":1}}\n'),
            "a list of",
        ),
    ],
)
def test_a_file_that_holds_no_events_is_one_that_is_told_of(file, reason):
    (found,) = events_of(file)
    assert isinstance(found, Unreadable)
    assert reason in found.reason


def test_columns_that_say_nothing_to_us_may_hold_anything():
    columns = LEAVE | {"node": pa.array(["n"]), "a": NO_UNICODE, "b": NO_UNICODE}
    (found,) = events_of(parquet(columns, ["at", "event", "node", "more", "more"]))
    assert (found.at, found.event, found.node) == (1, "leave", "n")


def test_a_batch_of_more_events_than_the_journal_knows_is_refused_before_any_is_applied(tmp_path):
    overlay = mw.build(mw.workloads.unif(12, 4, subscriptions=2, seed=1), "gm")
    lines = "".join(f'{{"at":{at},"event":"join","node":"new {at}"}}\n' for at in range(6))
    files = [File("file:/in/x.jsonl", 0.0, lines.encode())]
    with Journal(tmp_path / "j", overlay, remember=5) as journal:
        with pytest.raises(
            mw.OptionError, match="a batch has 6 events, but the journal remembers only 5 event ids"
        ):
            apply_batch(journal, tmp_path / "out", 0, files, together=False)
        assert journal.live.revision == 0


LINES = b'{"at":1,"event":"join","node":"n"}\n' * 2_000
POISON = {
    "bomb.jsonl.gz": gzip.compress(LINES * 100),
    "cut.jsonl.gz": gzip.compress(LINES)[:-20],
    "no-gzip.jsonl.gz": LINES,
    "no.parquet": b"PAR1 and so on",
}


def test_poison_files_are_put_aside_as_a_whole_with_their_reasons_and_cost_nobody_else(tmp_path):
    for name, content in POISON.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "a:b.jsonl").write_bytes(b'{"at":1,"event":"join","node":"good"}\n')
    bad = [*POISON, "folder.jsonl", "gone.jsonl"]
    files = [File(f"file:{tmp_path / name}", 0.0) for name in (*bad, "a:b.jsonl")]
    overlay = mw.build(mw.workloads.unif(12, 4, subscriptions=2, seed=1), "gm")
    limits = ReadLimits(ratio=50, small=10_000)
    with Journal(tmp_path / "j", overlay, follower=Recording(tmp_path / "out")) as journal:
        told = apply_batch(journal, tmp_path / "out", 0, files, together=False, limits=limits)
    assert (told.events, told.rejected) == (1, len(bad))
    for name, reason in zip(bad, told.files_put_aside, strict=True):
        assert f"/{name}" in reason
    rows = pq.read_table(tmp_path / "out" / "rejected" / "batch-000000000000.parquet").to_pylist()
    assert [row["reason"] for row in rows] == list(told.files_put_aside)
    assert [row["text"] for row in rows] == [file.path for file in files[:-1]]


def test_of_a_line_that_is_too_long_the_beginning_is_put_aside_and_the_others_count():
    good = b'{"at":1,"event":"leave","node":"%s"}\n'
    content = good % b"a" + b"x" * 5_000 + b"\n" + good % b"b"
    first, long, last = events_of(File("s3a:/in/x.jsonl", 0.0, content), ReadLimits(line=100))
    assert (first.node, last.node, last.id) == ("a", "b", "s3a:/in/x.jsonl#3")
    assert "x.jsonl, 2: this line is longer than 100 bytes" in long.reason
    assert "--max-line" in long.reason
    assert (len(long.text), long.whole) == (1_000, False)
