"""CSV and Parquet: what is read, what is refused, and where the error says it is."""

import gzip
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from meshwright.model.interests import Interests
from meshwright.runtime.errors import InputError
from meshwright.runtime.progress import Progress


def csv_of(folder: Path, data: str | bytes, name: str = "pairs.csv") -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def parquet_of(folder: Path, columns: Any, name: str = "pairs.parquet", **options: Any) -> Path:
    pq.write_table(columns if isinstance(columns, pa.Table) else pa.table(columns), folder / name, **options)
    return folder / name


AWKWARD = [
    "007",
    "7",
    " 7 ",
    "two words",
    'say "hi"',
    "a,b",
    "two\nlines",
    "a\r\nb",
    "Ω日本",
    "NULL",
    "nan",
    "#",
]


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@pytest.mark.filterwarnings("ignore:the topic '#' has an MQTT wildcard")
def test_csv_keeps_every_name_as_it_stands(tmp_path: Path) -> None:
    lines = ["node,topic", *(f"{quoted(name)},{quoted(name)}" for name in AWKWARD)]
    made = Interests.from_csv(csv_of(tmp_path, "\n".join(lines) + "\n"))
    assert set(made.to_pairs()) == {(name, name) for name in AWKWARD}


def test_csv_does_not_trim_or_guess(tmp_path: Path) -> None:
    made = Interests.from_csv(csv_of(tmp_path, "topic,x,node\n 1,,007\n1.0,,7\n"))
    assert list(made.to_pairs()) == [("007", " 1"), ("7", "1.0")]


@pytest.mark.parametrize(
    "text",
    [
        "node,topic\na,t\nb,t\n",
        "node,topic\r\na,t\r\nb,t\r\n",
        "\ufeffnode,topic\na,t\nb,t",
        "\n\nnode,topic\n\na,t\n\nb,t\n\n",
        '"node","topic"\n"a","t"\n"b","t"\na,t\n',
    ],
)
def test_csv_dialects_read_alike(tmp_path: Path, text: str) -> None:
    assert Interests.from_csv(csv_of(tmp_path, text)) == Interests.from_pairs([("a", "t"), ("b", "t")])


def test_delimiter_and_compression_follow_the_name_of_the_file(tmp_path: Path) -> None:
    wanted = Interests.from_pairs([("a,1", "t")])
    text = "node\ttopic\na,1\tt\n"
    assert Interests.from_csv(csv_of(tmp_path, text, "p.tsv")) == wanted
    assert Interests.from_csv(csv_of(tmp_path, gzip.compress(text.encode()), "p.tsv.gz")) == wanted
    semicolons = csv_of(tmp_path, "node;topic\na,1;t\n")
    assert Interests.from_csv(semicolons, delimiter=";") == wanted


def test_columns_can_be_named(tmp_path: Path) -> None:
    path = csv_of(tmp_path, "who,what\na,t\n")
    assert Interests.from_csv(path, node="who", topic="what") == Interests.from_pairs([("a", "t")])


