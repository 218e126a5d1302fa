"""What a run did to every node, counted by sets."""

import numpy as np
import pytest

import meshwright as mw
from meshwright.stan.measures import TABLE

GRID = mw.workloads.grid(60, 8, seed=3)


@pytest.fixture(scope="module", params=["rounds", "simulator with churn"])
def found(request):
    if request.param == "rounds":
        return mw.gossip(GRID, diameters=False, seed=1)
    trouble = mw.SimulationOptions(churn=0.1)
    return mw.gossip(GRID, mw.StanOptions(rounds=3), trouble, engine="simulator", diameters=False, seed=1)


def links(views):
    """By node: its logical links, its different peers, and the nodes that have it in a view."""
    own = views.by_node()
    peers = [set().union(*one.values()) if one else set() for one in own]
    held = [sum(node in others for others in peers) for node in range(len(own))]
    return [sum(map(len, one.values())) for one in own], [len(one) for one in peers], held


def test_the_table_has_a_row_for_each_node_with_its_links_before_and_after(found):
    table = found.view_table()
    assert table["node"].to_pylist() == GRID.nodes.to_pylist()
    assert table["node_id"].to_pylist() == list(range(60))
    assert table["topics"].to_pylist() == [len(own) for own in found.after.by_node()]
    for when, views in (("before", found.before), ("after", found.after)):
        for name, expected in zip(("lvs", "pvs", "in_views"), links(views), strict=True):
            assert table[f"{name}_{when}"].to_pylist() == expected
    before, after = table["pvs_before"].to_pylist(), table["pvs_after"].to_pylist()
    expected = [
        1 - last / first if first and last else None for first, last in zip(before, after, strict=True)
    ]
    assert table["improvement"].to_pylist() == pytest.approx(expected)


def test_distributions_are_those_of_the_nodes_that_are_there(found):
    table, spread = found.view_table(), found.distributions()
    had, has = found.before.by_node(), found.after.by_node()
    here = np.array([bool(now) or not then for then, now in zip(had, has, strict=True)])
    columns = {"logical_view_size": "lvs", "physical_view_size": "pvs", "in_views": "in_views"}
    for name, column in columns.items():
        for prefix, when, nodes in (("initial_", "before", here | True), ("", "after", here)):
            values = table[f"{column}_{when}"].to_numpy()[nodes]
            own = spread[f"{prefix}{name}"]
            assert [at for at, count in own["histogram"] for _ in range(count)] == sorted(values.tolist())
            assert own["mean"] == pytest.approx(values.mean())
    assert spread["initial_logical_view_size"]["mean"] == found.initial_logical_view_size
    assert spread["physical_view_size"]["mean"] == found.final_physical_view_size


def test_improvement_is_counted_by_whole_percents_rounded_down(found):
    own = found.distributions()["improvement_percent"]
    shares = [share for share in found.view_table()["improvement"].to_pylist() if share is not None]
    assert own["mean"] == pytest.approx(100 * np.mean(shares))
    assert sum(count for _, count in own["histogram"]) == len(shares)
    strong, limit = round(found.strongly_improved_nodes * len(shares)), dict(own["histogram"]).get(40, 0)
    above = sum(count for percent, count in own["histogram"] if percent > 40)
    assert above <= strong <= above + limit


def test_an_overlay_of_stan_says_what_each_node_was_freed_of():
    built, run = mw.build(GRID, "stan", seed=1), mw.gossip(GRID, diameters=False, seed=1)
    assert built.tables[TABLE].equals(run.view_table())


def test_no_nodes_have_empty_distributions():
    found = mw.gossip(mw.Interests.from_pairs([]))
    assert found.view_table().num_rows == 0
    assert all(own["histogram"] == [] and own["mean"] is None for own in found.distributions().values())
