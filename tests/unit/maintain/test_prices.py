"""Costs of links through churn: which are known, which are kept, and what is refused."""

import json
from io import BytesIO

import numpy as np
import pytest

import meshwright as mw
from tests import oracles
from tests.unit.maintain.journals import costs_for, events_for, small_overlay


@pytest.fixture(scope="module")
def overlay():
    return small_overlay()


@pytest.fixture(scope="module")
def events(overlay):
    return events_for(overlay, 60)


@pytest.fixture(scope="module")
def costs(overlay, events):
    return costs_for(overlay, events)


def column(overlay):
    """What each link costs, by the names of its ends."""
    names = overlay.interests.nodes.to_pylist()
    ends = [(names[u], names[v]) for u, v in overlay.edges.tolist()]
    return dict(zip(ends, overlay.costs.tolist(), strict=True))


def with_column(overlay, seed=5):
    """The overlay with a column that no costs explain, as of one that was imported."""
    paid = np.random.default_rng(seed).uniform(1, 9, len(overlay))
    names = overlay.interests.nodes.to_pylist()
    return mw.Overlay.from_edges(
        overlay.interests, [(names[u], names[v]) for u, v in overlay.edges.tolist()], paid
    )


def apply_all(live, events):
    for event in events:
        live.apply([event])
    return live


@pytest.mark.parametrize("options", [{}, {"ties": "shuffled"}, {"degree_of": "shadows", "rho": 1}])
@pytest.mark.parametrize("policy", ["shadow", "naive"])
@pytest.mark.parametrize("start", ["connected", "bare"])
@pytest.mark.parametrize("cost", [1.0, 0.3])
def test_equal_costs_choose_the_links_that_no_costs_choose(overlay, events, policy, start, cost, options):
    given = overlay if start == "connected" else mw.Overlay.from_edges(overlay.interests, [])
    names = costs_for(overlay, events).nodes.to_pylist()
    equal = mw.Costs.clusters(dict.fromkeys(names, "here"), inner=cost, outer=9)
    priced, plain = (
        mw.Maintainer(given, policy, costs=equal, **options),
        mw.Maintainer(given, policy, **options),
    )
    assert priced.start.added == plain.start.added
    for event in events:
        one, other = priced.apply([event]), plain.apply([event])
        assert (one.added, one.removed) == (other.added, other.removed)
    assert priced.cost == pytest.approx(cost * priced.link_count)


@pytest.mark.parametrize("policy", ["shadow", "naive", "rebuild"])
def test_links_of_the_start_keep_their_cost_and_new_ones_cost_what_the_costs_say(
    overlay, events, costs, policy
):
    given = with_column(overlay)
    paid, live = column(given), apply_all(mw.Maintainer(given, policy, costs=costs), events)
    found = live.overlay
    ids = {name: at for at, name in enumerate(costs.nodes.to_pylist())}
    told = costs.to_matrix()
    opened = 0
    for link, cost in column(found).items():
        if link in paid and cost == paid[link]:
            continue
        opened += 1
        assert cost == told[ids[link[0]], ids[link[1]]]
    assert opened
    assert len(column(found)) > opened or policy == "rebuild"
    assert live.cost == pytest.approx(found.costs.sum())


def test_with_costs_churn_ends_at_a_lower_cost_than_without(overlay, events, costs):
    for policy in ("shadow", "naive", "rebuild"):
        by_cost = apply_all(mw.Maintainer(overlay, policy, costs=costs), events)
        blind = apply_all(mw.Maintainer(overlay, policy), events).overlay
        spent = costs.of(blind.interests).between(blind.edges[:, 0], blind.edges[:, 1])
        assert by_cost.cost < spent.sum()


def test_rebuild_builds_what_gr_maw_builds_for_the_costs(overlay, events, costs):
    """Distances of random places: no two prices are equal, so that the order of nodes does not matter."""
    live = apply_all(mw.Maintainer(overlay, "rebuild", costs=costs), events)
    fresh = mw.build(live.overlay.interests, "gr-maw", costs=costs)
    assert np.array_equal(live.overlay.edges, fresh.edges)
    assert np.array_equal(live.overlay.costs, fresh.costs)


