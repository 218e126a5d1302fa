"""Two overlays beside each other: against sets and sums of plain Python."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import meshwright as mw
from meshwright.pipeline.overlay_pairs import (
    CostChange,
    check_same_interests,
    compared_costs,
    compared_links,
)


class Named(NamedTuple):
    name: str
    overlay: mw.Overlay
    unit: str = ""


NODES = "abcdef"
INTERESTS = mw.Interests.from_pairs([(node, "t") for node in NODES])
PAIRS = st.lists(
    st.tuples(st.sampled_from(NODES), st.sampled_from(NODES))
    .filter(lambda pair: pair[0] != pair[1])
    .map(lambda pair: tuple(sorted(pair))),
    unique=True,
)


def overlay_of(pairs, costs=None):
    return mw.Overlay.from_edges(INTERESTS, pairs, None if costs is None else list(costs))


def price(pair):
    return 1.25 * (ord(pair[0]) - 96) + ord(pair[1])


@given(PAIRS, PAIRS)
def test_links_to_open_to_close_and_to_keep_are_differences_of_sets(today, target):
    found = compared_links(overlay_of(today), overlay_of(target))
    before, after = set(today), set(target)
    assert found == (len(after - before), len(before - after), len(before & after))


@given(PAIRS, PAIRS, st.booleans(), st.booleans())
def test_costs_are_compared_if_those_of_all_links_are_known(today, target, first, second):
    def named(name, pairs, priced):
        return Named(name, overlay_of(pairs, map(price, pairs) if priced else None), "ms" if priced else "")

    found = compared_costs(named("today", today, first), named("target", target, second))
    known = (set(today) if first else set()) | (set(target) if second else set())
    if not first and not second:
        assert found == CostChange()
    elif {*today, *target} <= known:
        assert found.today == pytest.approx(sum(map(price, today)))
        assert found.target == pytest.approx(sum(map(price, target)))
        assert (found.unit_today, found.unit, found.why_not) == ("ms", "ms", "")
    else:
        own = (sum(map(price, today)), None) if first else (None, sum(map(price, target)))
        assert (found.today, found.target) == own
        without, knowing = ("target", "today") if first else ("today", "target")
        assert f"{without} has none" in found.why_not
        assert f"not in {knowing}" in found.why_not


def test_costs_that_contradict_each_other_or_have_other_units_are_not_compared():
    pairs = [("a", "b"), ("b", "c")]
    today, target = overlay_of(pairs, [1.0, 2.0]), overlay_of(pairs, [1.0, 2.5])
    found = compared_costs(Named("one", today), Named("two", target))
    assert (found.today, found.target) == (3.0, 3.5)
    assert found.why_not == (
        "The costs can't be compared: 1 of the 2 links that both have do not cost the same in one and in "
        "two. Give --costs, --inner or --places to price all links alike."
    )
    other = compared_costs(Named("one", today, "ms"), Named("two", today, "EUR"))
    assert other.why_not.startswith("The costs can't be compared: they are in ms and in EUR.")
    assert (other.unit_today, other.unit) == ("ms", "EUR")
    assert compared_costs(Named("one", today, "ms"), Named("two", today)).unit == "ms"


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ([("a", "x"), ("b", "x")], [("b", "x"), ("c", "x")], "node 'a' is only in one"),
        ([("b", "x")], [("b", "x"), ("a", "x")], "node 'a' is only in two"),
        ([("a", "x"), ("a", "z")], [("a", "y"), ("a", "z")], "topic 'x' is only in one"),
        ([("é", "x")], [("z", "x")], "node 'z' is only in two"),
        (
            [("a", "x"), ("b", "x"), ("b", "y")],
            [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")],
            "node 'a' subscribes to 'y' only in two",
        ),
        ([("b", "y"), ("a", "x")], [("a", "x"), ("b", "y")], ""),
    ],
)
def test_the_first_difference_by_name_is_told(one, other, said):
    def named(name, pairs):
        interests = mw.Interests.from_pairs(pairs)
        return Named(name, mw.Overlay.from_arrays(interests, np.empty((0, 2), np.int32)))

    first, second = named("one", one), named("two", other)
    if said:
        with pytest.raises(mw.InputError, match=f"one and two are overlays of different interests: {said};"):
            check_same_interests(first, second)
    else:
        check_same_interests(first, second)
