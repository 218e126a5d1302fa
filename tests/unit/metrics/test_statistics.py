import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from meshwright.metrics.statistics import exact_sum, partial_sum, total

FLOATS = st.lists(st.floats(-1e300, 1e300), max_size=30)


@given(FLOATS)
def test_the_sum_is_the_exact_one_rounded_once(values):
    assert exact_sum(np.array(values, np.float64)) == math.fsum(values)


@given(FLOATS, st.integers(0, 30), st.randoms())
def test_order_and_division_into_parts_do_not_matter(values, cut, random):
    mixed = random.sample(values, len(values))
    parts = [partial_sum(np.array(part, np.float64)) for part in (mixed[:cut], mixed[cut:])]
    assert total(parts) == exact_sum(np.array(values, np.float64))


def test_a_million_numbers_of_one_exponent_do_not_overflow():
    assert exact_sum(np.full(1_000_000, 1.75)) == 1_750_000
