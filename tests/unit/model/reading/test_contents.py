import bz2
import gzip
import os
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import meshwright as mw
from meshwright.model.reading.contents import check_text, is_blank
from meshwright.runtime.errors import InputError

INTERESTS = mw.Interests.from_pairs([("a", "t"), ("b", "t")])
ROWS = "source,target\na,b\n"


def packed(folder: Path, member: str) -> bytes:
    with zipfile.ZipFile(folder / "packed", "w") as archive:
        archive.writestr(member, ROWS)
    return (folder / "packed").read_bytes()


def parquet(folder: Path) -> bytes:
    pq.write_table(pa.table({"source": ["a"], "target": ["b"]}), folder / "table")
    return (folder / "table").read_bytes()


CONTENTS = {
    "is in UTF-16; save it as UTF-8": lambda folder: ROWS.encode("utf-16"),
    "is in UTF-16; save it": lambda folder: ROWS.encode("utf-16-be"),
    "is in UTF-32; save it as UTF-8": lambda folder: ROWS.encode("utf-32"),
    "is in UTF-32; save it": lambda folder: ROWS.encode("utf-32-le"),
    "line 2, is not UTF-8; save the file as UTF-8": lambda folder: b"source,target\n\xe9,b\n",
    "is compressed with gzip; end its name in .gz": lambda folder: gzip.compress(ROWS.encode()),
    "is compressed with bzip2; end its name in .bz2": lambda folder: bz2.compress(ROWS.encode()),
    "is a zip archive; end its name in .zip": lambda folder: packed(folder, "rows.csv"),
    "is an Excel file; save it as CSV": lambda folder: packed(folder, "[Content_Types].xml"),
    "is a Parquet file; end its name in .parquet": parquet,
}


@pytest.mark.parametrize("words", CONTENTS)
def test_what_is_no_csv_is_called_what_it_is(tmp_path, words):
    (tmp_path / "links.csv").write_bytes(CONTENTS[words](tmp_path))
    for read in (lambda path: mw.Overlay.from_csv(INTERESTS, path), mw.Costs.from_csv):
        with pytest.raises(InputError) as refused:
            read(tmp_path / "links.csv")
        assert words in str(refused.value)


@pytest.mark.parametrize("ending", ["gz", "bz2", "zst", "lz4", "zip"])
def test_what_is_not_compressed_as_its_name_says_is_refused(tmp_path, ending):
    (tmp_path / f"links.csv.{ending}").write_text(ROWS)
    with pytest.raises(InputError, match="is not compressed as its name says"):
        mw.Overlay.from_csv(INTERESTS, tmp_path / f"links.csv.{ending}")


def test_what_is_no_parquet_is_called_what_it_is(tmp_path):
    whole = parquet(tmp_path)
    cases = {"cut off or damaged": whole[:-1], "not a Parquet file": b"a,b", "gzip": gzip.compress(whole)}
    for words, data in cases.items():
        (tmp_path / "links.parquet").write_bytes(data)
        with pytest.raises(InputError, match=words):
            mw.Overlay.from_parquet(INTERESTS, tmp_path / "links.parquet")


def test_the_file_at_fault_in_a_folder_of_costs_is_named(tmp_path):
    table = pa.table({"source": ["a"], "target": ["b"], "cost": [1.0]})
    pq.write_table(table, tmp_path / "1.parquet")
    (tmp_path / "2.parquet").write_bytes(b"no")
    with pytest.raises(InputError, match=r"2\.parquet is not a Parquet file"):
        mw.Costs.from_file(tmp_path)


def test_a_pipe_is_not_a_regular_file(tmp_path):
    os.mkfifo(tmp_path / "links.csv")
    for path in (tmp_path / "links.csv", Path("/dev/zero")):
        with pytest.raises(InputError, match="is not a regular file"):
            mw.Overlay.from_csv(INTERESTS, path)
        with pytest.raises(InputError, match="is not a regular file"):
            mw.Overlay.from_parquet(INTERESTS, path)


@given(st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1))
def test_every_text_in_utf8_is_taken_for_text(text):
    check_text(text.encode(), "rows.csv")
    check_text(b"\xef\xbb\xbf" + text.encode(), "rows.csv")


@pytest.mark.parametrize(
    ("data", "blank"), [(b"", True), (b"\xef\xbb\xbf\r\n \t\n", True), (b"\n\n,", False)]
)
def test_a_file_of_blank_lines_is_blank(tmp_path, data, blank):
    (tmp_path / "file").write_bytes(data)
    assert is_blank(tmp_path / "file", len(data)) is blank
