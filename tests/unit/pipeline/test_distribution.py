import json
from dataclasses import asdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from meshwright.pipeline.profile.distribution import Distribution
from meshwright.runtime.json_values import plain


@given(st.lists(st.integers(0, 50), min_size=1, max_size=200))
def test_it_says_what_numpy_says_of_the_values(sample):
    found = Distribution.of((value, 1) for value in sample)
    values, counts = np.unique(sample, return_counts=True)
    assert found.values == tuple(values.tolist())
    assert found.counts == tuple(counts.tolist())
    assert np.isclose(found.mean, np.mean(sample))
    for name, share in (("minimum", 0), ("p25", 0.25), ("median", 0.5), ("p90", 0.9), ("maximum", 1)):
        assert found.quantiles[name] == np.quantile(sample, share, method="inverted_cdf")


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 90))))
def test_it_survives_json(pairs):
    found = Distribution.of(pairs)
    assert json.loads(json.dumps(asdict(found))) == plain(found, "it")


def test_of_nothing_there_is_nothing_to_say():
    found = Distribution.of([(3, 0)])
    assert (found.values, found.mean, found.quantiles, found.exponent) == ((), None, {}, None)
