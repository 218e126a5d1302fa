import random

import pyarrow.parquet as pq
import pytest

from meshwright import Interests
from meshwright.model.storage.manifest import read_manifest
from meshwright.pipeline.ingest import identify
from meshwright.pipeline.ingest.job import fingerprint, ingest
from meshwright.pipeline.ingest.options import IngestOptions
from meshwright.runtime.errors import InputError
from tests.raw_data_sets import RAW_DATA_SETS
from tests.raw_files import contents, raw_inputs, rejected, spoil_page, write_parquet


@pytest.fixture
def take(spark, tmp_path):
    """Ingest inputs to tmp_path/out; what is read from there."""

    def call(*inputs, relation="pairs", **options):
        out = tmp_path / "out"
        ingest(spark, list(map(str, inputs)), out, IngestOptions(relation=relation, **options), force=True)
        return Interests.read(out)

    return call


def test_spark_writes_the_dataset_that_this_process_writes(spark, tmp_path):
    inputs_by_name = {
        name: (raw.files, IngestOptions(**raw.options))
        for name, raw in raw_inputs(tmp_path).items()
        if name not in ("adjacency", "zip")  # by the functions of csv, in either engine
    }
    quoted = RAW_DATA_SETS["quoted csv"]
    inputs_by_name["quoted csv"] = quoted.write(tmp_path), quoted.options()
    for name, (files, options) in inputs_by_name.items():
        inputs = list(map(str, files))
        ingest(None, inputs, tmp_path / "here" / name, options)
        ingest(spark, inputs, tmp_path / "spark" / name, options)
        here, there = contents(tmp_path / "here" / name), contents(tmp_path / "spark" / name)
        assert there.manifest == here.manifest, name
        for table in here.tables:
            assert there.tables[table].equals(here.tables[table]), (name, table)


def test_both_engines_list_the_same_files(spark, tmp_path):
    for name in (
        "a b.csv",
        "ü.csv",
        "{x}.csv",
        "a[1].csv",
        "a1.csv",
        "deep/c.csv",
        "deep/_d.csv",
        ".e/f.csv",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("node,topic\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "a1.csv")
    for pattern in (
        "",
        "*.csv",
        "{a,u}*",
        "[a-b]*.csv",
        "{x}.csv",
        "a[1].csv",
        "*/c.csv",
        "?1.csv",
        "*/{c,d}.csv",
    ):
        inputs = [str(tmp_path / pattern)]
        assert fingerprint(spark, inputs) == fingerprint(None, inputs), pattern


def test_topics_too_many_to_broadcast_and_one_that_everybody_has_give_the_same_dataset(
    take, tmp_path, monkeypatch
):
    numbers = random.Random(1)
    pairs = [(f"n{numbers.randrange(50)}", f"t{numbers.randrange(90)}") for _ in range(600)]
    pairs += [(f"n{number}", "hot") for number in range(2_000)]
    monkeypatch.setattr(identify, "MOST_BROADCAST_BYTES", 0)
    monkeypatch.setattr(identify, "ROWS_A_PART", 500)
    assert take(write_parquet(tmp_path / "i.parquet", pairs)) == Interests.from_pairs(pairs)
    for table, columns in (
        ("nodes", ["id"]),
        ("topics", ["id"]),
        ("lists", ["node_id"]),
        ("interests", ["node", "topic"]),
    ):
        parts = sorted((tmp_path / "out" / table).glob("*.parquet"))
        rows = [
            tuple(row.values()) for part in parts for row in pq.read_table(part, columns=columns).to_pylist()
        ]
        assert rows == sorted(rows)
    assert len(list((tmp_path / "out" / "lists").glob("*.parquet"))) > 2


def test_a_colon_in_the_name_of_a_parquet_file_is_refused(take, tmp_path):
    file = write_parquet(tmp_path / "a:b.parquet", [("a", "t")])
    with pytest.raises(InputError, match=r"a:b\.parquet: Spark can't read Parquet from a name with a colon"):
        take(file)


def test_too_many_bad_rows_leave_only_them(take, tmp_path):
    (tmp_path / "i.jsonl").write_text('{"node": "a", "topic": "x"}\n{"node": "a"}\n')
    with pytest.raises(
        InputError, match=r"1 of 2 rows .* 'missing column', in 1 row, as in .*i\.jsonl, line 2; "
    ):
        take(tmp_path / "i.jsonl")
    assert [entry.name for entry in (tmp_path / "out").iterdir()] == ["rejected"]
    assert rejected(tmp_path / "out") == [("i.jsonl", 2, "missing column")]


def test_a_file_with_a_damaged_page_is_skipped_and_counted(take, tmp_path):
    (tmp_path / "in").mkdir()
    for at in range(3):
        write_parquet(tmp_path / "in" / f"{at}.parquet", [(f"n{at}", f"t{row}") for row in range(50)])
    spoil_page(tmp_path / "in" / "1.parquet")
    found = take(tmp_path / "in", damaged="skip")
    assert found == Interests.from_pairs((f"n{at}", f"t{row}") for at in (0, 2) for row in range(50))
    facts = read_manifest(tmp_path / "out", "interests")["facts"]
    assert facts["damaged_files"] == {"count": 1, "files": [str(tmp_path / "in" / "1.parquet")]}
