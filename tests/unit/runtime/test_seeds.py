import numpy as np
import pytest

from meshwright.runtime.errors import OptionError
from meshwright.runtime.seeds import generator


def test_the_same_seed_stage_and_part_give_the_same_stream():
    assert np.array_equal(generator(3, "gm", 1).random(5), generator(3, "gm", 1).random(5))


@pytest.mark.parametrize("other", [(4, "gm", 1), (3, "ring", 1), (3, "gm", 2)])
def test_another_seed_stage_or_part_gives_another_stream(other):
    assert not np.array_equal(generator(3, "gm", 1).random(5), generator(*other).random(5))


@pytest.mark.parametrize("seed", [-1, 1.0, "1", None, True])
def test_a_seed_that_is_no_whole_number_from_0_on_is_refused(seed):
    with pytest.raises(OptionError, match="whole number of at least 0"):
        generator(seed, "gm")
