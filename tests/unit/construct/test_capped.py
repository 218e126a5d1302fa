"""What the search within caps finds, beyond keeping to them."""

import pytest

import meshwright as mw
from meshwright.construct import capped
from meshwright.construct.caps import caps_of

HUBS = mw.workloads.zipf(300, 100, subscriptions=8, seed=2)
EVEN = mw.workloads.unif(200, 60, subscriptions=10, seed=1)
TIGHT = mw.workloads.expo(150, 80, subscriptions=10, seed=1)


@pytest.mark.parametrize("rho", [1.05, 1.2, 2.0])
def test_within_the_maximum_of_low_oda_there_are_no_more_links_than_it_has(rho):
    low = mw.build(HUBS, "low-oda", rho=rho)
    most = int(low.degrees().max())
    assert mw.build(HUBS, "gm").degrees().max() > most
    within = mw.build(HUBS, "gm", max_links=most)
    assert within.degrees().max() <= most
    assert len(within) <= len(low)


def test_rounds_find_the_last_joins(monkeypatch):
    found = mw.build(TIGHT, "gm", max_links=5)
    assert found.degrees().max() <= 5
    assert mw.evaluate(found).topic_connected
    monkeypatch.setattr(capped, "_rounds", lambda interests, costs: 0)
    with pytest.raises(mw.InfeasibleError) as refused:
        mw.build(TIGHT, "gm", max_links=5)
    assert not refused.value.proved


def test_rounds_end_early_where_too_much_is_missing(monkeypatch):
    rounds = []
    ruined = capped._Search._ruined
    monkeypatch.setattr(capped._Search, "_ruined", lambda *given: rounds.append(1) or ruined(*given))
    with pytest.raises(mw.InfeasibleError):
        mw.build(HUBS, "gm", max_links=3)
    assert 0 < len(rounds) < capped._ROUNDS / 4


@pytest.mark.parametrize(("resilience", "most"), [(1, 7), (2, 8)])
def test_where_pairs_are_not_stored_caps_are_kept_too(monkeypatch, resilience, most):
    monkeypatch.setattr(capped, "MOST_STORED", 100)
    assert mw.build(EVEN, "gm", resilience=resilience).degrees().max() > most
    found = mw.build(EVEN, "gm", max_links=most, resilience=resilience)
    assert found.degrees().max() <= most
    result = mw.evaluate(found)
    assert result.topic_connected
    assert resilience == 1 or result.cut_nodes_topics == 0


def test_the_search_is_refused_if_its_pairs_need_more_memory_than_is_allowed():
    with pytest.raises(mw.CapacityError, match="raise max_links, or give the process more memory"):
        capped.capped_edges(HUBS, mw.build(HUBS, "gm").edges, caps_of(HUBS, 20), 0, memory_limit=10_000)


def test_one_node_with_a_low_cap_does_not_leave_the_others_without_low_starts():
    free = mw.build(HUBS, "gm").degrees()
    caps = dict.fromkeys(HUBS.nodes.to_pylist(), 15) | {HUBS.nodes[int(free.argmin())].as_py(): 1}
    assert free.max() > 15
    found = mw.build(HUBS, "gm", max_links=caps)
    assert found.degrees().max() <= 15
    assert len(found) <= 1.05 * len(mw.build(HUBS, "gm", max_links=15))


def test_what_was_not_found_says_how_near_it_came():
    with pytest.raises(mw.InfeasibleError, match=r"the nearest lacks \d+ joins: in it, \d+ of \d+ topics"):
        mw.build(HUBS, "gm", max_links=3)
