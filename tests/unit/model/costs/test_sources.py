import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from meshwright.model.costs.costs import Costs
from meshwright.model.interests import Interests
from meshwright.runtime import memory
from meshwright.runtime.errors import CapacityError, InputError

NAMES = ["Zürich", "東京", "a, b"]
MATRIX = [[0.0, 2.0, 3.0], [2.0, 0.0, 5.0], [3.0, 5.0, 0.0]]
CITIES = Interests.from_pairs([], nodes=NAMES)
WANTED = Costs.from_matrix(MATRIX, NAMES).of(CITIES).to_matrix().tolist()


def write(path: Path, text: str) -> Path:
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def by_id(costs: Costs) -> list[list[float]]:
    found: list[list[float]] = costs.of(CITIES).to_matrix().tolist()
    return found


SQUARE = 'city,Zürich,東京,"a, b"\nZürich,,2,3\n東京,2,,5\n"a, b",3,5,\n'
OTHER_ORDER = 'city,"a, b",東京,Zürich\n東京,5,0,2\nZürich,3,2,0\n"a, b",0,5,3\n'
TABS = "\tZürich\t東京\ta, b\nZürich\t0\t2\t3\n東京\t2\t0\t5\na, b\t3\t5\t0\n"
SEMICOLONS = "city;Zürich;東京;a b\nZürich;0;2;3\n東京;2;0;5\na b;3;5;0\n".replace("a b", '"a, b"')
LIST = 'source,target,cost\nZürich,東京,2\nZürich,"a, b",3\n"a, b",東京,5\n東京,東京,0\n'


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("square.csv", SQUARE),
        ("square.csv.gz", SQUARE),
        ("windows.csv", "\ufeff" + SQUARE.replace("\n", "\r\n")),
        ("blank-lines.csv", "\n" + SQUARE + "\n\n"),
        ("other-order.csv", OTHER_ORDER),
        ("tabs.txt", TABS),
        ("list.csv", LIST),
        ("list.tsv.gz", LIST.replace('"', "").replace(", ", "; ").replace(",", "\t").replace("; ", ", ")),
    ],
)
def test_text_of_any_shape_gives_the_same_costs(tmp_path: Path, name: str, text: str) -> None:
    path = write(tmp_path / name, text)
    assert by_id(Costs.from_csv(path)) == WANTED
    assert by_id(Costs.from_file(path)) == WANTED


def test_the_delimiter_and_the_header_can_be_told(tmp_path: Path) -> None:
    path = write(tmp_path / "m.csv", SEMICOLONS)
    assert by_id(Costs.from_csv(path, delimiter=";")) == WANTED
    path = write(tmp_path / "years.csv", ",1999,2001\n1999,,7\n2001,7,\n")
    assert Costs.from_csv(path, header=True).nodes.to_pylist() == ["1999", "2001"]


@pytest.mark.parametrize("mark", ["\t", ",", ";", " "])
def test_numbers_alone_are_a_matrix_of_numbered_or_named_nodes(tmp_path: Path, mark: str) -> None:
    rows = [mark.join(map(str, row)) for row in MATRIX]
    path = write(tmp_path / "m.txt.gz", "\n".join(rows))
    assert Costs.from_csv(path) == Costs.from_matrix(MATRIX)
    assert Costs.from_csv(path, NAMES) == Costs.from_matrix(MATRIX, NAMES)


def test_empty_cells_are_pairs_without_a_number(tmp_path: Path) -> None:
    path = write(tmp_path / "m.csv", "x,a,b,c\na,0,1,\nb,1,0,2\nc,NaN,,0\n")
    with pytest.raises(InputError, match=r"m\.csv: there is no cost from 'a' to 'c' \(and 1 more\)"):
        Costs.from_csv(path)
    costs = Costs.from_csv(path, missing="path")
    assert costs.to_matrix().tolist() == [[0, 1, 3], [1, 0, 2], [3, 2, 0]]


