import pytest

import meshwright as mw
from tests.unit.maintain.examples import is_topic_connected, links, random_events, workload


def aged(events: int = 200) -> mw.Maintainer:
    live = mw.Maintainer(workload(200))
    for event in random_events(live, events, seed=6):
        live.apply([event])
    return live


def rebuilt(live: mw.Maintainer) -> set[str]:
    """The links that the policy `rebuild` has for the same interests."""
    fresh = mw.Maintainer(live.overlay, "rebuild")
    fresh.join("nobody")
    return links(fresh)


def test_without_events_it_ends_at_exactly_the_fresh_overlay():
    live = aged()
    before = live.drift(measure=True)
    assert before.average > 0
    for repair in live.reoptimise(most_changes=10):
        assert len(repair.added) + len(repair.removed) <= 10
    assert links(live) == rebuilt(live)
    after = live.drift(measure=True)
    assert (after.average, after.maximum) == (0, 0)


def test_the_overlay_is_topic_connected_after_every_step_and_every_repair_is_told():
    live = aged(100)
    known = links(live)
    for repair in live.reoptimise(most_changes=6):
        known = known - {a + b for a, b in repair.removed} | {a + b for a, b in repair.added}
        assert known == links(live)
        assert is_topic_connected(live)


def test_links_are_added_before_others_are_removed():
    live = aged(100)
    first = live.reoptimise(most_changes=8).step()
    assert first is not None
    assert len(first.added) == 4


def test_events_between_the_steps_are_no_obstacle():
    live = aged(50)
    plan = live.reoptimise(most_changes=6)
    for event in random_events(live, 20, seed=7):
        plan.step()
        live.apply([event])
    assert sum(1 for _ in plan) > 0
    assert plan.step() is None
    assert is_topic_connected(live)
    assert live.drift(measure=True).average < 0.5


def test_the_same_steps_give_the_same_state():
    one, other = aged(60), aged(60)
    for live in (one, other):
        list(live.reoptimise())
    assert one.snapshot() == other.snapshot()


def test_a_fresh_overlay_needs_no_step():
    live = mw.Maintainer(workload(), "rebuild")
    live.join("nobody")
    plan = live.reoptimise()
    assert plan.step() is None
    assert plan.ready


@pytest.mark.parametrize("most", [0, 1, 2.5, None])
def test_a_step_must_be_allowed_to_exchange_a_link(most):
    with pytest.raises(mw.OptionError, match=r"most_changes is .* of at least 2"):
        mw.Maintainer(workload()).reoptimise(most)


def test_any_topic_connected_overlay_can_be_the_target():
    live = aged(60)
    target = mw.build(live.overlay.interests, "gm")
    for repair in live.reoptimise(most_changes=10, target=target):
        assert len(repair.added) + len(repair.removed) <= 10
        assert is_topic_connected(live)
    assert links(live) == links(mw.Maintainer(target))


def test_links_of_a_target_that_can_t_be_made_are_left_out_and_needed_ones_stay():
    live = aged(20)
    strangers = mw.Interests.from_pairs([("stranger", "t01"), ("another", "t01")])
    before = links(live)
    assert list(live.reoptimise(target=mw.build(strangers, "gm")))
    assert links(live) <= before
    assert is_topic_connected(live)


def test_a_target_that_is_no_overlay_is_refused():
    with pytest.raises(mw.InputError, match="reoptimise got a str as target; give an Overlay"):
        mw.Maintainer(workload()).reoptimise(target="gm")
