import bz2
import gzip
import json
import os
import shutil
import zipfile

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse

import meshwright as mw
from meshwright import Interests
from meshwright.model.reading.limits import ReadLimits
from meshwright.model.storage.manifest import read_manifest
from meshwright.pipeline.ingest import file_parts, lines, parquet_files
from meshwright.pipeline.ingest.cutting import (
    EMPTY_NAME,
    LONG_NAME,
    MISSING_COLUMN,
    NOT_JSON,
    NOT_UTF8,
    NULL,
    WRONG_COLUMNS,
)
from meshwright.pipeline.ingest.job import check_inputs, fingerprint, ingest
from meshwright.pipeline.ingest.notices import notices
from meshwright.pipeline.ingest.options import IngestOptions
from meshwright.runtime import memory
from meshwright.runtime.errors import DamagedFileError, DatasetError, InputError, MeshwrightWarning
from tests.raw_files import AWKWARD, PAIRS, rejected, spoil_page, write_csv, write_parquet


@pytest.fixture
def take(tmp_path):
    """Ingest inputs to tmp_path/out; what is read from there."""

    def call(*inputs, relation="pairs", **options):
        out = tmp_path / "out"
        shutil.rmtree(out, ignore_errors=True)
        ingest(None, list(map(str, inputs)), out, IngestOptions(relation=relation, **options))
        return Interests.read(out)

    return call


def test_rows_give_the_interests_that_the_library_makes_of_the_pairs(take, tmp_path):
    pairs = [*PAIRS, *AWKWARD]
    with pytest.warns(MeshwrightWarning, match="has an MQTT wildcard"):
        wanted = Interests.from_pairs(pairs)
    assert take(write_csv(tmp_path / "i.csv", pairs)) == wanted
    facts = read_manifest(tmp_path / "out", "interests")["facts"]
    assert (facts["rows"], facts["rejected"], facts["duplicates"]) == (len(pairs), 0, 1)
    assert facts["files"] == 1
    assert facts["look_alikes"]["nodes"] == {
        "count": 7,
        "examples": [["B", "b "], ["i\u0307", "İ"], ["É", "é"]],
    }
    assert facts["look_alikes"]["topics"] == {"count": 4, "examples": [["Y", "y"], ["ΑΣ", "ας"]]}
    found = pq.read_table(tmp_path / "out" / "interests")
    assert list(zip(*(found[name].to_pylist() for name in ("node", "topic")), strict=True)) == sorted(
        set(pairs), key=lambda pair: (pair[0].encode(), pair[1].encode())
    )


def test_many_files_with_columns_in_any_order_are_one_input(take, tmp_path):
    (tmp_path / "in" / "deep[1]").mkdir(parents=True)
    write_csv(tmp_path / "in" / "a.csv", [("a", "x"), ("b", "y")])
    (tmp_path / "in" / "b c.CSV").write_bytes(b"\xef\xbb\xbftopic,when,node\r\nx,1,c\r\n\r\ny,2,d\r\n")
    with gzip.open(tmp_path / "in" / "deep[1]" / "c.csv.gz", "wt") as file:
        file.write('node,topic\n"e, f","say ""x"""\n')
    (tmp_path / "in" / "d.csv.bz2").write_bytes(bz2.compress(b"node,topic\n"))
    (tmp_path / "in" / "_SUCCESS").write_text("")
    (tmp_path / "in" / ".hidden.csv").write_text("junk")
    (tmp_path / "in" / "empty.csv").write_text("")
    strange = ["a1", "a[1]", "b*", "{x}", "a:b"]
    for name in strange:
        write_csv(tmp_path / "in" / f"{name}.csv", [(name, "t"), ("", "t")])
    expected = [("a", "x"), ("b", "y"), ("c", "x"), ("d", "y"), ("e, f", 'say "x"')]
    expected += [(name, "t") for name in strange]
    assert take(tmp_path / "in", max_rejected=1.0) == Interests.from_pairs(expected)
    assert rejected(tmp_path / "out") == sorted((f"{name}.csv", 3, EMPTY_NAME) for name in strange)


def test_a_file_that_several_inputs_name_is_read_once(tmp_path):
    for name in ("a.csv", "b.csv", "c.csv"):
        write_csv(tmp_path / name, [])
    found = fingerprint(None, [str(tmp_path / "[ab]*"), str(tmp_path / "a.csv")])
    assert [entry["path"] for entry in found] == [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]


