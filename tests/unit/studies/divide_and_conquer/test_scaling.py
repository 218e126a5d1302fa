"""The figures on growing systems."""

import math

import numpy as np
import pytest

from meshwright.studies.divide_and_conquer import scaling_figures
from meshwright.studies.divide_and_conquer.scaling import READINGS, Row, System
from meshwright.studies.divide_and_conquer.scaling import trend as trend_of

SMALL = (System(60, 40, 8), System(90, 40, 8))


@pytest.mark.parametrize("figure", scaling_figures._FIGURES)
def test_every_statement_can_be_measured_on_small_systems(figure):
    for reading in range(len(READINGS)):
        for stated in scaling_figures._FIGURES[figure].statements:
            assert math.isfinite(stated.value(Row(SMALL, reading, seed=1)))


def test_the_first_reading_counts_and_the_others_are_its_variants():
    names = {claim.name for claim in scaling_figures.CLAIMS if not claim.variant_of}
    variants = [claim for claim in scaling_figures.CLAIMS if claim.variant_of]
    assert {claim.variant_of for claim in variants} == names
    assert len(variants) > 2 * len(names)


@pytest.mark.parametrize(
    ("values", "trend"), [([1, 2, 3], 1), ([3, 2, 1], -1), ([1, 1], 0), ([1, 3, 2], 1 / 3)]
)
def test_a_trend_is_kendalls_tau(values, trend):
    assert trend_of(values) == pytest.approx(trend)


def test_readings_draw_the_sizes_that_they_say():
    sizes = [np.diff(reading.draw(System(400, 100, 20), 1).indptr) for reading in READINGS]
    assert sizes[0].mean() == pytest.approx(20, rel=0.05)
    assert sizes[0].std() > 1
    assert set(sizes[1]) == {20}
    assert (sizes[2].min(), sizes[2].max()) == (4, 40)
