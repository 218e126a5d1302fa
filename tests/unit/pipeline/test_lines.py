import csv
import io
import json
from contextlib import suppress

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshwright.pipeline.ingest import cutting, lines
from meshwright.pipeline.ingest.cutting import Layout
from meshwright.pipeline.ingest.lines import STAGED, Place, parsed, staged

EDGES = Layout(kind="edges", columns=(0, 1))
CSV = Layout(kind="delimited", columns=(0, 1), width=2)
JSONL = Layout(kind="jsonl", columns=("user", "likes"))


START = Place(7, 0, 1)


def read(rows, layout, place=START):
    """The pairs, and (line, reason) of what can't be used."""
    data = [row if isinstance(row, bytes) else row.encode() for row in rows]
    batches = list(parsed(pa.array(data, pa.binary()), pa.nulls(len(data), pa.binary()), layout, place))
    found = pa.Table.from_batches(batches, STAGED).to_pylist()
    pairs = [(row["node"], row["topic"]) for row in found if row["reason"] is None]
    return pairs, [(row["line"], row["reason"]) for row in found if row["reason"] is not None]


def test_edge_lists_skip_comments_and_blank_lines_and_ignore_further_columns():
    rows = ["# from to", "% also", "", "  ", "a b", " c\td 17 x ", "é\u00a0x y"]
    assert read(rows, EDGES) == ([("a", "b"), ("c", "d"), ("é\u00a0x", "y")], [])


def test_edge_lists_take_columns_by_position():
    assert read(["1 a b", "2 c d", "3 e"], Layout(kind="edges", columns=(2, 1))) == (
        [("b", "a"), ("d", "c")],
        [(3, cutting.MISSING_COLUMN)],
    )


def test_a_line_of_another_number_of_columns_is_rejected():
    pairs, bad = read(["a,b", "a", "a,b,c", '"a,b",c', '"x",y,z'], CSV)
    assert pairs == [("a", "b"), ("a,b", "c")]
    assert bad == [(row, cutting.WRONG_COLUMNS) for row in (2, 3, 5)]


def test_names_in_delimited_files_stay_as_they_stand():
    rows = [" a , b ", 'say ""hi"",x', '"say ""hi""",x', "007,7"]
    pairs, bad = read(rows, CSV)
    assert bad == []
    assert sorted(pairs) == sorted([(" a ", " b "), ('say ""hi""', "x"), ('say "hi"', "x"), ("007", "7")])


def test_both_halves_of_a_field_with_a_line_break_are_bad():
    assert read(['"multi', 'line",t', "c,d"], CSV) == (
        [("c", "d")],
        [(1, cutting.UNCLOSED_QUOTE), (2, cutting.UNCLOSED_QUOTE)],
    )


def test_a_quote_that_is_not_closed_spoils_its_own_line_only():
    assert read(['"a,b', "c,d", '"e"f,g'], CSV) == (
        [("c", "d")],
        [(1, cutting.UNCLOSED_QUOTE), (3, cutting.UNCLOSED_QUOTE)],
    )


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (",b", cutting.EMPTY_NAME),
        ("a,", cutting.EMPTY_NAME),
        ('"",b', cutting.EMPTY_NAME),
        (b"caf\xe9,b", cutting.NOT_UTF8),
        (b"\xed\xa0\x80,b", cutting.NOT_UTF8),
        ("a," + "b" * 65_536, cutting.LONG_NAME),
        ("a,home/+/light", cutting.WILDCARD),
        ("a,#", cutting.WILDCARD),
        ("a,home/#", cutting.WILDCARD),
    ],
)
def test_a_row_that_is_of_no_use_says_why(row, reason):
    layout = Layout(kind="delimited", columns=(0, 1), width=2, wildcards=True)
    assert read(["x,y", row, "z,C#/a+b"], layout) == ([("x", "y"), ("z", "C#/a+b")], [(2, reason)])


