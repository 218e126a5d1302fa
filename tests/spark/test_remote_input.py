"""Inputs on a file system that only Hadoop reaches: the same rows, limits and errors as on this machine."""

import bz2
import gzip
import re
import zlib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from meshwright import Interests
from meshwright.model.reading.limits import ReadLimits
from meshwright.pipeline.ingest.cutting import LONG_LINE, LONG_NAME
from meshwright.pipeline.ingest.job import ingest
from meshwright.pipeline.ingest.options import IngestOptions
from meshwright.runtime.errors import InputError

ROWS = [(f"n{at % 40}", f"t{at}") for at in range(3_000)]
TABLE = "".join(f"{node},{topic}\r\n" for node, topic in [("node", "topic"), *ROWS]).encode()


@pytest.fixture
def take(spark, lake, tmp_path):
    """Ingest files of these names and bytes from the remote place."""

    def call(files, **options):
        folder = tmp_path / "ä b"
        folder.mkdir(exist_ok=True)
        for name, data in files.items():
            (folder / name).write_bytes(data)
        options = IngestOptions(relation="pairs", **options)
        return ingest(spark, [f"{lake}/{name}" for name in files], tmp_path / "out", options)["facts"]

    return call


def test_text_in_every_form_is_read_whole_and_rejected_by_line(take, tmp_path):
    body = b"\n".join(TABLE.split(b"\r\n")[1:])
    facts = take(
        {
            "a.csv": b"\xef\xbb\xbf" + TABLE,
            "b.csv.gz": gzip.compress(b"topic,node\nx,y,z\nt,n") + gzip.compress(b"\nt2,n"),
            "c.csv.bz2": bz2.compress(b"node,topic\n" + body[: len(body) // 2])
            + bz2.compress(body[len(body) // 2 :]),
            "d[1].CSV.GZ": gzip.compress(TABLE),
            "f.csv": b"node,topic\nno end,t",
        },
        format="csv",
    )
    assert (facts["rows"], facts["rejected"]) == (9_004, 1)
    assert len(list(Interests.read(tmp_path / "out").to_pairs())) == 3_003
    (row,) = pq.read_table(tmp_path / "out" / "rejected").to_pylist()
    assert (row["file"], row["line"]) == ("viewfs://lake/data/ä b/b.csv.gz", 2)


def test_a_damaged_or_cut_off_file_is_named(take):
    packed = bytearray(bz2.compress(TABLE * 60))
    packed[len(packed) // 2] ^= 4
    for name, data in {
        "x.csv.bz2": bytes(packed),
        "x.csv.gz": gzip.compress(TABLE)[:-9],
        "y.csv.gz": b"no gzip",
    }.items():
        with pytest.raises(InputError, match=rf"ä b/{name}: a compressed file is cut off or damaged"):
            take({"good.csv": TABLE, name: data})


def test_bombs_and_long_lines_are_held_to_the_limits(take):
    limits = ReadLimits(line=10_000, ratio=20, small=1_000)
    bomb = {"bomb.jsonl.gz": gzip.compress(b" " * 300_000)}
    with pytest.raises(InputError, match=r"bomb\.jsonl\.gz: its .* at most 20 times.* --max-ratio"):
        take(bomb, limits=limits)
    with pytest.raises(InputError, match=r"x\.csv: a line is longer than 10,000 bytes; .* --max-line"):
        take({"x.csv": TABLE + b"n,t" * 10_000 + b"\n" + TABLE}, limits=limits)
    with pytest.raises(InputError, match=r"x\.txt: a line is longer than 10,000 bytes"):
        take({"x.txt": b"n t" * 10_000}, limits=limits)
    within = ReadLimits(line=100_000, ratio=1_000)
    row = b'{"node": "n", "topic": ["t"]}\n'
    facts = take({"x.jsonl.gz": gzip.compress(row * 200 + b" " * 200_000 + b"\n" + row)}, limits=within)
    assert (facts["rows"], facts["rejected_reasons"]) == (202, {LONG_LINE: 1})


@pytest.mark.parametrize("format", ["csv", None])
def test_a_form_that_is_not_known_is_refused_by_name(take, format):
    with pytest.raises(
        InputError, match=re.escape("x.csv.deflate: .deflate files can't be read; unpack the file")
    ):
        take({"x.csv.deflate": zlib.compress(TABLE)}, format=format)


def parquet(tmp_path, topics, compression="zstd"):
    table = pa.table({"node": [f"n{at}" for at in range(len(topics))], "topic": topics})
    pq.write_table(table, tmp_path / "made", compression=compression)
    return (tmp_path / "made").read_bytes()


def test_a_damaged_parquet_file_is_named_before_rows_are_read(take, tmp_path):
    good = parquet(tmp_path, ["t"] * 10)
    for data in (good[:-1], good[: len(good) // 2], b"PAR1" + good[-12:], good[:-30] + b"x" * 22 + good[-8:]):
        with pytest.raises(InputError, match=r"^viewfs://lake/data/ä b/bad\.parquet") as found:
            take({"good.parquet": good, "bad.parquet": data})
        assert "\n" not in str(found.value)


def test_a_parquet_file_is_held_to_the_limits(take, tmp_path):
    limits = ReadLimits(line=200_000, ratio=20, small=1_000)
    with pytest.raises(InputError, match=r"x\.parquet: its .* at most 20 times.* --max-ratio"):
        take({"x.parquet": parquet(tmp_path, ["t" * 9_000] * 9 + ["u" * 60_000])}, limits=limits)
    with pytest.raises(InputError, match=r"x\.parquet: a cell of column .*topic.* is longer than 200,000"):
        take({"x.parquet": parquet(tmp_path, ["t" * 500_000], None)}, limits=limits)
    lists = [["t"], [f"t{at}" for at in range(50_000)], ["u" * 70_000], *[["t"]] * 9]
    facts = take({"x.parquet": parquet(tmp_path, lists, None)}, limits=limits, max_rejected=1.0)
    assert facts["rejected_reasons"] == {LONG_LINE: 1, LONG_NAME: 1}
    assert facts["rows"] == 12


def test_damage_inside_a_page_of_parquet_is_named_too(take, tmp_path):
    good = parquet(tmp_path, [f"t{at}" for at in range(200)], None)
    for at in (4, 7, 9, 40):
        data = good[:at] + bytes(value ^ 0x55 for value in good[at : at + 24]) + good[at + 24 :]
        with pytest.raises(InputError, match=r"^viewfs://lake/data/ä b/bad\.parquet: ") as found:
            take({"bad.parquet": data, "good.parquet": good, "more.parquet": good})
        assert "\n" not in str(found.value)
