import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshwright.pipeline.ingest import pair_ids
from meshwright.pipeline.ingest.options import IngestOptions
from meshwright.pipeline.ingest.pair_ids import PairCoder, interests_of, share_no_name

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=2) | st.sampled_from("abc")
rows_of_names = st.lists(st.tuples(names, names | st.none()), max_size=30)


def coded(rows, batch_rows, encoded=False):
    """Rows that came in batches, every second one as dictionaries if `encoded`."""
    coder = PairCoder()
    for at in range(0, len(rows), batch_rows):
        part = rows[at : at + batch_rows]
        columns = [pa.array([row[side] for row in part], pa.string()) for side in (0, 1)]
        if encoded and at // batch_rows % 2:
            columns = [column.dictionary_encode() for column in columns]
        coder.add(*columns)
    assert coder.rows == len(rows)
    return coder.finish()


def lists_of(interests):
    nodes = interests.nodes.to_pylist()
    assert nodes == sorted(nodes, key=str.encode)
    return {node: set(interests.topics_of(node)) for node in nodes}


def stated(rows, relation, own_topic):
    """The lists that rows state, and how many repeat others, by dictionaries of sets."""
    pairs = [row for row in rows if row[1] is not None]
    if relation == "friendship":
        pairs += [(topic, node) for node, topic in pairs if node != topic]
    lists = {node: set() for node, _ in rows}
    if relation != "pairs":
        lists |= {topic: set() for _, topic in pairs}
    for node, topic in pairs:
        lists[node].add(topic)
    if own_topic:
        for node, topics in lists.items():
            topics.add(node)
    return lists, len(pairs) - len({*pairs})


@pytest.mark.parametrize(
    ("relation", "own_topic"),
    [("pairs", False), ("follows", False), ("follows", True), ("friendship", False), ("friendship", True)],
)
@given(rows=rows_of_names, batch_rows=st.integers(1, 4), at_once=st.sampled_from([1, 3, 1 << 20]))
def test_interests_are_those_of_a_dictionary_of_sets(relation, own_topic, rows, batch_rows, at_once):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_ids, "_ROWS_AT_ONCE", at_once)
        pairs = coded(rows, batch_rows, encoded=True)
    interests, duplicates = interests_of(pairs, IngestOptions(relation=relation, own_topic=own_topic))
    lists, repeated = stated(rows, relation, own_topic)
    assert (lists_of(interests), duplicates) == (lists, repeated)
    used = {topic for topics in lists.values() for topic in topics}
    assert interests.topics.to_pylist() == sorted(used, key=str.encode)


def test_columns_without_a_common_name_are_told():
    assert share_no_name(coded([("a", "x"), ("b", "y")], 1))
    assert not share_no_name(coded([("a", "x"), ("x", "y")], 1))
    assert not share_no_name(coded([("a", None)], 1))
