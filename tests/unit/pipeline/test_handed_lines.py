"""Files whose bytes Spark hands to tasks in pieces: the same rows as of local files, and none passed over."""

import bz2
import gzip

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshwright.model.reading.limits import ReadLimits
from meshwright.pipeline.ingest.cutting import LONG_LINE, Layout
from meshwright.pipeline.ingest.file_parts import (
    check_all_handed,
    longest_piece,
    staged_pieces,
)
from meshwright.pipeline.ingest.inputs import InputFile
from meshwright.pipeline.ingest.lines import BLOCK_END
from meshwright.runtime.errors import InputError

EDGES = Layout(kind="edges", columns=(0, 1))
LIMITS = ReadLimits(line=50)


def handed(data, at_once=3):
    """What Spark hands over of a file: what is between ends of lines, some at a time."""
    pieces = (data if data.endswith(b"\n") else data + b"\n").split(b"\n")[:-1]
    for start in range(0, len(pieces), at_once):
        some = pieces[start : start + at_once]
        zeros = pa.array([0] * len(some), pa.int64())
        yield pa.record_batch([pa.array(some, pa.binary()), zeros, zeros], ["piece", "file", "block"])


def read(name, data, at_once=3, left_out=0):
    files = {0: InputFile(name, "", "", len(data) + left_out, 0)}
    rows = [
        row
        for batch in staged_pieces(handed(data, at_once), files, {0: EDGES}, LIMITS)
        for row in batch.to_pylist()
    ]
    check_all_handed(files[0], sum(int(row["text"]) for row in rows if row["reason"] == BLOCK_END), LIMITS)
    return [(row["node"], row["topic"], row["reason"]) for row in rows if row["reason"] != BLOCK_END]


@given(
    nodes=st.lists(st.sampled_from(["a", "bb", "c" * 30]), min_size=1, max_size=20),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    last=st.booleans(),
    at_once=st.integers(1, 9),
    form=st.sampled_from([("x.txt", bytes), ("x.txt.gz", gzip.compress), ("x.txt.bz2", bz2.compress)]),
)
def test_every_row_comes_once(nodes, end, last, at_once, form):
    name, packed = form
    text = end.join(f"{node} t{at}" for at, node in enumerate(nodes)) + end * last
    found = read(name, packed(text.encode()), at_once)
    assert sorted(found) == sorted((node, f"t{at}", None) for at, node in enumerate(nodes))


def test_a_line_that_is_too_long_is_rejected_where_it_is_handed_over():
    data = b"a b\n" + b"x" * 60 + b"\nc d\n"
    assert [reason for _, _, reason in read("x.txt", data)] == [None, None, LONG_LINE]
    assert [reason for _, _, reason in read("x.txt.gz", gzip.compress(data))].count(LONG_LINE) == 1


@pytest.mark.parametrize("missing", [60, 4, 1])
def test_a_line_that_hadoop_passed_over_refuses_the_file(missing):
    with pytest.raises(InputError, match=r"^lake://x\.txt: a line is longer than 50 bytes; .* --max-line"):
        read("lake://x.txt", b"a b\nc d\n", left_out=missing)


def test_a_byte_order_mark_that_hadoop_took_off_is_not_missed():
    assert len(read("x.txt", b"a b\nc d\n", left_out=3)) == 2
    assert len(read("x.txt", b"a b\nc d", left_out=3)) == 2


def test_compressed_bytes_of_which_some_were_passed_over_are_refused():
    data = gzip.compress(b"a b\n" * 100)
    with pytest.raises(InputError, match=r"^x\.gz: "):
        read("x.gz", data, left_out=70_000_000)


def test_hadoop_may_hold_more_of_compressed_bytes_than_of_a_line():
    assert longest_piece("x.gz", LIMITS) > 1 << 20
    assert LIMITS.line < longest_piece("x.csv", LIMITS) < 1 << 20
