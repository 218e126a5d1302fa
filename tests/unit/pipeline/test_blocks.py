import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshwright.construct.parts.partitioning import parts_at, random_places
from meshwright.pipeline.build.part_rows import cut_lists, joined
from meshwright.runtime.errors import DatasetError
from tests.strategies import topic_sets


def table_of(topics, nodes):
    lists = pa.array([sorted(own) for own in topics], pa.list_(pa.int32()))
    return pa.table({"node_id": pa.array(nodes, pa.int32()), "topic_ids": lists})


@given(topics=topic_sets(), parts=st.integers(1, 4), seed=st.integers(0, 3), rows=st.integers(1, 5))
def test_what_is_cut_into_blocks_is_joined_by_part_in_the_order_of_ids(topics, parts, seed, rows):
    order = np.random.default_rng(seed).permutation(len(topics))
    table = table_of([topics[node] for node in order], order)
    batches = table.to_batches(max_chunksize=rows)
    cut = cut_lists(batches, lambda ids: ids % (parts + 1) - 1, len(topics), 100)
    blocks = pa.Table.from_batches([*cut]) if len(topics) else None
    for part in range(parts if blocks else 0):
        found = joined(blocks.filter(pa.compute.equal(blocks["part"], part)))
        members = [node for node in range(len(topics)) if node % (parts + 1) - 1 == part]
        assert found.nodes.tolist() == members
        own = np.split(found.topic_ids, found.indptr[1:-1]) if members else []
        assert [set(ids.tolist()) for ids in own] == [topics[node] for node in members]


@given(nodes=st.integers(1, 50), fewer=st.integers(1, 6), times=st.integers(1, 6), seed=st.integers(0, 9))
def test_more_random_parts_lie_within_fewer_that_divide_them(nodes, fewer, times, seed):
    places = random_places(nodes, seed)
    assert (parts_at(places, nodes, fewer * times) // times == parts_at(places, nodes, fewer)).all()


@pytest.mark.parametrize(
    ("table", "word"),
    [
        (table_of([{0}], [5]), "outside 0 to 1"),
        (table_of([{100}], [0]), "topic_ids must lie between"),
        (table_of([{0}], [None]), "null"),
        (table_of([{0}, {0}], [1, 1]), "twice"),
    ],
)
def test_rows_that_a_dataset_can_not_have_are_refused(table, word):
    with pytest.raises(DatasetError, match=word):
        joined(pa.Table.from_batches([*cut_lists(table.to_batches(), lambda ids: ids * 0, 2, 100)]))
