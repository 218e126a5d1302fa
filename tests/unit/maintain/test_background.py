"""Re-optimisation in the background: the budget, what it brings, and an end in the middle of it."""

from collections import deque

import pytest

import meshwright as mw
from meshwright.maintain import background
from meshwright.maintain.background import Budget
from meshwright.maintain.options import MaintainOptions
from tests import oracles
from tests.unit.maintain.test_maintainer import random_events, workload

NODES = 200


def run(events, **options):
    live = mw.Maintainer(workload(200), seed=3, **options)
    return live, [live.apply([event]) for event in events]


def events_of(count):
    return random_events(mw.Maintainer(workload(200)), count, seed=5)


def is_connected(live):
    overlay = live.overlay
    names = overlay.interests.nodes.to_pylist()
    links = {(names[u], names[v]) for u, v in overlay.edges.tolist()}
    return oracles.is_topic_connected({name: live.topics_of(name) for name in names}, links)


def test_fewer_links_are_left_and_all_topics_are_connected():
    events = events_of(150)
    (plain, _), (live, _) = run(events), run(events, reoptimise=20)
    assert live.link_count < plain.link_count
    assert is_connected(live)


def test_a_node_with_too_many_links_gives_them_to_others():
    names = [f"b{number:02}" for number in range(30)]
    interests = mw.Interests.from_pairs([(name, "news") for name in names])
    live = mw.Maintainer(
        mw.Overlay.from_edges(interests, [("b00", name) for name in names[1:]]), reoptimise=20
    )
    for number in range(20):
        assert len(live.join(f"new {number}", ["news"]).reoptimised) <= 20 * (number + 1)
    assert live.maximum_degree < 8
    assert is_connected(live)


def test_no_more_links_change_than_the_budget_of_events_allows():
    _, repairs = run(events_of(100), reoptimise=4)
    spent = 0
    for at, repair in enumerate(repairs, 1):
        spent += len(repair.reoptimised)
        assert spent <= 4 * at
        assert set(repair.reoptimised) <= {*repair.added, *repair.removed}
    assert spent


def test_no_more_links_change_in_a_minute_of_the_events_than_allowed():
    events = [mw.Event(at * 20, e.event, e.node, e.topics) for at, e in enumerate(events_of(90))]
    _, repairs = run(events, reoptimise=20, reoptimise_a_minute=8)
    by_minute = [sum(len(r.reoptimised) for r in repairs[at : at + 3]) for at in range(0, 90, 3)]
    assert 0 < max(by_minute) <= 8


def test_a_budget_starts_again_with_each_minute_and_saves_at_most_a_hundred():
    options = MaintainOptions(reoptimise=60, reoptimise_a_minute=50)
    budget = Budget(spent=50, minute=1).after((mw.Event(119, "leave", "a"),), options, NODES)
    assert (budget.saved, budget.left(options)) == (60, 0)
    late = budget.after((mw.Event(5, "leave", "a"),), options, NODES)
    assert (late.saved, late.left(options)) == (100, 0)
    assert late.after((mw.Event(120, "leave", "a"),), options, NODES).left(options) == 50


def test_work_is_saved_up_to_twice_that_of_an_event():
    options, leave = MaintainOptions(reoptimise=60), mw.Event(0, "leave", "a")
    first = Budget().after((leave,), options, NODES)
    assert first.after((leave,), options, NODES).work == 2 * first.work
    assert first.after((leave,), options, NODES).after((leave,), options, NODES).work == 2 * first.work
    assert first.less(3, 10) == first._replace(saved=57, spent=3, work=first.work - 10)


def test_a_larger_fleet_has_less_work_down_to_half():
    options, leave = MaintainOptions(reoptimise=60), mw.Event(0, "leave", "a")
    work = [Budget().after((leave,), options, nodes).work for nodes in (10, 10_000, 15_000, 10**6)]
    assert work == [work[0], work[0], 2 * work[0] // 3, work[0] // 2]


def test_what_a_join_may_not_work_is_left_to_the_next_leave(monkeypatch):
    monkeypatch.setattr(background, "_WORK_OF_GAINS", 0)
    live = mw.Maintainer(workload(200), seed=3, reoptimise=20)
    names = live.overlay.interests.nodes.to_pylist()
    for number, name in enumerate(names[:20]):
        assert not live.join(f"new {number}", live.topics_of(name)).reoptimised
    assert any(live.leave(name).reoptimised for name in names[:20])
    assert is_connected(live)


def test_tries_to_relieve_a_node_that_fail_are_followed_by_longer_and_longer_rests():
    options, leave = MaintainOptions(reoptimise=20), mw.Event(0, "leave", "a")
    budget, rests = Budget(), []
    for _ in range(7):
        budget, rest = budget.rested(failed=True), 0
        while (budget := budget.after((leave,), options, NODES)).rest:
            rest += 1
        rests.append(rest)
    assert rests == [1, 2, 4, 8, 16, 32, 32]
    assert budget.rested(failed=False) == budget._replace(failed=0, rest=0)


def test_a_busier_node_that_is_not_relieved_begins_with_short_rests():
    budget = Budget(failed=6, rest=30, busiest=13)
    assert budget.rested(failed=True, links=14) == budget._replace(failed=1, rest=2, busiest=14)
    assert budget.rested(failed=True, links=13) == budget._replace(failed=7, rest=33)


def test_a_snapshot_goes_on_with_the_rest_and_one_without_has_none():
    live = mw.Maintainer(workload(200), seed=3, reoptimise=20)
    live._budget = live._budget.rested(failed=True)
    assert mw.Maintainer.restore(live.snapshot())._budget == live._budget
    old = {"saved": 1, "minute": 2, "spent": 3, "place": 4, "work": 5}
    assert Budget(**old) == Budget(1, 2, 3, 4, 5, failed=0, rest=0)


def test_a_journal_that_ends_in_the_middle_of_re_optimisation_goes_on_as_if_it_had_not(tmp_path, monkeypatch):
    events = events_of(60)
    whole, _ = run(events, reoptimise=20)
    improve, calls = background._improve, iter(range(10**6))

    def end_at_last(*arguments):
        if next(calls) == 50:
            improve(*arguments)
            raise KeyboardInterrupt
        return improve(*arguments)

    with mw.Journal(tmp_path, workload(200), seed=3, reoptimise=20, compact_after=25) as journal:
        monkeypatch.setattr(background, "_improve", end_at_last)
        with pytest.raises(KeyboardInterrupt):
            deque(map(journal.live.apply, ([event] for event in events)), 0)
        done = journal.live.revision
    monkeypatch.undo()
    assert 25 < done < 60
    with mw.Journal(tmp_path) as journal:
        assert journal.live.revision == done
        for event in events[done:]:
            journal.live.apply([event])
        assert journal.live.overlay == whole.overlay
        assert journal.live.snapshot() == whole.snapshot()
