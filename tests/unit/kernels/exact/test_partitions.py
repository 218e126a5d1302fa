from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from meshwright.kernels.exact.partitions import find_partitions
from tests.oracles_dual import partitions

SIZE = 6
VALUES = st.lists(
    st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 0.75, 1.0]),
    min_size=SIZE * (SIZE - 1) // 2,
    max_size=SIZE * (SIZE - 1) // 2,
)


def violation(values, parts):
    """How far the values between parts are below what connects them."""
    between = [values[u, v] for one, other in combinations(parts, 2) for u in one for v in other]
    return len(parts) - 1 - sum(between)


@given(VALUES)
def test_the_partition_is_the_most_violated_of_all(drawn):
    values = np.zeros((SIZE, SIZE))
    values[np.triu_indices(SIZE, 1)] = drawn
    values += values.T
    topics = [[0, 1, 2, 3, 4, 5], [1, 3, 5], [4]]
    indptr, node_ids = np.array([0, 6, 9, 10]), np.array([0, 1, 2, 3, 4, 5, 1, 3, 5, 4], np.int32)
    labels, violations = np.empty(10, np.int32), np.empty(3)
    find_partitions(indptr, node_ids, values, labels, violations, np.zeros(2, np.int64))
    for topic, nodes in enumerate(topics):
        own = labels[indptr[topic] : indptr[topic + 1]]
        parts = [[node for node, at in zip(nodes, own, strict=True) if at == part] for part in set(own)]
        greatest = max(violation(values, some) for some in partitions(nodes))
        assert np.isclose(violations[topic], greatest, atol=1e-7)
        assert np.isclose(violation(values, parts), greatest, atol=1e-7)
