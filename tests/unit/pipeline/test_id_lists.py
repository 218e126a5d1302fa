import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from meshwright.pipeline.sample.on_spark import lists_of_ids, rows_of_ids
from meshwright.pipeline.spark.arrays import restricted

ids = st.sets(st.integers(0, 30)).map(sorted)
KIND = pa.list_(pa.int32())


@given(st.lists(ids), ids)
def test_lists_are_restricted_to_topics_and_numbered_among_them(lists, topics):
    found = restricted(pa.array(lists, KIND), np.array(topics, np.int32))
    assert found.to_pylist() == [[topics.index(topic) for topic in row if topic in topics] for row in lists]


@given(st.dictionaries(st.integers(0, 20), ids), ids, ids, st.integers(1, 4))
def test_batches_are_restricted_to_nodes_and_topics(lists, nodes, topics, size):
    table = pa.table({"node_id": pa.array(lists, pa.int32()), "topic_ids": pa.array(lists.values(), KIND)})
    chosen = np.array(nodes, np.int32), np.array(topics, np.int32)
    restricted_batches = lists_of_ids(iter(table.to_batches(size)), *chosen)
    rows = [row for batch in restricted_batches for row in batch.to_pylist()]
    assert rows == [
        {"node_id": nodes.index(node), "topic_ids": [topics.index(topic) for topic in row if topic in topics]}
        for node, row in lists.items()
        if node in nodes
    ]


@given(st.lists(st.integers(0, 30), unique=True), ids)
def test_rows_keep_their_other_columns(table_ids, chosen):
    table = pa.table({"name": [f"n{one}" for one in table_ids], "id": pa.array(table_ids, pa.int32())})
    kept = rows_of_ids(iter(table.to_batches(3)), np.array(chosen, np.int32))
    rows = [row for batch in kept for row in batch.to_pylist()]
    assert rows == [{"name": f"n{one}", "id": chosen.index(one)} for one in table_ids if one in chosen]
