"""CSV by blocks: rows end where Arrow says that they do, and errors tell the row of the file."""

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from meshwright.model.reading import csv_rows
from meshwright.model.reading.csv_rows import CsvLayout, read_rows
from meshwright.model.reading.limits import ReadLimits
from meshwright.runtime.errors import InputError

LAYOUT = CsvLayout(names=["a", "b"], types={"a": pa.string(), "b": pa.string()}, delimiter=",")
CELLS = st.sampled_from(["x", "", 'in"side', '"quoted"', '"two\nlines"', '"say ""hi"""', '"a,b"', '"q"tail'])
ONE_BAD_ROW = """
import sys
from pathlib import Path
import meshwright as mw
try:
    mw.Interests.from_csv(sys.argv[1])
except mw.InputError as error:
    print(error)
    sys.exit(2)
"""


def rows(path: Path, **limits: int) -> list[tuple[str, str]]:
    found = read_rows(path, LAYOUT, ReadLimits(**limits))
    return [(row["a"], row["b"]) for batch in found for row in batch.to_pylist()]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    cells=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=12),
    end=st.sampled_from(["\n", "\r\n"]),
    size=st.integers(1, 40),
)
def test_rows_are_the_same_wherever_blocks_end(cells, end, size, tmp_path, monkeypatch):
    path = tmp_path / "x.csv"
    text = "".join(f"{a},{b}{end}" for a, b in [("a", "b"), *cells])
    path.write_bytes(text.encode())
    if text.count('"') % 2:
        return
    monkeypatch.setattr(csv_rows, "_BLOCK_BYTES", 1 << 24)
    expected = rows(path)
    assert len(expected) == len(cells)
    monkeypatch.setattr(csv_rows, "_BLOCK_BYTES", size)
    assert rows(path) == expected


@pytest.mark.parametrize(
    ("data", "end"),
    [
        # Python 3.11.2 puts the end of a possessive expression in the row that is cut off.
        (b'in"side,x\n"c,d\n', 10),
        (b'"q"tail"\n"x', 9),
        (b'in"side,""""\n"a""\n', 13),
        (b'in"side,x\r\n"c,\nd"\n', 18),
        (b'in""side,x\ny,z\n"', 15),
        (b'"c,d\nin"side', 0),
    ],
)
def test_a_row_that_is_cut_off_inside_quotes_stays_whole(data, end):
    assert csv_rows._RowEnds(b",").last(data) == end


def test_a_bad_row_is_told_by_its_line_in_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_rows, "_BLOCK_BYTES", 64)
    (tmp_path / "x.csv").write_text("\na,b\n" + "x,y\n" * 100 + "x,y,z\n" + "x,y\n" * 100)
    layout = CsvLayout(names=["a", "b"], types=LAYOUT.types, delimiter=",", blank_lines=1)
    with pytest.raises(InputError, match=r"x.csv, line 103 has 3 columns instead of 2"):
        list(read_rows(tmp_path / "x.csv", layout, ReadLimits()))


def test_a_quote_that_is_never_closed_is_told_before_all_is_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_rows, "_BLOCK_BYTES", 64)
    (tmp_path / "x.csv").write_text('a,b\nx,"y\n' + "x,y\n" * 1_000)
    with pytest.raises(InputError, match=r"from byte 4 on \(is a quote never closed\?\) is longer than 500"):
        rows(tmp_path / "x.csv", line=500)


def test_one_bad_row_in_a_large_file_ends_the_process_as_any_error_does(tmp_path):
    path = tmp_path / "large.csv"
    path.write_bytes(b"node,topic\na,b,c\n" + b"node0001234,topic01234\n" * 2_500_000)
    done = subprocess.run(
        [sys.executable, "-c", ONE_BAD_ROW, path], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (2, "")
    assert "line 2 has 3 columns instead of 2" in done.stdout
