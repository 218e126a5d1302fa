import numpy as np
import pytest

from meshwright.construct import greedy
from meshwright.kernels.greedy.bounds import CAP


@pytest.mark.parametrize("popular", [1, 32])
@pytest.mark.parametrize("topics", [200, 700])
def test_the_first_bound_of_a_pair_is_the_number_of_its_common_topics_up_to_the_cap(
    topics, popular, monkeypatch
):
    monkeypatch.setattr(greedy, "_POPULAR", popular)
    rng = np.random.default_rng(5)
    has = rng.random((150, topics)) < rng.uniform(0.02, 0.7, topics)
    has[0] = True
    indptr = np.concatenate([[0], np.cumsum(has.sum(1))])
    topic_ids = np.nonzero(has)[1].astype(np.int32)
    problem = greedy.make_problem(indptr, topic_ids, topics, np.arange(150, dtype=np.int32))
    state = greedy.start_state(problem, with_columns=True)
    pairs = greedy.start_pairs(problem, state, [greedy.start_room(problem, state)], np.zeros(2, np.int64))
    assert (has.sum(1).max() > 255) == (topics == 700)
    for u in range(149):
        common = (has[u + 1 :] & has[u]).sum(1)
        row = pairs.store[pairs.starts[u] : pairs.starts[u + 1]].view(np.uint8)[: len(common)]
        assert row.tolist() == np.minimum(common, CAP).tolist()
        assert pairs.tops[u] >= common.max()