def test_the_longest_name_is_counted_in_bytes():
    assert read(["a," + "b" * 65_535], CSV)[1] == []
    assert read(["a," + "é" * 32_768], CSV)[1] == [(1, cutting.LONG_NAME)]


def test_a_byte_order_mark_is_no_part_of_a_name_and_only_at_the_start():
    assert read(["\ufeffa,b", "\ufeffc,d"], CSV)[0] == [("a", "b"), ("\ufeffc", "d")]
    assert read(["\ufeffa,b"], CSV, Place(7, 64, 1))[0] == [("\ufeffa", "b")]


def test_the_header_is_passed_over_where_it_stands():
    layout = Layout(kind="delimited", columns=(1, 0), width=2, header=2)
    assert read(["", "topic,node", "t,n"], layout)[0] == [("n", "t")]
    assert read(["topic,node", "t,n"], layout, Place(7, 0, 2))[0] == [("n", "t")]
    assert read(["a,b", "t,n"], layout, Place(7, 100, 1))[0] == [("b", "a"), ("n", "t")]


def test_lists_in_json_become_pairs_and_an_empty_one_a_node_alone():
    rows = [
        '{"user": "a", "likes": ["x", "y"]}',
        "",
        '{"likes": [], "user": "b"}',
        '{"user": "c", "likes": ["x"]}',
    ]
    assert sorted(read(rows, JSONL)[0], key=str) == [("a", "x"), ("a", "y"), ("b", None), ("c", "x")]


def test_numbers_and_booleans_in_json_are_names_as_they_are_written():
    rows = [
        '{"user": 7, "likes": 1.50}',
        '{"user": true, "likes": 12345678901234567890}',
        '{"user": -0, "likes": "x"}',
    ]
    expected = [("7", "1.50"), ("true", "12345678901234567890"), ("-0", "x")]
    assert read(rows, JSONL) == (expected, [])
    assert [read([row], JSONL)[0][0] for row in rows] == expected


@pytest.mark.parametrize(
    ("row", "reasons"),
    [
        ('{"user": "a"}', [cutting.MISSING_COLUMN]),
        ('{"user": null, "likes": "x"}', [cutting.NULL]),
        ('{"user": "a", "likes": null}', [cutting.NULL]),
        ('{"user": "a", "likes": [null, "y", ""]}', [cutting.EMPTY_NAME, cutting.NULL]),
        ('{"user": {"id": 1}, "likes": "x"}', [cutting.NOT_A_NAME]),
        ('{"user": "a", "likes": [["x"]]}', [cutting.NOT_A_NAME]),
        ('{"user": "a", "likes": "x"', [cutting.NOT_JSON]),
        ('{"user": "a", "likes": "x"} {"user": "b", "likes": "x"}', [cutting.NOT_JSON]),
        ('["a", "x"]', [cutting.NOT_JSON]),
        ('{"user": NaN, "likes": "x"}', [cutting.NOT_JSON]),
        ('{"user": "a", "likes": ["x"], "age": NaN}', [cutting.NOT_JSON]),
        ('{"user": "a", "likes": ["x"], "ages": [1, -Inf]}', [cutting.NOT_JSON]),
        ("[" * 100_000, [cutting.TOO_DEEP]),
        ('{"user": "a", "likes": "x", "deep": ' + "[" * 501 + "]" * 501 + "}", [cutting.TOO_DEEP]),
        (r'{"user": "\ud800", "likes": "x"}', [cutting.NOT_UTF8]),
    ],
)
def test_json_that_is_of_no_use_says_why(row, reasons):
    good = ['{"user": "p", "likes": ["q"]}', '{"user": "r", "likes": ["s"]}']
    pairs, bad = read([good[0], row, good[1]], JSONL)
    assert {("p", "q"), ("r", "s")} <= set(pairs) <= {("p", "q"), ("r", "s"), ("a", "y")}
    assert sorted(bad) == [(2, reason) for reason in reasons]


