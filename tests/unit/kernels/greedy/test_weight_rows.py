import numpy as np
import pytest

from meshwright.construct import by_weight, greedy
from meshwright.kernels.greedy.weight_bounds import greatest_contribution
from meshwright.kernels.greedy.weight_rows import draw_sets


@pytest.mark.parametrize(("popular", "most"), [(1, 90), (32, 90), (1, 100_000)])
def test_the_greatest_sum_of_a_row_is_that_of_common_topics_rounded_up(popular, most, monkeypatch):
    monkeypatch.setattr(greedy, "_POPULAR", popular)
    rng = np.random.default_rng(3)
    has = rng.random((150, 30)) < rng.uniform(0.05, 0.6, 30)
    has[:, 0] = True
    weights = rng.integers(1, most, 30).astype(np.int32)
    indptr = np.concatenate([[0], np.cumsum(has.sum(1))])
    topic_ids = np.nonzero(has)[1].astype(np.int32)
    order = np.arange(150, dtype=np.int32)
    problem = greedy.make_problem(indptr, topic_ids, 30, order, weights=weights)
    state = greedy.start_state(problem, with_columns=True)
    by_topic, room = by_weight._start_weights(state), by_weight._start_room(state)
    rounded = -(-weights.astype(np.int64) >> by_topic.fine)
    assert (by_topic.fine == 0) == (most == 90)
    for u in range(0, 149, 7):
        expected = (has[u + 1 :] & has[u]) @ rounded
        found = greatest_contribution(state, by_topic, np.array([u], np.int32), room)
        assert found == expected.max() << by_topic.fine
        assert room.row.sums[u + 1 : 150].tolist() == expected.tolist()
        assert room.row.counts[u + 1 : 150].tolist() == (has[u + 1 :] & has[u]).sum(1).tolist()


def test_a_set_has_the_nodes_whose_column_has_its_bit():
    columns = np.random.default_rng(5).integers(0, 256, (6, 192)).astype(np.uint8)
    sets = np.full((49, 3), 7, np.uint64)
    draw_sets(columns, 2, sets)
    for column in range(16, 48):
        nodes = np.flatnonzero(np.unpackbits(sets[column].view(np.uint8), bitorder="little"))
        assert nodes.tolist() == np.flatnonzero(columns[column // 8] >> (column % 8) & 1).tolist()
    assert (sets[:16] == 7).all()
    assert (sets[48] == 7).all()