def test_names_of_parquet_files_that_look_like_patterns_are_taken_as_they_are(take, tmp_path):
    (tmp_path / "tables").mkdir()
    strange = ["a1", "a[1]", "b*", "{x}", "a:b"]
    for name in strange:
        write_parquet(tmp_path / "tables" / f"{name}.parquet", [(name, "t"), ("", "t")])
    found = take(tmp_path / "tables", max_rejected=1.0)
    assert found == Interests.from_pairs([(name, "t") for name in strange])
    assert len(rejected(tmp_path / "out")) == 5


def test_a_follower_subscribes_to_the_followee_and_everybody_is_a_node(take, tmp_path):
    follows = [("ann", "bob"), ("bob", "bob"), ("cat", "ann"), ("ann", "bob")]
    file = tmp_path / "follows.txt"
    file.write_text("# follower followee\n" + "".join(f"{a}\t{b} 2026\n" for a, b in follows) + "dan zoe\n")
    follows.append(("dan", "zoe"))
    everybody = {name for pair in follows for name in pair}
    assert take(file, relation="follows") == Interests.from_pairs(follows, nodes=sorted(everybody))
    assert read_manifest(tmp_path / "out")["facts"]["duplicates"] == 1
    own = [*follows, *((name, name) for name in everybody)]
    assert take(file, relation="follows", own_topic=True) == Interests.from_pairs(own)
    assert read_manifest(tmp_path / "out")["facts"]["duplicates"] == 1


def test_friends_subscribe_to_each_other(take, tmp_path):
    graph = nx.gnm_random_graph(30, 60, seed=1)
    graph.add_edge(7, 7)
    write_csv(tmp_path / "f.tsv", graph.edges, ("source", "target"), "\t")
    found = take(tmp_path / "f.tsv", relation="friendship")
    assert {int(name): set(map(int, found.topics_of(name))) for name in found.nodes.to_pylist()} == {
        node: set(graph[node]) for node in graph if graph.degree(node)
    }


def test_lists_and_integers_in_parquet_are_exploded_and_spelt_out(take, tmp_path):
    genres = pa.array([["x", "y"], [], None, ["y", None]], pa.list_(pa.string()))
    pq.write_table(
        pa.table({"at": [1.5] * 4, "user": [7, 8, 9, 10], "genres": genres}), tmp_path / "u.parquet"
    )
    found = take(tmp_path / "u.parquet", columns=(2, 3), max_rejected=1)
    assert found == Interests.from_pairs([("7", "x"), ("7", "y"), ("10", "y")], nodes=["8"])
    assert rejected(tmp_path / "out") == [("u.parquet", 3, NULL), ("u.parquet", 4, NULL)]
    with pytest.raises(InputError, match=r"column 'at' is double; names are strings, integers"):
        take(tmp_path / "u.parquet", columns=("at", "genres"))


def test_what_can_not_be_used_is_told_with_file_line_and_reason(take, tmp_path, monkeypatch):
    good = [f"n{number},t{number % 7}" for number in range(2_000)]
    bad = {17: "a", 18: "a,b,c", 500: ",x", 1_500: "\xff,x", 1_999: "y," + "z" * 70_000}
    expected = {17: WRONG_COLUMNS, 18: WRONG_COLUMNS, 500: EMPTY_NAME, 1_500: NOT_UTF8, 1_999: LONG_NAME}
    text = [bad.get(number, line) for number, line in enumerate(["node,topic", *good], 1)]
    (tmp_path / "i.csv").write_bytes("\n".join(text).encode("latin-1"))
    (tmp_path / "j.csv").write_bytes("\n".join(text).encode("latin-1"))
    monkeypatch.setattr(file_parts, "_LEAST_PART", 3_000)
    found = take(tmp_path / "i.csv", tmp_path / "j.csv")
    assert found.node_count == len(good) - len(bad)
    assert rejected(tmp_path / "out") == [
        (name, line, reason) for name in ("i.csv", "j.csv") for line, reason in expected.items()
    ]
    manifest = read_manifest(tmp_path / "out")
    assert manifest["facts"]["rejected_reasons"] == {
        WRONG_COLUMNS: 4,
        EMPTY_NAME: 2,
        LONG_NAME: 2,
        NOT_UTF8: 2,
    }
    assert manifest["tables"] == {"rejected": 10}


