"""Text files read by tasks: the same rows in any parts, and nothing passed over in silence. Without Spark."""

import bz2
import gzip

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from meshwright.model.reading.limits import ReadLimits
from meshwright.pipeline.ingest import file_parts
from meshwright.pipeline.ingest.cutting import Layout
from meshwright.pipeline.ingest.file_parts import parts_of, staged_shares
from meshwright.pipeline.ingest.lines import BLOCK_END
from meshwright.runtime.errors import InputError

EDGES = Layout(kind="edges", columns=(0, 1))
BLOCK_MAGIC = 0x314159265359


def read(paths, tasks=2, **limits):
    """All rows, in the order of parts."""
    shares = parts_of({number: str(path) for number, path in enumerate(paths)}, tasks)
    numbers = pa.record_batch([pa.array(range(len(shares)))], ["id"])
    layouts = dict.fromkeys(range(len(paths)), EDGES)
    found = staged_shares([numbers], shares, layouts, ReadLimits(**limits))
    return [row for batch in found for row in batch.to_pylist()]


def pairs(rows):
    return sorted((row["node"], row["topic"]) for row in rows if row["reason"] is None)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    nodes=st.lists(st.sampled_from(["a", "bb", "c" * 30]), min_size=1, max_size=20),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    last=st.booleans(),
    size=st.integers(1, 50),
)
def test_every_row_is_in_one_part(nodes, end, last, size, tmp_path, monkeypatch):
    monkeypatch.setattr(file_parts, "_LEAST_PART", 1)
    monkeypatch.setattr(file_parts, "_LARGEST_PART", size)
    monkeypatch.setattr(file_parts, "BLOCK_BYTES", max(1, size // 3))
    text = end.join(f"{node} t{at}" for at, node in enumerate(nodes)) + end * last
    (tmp_path / "x.txt").write_bytes(text.encode())
    rows = read([tmp_path / "x.txt"])
    assert pairs(rows) == sorted((node, f"t{at}") for at, node in enumerate(nodes))
    assert sum(row["line"] for row in rows if row["reason"] == BLOCK_END) == len(nodes)


def test_small_files_share_a_task_and_a_packed_one_is_never_cut(tmp_path):
    for number in range(100):
        (tmp_path / f"{number}.txt").write_text("a b\n")
    assert len(parts_of({at: str(tmp_path / f"{at}.txt") for at in range(100)}, 2)) < 10
    (tmp_path / "x.txt.gz").write_bytes(bytes(20 << 20))
    ((part,),) = parts_of({0: str(tmp_path / "x.txt.gz")}, 8)
    assert (part.start, part.stop) == (0, 20 << 20)


def test_a_line_that_is_too_long_is_one_row_that_can_not_be_used(tmp_path):
    (tmp_path / "x.txt").write_bytes(b"a b\n" + b"c" * 3_000_000 + b" d\ne f\n")
    rows = read([tmp_path / "x.txt"], line=1_000)
    assert pairs(rows) == [("a", "b"), ("e", "f")]
    (bad,) = [row for row in rows if row["reason"] not in (None, BLOCK_END)]
    assert (bad["line"], bad["reason"], bad["text"]) == (2, "line too long", "c" * 200)


def test_a_block_of_bzip2_whose_marker_is_damaged_is_refused(tmp_path):
    lines = b"".join(b"n%d t%d\n" % (number, number * 7919 % 100_003) for number in range(60_000))
    packed = bz2.compress(lines, 1)
    bits = "".join(f"{byte:08b}" for byte in packed)
    at = bits.rindex(f"{BLOCK_MAGIC:048b}") + 5  # where Hadoop looks for the next block
    damaged = bytearray(packed)
    damaged[at // 8] ^= 128 >> at % 8
    (tmp_path / "x.txt.bz2").write_bytes(damaged)
    with pytest.raises(InputError, match=r"x.txt.bz2: a compressed file is cut off or damaged"):
        read([tmp_path / "x.txt.bz2"])


def test_members_after_each_other_are_read_to_the_end(tmp_path):
    for name, pack in (("x.txt.gz", gzip.compress), ("y.txt.bz2", bz2.compress)):
        (tmp_path / name).write_bytes(pack(b"a b\nc ") + pack(b"d\n"))
        assert pairs(read([tmp_path / name])) == [("a", "b"), ("c", "d")]


@pytest.mark.parametrize("name", ["a:b.txt", "a[1].txt", "b*.txt", "{x}.txt", "?.txt", "a b\n.txt"])
def test_a_name_is_taken_as_it_stands(name, tmp_path):
    (tmp_path / name).write_bytes(b"a b\nbad\n")
    (tmp_path / "bx.txt").write_bytes(b"c d\nbad\n")
    rows = read([tmp_path / name])
    assert pairs(rows) == [("a", "b")]
    assert [row["line"] for row in rows if row["reason"] == "missing column"] == [2]
