import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import zeta

from meshwright.metrics.statistics import LEAST_TAIL
from meshwright.pipeline.profile.distribution import fit_power_law


def counted(sample):
    return np.unique(np.asarray(sample, np.int64), return_counts=True)


@settings(max_examples=25, deadline=None)
@given(st.floats(1.7, 3.5), st.integers(0, 2**32 - 1))
def test_the_exponent_of_a_zeta_distribution_is_found(exponent, seed):
    law = fit_power_law(*counted(np.random.default_rng(seed).zipf(exponent, 20_000)))
    # Some standard errors, each about (exponent - 1) / sqrt(tail), and more for discrete data.
    assert law is not None
    assert law.exponent == pytest.approx(exponent, abs=0.02 + 9 * (exponent - 1) / np.sqrt(law.tail))
    assert law.ks_distance < 1.36 / np.sqrt(law.tail)


def test_where_the_tail_begins_is_found():
    random = np.random.default_rng(3)
    tail = 20 * (1 - random.random(20_000)) ** (-1 / 1.5)
    law = fit_power_law(*counted(np.concatenate([random.integers(1, 21, 40_000), tail.astype(np.int64)])))
    assert 18 <= law.x_min <= 40
    assert law.exponent == pytest.approx(2.5, abs=0.1)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 200), min_size=1, max_size=400))
def test_no_exponent_is_more_likely_and_the_distance_is_that_of_the_distribution_functions(sample):
    law = fit_power_law(*counted(sample))
    if law is None:
        return
    tail = np.sort([value for value in sample if value >= law.x_min])
    assert law.tail == len(tail) >= LEAST_TAIL

    def loss(exponent):
        return len(tail) * np.log(zeta(exponent, law.x_min)) + exponent * np.log(tail).sum()

    best = minimize_scalar(loss, bounds=(1.001, 16), method="bounded")
    assert loss(law.exponent) <= best.fun + 1e-6 * abs(best.fun)
    whole = np.arange(law.x_min, tail[-1] + 1)
    empirical = np.searchsorted(tail, whole, side="right") / len(tail)
    model = np.cumsum(whole.astype(float) ** -law.exponent) / zeta(law.exponent, law.x_min)
    assert law.ks_distance == pytest.approx(np.abs(empirical - model).max(), abs=1e-9)


@pytest.mark.parametrize(
    "sample", [[], [0] * 500, [7] * 500, range(1, LEAST_TAIL)], ids=["none", "zeros", "all equal", "too few"]
)
def test_too_little_to_fit_is_no_law(sample):
    assert fit_power_law(*counted(list(sample))) is None


def test_zeros_do_not_count():
    values, counts = counted(np.random.default_rng(1).zipf(2.2, 5_000))
    with_zeros = np.concatenate([[0], values]), np.concatenate([[10**6], counts])
    assert fit_power_law(*with_zeros) == fit_power_law(values, counts)