def test_a_start_that_minds_no_degrees_takes_what_gr_maw_takes():
    """With rho=1 the cheapest pair is always taken; no prices are equal, and rows are longer than a block."""
    interests = mw.workloads.unif(300, 20, min_subscriptions=2, max_subscriptions=9, seed=3)
    bare = mw.Overlay.from_edges(interests, [])
    costs = costs_for(bare, [])
    live = mw.Maintainer(bare, "naive", costs=costs, rho=1)
    assert column(live.overlay) == column(mw.build(interests, "gr-maw", costs=costs))


def test_an_overlay_that_was_built_with_costs_brings_them_itself(overlay, events, costs):
    built = mw.build(overlay.interests, "gr-maw", costs=costs)
    own = mw.Maintainer(built)
    given = mw.Maintainer(built, costs=costs.of(overlay.interests))
    for event in events:
        if event.event != "join":
            one, other = own.apply([event], lenient=True), given.apply([event], lenient=True)
            assert one.added == other.added
    assert column(own.overlay) == column(given.overlay)


def test_the_overlay_after_churn_brings_its_costs_too(overlay, events, costs, tmp_path):
    apply_all(mw.Maintainer(overlay, costs=costs), events).overlay.write(tmp_path / "o")
    read = mw.Overlay.read(tmp_path / "o")
    live = mw.Maintainer(read)
    leaver = read.interests.nodes.to_pylist()[0]
    live.leave(leaver)
    kept = {link: cost for link, cost in column(read).items() if leaver not in link}
    assert kept.items() <= column(live.overlay).items()
    assert mw.evaluate(live.overlay).topic_connected


def test_a_column_that_nothing_continues_is_refused_with_the_way_out(overlay):
    with pytest.raises(mw.InputError, match=r"--costs FILE.*--no-costs"):
        mw.Maintainer(with_column(overlay))


def test_costs_are_dropped_only_on_request(overlay, events):
    dropped = mw.Maintainer(with_column(overlay), costs="drop")
    plain = mw.Maintainer(overlay)
    assert apply_all(dropped, events).snapshot() == apply_all(plain, events).snapshot()
    assert dropped.overlay.costs is None
    assert dropped.cost is None
    with pytest.raises(mw.InputError, match="give Costs, or 'drop'"):
        mw.Maintainer(overlay, costs="none")


def test_costs_that_lack_a_node_of_the_overlay_are_refused(overlay, costs):
    some = dict.fromkeys(overlay.interests.nodes.to_pylist()[1:], "here")
    with pytest.raises(mw.InputError, match="has no site"):
        mw.Maintainer(overlay, costs=mw.Costs.clusters(some, inner=1, outer=2))


def test_a_node_without_costs_can_not_join_and_changes_nothing(overlay, costs):
    live = mw.Maintainer(overlay, costs=costs)
    before = live.snapshot()
    with pytest.raises(
        mw.InputError, match=r"'stranger' can't join: it is not among the .* add it to the costs"
    ):
        live.join("stranger", ["t0"])
    assert live.snapshot() == before
    event = mw.Event(1, "join", "stranger", ("t0",))
    assert [refusal.event for refusal in live.sort_out([event])[1]] == [event]
    repair = live.apply([event], lenient=True)
    assert [refusal.event for refusal in repair.refused] == [event]
    assert "stranger" not in live


