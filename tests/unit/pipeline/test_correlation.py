import json
from dataclasses import asdict
from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from meshwright.pipeline.profile.job import Correlation, clustered, pearson
from meshwright.pipeline.profile.on_spark import common_subscribers, summed
from meshwright.runtime.json_values import plain

matrices = st.tuples(st.integers(1, 12), st.integers(1, 6)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(0, 1))
)


@given(matrices)
def test_it_is_what_numpy_makes_of_the_matrix(matrix):
    varies = matrix.any(axis=0) & ~matrix.all(axis=0)
    found = pearson(matrix.T @ matrix, len(matrix))
    expected = np.zeros((matrix.shape[1], matrix.shape[1]))
    if varies.any():
        expected[np.ix_(varies, varies)] = np.corrcoef(matrix[:, varies], rowvar=False)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@settings(deadline=None)
@given(matrices, st.integers(1, 3))
def test_common_subscribers_are_counted_over_batches_and_tasks(matrix, batches):
    ids = np.arange(matrix.shape[1], dtype=np.int32) * 3 + 1
    lists = [[0, *ids[row == 1].tolist(), 99] for row in matrix]
    table = pa.table({"topic_ids": pa.array(lists, pa.list_(pa.int32()))})
    tasks = [table.to_batches(max_chunksize=batches)[at::2] for at in range(2)]
    rows = [row for task in tasks for row in common_subscribers(iter(task), ids)]
    (total,) = summed(iter(rows))
    found = np.frombuffer(total.column(0)[0].as_py(), np.int64).reshape(len(ids), len(ids))
    np.testing.assert_array_equal(found, matrix.T @ matrix)


def test_like_topics_stand_together():
    groups = np.repeat(np.eye(3, dtype=np.int64), 20, axis=0)
    matrix = groups[:, [0, 1, 2, 0, 1, 2, 0]]
    order = clustered(pearson(matrix.T @ matrix, len(matrix)))
    labels = [[0, 1, 2, 0, 1, 2, 0][at] for at in order]
    assert sorted(order) == list(range(7))
    assert sum(a != b for a, b in pairwise(labels)) == 2


@given(matrices)
def test_numbers_are_over_pairs_of_different_topics_and_survive_json(matrix):
    names = [f"t{at}" for at in range(matrix.shape[1])]
    found = Correlation.of(matrix.T @ matrix, len(matrix), names, sampled=False, chosen="all topics")
    off = pearson(matrix.T @ matrix, len(matrix))[np.triu_indices(len(names), 1)]
    assert sorted(found.topics) == names
    assert found.subscribers == tuple(int(matrix[:, int(name[1:])].sum()) for name in found.topics)
    if len(off):
        assert np.isclose(found.mean_absolute, np.abs(off).mean())
        assert np.isclose(found.share_strong, (off > 0.1).mean())
    else:
        assert found.mean_absolute is None
    assert json.loads(json.dumps(asdict(found))) == plain(found, "it")
