import numpy as np
import pytest

from meshwright.workloads import laws as popularity

LAWS = {
    "uniform": popularity.uniform,
    "zipf": lambda topics: popularity.zipf(topics, 2.0),
    "steepest zipf": lambda topics: popularity.zipf(topics, 20.0),
    "exponential": lambda topics: popularity.exponential(topics, 5.0),
    "steepest exponential": lambda topics: popularity.exponential(topics, 500.0),
}


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("topics", [1, 2, 1_000, 100_000])
def test_popularity_sums_to_one_and_falls_but_never_to_nothing(law, topics):
    probability = law(topics)
    assert probability.shape == (topics,)
    assert probability.sum() == pytest.approx(1.0)
    assert (np.diff(probability) <= 0).all()
    assert probability[-1] > 1e-220


def test_popularity_has_the_stated_slope():
    assert popularity.zipf(10, 2.0)[1] / popularity.zipf(10, 2.0)[4] == pytest.approx((5 / 2) ** 2)
    exponential = popularity.exponential(10, 5.0)
    assert exponential[1] / exponential[4] == pytest.approx(np.exp(5.0 * 3 / 10))


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize(("topics", "largest"), [(1, 1), (30, 30), (2_000, 300)])
def test_waiting_times_let_about_the_wanted_number_of_topics_arrive(law, topics, largest):
    probability = law(topics)
    times = popularity.waiting_times(probability, largest)
    assert times.shape == (largest + 1,)
    assert np.isfinite(times).all()
    arrive = -np.expm1(-np.outer(times[1:], probability)).sum(axis=1)
    size = np.arange(1, largest + 1)
    wanted = np.minimum(size + 2 * np.sqrt(size), topics - 0.1)
    assert (np.abs(arrive - wanted) <= 0.1 * wanted + 1).all()
