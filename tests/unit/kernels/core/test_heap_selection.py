import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from meshwright.kernels.core.heap import smallest


@given(st.lists(st.floats(allow_nan=False), min_size=1), st.data())
def test_the_value_of_a_rank_is_where_sorting_puts_it(values, data):
    rank = data.draw(st.integers(0, len(values) - 1))
    assert smallest(np.array(values), rank) == sorted(values)[rank]


def test_equal_values_take_linear_time():
    values = np.ones(1_000_000)
    assert smallest(values, 500_000) == 1.0