def test_a_snapshot_goes_on_with_the_same_costs_and_no_others(overlay, events, costs):
    live = apply_all(mw.Maintainer(with_column(overlay), costs=costs, seed=4), events[:30])
    saved = live.snapshot()
    restored = mw.Maintainer.restore(saved, costs)
    assert restored.snapshot() == saved
    assert apply_all(restored, events[30:]).snapshot() == apply_all(live, events[30:]).snapshot()
    assert column(restored.overlay) == column(live.overlay)
    with pytest.raises(mw.InputError, match="give the same costs again"):
        mw.Maintainer.restore(saved)
    with pytest.raises(mw.InputError, match="other costs"):
        mw.Maintainer.restore(saved, costs_for(overlay, events, seed=1))
    with pytest.raises(mw.InputError, match="without costs"):
        mw.Maintainer.restore(mw.Maintainer(overlay).snapshot(), costs)


def test_a_snapshot_without_costs_does_not_mention_them(overlay):
    """So that it has the same bytes as before there were costs, and is read by the same code."""
    with np.load(BytesIO(mw.Maintainer(overlay).snapshot())) as archive:
        text = json.loads(archive["text"].tobytes())
    assert text["format"] == 1
    assert sorted(text["about"]) == ["ids", "options", "random", "revision", "seed"]


def test_relinks_and_reoptimisation_keep_the_costs(overlay, events, costs):
    given = with_column(overlay)
    paid, live = column(given), mw.Maintainer(given, costs=costs)
    apply_all(live, events[:20])
    for repair in live.reoptimise(most_changes=6):
        assert len(repair.added_costs) == len(repair.added)
        assert len(repair.removed_costs) == len(repair.removed)
        assert repair.cost == live.cost
    found = column(live.overlay)
    ids = {name: at for at, name in enumerate(costs.nodes.to_pylist())}
    told = costs.to_matrix()
    assert all(cost in (paid.get(link), told[ids[link[0]], ids[link[1]]]) for link, cost in found.items())
    assert live.cost == pytest.approx(sum(found.values()))


def test_batches_are_repaired_by_cost_with_every_topic_connected(overlay, events, costs):
    live = mw.Maintainer(overlay, costs=costs)
    for start in range(0, len(events), 12):
        live.apply(events[start : start + 12])
        found = live.overlay
        names = found.interests.nodes.to_pylist()
        topics = {at: set(found.interests.topics_of(name)) for at, name in enumerate(names)}
        assert oracles.is_topic_connected(topics, found.edges.tolist())


@pytest.mark.parametrize("policy", ["shadow", "naive", "rebuild"])
def test_a_journal_with_costs_comes_back_to_where_it_was(tmp_path, overlay, events, costs, policy):
    given = with_column(overlay)
    for start in range(0, len(events), 13):
        with mw.Journal(tmp_path / "j", given, costs=costs, policy=policy, compact_after=10) as journal:
            apply_all(journal.live, events[start : start + 13])
    with mw.Journal(tmp_path / "j", costs=costs) as journal:
        never_stopped = apply_all(mw.Maintainer(given, policy, costs=costs), events)
        assert journal.live.snapshot() == never_stopped.snapshot()
        assert column(journal.live.overlay) == column(never_stopped.overlay)


def test_a_journal_refuses_other_costs_none_and_another_column(tmp_path, overlay, events, costs):
    given = with_column(overlay)
    with mw.Journal(tmp_path / "j", given, costs=costs) as journal:
        journal.live.leave(overlay.interests.nodes.to_pylist()[0])
        before = journal.live.snapshot()
    for told, how in (
        ("other costs", {"overlay": given, "costs": costs_for(overlay, events, seed=1)}),
        ("give the same costs again", {"overlay": given, "costs": "drop"}),
        ("give the same costs again", {}),
        ("another overlay", {"overlay": with_column(overlay, seed=6), "costs": costs}),
    ):
        with pytest.raises(mw.DatasetError, match=told):
            mw.Journal(tmp_path / "j", **how)
    with mw.Journal(tmp_path / "j", given, costs=costs) as journal:
        assert journal.live.snapshot() == before


def test_a_journal_without_costs_refuses_costs(tmp_path, overlay, costs):
    with mw.Journal(tmp_path / "j", overlay):
        pass
    with pytest.raises(mw.DatasetError, match="begun without costs"):
        mw.Journal(tmp_path / "j", overlay, costs=costs)