def test_too_many_bad_rows_stop_the_run_and_leave_only_them(tmp_path):
    (tmp_path / "i.jsonl").write_text('{"node": "a", "topic": "x"}\n{"node": "a"}\nno\n{"topic": "x"}\n')
    out, inputs = tmp_path / "out", [str(tmp_path / "i.jsonl")]
    options = IngestOptions(relation="pairs")
    with pytest.raises(
        InputError,
        match=r"3 of 4 rows .* 'missing column', in 2 rows, as in .*i\.jsonl, line 2; .*rejected",
    ):
        ingest(None, inputs, out, options)
    assert [entry.name for entry in out.iterdir()] == ["rejected"]
    assert rejected(out) == [
        ("i.jsonl", 2, MISSING_COLUMN),
        ("i.jsonl", 3, NOT_JSON),
        ("i.jsonl", 4, MISSING_COLUMN),
    ]
    with pytest.raises(InputError, match="rejected"):
        ingest(None, inputs, out, options, rejected=tmp_path / "elsewhere")
    assert pq.read_table(tmp_path / "elsewhere").num_rows == 3
    ingest(None, inputs, out, IngestOptions(relation="pairs", max_rejected=0.75))
    old = Interests.read(out)
    with pytest.raises(InputError, match="is unchanged"):
        ingest(None, inputs, out, options, force=True)
    assert Interests.read(out) == old
    with pytest.raises(DatasetError, match="is already a dataset"):
        ingest(None, inputs, out, options)


def test_a_line_of_ten_megabytes_spoils_nothing(take, tmp_path):
    topics = [f"{number:010000}" for number in range(1_000)]
    with gzip.open(tmp_path / "i.jsonl.gz", "wt", compresslevel=1) as file:
        file.write(json.dumps({"node": "hub", "topic": topics}) + "\n")
        file.write(json.dumps({"node": "a" * 10_000_000, "topic": topics[1]}) + "\n")
        file.write(json.dumps({"node": "leaf", "topic": topics[1:2]}) + "\n")
    found = take(tmp_path / "i.jsonl.gz")
    assert (found.node_count, len(found)) == (2, 1_001)
    assert rejected(tmp_path / "out") == [("i.jsonl.gz", 2, LONG_NAME)]
    assert pc.max(pc.utf8_length(pq.read_table(tmp_path / "out" / "rejected")["text"])).as_py() == 200


def test_a_gzip_that_is_cut_off_is_named_and_leaves_nothing(tmp_path):
    whole = gzip.compress(
        "".join(f"n{number} t{number * 7919 % 1000}\n" for number in range(50_000)).encode()
    )
    (tmp_path / "cut.txt.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"cut\.txt\.gz: a compressed file is cut off or damaged"):
        ingest(None, [str(tmp_path / "cut.txt.gz")], tmp_path / "out", IngestOptions(relation="pairs"))
    assert not (tmp_path / "out").exists()


def test_inputs_that_are_not_there_or_empty_are_named(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "_SUCCESS").write_text("")
    (tmp_path / "a.csv").write_text("node,topic\n")
    for text, said in {"no": "no such file", "*.tsv": "holds no file", "empty": "holds no file"}.items():
        with pytest.raises(InputError, match=said) as error:
            fingerprint(None, [str(tmp_path / "a.csv"), str(tmp_path / text)])
        assert str(tmp_path / text) in str(error.value)
    found = fingerprint(None, [str(tmp_path)])
    assert [(entry["path"], entry["bytes"]) for entry in found] == [(str(tmp_path / "a.csv"), 11)]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_named(tmp_path):
    (tmp_path / "locked").mkdir(mode=0)
    with pytest.raises(InputError, match=r"locked can't be listed: .*who may read it"):
        fingerprint(None, [str(tmp_path / "locked")])


def test_a_header_and_no_rows_is_a_dataset_of_nothing(take, tmp_path):
    assert take(write_csv(tmp_path / "i.csv", [])) == Interests.from_pairs([])
    assert lines.BLOCK_END not in read_manifest(tmp_path / "out")["facts"]["rejected_reasons"]


@pytest.mark.parametrize(
    ("name", "content", "options", "said"),
    [
        ("i.csv", "user,genre\na,x\n", {}, r"has no column 'node'; its columns are user, genre: .*--columns"),
        ("i.csv", "user,user\na,x\n", {"columns": ("user", "x")}, r"has more than one column 'user'"),
        (
            "i.tsv",
            "a\tb\n",
            {"columns": (1, 3)},
            r"has 2 columns, but column 3 is asked for",
        ),
        ("i.csv", '"node,topic\n', {}, r"first line can't be split into columns"),
        ("i.csv", b"n\xf6de,topic\n", {}, r"first line is not UTF-8"),
        ("i.csv.zst", "x", {}, r"\.zst files can't be read; unpack the file"),
    ],
)
def test_files_that_can_not_be_understood_are_refused_before_any_job(tmp_path, name, content, options, said):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=said):
        ingest(None, [str(tmp_path / name)], tmp_path / "out", IngestOptions(relation="pairs", **options))
    assert not (tmp_path / "out").exists()


