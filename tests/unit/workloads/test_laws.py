import numpy as np
import pytest
from scipy import stats

from meshwright.runtime.errors import OptionError
from meshwright.workloads import Sizes
from meshwright.workloads.laws import power_law


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0, 3.5])
def test_power_law_sizes_have_the_stated_histogram(exponent):
    low, high, count = 3, 12, 50_000
    drawn = power_law(np.random.default_rng(5), count, low, high, exponent)
    assert drawn.dtype == np.int64
    weight = np.array([k**-exponent for k in range(low, high + 1)])
    observed = np.bincount(drawn, minlength=high + 1)[low:]
    assert observed.sum() == count
    assert stats.chisquare(observed, weight / weight.sum() * count).pvalue > 1e-3


def test_the_steepest_power_law_is_its_minimum():
    assert set(power_law(np.random.default_rng(0), 100, 2, 1_000, 1_000.0)) == {2}


def test_bounds_of_one_size_give_that_size():
    assert set(power_law(np.random.default_rng(0), 100, 7, 7, 2.0)) == {7}


@pytest.mark.parametrize(
    ("options", "bounds"),
    [
        ({"topics": 1_000}, (10, 150)),
        ({"topics": 40}, (10, 40)),
        ({"topics": 3}, (3, 3)),
        ({"topics": 1_000, "max_subscriptions": 4}, (4, 4)),
        ({"topics": 1_000, "min_subscriptions": 20}, (20, 150)),
        ({"topics": 1_000, "min_subscriptions": 1, "max_subscriptions": 1_000}, (1, 1_000)),
    ],
)
def test_bounds_that_are_not_given_fit_the_topics(options, bounds):
    assert Sizes(**options).bounds == bounds


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"topics": 0}, "topics is 0; give a whole number from 1 to 100000000"),
        ({"topics": 2.5}, "topics is 2.5;"),
        (
            {"subscriptions": 11},
            "subscriptions is 11; give a whole number from 0 to 10, which is the number",
        ),
        ({"subscriptions": -1}, "subscriptions is -1; give a whole number from 0 to 10"),
        ({"subscriptions": True}, "subscriptions is True;"),
        ({"max_subscriptions": 11}, "max_subscriptions is 11; give a whole number from 1 to 10.*more topics"),
        ({"max_subscriptions": "9"}, "max_subscriptions is '9';"),
        (
            {"min_subscriptions": 0},
            "min_subscriptions is 0; give .* from 1 to 10.*subscriptions=0",
        ),
        (
            {"min_subscriptions": 6, "max_subscriptions": 5},
            "min_subscriptions is 6; .* from 1 to 5, which",
        ),
        ({"size_exponent": -1.0}, "size_exponent is -1.0; give a number from 0 to 1000"),
        ({"size_exponent": float("nan")}, "size_exponent is nan;"),
        ({"size_exponent": float("inf")}, "size_exponent is inf;"),
        (
            {"subscriptions": 5, "min_subscriptions": 2},
            "subscriptions and min_subscriptions can't be combined; give",
        ),
        (
            {"subscriptions": 5, "max_subscriptions": 7},
            "subscriptions and max_subscriptions can't be combined; give",
        ),
        (
            {"subscriptions": 5, "size_exponent": 2.0},
            "subscriptions and size_exponent can't be combined; give",
        ),
        ({"independent": True}, "independent is set without subscriptions; give subscriptions=K"),
    ],
)
def test_what_is_not_legal_is_named_with_the_range_and_the_way_out(options, message):
    with pytest.raises(OptionError, match=message):
        Sizes(**{"topics": 10, **options})
