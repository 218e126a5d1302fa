"""Events that can't be applied among others that can."""

import meshwright as mw
from tests.unit.maintain.journals import small_overlay


def test_what_cannot_be_applied_is_left_out_and_the_rest_is_applied():
    live, other = mw.Maintainer(small_overlay()), mw.Maintainer(small_overlay())
    good = [mw.Event(1, "leave", "n01", (), "a"), mw.Event(2, "join", "new", ("t1",), "b")]
    bad = [mw.Event(1, "leave", "nobody", (), "c"), mw.Event(3, "join", "new", (), "d")]
    repair = live.apply([bad[0], *good, bad[1]], lenient=True)
    expected = other.apply(good)
    assert (repair.added, repair.removed, repair.events) == (expected.added, expected.removed, 2)
    assert [refusal.event for refusal in repair.refused] == bad
    assert "is not in the overlay" in repair.refused[0].reason
    assert repair.revision == live.revision == 4


def test_an_event_that_was_left_out_is_passed_over_when_it_comes_again():
    live = mw.Maintainer(small_overlay())
    leave, join = mw.Event(1, "leave", "x", (), "k"), mw.Event(2, "join", "x", (), "l")
    live.apply([leave], lenient=True)
    live.apply([join], lenient=True)
    assert live.apply([leave], lenient=True).repeated == 1
    assert "x" in live


def test_sorting_out_passes_over_what_is_known():
    live = mw.Maintainer(small_overlay())
    leave = mw.Event(1, "leave", "n01", (), "k")
    live.apply([leave])
    assert live.sort_out([leave, mw.Event(2, "leave", "n02")]) == ([mw.Event(2, "leave", "n02")], [])
    assert live.apply([leave]).repeated == 1