def test_a_line_of_an_adjacency_list_is_a_node_with_all_its_topics(take, tmp_path):
    (tmp_path / "a.txt").write_text("# comment\nann x y z\n\nbob  x\ncat\nann y w\n")
    expected = Interests.from_pairs(
        [("ann", "x"), ("ann", "y"), ("ann", "z"), ("ann", "w"), ("bob", "x")], nodes=["cat"]
    )
    assert take(tmp_path / "a.txt", format="adjacency") == expected
    assert read_manifest(tmp_path / "out")["facts"]["duplicates"] == 1
    (tmp_path / "a.csv").write_text('ann,x,y,z\nbob,x\ncat\nann,"y",w\n')
    assert take(tmp_path / "a.csv", format="adjacency", delimiter=",") == expected


def facts_of(tmp_path):
    return read_manifest(tmp_path / "out")["facts"]


def test_lines_that_were_taken_for_comments_are_counted(take, tmp_path):
    (tmp_path / "e.txt").write_text("# head\n#python ann\n %c x\nann bob\n")
    assert take(tmp_path / "e.txt") == Interests.from_pairs([("ann", "bob")])
    assert facts_of(tmp_path)["comment_lines"] == 3
    assert notices(facts_of(tmp_path)) == [
        "Note: 3 lines that begin with # or % were skipped as comments. "
        "If names begin so, save the file as CSV."
    ]
    (tmp_path / "e.csv").write_text("node,topic\n#python,ann\n%c,x\n")
    assert len(take(tmp_path / "e.csv")) == 2
    assert notices(facts_of(tmp_path)) == []


def test_entries_of_folders_that_are_not_read_are_counted(take, tmp_path):
    (tmp_path / "in" / ".git").mkdir(parents=True)
    for name, text in {"a.csv": "node,topic\na,x\n", "_b.csv": "no", ".git/c.csv": "no", "d.csv": ""}.items():
        (tmp_path / "in" / name).write_text(text)
    take(tmp_path / "in", tmp_path / "in" / "a.csv")
    assert facts_of(tmp_path)["skipped_files"] == {"hidden": 2, "empty": 1, "repeated": 1}
    assert notices(facts_of(tmp_path)) == [
        "Note: Skipped 2 entries whose names begin with . or _ and 1 empty file and "
        "1 repeated mention of a file."
    ]


