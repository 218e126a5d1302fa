"""Compressed files: bombs and damage are refused, by every reader; members are one file."""

import bz2
import gzip
from collections.abc import Callable

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import meshwright as mw
from meshwright.model.reading.limits import ReadLimits
from meshwright.model.reading.text import blocks

SMALL = ReadLimits(line=1_000, ratio=20, small=10_000)
PACK = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "zst": lambda data: pa.compress(data, codec="zstd", asbytes=True),
}
LINES = b"".join(b"line %d of some text\n" % number for number in range(20_000))
ONE = mw.Interests.from_pairs([("a", "t"), ("b", "t")])
EVENT = b'{"at": 1, "event": "join", "node": "%s"}\n'
READERS: dict[str, tuple[Callable[..., object], bytes, bytes]] = {
    "e.jsonl": (mw.read_events, b"", EVENT),
    "i.csv": (mw.Interests.from_csv, b"node,topic\n", b"%s,t\n"),
    "o.csv": (lambda path, **how: mw.Overlay.from_csv(ONE, path, **how), b"source,target\n", b"%s,b\n"),
    "c.csv": (mw.Costs.from_csv, b"source,target,cost\n", b"%s,b,1\n"),
    "p.csv": (lambda path, **how: mw.Costs.coordinates(path, base=1, **how), b"node,lat,lon\n", b"%s,1,2\n"),
    "s.csv": (
        lambda path, **how: mw.Costs.clusters(path, inner=1, outer=2, **how),
        b"node,cluster\n",
        b"%s,x\n",
    ),
    "t.csv": (mw.read_sessions, b"node,start,end\n", b"%s,1,2\n"),
}


@pytest.fixture(params=READERS)
def reader(request: pytest.FixtureRequest) -> tuple[str, Callable[..., object], bytes, bytes]:
    return request.param, *READERS[request.param]


def test_a_bomb_is_refused_by_every_reader_with_the_option_that_lets_it_through(reader, tmp_path):
    name, read, head, row = reader
    path = tmp_path / f"{name}.gz"
    path.write_bytes(gzip.compress(head + (row % b"a") * 20_000))
    with pytest.raises(mw.InputError, match=rf"{name}.gz.* unpack to more than .* --max-ratio"):
        read(path, limits=SMALL)


@pytest.mark.parametrize("ending", PACK)
def test_a_bomb_of_any_kind_is_refused_as_soon_as_it_grows(ending, tmp_path):
    path = tmp_path / f"bomb.{ending}"
    path.write_bytes(PACK[ending](bytes(1_000_000)))
    read = []
    with pytest.raises(mw.InputError, match="unpack to more than"):
        read.extend(blocks(path, SMALL, 1_000))
    assert sum(map(len, read)) <= max(10_000, 20 * path.stat().st_size)
    assert sum(map(len, blocks(path, ReadLimits(ratio=20, small=1_000_000)))) == 1_000_000


def test_a_line_that_is_too_long_is_refused_by_every_reader_with_the_option_that_lets_it_through(
    reader, tmp_path, monkeypatch
):
    name, read, head, row = reader
    monkeypatch.setattr("meshwright.model.reading.csv_rows._BLOCK_BYTES", 256)
    path = tmp_path / name
    path.write_bytes(head + row % b"a" + row % (b"b" * 2_000))
    with pytest.raises(mw.InputError, match=rf"{name}.* is longer than 1,000 bytes.* --max-line"):
        read(path, limits=SMALL)


def test_what_repeats_itself_as_logs_do_is_no_bomb(tmp_path):
    (tmp_path / "log.gz").write_bytes(gzip.compress(LINES))
    assert len(LINES) / (tmp_path / "log.gz").stat().st_size > 5
    assert b"".join(blocks(tmp_path / "log.gz", ReadLimits(small=1))) == LINES


@pytest.mark.parametrize("ending", ["gz", "bz2"])
def test_members_after_each_other_are_one_file(ending, tmp_path):
    path = tmp_path / f"two.{ending}"
    path.write_bytes(PACK[ending](LINES[:1_000]) + PACK[ending](LINES[1_000:]))
    assert b"".join(blocks(path, ReadLimits())) == LINES


@pytest.mark.parametrize("ending", ["gz", "bz2"])
@pytest.mark.parametrize("damage", ["cut off", "a bit", "a checksum"])
def test_what_is_cut_off_or_damaged_is_refused(ending, damage, tmp_path):
    whole = bytearray(PACK[ending](LINES))
    if damage == "cut off":
        del whole[len(whole) // 2 :]
    else:
        whole[len(whole) // 2 if damage == "a bit" else -6] ^= 4
    (tmp_path / f"x.{ending}").write_bytes(whole)
    with pytest.raises(mw.InputError, match="a compressed file is cut off or damaged"):
        list(blocks(tmp_path / f"x.{ending}", ReadLimits()))


@pytest.mark.parametrize(
    ("read", "columns"),
    [
        (mw.read_events, {"at": "1", "event": "leave", "node": "n"}),
        (mw.Interests.from_parquet, {"node": "n", "topic": "t"}),
        (mw.Costs.from_parquet, {"source": "n", "target": "m"}),
    ],
)
def test_a_table_of_one_row_repeated_without_end_is_a_bomb_too(read, columns, tmp_path):
    count = 200_000
    same = pa.nulls(count, pa.int32()).fill_null(0)
    table = pa.table({name: pa.array([value]).take(same) for name, value in columns.items()})
    if "at" in columns:
        table = table.set_column(0, "at", pa.nulls(count, pa.int64()).fill_null(1))
    if "source" in columns:
        table = table.append_column("cost", pa.nulls(count, pa.float64()).fill_null(1.0))
    path = tmp_path / "bomb.parquet"
    pq.write_table(table, path, compression="zstd")
    with pytest.raises(mw.InputError, match=r"bomb.parquet.* unpack to more than .* --max-ratio"):
        read(path, limits=SMALL)


@pytest.mark.parametrize(("limit", "value"), [("line", 0), ("ratio", -1), ("small", 1.5), ("line", True)])
def test_a_limit_is_a_whole_number_from_one_on(limit, value):
    with pytest.raises(mw.OptionError, match="give a whole number of at least 1"):
        ReadLimits(**{limit: value})
