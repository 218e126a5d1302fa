"""Event files of a stream, without Spark: what can't be read is told of, and is nobody else's loss."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import meshwright as mw
from meshwright.maintain.journal import Journal
from meshwright.pipeline.stream.batches import apply_batch
from meshwright.pipeline.stream.source import File, Unreadable, events_of

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
        (parquet(LEAVE | {"node": NO_UNICODE}), "no Parquet of events"),
        (parquet(LEAVE | {"node": pa.array([{"a": 1}])}), "node"),
        (parquet(LEAVE | {"node": pa.array(["n"]), "topics": pa.array([{"a": "x"}])}), "topics"),
        (parquet(LEAVE), "node"),
        (File("file:/in/x.parquet", 0.0, b"PAR1"), "no Parquet of events"),
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
        with pytest.raises(mw.OptionError, match="there are 6 events, and a journal that knows the last 5"):
            apply_batch(journal, tmp_path / "out", 0, files, together=False)
        assert journal.live.revision == 0