@pytest.mark.parametrize("text", ["node,topic", "node,topic\n", "\nnode,topic\r\n\r\n"])
def test_a_header_alone_is_no_interests(tmp_path: Path, text: str) -> None:
    assert Interests.from_csv(csv_of(tmp_path, text)) == Interests.from_pairs([])


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        ("", "is empty; its first line must have the columns node,topic"),
        ("\n\n", "is empty"),
        ("a,b\n1,2\n", "has no column 'node'; its columns are a, b: name the one to use"),
        ("node\ttopic\na\tt\n", r"has no column 'node'; its columns are node\\ttopic: check the delimiter"),
        ("node,topic,node\na,t,b\n", "more than one column 'node'"),
        ("node,topic\na,t\n,t\n", "line 3: the node is missing or empty"),
        ('node,topic\na,t\nb,""\n', "line 3: the topic is missing or empty"),
        ("node,topic\na,t,x\n", "line 2 has 3 columns instead of 2"),
        ("node,topic\na\n", "line 2 has 1 column instead of 2"),
        ('node,topic\na,"t\nb,u\n', "odd number of double quotes"),
        (b"node,topic\n\xff,t\n", "line 2, is not UTF-8"),
        ("node,topic\n" + "a,t\n" * 5000 + "\udcff,t\n", "is not UTF-8; save the file as UTF-8"),
        (b"PAR1\x00\x00", "is a Parquet file"),
    ],
)
def test_a_csv_that_can_not_be_used_is_refused(tmp_path: Path, data: str | bytes, rule: str) -> None:
    raw = data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data
    path = csv_of(tmp_path, raw)
    with pytest.raises(InputError, match=rule) as caught:
        Interests.from_csv(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("keep", [3, 10, -200, -4])
def test_a_truncated_gzip_is_refused(tmp_path: Path, keep: int) -> None:
    text = "node,topic\n" + "".join(f"n{i * 7919 % 10007},t{i * 31 % 97}\n" for i in range(20_000))
    path = csv_of(tmp_path, gzip.compress(text.encode())[:keep], "pairs.csv.gz")
    with pytest.raises(InputError, match=r"pairs.csv.gz: a compressed file is cut off"):
        Interests.from_csv(path)


def test_what_is_not_there_or_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        Interests.from_csv(tmp_path / "nowhere.csv")
    with pytest.raises(InputError, match="no such file"):
        Interests.from_parquet(tmp_path / "nowhere.parquet")
    with pytest.raises(InputError, match=r"can't be read|is a folder"):
        Interests.from_csv(tmp_path)
    with pytest.raises(InputError, match=r"holds no \*.parquet file"):
        Interests.from_parquet(tmp_path)


@pytest.mark.parametrize("delimiter", ["", ",,", '"', "\n"])
def test_a_delimiter_is_one_character(tmp_path: Path, delimiter: str) -> None:
    with pytest.raises(InputError, match="the delimiter is"):
        Interests.from_csv(csv_of(tmp_path, "node,topic\n"), delimiter=delimiter)


def test_rows_are_counted_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("meshwright.model.reading.csv_rows._BLOCK_BYTES", 256)
    good = "".join(f"node{i},topic{i}\n" for i in range(500))
    path = csv_of(tmp_path, f"node,topic\n{good}")
    assert len(Interests.from_csv(path)) == 500
    path = csv_of(tmp_path, f"node,topic\n{good},t\n")
    with pytest.raises(InputError, match="line 502: the node is missing"):
        Interests.from_csv(path)


def test_names_may_have_newlines_where_a_block_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("meshwright.model.reading.csv_rows._BLOCK_BYTES", 64)
    pairs = [(f"line\n{i}\nline", "t") for i in range(200)]
    lines = "".join(f'"{node}",{topic}\n' for node, topic in pairs)
    assert Interests.from_csv(csv_of(tmp_path, f"node,topic\n{lines}")) == Interests.from_pairs(pairs)


@pytest.mark.filterwarnings("ignore:the topic '#' has an MQTT wildcard")
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_parquet_of_any_string_type_is_read_a_row_group_at_a_time(tmp_path: Path, kind: pa.DataType) -> None:
    nodes = pa.array(AWKWARD).cast(kind) if not pa.types.is_dictionary(kind) else pa.array(AWKWARD, kind)
    path = parquet_of(tmp_path, {"topic": AWKWARD, "node": nodes, "x": range(12)}, row_group_size=5)
    assert set(Interests.from_parquet(path).to_pairs()) == {(name, name) for name in AWKWARD}


def test_a_folder_of_parquet_files_is_one_table(tmp_path: Path) -> None:
    parquet_of(tmp_path, {"node": ["a"], "topic": ["t"]}, "part-1.parquet")
    parquet_of(tmp_path, {"node": ["b"], "topic": ["t"]}, "part-0.snappy.parquet")
    for name in ("_SUCCESS", ".part-1.parquet.crc", "_temporary.parquet", "notes.txt"):
        (tmp_path / name).write_text("not Parquet")
    assert Interests.from_parquet(tmp_path) == Interests.from_pairs([("a", "t"), ("b", "t")])


def test_a_parquet_without_rows_is_no_interests(tmp_path: Path) -> None:
    empty = pa.table({"node": pa.array([], pa.string()), "topic": pa.array([], pa.string())})
    assert len(Interests.from_parquet(parquet_of(tmp_path, empty))) == 0


@pytest.mark.parametrize(
    ("columns", "rule"),
    [
        ({"node": [7], "topic": ["t"]}, "column 'node' is of type int64, .* cast it to string"),
        ({"node": ["a"], "topic": [b"t"]}, "column 'topic' is of type binary"),
        ({"node": ["a"], "topic": [["t"]]}, "column 'topic' is of type list"),
        ({"node": ["a"]}, "has no column 'topic'; its columns are node: name the one to use"),
        ({"node": ["a", "b", None], "topic": ["t"] * 3}, "row 3: the node is missing or empty"),
        ({"node": ["a"] * 3, "topic": ["t", "", "t"]}, "row 2: the topic is missing or empty"),
    ],
)
def test_a_parquet_of_other_things_is_refused(tmp_path: Path, columns: Any, rule: str) -> None:
    path = parquet_of(tmp_path, columns, row_group_size=2)
    with pytest.raises(InputError, match=rule) as caught:
        Interests.from_parquet(path)
    assert str(path) in str(caught.value)


def test_a_file_that_is_no_parquet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a Parquet file"):
        Interests.from_parquet(csv_of(tmp_path, "node,topic\n"))


class Recorder(Progress):
    def __init__(self) -> None:
        self.calls: list[Any] = []

    def start(self, label: str, total: int) -> None:
        self.calls.append((label, total))

    def advance(self, done: int) -> None:
        self.calls.append(done)

    def finish(self) -> None:
        self.calls.append("finish")


def test_progress_hears_how_many_rows_are_read(tmp_path: Path) -> None:
    path = parquet_of(tmp_path, {"node": ["a", "b", "c"], "topic": ["t"] * 3}, row_group_size=2)
    recorder = Recorder()
    Interests.from_parquet(path, progress=recorder)
    assert recorder.calls == [("reading node, topic", 0), 2, 3, "finish"]


def test_columns_are_chosen_by_position_in_files_and_tables(tmp_path: Path) -> None:
    wanted = Interests.from_pairs([("a", "x"), ("b", "y")])
    assert Interests.from_csv(csv_of(tmp_path, "x,7,a\ny,8,b\n"), 3, 1) == wanted
    headed = csv_of(tmp_path, "id,id,id\nx,7,a\ny,8,b\n")
    assert Interests.from_csv(headed, 3, 1, header=True) == wanted
    assert Interests.from_csv(csv_of(tmp_path, "x,a"), 2, 1) == Interests.from_pairs([("a", "x")])
    columns = {"t": ["x", "y"], "n": ["a", "b"]}
    assert Interests.from_parquet(parquet_of(tmp_path, columns), 2, 1) == wanted
    assert Interests.from_arrow(pa.table(columns), 2, 1) == wanted


def test_columns_with_odd_names_are_found(tmp_path: Path) -> None:
    text = '"","last, first","the ""item"""\n1,a,x\n2,b,y\n'
    made = Interests.from_csv(csv_of(tmp_path, text), "last, first", 'the "item"')
    assert made == Interests.from_pairs([("a", "x"), ("b", "y")])
    assert Interests.from_csv(csv_of(tmp_path, text), "", "last, first").topics.to_pylist() == ["a", "b"]


def test_positions_that_can_not_be_meant_are_refused(tmp_path: Path) -> None:
    path = csv_of(tmp_path, "a,x\n")
    for node, topic, said in (
        (1, "topic", "mix names and positions"),
        (0, 1, "positions count from 1"),
        (2, 2, "one column can't be used twice"),
        (1, 3, "has 2 columns, but column 3"),
    ):
        with pytest.raises(InputError, match=said):
            Interests.from_csv(path, node, topic)
    with pytest.raises(InputError, match="without a header, columns have no names"):
        Interests.from_csv(path, header=False)
    with pytest.raises(InputError, match="chosen by name"):
        Interests.from_pandas(pd.DataFrame({"a": ["x"], "b": ["y"]}), 1, 2)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="line 2: the name in column 1 is missing or empty"):
        Interests.from_csv(csv_of(tmp_path, "a,x\n,y\n"), 1, 2)