def test_a_file_of_another_format_among_others_is_refused(take, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("node,topic\na,x\n")
    (tmp_path / "in" / "README.md").write_text("read me\n")
    with pytest.raises(
        InputError, match=r"several formats: .*README.md looks like edges, .*a.csv looks like"
    ):
        take(tmp_path / "in")


@pytest.mark.parametrize(
    ("name", "text", "options", "suspected"),
    [
        ("e.txt", "user item\n1 2\n", {}, "user item"),
        ("e.txt", "# who\nalpha beta\n1 2\n", {}, "alpha beta"),
        ("e.txt", "Source\tTarget\nann\tbob\n", {}, "Source\tTarget"),
        ("e.csv", "User_ID,at,Item_ID\nann,1,x\n", {"columns": (1, 3)}, "User_ID,at,Item_ID"),
        ("e.txt", "src_id dst\nann bob\n", {}, "src_id dst"),
        ("e.txt", "client_id sub-topic\nann x\n", {}, "client_id sub-topic"),
        ("e.csv", "who,what,w\nann,x,1.5\n", {"columns": (1, 2)}, "who,what,w"),
        ("e.txt", "user_ann topic_x\nuser_bob topic_y\n", {}, None),
        ("e.csv", "ann,x,2\nbob,x,1.5\n", {"columns": (1, 2)}, None),
        ("e.csv", "user,item\nann,x\n", {"columns": (1, 2), "header": True}, None),
        ("e.csv", "user,item\nann,x\n", {"columns": (1, 2), "header": False}, None),
        ("e.csv", "user,item\nann,x\n", {"columns": ("user", "item")}, None),
        ("e.txt", "ann bob\ncat ann\n", {}, None),
        ("e.txt", "1 2\n3 4\n", {}, None),
        ("e.txt", "user item\n", {}, None),
        ("e.txt", "", {}, None),
    ],
)
def test_a_first_line_that_looks_like_a_header_is_told_unless_somebody_said(
    take, tmp_path, name, text, options, suspected
):
    (tmp_path / name).write_text(text or "# nothing\n")
    take(tmp_path / name, **options)
    told = facts_of(tmp_path).get("first_line_like_header")
    assert told == (None if suspected is None else {"file": str(tmp_path / name), "text": suspected})
    if suspected is not None:
        [line] = notices(facts_of(tmp_path) | {"comment_lines": 0})
        assert "looks like names of columns, but was taken as a row" in line
        rows = facts_of(tmp_path)["rows"]
        take(tmp_path / name, **options, header=True)
        assert facts_of(tmp_path)["rows"] == rows - 1


def test_commas_that_go_into_names_are_told(take, tmp_path):
    for text, told in {
        "a, x\nb, y\n": True,
        "# a, x\nb;\tx; 7\n": True,
        "a x,\n": False,
        "a,b x\n": False,
    }.items():
        (tmp_path / "e.txt").write_text(text)
        take(tmp_path / "e.txt", columns=(1, 2))
        assert ("first_line_with_commas" in facts_of(tmp_path)) == told
    (tmp_path / "e.txt").write_text("a, x\n")
    take(tmp_path / "e.txt")
    [line] = notices(facts_of(tmp_path))
    assert "'a, x', was cut at its blanks" in line


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["e.txt", "e.csv", "e.jsonl"])
def test_a_file_in_utf_16_is_refused_as_such(take, tmp_path, name, encoding):
    text = "\ufeff" + "node,topic\n" * (name == "e.csv") + "a b\n" * 500
    (tmp_path / name).write_bytes(text.encode(encoding))
    with pytest.raises(InputError, match="is in UTF-16; save it as UTF-8"):
        take(tmp_path / name)


def test_a_key_that_comes_twice_loses_nothing(take, tmp_path):
    (tmp_path / "o.json").write_text('{"a": ["x"], "b": ["y"], "a": ["z"]}')
    assert take(tmp_path / "o.json") == Interests.from_pairs([("a", "x"), ("a", "z"), ("b", "y")])
    lines = [f'{{"node": "n{at}", "topic": "x"}}' for at in range(99)]
    lines.append('{"node": "a", "node": "b", "topic": "x"}')
    (tmp_path / "l.jsonl").write_text("\n".join([*lines, '{"node": "c", "topic": "x", "e": 1, "e": 2}']))
    found = take(tmp_path / "l.jsonl")
    assert (found.node_count, facts_of(tmp_path)["rejected_reasons"]) == (100, {"key given twice": 1})
    (tmp_path / "w.json").write_text(
        '[{"node": "a", "topic": "x", "topic": "y"}, {"node": "b", "topic": "x"}]'
    )
    take(tmp_path / "w.json", max_rejected=1)
    assert rejected(tmp_path / "out") == [("w.json", 1, "key given twice")]


def test_zeros_empty_columns_and_repeats_of_a_matrix_are_counted(take, tmp_path):
    head = "%%MatrixMarket matrix coordinate integer general\n"
    (tmp_path / "m.mtx").write_text(head + "3 5 5\n1 1 1\n1 1 2\n1 2 0\n2 3 7\n2 4 1\n")
    assert take(tmp_path / "m.mtx").node_count == 3
    facts = facts_of(tmp_path)
    assert (facts["rows"], facts["duplicates"], facts["zero_entries"]) == (5, 1, 1)
    assert facts["topics_without_nodes"] == 2
    assert notices(facts) == [
        "Note: 1 entry of the matrix is zero, and is no interest.",
        "Note: 2 topics have no node, and are left out.",
    ]
    shutil.copy(tmp_path / "m.mtx", tmp_path / "n.mtx")
    with pytest.raises(InputError, match="ingest one matrix at a time"):
        take(tmp_path / "m.mtx", tmp_path / "n.mtx")


