import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshwright.pipeline.ingest import grouping
from meshwright.pipeline.ingest.grouping import NO_TOPIC, grouped_at_once, own_code


def lists(rows, batch_rows=3):
    """What `grouped_at_once` makes of (name, code) rows that come in small batches."""
    batches = [
        pa.record_batch(
            [pa.array([n for n, _ in part], pa.string()), pa.array([c for _, c in part], pa.int32())],
            ["name", "code"],
        )
        for part in (rows[at : at + batch_rows] for at in range(0, len(rows), batch_rows))
    ]
    found = [row for batch in grouped_at_once(iter(batches)) for row in batch.to_pylist()]
    return [(row["name"], row["topic_ids"], row["duplicates"]) for row in found]


def test_each_name_has_one_sorted_list_and_its_duplicates():
    rows = [("b", 3), ("a", 1), ("b", 1), ("a", 1), ("c", NO_TOPIC), ("b", 3), ("b", 3), ("a", NO_TOPIC)]
    assert lists(rows) == [("a", [1], 1), ("b", [1, 3], 2), ("c", [], 0)]


def test_a_topic_of_ones_own_is_no_duplicate_of_one_that_was_read():
    rows = [("a", own_code(0)), ("a", 0), ("a", 5), ("b", own_code(2)), ("b", 1)]
    assert lists(rows) == [("a", [0, 5], 0), ("b", [1, 2], 0)]


def test_no_rows_make_no_lists():
    assert lists([]) == []


def test_names_are_sorted_by_their_bytes():
    names = ["\U0001f600", "\uffff", "z", "é", "Z", "a b", "a"]
    assert [name for name, _, _ in lists([(name, 0) for name in names])] == sorted(names, key=str.encode)


codes = st.one_of(st.integers(0, 4), st.just(NO_TOPIC), st.integers(0, 4).map(own_code), st.just(2**31 - 1))


@pytest.mark.parametrize("at_once", [2, 1 << 20])
@given(
    rows=st.lists(st.tuples(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=2), codes))
)
def test_lists_are_those_of_a_dictionary_of_sets(rows, at_once):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "ROWS_AT_ONCE", at_once)
        patch.setattr(grouping, "_INTERESTS_A_BATCH", at_once)
        found = lists(rows)
    read, all_topics = {}, {}
    for name, code in rows:
        all_topics.setdefault(name, set()).update(
            [] if code == NO_TOPIC else [code if code >= 0 else -2 - code]
        )
        read.setdefault(name, []).extend([code] if code >= 0 else [])
    expected = [
        (name, sorted(all_topics[name]), len(read[name]) - len(set(read[name])))
        for name in sorted(all_topics, key=str.encode)
    ]
    assert found == expected
