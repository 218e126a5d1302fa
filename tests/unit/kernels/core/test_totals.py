import numpy as np
import pytest

from meshwright.kernels.compiling import kernel
from meshwright.kernels.core.totals import add_up, greatest


@kernel
def _greatest(values: np.ndarray) -> int:
    return greatest(values)


@kernel
def _add_up(counts: np.ndarray) -> None:
    add_up(counts)


@pytest.mark.parametrize("values", [[], [-3, -1], [5], [1, 7, 2]])
def test_the_greatest_is_never_under_zero(values: list[int]) -> None:
    assert _greatest(np.array(values, np.int32)) == max([0, *values])


@pytest.mark.parametrize("counts", [[], [4], [0, 2, 0, 3]])
def test_counts_become_their_running_totals(counts: list[int]) -> None:
    totals = np.array(counts, np.int64)
    _add_up(totals)
    assert totals.tolist() == np.cumsum(np.array(counts, np.int64)).tolist()