def test_hyperedges_without_members_are_counted(take, tmp_path):
    (tmp_path / "sizes").write_text("2\n0\n1\n0\n")
    (tmp_path / "members").write_text("a\nb\na\n")
    found = take(tmp_path / "sizes", tmp_path / "members", format="hypergraph")
    assert found == Interests.from_pairs([("a", "1"), ("b", "1"), ("a", "3")])
    assert facts_of(tmp_path)["topics_without_nodes"] == 2


def test_columns_that_are_not_used_are_counted_unless_two_were_chosen(take, tmp_path):
    (tmp_path / "e.txt").write_text("a x 1\nb x\nc y 2 3\n")
    found = take(tmp_path / "e.txt")
    assert found == Interests.from_pairs([("a", "x"), ("b", "x"), ("c", "y")])
    assert read_manifest(tmp_path / "out")["facts"]["lines_with_more_columns"] == 2
    take(tmp_path / "e.txt", columns=(1, 2))
    assert "lines_with_more_columns" not in read_manifest(tmp_path / "out")["facts"]


OFFICES = {"berlin": ["orders", "alerts"], "paris": ["orders"], "rome": [], "tokyo": [7, True]}
PAIRS_OF_OFFICES = [("berlin", "alerts"), ("berlin", "orders"), ("paris", "orders"), ("tokyo", "7")]


@pytest.mark.parametrize("indent", [None, 2])
def test_a_json_object_of_lists_and_a_list_of_objects_are_read_whole(take, tmp_path, indent):
    expected = Interests.from_pairs([*PAIRS_OF_OFFICES, ("tokyo", "true")], nodes=["rome"])
    (tmp_path / "o.json").write_text(json.dumps(OFFICES, indent=indent))
    assert take(tmp_path / "o.json") == expected
    assert read_manifest(tmp_path / "out")["facts"]["format"] == "json"
    rows = [{"node": node, "topic": topics, "at": 1.5} for node, topics in OFFICES.items()]
    (tmp_path / "l.json").write_text(
        json.dumps([*rows, 7, {"node": "x"}, {"node": None, "topic": "x"}], indent=indent)
    )
    assert take(tmp_path / "l.json", max_rejected=1) == expected
    assert rejected(tmp_path / "out") == [
        ("l.json", 5, NOT_JSON),
        ("l.json", 6, MISSING_COLUMN),
        ("l.json", 7, NULL),
    ]


def test_half_characters_in_whole_json_are_rejected(take, tmp_path):
    (tmp_path / "s.json").write_text('[{"node": "a", "topic": "\\udc00"},\n{"node": "b", "topic": "x"}]')
    assert take(tmp_path / "s.json", max_rejected=1) == Interests.from_pairs([("b", "x")])
    assert rejected(tmp_path / "out") == [("s.json", 1, NOT_UTF8)]
    (tmp_path / "o.json").write_text('{"a\\ud800": ["x"],\n"b": ["x"]}')
    assert take(tmp_path / "o.json", max_rejected=1) == Interests.from_pairs([("b", "x")])
    assert rejected(tmp_path / "out") == [("o.json", 1, NOT_UTF8)]


def test_a_json_file_of_lines_stays_one_however_its_first_line_is_broken(take, tmp_path):
    (tmp_path / "l.json").write_text('{"node": "a"\n{"node": "b", "topic": "x"}\n')
    assert take(tmp_path / "l.json", max_rejected=1) == Interests.from_pairs([("b", "x")])
    assert rejected(tmp_path / "out") == [("l.json", 1, NOT_JSON)]
    (tmp_path / "two.json").write_text('{"a": ["x"], "b": ["y"]}')
    assert take(tmp_path / "two.json") == Interests.from_pairs([("a", "x"), ("b", "y")])
    (tmp_path / "one.json").write_text('{"node": ["a"], "topic": ["x", "y"]}')
    assert take(tmp_path / "one.json") == Interests.from_pairs([("a", "x"), ("a", "y")])


