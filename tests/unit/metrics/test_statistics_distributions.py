"""Distributions of numbers over nodes, against their definitions."""

from collections import Counter
from math import ceil

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from meshwright.metrics.statistics import PERCENTILES, SUMMARY, distribution, summary


@given(st.lists(st.integers(0, 30), min_size=1, max_size=60))
def test_percentiles_are_the_least_values_that_so_many_do_not_exceed(values):
    found = distribution(np.array(values))
    for name, percent in PERCENTILES.items():
        enough = percent * len(values) / 100
        least = min(one for one in values if sum(other <= one for other in values) >= enough)
        assert found[name] == least == sorted(values)[ceil(enough) - 1]
    assert found["mean"] == sum(values) / len(values)
    assert found["maximum"] == max(values)
    assert found["histogram"] == [[value, count] for value, count in sorted(Counter(values).items())]
    assert summary(found) == {name: found[name] for name in SUMMARY}


def test_nothing_has_no_distribution():
    assert distribution(np.array([], np.int64)) == {**dict.fromkeys(SUMMARY), "histogram": []}


def test_what_is_not_whole_counts_where_it_is_said_to():
    found = distribution(np.array([0.5, 0.25, 2.5]), np.array([0, 0, 2]))
    assert found["histogram"] == [[0, 2], [2, 1]]
    assert found["median"] == 0.5
