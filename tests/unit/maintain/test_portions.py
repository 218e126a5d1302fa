import pytest

import meshwright as mw
from meshwright.maintain import policies
from meshwright.maintain.repairs import Repair, merged
from tests.unit.maintain.examples import is_topic_connected, links, random_events, workload


@pytest.mark.parametrize(("most", "reoptimise"), [(1, 0), (40, 0), (200, 0), (40, 2)])
def test_a_batch_in_portions_tells_what_it_comes_to(monkeypatch, most, reoptimise):
    monkeypatch.setattr(policies, "_MOST_SHADOWS", most)
    live = mw.Maintainer(workload(150), reoptimise=reoptimise)
    for seed in range(3):
        before = links(live)
        repair = live.apply(random_events(live, 40, seed=seed + 10))
        added, removed = ({a + b for a, b in pairs} for pairs in (repair.added, repair.removed))
        assert before & added == set()
        assert before >= removed
        assert links(live) == before - removed | added
        assert is_topic_connected(live)
        assert repair.events == 40


def test_those_who_leave_come_first_and_nobody_is_left_out(monkeypatch):
    monkeypatch.setattr(policies, "_MOST_SHADOWS", 60)
    live = mw.Maintainer(workload())
    names = live.overlay.interests.nodes.to_pylist()
    events = [mw.Event(0, "join", "new", ("t00",)), *(mw.Event(0, "leave", name) for name in names[:30])]
    live.apply(events)
    assert set(live.overlay.interests.nodes.to_pylist()) == {"new", *names[30:]}


def test_links_that_came_and_went_again_are_not_told():
    one = Repair(revision=1, added=(("a", "b"), ("a", "c")), removed=(("c", "d"), ("d", "e")))
    other = Repair(revision=2, added=(("c", "d"), ("x", "y")), removed=(("a", "b"), ("e", "f")))
    both = merged([one, other])
    assert both.added == (("a", "c"), ("x", "y"))
    assert both.removed == (("d", "e"), ("e", "f"))
    assert both.revision == 2


@pytest.mark.parametrize(("policy", "instead"), [("naive", "policy shadow"), ("shadow", "reoptimise")])
def test_a_repair_that_does_not_fit_into_memory_is_refused_before_anything_changes(
    monkeypatch, policy, instead
):
    live = mw.Maintainer(workload(), policy)
    before = live.snapshot()
    monkeypatch.setattr(policies, "_WORTH_A_LOOK", 0)
    monkeypatch.setattr("meshwright.runtime.memory.free_memory", lambda: 0)
    with pytest.raises(mw.CapacityError, match=f"a repair among .* nodes needs .*{instead}"):
        live.leave("n000")
    assert live.snapshot() == before