@pytest.mark.parametrize("rest", ['"' + "[" * 501 + '"', "[" + "[]," * 501 + "[]]", "[" * 499 + "]" * 499])
def test_brackets_in_strings_and_beside_each_other_are_no_nesting(rest):
    assert read([f'{{"user": "a", "likes": "x", "more": {rest}}}'], JSONL) == ([("a", "x")], [])


def test_a_line_that_is_too_long_shows_how_it_begins():
    data, long = pa.array([b"a b", None], pa.binary()), pa.array([None, b"x" * 300], pa.binary())
    found = pa.Table.from_batches(parsed(data, long, EDGES, Place(7, 0, 1))).to_pylist()
    assert [row["reason"] for row in found] == [None, cutting.LONG_LINE]
    assert found[1]["text"] == "x" * 200


def test_lines_are_counted_block_by_block_over_batches():
    files, blocks = [1, 1, 1, 1, 2, 2], [0, 0, 0, 64, 0, 0]
    batch = pa.record_batch(
        {
            "line": pa.array([b"a b", b"bad", b"c d", b"bad", b"bad", b"e f"], pa.binary()),
            "long": pa.nulls(6, pa.binary()),
            "file": pa.array(files, pa.int64()),
            "block": pa.array(blocks, pa.int64()),
        }
    )
    for cut in range(7):
        parts = iter([batch.slice(0, cut), batch.slice(cut)])
        found = pa.Table.from_batches(staged(parts, {1: EDGES, 2: EDGES}), STAGED).to_pylist()
        ends = [(row["file"], row["block"], row["line"]) for row in found if row["reason"] == lines.BLOCK_END]
        bad = [
            (row["file"], row["block"], row["line"])
            for row in found
            if row["reason"] == cutting.MISSING_COLUMN
        ]
        assert ends == [(1, 0, 3), (1, 64, 1), (2, 0, 2)]
        assert bad == [(1, 0, 2), (1, 64, 1), (2, 0, 1)]
        assert sum(row["reason"] is None for row in found) == 3


names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), min_size=1, max_size=8)


@given(st.lists(st.tuples(names, names), max_size=20))
def test_what_the_csv_module_writes_is_read_as_it_was(pairs):
    written = []
    for pair in pairs:
        text = io.StringIO()
        csv.writer(text, lineterminator="").writerow(pair)
        written.append(text.getvalue())
    found, bad = read(written, CSV, Place(7, 1, 1))
    assert (sorted(found), bad) == (sorted(pairs), [])


values = st.one_of(
    names,
    st.integers(),
    st.booleans(),
    st.none(),
    st.lists(names, max_size=3),
    st.lists(st.integers(), max_size=3),
)


@given(
    st.lists(st.dictionaries(st.sampled_from(["user", "likes", "age"]), values), max_size=12), st.booleans()
)
def test_json_lines_mean_the_same_together_and_one_by_one(records, escaped):
    written = [json.dumps(record, ensure_ascii=escaped) for record in records]
    together = read(written, JSONL)
    apart = [read([text], JSONL, Place(7, 0, number)) for number, text in enumerate(written, 1)]
    assert sorted(together[0], key=str) == sorted((pair for pairs, _ in apart for pair in pairs), key=str)
    assert sorted(together[1]) == sorted(fault for _, faults in apart for fault in faults)


@given(texts=st.lists(st.text('a",é ', min_size=1, max_size=9), min_size=1, max_size=8))
def test_lines_with_quotes_are_cut_as_the_csv_module_cuts_them(texts):
    rows = {}
    for row, text in enumerate(texts):
        with suppress(csv.Error):
            fields = next(csv.reader([text], strict=True))
            if len(fields) == 2 and text.count('"') % 2 == 0:
                rows[row] = tuple(fields)
    cut = cutting.cut_delimited(pa.array(texts, pa.string()), CSV)
    found = zip(cut.first.to_pylist(), cut.second.to_pylist(), strict=True)
    assert dict(zip(cut.rows.tolist(), found, strict=True)) == rows
    assert {row for row, _ in cut.bad} == set(range(len(texts))) - rows.keys()
