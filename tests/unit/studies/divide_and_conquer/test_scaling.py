"""The figures on growing systems, and what they are drawn from."""

import numpy as np
import pytest

from meshwright.studies.divide_and_conquer.scaling import READINGS, Row, System


def test_readings_draw_the_sizes_that_they_say():
    sizes = {reading.suffix: np.diff(reading.draw(System(400, 100, 20), 1).indptr) for reading in READINGS}
    assert sizes[""].mean() == pytest.approx(20, rel=0.05)
    assert sizes[""].std() > 1
    assert set(sizes["equal"]) == {20}
    assert (sizes["unequal"].min(), sizes["unequal"].max()) == (4, 40)


def test_readings_change_what_they_say_and_nothing_else():
    systems = (System(60, 40, 8),)
    by_suffix = {reading.suffix: reading for reading in READINGS}

    def degrees(suffix):
        row = Row(systems, by_suffix[suffix], 1)
        return [row.of(name, "degree") for name in ("gm", "dc", "dcbc")]

    assert degrees("all-pairs") == degrees("")
    assert degrees("p-10")[0] == degrees("")[0]
    assert degrees("p-10")[1] != degrees("")[1]
    pairs = Row(systems, by_suffix["all-pairs"], 1).of("gm", "work")
    assert pairs == [60 * 59 / 2]