@pytest.mark.parametrize("relation", ["follows", "friendship"])
def test_rows_and_columns_of_a_matrix_are_the_same_users(tmp_path, relation):
    scipy.io.mmwrite(tmp_path / "m.mtx", scipy.sparse.coo_array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    found = mw.ingest(tmp_path / "m.mtx", relation)
    assert list(found.to_pairs()) == [("n0", "n1"), ("n1", "n0"), ("n1", "n2"), ("n2", "n1")]
    assert found.nodes.to_pylist() == ["n0", "n1", "n2"]
    scipy.sparse.save_npz(tmp_path / "m.npz", scipy.sparse.csr_array(np.eye(3, 4)))
    with pytest.raises(InputError, match="3 rows and 4 columns"):
        mw.ingest(tmp_path / "m.npz", relation)


def test_an_object_of_lists_with_a_value_that_is_none_is_not_taken_for_a_line(take, tmp_path):
    (tmp_path / "o.json").write_text('{"a": ["x", "y"], "b": "x", "c": null}')
    assert list(take(tmp_path / "o.json", max_rejected=0.5).to_pairs()) == [
        ("a", "x"),
        ("a", "y"),
        ("b", "x"),
    ]
    assert rejected(tmp_path / "out") == [("o.json", 3, "null")]


def test_lines_that_are_too_short_lead_to_adjacency(take, tmp_path):
    (tmp_path / "a.txt").write_text("a x y\nb\n")
    with pytest.raises(InputError, match=r"'missing column'.*--format adjacency"):
        take(tmp_path / "a.txt")


def test_sparse_matrices_are_the_interests_that_the_library_makes_of_them(take, tmp_path):
    matrix = scipy.sparse.random(30, 12, 0.1, format="csr", random_state=1)
    scipy.sparse.save_npz(tmp_path / "m.npz", matrix)
    scipy.io.mmwrite(tmp_path / "m.mtx", matrix)
    expected = Interests.from_scipy(matrix)
    used = [
        name for name, count in zip(expected.topics.to_pylist(), matrix.getnnz(axis=0), strict=True) if count
    ]
    for name in ("m.npz", "m.mtx"):
        found = take(tmp_path / name)
        assert list(found.to_pairs()) == list(expected.to_pairs())
        assert (found.nodes.equals(expected.nodes), found.topics.to_pylist()) == (True, used)
    (tmp_path / "m.mtx.gz").write_bytes(gzip.compress((tmp_path / "m.mtx").read_bytes()))
    assert list(take(tmp_path / "m.mtx.gz").to_pairs()) == list(expected.to_pairs())
    tight = ReadLimits(ratio=1, small=100)
    scipy.sparse.save_npz(tmp_path / "ones.npz", scipy.sparse.csr_array(np.ones((200, 50))))
    for name in ("m.mtx.gz", "ones.npz"):
        with pytest.raises(InputError, match="raise --max-ratio"):
            take(tmp_path / name, limits=tight)
    (tmp_path / "m.npz").write_bytes(b"PK")
    with pytest.raises(InputError, match=r"m\.npz can't be read as a sparse matrix"):
        take(tmp_path / "m.npz")


def test_a_hypergraph_is_two_files_in_any_order(take, tmp_path):
    (tmp_path / "sizes.txt").write_text("2\n3\n1\n")
    (tmp_path / "members.txt").write_text("ann\nbob\nann\nbob\ncat\ncat\n")
    expected = [("ann", "1"), ("bob", "1"), ("ann", "2"), ("bob", "2"), ("cat", "2"), ("cat", "3")]
    for names in (("sizes", "members"), ("members", "sizes")):
        files = [tmp_path / f"{name}.txt" for name in names]
        assert take(*files, format="hypergraph") == Interests.from_pairs(expected)
    with pytest.raises(InputError, match="two files, of sizes and of members, but 1 are given"):
        take(tmp_path / "sizes.txt", format="hypergraph")
    (tmp_path / "members.txt").write_text("ann\n")
    with pytest.raises(InputError, match="neither has sizes that add up"):
        take(tmp_path / "sizes.txt", tmp_path / "members.txt", format="hypergraph")


def test_a_zip_of_one_file_is_read_by_the_name_inside(take, tmp_path):
    def packed(**files):
        with zipfile.ZipFile(tmp_path / "z.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in files.items():
                archive.writestr(name.replace("_", "."), text)
        return tmp_path / "z.zip"

    assert take(packed(p_csv="node,topic\na,x\n")) == Interests.from_pairs([("a", "x")])
    assert take(packed(p_txt="a x\nb y\n")) == Interests.from_pairs([("a", "x"), ("b", "y")])
    with pytest.raises(InputError, match="holds 2 files; unpack it"):
        take(packed(a_csv="", b_csv=""))
    whole = packed(p_csv="node,topic\n" + "".join(f"n{n},t{n * 7919 % 1000}\n" for n in range(9_000)))
    whole.write_bytes(whole.read_bytes()[:-400])
    with pytest.raises(InputError, match=r"z\.zip: the zip archive is cut off or damaged"):
        take(whole)
    bomb = packed(p_csv="node,topic\n" + "a,x\n" * 400_000)
    with pytest.raises(InputError, match="raise --max-ratio"):
        take(bomb, limits=ReadLimits(small=1_000_000))


def test_files_of_several_formats_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("node,topic\n")
    (tmp_path / "b.txt").write_text("a b\n")
    with pytest.raises(
        InputError, match=r"several formats: .*a\.csv looks like csv, .*b\.txt looks like edges"
    ):
        ingest(None, [str(tmp_path)], tmp_path / "out", IngestOptions(relation="pairs"))


def test_parquet_batches_with_and_without_bad_rows_give_the_same_interests(take, tmp_path, monkeypatch):
    """Batches in which every name can be used are taken as they are, those beside them row by row."""
    monkeypatch.setattr(parquet_files, "_ROWS_AT_ONCE", 4)
    pairs = [(f"n{at % 7}", f"t{at % 3}") for at in range(40)]
    spoiled = {5: (None, "t0"), 6: ("", "t1"), 18: ("n1", None), 33: ("x" * 70_000, "t2")}
    rows = [spoiled.get(at, pair) for at, pair in enumerate(pairs)]
    kinds = (pa.string(), pa.dictionary(pa.int8(), pa.string()), pa.large_string(), pa.binary())
    for kind in kinds:
        columns = [pa.array([row[side] for row in rows], pa.string()) for side in (0, 1)]
        if pa.types.is_dictionary(kind):
            columns = [column.dictionary_encode().cast(kind) for column in columns]
        pq.write_table(pa.table([column.cast(kind) for column in columns], ["node", "topic"]), tmp_path / "a")
        wanted = Interests.from_pairs(pair for at, pair in enumerate(pairs) if at not in spoiled)
        assert take(tmp_path / "a", format="parquet", max_rejected=1.0) == wanted
        assert [line for _, line, _ in rejected(tmp_path / "out")] == [at + 1 for at in spoiled]


def cut_off(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])


@pytest.mark.parametrize("kind", ["parquet", "csv.gz"])
def test_damaged_files_are_refused_by_name_or_skipped_and_counted(take, tmp_path, kind):
    folder = tmp_path / "in"
    folder.mkdir()
    for at in range(5):
        path, pairs = folder / f"{at}.{kind}", [(f"n{at}", f"t{row}") for row in range(50)]
        if kind == "parquet":
            write_parquet(path, pairs)
        else:
            with gzip.open(path, "wt") as file:
                file.write("node,topic\n" + "".join(f"{node},{topic}\n" for node, topic in pairs))
    cut_off(folder / f"0.{kind}")
    (spoil_page if kind == "parquet" else cut_off)(folder / f"3.{kind}")
    with pytest.raises(DamagedFileError, match=rf"/in/0\.{kind}"):
        take(folder)
    found = take(folder, damaged="skip")
    assert found == Interests.from_pairs((f"n{at}", f"t{row}") for at in (1, 2, 4) for row in range(50))
    facts = read_manifest(tmp_path / "out", "interests")["facts"]
    assert (facts["files"], facts["rows"]) == (3, 150)
    assert facts["damaged_files"] == {"count": 2, "files": [str(folder / f"{at}.{kind}") for at in (0, 3)]}
    assert notices(facts)[-1].startswith("Warning: 2 files are cut off or damaged")
    with pytest.raises(DamagedFileError, match="/in/0"):
        take(folder / f"0.{kind}", damaged="skip")


def test_the_footers_of_parquet_files_tell_whether_this_process_can_read_them_and_go_on(
    tmp_path, monkeypatch
):
    for at in range(2):
        write_parquet(tmp_path / f"{at}.parquet", [(f"n{row}", "t") for row in range(1_000)])
    asked = [str(tmp_path)], IngestOptions(relation="pairs")
    assert check_inputs(*asked, then="running") == (True, True)
    reading = 2_000 * 20 * 7
    monkeypatch.setattr(memory, "free_memory", lambda: int(reading / 0.8) + 10)
    assert check_inputs(*asked).fits_here
    assert not check_inputs(*asked, then="running").fits_here
    monkeypatch.setattr(memory, "free_memory", lambda: int(reading / 0.8) - 10)
    assert not check_inputs(*asked).fits_here
