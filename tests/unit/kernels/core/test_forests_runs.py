import numpy as np

from meshwright.kernels.core.forests import place_runs


def test_runs_are_copied_to_where_they_belong():
    placed = np.full(7, -1)
    place_runs(np.array([4, 0, 6]), np.array([2, 3, 0], np.int32), np.array([10, 11, 20, 21, 22]), placed)
    assert placed.tolist() == [20, 21, 22, -1, 10, 11, -1]
