import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshwright.pipeline.sample.bfs import BfsOptions
from meshwright.pipeline.sample.universe import Sizes, UniverseOptions, median
from meshwright.runtime.errors import OptionError


@pytest.mark.parametrize(
    "options",
    [
        {"users": 0},
        {"users": 5, "starts": 0},
        {"users": 5, "starts": 6},
        {"users": 5, "starts": 2, "start": ("a",)},
        {"users": 5, "start": ("a", "a")},
    ],
)
def test_a_search_that_makes_no_sense_is_refused(options):
    with pytest.raises(OptionError):
        BfsOptions(**options)


@pytest.mark.parametrize(
    "options",
    [
        {"seeds": 0},
        {"grow": "fast"},
        {"nodes_of": "all"},
        {"topics_of": "x"},
        {"least_subscribers": 0},
        {"median_of": 0},
    ],
)
def test_a_universe_that_makes_no_sense_is_refused_with_the_choices(options):
    with pytest.raises(OptionError, match=r"choose among|of at least 1"):
        UniverseOptions(**{"seeds": 1, **options})


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=9))
def test_as_many_universes_lie_below_the_median_as_above_or_one_less(sizes):
    all_sizes = [Sizes(number, *size) for number, size in enumerate(sizes)]
    chosen = median(all_sizes)
    below = sum((size.ratio, size.universe) < (chosen.ratio, chosen.universe) for size in all_sizes)
    assert below == (len(sizes) - 1) // 2
