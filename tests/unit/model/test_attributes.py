"""Attributes of nodes and topics, from tables and files."""

import gzip
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import meshwright as mw

PAIRS = [("b1", "news"), ("b2", "news"), ("b2", "x"), ("b3", "x")]


@pytest.fixture
def interests() -> mw.Interests:
    return mw.Interests.from_pairs(PAIRS)


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def nodes_of(found: mw.Interests) -> dict[str, list[object]]:
    assert found.node_attributes is not None
    columns: dict[str, list[object]] = found.node_attributes.to_pydict()
    return columns


def test_what_a_file_does_not_name_has_no_value(interests: mw.Interests, tmp_path: Path) -> None:
    nodes = written(tmp_path / "nodes.csv", "site,node,max_links\nOslo,b3,7\n,b1,\n")
    topics = written(tmp_path / "topics.tsv", "topic\trate\nx\t2.5\n")
    found = interests.with_attributes(nodes, topics)
    assert nodes_of(found) == {"site": [None, None, "Oslo"], "max_links": [None, None, 7]}
    assert found.topic_attributes == pa.table({"rate": [None, 2.5]})
    assert list(found.to_pairs()) == PAIRS


def test_all_forms_of_a_table_give_the_same(interests: mw.Interests, tmp_path: Path) -> None:
    table = pa.table({"name": ["b2", "b1", "b3"], "max_links": [1, 2, 3]})
    pq.write_table(table, tmp_path / "nodes.parquet")
    text = "name;max_links\nb2;1\nb1;2\nb3;3\n"
    with gzip.open(tmp_path / "nodes.csv.gz", "wt") as packed:
        packed.write(text)
    sources = [table, table.to_pandas(), tmp_path / "nodes.parquet", tmp_path / "nodes.csv.gz"]
    for source in [*sources, str(written(tmp_path / "nodes.csv", text))]:
        assert nodes_of(interests.with_attributes(source)) == {"max_links": [2, 1, 3]}


def test_other_attributes_stay_and_those_of_the_same_name_are_replaced(interests: mw.Interests) -> None:
    first = interests.with_attributes(pd.DataFrame({"node": ["b1"], "site": ["Oslo"], "note": ["old"]}))
    second = first.with_attributes(pd.DataFrame({"node": ["b2"], "note": ["new"]}))
    assert nodes_of(second) == {"site": ["Oslo", None, None], "note": [None, "new", None]}
    assert second.with_attributes() == second


def test_a_folder_without_parquet_files_is_refused(interests: mw.Interests, tmp_path: Path) -> None:
    with pytest.raises(mw.InputError, match=r"holds no \*.parquet file; give a Parquet file or a folder"):
        interests.with_attributes(tmp_path)


def test_a_cap_from_a_file_is_kept_by_a_build(interests: mw.Interests, tmp_path: Path) -> None:
    nodes = written(tmp_path / "nodes.csv", "node,max_links\nb2,1\n")
    with pytest.raises(mw.InfeasibleError, match="'b2'"):
        mw.build(interests.with_attributes(nodes), "gm", max_links="column")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no column 'node' or 'name'"),
        ("nod,max_links\nb1,2\n", "its columns are nod, max_links; rename the one with the names of nodes"),
        ("node\nb1\n", "has only the column 'node'; add columns such as site"),
        ("node,node\nb1,b2\n", "has two columns 'node'; rename one"),
        ("node,max_links\nb9,2\nb8,2\n", r"names node 'b9', which is not in the dataset \(and 1 more\)"),
        ("node,max_links\nb1,2\nb1,3\n", "has several rows for node 'b1'; keep one"),
        ("node,max_links\nb1,two\n", "max_links is 'two'; give a whole number, or leave the cell empty"),
        ("node,max_links\nb1,2.5\n", "max_links is '2.5'; give a whole number"),
        ("node,lat\nb1,north\n", "lat is 'north'; give a number"),
        ("node,lat\n\n,1\n", "line 3: the node has no name; give it one"),
        ("node,lat\nb1,1,2\n", "line 2 has 3 columns instead of 2"),
        ("node,id\nb1,1\n", "can't have a column 'id'"),
    ],
)
def test_a_file_that_can_not_be_meant_is_refused(
    interests: mw.Interests, tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(mw.InputError, match=said):
        interests.with_attributes(written(tmp_path / "nodes.csv", text))


def test_booleans_are_no_numbers():
    pair = mw.Interests.from_pairs([("a", "t"), ("b", "t")])
    flags = pa.table({"node": ["a", "b"], "max_links": [None, True]})
    with pytest.raises(mw.InputError, match="max_links is 'True'; give"):
        pair.with_attributes(nodes=flags)
