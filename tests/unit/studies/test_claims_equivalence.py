"""The statistics of paired runs, against scipy's own tests and by simulation."""

import numpy as np
import pytest
from scipy import stats

from meshwright.studies.claims import equivalence_p, rise_p


@pytest.mark.parametrize("shift", [-0.4, 0.0, 0.1, 0.7])
def test_equivalence_is_the_greater_of_two_one_sided_t_tests(shift):
    differences = np.random.default_rng(1).normal(shift, 1, 40)
    sides = (
        stats.ttest_1samp(differences, -0.5, alternative="greater").pvalue,
        stats.ttest_1samp(differences, 0.5, alternative="less").pvalue,
    )
    assert equivalence_p(differences, 0.5) == pytest.approx(max(sides))


def test_at_the_margin_five_in_a_hundred_are_taken_for_equivalent():
    random = np.random.default_rng(2)
    found = [equivalence_p(random.normal(0.3, 1, 50), 0.3) < 0.05 for _ in range(2_000)]
    assert np.mean(found) == pytest.approx(0.05, abs=0.02)


def test_equal_differences_are_beyond_doubt_and_one_run_says_nothing():
    assert equivalence_p([0.1, 0.1], 0.2) == 0
    assert equivalence_p([0.3, 0.3], 0.2) == 1
    assert equivalence_p([0.0], 0.2) == 1


def test_a_rise_is_a_one_sided_sign_test():
    assert rise_p(0, 0) == 1
    assert rise_p(3, 9) == pytest.approx(stats.binomtest(9, 12, alternative="greater").pvalue)
    assert rise_p(9, 3) > 0.9
    assert rise_p(0, 5) == pytest.approx(1 / 32)