def test_a_list_may_have_both_directions_and_the_rule_joins_them(tmp_path: Path) -> None:
    path = write(tmp_path / "l.csv", "cost,source,target\n1,a,b\n3,b,a\n1,a,b\n")
    assert Costs.from_csv(path).to_matrix().tolist() == [[0, 2], [2, 0]]
    path = write(tmp_path / "l.csv", "source,target,cost\na,b,1\na,b,2\n")
    with pytest.raises(InputError, match="row 1: 'a' to 'b' costs 1 here and 2 in a later row"):
        Costs.from_csv(path)
    path = write(tmp_path / "l.csv", "source,target,cost\na,b,1\nb,c,2\n")
    with pytest.raises(InputError, match="no cost from 'a' to 'c'"):
        Costs.from_csv(path)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("x,a,b\na,0,1\n", "'b' has a column but no row"),
        ("x,a\na,0\nb,1\n", "'b' has a row but no column"),
        ("x,a,b\na,0,1\nc,1,0\n", "'b' has a column but no row"),
        ("x,a,a\na,0,1\na,1,0\n", "the column 'a' appears 2 times"),
        ("x,a,b\na,0,1\na,1,0\n", "the row 'a' appears 2 times"),
        ("x,a,\na,0,1\nb,1,0\n", "empty"),
        ("x,a,b\n", r"'a' \(and 1 more\) has a column but no row"),
        ("x,a,b\na,0,1\nb,1\n", "line 3 has 2 columns instead of 3"),
        ("0,1\n1\n", "line 2 has 1 column instead of 2"),
        ("0,1,2\n1,0,3\n", r"shape \(2, 3\); give a square"),
        ("x,a,b\na,0,far\nb,1,0\n", "line 2: column 3 has 'far'"),
        ("x,a,b\na,0,-4\nb,1,0\n", r"^.*m\.csv: the cost from 'a' to 'b' is -4"),
        ("x,a,b\na,0,inf\nb,1,0\n", "is inf"),
        ("source,target,cost\na,b,near\n", "near"),
        ("source,target,cost\na,,3\n", "line 2: the target is missing"),
        ("source,target,cost\na,b,0\n", "from 'a' to 'b' is 0"),
    ],
)
def test_text_that_is_no_matrix_is_refused_with_the_file_and_the_place(
    tmp_path: Path, text: str, rule: str
) -> None:
    path = write(tmp_path / "m.csv", text)
    with pytest.raises(InputError, match=rule) as caught:
        Costs.from_csv(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_files_that_name_their_nodes_take_no_other_names(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="leave names= "):
        Costs.from_csv(write(tmp_path / "m.csv", SQUARE), NAMES)


def test_files_that_are_not_there_or_cut_off_are_refused(tmp_path: Path) -> None:
    for reader in (Costs.from_csv, Costs.from_parquet, Costs.from_npy, Costs.from_file):
        with pytest.raises(InputError, match="no such file"):
            reader(tmp_path / "nowhere.npy")
    cut = tmp_path / "m.csv.gz"
    cut.write_bytes(gzip.compress(SQUARE.encode() * 50)[:60])
    with pytest.raises(InputError, match="a compressed file is cut off"):
        Costs.from_csv(cut)
    (tmp_path / "m.csv").write_bytes(b"x,\xff\n\xff,0\n")
    with pytest.raises(InputError, match="line 1, is not UTF-8"):
        Costs.from_csv(tmp_path / "m.csv")


def test_parquet_has_a_column_a_node_and_one_of_names(tmp_path: Path) -> None:
    frame = pd.DataFrame(MATRIX, index=NAMES, columns=NAMES)
    frame.iloc[::-1].to_parquet(tmp_path / "frame.parquet")
    assert by_id(Costs.from_parquet(tmp_path / "frame.parquet")) == WANTED
    frame.reset_index(drop=True).astype("int32").to_parquet(tmp_path / "plain.parquet")
    assert by_id(Costs.from_file(tmp_path / "plain.parquet")) == WANTED
    folder = tmp_path / "parts"
    folder.mkdir()
    table = pa.table({"name": NAMES} | dict(zip(NAMES, MATRIX, strict=True)))
    pq.write_table(table.slice(0, 1), folder / "a.parquet")
    pq.write_table(table.slice(1), folder / "b.parquet")
    assert by_id(Costs.from_file(folder)) == WANTED


def test_parquet_may_be_a_list_of_pairs(tmp_path: Path) -> None:
    rows = {"source": ["Zürich", "Zürich", "東京"], "target": ["東京", "a, b", "a, b"], "cost": [2, 3, 5]}
    pq.write_table(pa.table(rows), tmp_path / "list.parquet")
    assert by_id(Costs.from_parquet(tmp_path / "list.parquet")) == WANTED


@pytest.mark.parametrize(
    ("columns", "rule"),
    [
        ({"n": ["a", "b"], "a": [0.0, 1.0]}, "'b' has a row but no column"),
        ({"a": [0.0, 1.0], "b": [1.0, None], "c": [1.0, 1.0]}, "2 rows and 3 columns"),
        ({"n": ["a", "b"], "m": ["a", "b"], "a": [0, 1], "b": [1, 0]}, "two columns of text, 'n' and 'm'"),
        ({"n": ["a", "b"], "a": [True, False], "b": [False, True]}, "column 'a' is bool"),
        ({"n": ["a", "b"], "a": [0.0, None], "b": [1.0, 0.0]}, "no cost from 'b' to 'a'"),
        ({"n": ["a", None], "a": [0.0, 1.0], "b": [1.0, 0.0]}, "1 nulls"),
    ],
)
def test_parquet_that_is_no_matrix_is_refused(tmp_path: Path, columns: Any, rule: str) -> None:
    pq.write_table(pa.table(columns), tmp_path / "m.parquet")
    with pytest.raises(InputError, match=rule):
        Costs.from_parquet(tmp_path / "m.parquet")


def test_npy_holds_a_square_of_any_type_of_number(tmp_path: Path) -> None:
    for kind in (np.float32, np.int16, np.float64):
        np.save(tmp_path / "m.npy", np.array(MATRIX, kind))
        assert Costs.from_npy(tmp_path / "m.npy", NAMES) == Costs.from_matrix(MATRIX, NAMES)
    assert Costs.from_file(tmp_path / "m.npy") == Costs.from_matrix(MATRIX)


@pytest.mark.parametrize(
    ("array", "rule"),
    [
        (np.ones((2, 3)), r"m\.npy: the matrix has shape \(2, 3\)"),
        (np.array([{"a": 1}], object), "can't be read as a numpy array"),
        (np.ones(4), "give a square"),
        (np.array(5.0), "give a square"),
    ],
)
def test_npy_that_is_no_square_is_refused(tmp_path: Path, array: Any, rule: str) -> None:
    np.save(tmp_path / "m.npy", array)
    with pytest.raises(InputError, match=rule):
        Costs.from_npy(tmp_path / "m.npy")


def test_npy_that_is_an_archive_or_no_array_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "m.npz", a=np.ones((2, 2)))
    with pytest.raises(InputError, match="an archive"):
        Costs.from_npy(tmp_path / "m.npz")
    (tmp_path / "m.npy").write_bytes(b"")
    with pytest.raises(InputError, match="can't be read as a numpy array"):
        Costs.from_npy(tmp_path / "m.npy")


def test_a_file_that_does_not_fit_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.save(tmp_path / "m.npy", np.array(MATRIX))
    pq.write_table(pa.table(dict(zip(NAMES, MATRIX, strict=True))), tmp_path / "m.parquet")
    write(tmp_path / "m.csv", SQUARE)
    monkeypatch.setattr(memory, "free_memory", lambda: 50)
    for name in ("m.npy", "m.parquet", "m.csv"):
        with pytest.raises(CapacityError, match="a matrix of the costs between"):
            Costs.from_file(tmp_path / name)


def test_an_error_in_a_file_is_the_public_one_and_names_the_file_once(tmp_path):
    path = tmp_path / "rtt.csv"
    path.write_text("source,target,cost\na,b,cheap\n")
    with pytest.raises(InputError) as caught:
        Costs.from_csv(path)
    assert type(caught.value) is InputError
    assert str(caught.value).count(str(path)) == 1


def test_a_list_with_other_columns_that_was_taken_for_a_matrix_leads_to_its_columns(tmp_path):
    (tmp_path / "c.csv").write_text("from,to,ms\na,b,3\n")
    with pytest.raises(InputError, match=r"column 2 has 'b'.*--cost-columns"):
        Costs.from_csv(tmp_path / "c.csv")
