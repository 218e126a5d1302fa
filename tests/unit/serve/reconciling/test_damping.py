from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from meshwright.serve.reconciling.damping import Damper

WINDOW = 30.0

looks = st.lists(st.tuples(st.floats(0.01, 40), st.booleans()), min_size=1, max_size=60)


def changes_of(seen: list[tuple[float, bool]]) -> list[tuple[float, bool]]:
    """When a broker leaves and comes back, if its changes are made as soon as they are due."""
    damper, there, now = Damper(WINDOW), True, 0.0
    found = []
    for pause, up in seen:
        now += pause
        damper.see("a", up, now)
        if damper.is_gone("a", now) if there else damper.is_back("a", now):
            there = not there
            damper.change("a", now)
            found.append((now, there))
    return found


@given(looks)
def test_flaps_give_at_most_one_change_in_a_window_and_the_first_failure_counts_at_once(
    seen: list[tuple[float, bool]],
) -> None:
    found = changes_of(seen)
    assert all(later - sooner >= WINDOW for (sooner, _), (later, _) in pairwise(found))
    times = [sum(pause for pause, _ in seen[: at + 1]) for at in range(len(seen))]
    first = next((time for time, (_, up) in zip(times, seen, strict=True) if not up), None)
    assert [time for time, _ in found[:1]] == ([] if first is None else [first])


@given(looks, st.booleans())
def test_a_broker_that_stays_as_it_is_counts_as_that(seen: list[tuple[float, bool]], up: bool) -> None:
    """A failure after two windows at the latest, a return after a window without a failure."""
    found = changes_of([*seen, *([(WINDOW / 2, up)] * 6)])
    assert (found[-1][1] if found else True) is up
